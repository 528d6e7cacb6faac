package loader

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table"
)

// A chunk holds the documents of one future table, in order of arrival. It consists of a few large
// arrays, since documents may be small and many: each needs 12 bytes and its ID. Texts leave it a
// window at a time. If each document is looked up before it is added, a hash table of the IDs needs
// 5 to 11 bytes more.
type chunk struct {
	batch table.Batch
	marks map[string]int64
	last  mark // the latest mark, not in marks yet
	bytes int  // size of the IDs
	timed bool // batch.Times has the times; otherwise all documents have the time at which the table was begun

	window *window      // the window that texts are added to; nil if none
	feed   chan *window // full windows for the goroutine that writes; nil until it runs
	drop   bool         // tells the goroutine that writes to make no table
	result chan result  // result of writing the chunk

	// The goroutine that writes fills these from documents with texts, until the chunk is complete.
	sums  []summary
	codes atomic.Int64 // size of batch.Codes in bytes
	sets  atomic.Int64 // size of the sets of texts in bytes, which the writer holds

	// slots finds IDs: an open hash table with linear probing, of 1<<width slots; nil if no IDs are
	// looked up. A slot is 0 or
	//
	//	+-----------------------------+--------------------------------+
	//	| upper 32-width bits of hash | position in the batch + 1  width |
	//	+-----------------------------+--------------------------------+
	slots []uint32
	width uint
	seed  maphash.Seed
}

// A mark says up to which position a source has been read; the zero value is no mark.
type mark struct {
	source string
	pos    int64
	set    bool
}

// mark records up to which position source has been read. Marks of one source must ascend.
func (c *chunk) mark(source string, pos int64) {
	if c.last.set && c.last.source != source {
		c.marks[c.last.source] = c.last.pos
	}
	c.last = mark{source, pos, true}
}

// A summary holds the fingerprint of a text and the positions of its record and its sketch.
type summary struct {
	pos    uint32 // of the document in the chunk
	record uint32
	code   uint32 // the index of the encoded sketch in Batch.Codes
	bare   bool
	fp     uint64
	rest   []uint64 // other words of the fingerprint, if computed from the text
}

const maxChunkDocs = table.MaxBatch // documents per chunk

// newChunk returns a chunk. finds says whether find will be called.
func newChunk(words int, finds bool) *chunk {
	c := &chunk{marks: map[string]int64{}, result: make(chan result, 1)}
	c.batch.Strings, c.batch.Rest = &table.Arena{}, make([][]uint64, words-1)
	if finds {
		c.seed = maphash.MakeSeed()
		c.width = 6
		c.slots = make([]uint32, 1<<c.width)
	}
	return c
}

// reuse returns an empty chunk that reuses the memory of one that has been written.
func (c *chunk) reuse() *chunk {
	n := newChunk(1+len(c.batch.Rest), false)
	b, to := &c.batch, &n.batch
	b.Strings.Reset()
	for i, word := range b.Rest {
		to.Rest[i] = word[:0]
	}
	to.Fingerprints, to.IDs, to.Strings, to.Times = b.Fingerprints[:0], b.IDs[:0], b.Strings, b.Times[:0]
	to.Expiries = b.Expiries[:0]
	if b.Codes != nil {
		b.Codes.Reset()
		to.Codes, n.sums = b.Codes, c.sums[:0]
	}
	if c.slots != nil {
		clear(c.slots)
		n.slots, n.width, n.seed = c.slots, c.width, c.seed
	}
	return n
}

// len returns the number of documents.
func (c *chunk) len() int { return c.batch.Len() }

// full reports whether the chunk cannot hold another document.
func (c *chunk) full() bool { return c.len() >= maxChunkDocs || c.batch.Strings.Full() }

// Memory in bytes per document, in addition to its ID.
const (
	gatherDoc  = 12  // in arrays of the batch
	gatherSum  = 40  // a summary, and its copies in the batch
	writeDoc   = 44  // while the table is written
	writeCode  = 300 // for a sketch, while the table is written: bitmap and postings
	mostCodes  = 1 << 19
	idOverhead = 1 // per ID
)

// memory returns how many bytes the chunk occupies while it collects documents, and how many more
// when it is written.
func (c *chunk) memory() (gather, write int64) {
	n := int64(c.len())
	gather = n*(gatherDoc+8*int64(len(c.batch.Rest))) + int64(c.bytes) + 4*int64(len(c.slots))
	if c.timed {
		gather += 8 * n
	}
	write = n * writeDoc
	if codes := c.codes.Load(); codes > 0 {
		gather += n*gatherSum + codes
		write += writeCode * min(n, mostCodes)
	}
	return gather + c.sets.Load(), write
}

// hasSlots reports whether the slots suffice for n documents: at most three quarters may be in use.
func (c *chunk) hasSlots(n int) bool { return n <= 3<<c.width/4 }

// An idSlot is the slot of an ID, existing or new.
type idSlot struct {
	at  uint64
	tag uint32 // value of the slot without the position
}

// slotOf returns the slot where the search for an ID with this hash starts.
func (c *chunk) slotOf(hash uint64) idSlot {
	return idSlot{at: hash & (1<<c.width - 1), tag: uint32(hash>>32) >> c.width << c.width}
}

// begin returns the slot where the search for an ID starts, and prefetches it, so that the caller
// can do other work before it calls find.
func (c *chunk) begin(id string) idSlot {
	slot := c.slotOf(maphash.String(c.seed, id))
	kernel.Prefetch(unsafe.Slice((*byte)(unsafe.Pointer(&c.slots[slot.at])), 1))
	return slot
}

// find returns the position of the document with this ID, or -1 if there is none, and its slot;
// slot is the result of begin. find reads only fields that write does not change.
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

// filled reports whether the arrays are at capacity. Add would grow them without regard to the
// memory limit, so the caller must call grow first.
func (c *chunk) filled() bool { return c.len() == cap(c.batch.IDs) }

// add appends d. slot is the slot that find has just returned for its ID. If d has no time, now is
// used. Its text is not added.
func (c *chunk) add(d *view.Doc, slot idSlot, now func() time.Time) {
	b := &c.batch
	var fp uint64
	b.AddRest(d.Rest)
	if d.Fingerprint != nil {
		fp = *d.Fingerprint
	} else {
		c.setBare(uint32(c.len()))
	}
	if !c.timed && !d.Time.IsZero() {
		c.timed = true
		at := now().UnixMicro()
		b.Times = slices.Grow(b.Times[:0], cap(b.IDs))
		for range c.len() {
			b.Times = append(b.Times, at)
		}
	}
	if c.timed {
		at := d.Time
		if at.IsZero() {
			at = now()
		}
		b.Times = append(b.Times, at.UnixMicro())
	}
	if !d.Expires.IsZero() {
		if b.Expiries = slices.Grow(b.Expiries, cap(b.IDs)-len(b.Expiries)); len(b.Expiries) < c.len() {
			n := len(b.Expiries)
			b.Expiries = b.Expiries[:c.len()]
			clear(b.Expiries[n:])
		}
		b.Expiries = append(b.Expiries, table.Expiry(d.Expires))
	}
	b.Fingerprints = append(b.Fingerprints, fp)
	b.IDs = append(b.IDs, b.Strings.AddString(d.ID))
	c.bytes += len(d.ID) + idOverhead
	if c.slots == nil {
		return
	}
	c.slots[slot.at] = slot.tag | uint32(c.len())
	if !c.hasSlots(c.len() + 1) {
		c.growSlots()
	}
}

// grow doubles the capacity, up to slightly more than most documents: the garbage collector counts
// unused capacity like used.
func (c *chunk) grow(most int64) {
	const least, spare = 64, 16 // a sixteenth more, as the next chunk may have shorter IDs
	b, n := &c.batch, int64(c.len())
	capacity := int(n + max(min(n, most+most/spare-n), n/spare, least))
	b.Fingerprints, b.IDs = withCapacity(b.Fingerprints, capacity), withCapacity(b.IDs, capacity)
	for i, word := range b.Rest {
		b.Rest[i] = withCapacity(word, capacity)
	}
	if c.timed {
		b.Times = withCapacity(b.Times, capacity)
	}
}

// withCapacity returns a copy of s with a capacity of n; slices.Grow would add a quarter.
func withCapacity[T any](s []T, n int) []T { return append(make([]T, 0, n), s...) }

// setBare records that a document has no fingerprint.
func (c *chunk) setBare(pos uint32) {
	b := &c.batch
	for int(pos>>6) >= len(b.Bare) {
		b.Bare = append(b.Bare, 0)
	}
	b.Bare[pos>>6] |= 1 << (pos & 63)
}

func (c *chunk) growSlots() {
	c.width++
	c.slots = make([]uint32, 1<<c.width)
	for pos := range c.len() {
		slot := c.slotOf(maphash.Bytes(c.seed, c.id(pos)))
		for c.slots[slot.at] != 0 {
			slot.at = (slot.at + 1) & (1<<c.width - 1)
		}
		c.slots[slot.at] = slot.tag | uint32(pos+1)
	}
}

func (c *chunk) id(pos int) []byte { return c.batch.Strings.Get(c.batch.IDs[pos]) }

// settle completes the batch with the results computed from the texts.
func (c *chunk) settle() {
	b := &c.batch
	if len(c.sums) == 0 {
		b.Codes = nil
		return
	}
	b.Records = make([]uint32, c.len())
	for i := range b.Records {
		b.Records[i] = table.NoRecord
	}
	if b.Codes != nil {
		b.Sketches = make([]uint32, c.len())
		none := b.Codes.Add(nil)
		for i := range b.Sketches {
			b.Sketches[i] = none
		}
	}
	for _, s := range c.sums {
		b.Records[s.pos], b.Fingerprints[s.pos] = s.record, s.fp
		for i, word := range s.rest {
			b.Rest[i][s.pos] = word
		}
		if b.Codes != nil {
			b.Sketches[s.pos] = s.code
		}
		if s.bare {
			c.setBare(s.pos)
		} else if int(s.pos>>6) < len(b.Bare) {
			b.Bare[s.pos>>6] &^= 1 << (s.pos & 63)
		}
	}
}
