package catalog

import (
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
)

// FuzzCatalog reads arbitrary bytes as a catalog. First it corrects the checksums of the root
// pages, and, with repair, those of the records and the digest too. If the catalog can be read,
// bbolt must be able to read it as well.
func FuzzCatalog(f *testing.F) {
	for _, tables := range []int{0, 2, 9} {
		s := sample(rand.New(rand.NewPCG(9, uint64(tables))), tables)
		name := filepath.Join(f.TempDir(), "CATALOG")
		must.Do(f, Create(vfs.Disk, name, s))
		if c, state, err := Open(vfs.Disk, name); err != nil {
			f.Fatal(err)
		} else {
			for number, dead := range state.Tombstones {
				must.Do(f, c.Apply(Edit{AddTombstones: map[uint64]*roaring.Bitmap{number: dead}}))
			}
			must.Do(f, c.Close())
		}
		image := must.Get(os.ReadFile(name))(f)
		for _, repair := range []bool{false, true} {
			f.Add(image[:min(len(image), 8*pageSize)], repair)
		}
	}
	f.Fuzz(func(t *testing.T, image []byte, repair bool) {
		for i := 0; i < 2 && len(image) >= (i+1)*pageSize; i++ {
			resealMeta(image[i*pageSize:])
		}
		tree, err := readTree(imageFS{image: image}, "CATALOG")
		if err == nil {
			if repair {
				reseal(&tree)
			}
			_, _, err = decodeState("CATALOG", tree)
		}
		if err != nil {
			if !errors.Is(err, base.ErrCorruption) && !errors.Is(err, ErrVersion) {
				t.Fatal(err)
			}
			return
		}
		if repair {
			return // the file itself is not repaired
		}
		name := filepath.Join(t.TempDir(), "CATALOG")
		must.Do(t, os.WriteFile(name, image, 0o644))
		c, _, err := Open(vfs.Disk, name)
		must.Do(t, err)
		must.Do(t, c.Close())
	})
}

// resealMeta gives a meta page a good checksum.
func resealMeta(page []byte) {
	body := page[pageHeader:]
	hash := fnv.New64a()
	hash.Write(body[:56])
	order.PutUint64(body[56:], hash.Sum64())
}

// reseal gives all records good checksums, and the digest the right sum.
func reseal(t *tree) {
	var d digest
	at := -1
	for i, r := range t.entries {
		if string(r.key) == keyDigest {
			at = i
			continue
		}
		if len(r.value) >= crcSize {
			t.entries[i] = newRecord(string(r.key), r.value[crcSize:])
		}
		d.add(t.entries[i].key, t.entries[i].value)
	}
	if at >= 0 {
		t.entries[at] = d.record(t.txid)
	}
}
