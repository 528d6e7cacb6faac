package store

import (
	"context"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// A publication is a table that becomes part of the database without having been logged. Its
// documents count as written when it is published, and get their sequence numbers then, in the
// order of the numbers in the file. The order of sequence numbers is therefore the order in which
// writes become visible, and every write of a log that is replayed over the table is older than the
// table. Each document replaces the one with the same ID; if replace is off, it is dead on arrival
// instead.
//
// Documents with the same ID are found by merging the table's IDs with those of every other table:
// before locking for the existing tables (search), and under the locks for tables that were added
// since, and for the memtables (resolve).
type publication struct {
	db       *Store
	table    *view.Table // nil if there are only marks to set
	replace  bool        // documents of the table replace stored ones
	marks    map[string]int64
	allow    []view.IDPair                  // pairs that come with the table
	same     map[uint64][]sameID            // by number of the other table: found by search
	own      *roaring.Bitmap                // documents of the table that are dead on arrival; for a set, those dead before
	killed   map[*view.Part]*roaring.Bitmap // documents of other tables
	mem      []*view.MemDoc                 // killed documents of memtables
	codes    []codePair                     // codes of stored documents: see resolveCodes
	rows     *roaring.Bitmap                // documents of the table that are codes
	replaced int

	loaded    Loaded // published earlier by the same load
	again     int    // replaced documents that are in loaded
	againBare int    // documents in again without fingerprint
}

// Loaded describes the tables that a load has published so far.
type Loaded struct {
	Seqs  []SeqRange // sequence numbers of each table, in order
	Apart bool       // the new table shares no ID with these tables
}

// hasAll reports whether all sequence numbers from first to last belong to documents of the load.
func (l *Loaded) hasAll(first, last uint64) bool {
	i := sort.Search(len(l.Seqs), func(i int) bool { return l.Seqs[i].Last >= first })
	for ; i < len(l.Seqs) && l.Seqs[i].First <= first; i++ {
		if l.Seqs[i].Last >= last {
			return true
		}
		first = l.Seqs[i].Last + 1
	}
	return false
}

// A SeqRange is the sequence numbers from first to last, inclusive.
type SeqRange struct{ First, Last uint64 }

// sameID is a document of the table and a document of another table with the same ID.
type sameID struct{ doc, other uint32 }

// Publish makes a finished table part of the database; t is nil if there are only marks to set. Its
// documents replace those with the same IDs; if replace is off, they are dead on arrival instead.
// loaded describes the tables that the same load has published. After an error the table is not
// part of the database, or the store has failed.
func (db *Store) Publish(ctx context.Context, t *view.Table, replace bool, marks map[string]int64, loaded Loaded) (TableCounts, error) {
	p := db.newPublication(t, replace, marks)
	p.loaded = loaded
	err := p.search(ctx)
	if err == nil {
		err = p.run(ctx)
	}
	if err != nil || t == nil {
		return TableCounts{}, err
	}
	db.Counts.BytesLoaded.Add(t.Meta.Size)
	return p.counts(), nil // nothing fails once the table is published
}

func (db *Store) newPublication(t *view.Table, replace bool, marks map[string]int64) *publication {
	return &publication{
		db: db, table: t, replace: replace, marks: marks,
		same: map[uint64][]sameID{}, own: roaring.New(), killed: map[*view.Part]*roaring.Bitmap{}, rows: roaring.New(),
	}
}

// search finds documents with the same IDs in the tables of the current version. It locks nothing,
// so the documents may die before resolve, and new tables may be added.
func (p *publication) search(ctx context.Context) error {
	if p.table == nil {
		return nil
	}
	v, err := p.db.acquire()
	if err != nil {
		return err
	}
	defer v.Unref()
	if p.db.Several {
		if p.rows, err = p.table.Codes(ctx); err != nil {
			return err
		}
	}
	for i := range v.Parts {
		old := &v.Parts[i]
		if p.same[old.Meta.Number], err = p.inTable(ctx, old); err != nil {
			return err
		}
	}
	return nil
}

// inTable returns the living documents of another table whose IDs are in this one.
func (p *publication) inTable(ctx context.Context, in *view.Part) (same []sameID, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.loaded.Apart && p.loaded.hasAll(in.Meta.MinSeq, in.Meta.MaxSeq) {
		return nil, nil
	}
	err = table.EachCommonID(p.table.Reader, in.Reader, func(doc, old uint32) error {
		if !in.Dead.DeadAt(old, view.Latest) && !p.own.Contains(doc) {
			same = append(same, sameID{doc, old})
		}
		return nil
	})
	return same, err
}

// run makes the table part of the database. The caller must have called search.
func (p *publication) run(ctx context.Context) error {
	db := p.db
	done, err := db.publishing(ctx)
	if err != nil {
		return err
	}
	defer done()
	db.writeMu.Lock() // from here on no ID can be added or removed
	defer db.writeMu.Unlock()
	if err := db.Writable(); err != nil {
		return err
	}
	// A write that makes a document of the table dead on arrival must be safe before the document
	// is dropped.
	if err := db.last.sync(); err != nil {
		return db.fail(err)
	}
	if p.table != nil {
		if err := p.resolve(ctx); err != nil {
			return err
		}
		if err := p.table.NumberFrom(db.NextSeq()); err != nil {
			return err
		}
	}
	if err := p.enter(); err != nil {
		return db.fail(err)
	}
	return nil
}

// resolve decides which document lives for every ID that occurs twice. The caller holds publishMu
// and writeMu.
func (p *publication) resolve(ctx context.Context) error {
	db := p.db
	db.mu.Lock()
	v, mems := db.current, append(db.immutable[:len(db.immutable):len(db.immutable)], db.active)
	db.mu.Unlock()
	for _, m := range mems {
		if err := p.resolveMem(m); err != nil {
			return err
		}
	}
	for i := range v.Parts {
		old := &v.Parts[i]
		same, ok := p.same[old.Meta.Number]
		if !ok {
			var err error
			if same, err = p.inTable(ctx, old); err != nil {
				return err
			}
		}
		for _, s := range same {
			if old.Dead.DeadAt(s.other, view.Latest) {
				continue
			}
			if err := p.resolveOne(s.doc, view.Place{Part: old, Doc: s.other}); err != nil {
				return err
			}
		}
	}
	return p.resolveCodes()
}

// A codePair is a code of the table and a living stored code of the same ID.
type codePair struct {
	doc uint32
	old view.Place
}

// resolveCodes applies the decisions about documents to their codes: codes of documents that are
// dead on arrival are dead too, and other codes replace those with the same IDs.
func (p *publication) resolveCodes() error {
	if !p.db.Several {
		return nil
	}
	var refused []uint32
	if !p.replace { // otherwise own was dead before, with its codes
		refused = p.own.ToArray()
	}
	for _, doc := range refused {
		id, err := p.table.ID(doc)
		if err != nil {
			return err
		}
		for n := 1; n <= view.MaxCodes; n++ {
			code, ok, err := p.table.Lookup([]byte(view.CodeID(string(id), n)))
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			p.own.Add(code)
		}
	}
	for _, c := range p.codes {
		if !p.own.Contains(c.doc) {
			p.kill(c.old)
		}
	}
	return nil
}

// resolveMem is resolve for a memtable: it looks up the documents of the smaller of the two in the
// larger.
func (p *publication) resolveMem(m *view.Memtable) error {
	if n := p.table.NumDocs(); int(n) < len(m.Cur.Docs) {
		for doc := range n {
			id, err := p.table.ID(doc)
			if err != nil {
				return err
			}
			if d := m.Find(id, view.Latest); d != nil {
				if err := p.resolveOne(doc, view.Place{Mem: d}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, d := range m.Cur.Docs {
		if !d.AliveAt(view.Latest) {
			continue
		}
		doc, ok, err := p.table.Lookup(d.ID)
		if err == nil && ok {
			err = p.resolveOne(doc, view.Place{Mem: d})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// resolveOne decides which of two living documents with the same ID dies: the one of the table, or
// the old one.
func (p *publication) resolveOne(doc uint32, old view.Place) error {
	if p.db.Several {
		id, err := old.ID()
		if err != nil {
			return err
		}
		if _, code := view.Owner(id); code {
			p.codes = append(p.codes, codePair{doc, old})
			return nil
		}
	}
	if !p.replace {
		lives, err := old.Lives(p.db.life())
		if err != nil {
			return err
		}
		if lives {
			p.own.Add(doc)
			return nil
		}
	}
	p.replaced++
	p.kill(old)
	if old.Mem != nil {
		return nil
	}
	return p.countAgain(old)
}

// kill makes a stored document die when the table is published.
func (p *publication) kill(old view.Place) {
	if old.Mem != nil {
		p.mem = append(p.mem, old.Mem)
		return
	}
	if p.killed[old.Part] == nil {
		p.killed[old.Part] = roaring.New()
	}
	p.killed[old.Part].Add(old.Doc)
}

// countAgain counts a replaced document of a table if the same load has stored it.
func (p *publication) countAgain(old view.Place) error {
	if len(p.loaded.Seqs) == 0 {
		return nil
	}
	seq, err := old.Seq()
	if err != nil {
		return err
	}
	if p.loaded.hasAll(seq, seq) {
		p.again++
		if old.Doc >= old.Part.Meta.Fingerprints {
			p.againBare++
		}
	}
	return nil
}

// TableCounts holds the figures that a published table adds to the figures of a load.
type TableCounts struct {
	Documents, Empty, Replaced int64
	Tables                     int
	Bytes                      int64
}

// Add adds the figures of another table.
func (c *TableCounts) Add(o TableCounts) {
	c.Documents += o.Documents
	c.Empty += o.Empty
	c.Replaced += o.Replaced
	c.Tables += o.Tables
	c.Bytes += o.Bytes
}

// counts returns the figures of the table. Documents are those that are alive, without codes.
func (p *publication) counts() TableCounts {
	m := p.table.Meta
	dead := int64(p.own.GetCardinality())
	deadBare := dead
	if m.Fingerprints > 0 {
		deadBare -= int64(p.own.Rank(m.Fingerprints - 1))
	}
	return TableCounts{
		Documents: int64(m.Docs) - int64(roaring.Or(p.own, p.rows).GetCardinality()) - int64(p.again), Empty: int64(m.Docs-m.Fingerprints) - deadBare - int64(p.againBare),
		Replaced: int64(p.replaced), Tables: 1, Bytes: m.Size,
	}
}

// enter commits the table and the tombstones to the catalog and makes them visible.
func (p *publication) enter() error {
	edit := catalog.Edit{SetMarks: p.marks, Allow: view.CatalogPairs(p.allow), AddTombstones: map[uint64]*roaring.Bitmap{}}
	for part, dead := range p.killed {
		edit.AddTombstones[part.Meta.Number] = dead
	}
	if p.table != nil {
		edit.AddTables = []catalog.Table{p.table.Meta}
		edit.SetTombstones = map[uint64]*roaring.Bitmap{p.table.Meta.Number: p.own}
	}
	if err := p.db.editCatalog(edit); err != nil {
		return err
	}
	p.show()
	return nil
}

// show makes a publication that is in the catalog visible.
func (p *publication) show() {
	db := p.db
	db.mu.Lock()
	defer db.mu.Unlock()
	first := db.seq + 1 // replaced documents stay visible to open snapshots
	var parts []view.Part
	for i := range db.current.Parts {
		at := db.current.Parts[i]
		if dead := p.killed[&db.current.Parts[i]]; dead != nil {
			at.Dead = at.Dead.With(dead, 0)
		}
		parts = append(parts, at)
	}
	for _, d := range p.mem {
		d.Gone.Store(true)
		d.Dead.Store(first)
	}
	if p.table != nil {
		parts = append(parts, view.Part{Table: p.table, Dead: view.NewTombstones(p.own)})
		db.seq = p.table.Meta.MaxSeq
	}
	for source, pos := range p.marks {
		db.marks[source] = pos
	}
	db.allowedSet = db.allowedSet.With(p.allow)
	db.unref(db.install(parts))
}

// LoadMark returns the position that the last load published for source, or 0 if there is none.
func (db *Store) LoadMark(source string) int64 {
	if err := db.follow(); err != nil {
		db.log.Warn("reading the writes of other processes", "path", db.Path, "err", err)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.marks[source]
}
