package blobs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"
)

// blocksOf returns the blocks of a cache from the oldest to the newest, after checking that they
// agree with its size, its end and the pointers of their records.
func blocksOf(t testing.TB, c *Cache) (blocks []*cachedBlock) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	used, last, hand := int64(0), (*cachedBlock)(nil), c.hand == nil
	for b := c.oldest; b != nil; b = b.newer {
		if b.older != last || b.slot().Load() != b {
			t.Fatalf("block %d of %d is not linked", b.number, len(blocks))
		}
		used, last, blocks, hand = used+b.bytes(), b, append(blocks, b), hand || b == c.hand
	}
	if used != c.used || used > c.size || c.newest != last || !hand {
		t.Fatalf("%d blocks of %d bytes; %d counted of %d; the hand is at one of them: %v", len(blocks), used, c.used, c.size, hand)
	}
	return blocks
}

// numbered returns records of about 50 bytes in blocks of about 1 KB.
func numbered(t testing.TB, n int) (*Records, []record) {
	t.Helper()
	f := newRecordsFile(1000)
	var all []record
	for i := range n {
		all = append(all, record{text: fmt.Appendf(nil, "record %d of %d %x", i, n, i*i*i*7919), fields: fmt.Appendf(nil, `{"n":%d}`, i)})
	}
	f.add(all...)
	return f.open(t), all
}

func TestCache(t *testing.T) {
	c := NewCache(64 << 10)
	a, wantA := numbered(t, 3000)
	b, wantB := numbered(t, 2000)
	a.SetCache(c)
	b.SetCache(c)
	rng := rand.New(rand.NewPCG(21, 22))
	get := func(d *Records, want []record, i int) {
		t.Helper()
		if text, fields, err := d.Get(uint32(i)); err != nil || !want[i].equal(text, fields) {
			t.Fatalf("record %d is %q, %q, %v, not %q", i, text, fields, err, want[i])
		}
	}
	for range 5000 {
		get(a, wantA, rng.IntN(len(wantA)))
		get(b, wantB, min(rng.IntN(len(wantB)), rng.IntN(len(wantB)), rng.IntN(len(wantB))))
	}
	if blocks := blocksOf(t, c); len(blocks) < 30 {
		t.Errorf("%d blocks are cached", len(blocks))
	}
	s := c.Stats()
	if s.Size != 64<<10 || s.Used > s.Size || s.Used < s.Size*9/10 || s.Hits+s.Misses != 10_000 || s.Hits < 2500 || s.Misses < 1000 {
		t.Errorf("%+v", s)
	}
	b.Uncache()
	for _, blk := range blocksOf(t, c) {
		if blk.records != a {
			t.Fatal("a block of closed records is cached")
		}
	}
	checkRecords(t, a, wantA)
	a.Uncache()
	if s := c.Stats(); len(blocksOf(t, c)) != 0 || s.Used != 0 {
		t.Errorf("%d bytes are cached without records", s.Used)
	}
}

// TestCacheKeepsVisited reads some blocks often and many others once.
func TestCacheKeepsVisited(t *testing.T) {
	c := NewCache(32 << 10)
	d, want := numbered(t, 6000)
	d.SetCache(c)
	misses := int64(0)
	for i := range want {
		before := c.Stats().Misses
		for j := range 10 {
			if _, _, err := d.Get(uint32(100 * j)); err != nil {
				t.Fatal(err)
			}
		}
		if i > 0 {
			misses += c.Stats().Misses - before
		}
		if _, _, err := d.Get(uint32(i)); err != nil {
			t.Fatal(err)
		}
	}
	if misses > 20 {
		t.Errorf("%d of the blocks that are read often had to be decoded again", misses)
	}
}

// TestCacheLargeBlock reads a record that is too large for the cache.
func TestCacheLargeBlock(t *testing.T) {
	c := NewCache(16 << 10)
	f := newRecordsFile(100)
	large := record{text: bytes.Repeat([]byte("0123456789abcdef"), 64)}
	f.add(record{text: bytes.Repeat([]byte("x"), 100)}, large, record{text: bytes.Repeat([]byte("y"), 100)})
	d := f.open(t)
	d.SetCache(c)
	for range 3 {
		for i := range uint32(3) {
			if _, _, err := d.Get(i); err != nil {
				t.Fatal(err)
			}
		}
	}
	if blocks, s := blocksOf(t, c), c.Stats(); len(blocks) != 2 || s.Hits != 4 || s.Misses != 5 {
		t.Errorf("%d blocks, %+v", len(blocks), s)
	}
	if NewCache(0) != nil || NewCache(-1) != nil || (*Cache)(nil).Stats() != (CacheStats{}) {
		t.Error("a cache without a size")
	}
	d = f.open(t)
	d.SetCache(nil)
	checkRecords(t, d, []record{{text: bytes.Repeat([]byte("x"), 100)}, large, {text: bytes.Repeat([]byte("y"), 100)}})
	d.Uncache()
}

// TestCacheConcurrent reads, closes and reopens records from many goroutines.
func TestCacheConcurrent(t *testing.T) {
	c := NewCache(48 << 10)
	shared, want := numbered(t, 4000)
	shared.SetCache(c)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(23, uint64(g)))
			for range 5 {
				own := &Records{file: shared.file, n: shared.n, dir: shared.dir, area: shared.area}
				own.SetCache(c)
				type held struct {
					i            int
					text, fields []byte
				}
				var last []held
				cursor := shared.Cursor()
				for range 200 {
					d, i := shared, rng.IntN(len(want))
					if rng.IntN(2) == 0 {
						d = own
					}
					text, fields, err := d.Get(uint32(i))
					if err != nil || !want[i].equal(text, fields) {
						t.Errorf("record %d is %q, %q, %v", i, text, fields, err)
						return
					}
					last = append(last, held{i, text, fields})
					if text, fields, err := cursor.Get(uint32(i)); err != nil || !want[i].equal(text, fields) {
						t.Errorf("record %d of a cursor is %q, %q, %v", i, text, fields, err)
						return
					}
				}
				if used := c.Stats().Used; used > 48<<10 {
					t.Errorf("%d bytes are cached", used)
				}
				own.Uncache()
				for _, h := range last { // evicted blocks stay valid
					if !want[h.i].equal(h.text, h.fields) {
						t.Errorf("record %d has become %q, %q", h.i, h.text, h.fields)
					}
				}
			}
		})
	}
	all.Wait()
	for _, b := range blocksOf(t, c) {
		if b.records != shared {
			t.Fatal("a block of closed records is cached")
		}
	}
}

// TestCursorShares reads with cursors while all blocks are cached: a cursor decodes none of them, and
// does not decode others into their memory.
func TestCursorShares(t *testing.T) {
	d, want := numbered(t, 3000)
	d.SetCache(NewCache(1 << 20))
	half := uint32(len(want) / 2)
	for i := range half {
		if _, _, err := d.Get(i); err != nil {
			t.Fatal(err)
		}
	}
	before := d.cache.Stats()
	for _, c := range []*RecordCursor{d.Cursor(), d.CursorInOrder(false)} {
		for i := range want {
			text, fields, err := c.Get(uint32(i))
			if err != nil || !want[i].equal(text, fields) {
				t.Fatalf("record %d is %q, %q, %v", i, text, fields, err)
			}
			cached := d.inCache(d.BlockOf(uint32(i)))
			blk := c.blocks[d.BlockOf(uint32(i))]
			if cached != nil && unsafe.SliceData(cached.data) != unsafe.SliceData(blk.data) {
				t.Fatalf("the block of record %d is cached, and was decoded again", i)
			}
		}
	}
	if after := d.cache.Stats(); after != before {
		t.Errorf("cursors changed %+v to %+v", before, after)
	}
	keeps := d.CursorInOrder(true)
	for i := range want {
		text, fields, err := keeps.Get(uint32(i))
		if err != nil || !want[i].equal(text, fields) || d.inCache(d.BlockOf(uint32(i))) == nil {
			t.Fatalf("record %d is %q, %q, %v, or not in the cache", i, text, fields, err)
		}
	}
	checkRecords(t, d, want)
}

// TestBlockEnds checks that blocks of small records are smaller, unless the caller chose the size.
func TestBlockEnds(t *testing.T) {
	for _, c := range []struct {
		size, record int
		want         int // records of a block
	}{
		{0, 10, MaxBlockRecords}, {0, 62, 128 + 1}, {0, 98, 128}, {0, 198, 123}, {0, 1398, 18}, {0, 30_000, 1},
		{24 << 10, 62, 384}, {4096, 62, 64}, {1, 62, 1},
	} {
		w := NewRecordsWriter(LevelFastest, c.size)
		n := 0
		for ; w.NumBlocks() == 0; n++ {
			w.Add(make([]byte, c.record), nil)
		}
		got, bytes := 0, 0
		for got == 0 || !BlockEnds(c.size, bytes, got) {
			got, bytes = got+1, bytes+c.record+2
		}
		if n != got {
			t.Errorf("blocks of %d, records of %d bytes: the writer ends a block after %d, not %d", c.size, c.record, n, got)
		}
		if n < c.want-3 || n > c.want+3 {
			t.Errorf("blocks of %d, records of %d bytes: a block has %d, not about %d", c.size, c.record, n, c.want)
		}
	}
}

// TestCacheInsertedTwice inserts a block that two goroutines have decoded at the same time.
func TestCacheInsertedTwice(t *testing.T) {
	d, _ := numbered(t, 100)
	d.SetCache(NewCache(64 << 10))
	var two [2]cachedBlock
	for i := range two {
		if err := d.Decode(1, &two[i].Block); err != nil {
			t.Fatal(err)
		}
		if err := two[i].findStarts(); err != nil {
			t.Fatal(err)
		}
		d.cache.insert(&two[i])
	}
	if blocks := blocksOf(t, d.cache); len(blocks) != 1 || blocks[0] != &two[0] {
		t.Errorf("%d blocks", len(blocks))
	}
}
