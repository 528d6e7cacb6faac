package loader

import (
	"hash/maphash"
	"slices"
	"unsafe"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/radix"
	"github.com/simdb/simdb/sstable"
)

// A chunk is the documents of one table to be, in order of arrival. It is made of few large arrays,
// since documents may be small and many: 40 bytes each, their bytes in blocks, and a hash table of
// their IDs.
type chunk struct {
	docs     []chunkDoc
	fps      []base.Fingerprint // fingerprints of docs
	blocks   [][]byte
	sketches [][]uint32 // of docs; nil if none has one
	marks    map[string]int64
	first    uint64 // sequence number of the first of docs, if nothing is written before they are published
	bytes    int    // of memory, about

	// slots finds IDs: an open hash table with linear probing, of 1<<width slots. A slot is 0 or
	//
	//	+-----------------------------+--------------------------------+
	//	| upper 32-width bits of hash | position in docs + 1     width |
	//	+-----------------------------+--------------------------------+
	slots []uint32
	width uint
	seed  maphash.Seed
}

// A chunkDoc is a document in a chunk, half a cache line. Its ID, text and fields lie behind each
// other in a block.
type chunkDoc struct {
	time         int64
	at           uint64 // block<<32 | offset
	text, fields uint32 // bytes
	id           uint16 // bytes
	hasFP        bool
	dropped      bool // one with the same ID was added later
}

const (
	blockBytes   = 1 << 20 // bytes of a block, or as many as a document needs
	docOverhead  = 100     // bytes of memory a buffered document costs beside its own
	maxChunkDocs = 1 << 30 // documents a chunk
)

// newChunk returns a chunk with room for n documents.
func newChunk(n int) *chunk {
	c := &chunk{docs: make([]chunkDoc, 0, n), fps: make([]base.Fingerprint, 0, n), marks: map[string]int64{}, seed: maphash.MakeSeed()}
	for c.width = 6; !c.roomFor(n); c.width++ {
	}
	c.slots = make([]uint32, 1<<c.width)
	return c
}

// roomFor reports whether the slots are enough for n documents: at most three quarters are taken.
func (c *chunk) roomFor(n int) bool { return n <= 3<<c.width/4 }

// An idSlot is where in slots an ID is, or goes.
type idSlot struct {
	at  uint64
	tag uint32 // the slot without the position
}

// slotOf returns where the search for an ID with this hash begins.
func (c *chunk) slotOf(hash uint64) idSlot {
	return idSlot{at: hash & (1<<c.width - 1), tag: uint32(hash>>32) >> c.width << c.width}
}

// begin returns where the search for an ID begins, and prefetches it: what is done before find is
// done while memory is waited for.
func (c *chunk) begin(id string) idSlot {
	slot := c.slotOf(maphash.String(c.seed, id))
	kernel.Prefetch(unsafe.Slice((*byte)(unsafe.Pointer(&c.slots[slot.at])), 1))
	return slot
}

// find returns the position of the document that was added last with this ID, -1 if there is none,
// and its slot, given where the search for it begins. It only reads what write leaves alone.
func (c *chunk) find(id string, slot idSlot) (pos int, at idSlot) {
	mask := uint32(1)<<c.width - 1
	for ; ; slot.at = (slot.at + 1) & uint64(mask) {
		s := c.slots[slot.at]
		if s == 0 {
			return -1, slot
		}
		if pos := int(s&mask) - 1; s&^mask == slot.tag && string(c.id(pos)) == id {
			return pos, slot
		}
	}
}

// add appends d, whose ID has the slot that find has just returned.
func (c *chunk) add(d *view.Doc, slot idSlot) {
	n := len(d.ID) + len(d.Text) + len(d.Fields)
	last := len(c.blocks) - 1
	if last < 0 || cap(c.blocks[last])-len(c.blocks[last]) < n {
		c.blocks = append(c.blocks, make([]byte, 0, max(blockBytes, n)))
		last++
	}
	b := c.blocks[last]
	doc := chunkDoc{
		at: uint64(last)<<32 | uint64(len(b)), id: uint16(len(d.ID)), text: uint32(len(d.Text)), fields: uint32(len(d.Fields)),
		time: d.Time.UnixMicro(),
	}
	var fp base.Fingerprint
	if d.Fingerprint != nil {
		fp, doc.hasFP = *d.Fingerprint, true
	}
	c.blocks[last] = append(append(append(b, d.ID...), d.Text...), d.Fields...)
	if len(c.docs) == cap(c.docs) { // append would grow more often
		c.docs, c.fps = slices.Grow(c.docs, len(c.docs)+64), slices.Grow(c.fps, len(c.docs)+64)
	}
	c.docs, c.fps = append(c.docs, doc), append(c.fps, fp)
	c.slots[slot.at] = slot.tag | uint32(len(c.docs))
	c.bytes += n + docOverhead
	if !c.roomFor(len(c.docs) + 1) {
		c.growSlots()
	}
}

// growSlots doubles the slots.
func (c *chunk) growSlots() {
	c.width++
	c.slots = make([]uint32, 1<<c.width)
	for pos := range c.docs {
		if c.docs[pos].dropped {
			continue
		}
		slot := c.slotOf(maphash.Bytes(c.seed, c.id(pos)))
		for c.slots[slot.at] != 0 {
			slot.at = (slot.at + 1) & (1<<c.width - 1)
		}
		c.slots[slot.at] = slot.tag | uint32(pos+1)
	}
}

// id returns the ID of a document.
func (c *chunk) id(pos int) []byte {
	d := &c.docs[pos]
	return c.part(d, 0, uint32(d.id))
}

// text returns the text of a document.
func (c *chunk) text(pos int) []byte {
	d := &c.docs[pos]
	return c.part(d, uint32(d.id), d.text)
}

// part returns n bytes of a document, from its byte number from on.
func (c *chunk) part(d *chunkDoc, from, n uint32) []byte {
	at := uint32(d.at) + from
	return c.blocks[d.at>>32][at : at+n : at+n]
}

// A tableOrder is documents of a chunk in the order of a table, equal ones as they arrived.
type tableOrder struct {
	pos []uint32           // their positions
	fps []base.Fingerprint // of the first of them; the others have none
}

// tableOrder returns the documents but for those dropped.
func (c *chunk) tableOrder() tableOrder {
	keys := radix.Pairs{Keys: make([]uint64, 0, len(c.docs)), Vals: make([]uint32, 0, len(c.docs))}
	var without []uint32 // fingerprint
	for pos := range c.docs {
		switch d := &c.docs[pos]; {
		case d.dropped:
		case d.hasFP:
			keys.Keys, keys.Vals = append(keys.Keys, c.fps[pos]), append(keys.Vals, uint32(pos))
		default:
			without = append(without, uint32(pos))
		}
	}
	n := len(keys.Keys)
	keys = radix.SortPairs(keys, radix.Pairs{Keys: make([]uint64, n), Vals: make([]uint32, n)})
	return tableOrder{append(keys.Vals, without...), keys.Keys}
}

// sketch returns the sketch of a document, nil if it has none.
func (c *chunk) sketch(pos uint32) []uint32 {
	if c.sketches == nil {
		return nil
	}
	return c.sketches[pos]
}

// gathered is how many documents are looked up together, so that their cache misses overlap.
const gathered = 64

// eachIn calls fn for the documents in an order. The document is valid until fn returns.
func (c *chunk) eachIn(o tableOrder, fn func(d *sstable.Document) error) error {
	var docs [gathered]chunkDoc
	var out sstable.Document
	for from := 0; from < len(o.pos); from += gathered {
		group := o.pos[from:min(from+gathered, len(o.pos))]
		for i, pos := range group {
			docs[i] = c.docs[pos]
		}
		for i := range group {
			kernel.Prefetch(c.part(&docs[i], 0, 1))
		}
		for i, pos := range group {
			d := &docs[i]
			id, text := uint32(d.id), d.text
			out = sstable.Document{
				ID: c.part(d, 0, id), Text: c.part(d, id, text), Fields: c.part(d, id+text, d.fields),
				Time: d.time, Seq: c.first + uint64(pos), Sketch: c.sketch(pos),
			}
			if from+i < len(o.fps) {
				out.Fingerprint, out.HasFingerprint = o.fps[from+i], true
			}
			if err := fn(&out); err != nil {
				return err
			}
		}
	}
	return nil
}
