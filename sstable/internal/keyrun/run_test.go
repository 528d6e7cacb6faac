package keyrun

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/keytest"
)

// keySizes are around the borders of blocks.
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

func mustOpenRun(t testing.TB, data []byte) *Run {
	t.Helper()
	r, err := Open(data, "test.sst", "run 0", 4096)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestKeyRunRoundTrip(t *testing.T) {
	eachKeys(t, func(t *testing.T, rnd *rand.Rand, keys []uint64) {
		prefix := []byte("before")
		data := Append(slices.Clone(prefix), keys)[len(prefix):]
		r := mustOpenRun(t, data)
		if r.Len() != len(keys) {
			t.Fatalf("%d keys, want %d", r.Len(), len(keys))
		}
		for range min(len(keys), 200) {
			i := rnd.IntN(len(keys))
			if got, err := r.Key(i); err != nil || got != keys[i] {
				t.Fatalf("Key(%d) = %016x, %v, want %016x", i, got, err, keys[i])
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

func TestKeyRunStreamsTheSameBytes(t *testing.T) {
	eachKeys(t, func(t *testing.T, _ *rand.Rand, keys []uint64) {
		var out bytes.Buffer
		w := NewWriter(&out)
		for _, k := range keys {
			if err := w.Add(k); err != nil {
				t.Fatal(err)
			}
		}
		n, size, err := w.Finish()
		if err != nil || n != len(keys) || size != int64(out.Len()) {
			t.Fatalf("Finish = %d, %d, %v; %d keys, %d bytes", n, size, err, len(keys), out.Len())
		}
		if !bytes.Equal(out.Bytes(), Append(nil, keys)) {
			t.Fatal("the streamed section differs")
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
	}
}

func TestKeyRunRange(t *testing.T) {
	eachKeys(t, func(t *testing.T, rnd *rand.Rand, keys []uint64) {
		r := mustOpenRun(t, Append(nil, keys))
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

func TestColumnRoundTrip(t *testing.T) {
	eachKeys(t, func(t *testing.T, rnd *rand.Rand, values []uint64) {
		rnd.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		c, err := OpenColumn(appendColumn([]byte("before"), values)[6:], "test.sst", "times", 64)
		if err != nil {
			t.Fatal(err)
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

// useRun calls everything a run offers and returns the first error; what it returns without error
// must be true.
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

// damage calls try with every byte of data flipped in three ways, and with data cut at every
// length.
func damage(data []byte, try func(what string, damaged []byte)) {
	for i := range data {
		for _, x := range []byte{1, 0x80, 0xff} {
			d := slices.Clone(data)
			d[i] ^= x
			try(fmt.Sprintf("byte %d ^ %#x", i, x), d)
		}
		try(fmt.Sprintf("cut at %d", i), slices.Clone(data[:i]))
	}
}

func TestKeyRunNoticesDamage(t *testing.T) {
	rnd := keytest.Rand("damage", 0)
	for _, n := range []int{0, 1, 40, 600} {
		keys := keytest.Shapes[1].Make(rnd, max(n, 1))[:n]
		slices.Sort(keys)
		data := Append(nil, keys)
		damage(data, func(what string, damaged []byte) {
			r, err := Open(damaged, "test.sst", "run 0", 4096)
			if err == nil {
				err = useRun(r, keys)
			}
			var c *base.CorruptionError
			if !errors.As(err, &c) || !errors.Is(err, base.ErrCorruption) {
				t.Fatalf("%d keys, %s: %v", n, what, err)
			}
			if c.File != "test.sst" || c.Section != "run 0" || c.Offset < 4096 || c.Offset > 4096+int64(len(data)) {
				t.Fatalf("%d keys, %s: the place is %v", n, what, err)
			}
		})
	}
}

// TestKeyRunForgedKeys puts other keys into blocks, behind good checksums. The unary bits are left
// as they are, so that the count and the greatest prefix are right, and only the comparison of the
// keys can tell.
func TestKeyRunForgedKeys(t *testing.T) {
	keys := keytest.Shapes[0].Make(keytest.Rand("forged", 0), 1200)
	slices.Sort(keys)
	keys[BlockLen] = keys[BlockLen-1] + 1
	good := Append(nil, keys)
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
			r, err := Open(slices.Clone(good), "test.sst", "run 0", 0)
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
			keytest.Reseal(r.data, bytes.Clone(r.data))
			if r, err = Open(r.data, "test.sst", "run 0", 0); err != nil {
				t.Fatal(err)
			}
			var c *base.CorruptionError
			if err := r.Verify(); !errors.As(err, &c) || c.Offset != int64(in.Off) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("found: %v; want that it %s, at %d", err, tt.want, in.Off)
			}
		})
	}
}

func TestColumnNoticesDamage(t *testing.T) {
	rnd := keytest.Rand("damage", 1)
	for _, n := range []int{0, 1, 40, 600} {
		values := keytest.Fill(n, func(int) uint64 { return uint64(rnd.IntN(3000)) })
		damage(appendColumn(nil, values), func(what string, damaged []byte) {
			c, err := OpenColumn(damaged, "test.sst", "times", 64)
			for i := 0; err == nil && i < c.Len(); i++ {
				var got uint64
				if got, err = c.Get(i); err == nil && got != values[i] {
					t.Fatalf("%d values, %s: value %d is %d, not %d", n, what, i, got, values[i])
				}
			}
			if err == nil {
				err = c.Verify()
			}
			if !errors.Is(err, base.ErrCorruption) {
				t.Fatalf("%d values, %s: %v", n, what, err)
			}
		})
	}
}
