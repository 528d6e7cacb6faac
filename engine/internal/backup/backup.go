// Package backup copies a database at one moment into another folder, and updates that copy later.
// It also packs the documents visible at one moment into one table file (pack.go).
//
// A backup is a database with the UUID of its original, and with a file BACKUP. It has unchanged
// copies of the tables of a view of that database, and one more table of the documents that the
// view has in memtables; it has no log. An update first copies the tables that the backup lacks,
// under names that nothing lists. Then one transaction of the backup's catalog adds these and drops
// the tables that are no longer needed. At every moment the folder therefore holds either the
// earlier backup or the new one.
//
// Tables are identified by their catalog entries without the numbers: the sizes, the digests of the
// footers and the ranges of sequence numbers. A copy has the number of the original table if that
// number is free. The table of memtables, and copies whose numbers are in use, get numbers above
// all that the database will assign.
package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/vfs"
)

// ownNumbers is the width of the ranges of file numbers: tables that only a backup has are numbered
// from the first multiple of ownNumbers that the database has not reached.
const ownNumbers = 1 << 40

// Options are the options of Run.
type Options struct {
	Link     bool                // hard-link table files where possible
	Progress func(view.Progress) // in bytes of tables; nil for none
}

// A Report is engine.BackupReport.
type Report struct {
	Tables, Copied, Linked int
	Bytes, BytesWritten    int64
}

// A Source is the state of a database at one moment, to be backed up.
type Source struct {
	View        *view.View        // must stay open until the backup has ended
	Tables      *tables.Folder    // options for writing tables
	Options     map[string]string // catalog.State.Options
	Marks       map[string]int64  // of loads, by source
	NextFile    uint64            // greater than the numbers of all files
	LastSeq     uint64            // at least the number of every write so far
	FS          vfs.FS            // accepts any path
	BusyTimeout time.Duration     // how long to wait for another process that writes the backup
}

// Run makes or updates the backup at path, as engine.DB.Backup says.
func Run(ctx context.Context, from Source, path string, o Options) (Report, error) {
	b := &backup{from: from, options: o}
	err := b.open(path)
	if err == nil {
		err = from.View.Safely(ctx, func() error { return b.run(ctx) })
	}
	return b.report, b.close(ctx, err)
}

// A backup is the state of one Run.
type backup struct {
	from    Source
	options Options
	report  Report

	to    *target
	have  catalog.State // catalog state of the earlier backup; no UUID if there is none
	files []uint64      // tables that this run has written, and that no catalog lists

	tables     []catalog.Table // tables of the finished backup
	tombstones map[uint64]*roaring.Bitmap
	done       int64 // bytes copied so far
	total      int64 // bytes of tables to copy
}

// run updates the backup.
func (b *backup) run(ctx context.Context) error {
	if err := b.tidy(); err != nil {
		return err
	}
	if err := b.copyTables(ctx); err != nil {
		return err
	}
	if err := b.memtables(); err != nil {
		return err
	}
	// The names must be durable before the catalog refers to them.
	if err := b.to.Dir.SyncDir("."); err != nil {
		return err
	}
	dropped := b.dropped()
	if err := b.commit(dropped); err != nil {
		return err
	}
	for _, number := range dropped { // the next backup removes those that cannot be removed now
		if err := b.to.Dir.RemoveTable(number); err != nil {
			b.to.Log.Warn("removing a table that is no longer needed", "path", b.to.Path, "err", err)
		}
	}
	return nil
}

// tidy removes files left by earlier runs that did not finish, except for copies of tables that are
// still needed.
func (b *backup) tidy() error {
	names, err := b.to.Dir.List(".")
	if err != nil {
		return err
	}
	listed, wanted := map[uint64]bool{}, map[uint64]bool{}
	for _, t := range b.have.Tables {
		listed[t.Number] = true
	}
	for i := range b.from.View.Version.Parts {
		wanted[b.from.View.Version.Parts[i].Meta.Number] = true
	}
	b.to.nextFile = max(b.have.NextFile, (b.from.NextFile/ownNumbers+1)*ownNumbers)
	for _, name := range names {
		n, temp := files.Number(name, ".sst"+files.TempSuffix)
		table := temp
		if !temp {
			n, table = files.Number(name, ".sst")
		}
		if !table || listed[n] || temp && wanted[n] {
			continue
		}
		if err := b.to.Dir.Remove(name); err != nil { // on Windows, a reader of the backup may have it open
			b.to.Log.Warn("removing a file that is not needed", "path", b.to.Path, "err", err)
		}
	}
	return nil
}

// copyTables copies the missing tables of the view into the backup.
func (b *backup) copyTables(ctx context.Context) error {
	numbers, used := map[catalog.Table]uint64{}, map[uint64]bool{}
	for _, t := range b.have.Tables {
		used[t.Number] = true
		numbers[unnumbered(t)] = t.Number
	}
	b.tombstones = map[uint64]*roaring.Bitmap{}
	var missing []*view.Part
	for i := range b.from.View.Version.Parts {
		p := &b.from.View.Version.Parts[i]
		meta := p.Meta
		number, kept := numbers[unnumbered(meta)]
		if kept {
			meta.Number = number
		} else if used[meta.Number] {
			meta.Number = b.to.allocFile()
		}
		dead := p.Dead.UpTo(b.from.View.Seq)
		b.tombstones[meta.Number] = dead
		b.tables = append(b.tables, meta)
		b.report.Bytes += meta.Size
		if kept && b.holds(meta) {
			missing = append(missing, nil)
			continue
		}
		missing = append(missing, p)
		b.total += meta.Size
	}
	for i, p := range missing {
		if p == nil {
			continue
		}
		meta := b.tables[i]
		if err := b.copyTable(ctx, p, meta); err != nil {
			return fmt.Errorf("copying %s: %w", p.Name, err)
		}
		if used[meta.Number] { // replaces a missing or damaged file
			if err := b.to.Dir.Rename(files.NewTableName(meta.Number), files.TableName(meta.Number)); err != nil {
				return err
			}
		} else {
			b.files = append(b.files, meta.Number)
		}
	}
	return nil
}

// unnumbered returns the catalog entry of a table without its number, which identifies the table in
// all backups of a database.
func unnumbered(t catalog.Table) catalog.Table {
	t.Number = 0
	return t
}

// holds reports whether the backup has the file of a table that its catalog lists.
func (b *backup) holds(meta catalog.Table) bool {
	t, err := b.to.OpenListed(meta)
	return err == nil && t.Drop(false) == nil
}

// copyTable makes the file of a table, under a name that the catalog does not list yet.
func (b *backup) copyTable(ctx context.Context, p *view.Part, meta catalog.Table) error {
	name := files.NewTableName(meta.Number)
	if b.verified(ctx, meta) == nil { // copied by a run that did not finish
		b.report.Copied++
		return b.sync(name)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := files.RemoveIfThere(b.to.Dir, name); err != nil {
		return err
	}
	if b.options.Link && b.link(p, meta) {
		b.report.Linked++
		b.total -= meta.Size
		return nil
	}
	f, err := b.to.Dir.Create(name)
	if err != nil {
		return err
	}
	_, err = p.WriteTo(&copyWriter{ctx, f, b})
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = b.verified(ctx, meta)
	}
	if err != nil {
		return errors.Join(err, files.RemoveIfThere(b.to.Dir, name))
	}
	b.report.Copied++
	b.report.BytesWritten += meta.Size
	return nil
}

// sync makes a file durable that another process has written.
func (b *backup) sync(name string) error {
	f, err := b.to.Dir.Append(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// verified checks that a copy is the table that the catalog lists, and undamaged.
func (b *backup) verified(ctx context.Context, meta catalog.Table) error {
	t, err := b.to.Open(meta, files.NewTableName(meta.Number))
	if err != nil {
		return err
	}
	return errors.Join(t.VerifySums(ctx, nil), t.Drop(false))
}

// link hard-links the file of a table into the backup, and reports whether it succeeded. The name
// may be gone, belong to a file elsewhere, or to a file in another folder that now has the
// database's path.
func (b *backup) link(p *view.Part, meta catalog.Table) bool {
	fsys, ok := b.from.FS.(vfs.Linker)
	name := files.NewTableName(meta.Number)
	if !ok || fsys.Link(filepath.Join(b.from.View.Path, p.Name), filepath.Join(b.to.Path, name)) != nil {
		return false
	}
	t, err := b.to.Open(meta, name)
	if err == nil {
		return t.Drop(false) == nil
	}
	b.to.Dir.Remove(name) // if this fails, copying fails too
	return false
}

// copyWriter writes a table, reports progress, and stops when the context ends.
type copyWriter struct {
	ctx context.Context
	to  io.Writer
	b   *backup
}

// Write implements io.Writer.
func (w *copyWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.to.Write(p)
	w.b.done += int64(n)
	if report := w.b.options.Progress; report != nil {
		report(view.Progress{Stage: "backup", Done: w.b.done, Total: w.b.total, Unit: "bytes"})
	}
	return n, err
}

// memtables adds a table of the documents in the view's memtables, including expired ones.
func (b *backup) memtables() error {
	var docs []*view.MemDoc
	for _, m := range b.from.View.Mems {
		for _, d := range m.Docs {
			if d.AliveAt(b.from.View.Seq) {
				docs = append(docs, d)
			}
		}
	}
	if len(docs) == 0 {
		return nil
	}
	tables.SortDocs(docs)
	t, err := b.to.WriteDocs(docs)
	if err != nil {
		return err
	}
	b.files = append(b.files, t.Meta.Number)
	b.tables = append(b.tables, t.Meta)
	b.tombstones[t.Meta.Number] = nil
	b.report.Copied++
	b.report.Bytes += t.Meta.Size
	b.report.BytesWritten += t.Meta.Size
	return t.Drop(false)
}

// dropped returns the tables of the earlier backup that are no longer needed.
func (b *backup) dropped() (numbers []uint64) {
	for _, t := range b.have.Tables {
		if _, ok := b.tombstones[t.Number]; !ok {
			numbers = append(numbers, t.Number)
		}
	}
	return numbers
}

// commit switches the backup to the state of the view in one transaction. From here on its tables
// are listed.
func (b *backup) commit(dropped []uint64) error {
	v := b.from.View
	next := b.to.nextFile
	b.report.Tables = len(b.tables)
	if b.to.cat == nil {
		if err := b.create(next); err != nil {
			return err
		}
		b.to.Name(b.tables)
		return nil
	}
	edit := catalog.Edit{
		DropTables: dropped, SetTombstones: map[uint64]*roaring.Bitmap{}, SetMarks: map[string]int64{},
		FlushedSeq: &v.Seq, FirstWAL: &next, LastSeq: b.from.LastSeq, SetOptions: b.from.Options,
	}
	for _, t := range b.tables {
		if slices.Contains(b.files, t.Number) {
			edit.AddTables = append(edit.AddTables, t)
		}
		if dead := b.tombstones[t.Number]; !equalDead(dead, b.have.Tombstones[t.Number]) {
			edit.SetTombstones[t.Number] = dead
		}
	}
	for name := range b.have.Marks { // a mark of 0 means none
		if _, ok := b.from.Marks[name]; !ok {
			edit.SetMarks[name] = 0
		}
	}
	for name, at := range b.from.Marks {
		if was, ok := b.have.Marks[name]; !ok || was != at {
			edit.SetMarks[name] = at
		}
	}
	edit.Allow, edit.Unallow = b.editAllowed()
	b.files = nil // from here on, even after an error, the catalog may list these files
	return b.to.edit(edit)
}

// editAllowed returns the allowed pairs to add to the backup and to remove from it.
func (b *backup) editAllowed() (allow, unallow []catalog.IDPair) {
	had := map[catalog.IDPair]bool{}
	for _, p := range b.have.Allowed {
		had[p] = true
	}
	for _, p := range view.CatalogPairs(b.from.View.Allowed.All()) {
		if !had[p] {
			allow = append(allow, p)
		}
		delete(had, p)
	}
	return allow, slices.Collect(maps.Keys(had))
}

// equalDead reports whether two sets of tombstones are equal; nil means none.
func equalDead(a, b *roaring.Bitmap) bool {
	if a == nil || b == nil {
		return (a == nil || a.IsEmpty()) && (b == nil || b.IsEmpty())
	}
	return a.Equals(b)
}

// create makes the catalog of a new backup.
func (b *backup) create(next uint64) error {
	params, err := b.from.View.Params.AppendDatabase(nil)
	if err != nil {
		return err
	}
	s := catalog.State{
		UUID: b.from.View.UUID, Created: b.from.View.Created, Params: params, Options: b.from.Options,
		Tables:     slices.SortedFunc(slices.Values(b.tables), func(x, y catalog.Table) int { return cmp.Compare(x.Number, y.Number) }),
		Tombstones: map[uint64]*roaring.Bitmap{}, NextFile: next, FlushedSeq: b.from.View.Seq, FirstWAL: next,
		LastSeq: b.from.LastSeq, Marks: b.from.Marks, Allowed: view.CatalogPairs(b.from.View.Allowed.All()),
	}
	for number, dead := range b.tombstones {
		if dead != nil && !dead.IsEmpty() {
			s.Tombstones[number] = dead
		}
	}
	return catalog.Create(b.to.Dir, files.Catalog, s)
}
