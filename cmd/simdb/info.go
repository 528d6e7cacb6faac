package main

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/sstable"
)

// statement runs one statement of the query language and writes its rows.
func (a *app) statement(db *engine.DB, f rowFlags, text string, args ...any) error {
	rows, err := query.Run(a.context(), db, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	_, err = a.rows(f, rows.Columns(), func(row func(...any) error) error {
		for r, err := range rows.All() {
			if err != nil {
				return err
			}
			if err := row(r...); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// statsCmd is `simdb stats`.
type statsCmd struct {
	DB string `arg:"" file:"db" help:"The database."`
	rowFlags
}

// Run shows what the database holds.
func (c *statsCmd) Run(a *app) (err error) {
	db, err := a.openForReading(c.DB)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	return a.statement(db, c.rowFlags, "STATS")
}

// whyCmd is `simdb why`.
type whyCmd struct {
	DB string `arg:"" file:"db" help:"The database."`
	A  string `arg:"" help:"The id of a document."`
	B  string `arg:"" help:"The id of another."`
	rowFlags
}

// Run compares the two documents.
func (c *whyCmd) Run(a *app) (err error) {
	db, err := a.openForReading(c.DB)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	for _, id := range []string{c.A, c.B} {
		if _, err := db.Lookup(a.context(), id); err != nil {
			return fmt.Errorf("%s: %w", c.DB, err)
		}
	}
	return a.statement(db, c.rowFlags, "WHY ? ?", c.A, c.B)
}

// checkCmd is `simdb check`.
type checkCmd struct {
	DB string `arg:"" file:"db" help:"The database."`
	rowFlags
}

// Run verifies the database. Damage is listed, and is the exit status 1.
func (c *checkCmd) Run(a *app) (err error) {
	db, err := a.openForReading(c.DB)
	if errors.Is(err, engine.ErrCorruption) {
		return c.damage(a, []error{err})
	} else if err != nil {
		return err
	}
	defer closing(db, &err)
	m := a.meter()
	defer m.Stop()
	start := time.Now()
	report, err := db.Check(a.context(), m.Report)
	m.Stop()
	if err != nil {
		return err
	}
	a.say("%s: %s in %s, %s, checked in %s", c.DB, count(report.Documents, "document"), count(report.Tables, "table"),
		progress.Bytes(report.Bytes), seconds(start))
	for _, o := range report.Orphans {
		a.say("%s: %s (%s) is a table that is not part of the database: `simdb ingest` adds its documents; if they are not needed, remove the file",
			c.DB, o.Name, progress.Bytes(o.Bytes))
	}
	return c.damage(a, report.Problems)
}

// damage lists what is damaged.
func (c *checkCmd) damage(a *app, problems []error) error {
	if len(problems) == 0 {
		a.say("no damage was found")
		if c.Output == "" && !c.Format.set {
			return nil
		}
	}
	found, err := a.rows(c.rowFlags, []string{"file", "section", "offset", "problem"}, func(row func(...any) error) error {
		for _, p := range problems {
			place := []any{nil, nil, nil, p.Error()}
			if e, ok := errors.AsType[*engine.CorruptionError](p); ok {
				place = []any{e.File, e.Section, e.Offset, e.Err.Error()}
				if e.Offset < 0 { // it is about the file
					place[2] = nil
				}
			}
			if err := row(place...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !found {
		return err
	}
	a.say("%s: damage was found", c.DB)
	return status(exitNo)
}

// compactCmd is `simdb compact`.
type compactCmd struct {
	DB string `arg:"" file:"db" help:"The database."`
}

// Run compacts the database.
func (c *compactCmd) Run(a *app) (err error) {
	db, err := a.openForWriting(c.DB)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	before, err := db.Stats()
	if err != nil {
		return err
	}
	m := a.meter()
	defer m.Stop()
	start := time.Now()
	err = db.Compact(a.context(), m.Report)
	m.Stop()
	if err != nil {
		return err
	}
	after, err := db.Stats()
	if err != nil {
		return err
	}
	a.say("%s: %s and %s before, %d and %s after; %s", c.DB, count(int64(len(before.Tables)), "table"), progress.Bytes(before.DiskBytes),
		len(after.Tables), progress.Bytes(after.DiskBytes), seconds(start))
	return nil
}

// pruneCmd is `simdb prune`.
type pruneCmd struct {
	DB    string `arg:"" file:"db" help:"The database."`
	Older age    `required:"" placeholder:"AGE" help:"Delete documents that were stored longer ago than AGE, such as 30d or 48h."`
}

// Run deletes old documents.
func (c *pruneCmd) Run(a *app) (err error) {
	db, err := a.openForWriting(c.DB)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	n, err := db.Prune(a.context(), time.Now().Add(-time.Duration(c.Older)))
	if err != nil {
		return err
	}
	a.say("%s: %s deleted; compact gives their space back", c.DB, count(int64(n), "document"))
	return nil
}

// debugCmd is `simdb debug`.
type debugCmd struct {
	Layout layoutCmd `cmd:"" help:"Show how a table file is laid out: parameters, sections, sizes."`
}

// layoutCmd is `simdb debug layout`.
type layoutCmd struct {
	File string `arg:"" file:"in" help:"A table file (.sst)."`
}

// Run describes the table.
func (c *layoutCmd) Run(a *app) error {
	f, err := vfs.Disk.Open(c.File)
	if err != nil {
		return err
	}
	r, err := sstable.Open(f, c.File)
	if err != nil {
		return err
	}
	return errors.Join(r.Describe(a.out), r.Close())
}

// versionCmd is `simdb version`.
type versionCmd struct{}

// Run shows the version.
func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintf(a.out, "simdb %s\n%s %s/%s, %d cores, kernel %s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.GOMAXPROCS(0), kernel.Name())
	return err
}

// version is that of the module, with the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// versionFlag is --version.
type versionFlag bool

// BeforeReset shows the version in place of anything else.
func (versionFlag) BeforeReset(a *app, app *kong.Kong) error {
	if err := (versionCmd{}).Run(a); err != nil {
		return err
	}
	app.Exit(exitOK)
	return nil
}
