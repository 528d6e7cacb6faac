package engine

import (
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/wal"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

// A memDoc is a document in a memtable.
type memDoc struct {
	sstable.Document
	prev *memDoc       // the version of the same ID before it in this memtable, or nil
	dead atomic.Uint64 // sequence number of the write that replaced or deleted it, 0 while alive
	gone atomic.Bool   // that write is durable in a table already: it was a load
}

// aliveAt reports whether d is visible to a snapshot at seq.
func (d *memDoc) aliveAt(seq uint64) bool {
	dead := d.dead.Load()
	return d.Seq <= seq && (dead == 0 || dead > seq)
}

// A memView is what readers see of a memtable: slices that the writer only ever appends to behind their ends.
type memView struct {
	docs  []*memDoc
	fps   []uint64 // fingerprints of the documents that have one, in order of writing
	fpDoc []uint32 // their positions in docs

	bitmaps   []minhash.Bitmap // of the sketches of the documents that have one
	bitmapDoc []uint32         // their positions in docs
}

// A memtable holds the newest documents in memory. One writer at a time (DB.writeMu) adds to it; readers take a view.
type memtable struct {
	log    *wal.Writer // nil until the first write since the database was opened
	logs   []uint64    // numbers of the logs that hold its writes, log's last
	cur    memView     // the writer's own
	view   atomic.Pointer[memView]
	bytes  int
	maxSeq uint64        // of all writes in the log, deletes too
	minSeq atomic.Uint64 // likewise; 0 if there are none

	mu   sync.RWMutex
	byID map[string]*memDoc // newest version of an ID, alive or dead
}

// What a write costs in memory beside its bytes.
const (
	memDocOverhead    = 256 // a document: the struct, the map entry, the slices
	tombstoneOverhead = 64  // a delete: an entry in the map of a table's tombstones
)

func newMemtable() *memtable {
	m := &memtable{byID: map[string]*memDoc{}}
	m.view.Store(&memView{})
	return m
}

// add appends d, whose slices the memtable keeps. The version that it replaces must have been marked dead before.
func (m *memtable) add(d sstable.Document) {
	md := &memDoc{Document: d}
	m.mu.Lock()
	md.prev = m.byID[string(d.ID)]
	m.byID[string(d.ID)] = md
	m.mu.Unlock()
	if d.HasFingerprint {
		m.cur.fps = append(m.cur.fps, d.Fingerprint)
		m.cur.fpDoc = append(m.cur.fpDoc, uint32(len(m.cur.docs)))
	}
	if len(d.Sketch) > 0 {
		m.cur.bitmaps = append(m.cur.bitmaps, minhash.Sketch(d.Sketch).Bitmap())
		m.cur.bitmapDoc = append(m.cur.bitmapDoc, uint32(len(m.cur.docs)))
		m.bytes += 4*len(d.Sketch) + len(minhash.Bitmap{})*8
	}
	m.cur.docs = append(m.cur.docs, md)
	m.bytes += len(d.ID) + len(d.Text) + len(d.Fields) + memDocOverhead
}

// wrote notes that the log has the write with this number, in order.
func (m *memtable) wrote(seq uint64) {
	m.maxSeq = max(m.maxSeq, seq)
	m.minSeq.CompareAndSwap(0, seq)
}

// publish lets new views see what was added.
func (m *memtable) publish() {
	v := m.cur
	m.view.Store(&v)
}

// find returns the version of id that is alive at seq, or nil.
func (m *memtable) find(id string, seq uint64) *memDoc {
	m.mu.RLock()
	d := m.byID[id]
	m.mu.RUnlock()
	for ; d != nil; d = d.prev {
		if d.aliveAt(seq) {
			return d
		}
	}
	return nil
}

// empty reports whether nothing was written to the memtable, not even a delete.
func (m *memtable) empty() bool { return m.maxSeq == 0 }
