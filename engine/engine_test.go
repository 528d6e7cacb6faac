package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/must"
)

func create4test(t testing.TB, o *Options) (*DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.simdb")
	db := must.Get(Create(path, o))(t)
	t.Cleanup(func() { db.Close() })
	return db, path
}

func put(t testing.TB, db *DB, id string, fp uint64) {
	t.Helper()
	must.Do(t, db.Put(context.Background(), Doc{ID: id, Fingerprints: []Fingerprint{{fp}}}))
}

// TestPutNovelKeepsOne submits near-duplicates from many goroutines: exactly one document of each
// family is stored, and the others learn which.
func TestPutNovelKeepsOne(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, &Options{MemtableBytes: 20000, NoSync: true})
	const families, members = 60, 8
	r := rand.New(rand.NewPCG(1, 1))
	centre := make([]uint64, families)
	for f := range centre {
		centre[f] = r.Uint64()
	}
	var mu sync.Mutex
	stored := map[int][]string{}
	told := map[int]map[string]bool{}
	var wg sync.WaitGroup
	for m := range members {
		wg.Go(func() {
			for f := range families {
				id := fmt.Sprintf("f%d-m%d", f, m)
				d := Doc{ID: id, Fingerprints: []Fingerprint{{centre[f] ^ 1<<(m*7%64)}}} // any two differ in at most two bits
				match, ok, err := db.PutNovel(ctx, d, Near(2))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if ok {
					stored[f] = append(stored[f], id)
				} else {
					if told[f] == nil {
						told[f] = map[string]bool{}
					}
					told[f][match.ID] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for f := range families {
		if len(stored[f]) != 1 || len(told[f]) != 1 || !told[f][stored[f][0]] {
			t.Errorf("family %d: stored %v, told %v", f, stored[f], told[f])
		}
	}
}

// TestOpenErrors opens paths that cannot be opened.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	must.Do(t, os.WriteFile(text, []byte("just some text\n"), 0o666))
	must.Do(t, os.MkdirAll(filepath.Join(dir, "folder", "sub"), 0o777))
	db, path := create4test(t, nil)
	put(t, db, "a", 1)
	for _, c := range []struct {
		path string
		opts *Options
		want error
	}{
		{text, nil, ErrNotDatabase},
		{filepath.Join(dir, "folder"), nil, ErrNotDatabase},
		{filepath.Join(dir, "none"), &Options{MustExist: true}, ErrNotFound},
		{filepath.Join(dir, "none"), &Options{ReadOnly: true}, ErrNotFound},
		{path, nil, ErrLocked},
		{filepath.Join(dir, "bad"), &Options{Layout: "3:7"}, ErrInvalid},
		{filepath.Join(dir, "bad"), &Options{Shingle: 1 << 30}, ErrInvalid},
		{filepath.Join(dir, "bad"), &Options{Sketch: -1}, ErrInvalid},
		{filepath.Join(dir, "bad"), &Options{MinJaccard: 1.5}, ErrInvalid},
	} {
		if db, err := Open(c.path, c.opts); !errors.Is(err, c.want) {
			t.Errorf("Open(%s) = %v, %v; want %v", c.path, db, err, c.want)
		}
	}
	if _, err := Open(path, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("the holder is not named: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("a database was created by an Open that must not")
	}
	must.Do(t, db.Close())
	if err := db.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if err := db.Put(context.Background(), Doc{ID: "b"}); !errors.Is(err, ErrClosed) {
		t.Errorf("Put after Close: %v", err)
	}
	if _, err := db.Get(context.Background(), "a"); !errors.Is(err, ErrClosed) {
		t.Errorf("Get after Close: %v", err)
	}
	if _, err := Create(path, nil); !errors.Is(err, ErrExists) {
		t.Errorf("Create over a database: %v", err)
	}
	if _, err := Open(path, &Options{Shingle: 5}); !errors.Is(err, ErrParams) {
		t.Errorf("other parameters: %v", err)
	}
	ro := open4test(t, path, &Options{ReadOnly: true})
	if got := collect(t, ro.Near(context.Background(), 1, 0)); len(got) != 1 {
		t.Errorf("read-only: %v", got)
	}
	if err := ro.Put(context.Background(), Doc{ID: "b"}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Put read-only: %v", err)
	}
}

// TestRefusals stores invalid documents.
func TestRefusals(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, nil)
	for _, c := range []struct {
		d    Doc
		want error
	}{
		{Doc{}, ErrInvalid},
		{Doc{ID: strings.Repeat("x", base.MaxIDBytes+1)}, ErrTooLarge},
		{Doc{ID: "a", Text: strings.Repeat("x", base.MaxTextBytes+1)}, ErrTooLarge},
		{Doc{ID: "a", Fields: []byte(`[1]`)}, ErrInvalid},
		{Doc{ID: "a", Fields: []byte(`{"a":`)}, ErrInvalid},
	} {
		if err := db.Put(ctx, c.d); !errors.Is(err, c.want) {
			t.Errorf("Put(%.40v) = %v, want %v", c.d, err, c.want)
		}
		var b Batch
		b.Put(Doc{ID: "fine"})
		b.Put(c.d)
		if err := db.Apply(ctx, &b); !errors.Is(err, c.want) {
			t.Errorf("Apply = %v, want %v", err, c.want)
		}
	}
	if st, err := db.Stats(); err != nil || st.Documents != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	for _, k := range []int{-1, 65} {
		for _, err := range db.Near(ctx, 0, k) {
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("Near %d: %v", k, err)
			}
		}
	}
}

// TestRoundTrip stores a document with all of its parts, and reads it back from memory, from a
// table and after reopening.
func TestRoundTrip(t *testing.T) {
	ctx := context.Background()
	db, path := create4test(t, nil)
	want := Doc{
		ID: "a\x00\xff", Text: "Some text, ünïcode and 漢字", Fields: []byte(`{"n":12345678901234567890,"s":"x"}`),
		Time: time.Date(2001, 2, 3, 4, 5, 6, 789000, time.UTC),
	}
	must.Do(t, db.Put(ctx, want))
	fp, _ := fingerprintOf(db, want.Text)
	check := func(stage string) {
		t.Helper()
		got, err := db.Get(ctx, want.ID)
		if err != nil || got.Text != want.Text || string(got.Fields) != string(want.Fields) || !got.Time.Equal(want.Time) ||
			got.Fingerprints == nil || got.Fingerprints[0][0] != fp {
			t.Fatalf("%s: %+v, %v", stage, got, err)
		}
	}
	check("memtable")
	must.Do(t, db.Flush(ctx))
	check("table")
	must.Do(t, db.Close())
	var err error
	if db, err = Open(path, nil); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	check("reopened")
}

// TestManyShortRuns repeatedly opens the database for one write, as scripts do: neither logs nor
// tables may accumulate.
func TestManyShortRuns(t *testing.T) {
	db, path := create4test(t, nil)
	must.Do(t, db.Close())
	for i := range 40 {
		db := must.Get(Open(path, nil))(t)
		put(t, db, fmt.Sprint(i), uint64(i))
		must.Do(t, db.Close())
	}
	names, err := os.ReadDir(path)
	if err != nil || len(names) > 20 {
		t.Fatalf("%d files, %v: %v", len(names), err, names)
	}
	if db, err = Open(path, nil); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if st, err := db.Stats(); err != nil || st.Documents != 40 {
		t.Fatalf("%+v, %v", st, err)
	}
}

// TestDeletesAlone deletes more documents than a memtable holds: the log must not grow without
// bound.
func TestDeletesAlone(t *testing.T) {
	ctx := context.Background()
	flushes := make(chan Event, 1000)
	db, _ := create4test(t, &Options{MemtableBytes: 20000, NoSync: true, DisableAutoCompaction: true, OnEvent: func(e Event) { flushes <- e }})
	l := must.Get(db.NewLoader(ctx, &LoadOptions{}))(t)
	const n = 2000
	for i := range n {
		must.Do(t, l.Add(Doc{ID: fmt.Sprint(i), Fingerprints: []Fingerprint{{uint64(i)}}}))
	}
	must.Get(l.Close())(t)
	for i := range n {
		must.Do(t, db.Delete(ctx, fmt.Sprint(i)))
	}
	must.Do(t, db.Flush(ctx))
	if len(flushes) < 5 {
		t.Errorf("%d flushes", len(flushes))
	}
	if st, err := db.Stats(); err != nil || st.Documents != 0 || st.Tombstones != n {
		t.Errorf("%+v, %v", st, err)
	}
}
