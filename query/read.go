package query

import (
	"context"
	"errors"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query/internal/figures"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/record"
	"github.com/simdb/simdb/query/internal/syntax"
)

func (x *run) get(s *syntax.Get) error {
	id, err := x.Values.String(s.ID, syntax.ExpectID)
	if err != nil {
		return err
	}
	d, err := x.Snap.Get(x.Ctx, id)
	if err != nil {
		return x.LookupError(s.ID.Pos.Offset, id, err)
	}
	row := Row{d.ID, d.Text, nil, nil, d.Time}
	if len(d.Fields) > 0 {
		row[2] = d.Fields
	}
	row[3] = record.Fingerprint(d.Words())
	plain := []string{"id", "text", "fields", "fingerprint", "time"}
	if more := record.Fingerprints(d.Fingerprints); more != nil {
		plain, row = append(plain, "fingerprints"), append(row, more)
	}
	sh, err := x.bindShow(s.Show, plain, "id")
	if err != nil {
		return err
	}
	return x.show(sh, plain, window{Limit: 1}, Fixed(row), "id")
}

func (x *run) selectAll(s *syntax.Select) error {
	sel, err := x.bindSelect(s)
	if err != nil {
		return err
	}
	x.rows.search = true
	x.planFor(sel)
	return x.show(sel.shown, sel.plain, sel.window, x.rowsOf(sel), "id")
}

// count counts the rows of a query, or all documents.
func (x *run) count(s *syntax.Count) error {
	var err error
	var counted func() (int64, error)
	switch {
	case s.Select != nil:
		var sel *selection
		if sel, err = x.bindRowless("COUNT", s.Select); err == nil {
			counted = func() (int64, error) { return x.countSelect(sel) }
		}
	case s.Pairs != nil:
		counted, err = x.countPairs(s.Pairs)
	case s.Clusters != nil:
		counted, err = x.countClusters(s.Clusters)
	default:
		counted = func() (int64, error) { return x.Snap.Count(x.Ctx) }
	}
	if err != nil {
		return err
	}
	x.answer([]string{"count"}, func(yield func(Row, error) bool) {
		n, err := counted()
		yield(Row{n}, err)
	})
	return nil
}

func (x *run) stats() error {
	s, err := x.DB.Stats()
	if err != nil {
		return err
	}
	m := x.DB.Metrics()
	rows := append(asRows(figures.Database(s)), asRows(figures.Work(m))...)
	fields, err := x.fieldRows()
	if err != nil {
		return err
	}
	rows = slices.Concat(rows, fields, asRows(figures.Tables(s)), asRows(figures.Merges(m.Running, m.Past)))
	x.answer([]string{"name", "value"}, Fixed(rows...))
	return nil
}

func asRows(rows [][]any) (all []Row) {
	for _, r := range rows {
		all = append(all, r)
	}
	return all
}

// SchemaRows returns what STATS says of the parameters of a database, and of the fields of its
// documents: names and values.
func SchemaRows(ctx context.Context, db *engine.DB) ([]Row, error) {
	snap, err := db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	x := &run{Scope: &predicate.Scope{Ctx: ctx, DB: db, Snap: snap}}
	fields, err := x.fieldRows()
	return append(asRows(figures.Params(db.Params())), fields...), err
}

// check runs CHECK: a row per problem, or a message if there is none.
func (x *run) check() error {
	r, err := x.DB.Check(x.Ctx, x.Report)
	if err != nil {
		return err
	}
	if len(r.Problems) == 0 {
		x.say("ok: %s, %s, %d bytes verified", quantity.Plain(r.Tables, "table", "tables"), quantity.Plain(r.Documents, "document", "documents"), r.Bytes)
		return nil
	}
	rows := make([]Row, len(r.Problems))
	for i, p := range r.Problems {
		rows[i] = ProblemRow(p)
	}
	x.rows.damage = true
	x.answer(ProblemColumns(), Fixed(rows...))
	return nil
}

// ProblemColumns returns the columns of ProblemRow.
func ProblemColumns() []string { return []string{"file", "section", "offset", "problem"} }

// ProblemRow is the row of CHECK for a problem that DB.Check or Open found. Unknown values are
// null: the offset of a problem with a whole file, and everything but the problem for an error
// that is not a *engine.CorruptionError.
func ProblemRow(err error) Row {
	e, ok := errors.AsType[*engine.CorruptionError](err)
	switch {
	case !ok:
		return Row{nil, nil, nil, err.Error()}
	case e.Offset < 0:
		return Row{e.File, e.Section, nil, e.Err.Error()}
	}
	return Row{e.File, e.Section, e.Offset, e.Err.Error()}
}
