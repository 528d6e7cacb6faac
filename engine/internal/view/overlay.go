package view

import (
	"slices"
	"sync"

	"github.com/simdb/simdb/engine/internal/wal"
)

// Uncommitted is the first sequence number of writes before their commit, greater than all others.
const Uncommitted = 1 << 63

// An Overlay is the view of a transaction: the state of the database when it began, with its own
// writes in a memtable of its own. What these replace or delete is marked only in the overlay:
// documents of tables in Tombstones of its version, documents of shared memtables in gone. One
// goroutine at a time writes; copies of the View see the writes so far, and may be read meanwhile.
type Overlay struct {
	View       // with all writes so far
	Began View // without them
	mem   *Memtable
	gone  sync.Map // from the *MemDoc of a shared memtable to the number of the write
}

// Begin makes o an overlay over o.Began, without writes.
func (o *Overlay) Begin() {
	b := &o.Began
	o.mem = NewMemtable(b.Params)
	o.Config, o.Seq, o.Version, o.over = b.Config, Uncommitted-1, b.Version.over(b.Seq), o
	o.Mems = append(slices.Clone(b.Mems), MemView{o.mem, o.mem.view.Load()})
	o.Allowed, o.Life, o.Doubt = b.Allowed, b.Life, b.Doubt
}

// Write adds records. Record i replaces or deletes the document at found[i], unless that is zero.
func (o *Overlay) Write(recs []wal.Record, found []Place) {
	for i, r := range recs {
		old := found[i]
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
	at := o.Began.Seq
	if m == o.mem {
		at = seq
	}
	if d := m.Find(id, at); d != nil && o.alive(d, seq) {
		return d
	}
	return nil
}

// Close releases the overlay. Copies of its View stay valid. Closing it again does nothing.
func (o *Overlay) Close() {
	o.mem.Families.GiveBack()
	o.mem.Sets.GiveBack()
	o.View.Close()
	o.Began.Close()
}
