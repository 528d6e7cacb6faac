package view

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/files"
)

// MaxImmutable is how many full memtables may wait for their flush before writers wait too.
const MaxImmutable = 2

// A View is the state of the database that a snapshot sees: the version and the memtables that were
// current when it was created, as of a sequence number. It holds a reference to the version until
// it is closed. Its methods may be called from many goroutines.
type View struct {
	*Config
	Seq     uint64 // of the last visible write
	Version *Version
	Mems    []MemView // oldest first
	Allowed *AllowedPairs
	Life    // documents outside have expired

	Doubt  Doubt    // of the memtables
	over   *Overlay // of a transaction that has written, nil for the committed state
	closed atomic.Bool
	buf    [MaxImmutable + 1]MemView // backing array of Mems
}

// A MemView is a memtable with its columns at the moment when the view was created.
type MemView struct {
	*Memtable
	*Columns
}

// Take makes v, which must be new or closed, a view of the given state. It adds a reference to ver.
func (v *View) Take(c *Config, seq uint64, ver *Version, immutable []*Memtable, active *Memtable, allowed *AllowedPairs) {
	v.closed.Store(false)
	ver.Refs.Add(1)
	v.Config, v.Seq, v.Version, v.Allowed, v.over = c, seq, ver, allowed, nil
	v.Mems = v.buf[:0]
	for _, m := range immutable {
		v.Mems = append(v.Mems, MemView{m, m.view.Load()})
	}
	v.Mems = append(v.Mems, MemView{active, active.view.Load()})
	v.Doubt = Doubt{}
	for _, m := range v.Mems {
		v.Doubt.Or(m.Columns.Doubt)
	}
}

// Copy makes v, which must be new or closed, another view of the state that of sees.
func (v *View) Copy(of *View) error {
	if err := of.Usable(context.Background()); err != nil {
		return err
	}
	v.closed.Store(false)
	of.Version.Refs.Add(1)
	v.Config, v.Seq, v.Version, v.Allowed, v.Life = of.Config, of.Seq, of.Version, of.Allowed, of.Life
	v.Mems, v.Doubt, v.over = append(v.buf[:0], of.Mems...), of.Doubt, of.over
	return nil
}

// Close releases the view. Closing it again does nothing.
func (v *View) Close() error {
	if v.closed.Swap(true) {
		return nil
	}
	return v.Version.Unref()
}

// Forget clears the references of a closed view, so that a pooled view holds no memory.
func (v *View) Forget() {
	clear(v.Mems)
	v.Version, v.Mems, v.over = nil, nil, nil
}

// MemAlive reports whether d is visible.
func (v *View) MemAlive(d *MemDoc) bool {
	if v.over != nil {
		return v.Has(&d.Document) && v.over.alive(d, v.Seq)
	}
	return d.AliveAt(v.Seq) && v.Has(&d.Document)
}

// Lists reports whether d is visible and a document, not a code.
func (v *View) Lists(d *MemDoc) bool { return d.owner == nil && v.MemAlive(d) }

// Alive reports whether document doc of p is visible.
func (v *View) Alive(p *Part, doc uint32) (bool, error) {
	ok, err := p.AliveAt(doc, v.Seq, v.Life)
	if ok && err == nil && v.Several {
		return v.Counts(p, doc)
	}
	return ok, err
}

// AliveID returns the ID of document doc of p, which aliases the table; ok is false if the document
// is not visible.
func (v *View) AliveID(p *Part, doc uint32) (id []byte, ok bool, err error) {
	if ok, err = v.Alive(p, doc); ok && err == nil {
		id, err = p.ID(doc)
	}
	return id, ok && err == nil, err
}

// Locate returns the place of the visible document with this ID, or ErrNotFound if there is none.
func (v *View) Locate(id string) (Place, error) {
	p, ok, err := v.Find([]byte(id))
	if err == nil && !ok {
		err = files.NoDocument(id)
	}
	return p, err
}

// Find returns the place of the row with this ID. ok is false if there is none or it is not
// visible, for example expired.
func (v *View) Find(id []byte) (p Place, ok bool, err error) {
	for _, m := range slices.Backward(v.Mems) {
		d := m.Find(id, v.Seq)
		if v.over != nil {
			d = v.over.find(m.Memtable, id, v.Seq)
		}
		if d != nil {
			return Place{Mem: d}, v.Has(&d.Document), nil
		}
	}
	if p, ok, err = v.Version.Locate(id, v.Seq); ok && err == nil {
		ok, err = v.Alive(p.Part, p.Doc)
	}
	return p, ok, err
}

// MemRows returns the visible rows of the memtables, documents and codes.
func (v *View) MemRows() (rows []*MemDoc) {
	for _, m := range v.Mems {
		for _, d := range m.Docs {
			if v.MemAlive(d) {
				rows = append(rows, d)
			}
		}
	}
	return rows
}

// EachMem calls fn for every visible document of the memtables, until fn returns an error.
func (v *View) EachMem(fn func(Place) error) error {
	for _, m := range v.Mems {
		for _, d := range m.Docs {
			if v.Lists(d) {
				if err := fn(Place{Mem: d}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
