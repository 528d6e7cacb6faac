package table

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// collidingIDs are pairs of IDs whose hashes have the same 38 bits, found by trial.
var collidingIDs = [][2]string{
	{"id-66568", "id-84249"}, {"id-1018700", "id-1343446"}, {"id-83648", "id-2588371"},
	{"id-1281111", "id-2833248"}, {"id-2881258", "id-3131443"}, {"id-441051", "id-3234825"},
}

// TestCollidingIDs looks up IDs that share their hash with another ID, which may be in the table or
// not. Only the names distinguish them.
func TestCollidingIDs(t *testing.T) {
	rng := rand.New(rand.NewPCG(111, 112))
	for _, more := range []int{0, 5, 2000, 3000} {
		var both, first []string
		for i := range more {
			both = append(both, fmt.Sprint("other-", i))
			if more < 3000 { // otherwise the other table is much larger
				first = append(first, fmt.Sprint("more-", i))
			}
		}
		for _, pair := range collidingIDs {
			if HashID([]byte(pair[0])) != HashID([]byte(pair[1])) {
				t.Fatalf("%q do not collide", pair)
			}
			both = append(both, pair[0], pair[1])
			first = append(first, pair[0])
		}
		a, b := namedTable(t, rng, both), namedTable(t, rng, first)
		for _, r := range []*Reader{a, b} {
			if err := r.Verify(t.Context(), nil); err != nil {
				t.Error(err)
			}
			for _, pair := range collidingIDs {
				for i, id := range pair {
					doc, found, err := r.Lookup([]byte(id))
					if err != nil || found != (i == 0 || r == a) {
						t.Errorf("Lookup(%q): %v, %v", id, found, err)
					}
					if name, err := r.ID(doc); found && (err != nil || string(name) != id) {
						t.Errorf("Lookup(%q) finds %q, %v", id, name, err)
					}
				}
			}
		}
		for _, tables := range [][2]*Reader{{a, b}, {b, a}, {a, a}, {b, b}} {
			want := len(collidingIDs)
			if tables[0] == tables[1] {
				want = int(tables[0].NumDocs())
			}
			n := 0
			err := EachCommonID(tables[0], tables[1], func(docA, docB uint32) error {
				idA, err1 := tables[0].ID(docA)
				idB, err2 := tables[1].ID(docB)
				if n++; err1 != nil || err2 != nil || string(idA) != string(idB) {
					t.Errorf("documents %d and %d are %q and %q, %v, %v", docA, docB, idA, idB, err1, err2)
				}
				return nil
			})
			if err != nil || n != want {
				t.Errorf("%d common IDs, want %d, %v", n, want, err)
			}
		}
	}
}

// TestCollidingIDTwice verifies a table that has an ID twice, under a hash that another ID shares.
func TestCollidingIDTwice(t *testing.T) {
	pair := collidingIDs[0]
	for _, ids := range [][]string{{pair[0], pair[1], pair[0]}, {pair[1], pair[1], pair[0]}, {pair[0], "x", pair[1], "y", pair[1]}} {
		docs := make([]Document, len(ids))
		for i := range docs {
			docs[i] = Document{ID: []byte{byte(i)}, HasFingerprint: true, Fingerprint: uint64(i)}
		}
		r := openTable(t, spoiledTable(t, docs, func(b *write.BatchOrder) { rename(b, ids) }))
		var corrupt *base.CorruptionError
		if err := r.Verify(t.Context(), nil); !errors.As(err, &corrupt) || corrupt.Section != "ids" {
			t.Errorf("%q: Verify gave %v", ids, err)
		}
	}
}
