package library

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/admin"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// ops are the operations on an open database.
var ops = map[string]func(ctx context.Context, db *engine.DB, r *Request) (*Reply, error){
	"add":       add,
	"put_novel": putNovel,
	"search":    search,
	"join":      join,
	"query":     statement,
	"get":       get,
	"delete":    remove,
	"stats":     stats,
	"flush":     func(ctx context.Context, db *engine.DB, _ *Request) (*Reply, error) { return &Reply{}, db.Flush(ctx) },
	"compact": func(ctx context.Context, db *engine.DB, _ *Request) (*Reply, error) {
		return &Reply{}, db.Compact(ctx, nil)
	},
	"refresh": func(ctx context.Context, db *engine.DB, _ *Request) (*Reply, error) { return &Reply{}, db.Refresh(ctx) },
}

// lot is the number of documents per batch search.
const lot = 4096

// reading returns the options to read a table for a database. Messages suggest keywords for the fields of
// other, too.
func reading(db *engine.DB, r *Request, other ...any) (opt records.Options, err error) {
	var read app.InputFlags
	if err := (keywords{}).fields(append(other, &read.ReadFlags)...).set(r.Keywords); err != nil {
		return opt, err
	}
	opt = read.Options(records.Auto)
	return opt, inputs.ReadFeatures(&opt, db.Options().Features)
}

// clone copies the parts of a record that a database retains: the strings belong to the table.
func clone(rec *records.Record) engine.Doc {
	d := rec.Doc
	d.ID, d.Text = strings.Clone(d.ID), strings.Clone(d.Text)
	return d
}

// add stores the documents of a table.
func add(ctx context.Context, db *engine.DB, r *Request) (*Reply, error) {
	opt, err := reading(db, r)
	if err != nil {
		return nil, err
	}
	var docs []engine.Doc // too few for a table of their own
	var load *engine.Loader
	n := 0
	err = r.each(ctx, opt, func(rec *records.Record) (err error) {
		n++
		if load != nil {
			return load.Add(clone(rec))
		}
		if docs = append(docs, clone(rec)); len(docs) <= lot {
			return nil
		}
		if load, err = db.NewLoader(ctx, &engine.LoadOptions{Replace: true}); err != nil {
			return err
		}
		for _, d := range docs {
			err = cmp.Or(err, load.Add(d))
		}
		docs = nil
		return err
	})
	switch {
	case err != nil && load != nil:
		load.Abort()
	case load != nil:
		_, err = load.Close()
	case err == nil && n > 0:
		var b engine.Batch
		for _, d := range docs {
			b.Put(d)
		}
		err = db.Apply(ctx, &b)
	}
	return &Reply{Values: map[string]any{"documents": n}}, err
}

// criterion says when documents match. Exactly one measure is set.
type criterion struct {
	dedup.Measures
	Estimate bool `json:"estimate"` // for Jaccard: the sketches decide
}

// engines returns the criterion.
func (c *criterion) engines() (by engine.Criterion, err error) {
	if by = c.Criterion(); by.Kind() == "" || !reflect.DeepEqual(dedup.MeasuresOf(by), c.Measures) {
		return by, errors.New("one criterion is needed: near, jaccard, levenshtein, cosine, contains or within")
	}
	if c.Estimate {
		by = by.Estimated()
	}
	return by, nil
}

// found are the columns of matches.
type found struct {
	near    bool
	columns []*Column
}

// newFound returns the columns of matches by a criterion, after the columns first.
func newFound(near bool, first ...*Column) *found {
	f := &found{near, append(first, newColumn("id", String))}
	if near {
		f.columns = append(f.columns, newColumn("distance", Int))
	} else {
		f.columns = append(f.columns, newColumn("score", Float), newColumn("error", Float), newColumn("exact", Bool))
	}
	return f
}

// add adds a match, after the values of the other columns. A nil m stands for no match.
func (f *found) add(m *engine.Match, values ...any) error {
	switch {
	case m == nil && f.near:
		values = append(values, nil, nil)
	case m == nil:
		values = append(values, nil, nil, nil, nil)
	case f.near:
		values = append(values, m.ID, m.Distance)
	default:
		values = append(values, m.ID, m.Score, m.Error, m.Exact)
	}
	for i, c := range f.columns {
		if err := c.add(values[i]); err != nil {
			return err
		}
	}
	return nil
}

// search finds the matches of fingerprints, texts or stored documents.
func search(ctx context.Context, db *engine.DB, r *Request) (*Reply, error) {
	by, err := r.By.engines()
	if err != nil {
		return nil, err
	}
	if slices.Contains(r.IDs, "") {
		return nil, fmt.Errorf("an empty id: %w", engine.ErrInvalid)
	}
	out := newFound(r.By.Near != nil, newColumn("query", Int))
	s, err := db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	docs := make([]engine.Doc, 0, lot)
	width := max(r.Width, 1)
	n := len(r.IDs) + len(r.Texts) + len(r.Numbers)/width // only one kind is given
	for from := 0; from < n && err == nil; from += lot {
		docs = docs[:0]
		for i := from; i < min(from+lot, n); i++ {
			d := engine.Doc{}
			switch {
			case r.IDs != nil:
				d.ID = r.IDs[i]
			case r.Texts != nil:
				d.Text = r.Texts[i]
			default:
				d.Fingerprints = []engine.Fingerprint{r.Numbers[i*width:][:width]}
			}
			docs = append(docs, d)
		}
		err = find(ctx, s, docs, by, func(n int, m *engine.Match) error { return out.add(m, from+n) })
	}
	return &Reply{Columns: out.columns}, err
}

// find calls f with each match of docs, and with the index of the document. A document without a
// text, a fingerprint and an ID matches nothing.
func find(ctx context.Context, s *engine.Snapshot, docs []engine.Doc, by engine.Criterion, f func(n int, m *engine.Match) error) error {
	var asked []engine.Doc
	var numbers []int
	for n, d := range docs {
		if d.Text != "" || d.Fingerprints != nil || d.ID != "" {
			asked, numbers = append(asked, d), append(numbers, n)
		}
	}
	for m, err := range s.SearchBatch(ctx, asked, by, nil) {
		if err == nil {
			err = f(numbers[m.Query], &m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inLots calls f with the documents that take makes from the records of a table, in batches of lot.
// f must not retain the slice.
func (r *Request) inLots(ctx context.Context, opt records.Options, take func(*records.Record) engine.Doc, f func(docs []engine.Doc) error) error {
	var docs []engine.Doc
	flush := func() error {
		err := f(docs)
		docs = docs[:0]
		return err
	}
	err := r.each(ctx, opt, func(rec *records.Record) error {
		if docs = append(docs, take(rec)); len(docs) < lot {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// join finds the matches of each document of a table.
func join(ctx context.Context, db *engine.DB, r *Request) (*Reply, error) {
	opt, err := reading(db, r, &r.By.Measures)
	if err != nil {
		return nil, err
	}
	by, err := r.By.engines()
	if err != nil {
		return nil, err
	}
	opt.MakeID, opt.Need = true, records.NeedText
	out := newFound(r.By.Near != nil, newColumn("row", Int), newColumn("query", String))
	s, err := db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var ids []string
	from := 0
	err = r.inLots(ctx, opt, func(rec *records.Record) engine.Doc {
		ids = append(ids, rec.Doc.ID)
		d := rec.Doc
		d.ID = "" // search by its content, not by its ID
		return d
	}, func(docs []engine.Doc) error {
		err := find(ctx, s, docs, by, func(n int, m *engine.Match) error { return out.add(m, from+n, ids[n]) })
		from += len(docs)
		ids = ids[:0]
		return err
	})
	return &Reply{Columns: out.columns}, err
}

// putNovel stores the documents of a table that match no stored document.
func putNovel(ctx context.Context, db *engine.DB, r *Request) (*Reply, error) {
	opt, err := reading(db, r, &r.By.Measures)
	if err != nil {
		return nil, err
	}
	by, err := r.By.engines()
	if err != nil {
		return nil, err
	}
	out := newFound(r.By.Near != nil, newColumn("row", Int), newColumn("stored", Bool))
	row := 0
	err = r.inLots(ctx, opt, clone, func(docs []engine.Doc) error {
		all, err := db.AddNovel(ctx, docs, by, &engine.SearchOptions{Renew: r.Renew})
		for _, n := range all {
			m := &n.Match
			if n.Stored || n.Expired {
				m = nil
			}
			if failed := out.add(m, row, n.Stored); failed != nil {
				return failed
			}
			row++
		}
		return err
	})
	return &Reply{Columns: out.columns}, err
}

// statement runs a statement of the query language, or a dot-command that administers the database,
// such as .fields, whose arguments are the parameters.
func statement(ctx context.Context, db *engine.DB, r *Request) (*Reply, error) {
	var args []any
	for _, p := range r.Params {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	if name, dot := strings.CutPrefix(r.Statement, "."); dot {
		if len(r.Named) > 0 {
			return nil, fmt.Errorf("the parameters of .%s must be a list without names: %w", name, engine.ErrInvalid)
		}
		return administer(ctx, db, name, args)
	}
	for name, p := range r.Named {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		args = append(args, query.Named{Name: name, Value: v})
	}
	rows, err := query.Run(ctx, db, r.Statement, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return replyOf(rows)
}

// administer runs one of admin.Commands.
func administer(ctx context.Context, db *engine.DB, name string, args []any) (*Reply, error) {
	c := admin.Named(name)
	if c == nil {
		var names []string
		for _, c := range admin.Commands {
			names = append(names, "."+c.Name)
		}
		return nil, fmt.Errorf("unknown command %q: %w; the commands are %s", "."+name, engine.ErrInvalid, strings.Join(names, ", "))
	}
	if want := len(strings.Fields(c.Arguments)); len(args) != want {
		return nil, fmt.Errorf(".%s needs %s, not %d: %w", name, quantity.Count(int64(want), "parameter"), len(args), engine.ErrInvalid)
	}
	var words []string
	for _, v := range args {
		word, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("the parameters of .%s must be strings: %w", name, engine.ErrInvalid)
		}
		words = append(words, word)
	}
	rows, err := c.Run(ctx, db, words, func(engine.Progress) {})
	if err != nil {
		return nil, err
	}
	return replyOf(rows)
}

// replyOf returns rows, or says what was done.
func replyOf(rows interface {
	Columns() []string
	All() iter.Seq2[query.Row, error]
	Message() string
	Warnings() []string
}) (*Reply, error) {
	all := rowsOf{names: rows.Columns()}
	for row, err := range rows.All() {
		if err != nil {
			return nil, err
		}
		all.rows = append(all.rows, slices.Clone(row))
	}
	values := map[string]any{"message": rows.Message(), "warnings": rows.Warnings()}
	if all.names == nil {
		return &Reply{Values: values}, nil
	}
	columns, err := all.columns()
	return &Reply{Columns: columns, Values: values}, err
}

// paramTypes are the types of parameters.
var paramTypes = map[string]reflect.Type{
	"string": reflect.TypeFor[string](), "text": reflect.TypeFor[query.Text](), "integer": reflect.TypeFor[int64](),
	"fingerprint": reflect.TypeFor[uint64](), "float": reflect.TypeFor[float64](), "bool": reflect.TypeFor[bool](),
	"time": reflect.TypeFor[time.Time](), "json": reflect.TypeFor[json.RawMessage](),
}

// value converts a value to a type for query.Run.
func (p param) value() (any, error) {
	t := paramTypes[p.Kind]
	if t == nil {
		return nil, fmt.Errorf("%q is not a type of parameter", p.Kind)
	}
	v := reflect.New(t)
	err := json.Unmarshal(p.Value, v.Interface())
	return v.Elem().Interface(), err
}

// get returns documents by their IDs, and null for IDs that are not stored.
func get(ctx context.Context, db *engine.DB, r *Request) (*Reply, error) {
	var all []any
	for _, id := range r.IDs {
		d, err := db.Get(ctx, id)
		if errors.Is(err, engine.ErrNotFound) {
			all = append(all, nil)
			continue
		}
		if err != nil {
			return nil, err
		}
		var words engine.Fingerprint
		if d.Fingerprints != nil {
			words = d.Fingerprints[0]
		}
		fields := d.Fields
		if fields == nil {
			fields = json.RawMessage("{}")
		}
		document := map[string]any{"id": d.ID, "text": d.Text, "fields": fields, "fingerprint": words, "time": d.Time}
		if !d.Expires.IsZero() {
			document["expires"] = d.Expires
		}
		all = append(all, document)
	}
	return &Reply{Values: map[string]any{"documents": all}}, nil
}

// remove deletes documents by their IDs. It does not count IDs that are not stored.
func remove(ctx context.Context, db *engine.DB, r *Request) (*Reply, error) {
	var b engine.Batch
	for _, id := range r.IDs {
		b.Delete(id)
	}
	if len(r.IDs) == 0 {
		return &Reply{Values: map[string]any{"deleted": 0}}, nil
	}
	err := db.Apply(ctx, &b)
	return &Reply{Values: map[string]any{"deleted": b.Deleted()}}, err
}

// stats describes the database.
func stats(_ context.Context, db *engine.DB, _ *Request) (*Reply, error) {
	s, err := db.Stats()
	return &Reply{Values: map[string]any{"documents": s.Documents, "disk_bytes": s.DiskBytes, "path": s.Path, "bits": max(db.Options().Bits, base.FingerprintBits)}}, err
}
