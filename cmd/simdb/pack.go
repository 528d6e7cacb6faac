package main

import (
	"errors"
	"os"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/progress"
)

// packCmd is `simdb pack`.
type packCmd struct {
	DB     string `arg:"" file:"db" help:"The database."`
	Output string `arg:"" file:"table" name:"file" help:"The table file to write (.sst); it must not exist."`
}

// Run packs the database.
func (c *packCmd) Run(a *app) (err error) {
	db, err := a.openForReading(c.DB)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	m := a.meter()
	defer m.Stop()
	start := time.Now()
	err = db.Pack(a.context(), c.Output, m.Report)
	m.Stop()
	if err != nil {
		return err
	}
	st, err := os.Stat(c.Output)
	if err != nil {
		return err
	}
	a.say("%s: %s, packed in %s", c.Output, progress.Bytes(st.Size()), seconds(start))
	return nil
}

// ingestCmd is `simdb ingest`.
type ingestCmd struct {
	DB    string   `arg:"" file:"db" help:"The database."`
	Files []string `arg:"" file:"in" name:"file" help:"Table files (.sst), of the same parameters as the database."`
}

// Run adds the tables.
func (c *ingestCmd) Run(a *app) (err error) {
	db, err := a.openForWriting(c.DB)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	start := time.Now()
	before, err := db.Stats()
	if err != nil {
		return err
	}
	err = db.Ingest(a.context(), c.Files...)
	after, statsErr := db.Stats()
	if err = errors.Join(err, statsErr); err != nil {
		return err
	}
	a.say("%s: %s before, %s now; %s", c.DB, count(before.Documents, "document"), count(after.Documents, "document"), seconds(start))
	return nil
}
