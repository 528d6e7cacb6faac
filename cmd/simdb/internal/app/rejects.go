package app

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/quantity"
)

// shownRejects is how many bad lines are shown; all are counted.
const shownRejects = 10

// Rejects counts and keeps the records that cannot be used.
type Rejects struct {
	talk io.Writer // where they are shown; nil shows none
	max  int64     // -1 for no limit
	N    int64
	Unit string // of those that were rejected: "line", or "record" where they differ
	Path string
	File *outfile.Writer // nil where they are not kept
}

// NewRejects opens the file of --rejects. Lines are shown on talk.
func (a *App) NewRejects(f RejectFlags, talk io.Writer) (*Rejects, error) {
	r := &Rejects{talk: talk, max: -1, Path: f.Rejects}
	if f.MaxErrors != nil {
		r.max = int64(*f.MaxErrors)
	}
	if f.Rejects == "" {
		return r, nil
	}
	var err error
	r.File, err = a.Create("--rejects", f.Rejects, outfile.JSONLines)
	return r, err
}

// rejected is a line of the rejects file. What is not UTF-8 is in RawBase64.
type rejected struct {
	File      string `json:"file"`
	Line      int64  `json:"line"`
	Reason    string `json:"reason"`
	Raw       string `json:"raw,omitempty"`
	RawBase64 string `json:"raw_base64,omitempty"`
	Cut       int64  `json:"raw_is_the_beginning_of_bytes,omitempty"` // for a line over the limit: its size
}

// Add takes a record that cannot be used. It returns an error if there are more than --max-errors.
func (r *Rejects) Add(is *input.Issue) error {
	r.N++
	if r.Unit = cmp.Or(r.Unit, is.Unit); r.Unit != is.Unit {
		r.Unit = "record"
	}
	if r.N <= shownRejects && r.talk != nil {
		fmt.Fprintln(r.talk, OneLine(is.Error()))
	}
	if r.N == shownRejects+1 && r.talk != nil {
		where := "--rejects FILE keeps them all"
		if r.Path != "" {
			where = "they are all in " + r.Path
		}
		fmt.Fprintln(r.talk, "... and more "+r.Unit+"s that can't be used;", OneLine(where))
	}
	if err := r.keep(is); err != nil {
		return err
	}
	if r.max >= 0 && r.N > r.max {
		return fmt.Errorf("%s could not be used, --max-errors %d allows no more; the last: %w", r.Counted(), r.max, is)
	}
	return nil
}

func (r *Rejects) keep(is *input.Issue) error {
	if r.File == nil {
		return nil
	}
	raw := bytes.TrimRight(is.Raw, "\r\n")
	line := rejected{File: is.File, Line: int64(is.Pos), Reason: is.Reason}
	if utf8.Valid(raw) {
		line.Raw = string(raw)
	} else {
		line.RawBase64 = base64.StdEncoding.EncodeToString(raw)
	}
	if is.Size > int64(len(is.Raw)) {
		line.Cut = is.Size
	}
	e := json.NewEncoder(r.File)
	e.SetEscapeHTML(false)
	return e.Encode(line)
}

// Counted is how many were rejected: "1 line", "3 rows".
func (r *Rejects) Counted() string { return quantity.Count(r.N, cmp.Or(r.Unit, "line")) }

// Close completes the file, also after a failure, when its lines are needed. If the command failed
// before any line was rejected, an earlier file is left as it was.
func (r *Rejects) Close(failure error) error {
	if r.File == nil {
		return nil
	}
	if failure != nil && r.N == 0 {
		r.File.Abort()
		return nil
	}
	return r.File.Commit()
}
