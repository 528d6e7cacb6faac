// Package verbs implements most commands of simdb; tune, review and the commands that make
// databases of documents or files of databases have packages of their own. Each file has one
// command or a few similar ones. A command is a struct of flags and arguments with a method Run;
// package app has the parts that commands share. Commands do not use each other.
package verbs

import (
	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/repl/output"
)

// Pairs is `simdb pairs`.
type Pairs struct {
	Data      []string `arg:"" file:"in" name:"db|file" help:"A database, or files with documents, or with --files or --images the documents themselves; - is standard input."`
	Unordered bool     `help:"List pairs as they are found, in bounded memory, instead of the best matches first."`
	ListFlags
}

// Run lists the pairs.
func (c *Pairs) Run(a *app.App) error {
	return c.list(a, c.Data, dedup.Listing{Unordered: c.Unordered}, func(of *dedup.Documents) error {
		if c.RowFlags.Options().Format == output.Count {
			n, err := of.CountPairs(a.Context())
			return app.FoundOr(a.Count(c.RowFlags, n, err))
		}
		rows := app.RowsOf(of.Pairs(a.Context()), func(p engine.Pair) (query.Row, error) { return c.values(a, of, p.Match, p.A, p.B) })
		return app.FoundOr(a.Rows(c.RowFlags, c.columns("a", "b"), rows))
	})
}

// Clusters is `simdb clusters`.
type Clusters struct {
	Data []string `arg:"" file:"in" name:"db|file" help:"A database, or files with documents, or with --files or --images the documents themselves; - is standard input."`
	Mode string   `enum:"star,components" default:"star" help:"star: every member is a near-duplicate of the document to keep; components: members are connected by chains of near-duplicates."`
	ListFlags
}

// Run lists the clusters.
func (c *Clusters) Run(a *app.App) error {
	job := dedup.Listing{}
	job.Components = c.Mode == "components"
	return c.list(a, c.Data, job, func(of *dedup.Documents) error {
		if c.RowFlags.Options().Format == output.Count {
			n, err := of.CountClusters(a.Context())
			return app.FoundOr(a.Count(c.RowFlags, n, err))
		}
		rows := app.RowsOf(of.Clusters(a.Context()), func(m engine.Member) (query.Row, error) { return c.values(a, of, m.Match, m.Cluster, m.ID, m.Keep) })
		return app.FoundOr(a.Rows(c.RowFlags, c.columns("cluster", "id", "keep"), rows))
	})
}
