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
	Data      []string `arg:"" file:"in" name:"db|file" help:"A database, or files with documents, or with --files the documents themselves; - is standard input."`
	Unordered bool     `help:"List pairs as they are found, in bounded memory, instead of the best matches first."`
	app.SimilarityFlags
	app.VerifyFlags
	app.MemoryFlag
	app.RowFlags
	FileListFlags
}

// Run lists the pairs.
func (c *Pairs) Run(a *app.App) (err error) {
	defer c.useThreads()()
	if c.small(c.Data) {
		return c.list(a, c.Data, c.Output, c.SimilarityFlags, c.VerifyFlags, c.MemoryFlag, func(l *fileList) error { return c.ofList(a, l) })
	}
	defer app.KeepTo(int64(c.Memory))()
	db, err := a.Open(c.Data[0], app.Access{OrFile: true, Features: c.FeatureFlags, Memory: int64(c.Memory)})
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	if err := a.CheckTexts(db, c.SimilarityFlags); err != nil {
		return err
	}
	s, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	by := c.Criterion(c.Verified(db.Params().Text))
	m := a.Meter()
	defer m.Stop()
	if c.RowFlags.Options().Format == output.Count {
		n, err := s.CountPairs(a.Context(), by, m.Report)
		m.Stop()
		return app.FoundOr(a.Count(c.RowFlags, n, err))
	}
	o := &engine.PairOptions{Unordered: c.Unordered, Progress: m.Report}
	return app.FoundOr(a.Rows(c.RowFlags, c.Columns("a", "b"), func(row func(...any) error) error {
		for p, err := range s.Pairs(a.Context(), by, o) {
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

// ofList lists the pairs of files, or of a sample.
func (c *Pairs) ofList(a *app.App, l *fileList) error {
	if c.RowFlags.Options().Format == output.Count {
		n, err := l.CountPairs(a.Context(), l.by, l.o)
		l.meter.Stop()
		return app.FoundOr(a.Count(c.RowFlags, n, err))
	}
	pairs := l.EachPair
	if c.Unordered {
		pairs = l.EachPairUnordered
	}
	return app.FoundOr(a.Rows(c.RowFlags, c.Columns("a", "b"), func(row func(...any) error) (failed error) {
		err := pairs(a.Context(), l.by, l.o, func(x, y string, m engine.Match) bool {
			failed = row(c.Values(m, x, y)...)
			return failed == nil
		})
		l.meter.Stop()
		if failed == nil {
			failed = err
		}
		return failed
	}))
}

// Clusters is `simdb clusters`.
type Clusters struct {
	Data    []string `arg:"" file:"in" name:"db|file" help:"A database, or files with documents, or with --files the documents themselves; - is standard input."`
	Summary bool     `help:"List figures instead: how large the clusters are, the weakest edges, how unlike the members of the largest are, and shingles and fingerprints that many documents share."`
	Mode    string   `enum:"star,components" default:"star" help:"star: every member is a near-duplicate of the one to keep; components: members are linked by a chain of near-duplicates."`
	app.SimilarityFlags
	app.VerifyFlags
	app.MemoryFlag
	app.RowFlags
	FileListFlags
}

// Run lists the clusters.
func (c *Clusters) Run(a *app.App) (err error) {
	defer c.useThreads()()
	c.summary = c.Summary
	if c.small(c.Data) {
		return c.list(a, c.Data, c.Output, c.SimilarityFlags, c.VerifyFlags, c.MemoryFlag, func(l *fileList) error { return c.ofList(a, l) })
	}
	defer app.KeepTo(int64(c.Memory))()
	db, err := a.Open(c.Data[0], app.Access{OrFile: true, Features: c.FeatureFlags, Memory: int64(c.Memory)})
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	if err := a.CheckTexts(db, c.SimilarityFlags); err != nil {
		return err
	}
	s, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	by := c.Criterion(c.Verified(db.Params().Text))
	m := a.Meter()
	defer m.Stop()
	o := &engine.ClusterOptions{Progress: m.Report}
	if c.Mode == "components" {
		o.Mode = engine.Components
	}
	if c.RowFlags.Options().Format == output.Count {
		n, _, err := s.CountClusters(a.Context(), by, o)
		m.Stop()
		return app.FoundOr(a.Count(c.RowFlags, n, err))
	}
	if c.Summary {
		return c.summaryOfDB(a, db, by, o)
	}
	var sizes app.ClusterSizes
	err = app.FoundOr(a.Rows(c.RowFlags, c.Columns("cluster", "id", "keep"), func(row func(...any) error) error {
		for p, err := range db.Clusters(a.Context(), by, o) {
			if err != nil {
				return err
			}
			sizes.Add(p.Cluster, p.ID, p.Keep)
			if err := row(c.Values(p.Match, p.Cluster, p.ID, p.Keep)...); err != nil {
				return err
			}
		}
		m.Stop()
		return nil
	}))
	if st, e := db.Stats(); err == nil && e == nil {
		sizes.Warn(a, st.Documents)
	}
	return err
}

// ofList lists the clusters of files, or of a sample.
func (c *Clusters) ofList(a *app.App, l *fileList) error {
	if l.allowed {
		return errAllowed
	}
	found, err := l.Clusters(a.Context(), l.by, c.Mode == "components", l.o)
	l.meter.Stop()
	if err != nil {
		return err
	}
	if c.RowFlags.Options().Format == output.Count {
		n, _ := found.Count()
		return app.FoundOr(a.Count(c.RowFlags, n, nil))
	}
	if c.Summary {
		return c.summaryOfList(a, l, found)
	}
	var sizes app.ClusterSizes
	err = app.FoundOr(a.Rows(c.RowFlags, c.Columns("cluster", "id", "keep"), func(row func(...any) error) (failed error) {
		err := found.Each(a.Context(), func(m engine.Member) bool {
			sizes.Add(m.Cluster, m.ID, m.Keep)
			failed = row(c.Values(m.Match, m.Cluster, m.ID, m.Keep)...)
			return failed == nil
		})
		if failed == nil {
			failed = err
		}
		return failed
	}))
	if err == nil {
		sizes.Warn(a, l.N)
	}
	return err
}
