package library

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/loading"
	"github.com/simdb/simdb/cmd/simdb/internal/tuning"
	"github.com/simdb/simdb/cmd/simdb/internal/verbs"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/units"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/repl/output"
)

// parse sets a command, or a struct of flags, by arguments of the command line.
func parse(command any, args []string) error {
	k, err := kong.New(command,
		kong.Name("simdb"), kong.NoDefaultHelp(), kong.Exit(func(int) {}),
		kong.Vars{"formats": strings.Join(output.Formats(), ", "), "inputs": strings.Join(records.Formats(), ", ")},
		app.ExactStrings(), kong.Resolvers(kong.ResolverFunc(app.DefaultCriterion)))
	if err == nil {
		_, err = k.Parse(args)
	}
	return err
}

// newApp returns the App of a request.
func newApp(ctx context.Context, r *Request) *app.App { return app.NewQuiet(ctx, r.tables()) }

// errWritten refuses flags that write files.
var errWritten = errors.New("a table has no files to write: the result has the mask and the audit")

// dedupTable is `simdb dedup` of a table.
func dedupTable(ctx context.Context, r *Request) (*Reply, error) {
	var c verbs.Dedup
	if err := parse(&c, append(slices.Clone(r.Args), TableName)); err != nil {
		return nil, err
	}
	switch {
	case c.Output != "" || c.Audit != "" || c.Clusters != "" || c.Rejects != "" || c.Columns.Columns != nil || c.All:
		return nil, errWritten
	case c.OfFiles():
		return nil, errors.New("a table has no files: --files and --images are for the command simdb dedup")
	}
	a := newApp(ctx, r)
	defer a.CleanUp()
	n, err := r.rows()
	if err != nil {
		return nil, err
	}
	m := &audited{keep: newColumn("keep", Bool), columns: []*Column{newColumn("row", Int), newColumn("id", String)}}
	for range n {
		m.keep.add(true)
	}
	c.DryRun = true
	j, err := c.Job(a)
	if err != nil {
		return nil, err
	}
	defer app.KeepTo(j.Memory)()
	if c.Level != units.Document {
		m.columns = append(m.columns, newColumn("text", String))
		j.Cut = m.cut
	} else {
		m.columns = append(m.columns, newColumn("keeper_row", Int), newColumn("keeper", String), newColumn("keeper_file", String),
			newColumn("distance", Int), newColumn("score", Float), newColumn("exact", Bool), newColumn("rule", String), newColumn("cluster", Int))
		j.Audited = m.row
	}
	if _, err := j.Write(ctx, a.Env(), c.Files); err != nil {
		return nil, err
	}
	return &Reply{Columns: m.columns, Keep: m.keep}, nil
}

// audited makes columns of the lines of an audit, or of the texts that have lost a part, and the
// mask.
type audited struct {
	keep    *Column
	columns []*Column
}

// cut takes a row that has lost a part of its text; "" is left of one that is dropped.
func (m *audited) cut(rec *records.Record, left string) {
	var text *string
	if left != "" {
		text = &left
	}
	m.keep.Bools[rec.Pos-1] = text != nil
	m.columns[0].add(int64(rec.Pos) - 1)
	m.columns[1].add(rec.Doc.ID)
	addOf(m.columns[2], text)
}

// row takes a line.
func (m *audited) row(row *dedup.AuditRow) error {
	m.keep.Bools[row.Line-1] = false
	c := m.columns
	c[0].add(int64(row.Line) - 1)
	addOf(c[1], row.ID)
	var keeper *int64
	file := row.KeeperFile
	if strings.HasPrefix(*file, "<") { // a table: its positions are those of rows
		keeper = new(int64(*row.KeeperLine) - 1)
	}
	if *file == TableName {
		file = nil
	}
	addOf(c[2], keeper)
	addOf(c[3], row.Keeper)
	addOf(c[4], file)
	var distance, cluster *int64
	if row.Distance != nil {
		distance = new(int64(*row.Distance))
	}
	if row.Cluster != nil {
		cluster = new(int64(*row.Cluster))
	}
	addOf(c[5], distance)
	addOf(c[6], row.Score)
	addOf(c[7], row.Exact)
	c[8].add(row.Rule)
	addOf(c[9], cluster)
	return nil
}

// tuneTable is `simdb tune` of a table.
func tuneTable(ctx context.Context, r *Request) (*Reply, error) {
	var c tuning.Command
	if err := parse(&c, append(slices.Clone(r.Args), TableName)); err != nil {
		return nil, err
	}
	if c.Output != "" || c.HTML != "" {
		return nil, errWritten
	}
	a := newApp(ctx, r)
	defer a.CleanUp()
	rows := rowsOf{names: tuning.Columns}
	err := c.Rows(a, func(values ...any) error {
		rows.rows = append(rows.rows, slices.Clone(values))
		return nil
	})
	if err != nil {
		return nil, err
	}
	columns, err := rows.columns()
	return &Reply{Columns: columns}, err
}

// createOptions are those of a database that flags describe, as simdb load has them.
func createOptions(args []string) (*engine.Options, error) {
	var f struct {
		app.GlobalFlags
		loading.CreateFlags
	}
	if err := parse(&f, args); err != nil {
		return nil, err
	}
	o, err := f.CreateFlags.Options()
	if err == nil {
		o.BusyTimeout = f.BusyTimeout
	}
	return o, err
}

// readFlags say what of a table is read.
type readFlags struct {
	app.InputFlags
	app.FeatureFlags
}

// fingerprints computes the fingerprints of the texts of a table.
func fingerprints(ctx context.Context, r *Request) (*Reply, error) {
	var f readFlags
	if err := parse(&f, r.Args); err != nil {
		return nil, err
	}
	params, said, err := f.Params(0)
	if err != nil {
		return nil, err
	}
	if params.Words > 1 {
		return nil, errors.New("a column of fingerprints has 64 bits: --bits is for databases")
	}
	opt := f.InputFlags.Options(records.Auto)
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
