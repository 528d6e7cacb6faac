// Package verbs has the commands of simdb other than dedup, tune, review and the shell, in a file
// each or a few similar ones together. A command is a struct of flags and arguments with a method
// Run; package app has what they share. Commands do not use each other.
package verbs

import (
	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/repl/output"
)

// Pairs is `simdb pairs`.
type Pairs struct {
	Data      []string `arg:"" file:"in" name:"db|file" help:"A database, or files with documents, or with --files or --images the documents themselves; - is standard input."`
	Unordered bool     `help:"List pairs as they are found, in bounded memory, instead of the best matches first."`
	AlikeFlags
}

// Run lists the pairs.
func (c *Pairs) Run(a *app.App) error {
	return c.list(a, c.Data, func(of alike) error {
		if c.RowFlags.Options().Format == output.Count {
			n, err := of.countPairs()
			return app.FoundOr(a.Count(c.RowFlags, n, err))
		}
		rows := app.RowsOf(of.pairs(c.Unordered), func(p engine.Pair) query.Row { return c.Values(p.Match, p.A, p.B) })
		return app.FoundOr(a.Rows(c.RowFlags, c.SimilarityFlags.Columns("a", "b"), rows))
	})
}

// Clusters is `simdb clusters`.
type Clusters struct {
	Data []string `arg:"" file:"in" name:"db|file" help:"A database, or files with documents, or with --files or --images the documents themselves; - is standard input."`
	Mode string   `enum:"star,components" default:"star" help:"star: every member is a near-duplicate of the document to keep; components: members are connected by chains of near-duplicates."`
	AlikeFlags
}

// Run lists the clusters.
func (c *Clusters) Run(a *app.App) error {
	c.components = c.Mode == "components"
	return c.list(a, c.Data, func(of alike) error {
		if c.RowFlags.Options().Format == output.Count {
			n, err := of.countClusters()
			return app.FoundOr(a.Count(c.RowFlags, n, err))
		}
		rows := app.RowsOf(of.clusters(), func(m engine.Member) query.Row { return c.Values(m.Match, m.Cluster, m.ID, m.Keep) })
		return app.FoundOr(a.Rows(c.RowFlags, c.SimilarityFlags.Columns("cluster", "id", "keep"), rows))
	})
}

// list has the rows of what the arguments name written by write.
func (f *AlikeFlags) list(a *app.App, args []string, write func(alike) error) (err error) {
	defer f.useThreads()()
	defer app.KeepTo(int64(f.Memory))()
	m := a.Meter()
	defer m.Stop()
	src, err := a.NewCollection(args, f.InputFlags, app.Access{OrFile: true, Near: f.Near, Features: f.FeatureFlags, Memory: int64(f.Memory)})
	if err != nil {
		return err
	}
	defer src.Stored.Close(&err)
	f.Settle(a, src.DB(), f.Images)
	if src.Stored == nil {
		return f.listFiles(a, m, src, write)
	}
	if err := a.Env().CheckTexts(a.Context(), src.DB(), f.Near != nil); err != nil {
		return err
	}
	if f.Grouped() || f.Sample > 0 { // documents are compared as those of files are: by classes of equal ones
		return f.listFiles(a, m, src, write)
	}
	verify := f.Verified(src.Stored.DB.Params().Text)
	l := &storedList{a: a, s: src.Stored, by: f.Criterion(verify), o: &engine.ClusterOptions{Progress: m.Report}}
	if f.components {
		l.o.Mode = engine.Components
	}
	return write(l)
}
