package blobs

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
)

type testRecord struct{ text, fields []byte }

// buildRecords writes records as a writer of tables does: a block goes to the area when it is full,
// sometimes after bytes of somebody else.
func buildRecords(r *rand.Rand, level, size int, recs []testRecord) (dir, area Bytes) {
	w := NewRecordsWriter(level, size)
	area.Offset, dir.Offset = areaAt, dirAt
	flush := func() {
		area.Data = append(area.Data, make([]byte, r.IntN(100))...)
		area.Data = append(area.Data, w.Flush(int64(len(area.Data)))...)
	}
	for _, rec := range recs {
		if w.Add(rec.text, rec.fields) {
			flush()
		}
	}
	flush()
	flush() // of nothing
	dir.Data = w.Directory()
	if w.NumBlocks() != len(dir.Data)/RecordsEntry {
		panic("NumBlocks")
	}
	return dir, area
}

// randomRecords returns records of words, of random bytes, and empty ones.
func randomRecords(r *rand.Rand, n, most int) []testRecord {
	recs := make([]testRecord, n)
	for i := range recs {
		switch r.IntN(4) {
		case 0: // neither text nor fields
		case 1:
			recs[i].text = randomStrings(r, 1, 0, most)[0]
		default:
			recs[i].text = bytes.Repeat(fmt.Appendf(nil, "word%d ", r.IntN(9)), r.IntN(most/6+1))
			recs[i].fields = fmt.Appendf(nil, `{"n":%d}`, r.IntN(100))
		}
	}
	return recs
}

func openRecords(t *testing.T, n int, dir, area Bytes) *Records {
	t.Helper()
	d, err := OpenRecords("a.sst", uint32(n), dir, area)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRecords writes records at all levels and reads them by number and in order.
func TestRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for level := range 3 {
		if !ValidLevel(level) {
			t.Fatalf("level %d is not valid", level)
		}
		for _, c := range []struct{ n, most, size int }{
			{0, 1, 100}, {1, 0, 100}, {1, 100, 1}, {700, 0, 1 << 20}, {2000, 60, 4096}, {300, 3000, DefaultBlockSize},
		} {
			t.Run(fmt.Sprintf("level %d, %d of %d bytes by %d", level, c.n, c.most, c.size), func(t *testing.T) {
				recs := randomRecords(r, c.n, c.most)
				dir, area := buildRecords(r, level, c.size, recs)
				d := openRecords(t, c.n, dir, area)
				for _, i := range r.Perm(c.n) {
					sameRecord(t, i, recs[i])(d.Get(uint32(i)))
				}
				it := d.Iter()
				for i, rec := range recs {
					sameRecord(t, i, rec)(it.Next())
				}
				if c.n > 0 {
					if _, _, err := it.Next(); err == nil {
						t.Error("there is a record after the last one")
					}
				}
				checkBlocks(t, d, c.n)
			})
		}
	}
	if ValidLevel(-1) || ValidLevel(3) {
		t.Error("levels -1 and 3 are valid")
	}
}

// sameRecord compares what Get or Next returns with record i.
func sameRecord(t *testing.T, i int, want testRecord) func(text, fields []byte, err error) {
	return func(text, fields []byte, err error) {
		t.Helper()
		if err != nil || !bytes.Equal(text, want.text) || !bytes.Equal(fields, want.fields) {
			t.Fatalf("record %d is %q, %q (%v), want %q, %q", i, text, fields, err, want.text, want.fields)
		}
	}
}

// checkBlocks checks all blocks, which hold n documents.
func checkBlocks(t *testing.T, d *Records, n int) {
	t.Helper()
	var blk Block
	doc, size := uint32(0), int64(0)
	for b := range d.NumBlocks() {
		if err := d.Decode(b, &blk); err != nil {
			t.Fatal(err)
		}
		if err := d.Check(&blk, doc); err != nil {
			t.Fatal(err)
		}
		if err := d.Check(&blk, doc+1); err == nil {
			t.Fatalf("block %d may begin with document %d and with the next one", b, doc)
		}
		_, length := blk.Extent()
		doc, size = doc+blk.Count(), size+int64(length)
	}
	if stored, raw := d.Sizes(); doc != uint32(n) || stored != size || raw < stored {
		t.Errorf("blocks of %d documents, %d bytes, want %d documents, %d bytes, %d before compression", doc, size, n, stored, raw)
	}
}

// TestRecordsDirectory opens directories of a wrong size.
func TestRecordsDirectory(t *testing.T) {
	for _, c := range []struct {
		bytes int
		n     uint32
		right bool
	}{
		{0, 0, true}, {RecordsEntry, 1, true}, {3 * RecordsEntry, 1, true}, // what blocks hold is checked when they are read
		{0, 1, false}, {RecordsEntry, 0, false}, {RecordsEntry - 1, 1, false}, {RecordsEntry + 1, 1, false},
	} {
		_, err := OpenRecords("a.sst", c.n, Bytes{Data: make([]byte, c.bytes), Offset: dirAt}, Bytes{})
		if _, ok := errors.AsType[*base.CorruptionError](err); ok == c.right || ok != (err != nil) {
			t.Errorf("%d bytes for %d documents: %v", c.bytes, c.n, err)
		}
	}
}

// TestRecordsDamage changes each byte in turn. What is read afterwards is right, or an error.
func TestRecordsDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	recs := randomRecords(r, 60, 80)
	dir, area := buildRecords(r, LevelDefault, 500, recs)
	for _, part := range []*Bytes{&dir, &area} {
		found := 0
		for at := range part.Data {
			old := part.Data[at]
			part.Data[at] ^= byte(1 + r.IntN(255))
			failed := readDamaged(t, recs, dir, area)
			part.Data[at] = old
			if failed {
				found++
			} else if part == &dir {
				t.Fatalf("byte %d of the directory changed, and all records are right", at)
			}
		}
		if found < len(part.Data)/2 { // of the area there are bytes between the blocks
			t.Errorf("of %d changed bytes %d were found", len(part.Data), found)
		}
	}
}

// readDamaged reads all records by number and in order, and reports whether there was an error.
func readDamaged(t *testing.T, recs []testRecord, dir, area Bytes) (failed bool) {
	t.Helper()
	d := openRecords(t, len(recs), dir, area)
	check := func(i int, text, fields []byte, err error) {
		if _, ok := errors.AsType[*base.CorruptionError](err); err != nil && !ok {
			t.Fatal(err)
		}
		if err != nil {
			failed = true
		} else if !bytes.Equal(text, recs[i].text) || !bytes.Equal(fields, recs[i].fields) {
			t.Fatalf("record %d is %q, %q, want %q, %q", i, text, fields, recs[i].text, recs[i].fields)
		}
	}
	for i := range recs {
		text, fields, err := d.Get(uint32(i))
		check(i, text, fields, err)
	}
	byNumber := failed
	it := d.Iter()
	for i := range recs {
		text, fields, err := it.Next()
		if check(i, text, fields, err); err != nil {
			return true
		}
	}
	if byNumber {
		t.Fatal("records that cannot be read by number can be read in order")
	}
	return failed
}

// TestRecordsForged has blocks with right checksums whose records do not fit.
func TestRecordsForged(t *testing.T) {
	for name, c := range map[string]struct {
		raw, message string
		count        uint32
		get          bool // is an error too
	}{
		"no length of the text":   {"", "length of a text", 1, false}, // an empty block has empty records
		"no length of fields":     {"\x01", "length of fields", 1, true},
		"text too long":           {"\x02\x00a", "record of 2+0 bytes in 1", 1, true},
		"fields too long":         {"\x01\x02ab", "record of 1+2 bytes in 2", 1, true},
		"lengths that overflow":   {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02ab", "record of 18446744073709551615+2", 1, true},
		"a record too few":        {"\x01\x00a", "length of a text", 2, true},
		"bytes behind the record": {"\x01\x00ab", "1 bytes after the last record", 1, false},
	} {
		area := Bytes{Data: []byte(c.raw), Offset: areaAt}
		e := extent{stored: uint32(len(c.raw)), raw: uint32(len(c.raw)), count: c.count}
		d := openRecords(t, int(c.count), Bytes{Data: e.append(nil, area.Data), Offset: dirAt}, area)
		var blk Block
		err := d.Decode(0, &blk)
		if err != nil {
			t.Fatal(name, err)
		}
		if err = d.Check(&blk, 0); c.raw != "" && (err == nil || !strings.Contains(err.Error(), c.message)) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err = d.Get(c.count - 1); c.get != (err != nil) {
			t.Errorf("%s: Get returns %v", name, err)
		}
	}
	r := rand.New(rand.NewPCG(2, 3))
	recs := randomRecords(r, 20, 90)
	dir, area := buildRecords(r, LevelDefault, 100, recs)
	copy(dir.Data[RecordsEntry:], dir.Data[:RecordsEntry]) // two entries of block 0
	if !readDamaged(t, recs, dir, area) {
		t.Error("a block of which there are two entries is right")
	}
}

// TestCompress compresses and decompresses blocks, and refuses sizes that cannot be right.
func TestCompress(t *testing.T) {
	random := randomStrings(rand.New(rand.NewPCG(2, 4)), 1, 5000, 5000)[0]
	for name, raw := range map[string][]byte{
		"empty": {}, "one byte": {7}, "random": random, "zeros": make([]byte, 1<<20), "text": bytes.Repeat([]byte("word "), 1000),
	} {
		stored := compress(encoders[LevelDefault](), []byte("before"), raw)
		stored = bytes.TrimPrefix(stored, []byte("before"))
		if len(stored) > len(raw) {
			t.Errorf("%s: %d bytes are stored in %d", name, len(raw), len(stored))
		}
		if err := checkRawSize(int64(len(stored)), int64(len(raw))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, err := decompress(make([]byte, 3), stored, len(raw))
		if err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%s: %d bytes come back (%v), want %d", name, len(got), err, len(raw))
		}
		for _, size := range []int{len(raw) - 1, len(raw) + 1} {
			if size <= 0 || size == len(stored) {
				continue
			}
			if _, err := decompress(nil, stored, size); err == nil {
				t.Errorf("%s: decompressed to %d bytes, and it has %d", name, size, len(raw))
			}
		}
	}
	for _, c := range []struct {
		stored, size int64
		right        bool
	}{
		{0, 0, true}, {1, 1, true}, {1, maxZstdRatio, true}, {2, 2 * maxZstdRatio, true}, {maxRawBlock, maxRawBlock, true},
		{0, 1, false}, {2, 1, false}, {1, maxZstdRatio + 1, false}, {maxRawBlock, maxRawBlock + 1, false},
	} {
		if err := checkRawSize(c.stored, c.size); (err == nil) != c.right {
			t.Errorf("%d bytes in %d: %v", c.size, c.stored, err)
		}
	}
}
