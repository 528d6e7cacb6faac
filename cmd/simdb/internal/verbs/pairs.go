// Package verbs has the commands of simdb other than dedup and the shell, in a file each or a few
// similar ones together. A command is a struct of flags and arguments with a method Run; package
// app has what they share. Commands do not use each other.
package verbs

import (
	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/repl/output"
)

// Pairs is `simdb pairs`.
type Pairs struct {
	DB        string `arg:"" file:"db" help:"The database."`
	Unordered bool   `help:"List pairs as they are found, in bounded memory, instead of the best matches first."`
	app.SimilarityFlags
	app.VerifyFlags
	app.MemoryFlag
	app.RowFlags
}

// Run lists the pairs.
func (c *Pairs) Run(a *app.App) (err error) {
	db, err := a.OpenForQuery(c.DB, c.MemoryFlag)
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	by := c.Criterion(c.Verified(db.Params().Text))
	m := a.Meter()
	defer m.Stop()
	if c.Options().Format == output.Count {
		n, err := db.CountPairs(a.Context(), by, m.Report)
		m.Stop()
		return app.FoundOr(a.Count(c.RowFlags, n, err))
	}
	pairs := db.Pairs
	if c.Unordered {
		pairs = db.PairsUnordered
	}
	return app.FoundOr(a.Rows(c.RowFlags, c.Columns("a", "b"), func(row func(...any) error) error {
		for p, err := range pairs(a.Context(), by, m.Report) {
			if err != nil {
				return err
			}
			if err := row(c.Values(p.Match, p.A, p.B)...); err != nil {
				return err
			}
		}
		m.Stop()
		return nil
	}))
}

// Clusters is `simdb clusters`.
type Clusters struct {
	DB   string `arg:"" file:"db" help:"The database."`
	Mode string `enum:"star,components" default:"star" help:"star: every member is a near-duplicate of the one to keep; components: members are linked by a chain of near-duplicates."`
	app.SimilarityFlags
	app.VerifyFlags
	app.MemoryFlag
	app.RowFlags
}

// Run lists the clusters.
func (c *Clusters) Run(a *app.App) (err error) {
	db, err := a.OpenForQuery(c.DB, c.MemoryFlag)
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	by := c.Criterion(c.Verified(db.Params().Text))
	m := a.Meter()
	defer m.Stop()
	o := &engine.ClusterOptions{Progress: m.Report}
	if c.Mode == "components" {
		o.Mode = engine.Components
	}
	if c.Options().Format == output.Count {
		n, _, err := db.CountClusters(a.Context(), by, o)
		m.Stop()
		return app.FoundOr(a.Count(c.RowFlags, n, err))
	}
	return app.FoundOr(a.Rows(c.RowFlags, c.Columns("cluster", "id", "keep"), func(row func(...any) error) error {
		for p, err := range db.Clusters(a.Context(), by, o) {
			if err != nil {
				return err
			}
			if err := row(c.Values(p.Match, p.Cluster, p.ID, p.Keep)...); err != nil {
				return err
			}
		}
		m.Stop()
		return nil
	}))
}
