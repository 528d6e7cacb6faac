package keyrun

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keytest"
	"github.com/simdb/simdb/internal/table/internal/pages"
	"github.com/simdb/simdb/internal/vfs"
)

// pagedSection returns a section of a file on a server, with the directory stored; dir is that of the
// summary.
func pagedSection(t *testing.T, body, stored, dir []byte) Section {
	file := append(append(make([]byte, 0, len(body)+len(dir)), body...), stored...)
	data := make([]byte, len(file)+kernel.Slack)
	p, err := pages.Remote(bytes.NewReader(file), data[:len(file)], "test.sst")
	if err != nil {
		t.Fatal(err)
	}
	return Section{
		File: "test.sst", Name: "run 0", Body: data[: len(body) : len(body)+kernel.Slack], Dir: data[len(body):len(file)], DirOffset: int64(len(body)),
		Top: AppendTop(nil, dir), Pages: p.Random(),
	}
}

// TestPagedDamage flips bits of a directory that is read page by page, and of its summary.
func TestPagedDamage(t *testing.T) {
	rnd := keytest.Rand("paged damage", 1)
	values := make([]uint64, 3*pageBlocks*BlockLen)
	for i := range values {
		values[i] = 1<<30 + uint64(rnd.IntN(1<<20))
	}
	body, dir := EncodeColumn(values)
	get := func(s Section, at int) (v uint64, err error) {
		defer func() {
			if f, ok := recover().(*vfs.Failure); ok {
				err = f.Err
			}
		}()
		c, err := OpenColumn(s)
		if err != nil {
			return 0, err
		}
		return c.Get(at)
	}
	for range 300 {
		at := rnd.IntN(len(values))
		damaged, summary := slices.Clone(dir), AppendTop(nil, dir)
		damaged[at>>BlockShift*dirEntry+rnd.IntN(dirEntry)] ^= 1 << rnd.IntN(8)
		if v, err := get(pagedSection(t, body, damaged, dir), at); !errors.Is(err, base.ErrCorruption) {
			t.Fatalf("damaged directory: value %d is %d, %v", at, v, err)
		}
		summary[at>>(BlockShift+pageShift)*dirEntry+rnd.IntN(dirEntry)] ^= 1 << rnd.IntN(8)
		s := pagedSection(t, body, dir, dir)
		s.Top = summary
		if v, err := get(s, at); !errors.Is(err, base.ErrCorruption) {
			t.Fatalf("damaged summary: value %d is %d, %v", at, v, err)
		}
	}
}

// TestPagedRun searches a run whose directory is read page by page, each time from the beginning, and
// compares what may be read after each search with the same run in memory.
func TestPagedRun(t *testing.T) {
	rnd := keytest.Rand("paged", 1)
	keys := make([]uint64, 5*pageBlocks*BlockLen+77)
	for i := range keys {
		keys[i] = rnd.Uint64()
		if i%3 == 0 {
			keys[i] >>= 9 // skewed
		}
	}
	slices.Sort(keys)
	body, dir := Encode(keys)
	whole, err := Open(testSection(body, dir))
	if err != nil {
		t.Fatal(err)
	}
	paged := func() *Run {
		r, err := Open(pagedSection(t, body, dir, dir))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for i := range 300 {
		first := keys[rnd.IntN(len(keys))] + uint64(i%3) - 1
		last := first + rnd.Uint64()>>rnd.UintN(64)
		switch last = max(first, last); i % 10 {
		case 0:
			first = whole.Base(i % whole.NumBlocks() &^ (pageBlocks - 1))
			last = max(first, last)
		case 1:
			last = math.MaxUint64
		}
		r := paged()
		block, end := r.Blocks(first, last)
		if b, e := whole.Blocks(first, last); b != block || e != end {
			t.Fatalf("Blocks(%x, %x) = %d, %d, not %d, %d", first, last, block, end, b, e)
		}
		for b := max(block, 1) - 1; b < end; b++ {
			if r.Base(b) != whole.Base(b) || r.Info(b) != whole.Info(b) || r.limit(b) != whole.limit(b) {
				t.Fatalf("after Blocks(%x, %x): block %d is %x %v", first, last, b, r.Base(b), r.Info(b))
			}
		}
		lo, hi, err := paged().Range(first, last)
		if wantLo, wantHi, _ := whole.Range(first, last); err != nil || lo != wantLo || hi != wantHi {
			t.Fatalf("Range(%x, %x) = %d, %d, %v, not %d, %d", first, last, lo, hi, err, wantLo, wantHi)
		}
		at := rnd.IntN(len(keys))
		if key, err := paged().Key(at); err != nil || key != keys[at] {
			t.Fatalf("Key(%d) = %x, %v, not %x", at, key, err, keys[at])
		}
	}
	r := paged()
	at := keys[pageBlocks*BlockLen*3/2] // in page 1, whose limit is the first base of page 2
	r.Blocks(at, at)
	for b := range r.NumBlocks() {
		if p := b >> pageShift; r.Base(b) != 0 && p != 1 && b != 2*pageBlocks {
			t.Fatalf("page 1 has been read, and block %d has a base: opening uses memory for all blocks", b)
		}
	}
	r.LoadDirectory()
	for b := range r.NumBlocks() {
		if r.Base(b) != whole.Base(b) || r.Info(b) != whole.Info(b) || r.BlockSize(b) != whole.BlockSize(b) {
			t.Fatalf("after LoadDirectory: block %d is %x %v", b, r.Base(b), r.Info(b))
		}
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
}

// TestPagedBounds has a summary, and the directory with it, whose blocks start or end outside the body.
func TestPagedBounds(t *testing.T) {
	keys := make([]uint64, 3*pageBlocks*BlockLen)
	for i := range keys {
		keys[i] = uint64(i) << 20
	}
	body, dir := Encode(keys)
	for _, to := range []uint64{1 << 31, 1 << 32, 1<<32 + 1<<31, 1 << 50, uint64(len(body)) + 8} {
		bad := slices.Clone(dir)
		for b := pageBlocks; b < 2*pageBlocks; b++ { // they follow each other
			info := bad[dirEntry*b+8:]
			binary.LittleEndian.PutUint64(info, binary.LittleEndian.Uint64(info)+to>>3<<16)
		}
		if r, err := Open(pagedSection(t, body, bad, bad)); !errors.Is(err, base.ErrCorruption) {
			t.Errorf("moved by %d: opened %v, %v", to, r != nil, err)
		}
	}
}
