package sstable

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// withIDHash returns table r in version 2, which must be known, with its run of IDs as h says.
func withIDHash(t *testing.T, r *Reader, h idHash) []byte {
	t.Helper()
	type entry struct {
		key uint64
		doc uint32
	}
	var entries []entry
	for doc := range r.NumDocs() {
		id, err := r.ID(doc)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{h.key(id), doc})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.doc, b.doc)) })
	var keys []uint64
	var docs bytes.Buffer
	column := keyrun.NewColumnWriter(&docs)
	for _, e := range entries {
		keys = append(keys, e.key)
		if err := column.Add(uint64(e.doc)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := column.Finish(); err != nil {
		t.Fatal(err)
	}
	data, info := appendHeader(nil, 2), r.Info()
	info.Version, info.Sections = 2, slices.Clone(info.Sections)
	for i := range info.Sections {
		s := &info.Sections[i]
		content := r.bytes(s)
		switch s.Kind {
		case KindIDs:
			content = keyrun.Append(nil, keys)
		case KindIDDocs:
			content = docs.Bytes()
		}
		data = append(data, make([]byte, align(int64(len(data)))-int64(len(data)))...)
		s.Offset, s.Length, s.Checksum = int64(len(data)), int64(len(content)), crc.Sum(content)
		data = append(data, content...)
	}
	data = append(data, make([]byte, align(int64(len(data)))-int64(len(data)))...)
	return appendFooter(data, int64(len(data)), r.Params(), &info)
}

// someIDHashes are that of version 1, other hashes, and ones that few bits are kept of: of tables
// with hundreds of documents many keys are equal then.
var someIDHashes = []idHash{{}, {seed: 7}, {drop: 56}, {drop: 50}, {seed: 7, drop: 55}, {seed: 8, drop: 63}}

// TestIDHash looks IDs up in tables that hash them in different ways.
func TestIDHash(t *testing.T) {
	withVersion2(t)
	rng := rand.New(rand.NewPCG(97, 98))
	one := namedTable(t, rng, numbered(0, 1300))
	want := make([]uint64, 0, one.NumDocs())
	for _, id := range numbered(0, 1300) {
		want = append(want, HashID([]byte(id)))
	}
	slices.Sort(want)
	for _, h := range someIDHashes {
		idHashes[2] = func(*Info) idHash { return h }
		data := withIDHash(t, one, h)
		r := openTable(t, data)
		if err := r.Verify(t.Context(), nil); err != nil {
			t.Errorf("%+v: %v", h, err)
		}
		for i, id := range numbered(0, 2600) {
			doc, found, err := r.Lookup([]byte(id))
			if err != nil || found != (i < 1300) {
				t.Fatalf("%+v: lookup of %q: found %v, %v", h, id, found, err)
			}
			if name, err := r.ID(doc); found && (err != nil || string(name) != id) {
				t.Fatalf("%+v: lookup of %q finds %q, %v", h, id, name, err)
			}
		}
		var got []uint64
		err := r.IDHashBlocks(func(hashes []uint64) error { got = append(got, hashes...); return nil })
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: IDHashBlocks has not HashID of every ID once: %d of %d hashes, %v", h, len(got), len(want), err)
		}
		// The same table, read as if its hash were another one.
		idHashes[2] = func(*Info) idHash { return idHash{seed: h.seed + 1, drop: h.drop} }
		if err := openTable(t, data).Verify(t.Context(), nil); !errors.Is(err, base.ErrCorruption) {
			t.Errorf("%+v: verified with another hash: %v", h, err)
		}
	}
	delete(idHashes, 2)
	refused(t, withIDHash(t, one, idHash{}), "the hash of IDs of table format version 2 is not known")
}

// TestEachCommonIDOfHashes finds the common IDs of tables that hash IDs differently, or keep more
// or less of the same hash.
func TestEachCommonIDOfHashes(t *testing.T) {
	withVersion2(t)
	rng := rand.New(rand.NewPCG(99, 100))
	for _, size := range [][2]int{{0, 9}, {1, 1}, {40, 1200}, {1200, 700}} {
		from := size[0] / 2
		tables := [2]*Reader{
			namedTable(t, rng, numbered(0, size[0])),
			namedTable(t, rng, numbered(from, from+size[1])),
		}
		common := max(min(size[0], from+size[1])-from, 0)
		open := func(i int, h idHash) *Reader {
			idHashes[2] = func(*Info) idHash { return h }
			return openTable(t, withIDHash(t, tables[i], h))
		}
		for _, first := range someIDHashes {
			for _, second := range someIDHashes {
				a, b := open(0, first), open(1, second)
				seen := map[string]bool{}
				err := EachCommonID(a, b, func(docA, docB uint32) error {
					idA, _ := a.ID(docA)
					idB, _ := b.ID(docB)
					if !bytes.Equal(idA, idB) || seen[string(idA)] {
						t.Fatalf("%v, %+v and %+v: %q and %q", size, first, second, idA, idB)
					}
					seen[string(idA)] = true
					return nil
				})
				if err != nil || len(seen) != common {
					t.Errorf("%v, %+v and %+v: %d common IDs, want %d, %v", size, first, second, len(seen), common, err)
				}
			}
		}
	}
}

// numbered returns the IDs with the numbers from lo on and below hi.
func numbered(lo, hi int) (ids []string) {
	for i := lo; i < hi; i++ {
		ids = append(ids, fmt.Sprint("id-", i))
	}
	return ids
}
