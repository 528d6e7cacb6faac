package main

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
)

// shownRejects is how many bad lines are shown; all are counted.
const shownRejects = 10

// rejectFlags say what becomes of lines that can't be used.
type rejectFlags struct {
	Rejects   string     `file:"jsonl" placeholder:"FILE" help:"Keep lines that can't be used in FILE: JSON lines with file, line, reason, raw."`
	MaxErrors *lineCount `placeholder:"N" help:"Give up after more than N such lines (default: go on; they are counted)."`
}

// rejects takes note of the lines that can't be used.
type rejects struct {
	talk io.Writer // where they are shown; nil shows none
	max  int64     // -1 for no limit
	n    int64
	unit string // of those that were rejected: "line", or "record" where they differ
	path string
	file *outfile.Writer // nil where they are not kept
}

// newRejects opens the file of --rejects. Lines are shown on talk.
func (a *app) newRejects(f rejectFlags, talk io.Writer) (*rejects, error) {
	r := &rejects{talk: talk, max: -1, path: f.Rejects}
	if f.MaxErrors != nil {
		r.max = int64(*f.MaxErrors)
	}
	if f.Rejects == "" {
		return r, nil
	}
	var err error
	r.file, err = a.create("--rejects", f.Rejects, outfile.JSONLines)
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

// add notes a line. It returns an error when there have been too many.
func (r *rejects) add(is *input.Issue) error {
	r.n++
	if r.unit = cmp.Or(r.unit, is.Unit); r.unit != is.Unit {
		r.unit = "record"
	}
	if r.n <= shownRejects && r.talk != nil {
		fmt.Fprintln(r.talk, oneLine(is.Error()))
	}
	if r.n == shownRejects+1 && r.talk != nil {
		where := "--rejects FILE keeps them all"
		if r.path != "" {
			where = "they are all in " + r.path
		}
		fmt.Fprintln(r.talk, "... and more "+r.unit+"s that can't be used;", oneLine(where))
	}
	if err := r.keep(is); err != nil {
		return err
	}
	if r.max >= 0 && r.n > r.max {
		return fmt.Errorf("%s could not be used, --max-errors %d allows no more; the last: %w", r.counted(), r.max, is)
	}
	return nil
}

func (r *rejects) keep(is *input.Issue) error {
	if r.file == nil {
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
	e := json.NewEncoder(r.file)
	e.SetEscapeHTML(false)
	return e.Encode(line)
}

// counted is how many were rejected: "1 line", "3 rows".
func (r *rejects) counted() string { return count(r.n, cmp.Or(r.unit, "line")) }

// close completes the file, also after a failure, as its lines are needed then. What failed before any line was rejected
// leaves an earlier file alone.
func (r *rejects) close(failure error) error {
	if r.file == nil {
		return nil
	}
	if failure != nil && r.n == 0 {
		r.file.Abort()
		return nil
	}
	return r.file.Commit()
}
