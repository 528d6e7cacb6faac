package verbs

import (
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
)

// Repair is `simdb repair`.
type Repair struct {
	DB string `arg:"" file:"db" help:"The database."`
}

// Run opens the database for writing, which removes what a killed process has left, and says what
// that was.
func (c *Repair) Run(a *app.App) (err error) {
	removed := 0
	db, err := a.Open(c.DB, app.Access{Write: true, Still: true, OnEvent: func(e engine.Event) {
		if e.Kind == engine.EventClean {
			removed += len(e.Files)
			a.Say("%s: %s removed (%s): %s", c.DB, quantity.Count(int64(len(e.Files)), "file"), quantity.Bytes(e.Bytes), strings.Join(e.Files, ", "))
		}
	}})
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	st, err := db.Stats()
	if err != nil {
		return err
	}
	for _, o := range st.Orphans {
		sayOrphan(a, c.DB, o)
	}
	if removed == 0 {
		a.Say("%s: nothing was left", c.DB)
	}
	return nil
}

// sayOrphan says what to do with a table that is not part of a database.
func sayOrphan(a *app.App, db string, o engine.OrphanStats) {
	a.Say("%s: %s (%s) is a table that is not part of the database: `simdb ingest` adds its documents; if they are not needed, remove the file",
		db, o.Name, quantity.Bytes(o.Bytes))
}
