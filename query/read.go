package query

import (
	"github.com/simdb/simdb/engine"
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
	row[3] = record.Fingerprint(d.Fingerprints)
	plain := []string{"id", "text", "fields", "fingerprint", "time"}
	if more := record.Fingerprints(d.Fingerprints); more != nil {
		plain, row = append(plain, "fingerprints"), append(row, more)
	}
	if !d.Expires.IsZero() {
		plain, row = append(plain, "expires"), append(row, d.Expires)
	}
	sh, err := x.bindShow(s.Show, plain, "id")
	if err != nil {
		return err
	}
	return x.show(sh, plain, window{Limit: 1}, fixed(row), "id")
}

func (x *run) selectAll(s *syntax.Select) error {
	sel, err := x.bindSelect(s)
	if err != nil {
		return err
	}
	x.planFor(sel)
	return x.show(sel.shown, sel.plain, sel.window, x.rowsOf(sel), "id")
}

// count counts the rows of a query, or all documents.
func (x *run) count(s *syntax.Count) error {
	var err error
	var counted func() (int64, error)
	switch {
	case s.By != nil:
		return x.countBy(s)
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
		counted = func() (int64, error) { return x.Snap.Count(x.Ctx, engine.Range{}) }
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
