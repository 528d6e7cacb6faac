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

// withIDHash returns table r in version 3, which must be known, with its run of IDs as h says.
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
	var body bytes.Buffer
	run := keyrun.NewPairWriter(&body, max(r.NumDocs(), 1)-1)
	for _, e := range entries {
		if err := run.AddPair(e.key, e.doc); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := run.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return rebuilt(r, 3, map[Kind][]byte{KindIDs: body.Bytes(), KindIDs | dirFlag: dir}, nil)
}

// rebuilt returns table r in a version, with other contents of sections of some kinds, and other
// counts. What has another length goes to the end, so that the blocks stay where they are, and an
// optional section that nobody knows takes its place.
func rebuilt(r *Reader, version uint32, contents map[Kind][]byte, counts map[Kind]uint64) []byte {
	data, info := appendHeader(nil, version), r.Info()
	var sections, moved []Section
	add := func(s Section, content []byte) {
		data = append(data, make([]byte, align(int64(len(data)))-int64(len(data)))...)
		s.Offset, s.Length, s.Checksum = int64(len(data)), int64(len(content)), crc.Sum(content)
		data, sections = append(data, content...), append(sections, s)
	}
	for _, s := range info.Sections {
		if count, ok := counts[s.Kind]; ok {
			s.Count = count
		}
		content, ok := contents[s.Kind]
		if ok && int64(len(content)) != s.Length {
			moved = append(moved, s)
			s.Kind, s.Index, s.Optional, ok = kindUnknown+Kind(len(moved)), 0, true, false
		}
		if !ok {
			content = r.data[s.Offset:][:s.Length]
		}
		add(s, content)
	}
	for _, s := range moved {
		add(s, contents[s.Kind])
	}
	data = append(data, make([]byte, align(int64(len(data)))-int64(len(data)))...)
	info.Version, info.Sections = version, sections
	return appendFooter(data, int64(len(data)), r.Params(), &info)
}

// someIDHashes are a whole hash, that of version 2, other hashes, and ones that few bits are kept
// of: of tables with hundreds of documents many keys are equal then.
var someIDHashes = []idHash{{}, {drop: 24}, {seed: 7}, {drop: 56}, {drop: 50}, {seed: 7, drop: 55}, {seed: 8, drop: 63}}

// TestIDHash looks IDs up in tables that hash them in different ways.
func TestIDHash(t *testing.T) {
	withVersion3(t)
	rng := rand.New(rand.NewPCG(97, 98))
	one := namedTable(t, rng, numbered(0, 1300))
	want := make([]uint64, 0, one.NumDocs())
	for _, id := range numbered(0, 1300) {
		want = append(want, HashID([]byte(id)))
	}
	slices.Sort(want)
	for _, h := range someIDHashes {
		idHashes[3] = func(*Info) idHash { return h }
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
		idHashes[3] = func(*Info) idHash { return idHash{seed: h.seed + 1, drop: h.drop} }
		if err := openTable(t, data).Verify(t.Context(), nil); !errors.Is(err, base.ErrCorruption) {
			t.Errorf("%+v: verified with another hash: %v", h, err)
		}
	}
	delete(idHashes, 3)
	refused(t, withIDHash(t, one, idHash{}), "the hash of IDs of table format version 3 is not known")
}

// TestEachCommonIDOfHashes finds the common IDs of tables that hash IDs differently, or keep more
// or less of the same hash.
func TestEachCommonIDOfHashes(t *testing.T) {
	withVersion3(t)
	rng := rand.New(rand.NewPCG(99, 100))
	for _, size := range [][2]int{{0, 9}, {1, 1}, {40, 1200}, {1200, 700}} {
		from := size[0] / 2
		tables := [2]*Reader{
			namedTable(t, rng, numbered(0, size[0])),
			namedTable(t, rng, numbered(from, from+size[1])),
		}
		common := max(min(size[0], from+size[1])-from, 0)
		open := func(i int, h idHash) *Reader {
			idHashes[3] = func(*Info) idHash { return h }
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
