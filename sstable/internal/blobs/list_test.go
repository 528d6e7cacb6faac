package blobs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
)

// where the sections of a test are in their file
const (
	areaAt = 4096
	dirAt  = 1 << 20
)

// buildList writes strings as a writer of tables does: a chunk goes to the area when it is full,
// sometimes after bytes of somebody else.
func buildList(r *rand.Rand, k *Kind, strings [][]byte) (dir, area Bytes) {
	w := NewListWriter(k)
	area.Offset, dir.Offset = areaAt, dirAt
	flush := func() {
		area.Data = append(area.Data, make([]byte, r.IntN(100))...)
		area.Data = append(area.Data, w.Flush(int64(len(area.Data)))...)
	}
	for _, s := range strings {
		if w.Add(s) {
			flush()
		}
	}
	w.EndBlock()
	flush()
	dir.Data = w.Directory()
	return dir, area
}

// randomStrings returns n strings of least to most bytes.
func randomStrings(r *rand.Rand, n, least, most int) [][]byte {
	strings := make([][]byte, n)
	for i := range strings {
		strings[i] = make([]byte, least+r.IntN(most-least+1))
		for j := range strings[i] {
			strings[i][j] = byte(r.Uint32())
		}
	}
	return strings
}

func openList(t *testing.T, k *Kind, n int, dir, area Bytes) *List {
	t.Helper()
	l, err := OpenList(k, "a.sst", uint32(n), dir, area)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestList writes lists, with ends of 2 and of 4 bytes, and reads every string in random order.
func TestList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name        string
		kind        *Kind
		n           int
		least, most int
	}{
		{"none", IDs, 0, 1, 1},
		{"one", IDs, 1, 1, 1},
		{"a block", IDs, 128, 1, 20},
		{"a block and one", IDs, 129, 1, 20},
		{"several chunks", IDs, 40000, 5, 20},
		{"long ones", IDs, 300, 60000, 65535},
		{"sketches", Sketches, 1000, 0, 500},
		{"empty ones", Sketches, 100, 0, 0},
		{"just narrow", Sketches, 16, 4095, 4095},
		{"just wide", Sketches, 16, 4096, 4096},
		{"mixed", Sketches, 160, 0, 8000},
	} {
		t.Run(c.name, func(t *testing.T) {
			strings := randomStrings(r, c.n, c.least, c.most)
			dir, area := buildList(r, c.kind, strings)
			l := openList(t, c.kind, c.n, dir, area)
			perBlock := 1 << c.kind.Shift
			if want := (c.n + perBlock - 1) / perBlock; l.NumBlocks() != want {
				t.Fatalf("%d blocks, want %d", l.NumBlocks(), want)
			}
			size := int64(0)
			for b := range l.NumBlocks() {
				if err := l.Check(b); err != nil {
					t.Fatal(err)
				}
				off, length := l.Extent(b)
				if off+length > uint64(len(area.Data)) {
					t.Fatalf("block %d: %d bytes at %d", b, length, off)
				}
				size += int64(length)
			}
			if l.Size() != size {
				t.Errorf("Size is %d, the blocks have %d", l.Size(), size)
			}
			l = openList(t, c.kind, c.n, dir, area) // nothing is checked yet
			for _, i := range r.Perm(c.n) {
				l.PrefetchEntry(uint32(i))
				l.Prefetch(uint32(i))
				if got, err := l.Get(uint32(i)); err != nil || !bytes.Equal(got, strings[i]) || cap(got) != len(got) {
					t.Fatalf("string %d is %d bytes of %d (%v), want %d", i, len(got), cap(got), err, len(strings[i]))
				}
				if b, first := l.First(uint32(i)); b != i/perBlock || first != (i%perBlock == 0) {
					t.Fatalf("First(%d) is %d, %v", i, b, first)
				}
			}
		})
	}
}

// TestListDirectory opens directories of a wrong size.
func TestListDirectory(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	dir, area := buildList(r, IDs, randomStrings(r, 200, 1, 9))
	for n := range uint32(600) {
		l, err := OpenList(IDs, "a.sst", n, dir, area)
		if right := n > 128 && n <= 256; right != (err == nil) || right != (l != nil) {
			t.Fatalf("%d strings: %v", n, err)
		}
		if c, ok := errors.AsType[*base.CorruptionError](err); err != nil && (!ok || c.File != "a.sst" || c.Section != "names" || c.Offset != dirAt) {
			t.Fatalf("%d strings: %v", n, err)
		}
	}
}

// TestListDamage changes each byte in turn. Each change is found by the check of one block, whose
// strings cannot be read; those of other blocks can.
func TestListDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, k := range []*Kind{IDs, Sketches} {
		strings := randomStrings(r, 3<<k.Shift+5, 1, 9)
		dir, area := buildList(r, k, strings)
		for _, part := range []*Bytes{&dir, &area} {
			for at := range part.Data {
				old := part.Data[at]
				part.Data[at] ^= byte(1 + r.IntN(255))
				damaged := damagedBlocks(t, k, strings, dir, area)
				part.Data[at] = old
				if len(damaged) > 1 && part == &area || len(damaged) == 0 && part == &dir {
					t.Fatalf("%s: byte %d of %d changed: blocks %d are damaged", k.Section, at, len(part.Data), damaged)
				}
			}
		}
	}
}

// damagedBlocks returns the blocks of a list that Check refuses. Get must agree.
func damagedBlocks(t *testing.T, k *Kind, strings [][]byte, dir, area Bytes) (damaged []int) {
	t.Helper()
	l := openList(t, k, len(strings), dir, area)
	for b := range l.NumBlocks() {
		err := l.Check(b)
		if _, ok := errors.AsType[*base.CorruptionError](err); err != nil && !ok {
			t.Fatal(err)
		}
		if err != nil {
			damaged = append(damaged, b)
		}
	}
	for i, s := range strings {
		got, err := l.Get(uint32(i))
		b, _ := l.First(uint32(i))
		if bad := slices.Contains(damaged, b); bad != (err != nil) || !bad && !bytes.Equal(got, s) {
			t.Fatalf("string %d of block %d: %q, %v; blocks %d are damaged", i, b, got, err, damaged)
		}
		l.Prefetch(uint32(i))
	}
	return damaged
}

// TestListForged has right checksums over wrong ends.
func TestListForged(t *testing.T) {
	short := &Kind{Section: "names", Name: "ID", Shift: 2, Least: 1, Most: 3}
	for name, strings := range map[string][][]byte{
		"empty":    {[]byte("a"), nil, []byte("b")},
		"too long": {[]byte("a"), []byte("abcd")},
	} {
		dir, area := buildList(rand.New(rand.NewPCG(1, 4)), short, strings)
		l := openList(t, short, len(strings), dir, area)
		if s, err := l.Get(0); err == nil {
			t.Errorf("%s: %q beside it", name, s)
		}
	}
	r := rand.New(rand.NewPCG(1, 5))
	strings := randomStrings(r, 256, 2, 2)
	dir, area := buildList(r, IDs, strings)
	copy(dir.Data[ListEntry:], dir.Data[:ListEntry]) // both entries are of block 0
	l := openList(t, IDs, len(strings), dir, area)
	if err := l.Check(0); err != nil {
		t.Error(err)
	}
	if err := l.Check(1); err == nil {
		t.Error("a block that overlaps the one before it is right")
	}
	var c *base.CorruptionError
	if err := l.Corrupt(3, "wrong"); !errors.As(err, &c) || c.Section != "names" || c.Offset < areaAt || c.Offset >= areaAt+int64(len(area.Data)) {
		t.Errorf("Corrupt returns %v", err)
	}
}
