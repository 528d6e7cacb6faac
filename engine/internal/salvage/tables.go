package salvage

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/backup"
	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable"
)

// An input is a table of the damaged database.
type input struct {
	foundFile
	table   *sstable.Salvaged
	info    sstable.Info
	whole   bool           // info is certain
	meta    *catalog.Table // what the catalog says of it, nil if that is nothing
	dead    *roaring.Bitmap
	shift   uint64 // is added to its sequence numbers
	foreign bool   // it is of another database, and its sequence numbers mean nothing
}

func (r *recovery) openTables() error {
	var found []*input
	for _, f := range r.inv.tables {
		in := &input{foundFile: f}
		if err := r.open(in); err != nil {
			return err
		}
		found = append(found, in)
	}
	if err := r.findParams(found); err != nil {
		return err
	}
	r.match(found)
	for _, in := range r.inputs { // no log and no catalog says it
		if r.uuid == ([16]byte{}) && in.table != nil {
			r.uuid = in.info.Identity.Database
		}
	}
	r.place()
	return nil
}

// open opens a table as far as it can be opened.
func (r *recovery) open(in *input) error {
	f, err := r.from.Open(in.name)
	if err != nil {
		return err
	}
	t, err := sstable.Salvage(f, in.name)
	switch {
	case errors.Is(err, base.ErrCorruption):
		return nil // to be reported if the table counts
	case err != nil:
		return err
	}
	in.table = t
	in.info, in.whole = t.Info()
	return nil
}

func (r *recovery) closeTables() {
	for _, in := range r.inputs {
		if in.table != nil {
			in.table.Close()
			in.table = nil
		}
	}
}

// findParams makes sure that the parameters of the database are known: from the catalog, else from
// a table.
func (r *recovery) findParams(found []*input) error {
	if !r.cat.HasParams {
		i := slices.IndexFunc(found, func(in *input) bool { return in.table != nil })
		switch {
		case i >= 0:
			r.params = found[i].table.Params()
			if !r.single { // a database that has one layout for all its tables is as well served by this
				r.params.Layout = sstable.LayoutBySize
			}
		case len(found) > 0:
			return fmt.Errorf("the parameters of the database are neither in the catalog nor in a table: %w", base.ErrCorruption)
		default:
			r.params, r.guess = store.NewParams(), true
			r.lose(base.Corruptf(files.Catalog, "params", -1, "lost, and there is no table that has them; those of a new database are assumed"), Loss{})
		}
	}
	r.texts = view.NewHasher(r.params)
	return nil
}

// match brings tables together with what the catalog says of them.
func (r *recovery) match(found []*input) {
	taken := map[uint64]bool{}
	give := func(in *input, t *catalog.Table) {
		in.meta, in.number, taken[t.Number] = t, t.Number, true
		in.dead = r.cat.State.Tombstones[t.Number]
	}
	listed := r.cat.State.Tables
	for i := range listed {
		t := &listed[i]
		for _, in := range found {
			if in.meta == nil && in.whole && in.info.Checksum == t.Digest && in.info.Size == t.Size {
				give(in, t)
				break
			}
		}
	}
	for i := range listed {
		for _, in := range found {
			if t := &listed[i]; in.meta == nil && !in.whole && in.number == t.Number && !taken[t.Number] {
				give(in, t)
				break
			}
		}
	}
	for _, in := range found {
		if in.meta == nil && in.whole && in.info.Identity.Database != ([16]byte{}) {
			in.number = in.info.Identity.Number
		}
		if in.meta != nil || !r.cat.Current || r.single {
			r.inputs = append(r.inputs, in)
		} else if in.table != nil {
			in.table.Close() // what merges have left behind, or what was not published
		}
	}
	slices.SortStableFunc(r.inputs, func(a, b *input) int { return cmp.Compare(a.number, b.number) })
	if !r.cat.Current {
		return
	}
	for _, t := range listed {
		if !taken[t.Number] {
			n := r.livingIn(t)
			r.lose(base.Corruptf(files.TableName(t.Number), "file", -1, "missing"), Loss{Documents: n})
		}
	}
}

// livingIn returns how many documents of a table live, by the catalog.
func (r *recovery) livingIn(t catalog.Table) int64 {
	n := int64(t.Docs)
	if dead := r.cat.State.Tombstones[t.Number]; dead != nil {
		n -= int64(dead.GetCardinality())
	}
	return n
}

// place finds what has to be added to the sequence numbers of tables. What comes from another
// database is placed after the tables with lower numbers, since it was added after them.
func (r *recovery) place() {
	last := uint64(0)
	for _, in := range r.inputs {
		if in.table == nil {
			continue
		}
		switch own := in.info.Identity.Database == r.uuid; {
		case r.single:
		case in.meta != nil:
			in.shift = in.meta.MinSeq - in.info.MinSeq
		case !own:
			in.shift, in.foreign = last+1-in.info.MinSeq, true
		}
		if in.info.Docs > 0 {
			last = max(last, in.info.MaxSeq+in.shift)
		}
	}
}

// copyTable writes the documents of a table that live.
func (r *recovery) copyTable(in *input) error {
	if in.table == nil {
		n := int64(0)
		if in.meta != nil {
			n = r.livingIn(*in.meta)
		}
		r.lose(base.Corruptf(filepath.Base(in.name), "directory", -1, "lost, and with it where everything else is"), Loss{Documents: n})
		return nil
	}
	if r.incompatible(in) {
		return nil
	}
	w := &tableWriter{t: r.to, from: in, most: r.params.MaxDocs()}
	done := int64(0)
	o := sstable.SalvageOptions{
		Sums: r.texts.Fill, Partial: r.o.Partial,
		Dead:   func(doc uint32) bool { return in.dead != nil && in.dead.Contains(doc) },
		Buried: func(id []byte, seq uint64) { r.isOutdated(id, seq+in.shift) },
	}
	err := in.table.Each(r.ctx, o, func(doc uint32, d *sstable.Document) error {
		d.Seq += in.shift
		if done++; done%4096 == 0 && r.o.Progress != nil {
			r.o.Progress(view.Progress{Stage: "recover " + in.name, Done: int64(doc), Total: int64(in.info.Docs), Unit: "documents"})
		}
		if r.isOutdated(d.ID, d.Seq) {
			return nil
		}
		return w.add(d)
	})
	if err == nil {
		err = w.close()
	}
	if err != nil {
		return errors.Join(err, w.abort())
	}
	for _, l := range in.table.Losses() {
		r.lose(l.Err, Loss{File: in.name, Documents: l.Lost, Partial: l.Partial, Estimated: l.Estimated})
	}
	if r.single {
		r.readNote(in)
	}
	return nil
}

// incompatible reports whether a table was made with other parameters than the database.
func (r *recovery) incompatible(in *input) bool {
	p := in.table.Params()
	if p.Compatible(r.params) {
		return false
	}
	p.Layout = r.params.Layout
	r.lose(base.Corruptf(in.name, "directory", -1, "made with other parameters: %s", p.Diff(r.params)), Loss{Documents: int64(in.info.Docs)})
	return true
}

// readNote takes over the allowed pairs of a packed database.
func (r *recovery) readNote(in *input) {
	note, err := in.table.Note()
	if err == nil {
		var pairs []view.IDPair
		if pairs, err = backup.DecodeNote(note); err == nil {
			for _, p := range pairs {
				r.cat.State.Allowed = append(r.cat.State.Allowed, catalog.IDPair(p))
			}
			return
		}
		err = base.Corruptf(in.name, "note", -1, "%w", err)
	}
	r.lose(err, Loss{})
}
