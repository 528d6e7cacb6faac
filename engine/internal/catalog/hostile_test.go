package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs"
)

// treeCatalog returns a catalog whose bucket has separate pages, a root and its leaves.
func treeCatalog(t *testing.T) ([]byte, State) {
	t.Helper()
	image, s := smallCatalog(t, 150)
	if used := usedPages(t, image); len(used) < 6 {
		t.Fatalf("only %d pages", len(used))
	}
	return image, s
}

// TestEveryMetaByte checks that a damaged root page is always noticed, even if the other one is
// good.
func TestEveryMetaByte(t *testing.T) {
	image, want := smallCatalog(t, 1)
	for i := range 2 * (pageHeader + metaSize) {
		at := i%(pageHeader+metaSize) + i/(pageHeader+metaSize)*pageSize
		if field := at % pageSize; field >= 10 && field < pageHeader {
			continue // element count and overflow have no meaning here
		}
		image[at] ^= 0x40
		if judge(t, fmt.Sprintf("byte %d", at), image, want) {
			t.Errorf("byte %d was not noticed", at)
		}
		image[at] ^= 0x40
	}
}

// TestRootLedAstray makes the bucket start at every page of the file, including those of earlier
// transactions.
func TestRootLedAstray(t *testing.T) {
	for _, tables := range []int{1, 150} {
		image, want := smallCatalog(t, tables)
		w := &walker{f: imageFile{image: image}, name: "CATALOG", seen: map[uint64]bool{}}
		m := must.Get(w.meta())(t)
		for page := uint64(2); page < m.pages; page++ {
			damaged := bytes.Clone(image)
			// The root's leaf has one element, whose value comes after the page header, the element
			// header and the key.
			at := int(m.root)*pageSize + pageHeader + 16 + len(bucketName)
			order.PutUint64(damaged[at:], page)
			judge(t, fmt.Sprintf("%d tables, bucket at page %d", tables, page), damaged, want)

			meta := int(m.txid%2) * pageSize
			damaged = bytes.Clone(image)
			order.PutUint64(damaged[meta+pageHeader+16:], page)
			resealMeta(damaged[meta:])
			judge(t, fmt.Sprintf("%d tables, root at page %d", tables, page), damaged, want)
		}
	}
}

// TestLostRootWrite loses the write of a root page that was not the last.
func TestLostRootWrite(t *testing.T) {
	image, _ := smallCatalog(t, 3)
	name := filepath.Join(t.TempDir(), "CATALOG")
	must.Do(t, os.WriteFile(name, image, 0o644))
	c, _ := mustOpen(t, vfs.Disk, name)
	for i := range int64(2) {
		must.Do(t, c.Apply(Edit{SetMarks: map[string]int64{"m": i}}))
	}
	c.Close()
	later := fileBytes(t, name)
	older := 0
	if order.Uint64(later[pageHeader+48:]) > order.Uint64(later[pageSize+pageHeader+48:]) {
		older = pageSize
	}
	copy(later[older:older+pageSize], image[older:])
	if _, err := readImage(later); !errors.Is(err, base.ErrCorruption) {
		t.Error(err)
	}
}

// TestHostileLeaves changes leaves so that all checksums are right but bbolt would panic in its own
// goroutine: the walk must refuse them, or bbolt must be able to open the file.
func TestHostileLeaves(t *testing.T) {
	image, _ := treeCatalog(t)
	refused := 0
	try := func(what string, damaged []byte, mustFail bool) {
		_, err := readImage(damaged)
		if err != nil {
			refused++
			return
		}
		if mustFail {
			t.Errorf("%s was not noticed", what)
		}
		name := filepath.Join(t.TempDir(), "CATALOG")
		must.Do(t, os.WriteFile(name, damaged, 0o644))
		c, _, err := Open(vfs.Disk, name)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		c.Close()
	}
	for page := range usedPages(t, image) {
		at := int(page) * pageSize
		if page < 2 || order.Uint64(image[at:]) != page {
			continue
		}
		for _, more := range []uint32{1, 2, 3} {
			damaged := bytes.Clone(image)
			order.PutUint32(damaged[at+12:], more)
			try(fmt.Sprintf("page %d with %d more", page, more), damaged, false)
		}
		w := &walker{name: "CATALOG"}
		elems, err := w.elements(pageOf(image, page), leafPage)
		if err != nil || len(elems) < 2 {
			continue
		}
		damaged := bytes.Clone(image)
		slices.Reverse(elems)
		layOut(damaged[at:], elems)
		try(fmt.Sprintf("page %d with its keys reversed", page), damaged, true)
	}
	if refused < 3 {
		t.Errorf("only %d refused", refused)
	}
}

func pageOf(image []byte, id uint64) page {
	return page{id, image[id*pageSize:][:pageSize]}
}

// layOut writes the elements into a leaf page, as bbolt does.
func layOut(buf []byte, elems []element) {
	elems = slices.Clone(elems)
	for i := range elems {
		elems[i].key, elems[i].value = bytes.Clone(elems[i].key), bytes.Clone(elems[i].value)
	}
	start := pageHeader + 16*len(elems)
	for i, e := range elems {
		at := pageHeader + 16*i
		for j, v := range []uint32{e.flags, uint32(start - at), uint32(len(e.key)), uint32(len(e.value))} {
			order.PutUint32(buf[at+4*j:], v)
		}
		start += copy(buf[start:], e.key)
		start += copy(buf[start:], e.value)
	}
}

// TestInvalidBitmap has a bitmap with a right checksum that violates Roaring's rules: its values
// are not sorted.
func TestInvalidBitmap(t *testing.T) {
	name := filepath.Join(t.TempDir(), "CATALOG")
	mustCreate(t, vfs.Disk, name, goldenState())
	tree, err := readTree(vfs.Disk, name)
	must.Do(t, err)
	i := slices.IndexFunc(tree.entries, func(r record) bool { return string(r.key) == tombstoneKey(12, 0) })
	payload := bytes.Clone(tree.entries[i].value[crcSize:])
	binary.LittleEndian.PutUint16(payload[len(payload)-4:], 9) // 9, 2
	tree.entries[i] = newRecord(tombstoneKey(12, 0), payload)
	reseal(&tree)
	_, _, err = decodeState(name, tree)
	var damage *base.CorruptionError
	if !errors.As(err, &damage) || damage.Section != "tombstones/12/0" {
		t.Error(err)
	}
}

// TestResealedNoise damages payloads under right checksums: the result must be an error, or a
// consistent state, but never a panic.
func TestResealedNoise(t *testing.T) {
	exhaustive.Sequential(t)
	image, _ := smallCatalog(t, 6)
	decoded := 0
	for i := range exhaustive.Every(t, 4).Of(20_000) {
		rng := rand.New(rand.NewPCG(10, uint64(i)))
		tree, err := readTree(imageFS{image: image}, "CATALOG")
		must.Do(t, err)
		r := &tree.entries[rng.IntN(len(tree.entries))]
		if len(r.value) <= crcSize {
			continue
		}
		r.value[crcSize+rng.IntN(len(r.value)-crcSize)] ^= byte(1 + rng.IntN(255))
		reseal(&tree)
		s, _, err := decodeState("CATALOG", tree)
		if err != nil {
			continue
		}
		decoded++
		if _, _, err := encodeState(*s); err != nil {
			t.Fatalf("the state contradicts itself: %v", err)
		}
	}
	if decoded == 0 {
		t.Error("nothing passed")
	}
}
