// Package salvage builds a new database from what can be read of a damaged one.
//
//	files ──> inventory: which file is what, by its content
//	CATALOG ─> what is known of tables and deletes      (catalog.Salvage)
//	*.wal ──> the last write of each ID, then documents (wal.Salvage)
//	*.sst ──> documents, in order of fingerprints       (sstable.Salvage)
//	            └──> new tables ──> which documents others replace ──> a new catalog
//
// With a catalog that is current, its tables and their tombstones say which documents live, and the
// logs what came later. Without one, all tables count, and of equal IDs the one that was written
// last; the knowledge of deletes that are in no log any more is then lost, which the report says.
//
// The damaged database is only read. Of what is read, one block of texts, the last writes in the
// logs, some bytes a document of one table, and a table's indexes while it is written are in
// memory.
package salvage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// Options are those of engine.Recover.
type Options struct {
	FS       vfs.FS           // nil is the disk
	Now      func() time.Time // nil is time.Now
	Partial  bool
	Progress func(view.Progress)
}

// Report is engine.RecoverReport.
type Report struct {
	Documents   int64
	Tables      int
	CatalogRead bool
	Features    string // of the parameters
	Lost        int64
	Partial     int64
	Estimated   int64
	Losses      []Loss
	Doubts      []Doubt
}

// Loss is engine.RecoverLoss.
type Loss struct {
	File, Section string
	Offset        int64
	Documents     int64
	Partial       int64
	Estimated     int64
	Err           error
}

// Doubt is engine.RecoverDoubt.
type Doubt struct {
	File      string
	Documents int64
	Reason    string
}

// recovery is a run in progress.
type recovery struct {
	o      Options
	ctx    context.Context
	from   vfs.FS // the folder of the damaged database
	inv    inventory
	uuid   [16]byte // of the damaged database
	cat    catalog.Salvaged
	single bool // it is one table file
	params sstable.Params
	guess  bool // no file has params: those of a new database, with the logs' length of fingerprints
	texts  *view.Hasher
	inputs []*input
	latest map[string]*lastWrite // by ID: the last write in the logs
	to     *target
	report Report
}

// Run builds a new database at to from the one at from, which may also be a single table file.
func Run(ctx context.Context, from, to string, o Options) (Report, error) {
	o.FS = cmp.Or[vfs.FS](o.FS, vfs.Disk)
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := apart(from, to); err != nil {
		return Report{}, err
	}
	if what, err := files.Look(o.FS, to); err == nil && what != files.Nothing {
		return Report{}, fmt.Errorf("%s: %w", to, files.ErrExists)
	}
	r := &recovery{o: o, ctx: ctx, latest: map[string]*lastWrite{}}
	closeSource, err := r.openSource(from)
	if err != nil {
		return Report{}, err
	}
	defer closeSource()
	if err := r.readCatalog(); err != nil {
		return Report{}, err
	}
	if err := r.openTables(); err != nil {
		return Report{}, err
	}
	defer r.closeTables()
	if err := r.write(to); err != nil {
		return Report{}, err
	}
	r.finishReport()
	return r.report, nil
}

// apart refuses a new database inside the damaged one, and the other way round.
func apart(from, to string) error {
	a, b := real(from), real(to)
	for _, p := range [][2]string{{a, b}, {b, a}} {
		if rel, err := filepath.Rel(p[0], p[1]); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return fmt.Errorf("%s and %s: the new database must be outside of the damaged one: %w", from, to, files.ErrInvalid)
		}
	}
	return nil
}

// real returns a path without links, as far as it exists.
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

// openSource finds the files of the damaged database.
func (r *recovery) openSource(path string) (closing func() error, err error) {
	info, err := r.o.FS.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such database: %w", path, files.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	closing = func() error { return nil }
	if r.single = !info.IsDir; r.single {
		r.from = r.o.FS
		r.inv, err = look(r.from, filepath.Dir(path), []string{filepath.Base(path)})
		if err == nil && len(r.inv.tables) == 0 {
			err = fmt.Errorf("%s: %w", path, files.ErrNotDatabase)
		}
		return closing, err
	}
	folder, err := files.OpenFolder(r.o.FS, path)
	if err != nil {
		return nil, err
	}
	r.from, closing = folder, folder.Release
	names, err := folder.List(".")
	if err == nil {
		r.inv, err = look(folder, ".", names)
	}
	if err == nil && r.inv.catalog == "" && len(r.inv.tables)+len(r.inv.logs) == 0 {
		err = fmt.Errorf("%s: %w", path, files.ErrNotDatabase)
	}
	if err != nil {
		return nil, errors.Join(err, folder.Release())
	}
	return closing, nil
}

// readCatalog learns what the catalog says.
func (r *recovery) readCatalog() (err error) {
	switch {
	case r.single:
		r.cat = catalog.Salvaged{Current: true} // of a packed database all documents live
	case r.inv.catalog == "":
		r.cat.Err = catalog.Missing(files.Catalog)
	default:
		if r.cat, err = catalog.Salvage(r.from, r.inv.catalog); err != nil {
			return err
		}
	}
	if r.cat.Err != nil {
		r.lose(r.cat.Err, Loss{})
	}
	r.report.CatalogRead = r.cat.Current
	if r.uuid = r.inv.uuid; r.cat.HasState {
		r.uuid = r.cat.State.UUID
	}
	if r.cat.HasParams {
		if err := r.params.UnmarshalDatabase(r.cat.State.Params); err != nil {
			if errors.Is(err, sstable.ErrUnsupported) {
				return err
			}
			r.cat.HasParams = false
		}
	}
	return nil
}

// lose adds damage to the report.
func (r *recovery) lose(err error, l Loss) {
	l.Offset = -1
	if c, ok := errors.AsType[*base.CorruptionError](err); ok {
		l.File, l.Section, l.Offset, l.Err = c.File, c.Section, c.Offset, c.Err
	} else if l.Err == nil {
		l.Err = err
	}
	r.report.Losses = append(r.report.Losses, l)
	r.report.Lost += l.Documents
	r.report.Partial += l.Partial
	r.report.Estimated += l.Estimated
}

// write makes the new database.
func (r *recovery) write(path string) (err error) {
	if r.to, err = newTarget(r, path); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.to.end()) }()
	if err = r.readLogs(); err != nil {
		return err
	}
	for _, in := range r.inputs {
		if err = r.copyTable(in); err != nil {
			return err
		}
	}
	if err = r.copyLogs(); err != nil {
		return err
	}
	if !r.cat.Current {
		if err = r.to.resolve(); err != nil {
			return err
		}
	}
	if err = r.checkUnchanged(); err != nil {
		return err
	}
	if err = r.to.count(); err != nil {
		return err
	}
	return r.to.publish()
}

// checkUnchanged returns an error if another process has written to a database that is whole enough
// to be written to.
func (r *recovery) checkUnchanged() error {
	if r.single || r.cat.Err != nil {
		return nil
	}
	now, err := catalog.Transaction(r.from, r.inv.catalog)
	if err == nil && now != r.cat.Transaction {
		err = fmt.Errorf("another process wrote to the database meanwhile: %w", files.ErrLocked)
	}
	return err
}

func (r *recovery) finishReport() {
	for _, t := range r.to.tables {
		r.report.Documents += t.docs
	}
	r.report.Tables, r.report.Features = len(r.to.tables), r.params.Features
	if !r.cat.Current {
		r.doubtDeletes()
	}
	slices.SortStableFunc(r.report.Losses, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset))
	})
}

// doubtDeletes says that documents of tables may be deleted ones, since the catalog is lost.
func (r *recovery) doubtDeletes() {
	n := int64(0)
	for _, t := range r.to.tables {
		if t.from != nil {
			n += t.docs
		}
	}
	if n > 0 {
		r.report.Doubts = append(r.report.Doubts, Doubt{files.Catalog, n, "without the catalog only logs tell what was deleted, and nothing what was pruned"})
	}
}
