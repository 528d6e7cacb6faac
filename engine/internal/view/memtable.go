package view

import (
	"cmp"
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// Columns hold the contents of a memtable for readers: slices to which the writer only ever appends
// beyond the ends that readers see.
type Columns struct {
	Docs  []*MemDoc
	FPs   []base.Fingerprint // first words of the fingerprints of documents that have one, in order of writing
	Rest  []base.Fingerprint // the other words of these fingerprints
	FPDoc []uint32           // indexes in Docs of these documents
	// Index covers FPs, and possibly newer fingerprints; Indexes cover the other words, one each.
	// They are nil while there are few fingerprints.
	Index   *memindex.Index
	Indexes []*memindex.Index

	Removed []catalog.Removal // by deletes in the log of the memtable, in order

	Doubt Doubt

	Bitmaps   []minhash.Bitmap   // sketches of the documents that have one, as bitmaps
	BitmapDoc []uint32           // indexes in Docs of these documents
	Sketches  *memindex.Sketches // index of these sketches; nil while there are few
}

// A Doubt says that damaged tables hide whether they have other versions of documents of a
// memtable, which was replayed from the log.
//
// If an older version is hidden, answers are correct except for counts. But the log must stay as
// long as that version is not dead in the catalog, so the memtable is not flushed. A newer version
// would have to be shown instead of the memtable's own, so if one may be hidden, nothing is read or
// written.
type Doubt struct {
	Older error // an older version may be hidden; nil if not
	Newer error // a newer version may be hidden; nil if not. If set, Older is set too
}

// Or adds another doubt.
func (d *Doubt) Or(o Doubt) {
	d.Older, d.Newer = cmp.Or(d.Older, o.Older), cmp.Or(d.Newer, o.Newer)
}

// A Memtable holds the newest documents in memory. One writer at a time (DB.writeMu) adds to it;
// readers use a view.
type Memtable struct {
	Log    *wal.Writer // nil until the first write since the database was opened
	Logs   []uint64    // numbers of the logs that hold its writes; Log is the last
	Cur    Columns     // for the writer only
	view   atomic.Pointer[Columns]
	Bytes  int
	MaxSeq uint64        // of all writes in the log, including deletes
	MinSeq atomic.Uint64 // of all writes in the log; 0 if there are none

	params table.Params // for the index of sketches

	Short    memindex.GrowingTexts // signatures of the texts, made when searches need them
	Sets     memindex.GrowingSets  // sets of features of the texts, made when needed
	Fields   table.FieldIndex      // values of the indexed fields, made when needed
	Families memindex.Families     // families of the positions in Bitmaps

	ids  idTable
	slab []MemDoc // preallocated documents
}

// Memory cost of a write in addition to its bytes and the index of fingerprints.
const (
	memDocOverhead    = 232 // a document: the struct, its slot, and unused capacity of the slices
	tombstoneOverhead = 120 // a delete: an entry in the map of a table's tombstones, and a Removal

	slabDocs = 32 // documents allocated at once
)

// NewMemtable returns an empty memtable without a log for a database with these parameters.
func NewMemtable(p table.Params) *Memtable {
	m := &Memtable{params: p}
	m.ids.init()
	m.view.Store(&Columns{})
	return m
}

// Add appends a copy of d; the memtable holds on to the slices of d. The caller must have marked
// the version that d replaces dead.
func (m *Memtable) Add(d *table.Document) {
	if len(m.slab) == 0 {
		m.slab = make([]MemDoc, slabDocs)
	}
	md := &m.slab[0]
	m.slab = m.slab[1:]
	md.Document = *d
	if ownerID, code := Owner(d.ID); code {
		if md.owner = m.ids.find(ownerID); md.owner == nil { // a load that overtook the log has another version of the document
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

// addFingerprint appends the fingerprint of the next document.
func (m *Memtable) addFingerprint(fp base.Fingerprint, rest []base.Fingerprint) {
	m.Cur.FPDoc = append(m.Cur.FPDoc, uint32(len(m.Cur.Docs)))
	m.Bytes += len(rest)*base.FingerprintBytes + m.Cur.addFingerprint(fp, rest)
}

// addFingerprint appends a fingerprint, and returns by how many bytes the indexes have grown.
func (c *Columns) addFingerprint(fp base.Fingerprint, rest []base.Fingerprint) (grown int) {
	c.FPs, c.Rest = append(c.FPs, fp), append(c.Rest, rest...)
	switch {
	case c.Index != nil:
		grown = c.Index.Add(fp)
		for i, word := range rest {
			grown += c.Indexes[i].Add(word)
		}
	case len(c.FPs) == memindex.MinSize:
		c.Index = memindex.New(c.FPs, cap(c.FPs))
		grown = c.Index.Bytes()
		for i := range rest {
			x := memindex.New(nil, cap(c.FPs))
			for at := i; at < len(c.Rest); at += len(rest) {
				x.Add(c.Rest[at])
			}
			c.Indexes = append(c.Indexes, x)
			grown += x.Bytes()
		}
	}
	return grown
}

// RestOf returns the words after the first of the fingerprint at an index of FPs.
func (c *Columns) RestOf(at uint32) []base.Fingerprint {
	if len(c.Rest) == 0 {
		return nil
	}
	n := len(c.Rest) / len(c.FPs)
	return c.Rest[int(at)*n : int(at+1)*n]
}

// Word returns a word of the fingerprint at an index of FPs.
func (c *Columns) Word(word int, at uint32) base.Fingerprint {
	if word == 0 {
		return c.FPs[at]
	}
	return c.RestOf(at)[word-1]
}

// Distance returns the distance between a fingerprint with the same number of words and the one at
// an index of FPs.
func (c *Columns) Distance(q []base.Fingerprint, at uint32) int {
	return base.Distance(q[0], c.FPs[at]) + base.DistanceWords(c.RestOf(at), q[1:])
}

// addSketch appends the sketch of the next document.
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

// Delete records a delete that the log has. The caller must have marked the document dead.
func (m *Memtable) Delete(d *table.Document) {
	m.Cur.Removed = append(m.Cur.Removed, catalog.Removal{ID: d.ID, Seq: d.Seq})
	m.Bytes += len(d.ID) + tombstoneOverhead
}

// Wrote records that the log has the write with this number. Calls must be in order.
func (m *Memtable) Wrote(seq uint64) {
	m.MaxSeq = max(m.MaxSeq, seq)
	m.MinSeq.CompareAndSwap(0, seq)
}

// Publish makes everything added so far visible to new views.
func (m *Memtable) Publish() {
	v := m.Cur
	m.view.Store(&v)
}

// Find returns the version of id that is alive at seq, or nil. Only the newest version up to seq
// can be alive: earlier ones died when it was written.
func (m *Memtable) Find(id []byte, seq uint64) *MemDoc {
	if d := m.ids.find(id).newestAt(seq); d != nil && d.AliveAt(seq) {
		return d
	}
	return nil
}

// Empty reports whether nothing was written to the memtable, not even a delete.
func (m *Memtable) Empty() bool { return m.MaxSeq == 0 }
