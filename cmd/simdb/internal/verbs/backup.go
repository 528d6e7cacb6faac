package verbs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/records/files"
	"github.com/simdb/simdb/records/inputs"
)

// Backup is `simdb backup`.
type Backup struct {
	DB     string `arg:"" file:"db" help:"The database. Other processes may read and write it meanwhile."`
	Folder string `arg:"" name:"folder" help:"The folder of the backup: new, empty, or an earlier backup of the same database, to which only new tables are copied."`
	Link   bool   `help:"Hard-link tables instead of copying them, if the folder is on the same file system. This needs neither time nor space, but damage to a file affects both."`
}

// Run makes the backup, or updates it.
func (c *Backup) Run(a *app.App) (err error) {
	db, err := a.Env().OpenDB(c.DB, inputs.Access{})
	if err != nil {
		return err
	}
	defer inputs.Closing(db, &err)
	c.Folder = filepath.Clean(c.Folder)
	if err := app.Prepare(c.Folder); err != nil {
		return err
	}
	m := a.Meter()
	defer m.Stop()
	start := time.Now()
	r, err := db.Backup(a.Context(), c.Folder, &engine.BackupOptions{Links: c.Link, Progress: m.Report})
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

// Pack is `simdb pack`.
type Pack struct {
	DB     string `arg:"" file:"db" help:"The database."`
	Output string `arg:"" file:"table" name:"file" help:"The table file to write (.sst), or its URL; it must not exist."`
}

// Run packs the database.
func (c *Pack) Run(a *app.App) (err error) {
	db, err := a.Env().OpenDB(c.DB, inputs.Access{})
	if err != nil {
		return err
	}
	defer inputs.Closing(db, &err)
	m := a.Meter()
	defer m.Stop()
	start, local := time.Now(), c.Output
	pack := func() error {
		defer m.Stop()
		return db.Pack(a.Context(), local, m.Report)
	}
	write := pack
	if place.IsRemote(c.Output) {
		dir, remove, err := a.Env().TempDir("")
		if err != nil {
			return err
		}
		defer remove()
		local = filepath.Join(dir, "packed.sst")
		write = func() error { return place.Put(a.Context(), c.Output, local, pack) }
	}
	if err := write(); err != nil {
		return err
	}
	st, err := os.Stat(local)
	if err != nil {
		return err
	}
	a.Say("%s: %s, packed in %s", c.Output, quantity.Bytes(st.Size()), app.Seconds(start))
	return nil
}

// Ingest is `simdb ingest`.
type Ingest struct {
	DB     string   `arg:"" file:"db" help:"The database."`
	Files  []string `arg:"" file:"in" name:"file" help:"Table files (.sst) with the same parameters as the database."`
	Create bool     `help:"Create the database if there is none, with the parameters of the first table."`
}

// Run adds the tables.
func (c *Ingest) Run(a *app.App) error {
	names, err := c.tables()
	if err != nil {
		return err
	}
	err = c.add(a, names)
	if c.Create && errors.Is(err, engine.ErrExists) { // another process has created it meanwhile
		err = c.add(a, names)
	}
	return err
}

// add adds the tables to the database, or makes a database from them.
func (c *Ingest) add(a *app.App, names []string) (err error) {
	start, counts := time.Now(), ""
	db, err := a.Env().OpenDB(c.DB, inputs.Access{Write: true})
	switch none := errors.Is(err, inputs.ErrNoDatabase); {
	case none && c.Create:
		err = app.Prepare(c.DB)
		if err == nil {
			err = a.BuildLike(c.DB, names[0], func(db *engine.DB) (err error) {
				counts, err = c.ingest(a, db, names)
				return err
			})
		}
		if err == nil {
			a.Say("created %s", c.DB)
		}
	case none:
		return fmt.Errorf("%w; --create makes one with the parameters of the first table", err)
	case err == nil:
		counts, err = c.ingest(a, db, names)
		inputs.Closing(db, &err)
	}
	if err == nil {
		a.Say("%s: %s; %s", c.DB, counts, app.Seconds(start))
	}
	return err
}

// ingest adds the tables. It returns the number of documents before and after, in words.
func (c *Ingest) ingest(a *app.App, db *engine.DB, names []string) (counts string, err error) {
	before, err := db.Stats()
	if err != nil {
		return "", err
	}
	for _, name := range names {
		err = db.Ingest(a.Context(), name)
		if e, ok := errors.AsType[*engine.CorruptionError](err); ok { // damage of the copy, which no longer exists
			// Not a CorruptionError: the database is not damaged.
			err = errors.New(strings.ReplaceAll(err.Error(), e.File, name))
		}
		if err != nil {
			break
		}
	}
	after, statsErr := db.Stats()
	if err = errors.Join(err, statsErr); err != nil {
		return "", err
	}
	return quantity.Count(before.Documents, "document") + " before, " + quantity.Count(after.Documents, "document") + " now", nil
}

// tables returns the files of the arguments, after checking that each is a table.
func (c *Ingest) tables() (names []string, err error) {
	for _, arg := range c.Files {
		found, err := files.Expand(arg, false)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	for _, name := range names {
		if err := isTable(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// isTable returns an error if a file is not a table.
func isTable(name string) error {
	f, err := vfs.Disk.Open(name)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", name, p.Err)
	}
	if err != nil {
		return err
	}
	head := make([]byte, len(table.Magic))
	if n, _ := f.ReadAt(head, 0); !table.IsTable(head[:n]) {
		return errors.Join(fmt.Errorf("%s is not a table; simdb pack makes one from a database", name), f.Close())
	}
	r, err := table.OpenFile(f, name)
	if errors.Is(err, table.ErrUnsupported) {
		return err // the error says why, and what to do
	}
	if err != nil {
		return fmt.Errorf("%s is a damaged table: %w", name, errors.New(err.Error())) // not a CorruptionError: check DB would find nothing
	}
	return r.Close()
}
