package verbs

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
)

// Backup is `simdb backup`.
type Backup struct {
	DB     string `arg:"" file:"db" help:"The database. Other processes may read and write it meanwhile."`
	Folder string `arg:"" name:"folder" help:"The folder of the backup: a new or an empty one, or an earlier backup of the same database, to which only new tables are copied."`
	Link   bool   `help:"Hard-link tables where the folder is on the same file system, instead of copying them: no time and no space, but what damages a file damages it in both."`
}

// Run makes the backup, or brings it up to date.
func (c *Backup) Run(a *app.App) (err error) {
	db, err := a.Open(c.DB, app.Access{})
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	c.Folder = filepath.Clean(c.Folder)
	if _, err := app.Prepare(c.Folder); err != nil {
		return err
	}
	m := a.Meter()
	defer m.Stop()
	start := time.Now()
	var r engine.BackupReport
	opts := []engine.BackupOption{engine.BackupProgress(m.Report), engine.BackupReportTo(&r)}
	if c.Link {
		opts = append(opts, engine.BackupLinks())
	}
	err = db.Backup(a.Context(), c.Folder, opts...)
	m.Stop()
	if errors.Is(err, engine.ErrInvalid) {
		return fmt.Errorf("%s: %w", c.DB, err)
	}
	if err != nil {
		return err
	}
	linked := ""
	if r.Linked > 0 {
		linked = fmt.Sprintf(" and %d linked", r.Linked)
	}
	a.Say("%s: %s, %s; %d copied (%s)%s in %s", c.Folder, quantity.Count(int64(r.Tables), "table"), quantity.Bytes(r.Bytes),
		r.Copied, quantity.Bytes(r.BytesWritten), linked, app.Seconds(start))
	return nil
}
