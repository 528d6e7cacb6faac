package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
)

// A severalModel is a database with few IDs, whose documents are replaced, loaded, deleted and
// pruned repeatedly, and every fingerprint that it ever had.
type severalModel struct {
	t    *testing.T
	db   *DB
	path string
	r    *rand.Rand
	docs map[string]Doc
	had  map[uint64]bool
	now  time.Time
}

// doc returns a document with some fingerprints, far from all others.
func (m *severalModel) doc() Doc {
	d := Doc{ID: fmt.Sprintf("d%d", m.r.IntN(12)), Time: m.now}
	for range 1 + m.r.IntN(5) {
		fp := m.r.Uint64()
		m.had[fp] = true
		d.Fingerprints = append(d.Fingerprints, []uint64{fp})
	}
	return d
}

// step changes the database.
func (m *severalModel) step() (did string, err error) {
	ctx := m.t.Context()
	m.now = m.now.Add(time.Minute)
	switch m.r.IntN(9) {
	case 0, 1:
		var b Batch
		for range 1 + m.r.IntN(4) {
			d := m.doc()
			b.Put(d)
			m.docs[d.ID] = d
		}
		return "batch", m.db.Apply(ctx, &b)
	case 2:
		id := m.doc().ID
		err := m.db.Delete(ctx, id)
		if _, ok := m.docs[id]; ok == errors.Is(err, ErrNotFound) {
			m.t.Fatalf("deleting %s: %v", id, err)
		} else if !ok {
			err = nil
		}
		delete(m.docs, id)
		return "delete", err
	case 3, 4:
		return m.load()
	case 5:
		return "flush", m.db.Flush(ctx)
	case 6:
		return "compact", m.db.Compact(ctx, nil)
	case 7:
		before := m.now.Add(-time.Duration(m.r.IntN(30)) * time.Minute)
		old := 0
		for id, d := range m.docs {
			if d.Time.Before(before) {
				old++
				delete(m.docs, id)
			}
		}
		n, err := m.db.Prune(ctx, before, nil)
		if n != old {
			m.t.Fatalf("pruned %d, want %d", n, old)
		}
		return "prune", err
	}
	if err := m.db.Close(); err != nil {
		return "", err
	}
	m.db, err = Open(m.path, &Options{DisableAutoCompaction: true, Sync: SyncNever})
	return "reopen", err
}

// load loads documents, with a write in between.
func (m *severalModel) load() (did string, err error) {
	ctx := m.t.Context()
	replace := m.r.IntN(2) == 0
	did = fmt.Sprintf("load, replace %v", replace)
	l, err := m.db.NewLoader(ctx, &LoadOptions{Replace: replace})
	if err != nil {
		return did, err
	}
	loaded := map[string]Doc{}
	add := func() error {
		d := m.doc()
		err := l.Add(d)
		_, there := m.docs[d.ID]
		if _, again := loaded[d.ID]; !replace && (there || again) != errors.Is(err, ErrExists) {
			return fmt.Errorf("adding %s: %w", d.ID, err)
		}
		if err == nil {
			loaded[d.ID] = d
		} else if errors.Is(err, ErrExists) {
			err = nil
		}
		return err
	}
	for range m.r.IntN(6) {
		if err := add(); err != nil {
			return did, err
		}
	}
	if m.r.IntN(2) == 0 {
		d := m.doc()
		if err := m.db.Put(ctx, d); err != nil {
			return did, err
		}
		m.docs[d.ID] = d
	}
	stats, err := l.Close()
	stored := 0
	for id, d := range loaded {
		if _, there := m.docs[id]; replace || !there {
			stored++
			m.docs[id] = d
		}
	}
	if err == nil && stats.Documents != int64(stored) {
		err = fmt.Errorf("%d documents loaded, want %d", stats.Documents, stored)
	}
	return did, err
}

// check compares current and former fingerprints with the model.
func (m *severalModel) check(did string) {
	m.t.Helper()
	ctx := m.t.Context()
	s := must(m.db.Snapshot())(m.t)
	defer s.Close()
	of := map[uint64]string{}
	for id, d := range m.docs {
		for _, fp := range d.Fingerprints {
			of[fp[0]] = id
		}
		got, err := s.Get(ctx, id)
		if all := got.Fingerprints; err != nil || !slices.EqualFunc(all, d.Fingerprints, slices.Equal) {
			m.t.Fatalf("after %s: %s is %x, %v, want %x", did, id, all, err, d.Fingerprints)
		}
	}
	for fp := range m.had {
		var want []Match
		if id, ok := of[fp]; ok {
			want = []Match{{ID: id}}
		}
		equal(m.t, "after "+did, collect(m.t, s.Search(ctx, ofPrint(fp), Near(0), nil)), want)
	}
	var ids []string
	for e := range entriesIn(ctx, s, Range{}) {
		ids = append(ids, e.ID)
	}
	if want := slices.Sorted(maps.Keys(m.docs)); !slices.Equal(ids, want) {
		m.t.Fatalf("after %s: documents %v, want %v", did, ids, want)
	}
	if n := must(s.Count(ctx, Range{}))(m.t); n != int64(len(m.docs)) {
		m.t.Fatalf("after %s: %d counted, want %d", did, n, len(m.docs))
	}
	if r := must(m.db.Check(ctx, nil))(m.t); len(r.Problems) > 0 || r.Documents != int64(len(m.docs)) {
		m.t.Fatalf("after %s: check %+v, want %d documents", did, r, len(m.docs))
	}
}

// TestSeveralReplaced replaces documents with several fingerprints in every way: no fingerprint of
// an earlier version may be found.
func TestSeveralReplaced(t *testing.T) {
	for seed := range exhaustive.Every(t, 16).Of(64) {
		path := t.TempDir() + "/s.simdb"
		o := &Options{DisableAutoCompaction: true, Sync: SyncNever, Features: Features{Several: true}}
		m := &severalModel{
			t: t, db: must(Create(path, o))(t), path: path, r: rand.New(rand.NewPCG(uint64(seed), 1)),
			docs: map[string]Doc{}, had: map[uint64]bool{}, now: time.Now().Add(-24 * time.Hour).Truncate(time.Second),
		}
		var did []string
		for range 40 {
			what, err := m.step()
			if did = append(did, what); err != nil {
				t.Fatalf("seed %d, %v: %v", seed, did, err)
			}
			m.check(fmt.Sprint("seed ", seed, ", ", strings.Join(did, "; ")))
		}
		m.db.Close()
	}
}

// TestSeveralRefused checks which documents with several fingerprints are refused.
func TestSeveralRefused(t *testing.T) {
	ctx := context.Background()
	one, _ := create4test(t, &Options{Sync: SyncNever})
	two := []Fingerprint{{1}, {2}}
	if err := one.Put(ctx, Doc{ID: "a", Fingerprints: two}); !errors.Is(err, ErrParams) || !strings.Contains(err.Error(), "Several") {
		t.Errorf("several in a database of one: %v", err)
	}
	if err := one.Put(ctx, Doc{ID: "a", Fingerprints: two[:1]}); err != nil {
		t.Error(err)
	}
	if n := len(collect(t, one.Search(ctx, Doc{Fingerprints: two}, Near(0), nil))); n != 1 {
		t.Errorf("several asked of a database of one: %d matches", n)
	}
	many, _ := create4test(t, &Options{Sync: SyncNever, Features: Features{Several: true}})
	for what, d := range map[string]Doc{
		"other width": {ID: "a", Fingerprints: []Fingerprint{{1}, {2, 3}}},
		"code's id":   {ID: "\x00code\x00a\x00\x01", Fingerprints: two},
		"long id":     {ID: strings.Repeat("x", base.MaxIDBytes-5), Fingerprints: two},
		"too many":    {ID: "a", Fingerprints: slices.Repeat(two, 65535)},
	} {
		if err := many.Put(ctx, d); err == nil {
			t.Errorf("%s is stored", what)
		}
	}
	if _, err := many.Get(ctx, "\x00code\x00a\x00\x01"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if n := must(many.Stats())(t).Documents; n != 0 {
		t.Errorf("%d documents", n)
	}
}

// TestSeveralLoadedBeside stores a document while a load has one with the same ID: exactly one
// stays, with only its own fingerprints.
func TestSeveralLoadedBeside(t *testing.T) {
	for _, replace := range []bool{false, true} {
		for _, flush := range []bool{false, true} {
			db, _ := create4test(t, &Options{Sync: SyncNever, Features: Features{Several: true}})
			m := &severalModel{t: t, db: db, docs: map[string]Doc{}, had: map[uint64]bool{}}
			doc := func(fps ...uint64) (d Doc) {
				d.ID = "a"
				for _, fp := range fps {
					m.had[fp] = true
					d.Fingerprints = append(d.Fingerprints, []uint64{fp})
				}
				return d
			}
			l := must(db.NewLoader(t.Context(), &LoadOptions{Replace: replace}))(t)
			loaded, put := doc(1<<1, 1<<2, 1<<3), doc(1<<11, 1<<12, 1<<13, 1<<14, 1<<15)
			must(struct{}{}, l.Add(loaded))(t)
			must(struct{}{}, db.Put(t.Context(), put))(t)
			if flush {
				must(struct{}{}, db.Flush(t.Context()))(t)
			}
			must(l.Close())(t)
			if m.docs["a"] = put; replace {
				m.docs["a"] = loaded
			}
			m.check(fmt.Sprintf("replace %v, flush %v", replace, flush))
			must(struct{}{}, db.Compact(t.Context(), nil))(t)
			m.check("merged")
			want := int64(len(m.docs["a"].Fingerprints))
			if n := must(db.Stats())(t).Fingerprints; n != want {
				t.Errorf("%d fingerprints after a merge, want %d", n, want)
			}
		}
	}
}

// TestSeveralClusters compares clusters of documents with several fingerprints, and allowed pairs,
// with their definition.
func TestSeveralClusters(t *testing.T) {
	ctx := t.Context()
	for seed := range exhaustive.Every(t, 8).Of(40) {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		db, _ := create4test(t, &Options{Sync: SyncNever, Features: Features{Several: true}})
		var docs []Doc
		for i := range 30 {
			d := Doc{ID: fmt.Sprintf("d%02d", i)}
			for range 1 + r.IntN(3) {
				d.Fingerprints = append(d.Fingerprints, []uint64{r.Uint64N(40) * 0x1111 << 8})
			}
			docs = append(docs, d)
			must(struct{}{}, db.Put(ctx, d))(t)
			if r.IntN(20) == 0 {
				must(struct{}{}, db.Flush(ctx))(t)
			}
		}
		apart := map[Pair]bool{}
		for range seed % 3 * 8 {
			a, b := docs[r.IntN(30)].ID, docs[r.IntN(30)].ID
			if a != b {
				apart[Pair{A: a, B: b}], apart[Pair{A: b, B: a}] = true, true
				must(struct{}{}, db.SetAllowed(ctx, true, Pair{A: a, B: b}))(t)
			}
		}
		distance := func(a, b Doc) int {
			least := 64
			for _, x := range a.Fingerprints {
				for _, y := range b.Fingerprints {
					least = min(least, bits.OnesCount64(x[0]^y[0]))
				}
			}
			return least
		}
		for _, k := range []int{0, 4, 8} {
			keeper, of := map[string]string{}, map[string]string{} // by stars; by components, the first document
			for i, d := range docs {
				best, least := d.ID, k+1
				for _, e := range docs[:i] {
					if n := distance(d, e); keeper[e.ID] == e.ID && n < least && !apart[Pair{A: d.ID, B: e.ID}] {
						best, least = e.ID, n
					}
				}
				keeper[d.ID], of[d.ID] = best, d.ID
			}
			for range docs {
				for _, d := range docs {
					for _, e := range docs {
						if distance(d, e) <= k && !apart[Pair{A: d.ID, B: e.ID}] {
							of[d.ID] = min(of[d.ID], of[e.ID])
						}
					}
				}
			}
			for mode, want := range map[ClusterMode]map[string]string{Star: keeper, Components: of} {
				got := map[string]string{}
				for _, d := range docs {
					got[d.ID] = d.ID
				}
				first := ""
				for m, err := range db.Clusters(ctx, Near(k), &ClusterOptions{Mode: mode}) {
					if must(m, err)(t).Keep {
						first = m.ID
					}
					got[m.ID] = first
				}
				if !maps.Equal(got, want) {
					t.Fatalf("seed %d, k = %d, mode %v: %v, want %v", seed, k, mode, got, want)
				}
			}
		}
	}
}

// TestSeveralBeside replaces documents with several fingerprints while readers search, one of which
// simulates another process, and tables are written and merged: in a snapshot each document must be
// found by its fingerprints in that snapshot, and by no others.
func TestSeveralBeside(t *testing.T) {
	ctx, path := t.Context(), t.TempDir()+"/s.simdb"
	db := must(Create(path, &Options{Sync: SyncNever, MemtableBytes: 1 << 16, Features: Features{Several: true}}))(t)
	defer db.Close()
	reader := must(Open(path, &Options{ReadOnly: true}))(t)
	defer reader.Close()
	const ids, versions = 20, 300
	doc := func(id, version int) (d Doc) { // a fingerprint encodes the document, the version and a number
		d.ID = fmt.Sprint(id)
		for n := range 1 + (id+version)%4 {
			d.Fingerprints = append(d.Fingerprints, []uint64{uint64(id)<<40 | uint64(version)<<8 | uint64(n)})
		}
		return d
	}
	done := make(chan struct{})
	var writers, readers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for version := range versions {
				for id := w; id < ids; id += 2 {
					if err := db.Put(ctx, doc(id, version)); err != nil {
						t.Error(err)
						return
					}
				}
				if version%50 == 49 {
					if err := cmp.Or(db.Flush(ctx), db.Compact(ctx, nil)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	check := func(s *Snapshot) {
		for id := range ids {
			d, err := s.Get(ctx, fmt.Sprint(id))
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if err != nil {
				t.Error(err)
				return
			}
			version := int(d.Fingerprints[0][0] >> 8 & (1<<32 - 1))
			want := doc(id, version)
			if all := d.Fingerprints; !slices.EqualFunc(all, want.Fingerprints, slices.Equal) {
				t.Errorf("%d has %x, want %x", id, all, want.Fingerprints)
			}
			for v := max(version-2, 0); v <= version; v++ {
				for _, fp := range doc(id, v).Fingerprints {
					n, err := s.CountMatches(ctx, ofPrint(fp[0]), Near(0), nil)
					if err != nil || (n == 1) != (v == version) {
						t.Errorf("%d of version %d: %x of version %d has %d matches, %v", id, version, fp, v, n, err)
					}
				}
			}
		}
	}
	for _, x := range []*DB{db, reader} {
		readers.Go(func() {
			for ended := false; !ended && !t.Failed(); {
				select {
				case <-done:
					ended = true
				default:
				}
				if x == reader {
					if err := x.Refresh(ctx); err != nil {
						t.Error(err)
						return
					}
				}
				s, err := x.Snapshot()
				if err != nil {
					t.Error(err)
					return
				}
				check(s)
				s.Close()
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}
