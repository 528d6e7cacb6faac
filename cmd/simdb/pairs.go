package main

import (
	"github.com/simdb/simdb/engine"
)

// pairsCmd is `simdb pairs`.
type pairsCmd struct {
	DB        string `arg:"" file:"db" help:"The database."`
	Unordered bool   `help:"List pairs as they are found, in bounded memory, instead of the best matches first."`
	criterionFlags
	verifyFlag
	rowFlags
}

// Run lists the pairs.
func (c *pairsCmd) Run(a *app) (err error) {
	db, err := a.openForReading(c.DB)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	m := a.meter()
	defer m.Stop()
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
	rowFlags
}

// Run lists the clusters.
func (c *clustersCmd) Run(a *app) (err error) {
	db, err := a.openForReading(c.DB)
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
