package verbs

import (
	"encoding/json"
	"errors"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/outfile"
)

// matchParameters are the flags that decide what is known.
type matchParameters struct {
	Near        *app.Distance `json:"near,omitempty"`
	Jaccard     *app.Share    `json:"jaccard,omitempty"`
	Levenshtein *app.Share    `json:"levenshtein,omitempty"`
	Cosine      *app.Share    `json:"cosine,omitempty"`
	NoVerify    bool          `json:"no_verify,omitempty"`
	Database    string        `json:"database"`
	Documents   int64         `json:"documents"` // in the database at the start
	Add         bool          `json:"add,omitempty"`
}

// matchAudit writes the lines that are known, and those that can't be used. A nil one writes none.
type matchAudit struct {
	w *outfile.Writer
	e *json.Encoder
}

// newAudit starts the audit with its first line; nil if there is to be none.
func (c *Match) newAudit(a *app.App, db *engine.DB, src *app.Sources) (*matchAudit, error) {
	if c.Audit == "" {
		return nil, nil
	}
	var inputs []app.AuditInput
	for _, name := range src.Names {
		in, err := auditInput(a, src, name)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	stats, err := db.Stats()
	if err != nil {
		return nil, err
	}
	w, err := a.Create("--audit", c.Audit, outfile.JSONLines)
	if err != nil {
		return nil, err
	}
	t := &matchAudit{w: w, e: app.AuditEncoder(w)}
	err = t.e.Encode(app.AuditHead{Version: app.Version(), Parameters: matchParameters{
		Near: c.Near, Jaccard: c.Jaccard, Levenshtein: c.Levenshtein, Cosine: c.Cosine, NoVerify: c.NoVerify,
		Database: c.DB, Documents: stats.Documents, Add: c.Add,
	}, Inputs: inputs})
	if err != nil {
		return nil, t.close(err, false)
	}
	return t, nil
}

// auditInput describes an input.
func auditInput(a *app.App, src *app.Sources, name string) (app.AuditInput, error) {
	in := app.AuditInput{File: input.ShownName(name)}
	switch {
	case src.Tree != nil:
		in.Bytes = &src.Total
	case name == "-":
		in.File = "stdin"
	case src.Total > 0:
		var err error
		if in, err = app.Digest(a.Context(), name); err != nil {
			return in, err
		}
		in.File = input.ShownName(name)
	}
	return in, nil
}

// known takes note of a line and what it is like.
func (t *matchAudit) known(c *Match, rec *input.Record, m engine.Match) error {
	if t == nil {
		return nil
	}
	row := app.AuditRow{ID: &rec.Doc.ID, File: rec.File, Line: rec.Pos, Keeper: &m.ID, Rule: "match"}
	if c.Near != nil {
		row.Distance = new(uint8(m.Distance))
	} else {
		row.Score, row.Exact = &m.Score, &m.Exact
		if !m.Exact {
			row.Error = &m.Error
		}
	}
	return t.e.Encode(&row)
}

// issue takes note of a line that can't be used.
func (t *matchAudit) issue(is *input.Issue) error {
	if t == nil {
		return nil
	}
	return t.e.Encode(&app.AuditRow{Rule: "rejected", File: is.File, Line: is.Pos, Reason: is.Reason})
}

// close completes the audit, and after a failure drops it, unless it keeps its part. It returns the
// first error.
func (t *matchAudit) close(failure error, keepsPart bool) error {
	if t == nil {
		return failure
	}
	if failure != nil && !keepsPart {
		t.w.Abort()
		return failure
	}
	return errors.Join(failure, t.w.Commit())
}
