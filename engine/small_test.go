package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/table"
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
		h.frozen = append(h.frozen, frozenSmall{must.Get(h.db.Snapshot())(h.t), maps.Clone(h.docs)})
	default:
		h.thaw(0)
		h.check(h.db.Close())
		h.db = must.Get(Open(h.path, &h.o))(h.t)
	}
	if h.o.TTL > 0 {
		oldest := h.now().Add(-h.o.TTL)
		maps.DeleteFunc(h.docs, func(_ string, d Doc) bool { return d.Time.Before(oldest) })
	}
}

func (h *smallHistory) load() {
	replace := h.r.IntN(2) == 0
	l := must.Get(h.db.NewLoader(h.t.Context(), &LoadOptions{Replace: replace, Workers: 1}))(h.t)
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
	must.Get(l.Close())(h.t)
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
		if plan := must.Get(s.Plan(ctx, q, Near(k)))(h.t); len(plan) > 0 && strings.HasSuffix(plan[0].Part, " small tables") && plan[0].Method == "probe" {
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
		{indexMemory: 20_000},
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
				h.reader = open4test(t, h.path, &Options{ReadOnly: true, indexMemory: o.indexMemory, now: h.now})
				for range 60 {
					h.step()
					s := must.Get(h.db.Snapshot())(t)
					h.compare(s, h.docs)
					h.check(s.Close())
					h.check(h.reader.Refresh(t.Context()))
					s = must.Get(h.reader.Snapshot())(t)
					h.compare(s, h.docs)
					h.check(s.Close())
					h.thaw(3)
				}
				h.thaw(0)
				indexed += h.indexed
				limit := cmp.Or(o.indexMemory, 64<<20)
				if n := h.db.Metrics().IndexMemory; n > limit {
					t.Errorf("%d bytes of indexes, at most %d are allowed", n, limit)
				}
			}
			if indexed == 0 && o.indexMemory == 0 {
				t.Error("no search has used an index")
			}
		})
	}
}

// smallTables puts documents with the IDs and fingerprints of nthDoc into tables of n documents.
func smallTables(t *testing.T, db *DB, tables, n int) {
	t.Helper()
	for i := range tables {
		for j := range n {
			must.Get(struct{}{}, db.Put(t.Context(), nthDoc(i*n+j)))(t)
		}
		must.Get(struct{}{}, db.Flush(t.Context()))(t)
	}
}

// nthDoc returns document i of a test.
func nthDoc(i int) Doc {
	fp := rand.New(rand.NewPCG(uint64(i), 1)).Uint64()
	return Doc{ID: fmt.Sprint("n", i), Fingerprints: []Fingerprint{{fp}}}
}

// TestSmallTablesDamaged damages a block of fingerprints, or of IDs, of one of four tables. Searches
// that need it must fail and name the table, as without an index or filters, and others must not.
func TestSmallTablesDamaged(t *testing.T) {
	ctx := t.Context()
	for _, kind := range []table.Kind{table.KindRun, table.KindIDs} {
		db, path := create4test(t, &Options{NoSync: true, NoSketch: true, NoText: true, DisableAutoCompaction: true})
		smallTables(t, db, 4, 700)
		v := must.Get(db.s.View())(t)
		p := v.Version.Parts[1]
		at := slices.IndexFunc(p.Info().Sections, func(s table.Section) bool { return s.Kind == kind && s.Index == 0 })
		name, damaged := p.Name, p.Info().Sections[at].Offset+40
		must.Get(struct{}{}, errors.Join(v.Close(), db.Close()))(t)
		file := filepath.Join(path, name)
		data := must.Get(os.ReadFile(file))(t)
		data[damaged] ^= 0xff
		rewrite(t, file, data)

		without := open4test(t, path, &Options{ReadOnly: true, indexMemory: 1})
		with := open4test(t, path, &Options{ReadOnly: true})
		failed := 0
		for i := range 3000 {
			q := nthDoc(i)
			_, want := without.Get(ctx, q.ID)
			_, got := with.Get(ctx, q.ID)
			if errors.Is(want, ErrNotFound) != errors.Is(got, ErrNotFound) || errors.Is(want, ErrCorruption) != errors.Is(got, ErrCorruption) {
				t.Fatalf("Get(%s): %v; without filters: %v", q.ID, got, want)
			}
			want, got = nil, nil
			for _, err := range without.Near(ctx, q.Fingerprints[0][0], i%4) {
				want = errors.Join(want, err)
			}
			found := 0
			for m, err := range with.Near(ctx, q.Fingerprints[0][0], i%4) {
				if got = errors.Join(got, err); err == nil && m.ID == q.ID {
					found++
				}
			}
			if got == nil && (found == 1) != (i < 2800) || errors.Is(want, ErrCorruption) != errors.Is(got, ErrCorruption) || got != nil && !strings.Contains(got.Error(), name) {
				t.Fatalf("near document %d: %d, %v; without an index: %v", i, found, got, want)
			}
			if got != nil {
				failed++
			}
		}
		plan := must.Get(with.Plan(ctx, nthDoc(1), Near(3)))(t)
		if wants := map[table.Kind]string{table.KindRun: "3 small tables", table.KindIDs: "4 small tables"}[kind]; plan[0].Part != wants {
			t.Errorf("%v is damaged: the plan is %+v", kind, plan)
		}
		if (failed > 0) != (kind == table.KindRun) {
			t.Errorf("%v is damaged: %d searches have failed", kind, failed)
		}
		if with.Metrics().IndexMemory == 0 || without.Metrics().IndexMemory > 0 {
			t.Errorf("%d bytes of indexes, %d where there is no memory", with.Metrics().IndexMemory, without.Metrics().IndexMemory)
		}
	}
}

// TestSmallTablesBeside searches while tables are written and merged and indexes built: the first
// documents, which are sometimes replaced by themselves, must be found at every moment, once. A
// snapshot must be readable after the database is closed, even while an index is being built.
func TestSmallTablesBeside(t *testing.T) {
	ctx := t.Context()
	db, _ := create4test(t, &Options{NoSync: true, NoSketch: true, NoText: true, MemtableBytes: 300_000})
	const stay, all = 1000, 30_000
	smallTables(t, db, 4, stay/4)
	var wg sync.WaitGroup
	var written atomic.Int64
	written.Store(stay)
	search := func(s *Snapshot, r *rand.Rand) {
		i := r.IntN(stay)
		if n := int(written.Load()); r.IntN(2) == 0 {
			i = r.IntN(n)
		}
		q, found := nthDoc(i), 0
		by := q.Fingerprints[0][0] ^ 1<<r.IntN(64)
		for m, err := range s.Near(ctx, by, 3) {
			if n := 0; err != nil {
				t.Error(err)
			} else if m.ID == q.ID {
				found++
			} else if fmt.Sscanf(m.ID, "n%d", &n); base.Distance(nthDoc(n).Fingerprints[0][0], by) != m.Distance {
				t.Errorf("%+v is near %x", m, by)
			}
		}
		if i < stay && found != 1 || found > 1 {
			t.Errorf("document %d was found %d times", i, found)
		}
		if _, err := s.Get(ctx, q.ID); i < stay && err != nil {
			t.Errorf("document %d: %v", i, err)
		}
		if _, err := s.Get(ctx, fmt.Sprint("no", i)); !errors.Is(err, ErrNotFound) {
			t.Errorf("no document: %v", err)
		}
	}
	for g := range 3 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(g)))
			for written.Load() < all && !t.Failed() {
				s, err := db.Snapshot()
				if err != nil {
					t.Error(err)
					return
				}
				for range 20 {
					search(s, r)
				}
				s.Close()
			}
		})
	}
	r := rand.New(rand.NewPCG(8, 8))
	for i := stay; i < all && !t.Failed(); i++ {
		must.Get(struct{}{}, db.Put(ctx, nthDoc(i)))(t)
		written.Store(int64(i + 1))
		if r.IntN(20) == 0 {
			must.Get(struct{}{}, db.Put(ctx, nthDoc(r.IntN(stay))))(t)
		}
	}
	wg.Wait()
	s := snapshot4test(t, db)
	search(s, r)
	must.Get(struct{}{}, db.Close())(t)
	for range 1000 {
		search(s, r)
	}
}
