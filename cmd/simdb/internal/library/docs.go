package library

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	_ "github.com/simdb/simdb/cmd/simdb/internal/input/lines" // reads Docs
)

// tables are the tables of a request, by name.
func (r *Request) tables() map[string]app.Table {
	all := map[string]app.Table{}
	for name, t := range r.Tables {
		all[name] = app.Table{Open: t.Open, Bytes: t.Bytes(r.textColumn())}
	}
	for name, lines := range r.Docs {
		all[name] = app.Table{Bytes: int64(len(lines)), Open: func(opt input.Options) (input.Source, error) {
			opt.Format = "jsonl"
			return input.New(name, io.NopCloser(strings.NewReader(lines)), int64(len(lines)), opt)
		}}
	}
	return all
}

// textColumn is the name of the column with the texts, as far as flags say it.
func (r *Request) textColumn() string {
	for _, arg := range r.Args {
		if name, ok := strings.CutPrefix(arg, "--text-field="); ok {
			return name
		}
	}
	return "text"
}

// errNoDocs is for a request without documents.
var errNoDocs = errors.New("there are no documents: a table is missing")

// rows is how many rows the table has.
func (r *Request) rows() (int64, error) {
	if t, ok := r.Tables[TableName]; ok {
		return t.Rows, nil
	}
	if lines, ok := r.Docs[TableName]; ok {
		return int64(bytes.Count([]byte(lines), []byte("\n"))), nil
	}
	return 0, errNoDocs
}

// each calls f for every document of the table. What is no record is an error.
func (r *Request) each(ctx context.Context, opt input.Options, f func(rec *input.Record) error) error {
	t, ok := r.tables()[TableName]
	if !ok {
		return errNoDocs
	}
	in, err := t.Open(opt)
	if err != nil {
		return err
	}
	defer in.Close()
	return input.Each(ctx, in, f, func(is *input.Issue) error { return is })
}
