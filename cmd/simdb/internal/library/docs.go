package library

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	_ "github.com/simdb/simdb/records/lines" // reads Docs
)

// tables are the tables of a request, by name.
func (r *Request) tables() map[string]inputs.Table {
	all := map[string]inputs.Table{}
	for name, t := range r.Tables {
		all[name] = inputs.Table{Open: t.Open, Bytes: t.Bytes(r.textColumn())}
	}
	for name, lines := range r.Docs {
		all[name] = inputs.Table{Bytes: int64(len(lines)), Open: func(opt records.Options) (records.Source, error) {
			opt.Format = "jsonl"
			in, err := records.New(name, io.NopCloser(strings.NewReader(lines)), int64(len(lines)), opt)
			return numbered{in}, err
		}}
	}
	return all
}

// numbered gives documents without an ID their row number, from 0, as tables do. As with tables, an
// invalid record is an error.
type numbered struct{ records.Source }

// Records implements records.Source.
func (in numbered) Records(ctx context.Context) iter.Seq2[*records.Record, error] {
	return func(yield func(*records.Record, error) bool) {
		for rec, err := range in.Source.Records(ctx) {
			if err == nil && rec.Doc.ID == rec.File+":"+strconv.FormatInt(int64(rec.Pos), 10) {
				rec.Doc.ID = strconv.FormatInt(int64(rec.Pos)-1, 10)
			}
			if is, ok := err.(*records.Issue); ok {
				err = errors.New(is.Error()) // there is no file for rejected records
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// CanCut implements records.Cutter.
func (in numbered) CanCut() error { return records.CanCut(in.Source) }

// CutText implements records.Cutter. It returns nil, because nothing is copied.
func (in numbered) CutText(*records.Record, []records.Span) []byte { return nil }

// textColumn returns the name of the text column that the keywords set.
func (r *Request) textColumn() string {
	name := "text"
	_ = json.Unmarshal(r.Keywords["text"], &name)
	return name
}

// errNoDocs is the error for a request without documents.
var errNoDocs = errors.New("there are no documents: pass a table")

// rows returns the number of rows of the table.
func (r *Request) rows() (int64, error) {
	if t, ok := r.Tables[TableName]; ok {
		return t.Rows, nil
	}
	if lines, ok := r.Docs[TableName]; ok {
		return int64(bytes.Count([]byte(lines), []byte("\n"))), nil
	}
	return 0, errNoDocs
}

// each calls f for every document of the table. An invalid record is an error.
func (r *Request) each(ctx context.Context, opt records.Options, f func(rec *records.Record) error) error {
	t, ok := r.tables()[TableName]
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
