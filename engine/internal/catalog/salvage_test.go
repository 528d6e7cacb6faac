package catalog

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// TestSalvage damages every sector of catalogs, and single bytes: the salvaged state must be the
// original one, and damage to a root page must lose nothing.
func TestSalvage(t *testing.T) {
	for _, n := range []int{0, 3, 60} {
		image, want := grownCatalog(t, n)
		whole, err := Salvage(imageFS{image: image}, "CATALOG")
		if err != nil || whole.Err != nil || whole.State == nil || !equal(*whole.State, want) {
			t.Fatalf("an intact catalog: %+v, %v", whole, err)
		}
		current, all := 0, 0
		look := func(what string, at int, bad []byte) {
			t.Helper()
			got, err := Salvage(imageFS{image: bad}, "CATALOG")
			if err != nil {
				t.Fatalf("%s at %d: %v", what, at, err)
			}
			if all++; got.State != nil {
				if current++; !equal(*got.State, want) {
					t.Errorf("%s at %d: a state that is said to be current is not", what, at)
				}
			} else if got.Err == nil {
				t.Errorf("%s at %d: nothing is known, and no error", what, at)
			}
		}
		for at := 0; at < len(image); at += 512 {
			bad := bytes.Clone(image)
			clear(bad[at:min(at+512, len(bad))])
			look("zeros", at, bad)
		}
		for page := range 2 {
			bad := bytes.Clone(image)
			clear(bad[page*pageSize:][:pageSize])
			if got, err := Salvage(imageFS{image: bad}, "CATALOG"); err != nil || got.State == nil {
				t.Errorf("without root page %d nothing is known: %v", page, err)
			}
		}
		rng := rand.New(rand.NewPCG(uint64(n), 4))
		for range 300 {
			bad := bytes.Clone(image)
			at := rng.IntN(len(bad))
			bad[at] ^= 1 << rng.UintN(8)
			look("a flipped bit", at, bad)
		}
		for _, size := range []int{0, 1, 4096, 8192, len(image) / 2} {
			look("cut", size, image[:min(size, len(image))])
		}
		t.Logf("%d tables: %d of %d damaged catalogs are read as they were", n, current, all)
	}
}

// grownCatalog makes a catalog of n tables whose documents die and never come back, as in a
// database. It returns the bytes of its file and its state.
func grownCatalog(t *testing.T, n int) ([]byte, State) {
	t.Helper()
	fs := vfstest.NewMem(t.TempDir())
	rng := rand.New(rand.NewPCG(6, uint64(n)))
	s := sample(rng, n)
	mustCreate(t, fs, "CATALOG", s)
	c, _ := mustOpen(t, fs, "CATALOG")
	for range 5 {
		e := Edit{AddTombstones: map[uint64]*roaring.Bitmap{}}
		for _, table := range s.Tables {
			if table.Docs == 0 || rng.IntN(2) == 0 {
				continue
			}
			dead := roaring.New()
			for range 5 {
				dead.Add(rng.Uint32N(table.Docs))
			}
			e.AddTombstones[table.Number] = dead
		}
		seq := s.FlushedSeq + 1
		e.FlushedSeq = &seq
		must.Do(t, c.Apply(e))
		s.model(e)
	}
	must.Do(t, c.Close())
	host := must.Get(fs.HostPath("CATALOG"))(t)
	return fileBytes(t, host), s
}
