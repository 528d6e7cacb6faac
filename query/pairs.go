package query

import (
	"iter"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
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

// bindMatches resolves PAIRS and CLUSTERS.
func (x *run) bindMatches(word syntax.Token, m *syntax.Matching, list []*syntax.Clause) (by matching, w *clauses, err error) {
	if by, err = x.bindMatching(m, estimateClause(list)); err == nil {
		w, err = x.bindWindow(word.Value, list)
	}
	return by, w, err
}

func (x *run) pairs(s *syntax.Pairs) error {
	by, w, err := x.bindMatches(s.Word, s.By, s.Clauses)
	if err != nil {
		return err
	}
	measure := by.measure()
	plain := append([]string{"a", "b"}, measureColumns(measure)...)
	sh, err := x.bindShow(w.show, plain, "a", "b")
	if err != nil {
		return err
	}
	var found iter.Seq2[engine.Pair, error]
	if by.rule != nil {
		found = x.rulePairs(&by)
	} else {
		found = x.Snap.Pairs(x.Ctx, by.by, &engine.SearchOptions{Limit: max(w.First(), 0), Progress: x.Report})
	}
	return x.show(sh, plain, w.window, windowRows(x, w.window, found, func(p engine.Pair) Row {
		return appendMeasure(Row{p.A, p.B}, measure, p.Match)
	}), "a", "b")
}

// countPairs returns a function that counts the rows of PAIRS.
func (x *run) countPairs(s *syntax.Pairs) (func() (int64, error), error) {
	by, w, err := x.bindMatches(s.Word, s.By, s.Clauses)
	if err == nil {
		err = w.refuseShow()
	}
	return func() (n int64, err error) {
		if by.rule != nil {
			n, err = x.countRule(by.rule, false)
		} else {
			n, err = x.Snap.CountPairs(x.Ctx, by.by, &engine.SearchOptions{Progress: x.Report})
		}
		return w.Count(n), err
	}, err
}

// clusters runs CLUSTERS.
func (x *run) clusters(s *syntax.Clusters) error {
	return x.showClusters(s, "")
}

// members yields the members of clusters or, if of is an ID, of the cluster of that document.
func (x *run) members(by *matching, of string) iter.Seq2[engine.Member, error] {
	if by.rule != nil {
		return x.ruleMembers(by, of)
	}
	return x.Snap.Clusters(x.Ctx, by.by, &engine.ClusterOptions{Progress: x.Report, Of: of})
}

// showClusters returns the members of the clusters, or of the cluster of one document, as rows, if
// of is its id.
func (x *run) showClusters(s *syntax.Clusters, of string) error {
	by, w, err := x.bindMatches(s.Word, s.By, s.Clauses)
	if err != nil {
		return err
	}
	measure := by.measure()
	plain := append([]string{"cluster", "id", "keep"}, measureColumns(measure)...)
	sh, err := x.bindShow(w.show, plain, "id")
	if err != nil {
		return err
	}
	return x.show(sh, plain, w.window, windowRows(x, w.window, x.members(&by, of), func(m engine.Member) Row {
		return appendMeasure(Row{m.Cluster, m.ID, m.Keep}, measure, m.Match)
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
	of := &syntax.Clusters{Word: s.Word, By: s.By, Clauses: s.Clauses}
	if of.By == nil {
		c := &syntax.Criterion{Word: s.Word, Value: s.Word}
		c.Word.Value, c.Value.Value, c.Value.Type = "JACCARD", "0.8", syntax.Number
		of.By = &syntax.Matching{Criterion: c}
	}
	return x.showClusters(of, id)
}

// countClusters returns a function that counts the clusters of CLUSTERS that have a row within
// LIMIT and OFFSET.
func (x *run) countClusters(s *syntax.Clusters) (func() (int64, error), error) {
	by, w, err := x.bindMatches(s.Word, s.By, s.Clauses)
	if err == nil {
		err = w.refuseShow()
	}
	return func() (n int64, err error) {
		if w.Limit < 0 && w.Offset == 0 {
			if by.rule != nil {
				return x.countRule(by.rule, true)
			}
			return x.Snap.CountClusters(x.Ctx, by.by, &engine.ClusterOptions{Progress: x.Report})
		}
		last := 0
		members := windowRows(x, w.window, x.members(&by, ""), func(m engine.Member) Row { return Row{m.Cluster} })
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
