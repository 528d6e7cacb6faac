package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
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
	for _, name := range c.Files {
		if err := isTable(name); err != nil {
			return err
		}
	}
	before, err := db.Stats()
	if err != nil {
		return err
	}
	for _, name := range c.Files {
		err = db.Ingest(a.context(), name)
		if e, ok := errors.AsType[*engine.CorruptionError](err); ok { // of the copy, which is gone
			err = errors.New(strings.ReplaceAll(err.Error(), e.File, name)) // it is not the database that is damaged
		}
		if err != nil {
			break
		}
	}
	after, statsErr := db.Stats()
	if err = errors.Join(err, statsErr); err != nil {
		return err
	}
	a.say("%s: %s before, %s now; %s", c.DB, count(before.Documents, "document"), count(after.Documents, "document"), seconds(start))
	return nil
}

// isTable returns an error if a file is no table, before a copy of it is made.
func isTable(name string) error {
	f, err := vfs.Disk.Open(name)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", name, p.Err)
	}
	if err != nil {
		return err
	}
	head := make([]byte, len(sstable.Magic))
	if n, _ := f.ReadAt(head, 0); !sstable.IsTable(head[:n]) {
		return errors.Join(fmt.Errorf("%s is no table; simdb pack makes one of a database", name), f.Close())
	}
	r, err := sstable.Open(f, name)
	if err != nil {
		return fmt.Errorf("%s is a damaged table: %w", name, errors.New(err.Error())) // check DB would find nothing
	}
	return r.Close()
}
