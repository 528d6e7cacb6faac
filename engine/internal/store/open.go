package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/errs"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

const (
	defaultMemtable   = 16 << 20
	defaultSketch     = 128
	defaultMinJaccard = 0.65
	ttlOption         = "ttl" // in the catalog's options, as time.Duration.String
)

// Create makes a new database at path and opens it. It returns ErrExists if there is something at
// path that is not an empty directory.
func Create(path string, o Options) (*Store, error) {
	opts := withDefaults(o)
	switch what, err := look(opts.FS, path); {
	case err != nil:
		return nil, err
	case what != foundNothing:
		return nil, fmt.Errorf("%s: %w", path, errs.ErrExists)
	}
	return create(path, opts)
}

// Open opens the database at path, which it creates if there is nothing and Options does not forbid
// it. A single table file (.sst) is opened too, read-only.
//
// It recovers what a crash has left: the log is replayed, its torn end, which nobody was told is
// safe, is cut off, and files that were being written are removed. Anything else that is damaged is
// a *CorruptionError. A database that another process has open is ErrLocked, at once.
func Open(path string, o Options) (*Store, error) {
	opts := withDefaults(o)
	what, err := look(opts.FS, path)
	if err != nil {
		return nil, err
	}
	switch what {
	case foundNothing:
		if opts.MustExist || opts.ReadOnly {
			return nil, fmt.Errorf("%s: no such database: %w", path, errs.ErrNotFound)
		}
		return create(path, opts)
	case foundDatabase:
		return open(path, opts)
	case foundTable:
		return openSingle(path, opts)
	case foundDamaged:
		return nil, fmt.Errorf("%s holds tables or logs but no %s: %w", path, files.Catalog,
			base.Corruptf(files.Catalog, "file", -1, "missing"))
	}
	return nil, fmt.Errorf("%s: %w", path, errs.ErrNotDatabase)
}

// withDefaults returns the options with what is not set filled in.
func withDefaults(o Options) Options {
	if o.FS == nil {
		o.FS = vfs.Disk
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.MemtableBytes <= 0 {
		o.MemtableBytes = defaultMemtable
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// What can be found at a path.
type found int

const (
	foundNothing  found = iota // or an empty directory, or what an interrupted Create leaves
	foundDatabase              // a directory with a catalog
	foundDamaged               // a directory with files of a database, but no catalog
	foundTable                 // a single table
	foundOther
)

func look(fsys vfs.FS, path string) (found, error) {
	info, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return foundNothing, nil
	case err != nil:
		return foundOther, err
	case !info.IsDir:
		return lookFile(fsys, path)
	}
	names, err := fsys.List(path)
	if err != nil {
		return foundOther, err
	}
	if slices.Contains(names, files.Catalog) {
		return foundDatabase, nil
	}
	what := foundNothing
	for _, name := range names {
		_, sst := files.Number(name, ".sst")
		_, wal := files.Number(name, ".wal")
		switch {
		case sst || wal:
			return foundDamaged, nil // Create makes the catalog before them
		case name != files.Lock && !strings.HasPrefix(name, files.Catalog):
			what = foundOther
		}
	}
	return what, nil
}

// lookFile tells a table from other files.
func lookFile(fsys vfs.FS, path string) (found, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return foundOther, err
	}
	defer f.Close()
	head := make([]byte, 8)
	if n, _ := f.ReadAt(head, 0); n == len(head) && sstable.IsTable(head) {
		return foundTable, nil
	}
	return foundOther, nil
}

// paramsFor returns the parameters that a new database gets by the options.
func paramsFor(o Options) (sstable.Params, error) {
	if o.Shingle < 0 || o.Shingle > sstable.MaxShingle || o.Sketch < 0 || o.Sketch > sstable.MaxSketch || o.TTL < 0 {
		return sstable.Params{}, fmt.Errorf("shingles of %d words, sketches of %d hashes, a time to live of %v: %w", o.Shingle, o.Sketch, o.TTL, errs.ErrInvalid)
	}
	p := sstable.Params{
		Tokenizer: token.Version, Hash: token.Version, Shingle: uint32(cmp.Or(o.Shingle, 3)),
		Layout: sstable.DefaultLayout, StoreText: !o.NoText,
	}
	if !o.NoSketch {
		p.Sketch, p.MinJaccard = uint32(cmp.Or(o.Sketch, defaultSketch)), cmp.Or(o.MinJaccard, defaultMinJaccard)
	}
	if o.Layout != "" {
		l, err := sstable.ParseLayout(o.Layout)
		if err != nil {
			return p, fmt.Errorf("layout %q: %w: %w", o.Layout, err, errs.ErrInvalid)
		}
		p.Layout = l
	}
	if err := p.Validate(); err != nil {
		return p, fmt.Errorf("%w: %w", err, errs.ErrInvalid)
	}
	return p, nil
}

// checkParams compares the options with the parameters of the database.
func (db *Store) checkParams(o Options) error {
	want := db.Params
	if o.Shingle != 0 {
		want.Shingle = uint32(o.Shingle)
	}
	if o.Layout != "" {
		l, err := sstable.ParseLayout(o.Layout)
		if err != nil {
			return fmt.Errorf("layout %q: %w: %w", o.Layout, err, errs.ErrInvalid)
		}
		want.Layout = l
	}
	if o.NoText {
		want.StoreText = false
	}
	if o.NoSketch {
		want.Sketch, want.MinJaccard = 0, 0
	}
	if o.Sketch != 0 {
		want.Sketch = uint32(o.Sketch)
	}
	if o.MinJaccard != 0 {
		want.MinJaccard = o.MinJaccard
	}
	if diff := db.Params.Diff(want); diff != "" {
		return fmt.Errorf("%s was created with %s: %w", db.Path, diff, errs.ErrParams)
	}
	if o.TTL != 0 && o.TTL != db.TTL {
		return fmt.Errorf("%s was created with ttl %v, not %v: %w", db.Path, db.TTL, o.TTL, errs.ErrParams)
	}
	return nil
}

// newDB returns a DB on which nothing is open yet.
func newDB(path string, o Options) *Store {
	db := &Store{
		Config: view.Config{Path: path, Memory: o.Memory}, fs: o.FS, opts: o, log: o.Logger,
		active: view.NewMemtable(), nextFile: 1, marks: map[string]int64{}, allowedSet: new(view.AllowedPairs),
	}
	db.flushed.L = &db.mu
	db.stop = func() {}
	return db
}

func create(path string, o Options) (*Store, error) {
	params, err := paramsFor(o)
	if err != nil {
		return nil, err
	}
	if err := makeFolder(o.FS, path); err != nil {
		return nil, err
	}
	db := newDB(path, o)
	if db.Dir, err = files.OpenFolder(o.FS, path); err != nil {
		return nil, err
	}
	if err = db.takeLock(); err == nil {
		err = db.createCatalog(params)
	}
	if err == nil {
		err = db.openCatalog()
	}
	if err != nil {
		return nil, errors.Join(err, db.release())
	}
	db.start()
	return db, nil
}

// makeFolder makes the folder of a new database, with its missing parents, and makes their names
// durable.
func makeFolder(fsys vfs.FS, path string) error {
	type name struct {
		dir  string // that holds it
		made bool   // by this call
	}
	path = filepath.Clean(path)
	names := []name{{filepath.Dir(path), true}}
	for p := filepath.Dir(path); filepath.Dir(p) != p; p = filepath.Dir(p) {
		_, err := fsys.Stat(p)
		names = append(names, name{filepath.Dir(p), errors.Is(err, fs.ErrNotExist)})
	}
	if err := fsys.MkdirAll(path); err != nil {
		return err
	}
	for _, n := range names {
		// A parent that was there may have been made by a call that was killed before it came here.
		// If its name can't be synced, it is taken to be durable: it may lie in a folder that this
		// user can't open.
		if err := fsys.SyncDir(n.dir); err != nil && n.made {
			return err
		}
	}
	return nil
}

func (db *Store) createCatalog(params sstable.Params) error {
	encoded, err := params.AppendBinary(nil)
	if err != nil {
		return err
	}
	s := catalog.State{Created: db.Now(), Params: encoded, NextFile: 1, FirstWAL: 1, Options: map[string]string{}}
	rand.Read(s.UUID[:])
	if db.opts.TTL > 0 {
		s.Options[ttlOption] = db.opts.TTL.String()
	}
	if err := catalog.Create(db.Dir, files.Catalog, s); err != nil {
		return fmt.Errorf("creating the catalog: %w", err)
	}
	return nil
}

// takeLock takes the lock that keeps a writer alone. Readers share it, if there is one: a copy of a
// database may lack it.
func (db *Store) takeLock() error {
	take := db.Dir.Lock
	if db.opts.ReadOnly {
		take = db.Dir.RLock
	}
	var locked *vfs.LockedError
	lock, err := take(files.Lock)
	switch {
	case db.opts.ReadOnly && errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.As(err, &locked) && locked.PID > 0:
		return fmt.Errorf("%s: %w by process %d", db.Path, errs.ErrLocked, locked.PID)
	case errors.As(err, &locked):
		return fmt.Errorf("%s: %w", db.Path, errs.ErrLocked)
	case err != nil:
		return err
	}
	db.lock = lock
	return nil
}

func open(path string, o Options) (*Store, error) {
	db := newDB(path, o)
	var err error
	if db.Dir, err = files.OpenFolder(o.FS, path); err != nil {
		return nil, err
	}
	if err = db.takeLock(); err == nil {
		err = db.openCatalog()
	}
	if err == nil {
		err = db.checkParams(o)
	}
	if err != nil {
		return nil, errors.Join(err, db.release())
	}
	db.start()
	return db, nil
}

// start begins background work on an opened database.
func (db *Store) start() {
	if db.opts.ReadOnly {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	db.stop = cancel
	if len(db.immutable) > 0 && db.immutable[0].Bytes <= smallWork { // of a replay
		if err := db.flushAll(ctx); err != nil {
			db.fail(err)
		}
	}
	db.startBackground(ctx)
	if db.immutables() > 0 {
		db.wakeFlush()
	}
	db.WakeCompact()
}

// openCatalog reads the catalog, opens the tables that it lists, removes what a crash has left and
// replays the logs.
func (db *Store) openCatalog() error {
	cat, s, err := catalog.Open(db.Dir, files.Catalog, catalog.Options{ReadOnly: db.opts.ReadOnly})
	if err != nil {
		return err
	}
	db.cat, db.uuid, db.nextFile = cat, s.UUID, s.NextFile
	db.seq = s.FlushedSeq
	if s.Marks != nil {
		db.marks = s.Marks
	}
	allowed := make([]view.IDPair, len(s.Allowed))
	for i, p := range s.Allowed {
		allowed[i] = view.IDPair(p)
	}
	db.allowedSet = db.allowedSet.With(allowed)
	var params sstable.Params
	if err := params.UnmarshalBinary(s.Params); err != nil {
		return base.Corruptf(files.Catalog, "params", -1, "%w", err)
	}
	db.SetParams(params)
	if v := s.Options[ttlOption]; v != "" {
		if db.TTL, err = time.ParseDuration(v); err != nil {
			return base.Corruptf(files.Catalog, "options", -1, "%w", err)
		}
	}
	if err := db.openTables(s); err != nil {
		return err
	}
	logs, err := db.tidy(s)
	if err != nil {
		return err
	}
	return db.replayLogs(s, logs)
}

// openTables makes the first version, of the tables in the catalog.
func (db *Store) openTables(s *catalog.State) error {
	var parts []view.Part
	for _, meta := range s.Tables {
		t, err := db.openListed(meta)
		if err == nil {
			if dead := s.Tombstones[meta.Number]; dead != nil && !dead.IsEmpty() && dead.Maximum() >= meta.Docs {
				err = errors.Join(t.Drop(false), base.Corruptf(files.Catalog, fmt.Sprintf("tombstones/%d", meta.Number), -1,
					"document %d of %d", dead.Maximum(), meta.Docs))
			}
		}
		if err != nil {
			for _, p := range parts {
				p.Close()
			}
			return err
		}
		db.seq = max(db.seq, meta.MaxSeq)
		parts = append(parts, view.Part{Table: t, Dead: view.NewTombstones(s.Tombstones[meta.Number])})
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.install(parts)
	return nil
}

// openListed opens a table that the catalog lists. Whoever published it may have been killed before
// it could give the file its name.
func (db *Store) openListed(meta catalog.Table) (*view.Table, error) {
	name, temp := files.TableName(meta.Number), files.NewTableName(meta.Number)
	t, err := db.openTable(meta, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	if _, e := db.Dir.Stat(temp); e != nil {
		return nil, err
	}
	if db.opts.ReadOnly {
		return db.openTable(meta, temp)
	}
	if err := db.Dir.Rename(temp, name); err != nil {
		return nil, err
	}
	return db.openTable(meta, name)
}

// openTable opens a table's file and checks that it is the one the catalog means.
func (db *Store) openTable(meta catalog.Table, file string) (*view.Table, error) {
	name := files.TableName(meta.Number)
	f, err := db.Dir.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, base.Corruptf(name, "file", -1, "missing: %w", err)
	}
	if err != nil {
		return nil, err
	}
	r, err := sstable.OpenFile(f, name)
	if err != nil {
		return nil, err
	}
	info := r.Info()
	t := &view.Table{Meta: meta, Name: name, Reader: r, Shift: meta.MinSeq - info.MinSeq}
	switch {
	case r.Params() != db.Params:
		err = fmt.Errorf("%s was made with %s: %w", name, r.Params().Diff(db.Params), errs.ErrParams)
	case info.Checksum != meta.Digest || info.Size != meta.Size || info.Docs != meta.Docs:
		err = base.Corruptf(name, "footer", -1, "not the table that the catalog lists under this name")
	case t.ShiftSeq(info.MaxSeq) != meta.MaxSeq || meta.MinSeq > meta.MaxSeq:
		err = base.Corruptf(files.Catalog, fmt.Sprintf("tables/%d", meta.Number), -1,
			"sequence numbers %d to %d for those from %d to %d in %s", meta.MinSeq, meta.MaxSeq, info.MinSeq, info.MaxSeq, name)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	t.Dir = db.Dir.Retain()
	return t, nil
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
		n, isNew := files.Number(name, ".sst"+files.TempSuffix)
		if isNew || name == files.Catalog+catalog.TempSuffix {
			db.nextFile = max(db.nextFile, n+1)
			stray = append(stray, name)
		}
		if n, ok := files.Number(name, ".sst"); ok && !listed[n] {
			db.nextFile = max(db.nextFile, n+1)
			if n >= s.NextFile && db.isTable(name) {
				name += files.OrphanSuffix
			}
			stray = append(stray, name)
		}
	}
	slices.Sort(logs)
	if db.opts.ReadOnly {
		return logs, nil
	}
	// The process that made the names may have been killed before it could sync them, and what is
	// done from here on relies on them.
	if err := db.Dir.SyncDir("."); err != nil {
		return nil, err
	}
	for _, name := range stray {
		if whole, ok := strings.CutSuffix(name, files.OrphanSuffix); ok {
			db.log.Warn("a table that the catalog does not list was set aside", "path", db.Path, "file", name)
			err = db.Dir.Rename(whole, name)
		} else {
			err = db.Dir.Remove(name)
		}
		if err != nil {
			return nil, err
		}
	}
	return logs, nil
}

// isTable reports whether the file is a whole table.
func (db *Store) isTable(name string) bool {
	f, err := db.Dir.Open(name)
	if err != nil {
		return false
	}
	r, err := sstable.OpenFile(f, name)
	if err != nil {
		return false
	}
	return r.Close() == nil
}

// openSingle opens one table file as a read-only database.
func openSingle(path string, o Options) (*Store, error) {
	o.ReadOnly = true
	db := newDB(path, o)
	f, err := db.fs.Open(path)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	r, err := sstable.OpenFile(f, name)
	if err != nil {
		return nil, err
	}
	db.SetParams(r.Params())
	if err := db.checkParams(o); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	t := &view.Table{Meta: tableMeta(0, r.Info()), Name: name, Reader: r}
	pairs, err := readAllowed(t)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	db.allowedSet = db.allowedSet.With(pairs)
	db.seq = t.Meta.MaxSeq
	db.mu.Lock()
	defer db.mu.Unlock()
	db.install([]view.Part{{Table: t, Dead: view.NewTombstones(nil)}})
	return db, nil
}
