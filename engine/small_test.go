package engine

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
)

// A smallHistory drives a database of small tables and its model.
type smallHistory struct {
	t       *testing.T
	r       *rand.Rand
	o       Options
	path    string
	passed  *atomic.Int64
	db      *DB
	reader  *DB // another process, as it were
	docs    map[string]Doc
	centres []Fingerprint
	frozen  []frozenSmall
	packed  map[string]map[string]Doc
	indexed int // searches that an index in memory has answered by looking up values
}

type frozenSmall struct {
	s    *Snapshot
	docs map[string]Doc
}

func (h *smallHistory) now() time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(h.passed.Load()))
}

// fingerprint returns a fingerprint near to one of a few, so that searches find some at any distance.
func (h *smallHistory) fingerprint() Fingerprint {
	fp := slices.Clone(h.centres[h.r.IntN(len(h.centres))])
	if h.r.IntN(3) == 0 {
		for i := range fp {
			fp[i] = h.r.Uint64()
		}
	}
	for range h.r.IntN(12 * len(fp)) {
		fp[h.r.IntN(len(fp))] ^= 1 << h.r.IntN(64)
	}
	return fp
}

func (h *smallHistory) doc() Doc {
	d := Doc{ID: fmt.Sprint("d", h.r.IntN(6000)), Time: h.now().Add(-time.Duration(h.r.IntN(60)) * time.Minute)}
	if h.r.IntN(20) > 0 {
		d.Fingerprints = []Fingerprint{h.fingerprint()}
	}
	for h.o.Features.Several && d.Fingerprints != nil && h.r.IntN(3) == 0 {
		d.Fingerprints = append(d.Fingerprints, h.fingerprint())
	}
	return d
}

func (h *smallHistory) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *smallHistory) step() {
	ctx := h.t.Context()
	switch n := h.r.IntN(14); {
	case n < 6:
		for range 1 + h.r.IntN(900) {
			d := h.doc()
			h.check(h.db.Put(ctx, d))
			h.docs[d.ID] = d
		}
		h.check(h.db.Flush(ctx))
	case n == 6:
		for range h.r.IntN(300) {
			id := fmt.Sprint("d", h.r.IntN(6000))
			_, stored := h.docs[id]
			if err := h.db.Delete(ctx, id); stored != (err == nil) || err != nil && !errors.Is(err, ErrNotFound) {
				h.t.Fatalf("Delete(%s) = %v; stored %t", id, err, stored)
			}
			delete(h.docs, id)
		}
	case n == 7:
		h.check(h.db.Compact(ctx, &CompactOptions{Due: h.r.IntN(3) > 0}))
	case n == 8:
		h.load()
	case n == 9:
		h.ingest()
	case n == 10:
		before := h.now().Add(-time.Duration(20+h.r.IntN(60)) * time.Minute)
		_, err := h.db.Prune(ctx, before, nil)
		h.check(err)
		maps.DeleteFunc(h.docs, func(_ string, d Doc) bool { return d.Time.Before(before) })
	case n == 11:
		h.passed.Add(int64(time.Duration(h.r.IntN(15)) * time.Minute))
	case n == 12:
		h.frozen = append(h.frozen, frozenSmall{must(h.db.Snapshot())(h.t), maps.Clone(h.docs)})
	default:
		h.thaw(0)
		h.check(h.db.Close())
		h.db = must(Open(h.path, &h.o))(h.t)
	}
	if h.o.TTL > 0 {
		oldest := h.now().Add(-h.o.TTL)
		maps.DeleteFunc(h.docs, func(_ string, d Doc) bool { return d.Time.Before(oldest) })
	}
}

func (h *smallHistory) load() {
	replace := h.r.IntN(2) == 0
	l := must(h.db.NewLoader(h.t.Context(), &LoadOptions{Replace: replace, Workers: 1}))(h.t)
	added := map[string]bool{}
	for range h.r.IntN(900) {
		d := h.doc()
		_, stored := h.docs[d.ID]
		err := l.Add(d)
		if refused := errors.Is(err, ErrExists); refused != (!replace && (stored || added[d.ID])) && h.o.TTL == 0 {
			h.t.Fatalf("Add of %q, stored %t: %v", d.ID, stored, err)
		} else if refused {
			continue
		}
		h.check(err)
		h.docs[d.ID], added[d.ID] = d, true
	}
	must(l.Close())(h.t)
}

// ingest packs the database, or adds a file that was packed before.
func (h *smallHistory) ingest() {
	if h.r.IntN(2) == 0 || len(h.packed) == 0 {
		path := fmt.Sprintf("%s.%d.sst", h.path, len(h.packed))
		h.check(h.db.Pack(h.t.Context(), path, nil))
		h.packed[path] = maps.Clone(h.docs)
		return
	}
	path := slices.Sorted(maps.Keys(h.packed))[h.r.IntN(len(h.packed))]
	h.check(h.db.Ingest(h.t.Context(), path))
	maps.Copy(h.docs, h.packed[path])
}

// thaw compares and closes the oldest snapshots, until n are left.
func (h *smallHistory) thaw(n int) {
	for len(h.frozen) > n {
		f := h.frozen[0]
		h.frozen = h.frozen[1:]
		if h.o.TTL > 0 {
			oldest := h.now().Add(-h.o.TTL)
			maps.DeleteFunc(f.docs, func(_ string, d Doc) bool { return d.Time.Before(oldest) })
		}
		if h.o.TTL == 0 { // a snapshot keeps the time of its creation
			h.compare(f.s, f.docs)
		}
		h.check(f.s.Close())
	}
}

// near answers by brute force.
func (h *smallHistory) near(docs map[string]Doc, fp Fingerprint, k int) (all []Match) {
	for id, d := range docs {
		best := k + 1
		for _, own := range d.Fingerprints {
			best = min(best, base.DistanceWords(own, fp))
		}
		if best <= k {
			all = append(all, Match{ID: id, Distance: best})
		}
	}
	slices.SortFunc(all, byDistance)
	return all
}

// compare compares a snapshot with documents.
func (h *smallHistory) compare(s *Snapshot, docs map[string]Doc) {
	h.t.Helper()
	ctx, fp := h.t.Context(), h.fingerprint()
	q := Doc{Fingerprints: []Fingerprint{fp}}
	for range 6 {
		k := h.r.IntN(8 * len(fp))
		if h.r.IntN(4) == 0 {
			k = h.r.IntN(64*len(fp) + 1)
		}
		want := h.near(docs, fp, k)
		equal(h.t, fmt.Sprint("near ", k), collect(h.t, s.Search(ctx, q, Near(k), nil)), want)
		n, err := s.CountMatches(ctx, q, Near(k), nil)
		if h.check(err); n != int64(len(want)) {
			h.t.Fatalf("near %d: %d are counted, want %d", k, n, len(want))
		}
		known, best, err := s.Any(ctx, []Doc{q}, Near(k), nil)
		h.check(err)
		named := func(m Match) bool {
			return m.ID == best[0].ID && (m.Distance == best[0].Distance || h.o.Features.Several && m.Distance < best[0].Distance)
		}
		if known[0] != (len(want) > 0) || known[0] && !slices.ContainsFunc(want, named) {
			h.t.Fatalf("any within %d: %v, %+v; want one of %d", k, known, best, len(want))
		}
		if plan := must(s.Plan(ctx, q, Near(k)))(h.t); len(plan) > 0 && strings.HasSuffix(plan[0].Part, " small tables") && plan[0].Method == "probe" {
			h.indexed++
		}
	}
	first := h.near(docs, fp, 64*len(fp))
	equal(h.t, "nearest", collect(h.t, s.Search(ctx, q, Near(64*len(fp)), &SearchOptions{Limit: 7})), head(first, 7))
	for range 200 {
		id := fmt.Sprint("d", h.r.IntN(7000))
		want, stored := docs[id]
		d, err := s.Get(ctx, id)
		if stored != (err == nil) || err != nil && !errors.Is(err, ErrNotFound) ||
			!slices.EqualFunc(d.Fingerprints, want.Fingerprints, slices.Equal[Fingerprint]) {
			h.t.Fatalf("Get(%s) = %v, %v; want %v, stored %t", id, d.Fingerprints, err, want.Fingerprints, stored)
		}
	}
}

// TestSmallTables compares searches and look-ups of a database of small tables with brute force,
// while tables are written, merged, replaced and dropped, in several snapshots, and in a reader of
// another process. It has too little memory for the indexes of all tables in some cases.
func TestSmallTables(t *testing.T) {
	for i, o := range []Options{
		{},
		{Memory: 1 << 20},
		{Bits: 192},
		{Features: Features{Several: true}},
		{TTL: time.Hour},
		{DisableAutoCompaction: true, Layout: "2:1"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			indexed := 0
			for range exhaustive.Size(1, 8) {
				h := &smallHistory{t: t, r: rand.New(rand.NewPCG(uint64(i), uint64(indexed))), o: o, passed: new(atomic.Int64), docs: map[string]Doc{}, packed: map[string]map[string]Doc{}}
				h.o.NoSync, h.o.NoSketch, h.o.NoText, h.o.now = true, true, true, h.now
				for range 6 {
					h.centres = append(h.centres, make(Fingerprint, max(1, o.Bits/64)))
					for j := range h.centres[0] {
						h.centres[len(h.centres)-1][j] = h.r.Uint64()
					}
				}
				h.db, h.path = create4test(t, &h.o)
				defer func() { h.db.Close() }()
				h.reader = open4test(t, h.path, &Options{ReadOnly: true, Memory: o.Memory, now: h.now})
				for range 60 {
					h.step()
					s := must(h.db.Snapshot())(t)
					h.compare(s, h.docs)
					h.check(s.Close())
					h.check(h.reader.Refresh(t.Context()))
					s = must(h.reader.Snapshot())(t)
					h.compare(s, h.docs)
					h.check(s.Close())
					h.thaw(3)
				}
				h.thaw(0)
				indexed += h.indexed
				limit := int64(64 << 20)
				if o.Memory > 0 {
					limit = o.Memory / 16
				}
				if n := h.db.Metrics().IndexMemory; n > limit {
					t.Errorf("%d bytes of indexes, at most %d are allowed", n, limit)
				}
			}
			if indexed == 0 && o.Memory == 0 {
				t.Error("no search has used an index")
			}
		})
	}
}
