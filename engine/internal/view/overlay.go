package view

import (
	"slices"
	"sync"

	"github.com/simdb/simdb/engine/internal/wal"
)

// Uncommitted is the first sequence number of the writes of a transaction before its commit. All
// committed writes have smaller numbers.
const Uncommitted = 1 << 63

// An Overlay is what a transaction reads: the state of the database when it began, with its own
// writes over it. Memtables and versions are shared with other readers, so the writes are in a
// memtable of the overlay, and what they replace or delete is marked in the overlay: documents of
// tables in its Tombstones, documents of shared memtables in gone. One goroutine at a time writes
// to an Overlay; copies of its View see the writes so far, and may be read meanwhile.
type Overlay struct {
	View       // with all writes so far
	Began View // without them
	mem   *Memtable
	gone  sync.Map // from the *MemDoc of a shared memtable to the number of the write
}

// Begin takes the current state, which take copies to a View, as that without writes.
func (o *Overlay) Begin(take func(*View) error) error {
	if err := take(&o.Began); err != nil {
		return err
	}
	return o.View.Copy(&o.Began)
}

// Prepare prepares the overlay for its first write. It must be called before the places that the
// write replaces are looked up, since their marks are those of the overlay's own version.
func (o *Overlay) Prepare() {
	if o.mem != nil {
		return
	}
	o.mem = NewMemtable(o.Params)
	o.Version = o.Began.Version.over(o.Began.Seq)
	o.Began.Version.Unref() // Began has another reference
	o.Mems = append(slices.Clip(o.Mems), MemView{o.mem, o.mem.view.Load()})
	o.Seq, o.over = Uncommitted-1, o
}

// Write adds records. Record i replaces or deletes the document at found[i], unless that is zero.
func (o *Overlay) Write(recs []wal.Record, found []Place) {
	for i := range recs {
		r, old := recs[i], found[i]
		if d := o.mem.Find(r.Doc.ID, Latest); d != nil { // perhaps of an earlier record
			old = Place{Mem: d}
		}
		o.Seq++
		if old.Mem != nil && old.Mem.Seq < Uncommitted {
			o.gone.Store(old.Mem, o.Seq)
		} else if old != (Place{}) {
			old.Kill(o.Seq)
		}
		if r.Doc.Seq = o.Seq; !r.Delete {
			o.mem.Add(&r.Doc)
		}
	}
	o.mem.Publish()
	o.Mems[len(o.Mems)-1].Columns = o.mem.view.Load()
}

// alive reports whether d is alive for a view of the overlay at seq.
func (o *Overlay) alive(d *MemDoc, seq uint64) bool {
	if d.Seq >= Uncommitted {
		return d.AliveAt(seq)
	}
	for x := d; x != nil; x = x.owner {
		if by, ok := o.gone.Load(x); ok && by.(uint64) <= seq {
			return false
		}
	}
	return d.AliveAt(o.Began.Seq)
}

// find returns the document with an ID that is alive in m for a view of the overlay at seq, or nil.
func (o *Overlay) find(m *Memtable, id []byte, seq uint64) *MemDoc {
	if m == o.mem {
		return m.Find(id, seq)
	}
	if d := m.Find(id, o.Began.Seq); d != nil && o.alive(d, seq) {
		return d
	}
	return nil
}

// Close releases the overlay. Copies of its View stay valid. Closing it again does nothing.
func (o *Overlay) Close() {
	if o.mem != nil && !o.closed.Load() {
		o.mem.Families.GiveBack()
		o.mem.Sets.GiveBack()
	}
	o.View.Close()
	o.Began.Close()
}
