package engine

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/simdb/simdb/sstable"
)

// TestReplayMany opens databases whose logs have more writes than are replayed together: puts and
// deletes of documents that tables have, again and again, with loads between them that overtake the
// log. A reader and a writer find the last version of each document and no other.
func TestReplayMany(t *testing.T) {
	for _, writes := range []int{0, 1, 130, 1024, 2600} {
		t.Run(fmt.Sprint(writes), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.simdb")
			opts := &Options{NoSketch: true, Sync: SyncNever, DisableAutoCompaction: true}
			db := must(Create(path, opts))(t)
			r := rand.New(rand.NewPCG(31, uint64(writes)))
			have := map[string]uint64{}
			load := func(from, to int) {
				var docs []Doc
				for i := from; i < to; i++ {
					d := Doc{ID: fmt.Sprint(i), Fingerprint: new(r.Uint64())}
					docs = append(docs, d)
					have[d.ID] = *d.Fingerprint
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
					err = db.Put(t.Context(), Doc{ID: id, Fingerprint: new(have[id])})
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
						t.Fatalf("%s is there twice, or %v", e.ID, err)
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
// their IDs are looked up: the error names the table and the section.
func TestReplayDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.simdb")
	opts := &Options{NoSketch: true, Sync: SyncNever, DisableAutoCompaction: true}
	db := must(Create(path, opts))(t)
	loadTable(t, db, 0, 5000)
	if err := errors.Join(putSome(db, 0, 500), db.Close()); err != nil {
		t.Fatal(err)
	}
	table := must(filepath.Glob(filepath.Join(path, "*.sst")))(t)[0]
	r := must(sstable.Open(table))(t)
	var at int64
	for _, s := range r.Info().Sections {
		if s.Kind == sstable.KindIDs {
			at = s.Offset + s.Length/2
		}
	}
	data := must(os.ReadFile(table))(t)
	data[at] ^= 1
	if err := errors.Join(r.Close(), os.WriteFile(table, data, 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{true, false} {
		db, err := Open(path, &Options{ReadOnly: readOnly})
		var damage *CorruptionError
		if !errors.As(err, &damage) || damage.File != filepath.Base(table) || damage.Section != "ids" {
			t.Errorf("read-only %v: %v", readOnly, err)
		}
		if err == nil {
			db.Close()
		}
	}
}
