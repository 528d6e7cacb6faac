package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// openCatalog opens the catalog for writing and recovers what it and the logs say.
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

// recover opens the tables that the catalog lists, or takes those of them that are open, by number.
// It removes what a crash has left, unless the store is read-only, and replays the logs.
func (db *Store) recover(s *catalog.State, open map[uint64]*view.Table) (err error) {
	db.UUID, db.Created, db.nextFile, db.seq, db.lastSeq = s.UUID, s.Created, s.NextFile, s.FlushedSeq, s.LastSeq
	if s.Marks != nil {
		db.marks = s.Marks
	}
	allowed := make([]view.IDPair, len(s.Allowed))
	for i, p := range s.Allowed {
		allowed[i] = view.IDPair(p)
	}
	db.allowedSet = db.allowedSet.With(allowed)
	var params sstable.Params
	if err := params.UnmarshalDatabase(s.Params); err != nil {
		return base.Corruptf(files.Catalog, "params", -1, "%w", err)
	}
	db.SetParams(params)
	db.active = view.NewMemtable(params)
	if v := s.Options[catalog.OptionTTL]; v != "" {
		if db.TTL, err = time.ParseDuration(v); err != nil {
			return base.Corruptf(files.Catalog, "options", -1, "%w", err)
		}
	}
	if err := db.openTables(s, open); err != nil {
		return err
	}
	logs, err := db.tidy(s)
	if err != nil {
		return err
	}
	if !db.opts.ReadOnly { // a reader has yet to see writes up to there that are not in the log
		db.seq = max(db.seq, s.LastSeq)
	}
	return db.replayLogs(s, logs)
}

// openTables makes the first version, of the tables in the catalog. Those in open are shared with
// another version.
func (db *Store) openTables(s *catalog.State, open map[uint64]*view.Table) error {
	tables, errs := make([]*view.Table, len(s.Tables)), make([]error, len(s.Tables))
	var g sync.WaitGroup // at the same time, since to check a directory takes a while
	for i, meta := range s.Tables {
		if t := open[meta.Number]; t != nil && t.Meta == meta {
			tables[i] = t
			continue
		}
		g.Go(func() { tables[i], errs[i] = db.Tables.OpenListed(meta) })
	}
	g.Wait()
	err := cmp.Or(errs...)
	parts := make([]view.Part, len(tables))
	for i := 0; i < len(tables) && err == nil; i++ {
		meta, dead := s.Tables[i], s.Tombstones[s.Tables[i].Number]
		parts[i] = view.Part{Table: tables[i], Dead: view.NewTombstones(dead)}
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
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.install(parts)
	return nil
}

// tidy removes what is left of files that the catalog does not list, and returns the numbers of the
// logs to replay in order. A whole table with a number that the catalog has not given out yet says
// that the catalog is an old copy, or that an older release was killed before it published the
// table: it is set aside, not removed.
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
	if db.opts.ReadOnly {
		return logs, nil
	}
	if slices.Contains(names, files.Backup) {
		// A backup that is written to is a database of its own from here on: to bring it up to date
		// would lose what is written.
		if err := db.Dir.Remove(files.Backup); err != nil {
			return nil, err
		}
	}
	// The process that made the names may have been killed before it could sync them, and what is
	// done from here on relies on them.
	if err := db.Dir.SyncDir("."); err != nil {
		return nil, err
	}
	return logs, db.sweep(stray)
}

// sweep removes stray files, and gives those that end so the name of an orphan.
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
		if vfs.InUse(err) { // by a reader, where the system keeps files that are mapped
			db.log.Warn("a file that is not needed is in use; the next open for writing removes it", "path", db.Path, "file", name, "err", err)
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
