package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// A history drives a database and its model with the same random operations.
type history struct {
	t      testing.TB
	r      *rand.Rand
	path   string
	opts   Options
	mem    *vfstest.Mem // file system of the database, nil for the disk
	db     *DB
	m      *model
	now    atomic.Int64 // the database's clock, in minutes; background work reads it
	fps    []uint64     // fingerprints in families, so that there are near-duplicates
	open   []frozen
	packed []packedModel
}

// A packedModel is a table file outside the database, with its expected contents.
type packedModel struct {
	path string
	m    *model
}

// frozen is an earlier snapshot, with the contents it must still show.
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

func (h *history) clock() time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(h.now.Load()) * time.Minute)
}

// expired reports whether a document with that time is expired.
func (h *history) expired(t time.Time) bool {
	return h.opts.TTL > 0 && t.Before(h.clock().Add(-h.opts.TTL))
}

// put applies the storing of d to the model.
func (h *history) put(d Doc, fp uint64, has bool) {
	h.m.put(d.ID, fp, has)
	e := h.m.docs[d.ID]
	if e.Time = d.Time; e.Time.IsZero() {
		e.Time = h.clock()
	}
	h.m.docs[d.ID] = e
	if h.expired(e.Time) {
		delete(h.m.docs, d.ID)
	}
}

func (h *history) id() string { return fmt.Sprintf("doc-%03d", h.r.IntN(300)) }

func (h *history) doc() (Doc, uint64, bool) {
	d := Doc{ID: h.id(), Text: strings.Repeat("word ", h.r.IntN(5))}
	if h.r.IntN(4) == 0 { // some are old already
		d.Time = h.clock().Add(-time.Duration(h.r.IntN(150)) * time.Minute)
	}
	if h.r.IntN(12) == 0 {
		d.Text = " "
		return d, 0, false
	}
	fp := h.fingerprint()
	d.Fingerprints = []Fingerprint{{fp}}
	return d, fp, true
}

// step lets a minute pass and carries out one operation.
func (h *history) step() {
	ctx := context.Background()
	h.now.Add(1)
	maps.DeleteFunc(h.m.docs, func(_ string, e entry) bool { return h.expired(e.Time) })
	switch n := h.r.IntN(100); {
	case n < 40:
		d, fp, has := h.doc()
		h.must(h.db.Put(ctx, d))
		h.put(d, fp, has)
	case n < 50:
		id := h.id()
		_, stored := h.m.docs[id]
		if err := h.db.Delete(ctx, id); stored != (err == nil) || err != nil && !errors.Is(err, ErrNotFound) {
			h.t.Fatalf("Delete(%q) = %v, stored %t", id, err, stored)
		}
		delete(h.m.docs, id)
	case n < 58:
		h.batch(ctx)
	case n < 64:
		h.novel(ctx)
	case n < 70:
		h.load(ctx)
	case n < 92:
		h.maintain(ctx, n-70)
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

// maintain carries out an operation other than a write of a document; n is less than 22.
func (h *history) maintain(ctx context.Context, n int) {
	switch {
	case n < 4:
		h.must(h.db.Flush(ctx))
	case n < 6:
		h.must(h.db.Compact(ctx, nil))
	case n < 8:
		h.must(h.db.Compact(ctx, &CompactOptions{Due: true}))
	case n < 10:
		h.prune(ctx)
	case n < 14:
		h.deleteSeen(ctx)
	case n < 15:
		h.pack(ctx)
	case n < 16:
		h.allow(ctx)
	case n < 19:
		h.ingest(ctx)
	default:
		h.reopen(h.mem != nil && h.r.IntN(2) == 0)
	}
}

// prune deletes documents older than some time.
func (h *history) prune(ctx context.Context) {
	before := h.clock().Add(-time.Duration(60+h.r.IntN(300)) * time.Minute)
	was := len(h.m.docs)
	maps.DeleteFunc(h.m.docs, func(_ string, e entry) bool { return e.Time.Before(before) })
	n, err := h.db.Prune(ctx, before, nil)
	h.must(err)
	if n != was-len(h.m.docs) {
		h.t.Fatalf("pruned %d documents, want %d", n, was-len(h.m.docs))
	}
}

// deleteSeen deletes versions that an older snapshot, or a current one, has: versions that have
// been replaced must not be deleted.
func (h *history) deleteSeen(ctx context.Context) {
	seen := frozen{m: h.m.clone()}
	if len(h.open) > 0 && h.r.IntN(4) > 0 {
		seen = h.open[h.r.IntN(len(h.open))]
	} else {
		s, err := h.db.Snapshot()
		h.must(err)
		defer s.Close()
		seen.s = s
	}
	var b Batch
	want := 0
	for e, err := range entriesIn(ctx, seen.s, Range{}) {
		h.must(err)
		if h.r.IntN(3) > 0 {
			continue
		}
		b.DeleteVersion(e.ID, e.Seq)
		if now, ok := h.m.docs[e.ID]; ok && now.Seq == seen.m.docs[e.ID].Seq {
			delete(h.m.docs, e.ID)
			want++
		}
	}
	h.must(h.db.Apply(ctx, &b))
	if b.Deleted() != want {
		h.t.Fatalf("%d of %d versions deleted, want %d", b.Deleted(), b.Len(), want)
	}
}

// allow records or removes some pairs.
func (h *history) allow(ctx context.Context) {
	if h.m.allowed == nil {
		h.m.allowed = map[Pair]bool{}
	}
	var pairs []Pair
	if all := slices.SortedFunc(maps.Keys(h.m.allowed), compareIDPairs); h.r.IntN(2) == 0 && len(all) > 0 {
		for range 1 + h.r.IntN(4) {
			pairs = append(pairs, all[h.r.IntN(len(all))])
		}
		h.must(h.db.SetAllowed(ctx, false, pairs...))
		for _, p := range pairs {
			delete(h.m.allowed, p)
		}
		return
	}
	es := h.m.sorted()
	for range h.r.IntN(6) {
		p := Pair{A: h.id(), B: h.id()}
		if e, ok := h.m.docs[p.A]; ok && h.r.IntN(4) > 0 { // with a similar one
			if like := h.m.near(e.Fingerprint, 6); len(like) > 0 {
				p.B = like[h.r.IntN(len(like))].ID
			}
		} else if len(es) > 0 {
			p.A = es[h.r.IntN(len(es))].ID
		}
		if q, err := (view.IDPair{A: p.A, B: p.B}).Ordered(); err == nil {
			p := Pair{A: q.A, B: q.B}
			pairs = append(pairs, p)
			h.m.allowed[p] = true
		}
	}
	h.must(h.db.SetAllowed(ctx, true, pairs...))
}

// pack makes a table file of the database, and checks its contents.
func (h *history) pack(ctx context.Context) {
	path := fmt.Sprintf("%s-%d.sst", h.path, h.now.Load())
	h.must(h.db.Pack(ctx, path, nil))
	m := h.m.clone()
	h.packed = append(h.packed[max(0, len(h.packed)-2):], packedModel{path, m})
	db, err := Open(path, &Options{fs: h.opts.fs, now: h.clock})
	h.must(err)
	s, err := db.Snapshot()
	h.must(err)
	checkAgainst(h.t, h.r, s, m, true)
	h.must(s.Close())
	h.must(db.Close())
}

// ingest ingests one or two table files that were packed before.
func (h *history) ingest(ctx context.Context) {
	var paths []string
	for range 1 + h.r.IntN(2) {
		if len(h.packed) == 0 {
			return
		}
		p := h.packed[h.r.IntN(len(h.packed))]
		paths = append(paths, p.path)
		if h.m.allowed == nil {
			h.m.allowed = map[Pair]bool{}
		}
		maps.Copy(h.m.allowed, p.m.allowed)
		for _, e := range slices.SortedFunc(maps.Values(p.m.docs), func(a, b entry) int { return cmp.Compare(a.Seq, b.Seq) }) {
			h.put(Doc{ID: e.ID, Time: e.Time}, e.Fingerprint, e.HasFingerprint)
		}
	}
	h.must(h.db.Ingest(ctx, paths...))
}

func (h *history) batch(ctx context.Context) {
	var b Batch
	for range 1 + h.r.IntN(20) {
		if h.r.IntN(4) == 0 {
			id := h.id()
			b.Delete(id)
			delete(h.m.docs, id)
			continue
		}
		d, fp, has := h.doc()
		b.Put(d)
		h.put(d, fp, has)
	}
	h.must(h.db.Apply(ctx, &b))
}

func (h *history) novel(ctx context.Context) {
	d, fp, has := h.doc()
	k := h.r.IntN(6)
	old, was := h.m.docs[d.ID]
	had, _ := h.db.Get(ctx, d.ID)
	m, stored, err := h.db.PutNovel(ctx, d, Near(k))
	if !d.Time.IsZero() && h.expired(d.Time) {
		if !errors.Is(err, ErrExpired) {
			h.t.Fatalf("PutNovel of an expired document: %v", err)
		}
		return
	}
	h.must(err)
	if was && old.HasFingerprint == has && old.Fingerprint == fp && (had.Text == d.Text || h.opts.NoText) {
		if stored || m != (Match{ID: d.ID}) {
			h.t.Fatalf("PutNovel of what is stored = %+v, %t", m, stored)
		}
		return
	}
	var others []Match
	if has {
		others = slices.DeleteFunc(h.m.near(fp, k), func(m Match) bool { return m.ID == d.ID || h.m.isAllowed(m.ID, d.ID) })
	}
	few := len(others) <= novelMatches
	if stored != (len(others) == 0) || !stored && (!slices.Contains(others, m) || few && m != others[0]) {
		h.t.Fatalf("PutNovel = %+v, %t; others %+v", m, stored, others)
	}
	if stored {
		h.put(d, fp, has)
	}
}

func (h *history) load(ctx context.Context) {
	replace := h.r.IntN(2) == 0
	l, err := h.db.NewLoader(ctx, &LoadOptions{Replace: replace, MemoryBytes: 4000, Workers: 2})
	h.must(err)
	added := map[string]bool{} // by this load
	for range h.r.IntN(60) {
		d, fp, has := h.doc()
		_, stored := h.m.docs[d.ID]
		err := l.Add(d)
		if !replace && added[d.ID] && errors.Is(err, ErrExists) {
			continue // even if it has expired
		}
		added[d.ID] = true
		if !replace && stored {
			if !errors.Is(err, ErrExists) {
				h.t.Fatalf("Add of a stored ID: %v", err)
			}
			continue
		}
		h.must(err)
		h.put(d, fp, has)
	}
	_, err = l.Close()
	h.must(err)
}

// reopen closes the database, or cuts its power, and opens it again.
func (h *history) reopen(crash bool) {
	h.thaw(0)
	var left *vfstest.Mem
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

// crash returns the file system after a power cut. If writes are not synced, it flushes first, so
// that none is lost.
func (h *history) crash() *vfstest.Mem {
	if h.opts.Sync == SyncNever {
		h.must(h.db.Flush(context.Background()))
	}
	return h.mem.CrashClone(h.r.Float64(), h.r.Uint64())
}

// thaw checks and closes the oldest snapshots, until n are left.
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

// TestHistories runs random histories under many options against the model, some on the disk and
// some in memory with occasional power cuts.
func TestHistories(t *testing.T) {
	host := hostDir(t)
	for seed := range exhaustive.Every(t, 100).Of(1000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, uint64(seed))
			if seed%5 > 0 {
				h.path, h.mem = "/x.simdb", vfstest.NewMem(host)
				h.opts.fs = h.mem
			}
			h.run(500)
		})
	}
}

// newHistory returns a history on the disk with random options.
func newHistory(t testing.TB, seed uint64) *history {
	layouts := []string{"by size", "4:1", "2:1", "5:2", "by size", "6:3"}
	r := rand.New(rand.NewPCG(seed, 7))
	h := &history{t: t, r: r, path: t.TempDir() + "/x.simdb", m: &model{docs: map[string]entry{}}}
	h.opts = Options{
		Layout: layouts[r.IntN(len(layouts))], chooseLayout: smallLayouts, MemtableBytes: 2000 + r.IntN(40000), NoText: r.IntN(3) == 0,
		Sync: SyncMode(r.IntN(2)), DisableAutoCompaction: r.IntN(3) == 0, now: h.clock,
	}
	if r.IntN(2) == 0 {
		h.opts.TTL = time.Duration(100+r.IntN(300)) * time.Minute
	}
	if r.IntN(2) == 0 {
		h.opts.policy, h.opts.mergeSlots = eager, 1+r.IntN(4)
	}
	return h
}

// smallLayouts is table.ChooseLayout for small tables, so that tables in a test have different
// layouts.
func smallLayouts(n int64) table.Layout {
	switch {
	case n <= 10:
		return table.Layout{Blocks: 8, Lead: 1}
	case n <= 40:
		return table.Layout{Blocks: 4, Lead: 1}
	case n <= 150:
		return table.Layout{Blocks: 3, Lead: 1}
	}
	return table.Layout{Blocks: 2, Lead: 1}
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
