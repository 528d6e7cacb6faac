package dedup

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records"
)

// AuditRow is a line of an audit: a document that was dropped or is known, or a line that cannot
// be used, and why. Fields that do not apply are null.
type AuditRow struct {
	ID         *string           `json:"id"` // null for a rejected line
	File       string            `json:"file"`
	Line       records.Position  `json:"line"`
	Keeper     *string           `json:"keeper"`
	KeeperFile *string           `json:"keeper_file"`     // for dedup, the database if there is one; null for match
	KeeperLine *records.Position `json:"keeper_line"`     // null for a database and for match
	Distance   *uint16           `json:"distance"`        // between the fingerprints of document and keeper
	Score      *float64          `json:"score"`           // with the keeper, where texts are available
	Error      *float64          `json:"error,omitempty"` // of an estimated score
	Exact      *bool             `json:"exact"`           // whether score is exact
	Lacks      *string           `json:"lacks,omitempty"` // words that only the keeper has, if Job.Columns asks for them; up to 200 characters
	Adds       *string           `json:"adds,omitempty"`  // words that only the document has, likewise
	Rule       string            `json:"rule"`
	Cluster    *uint32           `json:"cluster"`
	Reason     string            `json:"reason,omitempty"` // for a rejected line
}

// String returns the row as JSON, as a line of an audit has it.
func (r *AuditRow) String() string {
	var b strings.Builder
	_ = AuditEncoder(&b).Encode(r) // a score that is no number has no JSON
	return strings.TrimSuffix(b.String(), "\n")
}

// RowOf returns the row of a record.
func RowOf(rec *records.Record, rule string) AuditRow {
	return AuditRow{ID: new(rec.Doc.ID), File: rec.File, Line: rec.Pos, Rule: rule}
}

// RejectedRow returns the row of input that is not a record.
func RejectedRow(is *records.Issue) *AuditRow {
	return &AuditRow{Rule: "rejected", File: is.File, Line: is.Pos, Reason: is.Reason}
}

// keeps sets the row's keeper.
func (r *AuditRow) keeps(at *Place) {
	if r.Keeper, r.KeeperFile = &at.ID, &at.File; at.Line > 0 {
		r.KeeperLine = &at.Line
	}
}

// AuditHead is the first line of an audit: all that is needed to reproduce the result.
type AuditHead struct {
	Version    string       `json:"simdb"`
	Parameters any          `json:"parameters"` // the flags that affect the result
	Inputs     []AuditInput `json:"inputs"`
	Against    []AuditInput `json:"against,omitempty"` // for dedup: the sources of Against, with digests of their documents
}

// AuditInput is a file that was read: its size, and the 128-bit XXH3 of its bytes in hexadecimal.
// For folders and databases the digest covers the documents: their names, texts and order.
type AuditInput struct {
	File  string  `json:"file"`
	Bytes *int64  `json:"bytes"` // null for a pipe, a database, and sources of Against
	XXH3  *string `json:"xxh3"`  // null for a pipe
}

// AuditEncoder returns an encoder for the lines of an audit.
func AuditEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// Digest digests a file. The caller sets the name.
func Digest(ctx context.Context, path string) (AuditInput, error) {
	in := AuditInput{Bytes: new(int64)}
	f, err := place.Open(ctx, path)
	if err != nil {
		return in, err
	}
	defer f.Close()
	h := xxh3.New()
	buf := make([]byte, 256<<10)
	for {
		n, err := f.Read(buf)
		*in.Bytes += int64(n)
		h.Write(buf[:n])
		switch {
		case err == io.EOF:
			sum := h.Sum128().Bytes()
			in.XXH3 = new(hex.EncodeToString(sum[:]))
			return in, nil
		case err != nil:
			return in, err
		case ctx.Err() != nil:
			return in, context.Cause(ctx)
		}
	}
}

// Columns are names of audit values that are added to copies as columns. lacks and adds are added to
// the audit, and to copies only with Job.All, since documents that stay have none.
type Columns []string

var columnNames = []string{"cluster", "size", "keeper", "distance", "score", "lacks", "adds"}

// UnmarshalText parses names separated by commas.
func (c *Columns) UnmarshalText(text []byte) error {
	*c = nil
	for name := range strings.SplitSeq(string(text), ",") {
		switch {
		case !slices.Contains(columnNames, name):
			return fmt.Errorf("%q is not one of the columns %s", name, strings.Join(columnNames, ", "))
		case slices.Contains(*c, name):
			return fmt.Errorf("the column %s is named twice", name)
		}
		*c = append(*c, name)
	}
	return nil
}

// String returns the names separated by commas.
func (c Columns) String() string { return strings.Join(c, ",") }

// has reports whether name is among the columns.
func (c Columns) has(name string) bool { return slices.Contains(c, name) }

// ofWords reports whether words that differ are among the columns.
func (c Columns) ofWords() bool { return c.has("lacks") || c.has("adds") }

// copied returns the columns that are added to copies.
func (c *Job) copied() Columns {
	if c.All {
		return c.Columns
	}
	return slices.DeleteFunc(slices.Clone(c.Columns), func(name string) bool { return name == "lacks" || name == "adds" })
}

// OfInput returns the columns with their types, as formats need them for copies.
func (c Columns) OfInput() (all []records.Column) {
	for _, name := range c {
		kind := records.WholeColumn
		switch name {
		case "keeper", "lacks", "adds":
			kind = records.TextColumn
		case "score":
			kind = records.RealColumn
		}
		all = append(all, records.Column{Name: name, Kind: kind})
	}
	return all
}
