package keyrun

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

// keySizes are sizes around the borders of blocks.
var keySizes = []int{1, 2, 3, 7, 8, 9, 63, 64, 65, 511, 512, 513, 1023, 1024, 1025, 5000}

// eachKeys calls f for sorted keys of every shape and size, and for none.
func eachKeys(t *testing.T, f func(t *testing.T, r *rand.Rand, keys []uint64)) {
	t.Run("none", func(t *testing.T) { f(t, keytest.Rand("none", 0), nil) })
	for _, shape := range keytest.Shapes {
		for _, n := range keySizes {
			t.Run(fmt.Sprintf("%s/%d", shape.Name, n), func(t *testing.T) {
				r := keytest.Rand(shape.Name, n)
				keys := shape.Make(r, n)
				slices.Sort(keys)
				f(t, r, keys)
			})
		}
	}
}

// Offsets of the sections of tests in an imagined file.
const (
	testOffset    = 4096
	testDirOffset = 1 << 20
)

// testSection returns copies of a body and a directory as a section of a file. The bytes after the
// body are not zero.
func testSection(body, dir []byte) Section {
	padded := append(slices.Clone(body), bytes.Repeat([]byte{0xa5}, kernel.Slack)...)
	return Section{
		File: "test.sst", Name: "run 0", Body: padded[:len(body)], Offset: testOffset, Dir: slices.Clone(dir), DirOffset: testDirOffset,
	}
}

func mustOpenRun(t testing.TB, keys []uint64) *Run {
	t.Helper()
	r, err := Open(testSection(Encode(keys)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestKeyRunRoundTrip(t *testing.T) {
	eachKeys(t, func(t *testing.T, rnd *rand.Rand, keys []uint64) {
		r := mustOpenRun(t, keys)
		if r.Len() != len(keys) || r.HasValues() {
			t.Fatalf("%d keys, want %d, with values: %v", r.Len(), len(keys), r.HasValues())
		}
		for range min(len(keys), 200) {
			i := rnd.IntN(len(keys))
			if got, err := r.Key(i); err != nil || got != keys[i] {
				t.Fatalf("Key(%d) = %016x, %v, want %016x", i, got, err, keys[i])
			}
			if v, err := r.Value(i); v != 0 || err != nil {
				t.Fatalf("Value(%d) = %d, %v", i, v, err)
			}
		}
		from := 0
		if len(keys) > 0 {
			from = rnd.IntN(len(keys))
		}
		for _, from := range []int{0, from, len(keys)} {
			it := r.Iter(from)
			for i := from; i < len(keys); i++ {
				if !it.Next() || it.Key() != keys[i] || it.Pos() != i {
					t.Fatalf("position %d from %d: %016x, want %016x (%v)", i, from, it.Key(), keys[i], it.Err())
				}
			}
			if it.Next() || it.Err() != nil {
				t.Fatalf("more keys than written, or %v", it.Err())
			}
		}
		if err := r.Verify(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestKeyRunStreamsTheSameBytes writes keys one by one, and in pieces.
func TestKeyRunStreamsTheSameBytes(t *testing.T) {
	eachKeys(t, func(t *testing.T, rnd *rand.Rand, keys []uint64) {
		body, dir := Encode(keys)
		for _, add := range []func(w *Writer) error{
			func(w *Writer) (err error) {
				for _, k := range keys {
					err = cmp.Or(err, w.Add(k))
				}
				return err
			},
			func(w *Writer) (err error) {
				for rest := keys; len(rest) > 0; {
					n := min(1+rnd.IntN(1500), len(rest))
					err = cmp.Or(err, w.AddKeys(rest[:n]))
					rest = rest[n:]
				}
				return err
			},
		} {
			var out bytes.Buffer
			w := NewPartsWriter(&out)
			err := add(w)
			got, e := w.Finish()
			if err = cmp.Or(err, e); err != nil || w.Len() != len(keys) {
				t.Fatalf("%v; %d keys, want %d", err, w.Len(), len(keys))
			}
			if !bytes.Equal(out.Bytes(), body) || !bytes.Equal(got, dir) {
				t.Fatal("the streamed section differs")
			}
		}
	})
}

func TestKeyRunRefusesDisorder(t *testing.T) {
	for _, at := range []int{1, 512, 513} {
		w := NewWriter(new(bytes.Buffer))
		for i := range at {
			if err := w.Add(uint64(100 + i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Add(5); err == nil {
			t.Errorf("a lesser key was accepted at %d", at)
		}
		if w.AddKeys([]uint64{5, 6}) == nil || w.AddKeys([]uint64{5000, 4000}) == nil {
			t.Errorf("lesser keys were accepted at %d", at)
		}
	}
}

func TestKeyRunRange(t *testing.T) {
	eachKeys(t, func(t *testing.T, rnd *rand.Rand, keys []uint64) {
		r := mustOpenRun(t, keys)
		lower := func(k uint64) int { return sort.Search(len(keys), func(i int) bool { return keys[i] >= k }) }
		upper := func(k uint64) int { return sort.Search(len(keys), func(i int) bool { return keys[i] > k }) }
		pick := func() uint64 {
			if len(keys) == 0 || rnd.IntN(4) == 0 {
				return rnd.Uint64() >> rnd.IntN(64)
			}
			return keys[rnd.IntN(len(keys))] + uint64(rnd.IntN(5)) - 2
		}
		for range 300 {
			key := pick()
			lo, hi, err := r.Find(key)
			if err != nil || lo != lower(key) || hi != upper(key) {
				t.Fatalf("Find(%016x) = %d, %d, %v, want %d, %d", key, lo, hi, err, lower(key), upper(key))
			}
			first, last := pick(), pick()
			if rnd.IntN(2) == 0 {
				mask := uint64(1)<<rnd.IntN(64) - 1
				first, last = key&^mask, key|mask
			}
			wantLo, wantHi := lower(first), upper(last)
			if first > last {
				wantLo, wantHi = 0, 0
			}
			lo, hi, err = r.Range(first, last)
			if err != nil || lo != wantLo || hi != wantHi {
				t.Fatalf("Range(%016x, %016x) = %d, %d, %v, want %d, %d", first, last, lo, hi, err, wantLo, wantHi)
			}
		}
	})
}

// TestColumnRoundTrip has columns with random order, ascending ones, and partly ascending ones.
func TestColumnRoundTrip(t *testing.T) {
	eachKeys(t, func(t *testing.T, rnd *rand.Rand, values []uint64) {
		switch rnd.IntN(3) {
		case 0:
			rnd.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		case 1:
			for range 1 + len(values)/2000 {
				if i := rnd.IntN(len(values) + 1); i < len(values) {
					values[i] = rnd.Uint64()
				}
			}
		}
		body, dir := EncodeColumn(values)
		c, err := OpenColumn(testSection(body, dir))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(testSection(body, dir)); !errors.Is(err, base.ErrCorruption) {
			t.Fatalf("a column is opened as a key run: %v", err)
		}
		if c.Len() != len(values) || len(values) > 0 && c.Max() != slices.Max(values) {
			t.Fatalf("%d values up to %d", c.Len(), c.Max())
		}
		for i, v := range values {
			if got, err := c.Get(i); err != nil || got != v {
				t.Fatalf("Get(%d) = %d, %v, want %d", i, got, err, v)
			}
		}
		var block [BlockLen]uint64
		for b := range c.blocks {
			n, err := c.Block(b, block[:])
			if err != nil || !slices.Equal(block[:n], values[b*BlockLen:min(len(values), (b+1)*BlockLen)]) {
				t.Fatalf("Block(%d): %d values, %v", b, n, err)
			}
		}
		if err := c.Verify(); err != nil {
			t.Fatal(err)
		}
	})
}

// useRun calls all methods of a run and returns the first error. Results without an error must be
// right.
func useRun(r *Run, keys []uint64) error {
	for i := range r.Len() {
		got, err := r.Key(i)
		if err != nil {
			return err
		}
		if i >= len(keys) || got != keys[i] {
			return fmt.Errorf("Key(%d) = %016x is wrong", i, got)
		}
		lo, hi, err := r.Find(got)
		if err != nil {
			return err
		}
		if lo > i || hi <= i {
			return fmt.Errorf("Find(%016x) = %d, %d", got, lo, hi)
		}
	}
	if r.Len() != len(keys) {
		return fmt.Errorf("%d keys, want %d", r.Len(), len(keys))
	}
	it := r.Iter(0)
	for it.Next() {
	}
	if it.Err() != nil {
		return it.Err()
	}
	return r.Verify()
}

// damage calls try with every byte of a body and its directory changed in three ways, and with both
// truncated to every length.
func damage(body, dir []byte, try func(what string, s Section)) {
	for i := range len(body) + len(dir) {
		for _, x := range []byte{1, 0x80, 0xff} {
			s := testSection(body, dir)
			if i < len(body) {
				s.Body[i] ^= x
			} else {
				s.Dir[i-len(body)] ^= x
			}
			try(fmt.Sprintf("byte %d ^ %#x", i, x), s)
		}
		if i < len(body) {
			try(fmt.Sprintf("body cut at %d", i), testSection(body[:i], dir))
		} else {
			try(fmt.Sprintf("directory cut at %d", i-len(body)), testSection(body, dir[:i-len(body)]))
		}
	}
}

// checkPlace checks that err reports damage in a body or a directory.
func checkPlace(t *testing.T, err error, body, dir []byte, what string) {
	t.Helper()
	var c *base.CorruptionError
	if !errors.As(err, &c) || !errors.Is(err, base.ErrCorruption) {
		t.Fatalf("%s: %v", what, err)
	}
	inBody := c.Offset >= testOffset && c.Offset <= testOffset+int64(len(body))
	inDir := c.Offset >= testDirOffset && c.Offset <= testDirOffset+int64(len(dir))
	if c.File != "test.sst" || c.Section != "run 0" || !inBody && !inDir {
		t.Fatalf("%s: the place is %v", what, err)
	}
}

func TestKeyRunNoticesDamage(t *testing.T) {
	rnd := keytest.Rand("damage", 0)
	for _, n := range []int{0, 1, 40, 600} {
		keys := keytest.Shapes[1].Make(rnd, max(n, 1))[:n]
		slices.Sort(keys)
		body, dir := Encode(keys)
		damage(body, dir, func(what string, s Section) {
			r, err := Open(s)
			if err == nil {
				err = useRun(r, keys)
			}
			checkPlace(t, err, body, dir, fmt.Sprintf("%d keys, %s", n, what))
		})
	}
}

// TestSectionWithoutSlack opens bodies that are followed by too few bytes.
func TestSectionWithoutSlack(t *testing.T) {
	body, dir := Encode([]uint64{1, 2, 3})
	s := testSection(body, dir)
	s.Body = s.Body[: len(body) : len(body)+kernel.Slack-1]
	if _, err := Open(s); !errors.Is(err, base.ErrCorruption) {
		t.Error(err)
	}
}

// encodePairs encodes ascending keys with values.
func encodePairs(t *testing.T, keys []uint64, values []uint32, greatest uint32) (body, dir []byte) {
	t.Helper()
	var out bytes.Buffer
	w := NewPairWriter(&out, greatest)
	for i, k := range keys {
		if err := w.AddPair(k, values[i]); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := w.Finish()
	if err != nil || w.Len() != len(keys) {
		t.Fatalf("%d keys of %d, %v", w.Len(), len(keys), err)
	}
	return out.Bytes(), dir
}

// TestPairsRoundTrip has a value for each key, of 0, some or 32 bits.
func TestPairsRoundTrip(t *testing.T) {
	eachKeys(t, func(t *testing.T, rnd *rand.Rand, keys []uint64) {
		if rnd.IntN(2) == 0 { // with leading zeros, like hashes of 38 bits
			for i := range keys {
				keys[i] >>= 24
			}
		}
		for _, greatest := range []uint32{0, 1, uint32(len(keys)), 1<<20 - 1, math.MaxUint32} {
			values := make([]uint32, len(keys))
			for i := range values {
				values[i] = uint32(rnd.Uint64N(uint64(greatest) + 1))
			}
			r, err := Open(testSection(encodePairs(t, keys, values, greatest)))
			if err != nil {
				t.Fatal(err)
			}
			if r.HasValues() != (greatest > 0) {
				t.Fatalf("values up to %d, there are some: %v", greatest, r.HasValues())
			}
			if err := useRun(r, keys); err != nil {
				t.Fatal(err)
			}
			for i, want := range values {
				if got, err := r.Value(i); err != nil || got != uint64(want) {
					t.Fatalf("Value(%d) = %d, %v, want %d", i, got, err, want)
				}
			}
			for b := range r.NumBlocks() {
				lo := rnd.IntN(r.Count(b))
				hi := lo + rnd.IntN(r.Count(b)-lo+1)
				got := r.BlockValues([]uint32{7}, b, lo, hi)
				if !slices.Equal(got[1:], values[b<<BlockShift+lo:b<<BlockShift+hi]) {
					t.Fatalf("values %d to %d of block %d are wrong", lo, hi, b)
				}
			}
			s := r.Stats()
			if s.Low+s.High+s.Paired+s.Directory+s.Checksums != s.Bytes || (s.Paired > 0) != (greatest > 0 && len(keys) > 0) {
				t.Fatalf("the parts do not add up: %+v", s)
			}
		}
	})
}

func TestPairsNoticeDamage(t *testing.T) {
	rnd := keytest.Rand("damage", 2)
	for _, n := range []int{0, 1, 40, 600} {
		keys, values := keytest.Shapes[1].Make(rnd, max(n, 1))[:n], make([]uint32, n)
		slices.Sort(keys)
		for i := range values {
			values[i] = uint32(rnd.IntN(1000))
		}
		body, dir := encodePairs(t, keys, values, 999)
		damage(body, dir, func(what string, s Section) {
			r, err := Open(s)
			for i := 0; err == nil && i < r.Len(); i++ {
				var got uint64
				if got, err = r.Value(i); err == nil && (i >= n || got != uint64(values[i])) {
					t.Fatalf("%d keys, %s: value %d is %d", n, what, i, got)
				}
			}
			if err == nil {
				err = useRun(r, keys)
			}
			checkPlace(t, err, body, dir, fmt.Sprintf("%d keys, %s", n, what))
		})
	}
}

// TestForgedSections sets every word of a body and a directory to other values, under good
// checksums. Results may be wrong then, but must be numbers of the section, or errors.
func TestForgedSections(t *testing.T) {
	exhaustive.Sequential(t)
	rnd := keytest.Rand("forged", 1)
	keys, values := keytest.Shapes[1].Make(rnd, 600), make([]uint32, 600)
	slices.Sort(keys)
	for i := range values {
		values[i] = uint32(rnd.IntN(1000))
	}
	for name, encode := range map[string]func() (body, dir []byte){
		"keys":   func() ([]byte, []byte) { return Encode(keys) },
		"pairs":  func() ([]byte, []byte) { return encodePairs(t, keys, values, 999) },
		"column": func() ([]byte, []byte) { return EncodeColumn(append(slices.Clone(keys), keys...)) },
	} {
		body, dir := encode()
		for word := range exhaustive.Every(t, 3).Of((len(body) + len(dir)) / 4) {
			at := 4 * word
			for _, value := range []uint64{^uint64(0), 0, 1, 1<<63 - 1, 1 << 32, 64, 65, 33, 0x8080808080808080} {
				s := testSection(body, dir)
				to, from := s.Body, at
				if at >= len(body) {
					to, from = s.Dir, at-len(body)
				}
				var word [8]byte
				binary.LittleEndian.PutUint64(word[:], value)
				copy(to[from:], word[:])
				keytest.Reseal(s.Body, s.Dir, dir)
				if err := useForged(s, name == "column"); err != nil {
					checkPlace(t, err, body, dir, fmt.Sprintf("%s: word at %d set to %#x", name, at, value))
				}
			}
		}
	}
}

// TestHiddenBytes has bytes in a body that belong to no block, after the last block and between
// two, with good checksums.
func TestHiddenBytes(t *testing.T) {
	keys := keytest.Shapes[0].Make(keytest.Rand("hidden", 0), 700)
	slices.Sort(keys)
	for name, encode := range map[string]func([]uint64) (body, dir []byte){"keys": Encode, "column": EncodeColumn} {
		body, dir := encode(keys)
		second := int(binary.LittleEndian.Uint64(dir[dirEntry+8:]) >> 16 << 3)
		for _, at := range []int{len(body), second, 0} {
			s := testSection(slices.Insert(slices.Clone(body), at, make([]byte, 8)...), dir)
			trailer := s.Dir[len(dir)-frameTrailerSize:]
			binary.LittleEndian.PutUint64(trailer[16:], uint64(len(s.Body)))
			for b := range 2 {
				info := s.Dir[dirEntry*b+8:]
				if off := int(binary.LittleEndian.Uint64(info) >> 16 << 3); off >= at {
					binary.LittleEndian.PutUint64(info, binary.LittleEndian.Uint64(info)+1<<16)
				}
			}
			keytest.Reseal(s.Body, s.Dir, slices.Clone(s.Dir))
			var err error
			if name == "keys" {
				_, err = Open(s)
			} else {
				_, err = OpenColumn(s)
			}
			if !errors.Is(err, base.ErrCorruption) || strings.Contains(err.Error(), "checksum") {
				t.Errorf("%s: bytes at %d of %d: %v", name, at, len(body), err)
			}
		}
	}
}

func useForged(s Section, column bool) (err error) {
	if column {
		c, err := OpenColumn(s)
		for i := 0; err == nil && i < c.Len(); i++ {
			_, err = c.Get(i)
		}
		return err
	}
	r, err := Open(s)
	if err != nil {
		return err
	}
	keys := make([]uint64, r.Len())
	for i := range keys {
		if keys[i], err = r.Key(i); err != nil {
			return err
		}
		if _, err := r.Value(i); err != nil {
			return err
		}
	}
	return useRun(r, keys)
}

// TestKeyRunForgedKeys puts other keys into blocks, under good checksums. The unary bits are not
// changed, so the count and the greatest prefix are right, and only a comparison of the keys can
// detect it.
func TestKeyRunForgedKeys(t *testing.T) {
	keys := keytest.Shapes[0].Make(keytest.Rand("forged", 0), 1200)
	slices.Sort(keys)
	keys[BlockLen] = keys[BlockLen-1] + 1
	body, dir := Encode(keys)
	const last = 2 // the last block
	for _, tt := range []struct {
		name, want string
		block      int
		forge      func(block []uint64, prefix uint64)
	}{
		{"two neighbours exchanged", "is out of order", 1, func(block []uint64, prefix uint64) {
			for i := 1; ; i++ {
				if block[i] < block[i+1] && block[i]&prefix == block[i+1]&prefix {
					block[i], block[i+1] = block[i+1], block[i]
					return
				}
			}
		}},
		{"first key not that of the directory", "starts with key", 1, func(block []uint64, _ uint64) { block[0]-- }},
		{"last key beyond the next block", "beyond", 0, func(block []uint64, _ uint64) { block[len(block)-1] += 2 }},
		{"last key greater than the directory says", "beyond", last, func(block []uint64, _ uint64) { block[len(block)-1]++ }},
		{"last key less than the directory says", "beyond", last, func(block []uint64, _ uint64) { block[len(block)-1]-- }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testSection(body, dir)
			r, err := Open(s)
			if err != nil {
				t.Fatal(err)
			}
			in := r.Info(tt.block)
			low := kernel.Mask(in.Width)
			forged := slices.Clone(keys[tt.block<<BlockShift:][:r.Count(tt.block)])
			tt.forge(forged, ^low)
			for i, key := range forged {
				if shr(key, in.Width) != shr(keys[tt.block<<BlockShift+i], in.Width) {
					t.Fatalf("key %d gets another prefix", i)
				}
				forged[i] = key & low
			}
			copy(r.Packed(in), appendPacked(nil, forged, in.Width))
			keytest.Reseal(s.Body, s.Dir, dir)
			if r, err = Open(s); err != nil {
				t.Fatal(err)
			}
			var c *base.CorruptionError
			if err := r.Verify(); !errors.As(err, &c) || c.Offset != testOffset+int64(in.Off) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("found: %v; want that it %s, at %d", err, tt.want, testOffset+in.Off)
			}
			testForgedPlaces(t, s, tt.block, tt.want == "is out of order")
		})
	}
}

// testForgedPlaces checks that CheckHead and CheckKeys refuse a forged block, unless only its order
// is wrong: then Check must refuse it, before and after.
func testForgedPlaces(t *testing.T, s Section, block int, unordered bool) {
	for _, leads := range []int{0, 8, 60} { // with 60, low bits reach into leads
		r, err := Open(s)
		if err != nil {
			t.Fatal(err)
		}
		r.IndexLeads(leads)
		if leads == 60 {
			r.leads = leadIndex{shift: 4, part: 0}
		}
		for range 2 {
			if err := checkAllPlaces(r)(block); (err == nil) != (unordered && leads == 8) {
				t.Errorf("%d leads: places: %v", leads, err)
			}
			if err := r.Check(block); err == nil {
				t.Errorf("%d leads: the keys are taken to be good", leads)
			}
		}
	}
}

// TestPlacesOfDamagedBlock flips every byte of a block.
func TestPlacesOfDamagedBlock(t *testing.T) {
	keys := keytest.Shapes[0].Make(keytest.Rand("places", 0), BlockLen)
	slices.Sort(keys)
	body, dir := Encode(keys)
	for i := range body {
		s := testSection(body, dir)
		s.Body[i] ^= 1 << (i % 8)
		r, err := Open(s)
		if err != nil {
			t.Fatal(err)
		}
		r.IndexLeads(8)
		checkPlace(t, checkAllPlaces(r)(0), body, dir, fmt.Sprintf("byte %d", i))
	}
}

func TestColumnNoticesDamage(t *testing.T) {
	rnd := keytest.Rand("damage", 1)
	for _, n := range []int{0, 1, 40, 600, 700} {
		values := keytest.Fill(n, func(int) uint64 { return uint64(rnd.IntN(3000)) })
		if n == 700 { // one block is encoded like keys, the other is not
			slices.Sort(values[:BlockLen])
		}
		body, dir := EncodeColumn(values)
		damage(body, dir, func(what string, s Section) {
			c, err := OpenColumn(s)
			for i := 0; err == nil && i < c.Len(); i++ {
				var got uint64
				if got, err = c.Get(i); err == nil && got != values[i] {
					t.Fatalf("%d values, %s: value %d is %d, not %d", n, what, i, got, values[i])
				}
			}
			if err == nil {
				err = c.Verify()
			}
			checkPlace(t, err, body, dir, fmt.Sprintf("%d values, %s", n, what))
		})
	}
}
