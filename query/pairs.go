package query

import (
	"iter"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// measureColumns returns the columns that say how well two documents match by a criterion.
func measureColumns(c engine.Criterion) []string {
	if c.Kind() == "near" {
		return []string{"distance"}
	}
	return []string{"score", "error", "exact"}
}

// appendMeasure appends the values of measureColumns.
func appendMeasure(row Row, c engine.Criterion, m engine.Match) Row {
	if c.Kind() == "near" {
		return append(row, m.Distance)
	}
	return append(row, m.Score, m.Error, m.Exact)
}

// bindPairs resolves PAIRS criterion. It returns a function that yields the pairs; its options
// limit their number, where 0 means all.
func (x *run) bindPairs(s *syntax.Pairs) (engine.Criterion, func(engine.SearchOptions) iter.Seq2[engine.Pair, error], *clauses, error) {
	c, err := predicate.BindCriterion(x.Scope, s.Criterion, estimateClause(s.Clauses))
	if err != nil {
		return c, nil, nil, err
	}
	w, err := x.bindWindow("PAIRS", s.Clauses)
	if err != nil {
		return c, nil, nil, err
	}
	pairs := func(o engine.SearchOptions) iter.Seq2[engine.Pair, error] {
		o.Progress = x.Report
		return x.Snap.Pairs(x.Ctx, c, &o)
	}
	if s.Across == nil {
		return c, pairs, w, nil
	}
	across, err := x.bindAcross(s.Across)
	return c, func(o engine.SearchOptions) iter.Seq2[engine.Pair, error] {
		o.Limit = 0
		return across(pairs(o))
	}, w, err
}

// bindAcross resolves a.lang != b.lang. It returns a filter that passes the pairs for which this
// holds. Pairs in which a document lacks the field never pass.
func (x *run) bindAcross(s *syntax.Across) (func(iter.Seq2[engine.Pair, error]) iter.Seq2[engine.Pair, error], error) {
	a, b := syntax.Path(s.A), syntax.Path(s.B)
	if len(a) < 2 || len(b) < 2 || a[0] != "a" || b[0] != "b" || !slices.Equal(a[1:], b[1:]) {
		return nil, syntax.Errorf(s.A.Pos.Offset, "such as a.lang != b.lang", "PAIRS and CLUSTERS compare a field of both documents")
	}
	if jsonfield.Several(a) {
		return nil, predicate.SeveralValues(s.A)
	}
	equal := s.Op.Value == "="
	return func(pairs iter.Seq2[engine.Pair, error]) iter.Seq2[engine.Pair, error] {
		return func(yield func(engine.Pair, error) bool) {
			values, err := x.valuesOf(jsonfield.JoinPath(a[1:]), a[1:])
			if err != nil {
				yield(engine.Pair{}, err)
				return
			}
			for p, err := range pairs {
				if err == nil {
					v, ok := values[p.A]
					w, too := values[p.B]
					if !ok || !too || (v == w) != equal {
						continue
					}
				}
				if !yield(p, err) {
					return
				}
			}
		}
	}, nil
}

// valuesOf maps the id of each document that has a field to a number for the field's value. Equal
// values have the same number.
func (x *run) valuesOf(name string, path []string) (map[string]uint32, error) {
	field := x.Field(name, path)
	of, numbers := map[string]uint32{}, value.Numbers{}
	for d, err := range x.Snap.Range(x.Ctx, engine.Range{Unordered: true, Load: true}) {
		if err != nil {
			return nil, err
		}
		if raw := field.Of(d.Fields); raw != nil {
			of[d.ID] = numbers.Of(raw)
		}
	}
	return of, nil
}

func (x *run) pairs(s *syntax.Pairs) error {
	c, pairs, w, err := x.bindPairs(s)
	if err != nil {
		return err
	}
	plain := append([]string{"a", "b"}, measureColumns(c)...)
	sh, err := x.bindShow(w.show, plain, "a", "b")
	if err != nil {
		return err
	}
	found := pairs(engine.SearchOptions{Limit: max(w.First(), 0)})
	return x.show(sh, plain, w.window, windowRows(x, w.window, found, func(p engine.Pair) Row {
		return appendMeasure(Row{p.A, p.B}, c, p.Match)
	}), "a", "b")
}

// countPairs returns a function that counts the rows of PAIRS.
func (x *run) countPairs(s *syntax.Pairs) (func() (int64, error), error) {
	c, pairs, w, err := x.bindPairs(s)
	if err == nil {
		err = w.refuseShow()
	}
	return func() (n int64, err error) {
		if s.Across == nil {
			n, err = x.Snap.CountPairs(x.Ctx, c, &engine.SearchOptions{Progress: x.Report})
			return w.Count(n), err
		}
		for _, err := range pairs(engine.SearchOptions{}) {
			if err != nil {
				return 0, err
			}
			n++
		}
		return w.Count(n), nil
	}, err
}

// bindClusters resolves CLUSTERS criterion.
func (x *run) bindClusters(s *syntax.Clusters) (engine.Criterion, *engine.ClusterOptions, *clauses, error) {
	o := &engine.ClusterOptions{Progress: x.Report}
	c, err := predicate.BindCriterion(x.Scope, s.Criterion, estimateClause(s.Clauses))
	if err != nil {
		return c, o, nil, err
	}
	w, err := x.bindWindow("CLUSTERS", s.Clauses)
	return c, o, w, err
}

// clusters runs CLUSTERS criterion.
func (x *run) clusters(s *syntax.Clusters) error {
	return x.showClusters(s, "")
}

// showClusters returns the members of the clusters, or of the cluster of one document, as rows, if
// of is its id.
func (x *run) showClusters(s *syntax.Clusters, of string) error {
	c, o, w, err := x.bindClusters(s)
	if err != nil {
		return err
	}
	o.Of = of
	plain := append([]string{"cluster", "id", "keep"}, measureColumns(c)...)
	sh, err := x.bindShow(w.show, plain, "id")
	if err != nil {
		return err
	}
	return x.show(sh, plain, w.window, windowRows(x, w.window, x.Snap.Clusters(x.Ctx, c, o), func(m engine.Member) Row {
		return appendMeasure(Row{m.Cluster, m.ID, m.Keep}, c, m.Match)
	}), "id")
}

// cluster runs CLUSTER OF 'a'.
func (x *run) cluster(s *syntax.Cluster) error {
	id, err := x.Values.String(s.ID, syntax.ExpectID)
	if err != nil {
		return err
	}
	if _, err := x.Snap.Get(x.Ctx, id); err != nil {
		return x.LookupError(s.ID.Pos.Offset, id, err)
	}
	of := &syntax.Clusters{Word: s.Word, Criterion: s.Criterion, Clauses: s.Clauses}
	if of.Criterion == nil {
		of.Criterion = &syntax.Criterion{Word: s.Word, Value: s.Word}
		of.Criterion.Word.Value, of.Criterion.Value.Value = "JACCARD", "0.8"
		of.Criterion.Value.Type = syntax.Number
	}
	return x.showClusters(of, id)
}

// countClusters returns a function that counts the clusters of CLUSTERS that have a row within
// LIMIT and OFFSET.
func (x *run) countClusters(s *syntax.Clusters) (func() (int64, error), error) {
	c, o, w, err := x.bindClusters(s)
	if err == nil {
		err = w.refuseShow()
	}
	return func() (n int64, err error) {
		if w.Limit < 0 && w.Offset == 0 {
			return x.Snap.CountClusters(x.Ctx, c, o)
		}
		last := 0
		members := windowRows(x, w.window, x.Snap.Clusters(x.Ctx, c, o), func(m engine.Member) Row { return Row{m.Cluster} })
		for row, err := range members {
			if err != nil {
				return 0, err
			}
			if row[0] != last {
				n, last = n+1, row[0].(int)
			}
		}
		return n, nil
	}, err
}

// estimateClause returns the ESTIMATE token among clauses, or nil.
func estimateClause(list []*syntax.Clause) *syntax.Token {
	for _, e := range list {
		if e.Estimate != nil {
			return e.Estimate
		}
	}
	return nil
}

// bindWindow resolves LIMIT, OFFSET and SHOW of a statement. ESTIMATE belongs to the criterion and is
// skipped; other clauses are an error.
func (x *run) bindWindow(statement string, list []*syntax.Clause) (*clauses, error) {
	for _, e := range list {
		at, what := 0, ""
		switch {
		case e.Since != nil:
			at, what = e.Since.Word.Pos.Offset, "SINCE"
		case e.Order != nil:
			at, what = e.Order[0].Key.Pos.Offset, "ORDER BY"
		default:
			continue
		}
		return nil, syntax.Errorf(at, "it accepts LIMIT, OFFSET, ESTIMATE and SHOW", "%s cannot be used with %s", what, statement)
	}
	c, err := x.bindClauses(list)
	return &c, err
}

// refuseShow returns an error if SHOW is among the clauses of a statement that counts.
func (c *clauses) refuseShow() error {
	if c.show != nil {
		return syntax.Errorf(c.show.Word.Pos.Offset, "", "SHOW cannot be used with COUNT")
	}
	return nil
}
