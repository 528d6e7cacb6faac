package engine

import (
	"context"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/sstable"
)

// A publication is a table that becomes part of the database without having been in the log. Its documents are written at the
// moment it is published, and get their sequence numbers then, in the order of the numbers in the file: so the order of numbers
// is that in which writes become visible, and a log that is replayed over the table has nothing in it that the table does not
// follow. Each of the documents replaces the one that has its ID; if replace is off, it is dead on arrival instead.
//
// Which documents have the same ID is found out by merging the table's IDs with those of every other table: before the locks are
// taken for the tables that there are (search), and under the locks for those that came since, and for the memtables (settle).
type publication struct {
	db       *DB
	table    *table // nil if there are only marks to set
	replace  bool   // stored documents give way
	marks    map[string]int64
	allow    []IDPair                  // that come with the table
	same     map[uint64][]sameID       // by number of the other table: found by search
	own      *roaring.Bitmap           // documents of the table that are dead on arrival
	killed   map[*part]*roaring.Bitmap // documents of other tables that are dead from now on, with those before
	mem      []*memDoc                 // documents of memtables likewise
	replaced int

	loaded    []seqRange // of the tables that the same load has published, in order
	again     int        // of replaced, those in loaded
	againBare int        // of again, those without fingerprint
}

// A seqRange is the sequence numbers from first to last.
type seqRange struct{ first, last uint64 }

// sameID is a document of the table and one of another that have the same ID.
type sameID struct{ doc, other uint32 }

func (db *DB) newPublication(t *table, replace bool, marks map[string]int64) *publication {
	return &publication{
		db: db, table: t, replace: replace, marks: marks,
		same: map[uint64][]sameID{}, own: roaring.New(), killed: map[*part]*roaring.Bitmap{},
	}
}

// search looks through the tables of the current version. It takes no locks, so what it finds may die before settle, and new
// tables may come.
func (p *publication) search(ctx context.Context) error {
	if p.table == nil {
		return nil
	}
	v, err := p.db.acquire()
	if err != nil {
		return err
	}
	defer v.unref()
	for i := range v.parts {
		other := &v.parts[i]
		if p.same[other.meta.Number], err = p.inTable(ctx, other); err != nil {
			return err
		}
	}
	return nil
}

// inTable returns the living documents of another table that have IDs of this one.
func (p *publication) inTable(ctx context.Context, other *part) (same []sameID, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = sstable.EachCommonID(p.table.Reader, other.Reader, func(doc, old uint32) error {
		if !other.dead.deadAt(old, latest) {
			same = append(same, sameID{doc, old})
		}
		return nil
	})
	return same, err
}

// run makes the table part of the database. The caller has called search.
func (p *publication) run(ctx context.Context) error {
	db := p.db
	db.publishMu.Lock()
	defer db.publishMu.Unlock()
	db.writeMu.Lock() // from here on no ID can come or go
	defer db.writeMu.Unlock()
	if err := db.writable(); err != nil {
		return err
	}
	// A write that makes a document of the table dead on arrival must be safe before the document is given up.
	if err := db.syncLogLocked(); err != nil {
		return db.fail(err)
	}
	if p.table != nil {
		if err := p.settle(ctx); err != nil {
			return err
		}
		if err := p.table.numberFrom(db.nextSeq()); err != nil {
			return err
		}
	}
	if err := p.commit(); err != nil {
		return db.fail(err)
	}
	return nil
}

// settle decides about all documents that have the same ID. The caller holds publishMu and writeMu.
func (p *publication) settle(ctx context.Context) error {
	db := p.db
	db.mu.Lock()
	v, mems := db.current, append(db.immutable[:len(db.immutable):len(db.immutable)], db.active)
	db.mu.Unlock()
	for _, m := range mems {
		if err := p.settleMem(m); err != nil {
			return err
		}
	}
	for i := range v.parts {
		other := &v.parts[i]
		same, ok := p.same[other.meta.Number]
		if !ok {
			var err error
			if same, err = p.inTable(ctx, other); err != nil {
				return err
			}
		}
		for _, s := range same {
			if other.dead.deadAt(s.other, latest) {
				continue
			}
			if err := p.settleOne(s.doc, place{part: other, doc: s.other}); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleMem is settle for a memtable: it looks up the documents of the smaller of the two in the other.
func (p *publication) settleMem(m *memtable) error {
	if n := p.table.NumDocs(); int(n) < len(m.cur.docs) {
		for doc := range n {
			id, err := p.table.ID(doc)
			if err != nil {
				return err
			}
			if d := m.find(string(id), latest); d != nil {
				if err := p.settleOne(doc, place{mem: d}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, d := range m.cur.docs {
		if !d.aliveAt(latest) {
			continue
		}
		doc, ok, err := p.table.Lookup(d.ID)
		if err == nil && ok {
			err = p.settleOne(doc, place{mem: d})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settleOne decides which of two living documents of the same ID dies: that of the table, or the old one.
func (p *publication) settleOne(doc uint32, old place) error {
	if !p.replace {
		stored, err := old.time()
		if err != nil {
			return err
		}
		if stored >= p.db.expiry() {
			p.own.Add(doc)
			return nil
		}
	}
	p.replaced++
	if old.mem != nil {
		p.mem = append(p.mem, old.mem)
		return nil
	}
	if err := p.countAgain(old); err != nil {
		return err
	}
	if p.killed[old.part] == nil {
		p.killed[old.part] = old.part.dead.base.Clone()
	}
	p.killed[old.part].Add(old.doc)
	return nil
}

// countAgain counts a replaced document of a table if the same load has stored it.
func (p *publication) countAgain(old place) error {
	if len(p.loaded) == 0 {
		return nil
	}
	seq, err := old.seq()
	if err != nil {
		return err
	}
	i := sort.Search(len(p.loaded), func(i int) bool { return p.loaded[i].last >= seq })
	if i < len(p.loaded) && p.loaded[i].first <= seq {
		p.again++
		if old.doc >= old.part.meta.Fingerprints {
			p.againBare++
		}
	}
	return nil
}

// counts returns what the table adds to the figures of a load, whose documents are those that are there.
func (p *publication) counts() LoadStats {
	m := p.table.meta
	dead := int64(p.own.GetCardinality())
	deadBare := dead
	if m.Fingerprints > 0 {
		deadBare -= int64(p.own.Rank(m.Fingerprints - 1))
	}
	return LoadStats{
		Documents: int64(m.Docs) - dead - int64(p.again), Empty: int64(m.Docs-m.Fingerprints) - deadBare - int64(p.againBare),
		Replaced: int64(p.replaced), Tables: 1, Bytes: m.Size,
	}
}

// commit puts the table, with the tombstones, into the catalog and installs it.
func (p *publication) commit() error {
	edit := catalog.Edit{SetMarks: p.marks, Allow: catalogPairs(p.allow), SetTombstones: map[uint64]*roaring.Bitmap{}}
	for part, dead := range p.killed {
		edit.SetTombstones[part.meta.Number] = dead
	}
	if p.table != nil {
		edit.AddTables = []catalog.Table{p.table.meta}
		edit.SetTombstones[p.table.meta.Number] = p.own
	}
	if err := p.db.apply(edit); err != nil {
		return err
	}
	p.install()
	return nil
}

// install makes a committed publication visible.
func (p *publication) install() {
	db := p.db
	db.mu.Lock()
	defer db.mu.Unlock()
	first := db.seq + 1 // snapshots that are open keep what was replaced
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
		d.dead.Store(first)
	}
	db.seq = first
	if p.table != nil {
		parts = append(parts, part{p.table, newTombstones(p.own)})
		db.seq = p.table.meta.MaxSeq
	}
	for source, pos := range p.marks {
		db.marks[source] = pos
	}
	db.allowed = db.allowed.with(p.allow)
	old := db.install(parts)
	old.unref()
}
