// Package salvage builds a new database from the readable data of a damaged one.
//
//	CATALOG ─> which tables and logs count, and which documents were deleted
//	           (catalog.Salvage)
//	*.sst ──> copied if they are intact, otherwise rewritten from the readable documents
//	          (table.Salvage)
//	*.wal ──> the intact frames, in one new log (wal.Salvage)
//
// The new database then replays that log, like any database after a crash. Without a catalog all
// tables count, and among documents with the same ID the one that was written last. Deletes that
// are in no log any more are then unknown, which the report says.
//
// The damaged database is only read.
package salvage

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// Options are the options of engine.Recover.
type Options struct {
	FS       vfs.FS           // nil means the disk
	Now      func() time.Time // nil means time.Now
	Partial  bool
	Features features.Spec // the function of the database
	Progress func(view.Progress)
}

// Report is engine.RecoverReport.
type Report struct {
	Documents   int64
	Tables      int
	CatalogRead bool
	Lost        int64
	Partial     int64
	Losses      []Loss
	Doubts      []Doubt
}

// Loss is engine.RecoverLoss.
type Loss struct {
	File, Section string
	Offset        int64
	Documents     int64
	IDs           []string
	Partial       int64
	Err           error
}

// Doubt is engine.RecoverDoubt.
type Doubt struct {
	File      string
	Documents int64
	Reason    string
}

// recovery is the state of one Run.
type recovery struct {
	o      Options
	ctx    context.Context
	from   vfs.FS // folder of the damaged database
	tables map[uint64]string
	logs   []uint64
	single bool // from is a single table file
	cat    catalog.Salvaged
	known  bool          // the state of the catalog is known
	state  catalog.State // catalog state of the new database
	params table.Params
	stated bool   // params were read from the catalog or a table
	last   uint64 // greatest sequence number in the tables so far
	to     *files.Site
	report Report
}

// Run builds a new database at to from the one at from, which may also be a single table file.
func Run(ctx context.Context, from, to string, o Options) (Report, error) {
	if o.FS = cmp.Or[vfs.FS](o.FS, vfs.Disk); o.Now == nil {
		o.Now = time.Now
	}
	if err := apart(from, to); err != nil {
		return Report{}, err
	}
	if what, err := files.Look(o.FS, to); err == nil && what != files.Nothing {
		return Report{}, fmt.Errorf("%s: %w", to, files.ErrExists)
	}
	r := &recovery{o: o, ctx: ctx, tables: map[uint64]string{}}
	closeSource, err := r.openSource(from)
	if err != nil {
		return Report{}, err
	}
	defer closeSource()
	if err := r.readCatalog(); err != nil {
		return Report{}, err
	}
	db, err := store.Assemble(to, store.Options{FS: o.FS, Now: o.Now, NoAutoCompaction: true, Features: o.Features}, r.fill)
	if err != nil {
		return Report{}, err
	}
	if err = db.Flush(ctx); err == nil {
		err = r.count(db)
	}
	if err != nil {
		return Report{}, errors.Join(err, db.Discard())
	}
	slices.SortStableFunc(r.report.Losses, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset))
	})
	return r.report, db.Close()
}

// apart returns an error if the new database would be inside the damaged one.
func apart(from, to string) error {
	rel, err := filepath.Rel(real(from), real(to))
	if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return fmt.Errorf("%s and %s: the new database must be outside of the damaged one: %w", from, to, files.ErrInvalid)
	}
	return nil
}

// real resolves symbolic links in the existing part of a path.
func real(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	rest := ""
	for p := path; ; p = filepath.Dir(p) {
		if q, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(q, rest)
		}
		if filepath.Dir(p) == p {
			return path
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}

// openSource finds the files of the damaged database by their names.
func (r *recovery) openSource(path string) (closing func() error, err error) {
	info, err := r.o.FS.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such database: %w", path, files.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	if r.single = !info.IsDir; r.single {
		r.from, r.tables[1] = r.o.FS, path
		return func() error { return nil }, nil
	}
	folder, err := files.OpenFolder(r.o.FS, path)
	if err != nil {
		return nil, err
	}
	r.from = folder
	names, err := folder.List(".")
	for _, name := range names {
		if n, ok := files.Number(name, ".sst"); ok {
			r.tables[n] = name
		}
		// A killed process may not have renamed a table that the catalog lists.
		if n, ok := files.Number(name, ".sst"+files.TempSuffix); ok && r.tables[n] == "" {
			r.tables[n] = name
		}
		if n, ok := files.Number(name, ".wal"); ok {
			r.logs = append(r.logs, n)
		}
	}
	slices.Sort(r.logs)
	if err == nil && len(r.tables)+len(r.logs) == 0 && !slices.Contains(names, files.Catalog) {
		err = fmt.Errorf("%s: %w", path, files.ErrNotDatabase)
	}
	if err != nil {
		return nil, errors.Join(err, folder.Release())
	}
	return folder.Release, nil
}

// readCatalog reads the state of the catalog as far as possible.
func (r *recovery) readCatalog() (err error) {
	if !r.single {
		r.cat, err = catalog.Salvage(r.from, files.Catalog)
		if errors.Is(err, fs.ErrNotExist) {
			r.cat.Err, err = base.Corruptf(files.Catalog, "file", -1, "missing"), nil
		}
	}
	if err != nil {
		return err
	}
	if r.cat.Err != nil {
		r.lose(r.cat.Err, Loss{})
	}
	r.known = r.cat.State != nil
	r.report.CatalogRead = r.known || r.single // all documents of a packed database are alive
	if r.stated = r.known; r.known {
		r.state = *r.cat.State
		err = r.params.UnmarshalDatabase(r.state.Params)
	} else {
		r.state = catalog.State{Options: map[string]string{}, Tombstones: map[uint64]*roaring.Bitmap{}}
		err = r.identify()
	}
	for n := range r.tables {
		r.state.NextFile = max(r.state.NextFile, n+1)
	}
	for _, n := range r.logs {
		r.state.NextFile = max(r.state.NextFile, n+1)
	}
	return err
}

// fill makes the files of the new database in its folder, and returns the state of its catalog.
func (r *recovery) fill(to *files.Site) (catalog.State, error) {
	r.to = to
	s := &r.state
	err := r.copyTables()
	if err == nil && !r.known {
		err = r.resolve()
	}
	if s.UUID == ([16]byte{}) { // neither a log nor a table contains it
		rand.Read(s.UUID[:])
	}
	if err == nil {
		err = r.copyLogs()
	}
	if e := r.checkUnchanged(); e != nil {
		err = e // files that disappeared meanwhile are not damage
	}
	if err == nil {
		err = to.SyncDir(".")
	}
	if err == nil {
		s.Params, err = r.params.AppendDatabase(nil)
	}
	if !r.known {
		s.Created = r.o.Now()
	} else if r.report.Lost > 0 {
		s.Marks = nil // lost documents can be loaded again
	}
	return *s, err
}

// checkUnchanged returns an error if another process has written to the database, provided that its
// catalog is intact.
func (r *recovery) checkUnchanged() error {
	if r.single || r.cat.Err != nil {
		return nil
	}
	now, err := catalog.Transaction(r.from, files.Catalog)
	if err == nil && now != r.cat.Transaction {
		err = fmt.Errorf("another process wrote to the database meanwhile: %w", files.ErrLocked)
	}
	return err
}

// count adds the numbers of tables and documents of the new database to the report. All documents
// are in tables.
func (r *recovery) count(db *store.Store) error {
	v, err := db.View()
	if err != nil {
		return err
	}
	defer v.Close()
	r.report.Tables = len(v.Version.Parts)
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		none, err := v.NoDocuments(r.ctx, p, v.Seq)
		if err != nil {
			return err
		}
		r.report.Documents += int64(p.Meta.Docs) - int64(none.GetCardinality())
	}
	return nil
}

// lose adds damage to the report.
func (r *recovery) lose(err error, l Loss) {
	l.setPlace(err)
	r.report.Losses = append(r.report.Losses, l)
	r.report.Lost += l.Documents
	r.report.Partial += l.Partial
}

// setPlace sets the place and the kind of the damage.
func (l *Loss) setPlace(err error) {
	l.Offset, l.Err = -1, err
	if c, ok := errors.AsType[*base.CorruptionError](err); ok {
		l.File, l.Section, l.Offset, l.Err = c.File, c.Section, c.Offset, c.Err
	}
}

// NewLoss describes a loss of a table.
func NewLoss(t table.Loss) Loss {
	l := Loss{Documents: t.Lost, IDs: t.IDs, Partial: t.Partial}
	l.setPlace(t.Err)
	return l
}
