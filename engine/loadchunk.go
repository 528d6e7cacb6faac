package engine

import (
	"hash/maphash"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/radix"
	"github.com/simdb/simdb/sstable"
)

// A loadChunk is the documents of one table to be, in order of arrival. It is made of few large arrays, since documents may be
// small and many: 40 bytes each, their bytes in blocks, and a hash table of their IDs.
type loadChunk struct {
	docs     []loadDoc
	blocks   [][]byte
	sketches [][]uint32 // of docs; nil if none has one
	marks    map[string]int64
	first    uint64 // sequence number of the first of docs
	bytes    int    // of memory, about

	// slots finds IDs: an open hash table with linear probing. A slot is hash<<32 | position in docs + 1, or 0.
	slots []uint64
	seed  maphash.Seed
}

// A loadDoc is a document in a chunk. Its ID, text and fields lie behind each other in a block.
type loadDoc struct {
	fp           uint64
	time         int64
	at           uint64 // block<<32 | offset
	text, fields uint32 // bytes
	id           uint16 // bytes
	hasFP        bool
	dropped      bool // one with the same ID was added later
}

const (
	loadBlock       = 1 << 20 // bytes of a block, or as many as a document needs
	loadDocOverhead = 100     // bytes of memory a buffered document costs beside its own
	maxLoadDocs     = 1 << 30 // documents a chunk
)

// newLoadChunk returns a chunk with room for n documents.
func newLoadChunk(n int) *loadChunk {
	c := &loadChunk{docs: make([]loadDoc, 0, n), marks: map[string]int64{}, seed: maphash.MakeSeed()}
	c.slots = make([]uint64, 64)
	for !c.roomFor(n) {
		c.slots = make([]uint64, 2*len(c.slots))
	}
	return c
}

// roomFor reports whether the slots are enough for n documents: at most three quarters are taken.
func (c *loadChunk) roomFor(n int) bool { return n <= len(c.slots)/4*3 }

// An idSlot is where in slots an ID is, or goes.
type idSlot struct {
	at   uint64
	hash uint64 // 32 bits
}

// find returns the position of the document that was added last with this ID, -1 if there is none, and its slot. It only reads
// what write leaves alone.
func (c *loadChunk) find(id string) (pos int, slot idSlot) {
	hash := maphash.String(c.seed, id) >> 32
	mask := uint64(len(c.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		s := c.slots[at]
		if s == 0 {
			return -1, idSlot{at, hash}
		}
		if pos := int(uint32(s)) - 1; s>>32 == hash && string(c.id(pos)) == id {
			return pos, idSlot{at, hash}
		}
	}
}

// add appends d, whose ID has the slot that find has just returned.
func (c *loadChunk) add(d *Doc, slot idSlot) {
	n := len(d.ID) + len(d.Text) + len(d.Fields)
	last := len(c.blocks) - 1
	if last < 0 || cap(c.blocks[last])-len(c.blocks[last]) < n {
		c.blocks = append(c.blocks, make([]byte, 0, max(loadBlock, n)))
		last++
	}
	b := c.blocks[last]
	doc := loadDoc{
		at: uint64(last)<<32 | uint64(len(b)), id: uint16(len(d.ID)), text: uint32(len(d.Text)), fields: uint32(len(d.Fields)),
		time: d.Time.UnixMicro(),
	}
	if d.Fingerprint != nil {
		doc.fp, doc.hasFP = *d.Fingerprint, true
	}
	c.blocks[last] = append(append(append(b, d.ID...), d.Text...), d.Fields...)
	c.docs = append(c.docs, doc)
	c.slots[slot.at] = slot.hash<<32 | uint64(len(c.docs))
	c.bytes += n + loadDocOverhead
	if !c.roomFor(len(c.docs) + 1) {
		c.growSlots()
	}
}

// growSlots doubles the slots.
func (c *loadChunk) growSlots() {
	old := c.slots
	c.slots = make([]uint64, 2*len(old))
	mask := uint64(len(c.slots) - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		at := s >> 32 & mask
		for c.slots[at] != 0 {
			at = (at + 1) & mask
		}
		c.slots[at] = s
	}
}

// id returns the ID of a document.
func (c *loadChunk) id(pos int) []byte {
	d := &c.docs[pos]
	return c.part(d, 0, uint32(d.id))
}

// text returns the text of a document.
func (c *loadChunk) text(pos int) []byte {
	d := &c.docs[pos]
	return c.part(d, uint32(d.id), d.text)
}

// part returns n bytes of a document, from its byte number from on.
func (c *loadChunk) part(d *loadDoc, from, n uint32) []byte {
	at := uint32(d.at) + from
	return c.blocks[d.at>>32][at : at+n : at+n]
}

// tableOrder returns the positions of the documents in the order of a table, equal ones as they arrived. Those dropped are left
// out.
func (c *loadChunk) tableOrder() []uint32 {
	keys := radix.Pairs{Keys: make([]uint64, 0, len(c.docs)), Vals: make([]uint32, 0, len(c.docs))}
	var without []uint32 // fingerprint
	for pos := range c.docs {
		switch d := &c.docs[pos]; {
		case d.dropped:
		case d.hasFP:
			keys.Keys, keys.Vals = append(keys.Keys, d.fp), append(keys.Vals, uint32(pos))
		default:
			without = append(without, uint32(pos))
		}
	}
	n := len(keys.Keys)
	keys = radix.SortPairs(keys, radix.Pairs{Keys: make([]uint64, n), Vals: make([]uint32, n)})
	return append(keys.Vals, without...)
}

// sketch returns the sketch of a document, nil if it has none.
func (c *loadChunk) sketch(pos uint32) []uint32 {
	if c.sketches == nil {
		return nil
	}
	return c.sketches[pos]
}

// gathered is how many documents eachIn looks up together, so that their cache misses overlap.
const gathered = 64

// eachIn calls fn for the documents at the given positions. The document is valid until fn returns.
func (c *loadChunk) eachIn(order []uint32, fn func(d *sstable.Document) error) error {
	var docs [gathered]loadDoc
	for len(order) > 0 {
		n := min(gathered, len(order))
		for i, pos := range order[:n] {
			docs[i] = c.docs[pos]
		}
		for i := range docs[:n] {
			kernel.Prefetch(c.part(&docs[i], 0, 1))
		}
		for i, pos := range order[:n] {
			d := &docs[i]
			err := fn(&sstable.Document{
				ID: c.part(d, 0, uint32(d.id)), Text: c.part(d, uint32(d.id), d.text), Fields: c.part(d, uint32(d.id)+d.text, d.fields),
				HasFingerprint: d.hasFP, Fingerprint: d.fp, Time: d.time, Seq: c.first + uint64(pos), Sketch: c.sketch(pos),
			})
			if err != nil {
				return err
			}
		}
		order = order[n:]
	}
	return nil
}
