package blobs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

type record struct{ text, fields []byte }

func (r record) equal(text, fields []byte) bool {
	return bytes.Equal(r.text, text) && bytes.Equal(r.fields, fields)
}

// testRecords returns n records: compressible texts, incompressible ones, and empty ones.
func testRecords(rng *rand.Rand, n int) (records []record) {
	for i := range n {
		var r record
		switch rng.IntN(6) {
		case 0: // empty
		case 1:
			r.text = make([]byte, rng.IntN(200))
			for j := range r.text {
				r.text[j] = byte(rng.Uint32())
			}
		case 2:
			r.fields = fmt.Appendf(nil, `{"n":%d}`, i)
		default:
			r.text = bytes.Repeat(fmt.Appendf(nil, "record %d ", i), rng.IntN(20))
			r.fields = fmt.Appendf(nil, `{"n":%d}`, i)
		}
		records = append(records, r)
	}
	return records
}

// A recordsFile is a file of records in memory. After each Add, finished blocks are flushed behind
// a gap, as if other blocks were in between.
type recordsFile struct {
	*RecordsWriter
	area []byte
}

func newRecordsFile(size int) *recordsFile {
	return &recordsFile{RecordsWriter: NewRecordsWriter(LevelFastest, size)}
}

// flush writes the finished blocks.
func (f *recordsFile) flush() {
	f.area = append(f.area, "gap"...)
	f.area = append(f.area, f.Flush(int64(len(f.area)))...)
}

func (f *recordsFile) add(records ...record) {
	for _, r := range records {
		if f.Add(r.text, r.fields) {
			f.flush()
		}
	}
}

func (f *recordsFile) open(t testing.TB) *Records {
	t.Helper()
	f.EndBlock()
	f.flush()
	d, err := OpenRecords("test", f.Len(), Bytes{Data: f.Directory(), Offset: 1 << 20}, Bytes{Data: f.area, Offset: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// checkRecords compares the results of all ways to read records with the expected ones.
func checkRecords(t *testing.T, d *Records, want []record) {
	t.Helper()
	if int(d.Len()) != len(want) {
		t.Fatalf("%d records, not %d", d.Len(), len(want))
	}
	for _, i := range rand.Perm(len(want)) {
		if text, fields, err := d.Get(uint32(i)); err != nil || !want[i].equal(text, fields) {
			t.Fatalf("record %d of %d is %q, %q, %v, not %q", i, len(want), text, fields, err, want[i])
		}
	}
	c := d.Cursor()
	for i := range want {
		if text, fields, err := c.Get(uint32(i)); err != nil || !want[i].equal(text, fields) {
			t.Fatalf("next record, %d of %d, is %q, %q, %v, not %q", i, len(want), text, fields, err, want[i])
		}
	}
	for _, i := range rand.Perm(len(want)) {
		if text, fields, err := c.Get(uint32(i)); err != nil || !want[i].equal(text, fields) {
			t.Fatalf("record %d of %d, in no order, is %q, %q, %v, not %q", i, len(want), text, fields, err, want[i])
		}
	}
	var blk Block
	next := uint32(0)
	for b := range d.NumBlocks() {
		first, count, err := d.BlockRecords(b)
		if err != nil || first != next || d.BlockOf(first) != b || d.BlockOf(first+count-1) != b {
			t.Fatalf("block %d has %d records from %d, not from %d: %v", b, count, first, next, err)
		}
		if err := d.Decode(b, &blk); err != nil || blk.First() != first || blk.Count() != count {
			t.Fatalf("decoded block %d has %d records from %d, not %d from %d: %v", b, blk.Count(), blk.First(), count, first, err)
		}
		if err := d.Check(&blk, first); err != nil {
			t.Fatal(err)
		}
		for range count {
			if text, fields, err := blk.Next(); err != nil || !want[next].equal(text, fields) {
				t.Fatalf("record %d of block %d is %q, %q, %v, not %q", next, b, text, fields, err, want[next])
			}
			next++
		}
	}
	if d.NumBlocks() > 0 && int(next) != len(want) {
		t.Fatalf("blocks with %d of %d records", next, len(want))
	}
}

func TestRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, 2, 100, 3000} {
		for _, size := range []int{1, 300, 32 << 10} {
			records := testRecords(rng, n)
			f := newRecordsFile(size)
			f.add(records...)
			checkRecords(t, f.open(t), records)
		}
	}
}

// TestRecordsVerbatim tests a block whose zstd frame would be longer.
func TestRecordsVerbatim(t *testing.T) {
	f := newRecordsFile(100)
	f.add(record{text: []byte("x")})
	d := f.open(t)
	if e := d.entry(0); e.stored != e.raw || e.raw != 3 {
		t.Errorf("stored %d, raw %d", e.stored, e.raw)
	}
	checkRecords(t, d, []record{{text: []byte("x")}})
	g := newRecordsFile(100)
	if first, err := g.AddBlock(d, 0); first != 0 || err != nil {
		t.Fatal(first, err)
	}
	checkRecords(t, g.open(t), []record{{text: []byte("x")}})
}

// TestRecordsEmpty checks that empty records need no space, however they were added, until one has
// bytes.
func TestRecordsEmpty(t *testing.T) {
	empty := make([]record, 1300)
	f := newRecordsFile(1 << 20)
	f.add(empty...)
	none := f.open(t)
	if none.NumBlocks() != 0 || f.NumBlocks() != 0 || len(f.Directory()) != 0 {
		t.Errorf("%d blocks", none.NumBlocks())
	}
	checkRecords(t, none, empty)
	if _, err := OpenRecords("test", 0, Bytes{Data: make([]byte, RecordsEntry)}, Bytes{}); err == nil || !typed(err) {
		t.Errorf("a block of no records: %v", err)
	}

	some := record{text: []byte("some")}
	f = newRecordsFile(1 << 20)
	f.add(empty...)
	f.add(some)
	f.add(empty...)
	mixed := f.open(t)
	checkRecords(t, mixed, slices.Concat(empty, []record{some}, empty))

	f = newRecordsFile(1 << 20)
	for b := range mixed.NumBlocks() {
		if blk := new(Block); mixed.Decode(b, blk) == nil && blk.raw == 0 {
			if _, err := f.AddBlock(mixed, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(f.Directory()) + f.NumBlocks(); f.Len() == 0 || n > 0 {
		t.Errorf("%d records without bytes, copied: %d blocks", f.Len(), f.NumBlocks())
	}
	n := int(f.Len())
	f.add(some)
	checkRecords(t, f.open(t), append(make([]record, n), some))
}

// TestAddBlock merges records as tables are merged: blocks with enough living records are copied,
// and from the others the living records are added, between records of other sizes.
func TestAddBlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for round := range 40 {
		var want []record
		out := newRecordsFile(1 << rng.IntN(16))
		for range 1 + rng.IntN(4) {
			records := testRecords(rng, rng.IntN(800))
			in := newRecordsFile(1 << rng.IntN(16))
			in.add(records...)
			d := in.open(t)
			living := rng.IntN(5) // out of 4; none if 0
			var blk Block
			for b := range d.NumBlocks() {
				first, count, err := d.BlockRecords(b)
				if err != nil {
					t.Fatal(err)
				}
				switch block := records[first : first+count]; rng.IntN(3) {
				case 0:
					got, err := out.AddBlock(d, b)
					if err != nil || int(got) != len(want) {
						t.Fatalf("round %d: block at record %d, not %d: %v", round, got, len(want), err)
					}
					if rng.IntN(2) == 0 {
						out.flush()
					}
					want = append(want, block...)
				case 1:
					if err := d.Decode(b, &blk); err != nil {
						t.Fatal(err)
					}
					for range count {
						text, fields, err := blk.Next()
						if err != nil {
							t.Fatal(err)
						}
						if rng.IntN(4) < living {
							want = append(want, record{bytes.Clone(text), bytes.Clone(fields)})
							out.add(record{text, fields})
						}
					}
				}
				more := testRecords(rng, rng.IntN(3))
				out.add(more...)
				want = append(want, more...)
				if int(out.Len()) != len(want) {
					t.Fatalf("round %d: %d records, not %d", round, out.Len(), len(want))
				}
			}
		}
		checkRecords(t, out.open(t), want)
	}
}

// TestAddBlockVerifies checks that a damaged block is not copied, and that nothing else is lost.
func TestAddBlockVerifies(t *testing.T) {
	records := testRecords(rand.New(rand.NewPCG(11, 12)), 100)
	f := newRecordsFile(500)
	f.add(records...)
	d := f.open(t)
	e := d.entry(1)
	f.area[e.offset] ^= 1
	g := newRecordsFile(1 << 20)
	g.add(records[0])
	if _, err := g.AddBlock(d, 1); err == nil || !typed(err) {
		t.Errorf("damaged block: %v", err)
	}
	g.add(records[1])
	checkRecords(t, g.open(t), records[:2])
}

// tryRecords reads all records of a file that may be damaged. If strict, it must not return a wrong
// one.
func tryRecords(t *testing.T, want []record, dir, area []byte, strict bool, what string) {
	t.Helper()
	d, err := OpenRecords("test", uint32(len(want)), Bytes{Data: dir}, Bytes{Data: area})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	bad := 0
	try := func(i int, text, fields []byte, err error) {
		if !typed(err) || strict && err == nil && !want[i].equal(text, fields) {
			t.Fatalf("%s: record %d is %q, %q, %v, not %q", what, i, text, fields, err, want[i])
		}
		if err != nil {
			bad++
		}
	}
	for i := range want {
		text, fields, err := d.Get(uint32(i))
		try(i, text, fields, err)
	}
	c := d.Cursor()
	for i := range want {
		text, fields, err := c.Get(uint32(i))
		try(i, text, fields, err)
	}
	var blk Block
	out := newRecordsFile(1 << 20)
	for b := range d.NumBlocks() {
		first, count, err := d.BlockRecords(b)
		if err != nil {
			bad++
		} else if int(first)+int(count) > len(want) || count > MaxBlockRecords {
			t.Fatalf("%s: block %d has %d records from %d", what, b, count, first)
		}
		if _, err := out.AddBlock(d, b); !typed(err) {
			t.Fatalf("%s: block %d: %v", what, b, err)
		}
		if err = d.Decode(b, &blk); err == nil {
			err = d.Check(&blk, first)
		}
		if !typed(err) {
			t.Fatalf("%s: block %d: %v", what, b, err)
		}
		if err != nil {
			bad++
			continue
		}
		for range blk.Count() {
			if _, _, err := blk.Next(); err != nil {
				t.Fatalf("%s: block %d, which is good: %v", what, b, err)
			}
		}
	}
	if strict && bad == 0 {
		t.Fatalf("%s: no damage found", what)
	}
}

func TestRecordsFlipped(t *testing.T) {
	records := testRecords(rand.New(rand.NewPCG(13, 14)), 60)
	f := newRecordsFile(200)
	f.add(records...)
	d := f.open(t)
	inBlock := make([]bool, len(f.area))
	for b := range d.NumBlocks() {
		e := d.entry(b)
		for i := range inBlock[e.offset:][:e.stored] {
			inBlock[int(e.offset)+i] = true
		}
	}
	dir := f.Directory()
	for _, part := range [][]byte{dir, f.area} {
		for i := range part {
			if len(part) == len(f.area) && !inBlock[i] {
				continue
			}
			part[i] ^= 1 << (i % 8)
			tryRecords(t, records, dir, f.area, true, fmt.Sprintf("byte %d of %d flipped", i, len(part)))
			part[i] ^= 1 << (i % 8)
		}
	}
}

// TestRecordsForged changes fields and bytes of blocks and makes the checksums right.
func TestRecordsForged(t *testing.T) {
	exhaustive.Sequential(t)
	values := []uint64{^uint64(0), 0, 1, 1<<63 - 1, 1 << 31, 0x8080808080808080, 0xffff << 48}
	records := testRecords(rand.New(rand.NewPCG(15, 16)), 60)
	f := newRecordsFile(200)
	f.add(records...)
	f.open(t)
	for _, value := range values {
		word := binary.LittleEndian.AppendUint64(nil, value)
		for at := range len(f.Directory()) {
			dir := slices.Clone(f.Directory())
			copy(dir[at:], word)
			keytest.ResealBlocks(dir, RecordsEntry, f.area)
			tryRecords(t, records, dir, f.area, false, fmt.Sprintf("%#x at %d of the directory", value, at))
		}
		for at := 0; at < len(f.area); at += 3 {
			dir, area := slices.Clone(f.Directory()), slices.Clone(f.area)
			copy(area[at:], word)
			keytest.ResealBlocks(dir, RecordsEntry, area)
			tryRecords(t, records, dir, area, false, fmt.Sprintf("%#x at %d", value, at))
		}
	}
}

// TestRecordCursorKeeps reads several series of blocks in turn, one record of each at a time, and
// then more bytes of blocks than the cursor can cache.
func TestRecordCursorKeeps(t *testing.T) {
	const series, each = 40, 60
	f := newRecordsFile(1000)
	var want []record
	for i := range series * each {
		want = append(want, record{text: fmt.Appendf(nil, "record %d of %d", i, series*each)})
	}
	f.add(want...)
	c := f.open(t).Cursor()
	for at := range each {
		for s := range series {
			i := s*each + at
			if text, fields, err := c.Get(uint32(i)); err != nil || !want[i].equal(text, fields) {
				t.Fatalf("record %d is %q, %q, %v", i, text, fields, err)
			}
		}
	}
	if blocks := c.records.NumBlocks(); len(c.queue) != blocks || len(c.blocks) != blocks {
		t.Errorf("%d blocks were decoded, and %d are kept, of %d", len(c.queue), len(c.blocks), blocks)
	}

	large := newRecordsFile(MaxBlockSize)
	text := bytes.Repeat([]byte("abcdefgh"), 1<<18)
	for i := range 70 {
		large.add(record{text: append(text, byte(i))})
	}
	c = large.open(t).Cursor()
	for i := range uint32(70) {
		if got, _, err := c.Get(i * 33 % 70); err != nil || len(got) != len(text)+1 || got[len(text)] != byte(i*33%70) {
			t.Fatalf("record %d has %d bytes, %v", i*33%70, len(got), err)
		}
		size := 0
		for _, blk := range c.queue {
			size += len(blk.data)
		}
		if size != c.size || size > cursorBytes+maxRawBlock || len(c.queue) != len(c.blocks) {
			t.Fatalf("%d blocks with %d bytes are kept; %d counted in %d blocks", len(c.queue), size, c.size, len(c.blocks))
		}
	}
}
