package verbs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/records/inputs"
)

// Recover is `simdb recover`.
type Recover struct {
	DB      string `arg:"" file:"db" help:"The damaged database; it is not changed."`
	New     string `arg:"" file:"db" help:"The database to create."`
	Partial bool   `help:"Also recover documents whose text, fields or sketch are lost."`
	app.RowFlags
}

var recoverColumns = []string{"file", "section", "offset", "lost", "ids", "doubtful", "problem"}

// Run makes the new database and lists the losses. Damage is no failure.
func (c *Recover) Run(a *app.App) error {
	if what, err := engine.Identifier()(c.New); err != nil || what != "" {
		if err == nil {
			err = fmt.Errorf("%s is %s; name a new database", c.New, what)
		}
		return err
	}
	if err := app.Prepare(c.New); err != nil {
		return err
	}
	m := a.Meter()
	defer m.Stop()
	start := time.Now()
	r, err := engine.Recover(a.Context(), c.DB, c.New, &engine.RecoverOptions{Partial: c.Partial, Progress: m.Report})
	m.Stop()
	if errors.Is(err, engine.ErrNotFound) {
		err = fmt.Errorf("%s: %w", c.DB, inputs.ErrNoDatabase)
	}
	if err != nil {
		return err
	}
	c.say(a, r, start)
	_, err = a.Rows(c.RowFlags, recoverColumns, app.Fixed(recoverRows(r)...))
	return err
}

// recoverRows returns the rows of recoverColumns. Unknown values are null.
func recoverRows(r engine.RecoverReport) (rows []query.Row) {
	for _, l := range r.Losses {
		row := query.Row{l.File, l.Section, nil, l.Documents, nil, int64(0), l.Err.Error()}
		if ids, err := json.Marshal(l.IDs); l.IDs != nil && err == nil {
			row[4] = json.RawMessage(ids)
		}
		if l.Offset >= 0 {
			row[2] = l.Offset
		}
		rows = append(rows, row)
	}
	for _, d := range r.Doubts {
		row := query.Row{d.File, nil, nil, int64(0), nil, nil, d.Err}
		if d.Documents >= 0 {
			row[5] = d.Documents
		}
		rows = append(rows, row)
	}
	return rows
}

// say prints a summary.
func (c *Recover) say(a *app.App, r engine.RecoverReport, start time.Time) {
	a.Say("%s: %s in %s, recovered in %s", c.New, quantity.Count(r.Documents, "document"), quantity.Count(int64(r.Tables), "table"), app.Seconds(start))
	if len(r.Losses)+len(r.Doubts) == 0 {
		a.Say("no damage was found in %s", c.DB)
		return
	}
	if r.Lost > 0 {
		a.Say("%s can't be read", quantity.Count(r.Lost, "document"))
	}
	if r.Partial > 0 {
		a.Say("%s without text, fields or sketch", quantity.Count(r.Partial, "document"))
	}
	if !r.CatalogRead {
		a.Say("the catalog can't be read: deletions are known only from logs, and the time to live may be lost")
	}
	if len(r.Doubts) > 0 {
		a.Say("deleted or replaced documents may have come back")
	}
}

// Repair is `simdb repair`.
type Repair struct {
	DB       string `arg:"" file:"db" help:"The database."`
	Partial  bool   `help:"Keep documents that have lost their text, fields or sketch."`
	DropLost bool   `help:"Drop documents that can't be read; their tables stay damaged otherwise."`
	app.RowFlags
}

// Run opens the database for writing, which removes the remains of a killed process, and rebuilds
// damaged tables. Documents that cannot be read, and stay, are exit status 1.
func (c *Repair) Run(a *app.App) (err error) {
	removed := 0
	db, err := a.Env().OpenDB(c.DB, inputs.Access{Write: true, Still: true, OnEvent: func(e engine.Event) {
		if e.Kind == "clean" {
			removed += len(e.Files)
			a.Say("%s: %s removed (%s): %s", c.DB, quantity.Count(int64(len(e.Files)), "file"), quantity.Bytes(e.Bytes), strings.Join(e.Files, ", "))
		}
		if e.Reason == "repair" {
			a.Say("%s: a damaged table was rebuilt, of %s", c.DB, quantity.Count(int64(e.Docs), "document"))
		}
	}})
	if err != nil {
		return err
	}
	defer inputs.Closing(db, &err)
	m := a.Meter()
	defer m.Stop()
	r, err := db.Repair(a.Context(), &engine.RecoverOptions{Partial: c.Partial, Drop: c.DropLost, Progress: m.Report})
	m.Stop()
	if err != nil {
		return err
	}
	st, err := db.Stats()
	if err != nil {
		return err
	}
	for name, size := range st.Orphans {
		sayOrphan(a, c.DB, name, size)
	}
	if removed+len(r.Losses) == 0 {
		a.Say("%s: there was nothing to remove, and no damage was found", c.DB)
	}
	if _, err := a.Rows(c.RowFlags, recoverColumns, app.Fixed(recoverRows(r)...)); err != nil {
		return err
	}
	if damaged := db.Metrics().Damaged; len(damaged) > 0 {
		a.Say("%s: %s stays damaged: %s can't be read; --drop-lost drops them, and simdb recover DB NEW makes a new database from what can be read",
			c.DB, strings.Join(damaged, ", "), quantity.Count(r.Lost, "document"))
		return app.Status(app.ExitNo)
	}
	return nil
}

// sayOrphan says what to do with a table that is not part of a database.
func sayOrphan(a *app.App, db, name string, size int64) {
	a.Say("%s: %s (%s) is a table that is not part of the database: `simdb ingest` adds its documents; if they are not needed, remove the file",
		db, name, quantity.Bytes(size))
}
