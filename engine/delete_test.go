package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

func ids(t testing.TB, db *DB) (all []string) {
	t.Helper()
	for _, e := range collect(t, entriesOf(context.Background(), db, Range{})) {
		all = append(all, e.ID)
	}
	return all
}

func storedEntry(t testing.TB, db *DB, id string) entry {
	t.Helper()
	e := must.Get(lookupOf(context.Background(), db, id))(t)
	return e
}

// TestDeleteVersion applies batches of conditional deletes. It checks which documents they remove, which they
// count, that a delete without effect is not logged, and that a replay removes the same documents.
func TestDeleteVersion(t *testing.T) {
	ctx := context.Background()
	mem := vfstest.NewMem(hostDir(t))
	var passed atomic.Int64
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	opts := &Options{fs: mem, TTL: time.Hour, DisableAutoCompaction: true, now: func() time.Time { return start.Add(time.Duration(passed.Load())) }}
	for _, flushed := range []bool{false, true} {
		cases := []struct {
			name    string
			fill    func(b *Batch, first, second uint64)
			deleted int
			left    []string
		}{
			{"current", func(b *Batch, _, second uint64) { b.DeleteVersion("a", second) }, 1, []string{"c"}},
			{"replaced", func(b *Batch, first, _ uint64) { b.DeleteVersion("a", first) }, 0, []string{"a", "c"}},
			{"unknown", func(b *Batch, _, second uint64) { b.DeleteVersion("a", second+100) }, 0, []string{"a", "c"}},
			{"zero", func(b *Batch, _, _ uint64) { b.DeleteVersion("a", 0) }, 0, []string{"a", "c"}},
			{"missing", func(b *Batch, _, second uint64) { b.DeleteVersion("b", second) }, 0, []string{"a", "c"}},
			{"twice", func(b *Batch, _, second uint64) { b.DeleteVersion("a", second); b.DeleteVersion("a", second) }, 1, []string{"c"}},
			{"after a put", func(b *Batch, _, second uint64) {
				b.Put(Doc{ID: "a"})
				b.DeleteVersion("a", second)
				b.DeleteVersion("a", second+1)
			}, 0, []string{"a", "c"}},
			{"before a put", func(b *Batch, _, second uint64) { b.DeleteVersion("a", second); b.Put(Doc{ID: "a"}) }, 1, []string{"a", "c"}},
			{"any, after a put", func(b *Batch, _, _ uint64) { b.Put(Doc{ID: "b"}); b.Delete("b"); b.Delete("b") }, 1, []string{"a", "c"}},
			{"any, missing", func(b *Batch, _, _ uint64) { b.Delete("b"); b.Delete("c"); b.Delete("c") }, 1, []string{"a"}},
			{"expired", func(b *Batch, _, second uint64) {
				passed.Add(int64(2 * time.Hour))
				b.DeleteVersion("a", second)
				b.Delete("c")
			}, 0, nil},
		}
		for i, c := range cases {
			t.Run(fmt.Sprintf("%s, flushed %t", c.name, flushed), func(t *testing.T) {
				path := fmt.Sprintf("/%d-%t", i, flushed)
				db, err := Create(path, opts)
				must.Do(t, err)
				put(t, db, "a", 1)
				first := storedEntry(t, db, "a").Seq
				put(t, db, "a", 2)
				put(t, db, "c", 3)
				if flushed {
					must.Do(t, db.Flush(ctx))
				}
				var b Batch
				c.fill(&b, first, storedEntry(t, db, "a").Seq)
				before := db.Metrics()
				must.Do(t, db.Apply(ctx, &b))
				after := db.Metrics()
				if n := b.Deleted(); n != c.deleted || after.Deletes-before.Deletes != int64(n) {
					t.Errorf("deleted %d, counted %d, want %d", n, after.Deletes-before.Deletes, c.deleted)
				}
				if puts := after.Puts - before.Puts; c.deleted == 0 && puts == 0 && (after.WALBytes != before.WALBytes || after.Batches != before.Batches) {
					t.Errorf("deletes without effect wrote %d bytes to the log", after.WALBytes-before.WALBytes)
				}
				equal(t, "left", ids(t, db), c.left)
				must.Do(t, db.Close())
				if db, err = Open(path, opts); err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				equal(t, "left after a replay", ids(t, db), c.left)
			})
		}
	}
}

// TestDeleteTellsOne deletes the same documents from several goroutines: for each document exactly
// one learns that the document existed.
func TestDeleteTellsOne(t *testing.T) {
	ctx := context.Background()
	db, _ := create4test(t, &Options{MemtableBytes: 20000, NoSync: true})
	const deleters, documents = 4, 2000
	var told [documents]atomic.Int64
	for d := range documents {
		put(t, db, fmt.Sprint(d), uint64(d))
	}
	var wg sync.WaitGroup
	for range deleters {
		wg.Go(func() {
			for d := range documents {
				switch err := db.Delete(ctx, fmt.Sprint(d)); {
				case err == nil:
					told[d].Add(1)
				case !errors.Is(err, ErrNotFound):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for d := range told {
		if n := told[d].Load(); n != 1 {
			t.Errorf("document %d: %d of %d were told that they deleted it", d, n, deleters)
		}
	}
	if m := db.Metrics(); m.Deletes != documents {
		t.Errorf("%d deletes counted, want %d", m.Deletes, documents)
	}
	equal(t, "left", ids(t, db), nil)
}

// TestPruneSparesNewer stores documents again while they are pruned by age: acknowledged documents
// stay, and every old document is either pruned and counted, or replaced.
func TestPruneSparesNewer(t *testing.T) {
	ctx := context.Background()
	documents := exhaustive.Size(6000, 20000)
	db, _ := create4test(t, &Options{NoSketch: true, NoSync: true, MemtableBytes: 300_000})
	old := time.Now().Add(-time.Hour)
	var b Batch
	for d := range documents {
		b.Put(Doc{ID: fmt.Sprint(d), Fingerprints: []Fingerprint{{uint64(1)}}, Time: old})
	}
	must.Do(t, db.Apply(ctx, &b))
	var acked []string
	var wg sync.WaitGroup
	wg.Go(func() {
		for d := range documents {
			id := fmt.Sprint(documents - 1 - d)
			if d%3 != 0 {
				continue
			}
			if err := db.Put(ctx, Doc{ID: id, Fingerprints: []Fingerprint{{uint64(2)}}}); err != nil {
				t.Error(err)
				return
			}
			acked = append(acked, id)
		}
	})
	pruned := 0
	for range 3 {
		n := must.Get(db.Prune(ctx, time.Now().Add(-30*time.Minute), nil))(t)
		pruned += n
	}
	wg.Wait()
	slices.Sort(acked)
	equal(t, "left", ids(t, db), acked)
	if m := db.Metrics(); m.Deletes != int64(pruned) || pruned > documents || pruned < documents-len(acked) {
		t.Errorf("pruned %d of %d, of which %d were stored again; %d deletes counted", pruned, documents, len(acked), m.Deletes)
	}
}

// A version identifies one version of a document.
type version struct {
	ID          string
	Fingerprint uint64
}

// A versionRace has documents, each put by one writer, while others delete the versions that they
// see.
type versionRace struct {
	db    *DB
	done  atomic.Bool
	left  atomic.Int64 // number of conditional deletes to try
	tried atomic.Int64

	mu      sync.Mutex
	deleted map[version]int // how often each version was deleted
	missing []version       // versions that their writers did not find
}

// put stores versions of the writer's documents, one by one, and checks each. Loads, which get
// their numbers differently, alternate with writes.
func (v *versionRace) put(w int, last []version) error {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(uint64(w), 9))
	for n := uint64(1); !v.done.Load(); n++ {
		at := r.IntN(len(last))
		e := version{ID: fmt.Sprintf("w%d-%d", w, at), Fingerprint: n}
		d := Doc{ID: e.ID, Fingerprints: []Fingerprint{{n}}}
		var err error
		switch r.IntN(2000) {
		case 0:
			var l *Loader
			if l, err = v.db.NewLoader(ctx, &LoadOptions{Replace: true, Workers: 1}); err == nil {
				err = l.Add(d)
				if _, e := l.Close(); err == nil {
					err = e
				}
			}
		case 1:
			err = errors.Join(v.db.Flush(ctx), v.db.Put(ctx, d))
		default:
			err = v.db.Put(ctx, d)
		}
		if err != nil {
			return err
		}
		last[at] = e
		switch got, err := lookupOf(ctx, v.db, e.ID); {
		case errors.Is(err, ErrNotFound):
			v.mu.Lock()
			v.missing = append(v.missing, e)
			v.mu.Unlock()
		case err != nil:
			return err
		case got.Fingerprint != n:
			return fmt.Errorf("%s is %d, its only writer has just stored %d", e.ID, got.Fingerprint, n)
		}
	}
	return nil
}

// delete removes versions that it sees. Each time it also tries those that it has seen before: they
// are gone, whatever is stored now.
func (v *versionRace) delete(seed uint64) error {
	ctx := context.Background()
	const before = 64
	r := rand.New(rand.NewPCG(seed, 10))
	var b Batch
	seen := map[string][]uint64{}
	for v.left.Load() > 0 {
		s, err := v.db.Snapshot()
		if err != nil {
			return err
		}
		for e, err := range entriesIn(ctx, s, Range{}) {
			if err != nil {
				return errors.Join(err, s.Close())
			}
			if r.IntN(3) == 0 {
				continue
			}
			b.DeleteVersion(e.ID, e.Seq)
			old := slices.DeleteFunc(seen[e.ID], func(seq uint64) bool { return seq == e.Seq })
			for _, seq := range old {
				b.DeleteVersion(e.ID, seq)
			}
			seen[e.ID] = append(old[max(0, len(old)-before):], e.Seq)
			if err := v.db.Apply(ctx, &b); err != nil {
				return errors.Join(err, s.Close())
			}
			v.left.Add(-int64(b.Len()))
			v.tried.Add(int64(b.Len()))
			if b.Deleted() > 0 {
				v.mu.Lock()
				v.deleted[version{ID: e.ID, Fingerprint: e.Fingerprint}] += b.Deleted()
				v.mu.Unlock()
			}
			b = Batch{}
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// TestDeleteVersionRaces runs very many conditional deletes: each must remove the version that was
// seen or nothing. A version is deleted at most once, and a version that its writer finds missing,
// then or at the end, was deleted as itself.
func TestDeleteVersionRaces(t *testing.T) {
	deletes, limit := exhaustive.Size[int64](40_000, 1_000_000), exhaustive.Size(5*time.Second, 30*time.Second)
	path := t.TempDir() + "/x.simdb"
	opts := &Options{NoSketch: true, NoSync: true, MemtableBytes: 100_000}
	db, err := Create(path, opts)
	must.Do(t, err)
	v := &versionRace{db: db, deleted: map[version]int{}}
	v.left.Store(deletes)
	stop := time.AfterFunc(limit, func() { v.left.Store(0) })
	defer stop.Stop()
	last := [2][]version{make([]version, 20), make([]version, 20)}
	var writers, deleters sync.WaitGroup
	for w := range last {
		writers.Go(func() {
			if err := v.put(w, last[w]); err != nil {
				t.Error(err)
				v.left.Store(0)
			}
		})
	}
	for d := range uint64(3) {
		deleters.Go(func() {
			if err := v.delete(d); err != nil {
				t.Error(err)
			}
		})
	}
	deleters.Wait()
	v.done.Store(true)
	writers.Wait()
	t.Logf("%d conditional deletes tried, %d removed something", v.tried.Load(), len(v.deleted))

	want := map[version]bool{} // versions that must be there
	for e, n := range v.deleted {
		if n != 1 {
			t.Errorf("%s, version %d: deleted %d times", e.ID, e.Fingerprint, n)
		}
	}
	for _, e := range v.missing {
		if v.deleted[e] == 0 {
			t.Errorf("%s, version %d is not there, and nobody deleted it", e.ID, e.Fingerprint)
		}
	}
	for _, e := range slices.Concat(last[0], last[1]) {
		if e.ID != "" && v.deleted[e] == 0 {
			want[e] = true
		}
	}
	check := func(stage string) {
		t.Helper()
		got := map[version]bool{}
		for _, e := range collect(t, entriesOf(context.Background(), db, Range{})) {
			got[version{ID: e.ID, Fingerprint: e.Fingerprint}] = true
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", stage, got, want)
		}
	}
	check("at the end")
	must.Do(t, db.Close())
	if db, err = Open(path, opts); err != nil {
		t.Fatal(err)
	}
	check("reopened")
	must.Do(t, db.Close())
}
