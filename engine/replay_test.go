package engine

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
)

// TestReplayMany opens databases whose logs have more writes than are replayed together: repeated
// puts and deletes of documents in tables, with loads in between that overtake the log. A reader
// and a writer must find exactly the last version of each document.
func TestReplayMany(t *testing.T) {
	for _, writes := range []int{0, 1, 130, 1024, 2600} {
		t.Run(fmt.Sprint(writes), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.simdb")
			opts := &Options{NoSketch: true, NoSync: true, DisableAutoCompaction: true}
			db := must(Create(path, opts))(t)
			r := rand.New(rand.NewPCG(31, uint64(writes)))
			have := map[string]uint64{}
			load := func(from, to int) {
				var docs []Doc
				for i := from; i < to; i++ {
					d := Doc{ID: fmt.Sprint(i), Fingerprints: []Fingerprint{{r.Uint64()}}}
					docs = append(docs, d)
					have[d.ID] = d.Fingerprints[0][0]
				}
				loadStored(t, db, docs...)
			}
			load(0, 300)
			load(200, 500)
			for i := range writes {
				id := fmt.Sprint(r.IntN(600))
				var err error
				if r.IntN(4) == 0 {
					delete(have, id)
					if err = db.Delete(t.Context(), id); errors.Is(err, ErrNotFound) {
						err = nil
					}
				} else {
					have[id] = r.Uint64()
					err = db.Put(t.Context(), Doc{ID: id, Fingerprints: []Fingerprint{{have[id]}}})
				}
				if err != nil {
					t.Fatal(err)
				}
				if i%1000 == 500 {
					load(100, 120)
				}
			}
			check := func(o Options) {
				t.Helper()
				db := must(Open(path, &o))(t)
				defer db.Close()
				got := map[string]uint64{}
				for e, err := range entriesOf(t.Context(), db, Range{}) {
					if _, twice := got[e.ID]; twice || err != nil {
						t.Fatalf("%s occurs twice, or %v", e.ID, err)
					}
					got[e.ID] = e.Fingerprint
				}
				if !maps.Equal(got, have) {
					t.Errorf("%d documents, want %d: %v and %v", len(got), len(have), slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(have)))
				}
			}
			check(Options{ReadOnly: true}) // while the writer has the log open
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			check(Options{ReadOnly: true})
			check(*opts)
		})
	}
}

// TestReplayDamaged opens a database whose log has many writes, and whose table is damaged where
// their IDs are looked up: the documents must be found by name.
func TestReplayDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.simdb")
	opts := &Options{NoSketch: true, NoSync: true, DisableAutoCompaction: true}
	db := must(Create(path, opts))(t)
	loadTable(t, db, 0, 5000)
	for i := range 500 {
		if err := db.Put(t.Context(), Doc{ID: fmt.Sprint(i * 3), Fingerprints: []Fingerprint{{uint64(i)}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range flipEach(t, path, "ids", 0) {
		for _, readOnly := range []bool{true, false} {
			db := must(Open(path, &Options{ReadOnly: readOnly, DisableAutoCompaction: true}))(t)
			listed := map[string]bool{}
			for e, err := range entriesOf(t.Context(), db, Range{}) {
				if listed[e.ID] || err != nil {
					t.Fatalf("%s occurs twice, or %v", e.ID, err)
				}
				listed[e.ID] = true
			}
			n, err := db.Count(t.Context(), Range{})
			if err = errors.Join(err, db.Close()); int(n) != len(listed) || len(listed) != 5000 || err != nil {
				t.Errorf("read-only %v: %d documents, %d listed, %v", readOnly, n, len(listed), err)
			}
		}
	}
}
