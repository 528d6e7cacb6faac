package view

import (
	"cmp"
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

// A Columns is what readers see of a memtable: slices that the writer only ever appends to behind
// their ends.
type Columns struct {
	Docs  []*MemDoc
	FPs   []base.Fingerprint // first words of the fingerprints, of documents that have one, in order of writing
	Rest  []base.Fingerprint // their other words
	FPDoc []uint32           // their positions in docs
	// of FPs, and perhaps of newer ones, and of each other word; nil while they are few
	Index   *memindex.Index
	Indexes []*memindex.Index

	Doubt Doubt

	Bitmaps   []minhash.Bitmap   // of the sketches of the documents that have one
	BitmapDoc []uint32           // their positions in docs
	Sketches  *memindex.Sketches // likewise, of the same documents
}

// A Doubt is why it is not known whether damaged tables have other versions of documents of a
// memtable, which came from the log.
//
// An older version can't be read, so that answers are right but for counts. But while it is not
// dead in the catalog the log must stay: the memtable is not flushed. A newer version would have to
// be shown instead of the memtable's own: nothing is read, and nothing is written.
type Doubt struct {
	Older error // nil if all is known
	Newer error // likewise; if not, Older is not nil either
}

// Or adds another doubt.
func (d *Doubt) Or(o Doubt) {
	d.Older, d.Newer = cmp.Or(d.Older, o.Older), cmp.Or(d.Newer, o.Newer)
}

// A Memtable holds the newest documents in memory. One writer at a time (DB.writeMu) adds to it;
// readers take a view.
type Memtable struct {
	Log    *wal.Writer // nil until the first write since the database was opened
	Logs   []uint64    // numbers of the logs that hold its writes, log's last
	Cur    Columns     // the writer's own
	view   atomic.Pointer[Columns]
	Bytes  int
	MaxSeq uint64        // of all writes in the log, deletes too
	MinSeq atomic.Uint64 // likewise; 0 if there are none

	params sstable.Params // of the index of sketches

	Short    memindex.GrowingTexts // signatures of the texts, as searches need them
	Sets     memindex.GrowingSets  // sets of their features, likewise
	Fields   sstable.FieldIndex    // values of the indexed fields, likewise
	Families memindex.Families     // of positions of Bitmaps

	ids  idTable
	slab []MemDoc // room for the next documents
}

// What a write costs in memory in addition to its bytes, and the index of fingerprints.
const (
	memDocOverhead    = 232 // a document: the struct, its slot, the slices with their room
	TombstoneOverhead = 64  // a delete: an entry in the map of a table's tombstones

	slabDocs = 32 // documents that are allocated at once
)

// NewMemtable returns an empty memtable without a log for a database with these parameters.
func NewMemtable(p sstable.Params) *Memtable {
	m := &Memtable{params: p}
	m.ids.init()
	m.view.Store(&Columns{})
	return m
}

// Add appends a copy of d, whose slices the memtable keeps. The version that it replaces must have
// been marked dead before.
func (m *Memtable) Add(d *sstable.Document) {
	if len(m.slab) == 0 {
		m.slab = make([]MemDoc, slabDocs)
	}
	md := &m.slab[0]
	m.slab = m.slab[1:]
	md.Document = *d
	if of, code := Owner(d.ID); code {
		if md.owner = m.ids.find(of); md.owner == nil { // a load that overtook the log has another
			md.Dead.Store(d.Seq)
		}
	}
	if d.HasFingerprint {
		m.addFingerprint(d.Fingerprint, d.Rest)
	}
	if len(d.Sketch) > 0 {
		m.addSketch(d.Sketch)
	}
	m.Cur.Docs = m.ids.add(md)
	m.Bytes += len(d.ID) + len(d.Text) + len(d.Fields) + memDocOverhead
}

// addFingerprint appends the fingerprint of the document that is appended next.
func (m *Memtable) addFingerprint(fp base.Fingerprint, rest []base.Fingerprint) {
	m.Cur.FPs, m.Cur.Rest = append(m.Cur.FPs, fp), append(m.Cur.Rest, rest...)
	m.Cur.FPDoc = append(m.Cur.FPDoc, uint32(len(m.Cur.Docs)))
	m.Bytes += len(rest) * base.FingerprintBytes
	switch {
	case m.Cur.Index != nil:
		m.Bytes += m.Cur.Index.Add(fp)
		for i, word := range rest {
			m.Bytes += m.Cur.Indexes[i].Add(word)
		}
	case len(m.Cur.FPs) == memindex.MinSize:
		m.Cur.Index = memindex.New(m.Cur.FPs)
		m.Bytes += m.Cur.Index.Bytes()
		for i := range rest {
			x := memindex.New(nil)
			for at := i; at < len(m.Cur.Rest); at += len(rest) {
				x.Add(m.Cur.Rest[at])
			}
			m.Cur.Indexes = append(m.Cur.Indexes, x)
			m.Bytes += x.Bytes()
		}
	}
}

// RestOf returns the words after the first of the fingerprint at a position of FPs.
func (c *Columns) RestOf(at uint32) []base.Fingerprint {
	if len(c.Rest) == 0 {
		return nil
	}
	n := len(c.Rest) / len(c.FPs)
	return c.Rest[int(at)*n : int(at+1)*n]
}

// Word returns a word of the fingerprint at a position of FPs.
func (c *Columns) Word(word int, at uint32) base.Fingerprint {
	if word == 0 {
		return c.FPs[at]
	}
	return c.RestOf(at)[word-1]
}

// Distance returns the distance of a fingerprint of as many words from the one at a position of
// FPs.
func (c *Columns) Distance(q []base.Fingerprint, at uint32) int {
	return base.Distance(q[0], c.FPs[at]) + base.DistanceWords(c.RestOf(at), q[1:])
}

// addSketch appends the sketch of the document that is appended next.
func (m *Memtable) addSketch(s minhash.Sketch) {
	m.Cur.Bitmaps = append(m.Cur.Bitmaps, s.Bitmap())
	m.Cur.BitmapDoc = append(m.Cur.BitmapDoc, uint32(len(m.Cur.Docs)))
	m.Bytes += 4*len(s) + len(minhash.Bitmap{})*8
	switch {
	case m.Cur.Sketches != nil:
		before := m.Cur.Sketches.Bytes()
		m.Cur.Sketches.Add(s)
		m.Bytes += m.Cur.Sketches.Bytes() - before
	case len(m.Cur.Bitmaps) == memindex.MinSketches:
		m.Cur.Sketches = memindex.NewSketches(m.params.MinJaccard, int(m.params.Sketch))
		for _, at := range m.Cur.BitmapDoc[:memindex.MinSketches-1] {
			m.Cur.Sketches.Add(m.Cur.Docs[at].Sketch)
		}
		m.Cur.Sketches.Add(s)
		m.Bytes += m.Cur.Sketches.Bytes()
	}
}

// Wrote notes that the log has the write with this number, in order.
func (m *Memtable) Wrote(seq uint64) {
	m.MaxSeq = max(m.MaxSeq, seq)
	m.MinSeq.CompareAndSwap(0, seq)
}

// Publish lets new views see what was added.
func (m *Memtable) Publish() {
	v := m.Cur
	m.view.Store(&v)
}

// Find returns the version of id that is alive at seq, or nil. The newest one up to seq decides:
// those before it were dead when it was written.
func (m *Memtable) Find(id []byte, seq uint64) *MemDoc {
	if d := m.ids.find(id).newestAt(seq); d != nil && d.AliveAt(seq) {
		return d
	}
	return nil
}

// Empty reports whether nothing was written to the memtable, not even a delete.
func (m *Memtable) Empty() bool { return m.MaxSeq == 0 }
