package query

import (
	"fmt"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/simdb/simdb/engine"
)

// get runs GET 'a'.
func (x *run) get(s *getStmt) error {
	id, err := x.values.str(s.ID, expectID)
	if err != nil {
		return err
	}
	d, err := x.snap.Get(x.ctx, id)
	if err != nil {
		return x.lookupError(s.ID.Pos.Offset, id, err)
	}
	row := Row{d.ID, d.Text, nil, nil, d.Time}
	if len(d.Fields) > 0 {
		row[2] = d.Fields
	}
	if d.Fingerprint != nil {
		row[3] = *d.Fingerprint
	}
	x.answer([]string{"id", "text", "fields", "fingerprint", "time"}, fixed(row))
	return nil
}

// measureColumns are the columns that tell how well two documents match by a criterion.
func measureColumns(c engine.Criterion) []string {
	if _, ok := c.Distance(); ok {
		return []string{"distance"}
	}
	return []string{"score", "error", "exact"}
}

// appendMeasure appends the values of measureColumns.
func appendMeasure(row Row, c engine.Criterion, m engine.Match) Row {
	if _, ok := c.Distance(); ok {
		return append(row, m.Distance)
	}
	return append(row, m.Score, m.Error, m.Exact)
}

// bindPairs resolves PAIRS criterion.
func (x *run) bindPairs(s *pairsStmt) (engine.Criterion, window, error) {
	c, err := x.criterion(s.Criterion, verifyClause(s.Clauses))
	if err != nil {
		return c, window{}, err
	}
	w, err := x.bindWindow("PAIRS", s.Clauses)
	return c, w, err
}

// pairs runs PAIRS criterion.
func (x *run) pairs(s *pairsStmt) error {
	c, w, err := x.bindPairs(s)
	if err != nil {
		return err
	}
	found := x.snap.Pairs(x.ctx, c, x.progress())
	if n := w.first(); n >= 0 {
		found = x.snap.PairsFirst(x.ctx, c, n, x.progress())
	}
	x.rows.search = true
	x.answer(append([]string{"a", "b"}, measureColumns(c)...), cutTo(w, func(yield func(Row, error) bool) {
		for p, err := range found {
			if !yield(appendMeasure(Row{p.A, p.B}, c, p.Match), err) || err != nil {
				return
			}
		}
	}))
	return nil
}

// countPairs returns what counts the rows of PAIRS.
func (x *run) countPairs(s *pairsStmt) (func() (int64, error), error) {
	c, w, err := x.bindPairs(s)
	return func() (int64, error) {
		n, err := x.snap.CountPairs(x.ctx, c, x.progress())
		return w.count(n), err
	}, err
}

// bindClusters resolves CLUSTERS criterion [MODE m].
func (x *run) bindClusters(s *clustersStmt) (engine.Criterion, *engine.ClusterOptions, window, error) {
	verify := s.Verify
	if verify == nil {
		verify = verifyClause(s.Clauses)
	}
	o := &engine.ClusterOptions{Progress: x.progress()}
	c, err := x.criterion(s.Criterion, verify)
	if err != nil {
		return c, o, window{}, err
	}
	if s.Mode != nil {
		switch mode := strings.ToLower(strings.Trim(s.Mode.Value, "'")); mode {
		case "star":
		case "components":
			o.Mode = engine.Components
		default:
			hint := suggest(mode, []string{"star", "components"})
			if hint == "" {
				hint = "it is star or components"
			}
			return c, o, window{}, errorAt(x.p.text, s.Mode.Pos.Offset, hint, "unknown mode %q", mode)
		}
	}
	w, err := x.bindWindow("CLUSTERS", s.Clauses)
	return c, o, w, err
}

// clusters runs CLUSTERS criterion [MODE m].
func (x *run) clusters(s *clustersStmt) error {
	c, o, w, err := x.bindClusters(s)
	if err != nil {
		return err
	}
	x.rows.search = true
	x.answer(append([]string{"cluster", "id", "keep"}, measureColumns(c)...), cutTo(w, func(yield func(Row, error) bool) {
		for m, err := range x.snap.Clusters(x.ctx, c, o) {
			if !yield(appendMeasure(Row{m.Cluster, m.ID, m.Keep}, c, m.Match), err) || err != nil {
				return
			}
		}
	}))
	return nil
}

// countClusters returns what counts the clusters of CLUSTERS: those that have a row within LIMIT and OFFSET, if there are.
func (x *run) countClusters(s *clustersStmt) (func() (int64, error), error) {
	c, o, w, err := x.bindClusters(s)
	return func() (n int64, err error) {
		if w.limit < 0 && w.offset == 0 {
			n, _, err = x.snap.CountClusters(x.ctx, c, o)
			return n, err
		}
		last := 0
		for m, err := range cutTo(w, x.snap.Clusters(x.ctx, c, o)) {
			if err != nil {
				return 0, err
			}
			if m.Cluster != last {
				n, last = n+1, m.Cluster
			}
		}
		return n, nil
	}, err
}

// verifyClause returns the VERIFY among clauses, or nil.
func verifyClause(list []*clause) *lexer.Token {
	for _, e := range list {
		if e.Verify != nil {
			return e.Verify
		}
	}
	return nil
}

// bindWindow returns the LIMIT and OFFSET of a statement. VERIFY is the criterion's; other clauses are refused.
func (x *run) bindWindow(statement string, list []*clause) (window, error) {
	for _, e := range list {
		if e.Limit != nil || e.Offset != nil || e.Verify != nil {
			continue
		}
		at, what := 0, ""
		switch {
		case e.Since != nil:
			at, what = e.Since.Word.Pos.Offset, "SINCE"
		default:
			at, what = e.Order[0].Key.Pos.Offset, "ORDER BY"
		}
		return window{}, errorAt(x.p.text, at, "it takes LIMIT, OFFSET and VERIFY", "%s does not go with %s", what, statement)
	}
	c, err := x.bindClauses(list)
	if err != nil {
		return window{}, err
	}
	return c.window, nil
}

// stats runs STATS.
func (x *run) stats() error {
	s, err := x.db.Stats()
	if err != nil {
		return err
	}
	x.answer([]string{"name", "value"}, fixed(statsRows(s)...))
	return nil
}

// statsRows are the rows of STATS.
func statsRows(s engine.Stats) []Row {
	rows := []Row{
		{"path", s.Path},
		{"documents", s.Documents},
		{"fingerprints", s.Fingerprints},
		{"tombstones", s.Tombstones},
		{"memtable", s.Memtable},
		{"tables", len(s.Tables)},
		{"disk_bytes", s.DiskBytes},
		{"seq", int64(s.Seq)},
		{"tokenizer", s.Params.Tokenizer},
		{"shingle", s.Params.Shingle},
		{"layout", s.Params.Layout},
		{"sketch", s.Params.Sketch},
		{"min_jaccard", s.Params.MinJaccard},
		{"text", s.Params.Text},
		{"ttl", s.Params.TTL.String()},
	}
	for _, t := range s.Tables {
		rows = append(rows, Row{"table " + t.Name, fmt.Sprintf("%s, %s, %d bytes, %.2f bytes/fingerprint",
			plural(t.Documents, "document", "documents"), plural(t.Tombstones, "tombstone", "tombstones"), t.Bytes, t.BytesPerFingerprint)})
	}
	for _, o := range s.Orphans {
		rows = append(rows, Row{"orphan " + o.Name, fmt.Sprintf("%d bytes, not part of the database: ingest it, or remove it", o.Bytes)})
	}
	return rows
}

// check runs CHECK: one row for each problem, or the message that there is none.
func (x *run) check() error {
	r, err := x.db.Check(x.ctx, x.progress())
	if err != nil {
		return err
	}
	if len(r.Problems) == 0 {
		x.say("ok: %s, %s, %d bytes verified", plural(r.Tables, "table", "tables"), plural(r.Documents, "document", "documents"), r.Bytes)
		return nil
	}
	rows := make([]Row, len(r.Problems))
	for i, p := range r.Problems {
		rows[i] = problemRow(p)
	}
	x.rows.damage = true
	x.answer([]string{"file", "section", "offset", "problem"}, fixed(rows...))
	return nil
}
