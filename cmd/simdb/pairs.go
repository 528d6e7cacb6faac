package main

import (
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/repl/output"
)

// memoryFlag bounds what a query holds of what it has found.
type memoryFlag struct {
	Memory size `default:"1GiB" placeholder:"SIZE" help:"Memory for what is found, until it is in order; more is an error (default: 1GiB)."`
}

// openForQuery opens a database that must exist, for reading, with as much memory for a query.
func (a *app) openForQuery(path string, memory size) (*engine.DB, error) {
	return open(path, &engine.Options{ReadOnly: true, MustExist: true, Memory: int64(memory)})
}

// count writes a count in the place of rows; it reports whether there is anything.
func (a *app) count(f rowFlags, n int64, err error) (found bool, _ error) {
	if err != nil {
		return false, err
	}
	_, err = a.rows(f, []string{"count"}, func(row func(...any) error) error { return row(n) })
	return n > 0, err
}

// pairsCmd is `simdb pairs`.
type pairsCmd struct {
	DB        string `arg:"" file:"db" help:"The database."`
	Unordered bool   `help:"List pairs as they are found, in bounded memory, instead of the best matches first."`
	criterionFlags
	verifyFlag
	memoryFlag
	rowFlags
}

// Run lists the pairs.
func (c *pairsCmd) Run(a *app) (err error) {
	db, err := a.openForQuery(c.DB, c.Memory)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	m := a.meter()
	defer m.Stop()
	if c.options().Format == output.Count {
		n, err := db.CountPairs(a.context(), c.criterion(c.Verify), m.Report)
		m.Stop()
		return foundOr(a.count(c.rowFlags, n, err))
	}
	pairs := db.Pairs
	if c.Unordered {
		pairs = db.PairsUnordered
	}
	return foundOr(a.rows(c.rowFlags, c.columns("a", "b"), func(row func(...any) error) error {
		for p, err := range pairs(a.context(), c.criterion(c.Verify), m.Report) {
			if err != nil {
				return err
			}
			if err := row(c.values(p.Match, p.A, p.B)...); err != nil {
				return err
			}
		}
		m.Stop()
		return nil
	}))
}

// clustersCmd is `simdb clusters`.
type clustersCmd struct {
	DB   string `arg:"" file:"db" help:"The database."`
	Mode string `enum:"star,components" default:"star" help:"star: every member is a near-duplicate of the one to keep; components: members are linked by a chain of near-duplicates."`
	criterionFlags
	verifyFlag
	memoryFlag
	rowFlags
}

// Run lists the clusters.
func (c *clustersCmd) Run(a *app) (err error) {
	db, err := a.openForQuery(c.DB, c.Memory)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	m := a.meter()
	defer m.Stop()
	o := &engine.ClusterOptions{Progress: m.Report}
	if c.Mode == "components" {
		o.Mode = engine.Components
	}
	if c.options().Format == output.Count {
		n, _, err := db.CountClusters(a.context(), c.criterion(c.Verify), o)
		m.Stop()
		return foundOr(a.count(c.rowFlags, n, err))
	}
	return foundOr(a.rows(c.rowFlags, c.columns("cluster", "id", "keep"), func(row func(...any) error) error {
		for p, err := range db.Clusters(a.context(), c.criterion(c.Verify), o) {
			if err != nil {
				return err
			}
			if err := row(c.values(p.Match, p.Cluster, p.ID, p.Keep)...); err != nil {
				return err
			}
		}
		m.Stop()
		return nil
	}))
}
