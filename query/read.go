package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
)

// get runs GET 'a'.
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
	row[3] = fingerprintOrNil(d.Words())
	plain := []string{"id", "text", "fields", "fingerprint", "time"}
	if more := fingerprintList(d.Fingerprints); more != nil {
		plain, row = append(plain, "fingerprints"), append(row, more)
	}
	sh, err := x.bindShow(s.Show, plain, "id")
	if err != nil {
		return err
	}
	return x.show(sh, plain, window{limit: 1}, Fixed(row), "id")
}

// selectAll runs a query.
func (x *run) selectAll(s *syntax.Select) error {
	sel, err := x.bindSelect(s)
	if err != nil {
		return err
	}
	x.rows.search = true
	return x.show(sel.shown, sel.plainColumns(), sel.window, x.rowsOf(sel, x.planFor(sel)), "id")
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
		counted = func() (int64, error) { return x.Snap.Count(x.Ctx, time.Time{}) }
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

// stats runs STATS.
func (x *run) stats() error {
	s, err := x.DB.Stats()
	if err != nil {
		return err
	}
	m := x.DB.Metrics()
	rows := append(statsRows(s), metricsRows(m)...)
	fields, err := x.fieldNames()
	if err != nil {
		return err
	}
	rows = slices.Concat(rows, fields, tableRows(s), mergeRows(m.Running, m.Past))
	x.answer([]string{"name", "value"}, Fixed(rows...))
	return nil
}

// statsRows returns what STATS says of the database.
func statsRows(s engine.Stats) []Row {
	rows := []Row{
		{"path", s.Path},
		{"documents", s.Documents},
		{"fingerprints", s.Fingerprints},
		{"tombstones", s.Tombstones},
		{"expired", s.Expired},
		{"space_amplification", fmt.Sprintf("%.3f", s.SpaceAmplification())},
		{"memtable", s.Memtable},
		{"tables", len(s.Tables)},
		{"disk_bytes", s.DiskBytes},
		{"seq", json.RawMessage(strconv.FormatUint(s.Seq, 10))},
	}
	return append(rows, paramRows(s.Params)...)
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
	fields, err := x.fieldNames()
	return append(paramRows(db.Params()), fields...), err
}

func paramRows(p engine.Params) []Row {
	rows := []Row{
		{"tokenizer", p.Tokenizer}, {"shingle", p.Shingle}, {"bits", p.Bits}, {"layout", string(p.Layout)}, {"sketch", p.Sketch},
		{"min_jaccard", p.MinJaccard}, {"text", p.Text}, {"ttl", p.TTL.String()},
	}
	if of := p.Features.Describe(); of != "" {
		rows = append(rows, Row{"features", of})
	}
	if p.Containment {
		rows = append(rows, Row{"containment", true})
	}
	return rows
}

// metricsRows returns what STATS says of the work since the database was opened; nothing if no
// table was written.
func metricsRows(m engine.Metrics) []Row {
	if m.Flushes+m.Compactions+m.BytesLoaded == 0 {
		return nil
	}
	return []Row{
		{"flushes", m.Flushes},
		{"merges", m.Compactions},
		{"merge_time", m.CompactionTime.Round(time.Millisecond).String()},
		{"write_amplification", fmt.Sprintf("%.2f", m.WriteAmplification())},
		{"stalls", m.Stalls},
		{"stall_time", m.StallTime.Round(time.Millisecond).String()},
		{"slow_time", m.SlowTime.Round(time.Millisecond).String()},
	}
}

// mergeRows returns a row for each merge that is running or has ended lately.
func mergeRows(running, past []engine.MergeStats) (rows []Row) {
	for _, m := range past {
		what := fmt.Sprintf("%s, %d bytes, %s", quantity.Plain(m.Documents, "document", "documents"), m.Bytes, m.Duration.Round(time.Millisecond))
		if m.Err != nil {
			what = "failed: " + m.Err.Error()
		}
		rows = append(rows, Row{"merge " + mergeTables(m), fmt.Sprintf("%s: %s", m.Reason, what)})
	}
	for _, m := range running {
		rows = append(rows, Row{"merging " + mergeTables(m), fmt.Sprintf("%s: %d bytes, %.0f %% in %s", m.Reason, m.InputBytes, 100*m.Done, m.Duration.Round(time.Millisecond))})
	}
	return rows
}

// mergeTables names the tables of a merge, as "000003 000004 > 000007".
func mergeTables(m engine.MergeStats) string {
	var b strings.Builder
	for _, n := range m.Inputs {
		fmt.Fprintf(&b, "%06d ", n)
	}
	if m.Output == 0 {
		return strings.TrimSpace(b.String())
	}
	fmt.Fprintf(&b, "> %06d", m.Output)
	return b.String()
}

// tableRows returns what STATS says of the tables, and of orphans.
func tableRows(s engine.Stats) (rows []Row) {
	for _, t := range s.Tables {
		rows = append(rows, Row{"table " + t.Name, fmt.Sprintf("%s, %s, %d bytes, layout %s, %.2f bytes/fingerprint",
			quantity.Plain(t.Documents, "document", "documents"), quantity.Plain(t.Tombstones, "tombstone", "tombstones"),
			t.Bytes, t.Layout, t.BytesPerFingerprint)})
	}
	for _, o := range s.Orphans {
		rows = append(rows, Row{"orphan " + o.Name, fmt.Sprintf("%d bytes, not part of the database: ingest it, or remove it", o.Bytes)})
	}
	return rows
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

// ProblemColumns are the columns of ProblemRow.
func ProblemColumns() []string { return []string{"file", "section", "offset", "problem"} }

// ProblemRow is the row of CHECK for a problem that DB.Check or Open has found. What is not known
// is null: the offset where the problem is about a whole file, and for an error that is not a
// *engine.CorruptionError everything but the problem.
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
