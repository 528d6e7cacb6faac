package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// smallCatalog makes a catalog of n tables with some history and returns the bytes of its file and
// its state.
func smallCatalog(t *testing.T, n int) ([]byte, State) {
	t.Helper()
	fs := vfstest.NewMem(t.TempDir())
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	s := sample(rng, n)
	mustCreate(t, fs, "CATALOG", s)
	c, _ := mustOpen(t, fs, "CATALOG")
	for range 4 {
		e := randomEdit(rng, &s)
		must.Do(t, c.Apply(e))
		s.model(e)
	}
	must.Do(t, c.Close())
	host := must.Get(fs.HostPath("CATALOG"))(t)
	return fileBytes(t, host), s
}

// imageFS is the disk, with one file in memory.
type imageFS struct {
	vfs.FS
	image []byte
}

func (fs imageFS) Open(string) (vfs.File, error) { return imageFile{image: fs.image}, nil }

type imageFile struct {
	vfs.File
	image []byte
}

func (f imageFile) Size() (int64, error) { return int64(len(f.image)), nil }
func (f imageFile) Close() error         { return nil }
func (f imageFile) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(f.image)) {
		return 0, io.EOF
	}
	n := copy(p, f.image[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readImage reads a state as Open does before it hands the file to bbolt.
func readImage(image []byte) (*State, error) {
	tree, err := readTree(imageFS{image: image}, "CATALOG")
	if err != nil {
		return nil, err
	}
	s, _, err := decodeState("CATALOG", tree)
	return s, err
}

// judge fails the test unless the damaged image gives a corruption error with a place, or the same
// state.
func judge(t *testing.T, what string, image []byte, want State) (same bool) {
	t.Helper()
	got, err := readImage(image)
	var damage *base.CorruptionError
	switch {
	case err == nil && !equal(*got, want):
		t.Fatalf("%s: a wrong answer: %+v", what, got)
	case err != nil && !errors.As(err, &damage):
		t.Fatalf("%s: %v", what, err)
	case err != nil && (damage.File != "CATALOG" || damage.Section == ""):
		t.Fatalf("%s: no place in %+v", what, damage)
	}
	return err == nil
}

// usedPages returns the pages of an image that the current transaction uses.
func usedPages(t *testing.T, image []byte) map[uint64]bool {
	t.Helper()
	w := &walker{f: imageFile{image: image}, name: "CATALOG", seen: map[uint64]bool{0: true, 1: true}}
	m, err := w.meta()
	must.Do(t, err)
	w.pages = m.pages
	value, err := w.rootBucket(m.root)
	if err == nil {
		err = w.bucket(value)
	}
	must.Do(t, err)
	return w.seen
}

// TestEveryByteFlipped damages every byte of the pages in use, and some of the rest.
func TestEveryByteFlipped(t *testing.T) {
	exhaustive.Sequential(t)
	for _, tables := range []int{0, 12} { // the bucket inline, and in separate pages
		image, want := smallCatalog(t, tables)
		used := usedPages(t, image)
		tried, unnoticed := 0, 0
		for i := range exhaustive.Every(t, 4).Of(len(image)) {
			idle := !used[uint64(i/pageSize)] || i < 2*pageSize && i%pageSize > 2*(pageHeader+metaSize)
			if idle && i%97 != 0 {
				continue
			}
			for _, flip := range []byte{1 << (i % 8), 0xff} {
				image[i] ^= flip
				tried++
				if judge(t, fmt.Sprintf("%d tables, byte %d ^ %x", tables, i, flip), image, want) {
					unnoticed++
				}
				image[i] ^= flip
			}
		}
		t.Logf("%d tables: %d bytes in %d pages, %d of %d flips change nothing", tables, len(image), len(used), unnoticed, tried)
	}
}

func TestEveryTruncation(t *testing.T) {
	image, want := smallCatalog(t, 12)
	last := uint64(0)
	for page := range usedPages(t, image) {
		last = max(last, page)
	}
	for size := range image {
		if size < int(last+2)*pageSize || size%512 == 0 {
			judge(t, fmt.Sprintf("first %d bytes", size), image[:size], want)
		}
	}
}

func TestPagesSwappedAndStale(t *testing.T) {
	image, want := smallCatalog(t, 20)
	pages := len(image) / pageSize
	page := func(b []byte, i int) []byte { return b[i*pageSize:][:pageSize] }
	for a := range pages {
		for b := range pages {
			damaged := bytes.Clone(image)
			copy(page(damaged, a), page(image, b))
			judge(t, fmt.Sprintf("page %d over %d", b, a), damaged, want)
		}
		damaged := bytes.Clone(image)
		clear(page(damaged, a))
		judge(t, fmt.Sprintf("page %d zeroed", a), damaged, want)
	}
}

// TestStalePages undoes single writes of a transaction, like a disk that reported a write it had
// not done. If the root write is undone, the transaction has not happened; any other undone write
// must be noticed.
func TestStalePages(t *testing.T) {
	image, before := smallCatalog(t, 20)
	name := filepath.Join(t.TempDir(), "CATALOG")
	must.Do(t, os.WriteFile(name, image, 0o644))
	c, after := mustOpen(t, vfs.Disk, name)
	edit := Edit{SetMarks: map[string]int64{"later": 5}}
	must.Do(t, c.Apply(edit))
	after.model(edit)
	c.Close()
	later := fileBytes(t, name)
	changed := 0
	for i := 0; i < len(image); i += pageSize {
		damaged := bytes.Clone(later)
		copy(damaged[i:i+pageSize], image[i:])
		if bytes.Equal(damaged, later) {
			continue
		}
		changed++
		what := fmt.Sprintf("page %d is stale", i/pageSize)
		if i < 2*pageSize {
			judge(t, what, damaged, before)
		} else if judge(t, what, damaged, *after) {
			t.Errorf("%s, and nobody noticed", what)
		}
	}
	if changed < 3 {
		t.Errorf("the transaction wrote %d pages only", changed)
	}
}

// TestRandomDamage passes damaged catalogs that the walk accepts to bbolt: it must open them, apply
// an edit and return it.
func TestRandomDamage(t *testing.T) {
	image, _ := smallCatalog(t, 40)
	rng := rand.New(rand.NewPCG(6, 6))
	name := filepath.Join(t.TempDir(), "CATALOG")
	opened := 0
	for range 4000 {
		damaged := append([]byte(nil), image...)
		for range 1 + rng.IntN(3) {
			damaged[rng.IntN(len(damaged))] = byte(rng.Uint32())
		}
		if _, err := readImage(damaged); err != nil {
			continue
		}
		if opened++; opened > 150 {
			break
		}
		must.Do(t, os.WriteFile(name, damaged, 0o644))
		c, want := mustOpen(t, vfs.Disk, name)
		c.db.NoSync = true
		e := randomEdit(rng, want)
		must.Do(t, c.Apply(e))
		want.model(e)
		c.Close()
		mustRead(t, vfs.Disk, name, *want)
	}
	if opened < 50 {
		t.Errorf("only %d files could be opened", opened)
	}
}

// TestWalkAgreesWithBolt compares the records of the walk with bbolt's own.
func TestWalkAgreesWithBolt(t *testing.T) {
	for _, n := range []int{0, 3, 60, 2000} {
		name := filepath.Join(t.TempDir(), "CATALOG")
		mustCreate(t, vfs.Disk, name, sample(rand.New(rand.NewPCG(7, 7)), n))
		tree, err := readTree(vfs.Disk, name)
		must.Do(t, err)
		db, err := bbolt.Open(name, 0o644, readOptions())
		must.Do(t, err)
		var want []record
		err = db.View(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucketName)).ForEach(func(k, v []byte) error {
				want = append(want, record{append([]byte{}, k...), append([]byte{}, v...)})
				return nil
			})
		})
		if err != nil || !reflect.DeepEqual(tree.entries, want) {
			t.Errorf("%d tables: %v: the records differ", n, err)
		}
		db.Close()
	}
}

func TestFileCutWhileOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	mustCreate(t, vfs.Disk, name, sample(rand.New(rand.NewPCG(8, 8)), 100))
	c, _ := mustOpen(t, vfs.Disk, name)
	if err := os.Truncate(name, 2*pageSize); vfs.InUse(err) {
		c.Close()
		t.Skip("this system cuts no file that is mapped:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(Edit{DropTables: []uint64{1}}); !errors.Is(err, base.ErrCorruption) {
		t.Errorf("Apply: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
