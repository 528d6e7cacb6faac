package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/must"
)

// A severalModel is a database with few IDs, and every fingerprint that it ever had.
type severalModel struct {
	t    *testing.T
	db   *DB
	docs map[string]Doc
	had  map[uint64]bool
}

// check compares current and former fingerprints with the model.
func (m *severalModel) check(did string) {
	m.t.Helper()
	ctx := m.t.Context()
	s := must.Get(m.db.Snapshot())(m.t)
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
	if n := must.Get(s.Count(ctx, Range{}))(m.t); n != int64(len(m.docs)) {
		m.t.Fatalf("after %s: %d counted, want %d", did, n, len(m.docs))
	}
	if r := must.Get(m.db.Check(ctx, nil))(m.t); len(r.Problems) > 0 || r.Documents != int64(len(m.docs)) {
		m.t.Fatalf("after %s: check %+v, want %d documents", did, r, len(m.docs))
	}
}

// TestSeveralRefused checks which documents with several fingerprints are refused.
func TestSeveralRefused(t *testing.T) {
	ctx := context.Background()
	one, _ := create4test(t, &Options{NoSync: true})
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
	many, _ := create4test(t, &Options{NoSync: true, Features: Features{Several: true}})
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
	if n := must.Get(many.Stats())(t).Documents; n != 0 {
		t.Errorf("%d documents", n)
	}
}

// TestSeveralLoadedBeside stores a document while a load has one with the same ID: exactly one
// stays, with only its own fingerprints.
func TestSeveralLoadedBeside(t *testing.T) {
	for _, replace := range []bool{false, true} {
		for _, flush := range []bool{false, true} {
			db, _ := create4test(t, &Options{NoSync: true, Features: Features{Several: true}})
			m := &severalModel{t: t, db: db, docs: map[string]Doc{}, had: map[uint64]bool{}}
			doc := func(fps ...uint64) (d Doc) {
				d.ID = "a"
				for _, fp := range fps {
					m.had[fp] = true
					d.Fingerprints = append(d.Fingerprints, []uint64{fp})
				}
				return d
			}
			l := must.Get(db.NewLoader(t.Context(), &LoadOptions{Replace: replace}))(t)
			loaded, put := doc(1<<1, 1<<2, 1<<3), doc(1<<11, 1<<12, 1<<13, 1<<14, 1<<15)
			must.Get(struct{}{}, l.Add(loaded))(t)
			must.Get(struct{}{}, db.Put(t.Context(), put))(t)
			if flush {
				must.Get(struct{}{}, db.Flush(t.Context()))(t)
			}
			must.Get(l.Close())(t)
			if m.docs["a"] = put; replace {
				m.docs["a"] = loaded
			}
			m.check(fmt.Sprintf("replace %v, flush %v", replace, flush))
			must.Get(struct{}{}, db.Compact(t.Context(), nil))(t)
			m.check("merged")
			want := int64(len(m.docs["a"].Fingerprints))
			if n := must.Get(db.Stats())(t).Fingerprints; n != want {
				t.Errorf("%d fingerprints after a merge, want %d", n, want)
			}
		}
	}
}

// TestWideRefused checks that a database of wide fingerprints refuses what needs sketches or texts.
func TestWideRefused(t *testing.T) {
	ctx := t.Context()
	db, path := create4test(t, &Options{Bits: 128})
	if err := db.Put(ctx, Doc{ID: "x", Fingerprints: []Fingerprint{{0}}}); !errors.Is(err, ErrParams) {
		t.Errorf("a fingerprint of 64 bits is stored: %v", err)
	}
	for _, err := range db.Near(ctx, 1, 3) {
		if !errors.Is(err, ErrParams) {
			t.Errorf("a fingerprint of 64 bits is searched for: %v", err)
		}
	}
	for _, err := range db.Search(ctx, Doc{Text: "a b c"}, Near(129), nil) {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("a distance that no fingerprints have: %v", err)
		}
	}
	must.Do(t, db.Close())
	if _, err := Open(path, &Options{Bits: 64}); !errors.Is(err, ErrParams) {
		t.Errorf("opened with other bits: %v", err)
	}
}

// TestSeveralBeside replaces documents with several fingerprints while readers search, one of which
// simulates another process, and tables are written and merged: in a snapshot each document must be
// found by its fingerprints in that snapshot, and by no others.
func TestSeveralBeside(t *testing.T) {
	ctx, path := t.Context(), t.TempDir()+"/s.simdb"
	db := must.Get(Create(path, &Options{NoSync: true, MemtableBytes: 1 << 16, Features: Features{Several: true}}))(t)
	defer db.Close()
	reader := must.Get(Open(path, &Options{ReadOnly: true}))(t)
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
