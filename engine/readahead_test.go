package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// aheadDB is a database of documents with and without texts in several tables and a memtable, some
// of them deleted or replaced, and what it should have, in the order of IDs.
func aheadDB(t *testing.T, path string, memory int64) (*DB, []Doc) {
	t.Helper()
	db := must.Get(Create(path, &Options{NoSync: true, DisableAutoCompaction: true, Memory: memory}))(t)
	t.Cleanup(func() { db.Close() })
	r := rand.New(rand.NewPCG(15, 16))
	model := map[string]Doc{}
	for round := range 4 {
		var b Batch
		for range 700 {
			d := Doc{ID: fmt.Sprintf("%c/%d", "ab"[r.IntN(2)], r.IntN(2000)), Fields: json.RawMessage(fmt.Sprintf(`{"n":%d}`, r.IntN(1e6)))}
			if r.IntN(3) == 0 {
				d.Text = strings.Repeat(fmt.Sprintf("word%d ", r.IntN(500)), r.IntN(300))
			}
			if r.IntN(5) == 0 {
				b.Delete(d.ID)
				delete(model, d.ID)
			} else {
				b.Put(d)
				model[d.ID] = d
			}
		}
		must.Do(t, db.Apply(t.Context(), &b))
		if round < 3 {
			must.Do(t, db.Flush(t.Context()))
		}
	}
	var want []Doc
	for _, d := range model {
		want = append(want, d)
	}
	slices.SortFunc(want, func(a, b Doc) int { return strings.Compare(a.ID, b.ID) })
	return db, want
}

// TestReadAhead compares ranges that are read ahead with a model: with little memory, in both
// directions, with bounds and limits, in several tables and in one.
func TestReadAhead(t *testing.T) {
	for _, memory := range []int64{0, 4000} {
		db, all := aheadDB(t, filepath.Join(t.TempDir(), "db"), memory)
		for range 2 {
			for _, r := range []Range{
				{}, {Reverse: true}, {Limit: 100}, {Limit: 129}, {Limit: 700, Reverse: true}, {Prefix: "b"}, {Prefix: "a", Limit: 300},
				{After: "a/5"}, {After: "b/5", Reverse: true, Limit: 400}, {From: "a/77", To: "b/3"}, {From: "b/3", To: "a/77"}, {Prefix: "c"}, {Limit: math.MaxInt}, {Limit: math.MaxInt, Reverse: true},
			} {
				for _, r.Load = range []bool{true, false} {
					checkAhead(t, db, r, all)
				}
			}
			must.Do(t, db.Compact(t.Context(), nil))
		}
	}
}

// checkAhead compares a range with the documents of a model, also when all are held.
func checkAhead(t *testing.T, db *DB, r Range, all []Doc) {
	t.Helper()
	var want []Doc
	for _, d := range all {
		if strings.HasPrefix(d.ID, r.Prefix) && d.ID >= r.From && (r.To == "" || d.ID < r.To) &&
			(r.After == "" || !r.Reverse && d.ID > r.After || r.Reverse && d.ID < r.After) {
			want = append(want, d)
		}
	}
	if r.Reverse {
		slices.Reverse(want)
	}
	if r.Limit > 0 {
		want = want[:min(r.Limit, len(want))]
	}
	var got []Doc // compared in the end: documents share memory, but none may change another
	for d, err := range db.Range(t.Context(), r) {
		if err != nil {
			t.Fatalf("%+v: document %d: %v", r, len(got), err)
		}
		d.Fields = append(d.Fields, "after the fields"...)[:len(d.Fields)]
		got = append(got, d)
	}
	for i, d := range got {
		if i == len(want) || d.ID != want[i].ID || d.Seq == 0 || d.Time.IsZero() ||
			r.Load && (d.Text != want[i].Text || string(d.Fields) != string(want[i].Fields)) {
			t.Fatalf("%+v: document %d of %d is %+v", r, i, len(want), d)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%+v: %d documents, want %d", r, len(got), len(want))
	}
}

// TestReadAheadEnds stops ranges at each of many places, cancels them, and closes the snapshot.
func TestReadAheadEnds(t *testing.T) {
	db, all := aheadDB(t, filepath.Join(t.TempDir(), "db"), 0)
	for _, stop := range []int{1, 127, 128, 129, 384, 385, len(all)} {
		seen := 0
		for _, err := range db.Range(t.Context(), Range{Load: true}) {
			must.Do(t, err)
			if seen++; seen == stop {
				break
			}
		}
		for _, end := range []string{"cancel", "close"} {
			ctx, cancel := context.WithCancel(t.Context())
			s := must.Get(db.Snapshot())(t)
			seen, last := 0, error(nil)
			for _, err := range s.Range(ctx, Range{Load: true}) {
				if last = err; err != nil {
					break
				}
				if seen++; seen == stop && end == "cancel" {
					cancel()
				} else if seen == stop {
					s.Close()
				}
			}
			if want := map[string]error{"cancel": context.Canceled, "close": ErrClosed}[end]; stop < len(all) && (!errors.Is(last, want) || seen != stop) {
				t.Errorf("%s after %d: %d documents, %v", end, stop, seen, last)
			}
			cancel()
			s.Close()
		}
	}
}

// TestReadAheadDamage damages a block of texts: the documents before the first one in it are
// yielded, then the error.
func TestReadAheadDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, all := aheadDB(t, path, 0)
	must.Do(t, errors.Join(db.Compact(t.Context(), nil), db.Close()))
	files, err := filepath.Glob(filepath.Join(path, "*.sst"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	must.Do(t, err)
	data[5000] ^= 1
	must.Do(t, os.WriteFile(files[0], data, 0o644))
	if db, err = Open(path, &Options{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	good := 0
	for ; good < len(all); good++ {
		if _, err := db.Get(t.Context(), all[good].ID); err != nil {
			break
		}
	}
	i, last := 0, error(nil)
	for d, err := range db.Range(t.Context(), Range{Load: true}) {
		if last = err; err != nil {
			break
		}
		if d.ID != all[i].ID {
			t.Fatalf("document %d is %s, want %s", i, d.ID, all[i].ID)
		}
		i++
	}
	if good == len(all) || i != good || !errors.Is(last, ErrCorruption) {
		t.Errorf("%d documents, %d before the damage, of %d: %v", i, good, len(all), last)
	}
}
