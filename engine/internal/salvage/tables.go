package salvage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/backup"
	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
)

// copyTables copies the tables that the catalog lists, or all tables if the catalog is lost.
func (r *recovery) copyTables() error {
	listed, dead := r.state.Tables, r.state.Tombstones
	r.state.Tables, r.state.Tombstones = nil, map[uint64]*roaring.Bitmap{}
	if !r.known {
		for _, n := range slices.Sorted(maps.Keys(r.tables)) {
			listed = append(listed, catalog.Table{Number: n})
		}
	}
	for i, meta := range listed {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if r.o.Progress != nil {
			r.o.Progress(view.Progress{Stage: "recover", Done: int64(i), Total: int64(len(listed)), Unit: "tables"})
		}
		if err := r.copyTable(meta, cmp.Or(dead[meta.Number], roaring.New())); err != nil {
			return err
		}
	}
	if r.stated {
		return nil
	}
	if len(listed) > 0 {
		return fmt.Errorf("the parameters of the database are neither in the catalog nor in a table: %w", base.ErrCorruption)
	}
	r.params = store.NewParams()
	r.lose(base.Corruptf(files.Catalog, "params", -1, "lost, and no table has them; the parameters of a new database are assumed"), Loss{})
	return nil
}

// copyTable copies a table, or its readable documents. dead are the documents known to be dead. If
// the catalog is lost, only meta.Number is known.
func (r *recovery) copyTable(meta catalog.Table, dead *roaring.Bitmap) error {
	living := Loss{Documents: int64(meta.Docs) - int64(dead.GetCardinality())}
	path, ok := r.tables[meta.Number]
	if !ok {
		r.lose(base.Corruptf(files.TableName(meta.Number), "file", -1, "missing"), living)
		return nil
	}
	f, err := r.from.Open(path)
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	t, err := table.Salvage(f, name)
	switch {
	case err == nil:
		defer t.Close()
	case !errors.Is(err, base.ErrCorruption):
		return err
	case r.single:
		if what, e := files.Look(r.from, path); e == nil && what != files.Table {
			err = fmt.Errorf("%s: %w", path, files.ErrNotDatabase)
		}
		return err
	default:
		r.lose(base.Corruptf(name, "directory", -1, "lost, and with it the positions of all other sections"), living)
		return nil
	}
	info, whole := t.Info()
	p := t.Params()
	if !r.stated {
		if r.params, r.stated = p, true; !r.single { // a layout by size is also right for a database with one fixed layout
			r.params.Layout = table.LayoutBySize
		}
	}
	r.params.Program = &r.o.Features
	if err := r.params.NeedCompute(); err != nil {
		return fmt.Errorf("%w: %w", err, files.ErrParams)
	}
	if !p.Compatible(r.params) || r.known && whole && (info.Checksum != meta.Digest || info.Size != meta.Size) {
		r.lose(base.Corruptf(name, "footer", -1, "not the table that belongs here"), living)
		return nil
	}
	shift := meta.MinSeq - info.MinSeq
	if !r.known {
		meta = tables.Meta(meta.Number, info)
		shift = r.place(&meta, info)
	}
	r.last = max(r.last, meta.MaxSeq)
	if err := r.copyDocuments(t, meta, dead, shift); err != nil || !r.single {
		return err
	}
	r.readNote(t, name)
	return nil
}

// place returns the number to add to the sequence numbers of a table if there is no catalog. A
// table from another database is placed after the tables with lower file numbers, since it was
// added after them.
func (r *recovery) place(meta *catalog.Table, info table.Info) (shift uint64) {
	own := &r.state.UUID
	if *own == ([16]byte{}) { // no log contains it
		*own = info.Identity.Database
	}
	if !r.single && info.Identity.Database != *own {
		shift = r.last + 1 - info.MinSeq
	}
	meta.MinSeq, meta.MaxSeq = meta.MinSeq+shift, meta.MaxSeq+shift
	return shift
}

// copyDocuments copies a table, byte by byte if it is undamaged.
func (r *recovery) copyDocuments(t *table.Salvaged, meta catalog.Table, dead *roaring.Bitmap, shift uint64) error {
	if whole := t.Whole(r.ctx); whole != nil {
		f, err := r.to.Create(files.TableName(meta.Number))
		if err != nil {
			return err
		}
		if _, err = whole.WriteTo(&copyWriter{r.ctx, f}); err == nil {
			err = f.Sync()
		}
		r.add(meta, dead)
		return errors.Join(err, f.Close())
	}
	rebuilt, err := r.folder().Rebuild(r.ctx, t, shift, table.SalvageOptions{Partial: r.o.Partial, Dead: dead.Contains})
	if err != nil {
		return err
	}
	if err := rebuilt.Drop(false); err != nil {
		return err
	}
	for _, made := range rebuilt.Tables {
		if err := r.to.Rename(files.NewTableName(made.Meta.Number), made.Name); err != nil {
			return err
		}
		r.add(made.Meta, roaring.New())
	}
	for _, l := range t.Losses() {
		r.lose(l.Err, NewLoss(l))
	}
	return nil
}

// folder returns the folder of the new database as a folder of tables.
func (r *recovery) folder() *tables.Folder {
	c := &view.Config{Dir: r.to.Folder, UUID: r.state.UUID}
	c.SetParams(r.params)
	return &tables.Folder{Config: c, Number: func() uint64 { r.state.NextFile++; return r.state.NextFile - 1 }}
}

// add adds a table to the catalog of the new database.
func (r *recovery) add(meta catalog.Table, dead *roaring.Bitmap) {
	r.state.Tables = append(r.state.Tables, meta)
	r.state.Tombstones[meta.Number] = dead
}

// copyWriter writes until the context ends.
type copyWriter struct {
	ctx context.Context
	to  io.Writer
}

// Write implements io.Writer.
func (w *copyWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}

// readNote copies the allowed pairs of a packed database.
func (r *recovery) readNote(t *table.Salvaged, name string) {
	note, err := t.Note()
	if err == nil {
		var pairs []view.IDPair
		if pairs, err = backup.DecodeNote(note); err == nil {
			for _, p := range pairs {
				r.state.Allowed = append(r.state.Allowed, catalog.IDPair(p))
			}
			return
		}
		err = base.Corruptf(name, "note", -1, "%w", err)
	}
	r.lose(err, Loss{})
}

// resolve finds documents with the same ID in different tables, and marks all but the one written
// last dead. It counts how many documents may have been deleted.
func (r *recovery) resolve() (err error) {
	all := r.state.Tables
	readers := make([]*table.Reader, len(all))
	defer func() {
		for _, t := range readers {
			if t != nil {
				err = errors.Join(err, t.Close())
			}
		}
	}()
	doubtful := int64(0)
	for i, b := range all {
		f, err := r.to.Open(files.TableName(b.Number))
		if err != nil {
			return err
		}
		if readers[i], err = table.OpenFile(f, files.TableName(b.Number)); err != nil {
			return err
		}
		doubtful += int64(b.Docs)
		for j, a := range all[:i] {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			err := table.EachCommonID(readers[j], readers[i], func(docA, docB uint32) error {
				seqA, err := readers[j].Seq(docA)
				seqB, e := readers[i].Seq(docB)
				if err = cmp.Or(err, e); err != nil {
					return err
				}
				if seqA+a.MinSeq-readers[j].Info().MinSeq > seqB+b.MinSeq-readers[i].Info().MinSeq {
					r.state.Tombstones[b.Number].Add(docB)
				} else {
					r.state.Tombstones[a.Number].Add(docA)
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("comparing tables: %w", err)
			}
		}
	}
	for _, dead := range r.state.Tombstones {
		doubtful -= int64(dead.GetCardinality())
	}
	if doubtful > 0 && !r.single {
		r.report.Doubts = append(r.report.Doubts, Doubt{files.Catalog, doubtful, "without the catalog, deletions are known only from logs, and prunings not at all"})
	}
	return nil
}
