package blobs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

// typed reports whether err is nil or says where data is damaged.
func typed(err error) bool {
	_, ok := errors.AsType[*base.CorruptionError](err)
	return err == nil || ok
}

// listCases are lists of the usual kinds, and some that are hard to encode.
func listCases() map[string][][]byte {
	rng := rand.New(rand.NewPCG(5, 6))
	of := func(n int, length func(i int) int) (list [][]byte) {
		for i := range n {
			b := make([]byte, length(i))
			for j := range b {
				b[j] = byte(rng.Uint32())
			}
			list = append(list, b)
		}
		return list
	}
	cases := map[string][][]byte{
		"none":             nil,
		"one":              {[]byte("a")},
		"equal":            of(128*3, func(int) int { return 7 }),
		"equal, not whole": of(128*2+77, func(int) int { return 7 }),
		"digits":           benchNames(1000)["digits"],
		"urls":             benchNames(1000)["urls"],
		"powers of two":    of(400, func(int) int { return 1 << rng.IntN(10) }),
		"long":             of(3, func(i int) int { return 65535 - i }),
		"long first":       of(300, func(i int) int { return 1 + 65534*((127-i%128)/127) }),
		"long last":        of(300, func(i int) int { return 1 + 65534*(i%128/127) }),
		"long half":        of(128, func(i int) int { return 1 + 3000*(i/64) }),
		"short half":       of(128, func(i int) int { return 3001 - 3000*(i/64) }),
		"ascending":        of(200, func(i int) int { return i + 1 }),
		"descending":       of(200, func(i int) int { return 200 - i }),
	}
	for n := 1; n < 40; n++ {
		cases[fmt.Sprint(n, " of any length")] = of(n, func(int) int { return 1 + rng.IntN(n*n) })
	}
	return cases
}

// emptyCases are lists with empty strings.
func emptyCases() map[string][][]byte {
	cases := map[string][][]byte{}
	for _, n := range []int{1, 15, 16, 17, 100} {
		all := make([][]byte, n)
		cases[fmt.Sprint(n, " empty")] = all
		for _, at := range []int{0, n / 2, n - 1} {
			one := slices.Clone(all)
			one[at] = []byte("x")
			cases[fmt.Sprint(n, " empty but for ", at)] = one
		}
	}
	return cases
}

// openList writes a list and opens it, between bytes that do not belong to it. Its area ends with
// its last block.
func openList(t testing.TB, k *Kind, list [][]byte) *List {
	dir, area := writeList(k, list)
	l, err := OpenList(k, "test", uint32(len(list)), dir, Bytes{Data: slices.Clip(area.Data), Offset: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestList(t *testing.T) {
	check := func(k *Kind, name string, list [][]byte) {
		l := openList(t, k, list)
		for _, i := range rand.Perm(len(list)) {
			l.PrefetchEntry(uint32(i))
			l.Prefetch(uint32(i))
			if got, err := l.Get(uint32(i)); err != nil || !bytes.Equal(got, list[i]) || cap(got) != len(got) {
				t.Fatalf("%s: %s %d of %d is %x, %v, not %x", name, k.Name, i, len(list), got, err, list[i])
			}
		}
		for _, first := range []int{0, len(list) / 3, len(list) / 2, len(list)} {
			for _, l := range []*List{l, openList(t, k, list)} { // verified, unverified
				it := l.Iter(uint32(first))
				for i := first; i < len(list); i++ {
					if got, err := it.Next(); err != nil || !bytes.Equal(got, list[i]) {
						t.Fatalf("%s: next %s from %d, %d of %d, is %x, %v, not %x", name, k.Name, first, i, len(list), got, err, list[i])
					}
				}
			}
		}
		end := uint64(0)
		for b := range l.NumBlocks() {
			off, length := l.Extent(b)
			if err := l.Check(b); err != nil || off != end {
				t.Errorf("%s: block %d is at %d, not %d; %v", name, b, off, end, err)
			}
			end += length
		}
		if end != uint64(l.Size()) || end != uint64(len(l.area.Data)) {
			t.Errorf("%s: blocks of %d bytes, size %d, area %d", name, end, l.Size(), len(l.area.Data))
		}
	}
	for name, list := range listCases() {
		check(IDs, name, list)
		check(Sketches, name, list)
	}
	for name, list := range emptyCases() {
		check(Sketches, name, list)
	}
}

// TestListAppend concatenates a list from parts of whole blocks, some of which have been flushed;
// the bytes must equal the output of a single writer.
func TestListAppend(t *testing.T) {
	for name, list := range listCases() {
		for _, blocks := range []int{1, 2, 3} {
			whole, part := NewListWriter(IDs), NewListWriter(IDs)
			var area []byte
			flush := func() { area = append(area, whole.Flush(int64(len(area)))...) }
			for some := range slices.Chunk(list, blocks<<IDs.Shift) {
				for _, s := range some {
					part.Add(s)
				}
				for whole.Append(part) {
					flush()
				}
				if len(area)%2 == 0 {
					flush()
				}
			}
			flush()
			dir, want := writeList(IDs, list)
			if !bytes.Equal(area, want.Data) || !bytes.Equal(whole.Directory(), dir.Data) {
				t.Fatalf("%s in parts of %d blocks: other bytes", name, blocks)
			}
		}
	}
}

// TestListSize bounds the size of ends.
func TestListSize(t *testing.T) {
	names := benchNames(1 << 14)
	for _, c := range []struct {
		kind string
		most float64 // bits per end
	}{{"equal", 0}, {"digits", 4}, {"urls", 9.5}} {
		size := 0
		for _, name := range names[c.kind] {
			size += len(name)
		}
		l := openList(t, IDs, names[c.kind])
		if bits := float64(8*(int(l.Size())-size)) / (1 << 14); bits > c.most {
			t.Errorf("%s: %.2f bits an end, more than %.2f", c.kind, bits, c.most)
		}
	}
}

// TestListEmpty checks that empty strings need no space, and no memory to read.
func TestListEmpty(t *testing.T) {
	w := NewListWriter(Sketches)
	for range 1000 {
		if w.Add(nil) {
			t.Fatal("a chunk is full")
		}
	}
	w.EndBlock()
	if n := len(w.Flush(0)) + len(w.Directory()) + w.NumBlocks(); n > 0 {
		t.Fatalf("%d bytes", n)
	}
	l, err := OpenList(Sketches, "test", 1<<32-2, Bytes{}, Bytes{})
	if err != nil || l.NumBlocks() != 0 || l.Size() != 0 || l.checked != nil {
		t.Fatal(l, err)
	}
	for _, i := range []uint32{0, 1000, 1<<32 - 3} {
		l.PrefetchEntry(i)
		l.Prefetch(i)
		it := l.Iter(i)
		next, err := it.Next()
		if got, err2 := l.Get(i); len(got)+len(next) > 0 || err != nil || err2 != nil {
			t.Fatal(got, next, err, err2)
		}
	}
	if _, err := OpenList(IDs, "test", 1, Bytes{}, Bytes{}); err == nil || !typed(err) {
		t.Errorf("an ID without a block: %v", err)
	}
	if _, err := OpenList(Sketches, "test", 17, Bytes{Data: make([]byte, ListEntry)}, Bytes{}); err == nil || !typed(err) {
		t.Errorf("17 sketches in a block: %v", err)
	}
}

// tryList reads all of a list that may be damaged. If strict, it must not return a wrong string.
func tryList(t *testing.T, k *Kind, list [][]byte, dir, area []byte, strict bool, what string) {
	t.Helper()
	l, err := OpenList(k, "test", uint32(len(list)), Bytes{Data: dir}, Bytes{Data: area})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	bad := 0
	for i, want := range list {
		l.PrefetchEntry(uint32(i))
		l.Prefetch(uint32(i))
		got, err := l.Get(uint32(i))
		if !typed(err) || strict && err == nil && !bytes.Equal(got, want) {
			t.Fatalf("%s: string %d is %x, %v, not %x", what, i, got, err, want)
		}
		if err != nil {
			bad++
		}
		if i%41 > 0 {
			continue
		}
		it := l.Iter(uint32(i))
		if next, err2 := it.Next(); (err == nil) != (err2 == nil) || !bytes.Equal(next, got) {
			t.Fatalf("%s: string %d is %x, %v; the next is %x, %v", what, i, got, err, next, err2)
		}
	}
	if strict && bad == 0 {
		t.Fatalf("%s: no damage found", what)
	}
}

func TestListFlipped(t *testing.T) {
	exhaustive.Sequential(t)
	for _, name := range []string{"equal, not whole", "digits", "urls"} {
		list := listCases()[name][:300]
		w, area := writeList(IDs, list)
		dir := w.Data
		for _, part := range [][]byte{dir, area.Data} {
			for i := range exhaustive.Every(t, 4).Of(len(part)) {
				bit := byte(1) << (i % 8)
				part[i] ^= bit
				tryList(t, IDs, list, dir, area.Data, true, fmt.Sprintf("%s: byte %d of %d flipped", name, i, len(part)))
				part[i] ^= bit
			}
		}
	}
}

// TestListForged changes fields and bytes of blocks and makes the checksums right.
func TestListForged(t *testing.T) {
	exhaustive.Sequential(t)
	values := []uint64{^uint64(0), 0, 1, 1<<63 - 1, 1 << 31, 1<<30 - 1, 0x8080808080808080, 0x1c00000000000000, 0xff1c}
	for _, name := range []string{"equal, not whole", "powers of two", "long last"} {
		list := listCases()[name]
		w, area := writeList(IDs, list)
		step := 1 + len(area.Data)/600
		for _, value := range values {
			for at := range exhaustive.Every(t, 3).Of(len(w.Data)) {
				dir := slices.Clone(w.Data)
				copy(dir[at:], binary.LittleEndian.AppendUint64(nil, value))
				keytest.ResealBlocks(dir, ListEntry, area.Data)
				tryList(t, IDs, list, dir, area.Data, false, fmt.Sprintf("%s: %#x at %d of the directory", name, value, at))
			}
			for at := 0; at < len(area.Data); at += step {
				dir, area := slices.Clone(w.Data), slices.Clone(area.Data)
				copy(area[at:], binary.LittleEndian.AppendUint64(nil, value))
				keytest.ResealBlocks(dir, ListEntry, area)
				tryList(t, IDs, list, dir, area, false, fmt.Sprintf("%s: %#x at %d", name, value, at))
			}
		}
	}
}

// TestListOverlap checks that two blocks must not share bytes.
func TestListOverlap(t *testing.T) {
	list := listCases()["equal"]
	dir, area := writeList(IDs, list)
	copy(dir.Data[ListEntry:], dir.Data[:ListEntry])
	l, err := OpenList(IDs, "test", uint32(len(list)), dir, area)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Get(128); err == nil || !typed(err) || !strings.Contains(err.Error(), "overlaps") {
		t.Error(err)
	}
}

func TestListAllocs(t *testing.T) {
	l := openList(t, IDs, listCases()["digits"])
	it := l.Iter(0)
	if n := testing.AllocsPerRun(100, func() {
		l.Get(999)
		it.Next()
		l.PrefetchEntry(999)
		l.Prefetch(999)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
