package files

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// container is the common part of the Sources of mailboxes and WARC files.
type container struct {
	input
	id   string // name of the header with the ID
	unit string // of positions

	r *bufio.Reader
	n records.Position // number of messages or records begun

	skipped, guessed records.Counts
}

// newContainer returns a container that reads IDs from the header with this name, unless the
// options name another one.
func newContainer(in *records.Stream, opt records.Options, format records.Format, id string, buffer int) container {
	return container{
		input: input{in, opt}, id: cmp.Or(opt.IDField, id), unit: format.Unit(), r: bufio.NewReaderSize(in.Reader(), buffer),
		skipped: records.Counts{}, guessed: records.Counts{},
	}
}

// errSkip is returned for a record that is not a document, or that Options.After skips.
var errSkip = errors.New("no document")

// records yields the records that next returns until its error is io.EOF, and leaves out those with
// errSkip. An *records.Issue is yielded and reading continues; any other error ends the reading.
func (c *container) records(ctx context.Context, next func() (*records.Record, error)) iter.Seq2[*records.Record, error] {
	return func(yield func(*records.Record, error) bool) {
		defer func() { c.opt.Tally.Note(c.in.Name(), c.skipped, c.guessed) }()
		for {
			if err := context.Cause(ctx); err != nil {
				yield(nil, err)
				return
			}
			rec, err := next()
			if err == io.EOF {
				return
			}
			if err == errSkip {
				continue
			}
			if _, ok := errors.AsType[*records.Issue](err); err != nil && !ok {
				if _, ok := errors.AsType[*records.ReadError](err); !ok {
					err = &records.ReadError{File: c.in.Name(), Pos: c.n - 1, Unit: c.unit, Err: err}
				}
				yield(nil, err)
				return
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// issue returns an Issue for the current message or record.
func (c *container) issue(raw []byte, reason string) *records.Issue {
	return &records.Issue{File: c.in.Name(), Pos: c.n, Unit: c.unit, End: c.n, Reason: reason, Raw: raw, Size: int64(len(raw))}
}

// record makes the current record from a document. If the document has no ID, and the options say
// so, record makes one.
func (c *container) record(doc engine.Doc, raw []byte, badUTF8 bool) (*records.Record, error) {
	rec := &records.Record{Doc: doc, File: c.in.Name(), Pos: c.n, End: c.n, Raw: raw, BadUTF8: badUTF8}
	switch {
	case doc.ID == "" && c.opt.MakeID:
		rec.Doc.ID = fmt.Sprintf("%s:%d", rec.File, rec.Pos)
	case doc.ID == "":
		return nil, c.issue(raw, fmt.Sprintf("no %q; %s names another header, and %s makes ids", c.id, option.Name("IDField"), option.Set("IDFrom", records.IDFromLine)))
	case len(doc.ID) > base.MaxIDBytes:
		return nil, c.issue(raw, fmt.Sprintf("the id has %d bytes; the limit is %d", len(doc.ID), base.MaxIDBytes))
	}
	return rec, nil
}

// appendField appends a field to b, the beginning of a JSON object.
func appendField(b []byte, name, value string) []byte {
	if len(b) > 1 {
		b = append(b, ',')
	}
	for i, s := range []string{name, value} {
		quoted, _ := json.Marshal(s) // a string can always be encoded
		b = append(append(b, quoted...), ":"[i:]...)
	}
	return b
}
