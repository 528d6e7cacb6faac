package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// openCatalog opens the catalog for writing and recovers the state that it and the logs describe.
func (db *Store) openCatalog() error {
	name := files.Catalog
	if db.building {
		name = files.NewCatalog
	}
	cat, s, err := catalog.Open(db.Dir, name)
	if err != nil {
		return err
	}
	db.cat = cat
	return db.recover(s, nil)
}

// recover opens the tables that the catalog lists, or shares those already in open, by number. It
// removes leftovers of a crash, unless the store is read-only, and replays the logs.
func (db *Store) recover(s *catalog.State, open map[uint64]*view.Table) (err error) {
	db.UUID, db.Created, db.nextFile, db.seq = s.UUID, s.Created, s.NextFile, max(s.FlushedSeq, s.LastSeq)
	if db.history = s.KnownHistory(); s.History != nil {
		db.seq = max(db.seq, db.history.Last())
	}
	if s.Marks != nil {
		db.marks = s.Marks
	}
	allowed := make([]view.IDPair, len(s.Allowed))
	for i, p := range s.Allowed {
		allowed[i] = view.IDPair(p)
	}
	db.allowedSet = db.allowedSet.With(allowed)
	var params table.Params
	if err := params.UnmarshalDatabase(s.Params); err != nil {
		return base.Corruptf(files.Catalog, "params", -1, "%w", err)
	}
	db.SetParams(params)
	if err := db.Params.NeedCompute(); err != nil {
		return fmt.Errorf("%s has %w: %w", db.Path, err, files.ErrParams)
	}
	db.active = view.NewMemtable(params)
	if err := db.readTimes(s.Options); err != nil {
		return base.Corruptf(files.Catalog, "options", -1, "%w", err)
	}
	damaged, err := db.openTables(s, open)
	if err != nil {
		return err
	}
	logs, err := db.tidy(s)
	if err != nil {
		return err
	}
	if err := db.replaceUnopened(s, damaged); err != nil {
		return err
	}
	return db.replayLogs(s, logs)
}

// openTables makes the first version from the tables in the catalog. Tables in open are shared with
// another version. If the store may write, openTables leaves out tables that it cannot open although
// their documents can be read, and returns their damage by number.
func (db *Store) openTables(s *catalog.State, open map[uint64]*view.Table) (damaged map[uint64]error, err error) {
	tables, errs := make([]*view.Table, len(s.Tables)), make([]error, len(s.Tables))
	var g sync.WaitGroup // in parallel, since checking a directory is slow
	for i, meta := range s.Tables {
		if t := open[meta.Number]; t != nil && t.Meta == meta {
			tables[i] = t
			continue
		}
		g.Go(func() { tables[i], errs[i] = db.Tables.OpenListed(meta) })
	}
	g.Wait()
	damaged = map[uint64]error{}
	for i, meta := range s.Tables {
		damage, ok := errors.AsType[*base.CorruptionError](errs[i])
		if ok && damage.File != files.Catalog && !db.opts.ReadOnly && !db.building && db.isReadable(meta) {
			damaged[meta.Number], errs[i] = errs[i], nil
		}
	}
	err = cmp.Or(errs...)
	var parts []view.Part
	for i := 0; i < len(tables) && err == nil; i++ {
		meta, dead := s.Tables[i], s.Tombstones[s.Tables[i].Number]
		if tables[i] != nil {
			parts = append(parts, view.Part{Table: tables[i], Dead: view.NewTombstones(dead)})
		}
		if dead != nil && !dead.IsEmpty() && dead.Maximum() >= meta.Docs {
			err = base.Corruptf(files.Catalog, fmt.Sprintf("tombstones/%d", meta.Number), -1, "document %d of %d", dead.Maximum(), meta.Docs)
		}
		db.seq = max(db.seq, meta.MaxSeq)
	}
	if err != nil {
		for _, t := range tables {
			if t != nil && open[t.Meta.Number] != t {
				err = errors.Join(err, t.Drop(false))
			}
		}
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.install(parts)
	return damaged, nil
}

// tidy removes files that the catalog does not list, and returns the numbers of the logs to replay,
// in order. An intact table whose number the catalog has not assigned yet shows that the catalog is
// an old copy, or that an older release was killed before it published the table: tidy renames it
// instead of removing it.
func (db *Store) tidy(s *catalog.State) (logs []uint64, err error) {
	names, err := db.Dir.List(".")
	if err != nil {
		return nil, err
	}
	listed := map[uint64]bool{}
	for _, t := range s.Tables {
		listed[t.Number] = true
	}
	var stray []string
	for _, name := range names {
		if n, ok := files.Number(name, ".wal"); ok {
			db.nextFile = max(db.nextFile, n+1)
			if n >= s.FirstWAL {
				logs = append(logs, n)
			} else {
				stray = append(stray, name)
			}
		}
		if db.opts.ReadOnly {
			continue
		}
		n, isNew := files.Number(name, ".sst"+files.TempSuffix)
		if isNew || name == files.NewCatalog && !db.building {
			db.nextFile = max(db.nextFile, n+1)
			stray = append(stray, name)
		}
		if n, ok := files.Number(name, ".sst"); ok && !listed[n] {
			db.nextFile = max(db.nextFile, n+1)
			if n >= s.NextFile && db.Tables.IsTable(name) {
				name += files.OrphanSuffix
			}
			stray = append(stray, name)
		}
	}
	slices.Sort(logs)
	framed, err := wal.Framed(db.Dir, files.LogName, logs)
	if err != nil {
		return nil, err
	}
	if n := len(framed); n < len(logs) && logs[n] > s.Closed.Number { // otherwise the log was cut since: replayLogs says so
		for _, number := range logs[n:] {
			stray = append(stray, files.LogName(number))
		}
		logs = framed
	}
	if db.opts.ReadOnly {
		return logs, nil
	}
	if slices.Contains(names, files.Backup) {
		// A backup that is opened for writing becomes a separate database: updating it as a backup
		// would lose the new writes.
		if err := db.Dir.Remove(files.Backup); err != nil {
			return nil, err
		}
	}
	// The process that created the names may have been killed before it could sync them, and the
	// following steps rely on them.
	if err := db.Dir.SyncDir("."); err != nil {
		return nil, err
	}
	return logs, db.sweep(stray)
}

// sweep removes stray files. A name with the suffix of an orphan is renamed to, not removed.
func (db *Store) sweep(stray []string) (err error) {
	clean := Event{Kind: EventClean}
	for _, name := range stray {
		if whole, ok := strings.CutSuffix(name, files.OrphanSuffix); ok {
			db.log.Warn("a table that the catalog does not list was set aside", "path", db.Path, "file", name)
			err = db.Dir.Rename(whole, name)
		} else {
			st, _ := db.Dir.Stat(name)
			if err = db.Dir.Remove(name); err == nil {
				clean.Files, clean.Bytes = append(clean.Files, name), clean.Bytes+st.Size
			}
		}
		if vfs.InUse(err) { // in use by a reader, on systems that do not remove mapped files
			db.log.Warn("an obsolete file is in use; the next open for writing removes it", "path", db.Path, "file", name, "err", err)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	if len(clean.Files) > 0 {
		db.event(clean)
	}
	return nil
}
