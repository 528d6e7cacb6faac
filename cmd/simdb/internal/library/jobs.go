package library

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/loading"
	"github.com/simdb/simdb/cmd/simdb/internal/tuning"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// job returns the dedup job on documents in memory that keywords describe.
func (r *Request) job() (*dedup.Job, error) {
	j := &dedup.Job{DryRun: true, Memory: app.DefaultMemory()}
	var by app.FilesCriterionFlags
	var read app.InputFlags
	var of app.FeatureFlags
	var rule *app.RuleFlag
	k := keywords{
		"rule": &rule, "agree": &j.Agree, "distinct": (*app.Distinct)(&j.Distinct), "across": &j.Across, "within_field": &j.WithinField, "keep": &j.Keep, "against": &j.Against,
		"only_against": &j.OnlyAgainst, "against_text": &j.AgainstTextField, "against_id": &j.AgainstIDField, "level": &j.Level,
		"min_count": &j.MinCount, "drop": &j.Drop, "columns": &j.Columns, "decisions": &j.Decisions, "memory": (*app.Memory)(&j.Memory), "temp_dir": &j.TempDir,
	}
	err := k.fields(&by, &read.ReadFlags, &of).set(r.Keywords)
	if err == nil {
		err = read.Check()
	}
	if err == nil && slices.ContainsFunc(j.Columns, func(name string) bool { return name != "lacks" && name != "adds" }) {
		err = fmt.Errorf("columns: %s: the audit has all other columns; lacks and adds can be added", j.Columns)
	}
	if err == nil {
		j.Compared, err = of.Compared()
	}
	if j.By = by.Measures().Criterion(); by.Verify != nil {
		j.Verify = float64(*by.Verify)
	}
	if by.Seen != nil {
		j.Seen = float64(*by.Seen)
	}
	j.Rule = app.GroupFlags{Rule: rule}.Pair(by.Levenshtein)
	j.Read = read.Options(records.Auto)
	return j, err
}

// dedupTable removes near-duplicates from a table.
func dedupTable(ctx context.Context, r *Request) (*Reply, error) {
	j, err := r.job()
	if err != nil {
		return nil, err
	}
	tables, err := r.tables()
	if err != nil {
		return nil, err
	}
	m := &audited{own: r.own, keep: newColumn("keep", Bool), columns: []*Column{newColumn("row", Int), newColumn("id", String)}}
	if j.Level != "" && j.Level != dedup.Document {
		m.columns = append(m.columns, newColumn("text", String))
		j.Cut = m.cut
	} else {
		m.columns = append(m.columns, newColumn("keeper_row", Int), newColumn("keeper", String), newColumn("keeper_file", String),
			newColumn("distance", Int), newColumn("score", Float), newColumn("exact", Bool), newColumn("rule", String), newColumn("cluster", Int))
		for _, name := range j.Columns {
			m.columns = append(m.columns, newColumn(name, String))
		}
		j.Audited = m.row
	}
	a := app.NewQuiet(ctx, tables)
	defer a.CleanUp()
	defer app.KeepTo(j.Memory)()
	var said messages
	a.Env().Log = slog.New(&said)
	report, err := j.Write(ctx, a.Env(), []string{TableName})
	if err != nil {
		return nil, err
	}
	m.fill(report.Read)
	return &Reply{Columns: m.columns, Keep: m.keep, Values: map[string]any{"warnings": said.all}}, nil
}

// messages collects what a command would print, but for the format of rows, which their caller has made.
type messages struct {
	slog.Handler // not used
	mu           sync.Mutex
	all          []string
}

// Enabled implements slog.Handler.
func (*messages) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (m *messages) Handle(_ context.Context, r slog.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !strings.HasSuffix(r.Message, ">: JSON lines") {
		m.all = append(m.all, r.Message)
	}
	return nil
}

// audited collects the lines of an audit as columns, or the texts that have lost a part, and the
// mask of kept rows.
type audited struct {
	keep    *Column
	columns []*Column
	own     map[string]bool // the files of the table
}

// fill adds rows that are kept, up to n.
func (m *audited) fill(n int64) {
	for int64(len(m.keep.Bools)) < n {
		m.keep.add(true)
	}
}

// drop marks the row at a position as dropped.
func (m *audited) drop(at records.Position) {
	m.fill(int64(at))
	m.keep.Bools[at-1] = false
}

// cut adds a row that has lost a part of its text. If left is "", the row is dropped.
func (m *audited) cut(rec *records.Record, left string) {
	var text *string
	if left != "" {
		text = &left
	}
	if text == nil {
		m.drop(rec.Pos)
	}
	m.columns[0].add(int64(rec.Pos) - 1)
	m.columns[1].add(rec.Doc.ID)
	addOf(m.columns[2], text)
}

// row adds a line of an audit.
func (m *audited) row(row *dedup.AuditRow) error {
	m.drop(row.Line)
	c := m.columns
	c[0].add(int64(row.Line) - 1)
	addOf(c[1], row.ID)
	var keeper *int64
	file := row.KeeperFile // nil if no document of its cluster is kept
	own := file != nil && (*file == TableName || m.own[*file])
	if own || file != nil && strings.HasPrefix(*file, "<") { // a table, where positions are row numbers
		keeper = new(int64(*row.KeeperLine) - 1)
	}
	if own {
		file = nil
	}
	addOf(c[2], keeper)
	addOf(c[3], row.Keeper)
	addOf(c[4], file)
	addOf(c[5], row.Distance)
	addOf(c[6], row.Score)
	addOf(c[7], row.Exact)
	c[8].add(row.Rule)
	addOf(c[9], row.Cluster)
	for _, column := range c[10:] {
		words := row.Lacks
		if column.Name == "adds" {
			words = row.Adds
		}
		addOf(column, words)
	}
	return nil
}

// tuneTable returns what each criterion would find in a table.
func tuneTable(ctx context.Context, r *Request) (*Reply, error) {
	c := tuning.Command{Data: TableName, Sample: 1000, Seed: 1, Memory: app.Memory(app.DefaultMemory())}
	k := keywords{"sample": &c.Sample, "seed": &c.Seed, "texts": &c.Texts, "memory": &c.Memory}
	if err := k.fields(&c.ReadFlags, &c.FeatureFlags).set(r.Keywords); err != nil {
		return nil, err
	}
	tables, err := r.tables()
	if err != nil {
		return nil, err
	}
	a := app.NewQuiet(ctx, tables)
	defer a.CleanUp()
	rows := rowsOf{names: tuning.Columns}
	err = c.Rows(a, func(values ...any) error {
		rows.rows = append(rows.rows, slices.Clone(values))
		return nil
	})
	if err != nil {
		return nil, err
	}
	columns, err := rows.columns()
	return &Reply{Columns: columns}, err
}

// createOptions returns the options of a database that keywords describe.
func (r *Request) createOptions() (*engine.Options, error) {
	var f loading.CreateFlags
	var cache app.CacheFlag
	err := keywords{}.fields(&f, &cache).set(r.Keywords)
	if err == nil {
		err = f.Validate()
	}
	if err != nil {
		return nil, err
	}
	o, err := f.Options()
	o.ReadOnly, o.MustExist, o.Cache = r.ReadOnly, r.MustExist, int64(cache.Cache)
	o.BusyTimeout = time.Duration(min(r.BusyTimeout*float64(time.Second), 1<<62))
	return o, err
}

// fingerprints computes the fingerprints of the texts of a table.
func fingerprints(ctx context.Context, r *Request) (*Reply, error) {
	var read app.InputFlags
	var of app.FeatureFlags
	if err := (keywords{}).fields(&read.ReadFlags, &of).set(r.Keywords); err != nil {
		return nil, err
	}
	params, said, err := of.Params(0)
	if err != nil {
		return nil, err
	}
	if params.Words > 1 {
		return nil, fmt.Errorf("a column holds fingerprints of 64 bits: %s needs a database", option.Name("Bits"))
	}
	opt := read.Options(records.Auto)
	opt.MakeID, opt.Need = true, records.NeedText
	if err := inputs.ReadFeatures(&opt, said); err != nil {
		return nil, err
	}
	c := newColumn("fingerprint", Uint)
	type batch struct {
		texts  []string
		prints []any
	}
	var batches pipeline.Batcher[batch]
	batches.Line = pipeline.New(runtime.GOMAXPROCS(0), func() func(*batch) error {
		p := features.NewFingerprinter(params)
		return func(b *batch) error {
			for _, text := range b.texts {
				var print any
				if r := p.Text(text); !r.Empty {
					print = uint64(r.Fingerprint)
				}
				b.prints = append(b.prints, print)
			}
			return nil
		}
	}, func(b *batch) error {
		for _, print := range b.prints {
			c.add(print)
		}
		return ctx.Err()
	})
	defer batches.Stop()
	err = r.each(ctx, opt, func(rec *records.Record) error {
		b := batches.Next()
		if b.texts = append(b.texts, rec.Doc.Text); len(b.texts) < 256 {
			return nil
		}
		return batches.Send()
	})
	if err == nil {
		err = batches.Finish()
	}
	return &Reply{Columns: []*Column{c}}, err
}
