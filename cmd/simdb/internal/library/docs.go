package library

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"

	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/arrow"
	"github.com/simdb/simdb/records/files"
	"github.com/simdb/simdb/records/inputs"
	_ "github.com/simdb/simdb/records/lines" // reads Docs and Spooled
)

// tables are the tables of a request, by name.
func (r *Request) tables() (map[string]inputs.Table, error) {
	all := map[string]inputs.Table{}
	r.own = map[string]bool{}
	for name, t := range r.Tables {
		all[name] = inputs.Table{Open: t.Open, Bytes: t.Bytes(r.textColumn())}
	}
	for name, lines := range r.Docs {
		all[name] = chained(int64(len(lines)), func(opt records.Options) (records.Source, error) {
			return jsonLines(name, io.NopCloser(strings.NewReader(lines)), int64(len(lines)), opt)
		})
	}
	for name, path := range r.Spooled {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		all[name] = chained(info.Size(), func(opt records.Options) (records.Source, error) {
			if t := r.Shapes[name]; t != nil {
				if _, err := t.Open(opt); err != nil { // names the columns that there are
					return nil, err
				}
			}
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			return jsonLines(name, f, info.Size(), opt)
		})
	}
	for name, paths := range r.Files {
		s, err := expanded(paths)
		if err != nil {
			return nil, err
		}
		var parts []opener
		for _, path := range s.Files {
			if name == TableName {
				r.own[path] = true
			}
			parts = append(parts, func(opt records.Options) (records.Source, error) { return records.Open(path, opt) })
		}
		all[name] = chained(s.ContentBytes(), parts...)
	}
	return all, nil
}

// expanded returns the files that paths and patterns of paths name.
func expanded(paths []string) (*inputs.Sources, error) {
	if len(paths) == 0 {
		return nil, errNoDocs
	}
	var names []string
	for _, path := range paths {
		found, err := files.Expand(path, false)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	return inputs.FileSources(names)
}

func jsonLines(name string, from io.ReadCloser, size int64, opt records.Options) (records.Source, error) {
	opt.Format = "jsonl"
	return records.New(name, from, size, opt)
}

type opener = func(opt records.Options) (records.Source, error)

// chained returns parts as one table.
func chained(size int64, parts ...opener) inputs.Table {
	return inputs.Table{Bytes: size, Open: func(opt records.Options) (records.Source, error) {
		c := &chain{parts: parts[1:], opt: opt, after: opt.After}
		c.opt.After = 0
		first, err := parts[0](c.opt)
		c.Source = first
		return c, err
	}}
}

// chain reads sources one after the other as tables are read: the position of a record is its number, and
// a record without an ID has its number, from 0, as its ID. An invalid record is an error, because there
// is no file for rejected records.
type chain struct {
	records.Source // that is being read
	parts          []opener
	opt            records.Options
	after          records.Position
}

// Records implements records.Source.
func (c *chain) Records(ctx context.Context) iter.Seq2[*records.Record, error] {
	return func(yield func(*records.Record, error) bool) {
		n := records.Position(0)
		for {
			for rec, err := range c.Source.Records(ctx) {
				if is, ok := err.(*records.Issue); ok {
					err = errors.New(is.Error())
				}
				if n++; err == nil {
					if n <= c.after {
						continue
					}
					number(rec, n)
				}
				if !yield(rec, err) {
					return
				}
			}
			if len(c.parts) == 0 {
				return
			}
			next, err := c.parts[0](c.opt)
			if err != nil {
				yield(nil, err)
				return
			}
			c.Source.Close()
			c.Source, c.parts = next, c.parts[1:]
		}
	}
}

// number makes a record the nth of a table.
func number(rec *records.Record, n records.Position) {
	if rest, ok := strings.CutPrefix(rec.Doc.ID, rec.File); ok && rest == ":"+strconv.FormatInt(int64(rec.Pos), 10) {
		rec.Doc.ID = strconv.FormatInt(int64(n)-1, 10)
	}
	rec.Pos, rec.End = n, n
}

// CanCut implements records.Cutter.
func (c *chain) CanCut() error { return records.CanCut(c.Source) }

// CutText implements records.Cutter. It returns nil, because nothing is copied.
func (c *chain) CutText(*records.Record, []records.Span) []byte { return nil }

// textColumn returns the name of the text column that the keywords set.
func (r *Request) textColumn() string {
	name := "text"
	_ = json.Unmarshal(r.Keywords["text"], &name)
	return name
}

// TempDir returns the folder for temporary files that the keywords set; "" is the system's.
func (r *Request) TempDir() (dir string) {
	_ = json.Unmarshal(r.Keywords["temp_dir"], &dir)
	return dir
}

// Spool writes the rows of a batch to a temporary file, from which Spooled reads them.
func (r *Request) Spool(w io.Writer, t *arrow.Table) error {
	print := "fingerprint"
	_ = json.Unmarshal(r.Keywords["fingerprint_field"], &print)
	return t.WriteLines(w, print)
}

// errNoDocs is the error for a request without documents.
var errNoDocs = errors.New("there are no documents: pass a table")

// each calls f for every document of the table. An invalid record is an error.
func (r *Request) each(ctx context.Context, opt records.Options, f func(rec *records.Record) error) error {
	all, err := r.tables()
	if err != nil {
		return err
	}
	t, ok := all[TableName]
	if !ok {
		return errNoDocs
	}
	in, err := t.Open(opt)
	if err != nil {
		return err
	}
	defer in.Close()
	return records.Each(ctx, in, f, func(is *records.Issue) error { return is })
}
