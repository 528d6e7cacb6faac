package engine

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/sstable"
)

// publishLoad makes t, a table of docs, part of the database. Each of its documents replaces an older one of the same ID; it
// is dead itself (stale) where a newer one was written meanwhile, or any one if replace is off.
func (db *DB) publishLoad(t *table, docs []sstable.Document, marks map[string]int64, replace bool) (replaced, stale int, err error) {
	db.publishMu.Lock()
	defer db.publishMu.Unlock()
	db.writeMu.Lock() // from here on no ID can come or go
	defer db.writeMu.Unlock()
	if err := db.writable(); err != nil {
		return 0, 0, err
	}
	// A newer write that makes a document of t stale must be safe before the document is given up.
	if err := db.syncLogLocked(); err != nil {
		return 0, 0, err
	}
	p := publication{db: db, replace: replace, marks: marks, own: roaring.New(), killed: map[*part]*roaring.Bitmap{}}
	for i := range docs {
		if err := p.replaceOlder(uint32(i), string(docs[i].ID), docs[i].Seq); err != nil {
			return 0, 0, err
		}
	}
	var edit catalog.Edit
	if t != nil {
		edit.AddTables = []catalog.Table{t.meta}
	}
	if err := p.publish(t, edit); err != nil {
		return 0, 0, err
	}
	return p.replaced, int(p.own.GetCardinality()), nil
}

// A publication is a table that becomes part of the database without having been in the log, and what it replaces. The caller
// holds publishMu and writeMu.
type publication struct {
	db       *DB
	replace  bool                      // stored documents give way
	own      *roaring.Bitmap           // documents of the table that are dead on arrival
	killed   map[*part]*roaring.Bitmap // documents of other tables that are dead from now on, with those before
	mem      []*memDoc                 // documents of memtables likewise
	marks    map[string]int64
	replaced int
}

// replaceOlder looks for another document of the same ID and decides which of the two dies.
func (p *publication) replaceOlder(doc uint32, id string, seq uint64) error {
	old, ok, err := p.db.locateLocked(id)
	if err != nil || !ok {
		return err
	}
	e, err := old.entry()
	if err != nil {
		return err
	}
	if e.Seq > seq || !p.replace && e.Time.UnixMicro() >= p.db.expiry() {
		p.own.Add(doc)
		return nil
	}
	p.replaced++
	if old.mem != nil {
		p.mem = append(p.mem, old.mem)
		return nil
	}
	if p.killed[old.part] == nil {
		p.killed[old.part] = old.part.dead.base.Clone()
	}
	p.killed[old.part].Add(old.doc)
	return nil
}

// publish commits the edit with the tombstones and installs t, which may be nil.
func (p *publication) publish(t *table, edit catalog.Edit) error {
	edit.SetMarks, edit.SetTombstones = p.marks, map[uint64]*roaring.Bitmap{}
	for part, dead := range p.killed {
		edit.SetTombstones[part.meta.Number] = dead
	}
	if t != nil {
		edit.SetTombstones[t.meta.Number] = p.own
	}
	if err := p.db.apply(edit); err != nil {
		return err
	}
	p.install(t)
	return nil
}

// install makes a committed publication visible.
func (p *publication) install(t *table) {
	db := p.db
	db.mu.Lock()
	defer db.mu.Unlock()
	seq := db.seq + 1 // snapshots that are open keep what was replaced
	var parts []part
	for i := range db.current.parts {
		at := db.current.parts[i]
		if dead := p.killed[&db.current.parts[i]]; dead != nil {
			_, younger := at.dead.upTo(0)
			at.dead = &tombstones{base: dead, recent: younger}
		}
		parts = append(parts, at)
	}
	for _, d := range p.mem {
		d.gone.Store(true)
		d.dead.Store(seq)
	}
	if t != nil {
		parts = append(parts, part{t, newTombstones(p.own)})
	}
	db.seq = seq
	for source, pos := range p.marks {
		db.marks[source] = pos
	}
	old := db.install(parts)
	old.unref()
}
