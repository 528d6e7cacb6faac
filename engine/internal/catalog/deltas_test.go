package catalog

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
)

// tombstoneKeys returns the sections of a table's tombstones in the file.
func tombstoneKeys(t *testing.T, name string, table uint64) (keys []string) {
	tree := must.Get(readTree(vfs.Disk, name))(t)
	for _, r := range tree.entries {
		if string(r.key[:min(len(r.key), len(tombstonePrefix(table)))]) == string(tombstonePrefix(table)) {
			keys = append(keys, section(r.key))
		}
	}
	return keys
}

// TestDeltas adds tombstones until they are folded, replaces them and drops the table, also after
// the catalog was opened again.
func TestDeltas(t *testing.T) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	s := State{Tables: []Table{{Number: 12, Docs: 200_000}, {Number: 13, Docs: 5}}, Params: []byte{1}, FormatVersion: Version}
	mustCreate(t, vfs.Disk, name, s)
	c, got := mustOpen(t, vfs.Disk, name)
	s = *got
	apply := func(e Edit) {
		t.Helper()
		must.Do(t, c.Apply(e))
		s.model(e)
		if state, _, err := Read(vfs.Disk, name); err != nil || !equal(*state, s) {
			t.Fatalf("%+v, %v", state, err)
		}
	}
	add := func(docs ...uint32) {
		t.Helper()
		apply(Edit{AddTombstones: map[uint64]*roaring.Bitmap{12: roaring.BitmapOf(docs...)}})
	}
	keys := func(want ...string) {
		t.Helper()
		if got := tombstoneKeys(t, name, 12); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	add(1, 70_000)
	add(1, 140_000, 199_999)
	keys("tombstones/12/+0", "tombstones/12/+1")
	must.Do(t, c.Close())
	c, _ = mustOpen(t, vfs.Disk, name)
	defer c.Close()
	for i := uint32(0); len(tombstoneKeys(t, name, 12)) == int(i)+2; i++ {
		add(2 * i)
	}
	keys("tombstones/12/0", "tombstones/12/1", "tombstones/12/2", "tombstones/12/3")
	add(5)
	keys("tombstones/12/0", "tombstones/12/+0", "tombstones/12/1", "tombstones/12/2", "tombstones/12/3")
	large := roaring.New()
	for i := range uint32(800) {
		large.Add(80 * i)
	}
	apply(Edit{AddTombstones: map[uint64]*roaring.Bitmap{12: large}})
	keys("tombstones/12/0", "tombstones/12/+0", "tombstones/12/+1", "tombstones/12/+2", "tombstones/12/1", "tombstones/12/2", "tombstones/12/3")
	for i := range uint32(5000) {
		large.Add(13 * i)
	}
	apply(Edit{AddTombstones: map[uint64]*roaring.Bitmap{12: large}})
	keys("tombstones/12/0", "tombstones/12/1", "tombstones/12/2", "tombstones/12/3")
	add(7)
	apply(Edit{SetTombstones: map[uint64]*roaring.Bitmap{12: roaring.BitmapOf(9)}})
	keys("tombstones/12/0")
	add(7)
	for _, e := range []Edit{
		{AddTombstones: map[uint64]*roaring.Bitmap{12: roaring.BitmapOf(200_000)}},
		{AddTombstones: map[uint64]*roaring.Bitmap{14: roaring.BitmapOf(1)}},
		{DropTables: []uint64{12}, AddTombstones: map[uint64]*roaring.Bitmap{12: roaring.BitmapOf(1)}},
		{SetTombstones: map[uint64]*roaring.Bitmap{12: nil}, AddTombstones: map[uint64]*roaring.Bitmap{12: roaring.BitmapOf(1)}},
	} {
		if err := c.Apply(e); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", e, err)
		}
	}
	apply(Edit{DropTables: []uint64{12}})
	keys()
}

// TestMissingDelta has deltas without the first one, and one with a document that the table does
// not have.
func TestMissingDelta(t *testing.T) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	createGolden(t, name)
	for key, value := range map[string]*roaring.Bitmap{
		deltaKey(12, 1): roaring.BitmapOf(7), deltaKey(12, 0): roaring.BitmapOf(70_000), deltaKey(13, 0): roaring.BitmapOf(7),
		deltaKey(12, 0)[:len(deltaKey(12, 0))-1]: roaring.BitmapOf(7),
	} {
		tree := must.Get(readTree(vfs.Disk, name))(t)
		i := slices.IndexFunc(tree.entries, func(r record) bool { return string(r.key) == deltaKey(12, 0) })
		payload := must.Get(value.ToBytes())(t)
		tree.entries[i] = newRecord(key, payload)
		reseal(&tree)
		if _, _, err := decodeState(name, tree); !errors.Is(err, base.ErrCorruption) {
			t.Errorf("%x: %v", key, err)
		}
	}
}

// BenchmarkTombstones makes the edits of flushes that each replace 60,000 random documents of a
// table of 100 million, a tenth of which is dead.
func BenchmarkTombstones(b *testing.B) {
	const docs, flush = 100_000_000, 60_000
	name := filepath.Join(b.TempDir(), "CATALOG")
	r := rand.New(rand.NewPCG(1, 1))
	some := func(n int) *roaring.Bitmap {
		dead := make([]uint32, n)
		for i := range dead {
			dead[i] = r.Uint32N(docs)
		}
		slices.Sort(dead)
		return roaring.BitmapOf(dead...)
	}
	err := Create(vfs.Disk, name, State{
		Tables: []Table{{Number: 1, Docs: docs}}, Params: []byte{1}, Tombstones: map[uint64]*roaring.Bitmap{1: some(docs / 10)},
	})
	must.Do(b, err)
	c, _, err := Open(vfs.Disk, name)
	must.Do(b, err)
	defer c.Close()
	for b.Loop() {
		b.StopTimer()
		dead := some(flush)
		b.StartTimer()
		must.Do(b, c.Apply(Edit{AddTombstones: map[uint64]*roaring.Bitmap{1: dead}}))
	}
	b.ReportMetric(float64(c.Written())/float64(b.N)/1e6, "MB/op")
}
