package dedup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/outfile"
)

// auditRow is a line of the audit: a line of the input that is not in the output, and why. Together
// the kept lines and the audit are all that was read.
type auditRow struct {
	ID         *string         `json:"id"` // null, as all that is not known, for a rejected line
	File       string          `json:"file"`
	Line       input.Position  `json:"line"`
	Keeper     *string         `json:"keeper"`
	KeeperFile *string         `json:"keeper_file"`
	KeeperLine *input.Position `json:"keeper_line"`
	*auditDistance
	*auditScore
	Rule    string `json:"rule"`
	Cluster *int32 `json:"cluster"`
	Reason  string `json:"reason,omitempty"` // of a rejected line

	cluster int32 // the place of its keeper is still needed; 0 for none
}

// auditStart is how every line of an audit begins.
const auditStart = `{"id":`

// claimAudit checks that the audit may be written. If its name is derived from -o, only an earlier
// audit is replaced, as the user has not named it.
func (c *Command) claimAudit(a *app.App) error {
	path := c.auditPath()
	if path == "" {
		return nil
	}
	if err := a.Outputs.Claim("--audit", path, outfile.JSONLines); err != nil || c.Audit != "" {
		return err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	head := make([]byte, len(auditStart))
	n, _ := f.ReadAt(head, 0)
	if n > 0 && string(head[:n]) != auditStart {
		err = fmt.Errorf("%s is there and is no audit: --audit FILE names another place for the audit, --no-audit writes none", path)
	}
	return errors.Join(err, f.Close())
}

// auditDistance is how far a document is from its keeper: of --near.
type auditDistance struct {
	Distance *int32 `json:"distance"`
}

// auditScore is how similar a document is to its keeper: of --jaccard.
type auditScore struct {
	Score *float64 `json:"score"`
	Error *float64 `json:"error"`
	Exact *bool    `json:"exact"`
}

// place is where a document stands. Its id alone does not say: ids may come again in other files.
type place struct {
	id, file string
	line     input.Position
}

// audit writes audit rows in the order of the input. Where a document is kept that comes later than
// one that is dropped for it, rows wait until its place is known.
type audit struct {
	w       *outfile.Writer // nil: no audit is written
	e       *json.Encoder
	keep    *ranking
	scores  bool     // rows have scores, not distances
	keepers []*place // of each cluster; nil until it is met
	waiting []auditRow
}

// newAudit starts the audit of a run.
func newAudit(d *job) *audit {
	a := &audit{w: d.auditTo, keep: &d.keep, scores: d.c.Jaccard != nil}
	if a.w == nil {
		return a
	}
	a.keepers = make([]*place, d.clusters)
	a.e = json.NewEncoder(a.w)
	a.e.SetEscapeHTML(false)
	return a
}

// member takes note of a document of a cluster.
func (a *audit) member(m *member, rec *input.Record) error {
	if a.w == nil {
		return nil
	}
	if m.kept() {
		a.keepers[m.cluster-1] = &place{rec.Doc.ID, rec.File, rec.Pos}
		return a.release()
	}
	row := auditRow{
		ID: new(rec.Doc.ID), File: rec.File, Line: rec.Pos, Rule: a.keep.ruleFor(m.keeper), Cluster: &m.cluster, cluster: m.cluster,
	}
	if a.scores {
		row.auditScore = &auditScore{&m.score, &m.err, &m.exact}
	} else {
		row.auditDistance = &auditDistance{&m.distance}
	}
	return a.add(&row)
}

// issue takes note of a line that can't be used.
func (a *audit) issue(is *input.Issue) error {
	if a.w == nil {
		return nil
	}
	row := auditRow{Rule: "rejected", File: is.File, Line: is.Pos, Reason: is.Reason}
	if a.scores {
		row.auditScore = &auditScore{}
	} else {
		row.auditDistance = &auditDistance{}
	}
	return a.add(&row)
}

// add writes a row, unless it or one before it waits for its keeper.
func (a *audit) add(row *auditRow) error {
	if len(a.waiting) == 0 && a.place(row) {
		return a.e.Encode(row)
	}
	a.waiting = append(a.waiting, *row)
	return nil
}

// place sets where the keeper of a row stands, if it needs one, and returns false if that is not
// known yet.
func (a *audit) place(r *auditRow) bool {
	if r.cluster == 0 {
		return true
	}
	p := a.keepers[r.cluster-1]
	if p == nil {
		return false
	}
	r.Keeper, r.KeeperFile, r.KeeperLine = &p.id, &p.file, &p.line
	return true
}

// release writes the rows that wait for nothing, once another keeper has been met.
func (a *audit) release() error {
	for len(a.waiting) > 0 && a.place(&a.waiting[0]) {
		if err := a.e.Encode(&a.waiting[0]); err != nil {
			return err
		}
		a.waiting = a.waiting[1:]
	}
	return nil
}
