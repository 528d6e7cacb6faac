package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/outfile"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
)

// auditRow is a line of the audit: a line of the input that is not in the output, and why. Together the kept lines and
// the audit are all that was read.
type auditRow struct {
	ID     *string `json:"id"`
	Keeper *string `json:"keeper"`
	*auditDistance
	*auditScore
	Rule   string `json:"rule"`
	File   string `json:"file"`
	Line   int64  `json:"line"`
	Reason string `json:"reason,omitempty"` // of a rejected line

	keeper int64 // whose ID is still needed, -1 for none
}

// auditDistance is how far a document is from its keeper: of --near.
type auditDistance struct {
	Distance *int `json:"distance"` // null for a rejected line
}

// auditScore is how similar a document is to its keeper: of --jaccard.
type auditScore struct {
	Score *float64 `json:"score"` // null, as the others, for a rejected line
	Error *float64 `json:"error"`
	Exact *bool    `json:"exact"`
}

// audit writes audit rows in the order of the input. Where a document is kept that comes later than one that is
// dropped for it, rows wait until its ID is known.
type audit struct {
	w       *outfile.Writer // nil: no audit is written
	e       *json.Encoder
	dropped map[int64]member
	rule    string
	scores  bool              // rows have scores, not distances
	keepers map[int64]*string // IDs of documents for which others are dropped; nil until they are met
	waiting []auditRow
}

// newAudit starts the audit of a run that drops these documents.
func newAudit(path string, dropped map[int64]member, rule keepRule, scores bool) (*audit, error) {
	a := &audit{dropped: dropped, rule: rule.name, scores: scores, keepers: map[int64]*string{}}
	if rule.field != "" {
		a.rule += ":" + rule.field
	}
	if path == "" {
		return a, nil
	}
	for _, m := range dropped {
		a.keepers[m.keeper] = nil
	}
	var err error
	if a.w, err = outfile.Create(path); err != nil {
		return nil, err
	}
	a.e = json.NewEncoder(a.w)
	a.e.SetEscapeHTML(false)
	return a, nil
}

// document takes note of the document n, which is dropped or is not.
func (a *audit) document(n int64, rec *input.Record, m member, dropped bool) error {
	if a.w == nil {
		return nil
	}
	if !dropped {
		if _, is := a.keepers[n]; is {
			a.keepers[n] = &rec.Doc.ID
			return a.release()
		}
		return nil
	}
	row := auditRow{ID: &rec.Doc.ID, Rule: a.rule, File: rec.File, Line: rec.Line, keeper: m.keeper}
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
			if r.Keeper = a.keepers[r.keeper]; r.Keeper == nil {
				break
			}
		}
		if err := a.e.Encode(r); err != nil {
			return err
		}
		done++
	}
	a.waiting = a.waiting[done:]
	return nil
}

func (a *audit) commit() error {
	if a.w == nil {
		return nil
	}
	return a.w.Commit()
}

func (a *audit) abort() {
	if a.w != nil {
		a.w.Abort()
	}
}

// summary says what was done, in words that need no manual.
func (d *dedup) summary(start time.Time) {
	if d.a.global.Quiet {
		return
	}
	w := d.a.err
	share := func(n int64) string {
		if d.read == 0 {
			return ""
		}
		return fmt.Sprintf("%5.1f %%", 100*float64(n)/float64(d.read))
	}
	row := func(what string, n int64, share, note string) {
		fmt.Fprintf(w, "%-9s %11s  %7s  %s\n", what, progress.Number(n), share, note)
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
