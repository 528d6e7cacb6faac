package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/simdb/simdb/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A model is what a database should answer: the documents in a map, every query by brute force.
type model struct {
	docs map[string]Entry
	seq  uint64
	mark int64 // of a load
}

func (m *model) clone() *model { return &model{maps.Clone(m.docs), m.seq, m.mark} }

func (m *model) put(id string, fp uint64, has bool) {
	m.seq++
	m.docs[id] = Entry{ID: id, Fingerprint: fp, HasFingerprint: has, Seq: m.seq}
}

func (m *model) near(fp uint64, k int) []Match {
	var ms []Match
	for _, e := range m.docs {
		if d := bits.OnesCount64(e.Fingerprint ^ fp); e.HasFingerprint && d <= k {
			ms = append(ms, Match{ID: e.ID, Distance: d})
		}
	}
	slices.SortFunc(ms, byDistance)
	return ms
}

func byDistance(a, b Match) int {
	if c := cmp.Compare(a.Distance, b.Distance); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

func (m *model) sorted() []Entry {
	return slices.SortedFunc(maps.Values(m.docs), func(a, b Entry) int { return strings.Compare(a.ID, b.ID) })
}

func (m *model) pairs(k int) []Pair {
	var ps []Pair
	es := m.sorted()
	for i, a := range es {
		for _, b := range es[i+1:] {
			if d := bits.OnesCount64(a.Fingerprint ^ b.Fingerprint); a.HasFingerprint && b.HasFingerprint && d <= k {
				ps = append(ps, Pair{a.ID, b.ID, Match{ID: b.ID, Distance: d}})
			}
		}
	}
	slices.SortStableFunc(ps, func(x, y Pair) int { return cmp.Compare(x.Distance, y.Distance) })
	return ps
}

// stars is the definition of star clusters, carried out.
func (m *model) stars(k int) []Member {
	order := slices.SortedFunc(maps.Values(m.docs), func(a, b Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	order = slices.DeleteFunc(order, func(e Entry) bool { return !e.HasFingerprint })
	nearest := func(keepers []Entry, e Entry) (at, d int) {
		at, d = -1, k+1
		for i, kp := range keepers {
			if n := bits.OnesCount64(kp.Fingerprint ^ e.Fingerprint); n < d {
				at, d = i, n
			}
		}
		return at, d
	}
	var keepers []Entry
	var clusters [][]Member
	joined := map[uint64]Member{} // the first document of a fingerprint decides for all
	for _, e := range order {
		j, ok := joined[e.Fingerprint]
		if !ok {
			if j.Cluster, j.Distance = nearest(keepers, e); j.Cluster < 0 {
				j.Cluster, j.Distance = len(keepers), 0
				keepers = append(keepers, e)
				clusters = append(clusters, nil)
			}
			joined[e.Fingerprint] = j
		}
		x := Member{Keep: keepers[j.Cluster].ID == e.ID, Match: Match{ID: e.ID, Distance: j.Distance}}
		clusters[j.Cluster] = append(clusters[j.Cluster], x)
	}
	return number(clusters)
}

// number orders clusters and their members as Clusters does.
func number(clusters [][]Member) (all []Member) {
	clusters = slices.DeleteFunc(clusters, func(c []Member) bool { return len(c) < 2 })
	for _, c := range clusters {
		slices.SortFunc(c, func(a, b Member) int {
			if a.Keep != b.Keep {
				return map[bool]int{true: -1, false: 1}[a.Keep]
			}
			return strings.Compare(a.ID, b.ID)
		})
	}
	slices.SortFunc(clusters, func(a, b []Member) int {
		if c := cmp.Compare(len(b), len(a)); c != 0 {
			return c
		}
		return strings.Compare(a[0].ID, b[0].ID)
	})
	for i, c := range clusters {
		for _, x := range c {
			x.Cluster = i + 1
			all = append(all, x)
		}
	}
	return all
}

// collect reads an iterator to its end.
func collect[T any](t testing.TB, seq func(func(T, error) bool)) []T {
	t.Helper()
	var all []T
	for x, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	return all
}

// checkAgainst compares a snapshot with a model.
func checkAgainst(t testing.TB, r *rand.Rand, s *Snapshot, m *model, deep bool) {
	t.Helper()
	ctx := context.Background()
	es := m.sorted()
	equal(t, "entries", simplify(collect(t, s.Entries(ctx, ""))), simplify(es))
	for range 8 {
		fp, k := r.Uint64(), r.IntN(12)
		if len(es) > 0 && r.IntN(4) > 0 {
			fp = es[r.IntN(len(es))].Fingerprint ^ 1<<r.IntN(64)
		}
		if r.IntN(10) == 0 {
			k = r.IntN(65)
		}
		want := m.near(fp, k)
		equal(t, fmt.Sprintf("near %016x %d", fp, k), collect(t, s.Near(ctx, fp, k)), want)
		n := r.IntN(6)
		equal(t, "nearest", collect(t, s.Nearest(ctx, fp, n)), head(m.near(fp, 64), n))
	}
	checkNearBatch(t, r, s, m)
	for id, want := range m.docs {
		got, err := s.Lookup(ctx, id)
		if err != nil || got.Fingerprint != want.Fingerprint || got.HasFingerprint != want.HasFingerprint {
			t.Fatalf("Lookup(%q) = %+v, %v; want %+v", id, got, err, want)
		}
		break
	}
	if _, err := s.Get(ctx, "nobody"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("Get of nothing: %v", err)
	}
	if deep {
		k := r.IntN(8)
		equal(t, "pairs", collect(t, s.Pairs(ctx, Near(k), nil)), m.pairs(k))
		unordered := collect(t, s.PairsUnordered(ctx, Near(k), nil))
		slices.SortFunc(unordered, func(x, y Pair) int {
			return cmp.Or(cmp.Compare(x.Distance, y.Distance), strings.Compare(x.A, y.A), strings.Compare(x.B, y.B))
		})
		equal(t, "unordered pairs", unordered, m.pairs(k))
		equal(t, "stars", collect(t, s.Clusters(ctx, Near(k), nil)), m.stars(k))
	}
}

func head[T any](s []T, n int) []T { return s[:min(n, len(s))] }

func simplify(es []Entry) []Entry {
	out := make([]Entry, len(es))
	for i, e := range es {
		out[i] = Entry{ID: e.ID, HasFingerprint: e.HasFingerprint}
		if e.HasFingerprint {
			out[i].Fingerprint = e.Fingerprint
		}
	}
	return out
}

func equal[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		i := 0
		for i < len(got) && i < len(want) && got[i] == want[i] {
			i++
		}
		t.Fatalf("%s: %d rows, want %d; first difference at %d:\n got %+v\nwant %+v", what, len(got), len(want), i, head(got[i:], 3), head(want[i:], 3))
	}
}

// A history drives a database and its model with the same random operations.
type history struct {
	t    testing.TB
	r    *rand.Rand
	path string
	opts Options
	mem  *vfs.Mem // where the database is, nil for the disk
	db   *DB
	m    *model
	fps  []uint64 // fingerprints come in families, so that there are near-duplicates
	open []frozen
}

// frozen is a snapshot that was taken earlier, and what it must still show.
type frozen struct {
	s *Snapshot
	m *model
}

func (h *history) fingerprint() uint64 {
	if len(h.fps) == 0 || h.r.IntN(3) == 0 {
		h.fps = append(h.fps, h.r.Uint64())
	}
	fp := h.fps[h.r.IntN(len(h.fps))]
	for range h.r.IntN(5) {
		fp ^= 1 << h.r.IntN(64)
	}
	return fp
}

func (h *history) doc() (Doc, uint64, bool) {
	d := Doc{ID: fmt.Sprintf("doc-%03d", h.r.IntN(300)), Text: strings.Repeat("word ", h.r.IntN(5))}
	if h.r.IntN(12) == 0 {
		d.Text = "..."
		return d, 0, false
	}
	fp := h.fingerprint()
	d.Fingerprint = &fp
	return d, fp, true
}

func (h *history) step() {
	ctx := context.Background()
	switch n := h.r.IntN(100); {
	case n < 50:
		d, fp, has := h.doc()
		h.must(h.db.Put(ctx, d))
		h.m.put(d.ID, fp, has)
	case n < 62:
		id := fmt.Sprintf("doc-%03d", h.r.IntN(300))
		_, stored := h.m.docs[id]
		if err := h.db.Delete(ctx, id); stored != (err == nil) {
			h.t.Fatalf("Delete(%q) = %v, stored %t", id, err, stored)
		}
		delete(h.m.docs, id)
	case n < 70:
		h.batch(ctx)
	case n < 76:
		h.novel(ctx)
	case n < 82:
		h.load(ctx)
	case n < 87:
		h.must(h.db.Flush(ctx))
	case n < 89:
		h.must(h.db.Compact(ctx, nil))
	case n < 91:
		h.reopen(h.mem != nil && h.r.IntN(2) == 0)
	case n < 94 && len(h.open) < 3:
		s, err := h.db.Snapshot()
		h.must(err)
		h.open = append(h.open, frozen{s, h.m.clone()})
	default:
		s, err := h.db.Snapshot()
		h.must(err)
		checkAgainst(h.t, h.r, s, h.m, n == 99)
		h.must(s.Close())
		h.thaw(1)
	}
}

func (h *history) batch(ctx context.Context) {
	var b Batch
	for range 1 + h.r.IntN(20) {
		if h.r.IntN(4) == 0 {
			id := fmt.Sprintf("doc-%03d", h.r.IntN(300))
			b.Delete(id)
			delete(h.m.docs, id)
			continue
		}
		d, fp, has := h.doc()
		b.Put(d)
		h.m.put(d.ID, fp, has)
	}
	h.must(h.db.Apply(ctx, &b))
}

func (h *history) novel(ctx context.Context) {
	d, fp, has := h.doc()
	k := h.r.IntN(6)
	m, stored, err := h.db.PutNovel(ctx, d, Near(k))
	h.must(err)
	var others []Match
	if has {
		others = slices.DeleteFunc(h.m.near(fp, k), func(m Match) bool { return m.ID == d.ID })
	}
	if stored != (len(others) == 0) || !stored && m != others[0] {
		h.t.Fatalf("PutNovel = %+v, %t; others %+v", m, stored, others)
	}
	if stored {
		h.m.put(d.ID, fp, has)
	}
}

func (h *history) load(ctx context.Context) {
	replace := h.r.IntN(2) == 0
	l, err := h.db.NewLoader(ctx, LoadOptions{Replace: replace, MemoryBytes: 4000, Workers: 2})
	h.must(err)
	for range h.r.IntN(60) {
		d, fp, has := h.doc()
		_, stored := h.m.docs[d.ID]
		err := l.Add(d)
		if !replace && stored {
			if !errors.Is(err, ErrExists) {
				h.t.Fatalf("Add of a stored ID: %v", err)
			}
			continue
		}
		h.must(err)
		h.m.put(d.ID, fp, has)
	}
	_, err = l.Close()
	h.must(err)
}

// reopen closes the database, or cuts its power, and opens it again.
func (h *history) reopen(crash bool) {
	h.thaw(0)
	var left *vfs.Mem
	if crash {
		left = h.crash()
	}
	h.must(h.db.Close())
	if crash {
		h.must(h.mem.Discard())
		h.mem, h.opts.fs = left, left
	}
	db, err := Open(h.path, &h.opts)
	h.must(err)
	h.db = db
}

// crash returns what a power cut leaves. Where writes are not synced, they are flushed before, so that none is lost.
func (h *history) crash() *vfs.Mem {
	if h.opts.Sync == SyncNever {
		h.must(h.db.Flush(context.Background()))
	}
	return h.mem.CrashClone(h.r.Float64(), h.r.Uint64())
}

// thaw checks and closes the oldest snapshots until n are left.
func (h *history) thaw(n int) {
	for len(h.open) > n {
		f := h.open[0]
		h.open = h.open[1:]
		checkAgainst(h.t, h.r, f.s, f.m, false)
		h.must(f.s.Close())
	}
}

func (h *history) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// TestHistories runs random histories under many options against the model: some on the disk, and some in a memory that loses
// power now and then. SIMDB_HISTORIES sets how many of these.
func TestHistories(t *testing.T) {
	disk, memory := 12, 12
	if n, err := strconv.Atoi(os.Getenv("SIMDB_HISTORIES")); err == nil {
		memory = n
	}
	host := hostDir(t)
	for seed := range uint64(disk + memory) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, seed)
			if seed >= uint64(disk) {
				h.path, h.mem = "/x.simdb", vfs.NewMem(host)
				h.opts.fs = h.mem
			}
			h.run(500)
		})
	}
}

// newHistory returns a history on the disk with random options.
func newHistory(t testing.TB, seed uint64) *history {
	layouts := []string{"4:1", "2:1", "5:2", "8:1", "6:3"}
	r := rand.New(rand.NewPCG(seed, 7))
	h := &history{t: t, r: r, path: t.TempDir() + "/x.simdb", m: &model{docs: map[string]Entry{}}}
	h.opts = Options{
		Layout: layouts[r.IntN(len(layouts))], MemtableBytes: 2000 + r.IntN(40000), NoText: r.IntN(3) == 0,
		Sync: SyncMode(r.IntN(2)), DisableAutoCompaction: r.IntN(3) == 0,
	}
	return h
}

func (h *history) run(steps int) {
	db, err := Create(h.path, &h.opts)
	h.must(err)
	h.db = db
	for range steps {
		h.step()
	}
	h.thaw(0)
	report, err := h.db.Check(context.Background(), nil)
	if err != nil || len(report.Problems) > 0 {
		h.t.Fatal(report.Problems, err)
	}
	h.must(h.db.Close())
	if h.mem != nil {
		h.must(h.mem.Discard())
	}
}

// TestRetention lets documents grow older than the time to live.
func TestRetention(t *testing.T) {
	ctx := context.Background()
	var passed atomic.Int64 // nanoseconds; the background reads the clock, too
	now := func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(passed.Load())) }
	opts := &Options{TTL: 48 * time.Hour, DisableAutoCompaction: true, now: now}
	db, err := Create(t.TempDir()+"/x.simdb", opts)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	put := func(id string) {
		t.Helper()
		if err := db.Put(ctx, Doc{ID: id, Fingerprint: new(uint64(5))}); err != nil {
			t.Fatal(err)
		}
	}
	ids := func() (ids []string) {
		for _, m := range collect(t, db.Near(ctx, 5, 0)) {
			ids = append(ids, m.ID)
		}
		return ids
	}
	put("monday")
	if err := db.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	passed.Add(int64(24 * time.Hour))
	put("tuesday")
	equal(t, "before", ids(), []string{"monday", "tuesday"})
	passed.Add(int64(25 * time.Hour))
	equal(t, "one expired", ids(), []string{"tuesday"})
	if _, err := db.Get(ctx, "monday"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("expired document: %v", err)
	}
	if err := db.Compact(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if st, err := db.Stats(); err != nil || st.Documents != 1 || len(st.Tables) != 1 {
		t.Fatalf("after compaction: %+v, %v", st, err)
	}
	put("monday") // the ID is free again
	equal(t, "again", ids(), []string{"monday", "tuesday"})
	passed.Add(int64(100 * time.Hour))
	equal(t, "all expired", ids(), nil)
	if err := db.Compact(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if st, err := db.Stats(); err != nil || st.Documents != 0 || len(st.Tables) != 0 {
		t.Fatalf("after all expired: %+v, %v", st, err)
	}
}
