package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/internal/outfile"
)

// auditRow is a line of the audit: a line of the input that is not in the output, and why. Together the kept lines and
// the audit are all that was read.
type auditRow struct {
	ID         *string `json:"id"` // null, as all that is not known, for a rejected line
	File       string  `json:"file"`
	Line       int64   `json:"line"`
	Keeper     *string `json:"keeper"`
	KeeperFile *string `json:"keeper_file"`
	KeeperLine *int64  `json:"keeper_line"`
	*auditDistance
	*auditScore
	Rule    string `json:"rule"`
	Cluster *int   `json:"cluster"`
	Reason  string `json:"reason,omitempty"` // of a rejected line

	keeper int64 // whose place is still needed, -1 for none
}

// auditStart is how every line of an audit begins.
const auditStart = `{"id":`

// auditDistance is how far a document is from its keeper: of --near.
type auditDistance struct {
	Distance *int `json:"distance"`
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
	line     int64
}

// audit writes audit rows in the order of the input. Where a document is kept that comes later than one that is
// dropped for it, rows wait until its place is known.
type audit struct {
	w       *outfile.Writer // nil: no audit is written
	e       *json.Encoder
	keep    *ranking
	scores  bool             // rows have scores, not distances
	keepers map[int64]*place // of documents for which others are dropped; nil until they are met
	waiting []auditRow
}

// newAudit starts the audit of a run.
func newAudit(d *dedup) *audit {
	a := &audit{w: d.auditTo, keep: &d.keep, scores: d.c.Jaccard != nil, keepers: map[int64]*place{}}
	if a.w == nil {
		return a
	}
	for _, m := range d.dropped {
		a.keepers[m.keeper] = nil
	}
	a.e = json.NewEncoder(a.w)
	a.e.SetEscapeHTML(false)
	return a
}

// document takes note of the document n, which is dropped or is not.
func (a *audit) document(n int64, rec *input.Record, m member, dropped bool) error {
	if a.w == nil {
		return nil
	}
	if !dropped {
		if _, is := a.keepers[n]; is {
			a.keepers[n] = &place{rec.Doc.ID, rec.File, rec.Line}
			return a.release()
		}
		return nil
	}
	row := auditRow{ID: &rec.Doc.ID, File: rec.File, Line: rec.Line, Rule: a.keep.ruleFor(m.keeper), Cluster: &m.cluster, keeper: m.keeper}
	if a.scores {
		row.auditScore = &auditScore{&m.match.Score, &m.match.Error, &m.match.Exact}
	} else {
		row.auditDistance = &auditDistance{&m.match.Distance}
	}
	a.waiting = append(a.waiting, row)
	return a.release()
}

// issue takes note of a line that can't be used.
func (a *audit) issue(is *input.Issue) error {
	if a.w == nil {
		return nil
	}
	row := auditRow{Rule: "rejected", File: is.File, Line: is.Line, Reason: is.Reason, keeper: -1}
	if a.scores {
		row.auditScore = &auditScore{}
	} else {
		row.auditDistance = &auditDistance{}
	}
	a.waiting = append(a.waiting, row)
	return a.release()
}

// release writes the rows that wait for nothing.
func (a *audit) release() error {
	done := 0
	for i := range a.waiting {
		r := &a.waiting[i]
		if r.keeper >= 0 {
			p := a.keepers[r.keeper]
			if p == nil {
				break
			}
			r.Keeper, r.KeeperFile, r.KeeperLine = &p.id, &p.file, &p.line
		}
		if err := a.e.Encode(r); err != nil {
			return err
		}
		done++
	}
	a.waiting = a.waiting[done:]
	return nil
}

// summary says what was done, in words that need no manual.
func (d *dedup) summary(start time.Time) {
	if d.a.global.Quiet {
		return
	}
	w, width := d.a.err, terminalWidth(d.a.err)
	share := func(n int64) string {
		if d.read == 0 {
			return ""
		}
		return fmt.Sprintf("%5.1f %%", 100*float64(n)/float64(d.read))
	}
	row := func(what string, n int64, share, note string) {
		const notesAt = 32 // columns
		fmt.Fprintf(w, "%-9s %11s  %7s  %s\n", what, progress.Number(n), share, wrapped(oneLine(note), notesAt, width))
	}
	row("read", d.read, "", fmt.Sprintf("documents, in %s", seconds(start)))
	if d.rejects.n > 0 {
		where := "lines could not be used"
		if d.rejects.path != "" {
			where += ", they are in " + d.rejects.path
		}
		row("rejected", d.rejects.n, "", where)
	}
	if d.empty > 0 {
		row("empty", d.empty, share(d.empty), "have no words; they match nothing and are kept")
	}
	if n := d.keep.missing; n > 0 {
		row("no value", n, share(n), fmt.Sprintf("have no %s to go by: the others go before them, and among them the first", d.c.Keep.field))
	}
	if d.badUTF8 > 0 {
		row("bad UTF-8", d.badUTF8, share(d.badUTF8), "have invalid UTF-8; it counts as no word and is copied as it is")
	}
	dropped := int64(len(d.dropped))
	row("clusters", d.clusters, "", "groups of near-duplicates: "+d.c.meaning(!d.c.NoVerify))
	row("dropped", dropped, share(dropped), d.auditNote())
	row("kept", d.kept, share(d.kept), d.keptNote())
}

// rule describes the rule of --keep.
func (d *dedup) rule() string {
	switch k := d.c.Keep; k.name {
	case "max":
		return "the one with the greatest " + k.field
	case "min":
		return "the one with the least " + k.field
	default:
		return "the " + k.name
	}
}

func (d *dedup) auditNote() string {
	measure := "distance"
	if d.c.Jaccard != nil {
		measure = "score"
	}
	if path := d.c.auditPath(); path != "" {
		return "near-duplicates; keeper and " + measure + " of each are in " + path
	}
	return "near-duplicates; --audit FILE writes a list of them"
}

func (d *dedup) keptNote() string {
	where := "in " + d.c.Output
	if d.c.Output == "" || d.c.Output == "-" {
		where = "on standard output"
	}
	return fmt.Sprintf("%s of every group, and what is in none, are %s", d.rule(), where)
}
