package blobs

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Cache holds decoded blocks of records of any number of tables, up to a size in bytes. Any
// number of goroutines may use it. A nil Cache holds nothing.
//
// Records have a pointer for each of their blocks, so a hit needs neither a lock nor a hash, and
// writes nothing if the block has been visited before. A miss decodes the block, and inserts it
// under the lock. SIEVE (Zhang et al., NSDI 2024) decides which blocks leave: a hand moves from the
// oldest block to the newest, and again from the oldest. It evicts the first block that has not
// been visited since the hand passed it. Therefore blocks that are read once do not displace those
// that are read often. An evicted block stays valid for those who are reading it: the garbage
// collector frees it.
type Cache struct {
	size   int64
	misses atomic.Int64
	hits   [hitCounters]hitCounter

	mu             sync.Mutex
	used           int64 // total size of the blocks, at most size
	oldest, newest *cachedBlock
	hand           *cachedBlock // the next block to look at; nil means the oldest
}

const (
	// cacheShare: a block larger than 1/cacheShare of the cache is not cached, because it would
	// displace many others.
	cacheShare = 16
	// blockOverhead is about how many bytes of memory a cached block needs in addition to its
	// records and their starts.
	blockOverhead = 192

	hitCounters = 32
)

// hitCounter has a cache line, or two that are fetched together, for itself.
type hitCounter struct {
	atomic.Int64
	_ [120]byte
}

// NewCache returns a cache of size bytes, nil if size is not positive.
func NewCache(size int64) *Cache {
	if size <= 0 {
		return nil
	}
	return &Cache{size: size}
}

// CacheStats describes a cache.
type CacheStats struct {
	Size, Used   int64 // bytes: limit, and blocks that the cache holds
	Hits, Misses int64 // blocks found, and decoded because they were not found
}

// Stats returns the current state of the cache.
func (c *Cache) Stats() (s CacheStats) {
	if c == nil {
		return s
	}
	for i := range c.hits {
		s.Hits += c.hits[i].Load()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Size, s.Used, s.Misses = c.size, c.used, c.misses.Load()
	return s
}

// hit counts a hit. It chooses the counter by the address of the goroutine's stack, so that
// goroutines rarely share one.
func (c *Cache) hit() {
	var on byte
	at := uint64(uintptr(unsafe.Pointer(&on))>>10) * 0x9e3779b97f4a7c15
	c.hits[at>>32%hitCounters].Add(1)
}

// cachedBlock is a decoded block with the starts of its records.
type cachedBlock struct {
	Block
	starts       []uint32 // empty if the block has no bytes
	visited      atomic.Bool
	older, newer *cachedBlock // neighbours in the cache, guarded by its lock
}

func (b *cachedBlock) bytes() int64 {
	return int64(cap(b.data)) + 4*int64(cap(b.starts)) + blockOverhead
}

// slot returns the pointer to the block in its records.
func (b *cachedBlock) slot() *atomic.Pointer[cachedBlock] { return &b.records.cached[b.number] }

// insert adds a decoded block, unless it is too large or another goroutine has added it.
func (c *Cache) insert(b *cachedBlock) {
	if c == nil {
		return
	}
	c.misses.Add(1)
	size := b.bytes()
	if size > c.size/cacheShare {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !b.slot().CompareAndSwap(nil, b) {
		return
	}
	for c.used+size > c.size {
		c.evict()
	}
	c.used += size
	if b.older = c.newest; b.older != nil {
		b.older.newer = b
	} else {
		c.oldest = b
	}
	c.newest = b
}

// evict removes a block. The cache must not be empty, and c.mu is held.
func (c *Cache) evict() {
	b := c.hand
	for {
		if b == nil {
			b = c.oldest
		}
		if !b.visited.Load() {
			break
		}
		b.visited.Store(false)
		b = b.newer
	}
	c.hand = b
	c.remove(b)
}

// remove removes a block; c.mu is held.
func (c *Cache) remove(b *cachedBlock) {
	b.slot().Store(nil)
	c.used -= b.bytes()
	if c.hand == b {
		c.hand = b.newer
	}
	if b.newer != nil {
		b.newer.older = b.older
	} else {
		c.newest = b.older
	}
	if b.older != nil {
		b.older.newer = b.newer
	} else {
		c.oldest = b.newer
	}
	b.older, b.newer = nil, nil
}

// SetCache sets the cache for the blocks that Get reads. It must be called before the first Get.
// Uncache must be called in the end. c may be nil.
func (d *Records) SetCache(c *Cache) {
	if c != nil {
		d.cache, d.cached = c, make([]atomic.Pointer[cachedBlock], d.NumBlocks())
	}
}

// Uncache removes all blocks of the records from the cache. It must be the last call.
func (d *Records) Uncache() {
	c := d.cache
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range d.cached {
		if b := d.cached[i].Load(); b != nil {
			c.remove(b)
		}
	}
}

// inCache returns block b if the cache holds it, otherwise nil.
func (d *Records) inCache(b int) *cachedBlock {
	if b >= len(d.cached) {
		return nil
	}
	return d.cached[b].Load()
}

// block returns the decoded block of a record, from the cache if possible.
func (d *Records) block(record uint32) (*cachedBlock, error) {
	b := d.BlockOf(record)
	blk := d.inCache(b)
	switch {
	case blk == nil:
		blk = new(cachedBlock)
		if err := d.Decode(b, &blk.Block); err != nil {
			return nil, err
		}
		if err := blk.findStarts(); err != nil {
			return nil, err
		}
		d.cache.insert(blk)
	default:
		if !blk.visited.Load() {
			blk.visited.Store(true)
		}
		d.cache.hit()
	}
	if record-blk.first >= blk.count { // also true if record is less
		return nil, d.misplaced(record, &blk.Block)
	}
	return blk, nil
}

// findStarts sets starts, and verifies the lengths of all records.
func (b *cachedBlock) findStarts() (err error) {
	if b.raw == 0 {
		return nil
	}
	b.starts = make([]uint32, b.count)
	rest := b.data
	for i := range b.starts {
		b.starts[i] = uint32(len(b.data) - len(rest))
		if _, _, rest, err = nextRecord(rest); err != nil {
			return b.corrupt(err)
		}
	}
	return nil
}

// Get returns text and fields of a record, which must exist. They are parts of a decoded block and
// must not be changed.
func (d *Records) Get(record uint32) (text, fields []byte, err error) {
	if len(d.dir.Data) == 0 {
		return nil, nil, nil
	}
	blk, err := d.block(record)
	if err != nil || blk.raw == 0 {
		return nil, nil, err
	}
	if text, fields, _, err = nextRecord(blk.data[blk.starts[record-blk.first]:]); len(fields) == 0 {
		fields = nil
	}
	return text, fields, err
}
