package engine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestRangeWideMemtable reads documents of the memtable and of a table in turn, with their texts: what is
// read of the table must not overwrite fingerprints in the memtable.
func TestRangeWideMemtable(t *testing.T) {
	db, _ := create4test(t, &Options{Bits: 256, DisableAutoCompaction: true, NoSync: true})
	words := func(i int) []uint64 { return []uint64{uint64(i), uint64(i + 100), uint64(i + 200), uint64(i + 300)} }
	for odd := range 2 {
		for i := odd; i < 20; i += 2 {
			must.Do(t, db.Put(t.Context(), Doc{ID: fmt.Sprintf("%02d", i), Text: "text", Fingerprints: []Fingerprint{words(i)}}))
		}
		if odd == 0 {
			must.Do(t, db.Flush(t.Context()))
		}
	}
	for range 2 {
		n := 0
		for d, err := range db.Range(t.Context(), Range{Load: true}) {
			must.Do(t, err)
			if len(d.Fingerprints) != 1 || !slices.Equal(d.Fingerprints[0], words(n)) {
				t.Errorf("%s has %d, want %d", d.ID, d.Fingerprints, words(n))
			}
			n++
		}
		if n != 20 {
			t.Errorf("%d documents, want 20", n)
		}
	}
}
