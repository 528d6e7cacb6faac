package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/simhash"
)

// A wideModel is a database with fingerprints of more than 64 bits, or with documents that have
// several fingerprints, and its expected contents.
type wideModel struct {
	t     *testing.T
	db    *DB
	r     *rand.Rand
	words int
	kind  string
	docs  map[string][][]uint64 // empty for a document without a fingerprint
	next  int

	several bool
}

// wideKinds are generators of fingerprints: word i of a new one.
var wideKinds = map[string]func(r *rand.Rand, i int) uint64{
	"uniform":       func(r *rand.Rand, _ int) uint64 { return r.Uint64() },
	"ball":          func(r *rand.Rand, i int) uint64 { return uint64(i) ^ 1<<r.IntN(64) ^ 1<<r.IntN(64) },
	"constant word": func(r *rand.Rand, i int) uint64 { return r.Uint64() * uint64(i&1) },
	"few":           func(r *rand.Rand, _ int) uint64 { return r.Uint64N(2) << 50 },
}

// doc returns a new document: with a text, with a fingerprint near another one, or with a new
// fingerprint.
func (m *wideModel) doc() Doc {
	m.next++
	d := Doc{ID: fmt.Sprintf("d%d", m.next)}
	if m.several && m.r.IntN(4) == 0 {
		d.ID = fmt.Sprintf("d%d", 1+m.r.IntN(m.next)) // may be stored already
	}
	if m.several && m.r.IntN(2) == 0 {
		for range 1 + m.r.IntN(4) {
			d.Fingerprints = append(d.Fingerprints, m.print())
		}
	}
	switch m.r.IntN(4) {
	case 0:
		d.Text = strings.Repeat(fmt.Sprintf("w%d x%d ", m.r.IntN(3), m.r.IntN(30)), m.r.IntN(4))
	default:
		d.Fingerprints = append([]Fingerprint{m.print()}, d.Fingerprints...)
	}
	return d
}

// print returns a new fingerprint, sometimes near another one.
func (m *wideModel) print() (words []uint64) {
	if words := m.some(); words != nil && m.r.IntN(3) == 0 {
		return m.flipped(words, 40)
	}
	for i := range m.words {
		words = append(words, wideKinds[m.kind](m.r, i))
	}
	return words
}

// some returns a stored fingerprint, or nil.
func (m *wideModel) some() []uint64 {
	for _, fps := range m.docs {
		if len(fps) == 0 {
			return nil
		}
		return fps[m.r.IntN(len(fps))]
	}
	return nil
}

// flipped returns words with up to n bits flipped.
func (m *wideModel) flipped(words []uint64, n int) []uint64 {
	words = slices.Clone(words)
	for range m.r.IntN(n) {
		words[m.r.IntN(len(words))] ^= 1 << m.r.IntN(64)
	}
	return words
}

// stored records that a document is stored.
func (m *wideModel) stored(d Doc) {
	var words []uint64
	if d.Fingerprints == nil {
		h, err := simhash.New(simhash.Options{Bits: 64 * m.words})
		if err != nil {
			m.t.Fatal(err)
		}
		words = make([]uint64, m.words)
		if !h.Wide(words, d.Text) {
			words = nil
		}
	}
	m.docs[d.ID] = nil
	if words != nil {
		m.docs[d.ID] = [][]uint64{words}
	}
	m.docs[d.ID] = append(m.docs[d.ID], wordsOf(d.Fingerprints)...)
}

// within returns the matches of fingerprints, in order.
func (m *wideModel) within(qs [][]uint64, k int, except string) []Match {
	var all []Match
	for id, fps := range m.docs {
		distance := 64*m.words + 1
		for _, words := range fps {
			for _, q := range qs {
				d := 0
				for i, w := range words {
					d += bits.OnesCount64(w ^ q[i])
				}
				distance = min(distance, d)
			}
		}
		if distance <= k && id != except {
			all = append(all, Match{ID: id, Distance: distance})
		}
	}
	slices.SortFunc(all, func(a, b Match) int {
		if a.Distance != b.Distance {
			return a.Distance - b.Distance
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all
}

// check compares every search method with brute force.
func (m *wideModel) check(stage string) {
	m.t.Helper()
	t, ctx := m.t, m.t.Context()
	width := 64 * m.words
	same := func(id string, fps []Fingerprint) bool {
		return slices.EqualFunc(wordsOf(fps), m.docs[id], slices.Equal)
	}
	for id := range m.docs {
		d, err := m.db.Get(ctx, id)
		if err != nil || !same(id, d.Fingerprints) {
			t.Fatalf("%s: %s is %x, %v, want %x", stage, id, d, err, m.docs[id])
		}
		if e := must(lookupOf(ctx, m.db, id))(t); !same(id, e.all) {
			t.Fatalf("%s: %s is looked up as %+v, want %x", stage, id, e, m.docs[id])
		}
	}
	s := must(m.db.Snapshot())(t)
	defer s.Close()
	for _, d := range collect(t, s.GetAll(ctx, slices.Collect(maps.Keys(m.docs)))) {
		if !same(d.ID, d.Fingerprints) {
			t.Errorf("%s: %s is given as %x, want %x", stage, d.ID, d, m.docs[d.ID])
		}
	}
	entries := 0
	for e, err := range entriesIn(ctx, s, Range{}) {
		if entries++; err != nil || !same(e.ID, e.all) {
			t.Fatalf("%s: entry %+v, %v", stage, e, err)
		}
	}
	if entries != len(m.docs) {
		t.Fatalf("%s: %d entries, want %d", stage, entries, len(m.docs))
	}
	if n := must(s.Count(ctx, Range{}))(t); n != int64(len(m.docs)) {
		t.Fatalf("%s: %d documents, want %d", stage, n, len(m.docs))
	}
	if n := must(m.db.Stats())(t).Documents; n != int64(len(m.docs)) {
		t.Fatalf("%s: %d documents by the statistics, want %d", stage, n, len(m.docs))
	}
	where := Range{Unordered: true, Where: func(_, _ []byte) (bool, error) { return true, nil }}
	if n := len(collect(t, entriesIn(ctx, s, where))); n != len(m.docs) {
		t.Fatalf("%s: %d documents by their texts, want %d", stage, n, len(m.docs))
	}
	for _, k := range []int{0, 3, 31, 64, width / 2, width} {
		var batch []Doc
		var want [][]Match
		for range 5 {
			var q Doc
			if words := m.some(); words != nil && m.r.IntN(4) > 0 {
				q.Fingerprints = []Fingerprint{m.flipped(words, min(k, 60)+2)}
			} else {
				q.Fingerprints = []Fingerprint{make([]uint64, m.words)}
			}
			if m.several && m.r.IntN(3) == 0 {
				q.Fingerprints = append(q.Fingerprints, m.print(), m.print())
			}
			batch, want = append(batch, q), append(want, m.within(wordsOf(q.Fingerprints), k, ""))
		}
		for i, q := range batch {
			where := fmt.Sprintf("%s, k = %d", stage, k)
			equal(t, where, collect(t, s.Search(ctx, q, Near(k), nil)), want[i])
			sameSet(t, where, collect(t, s.Search(ctx, q, Near(k), &SearchOptions{Unordered: true})), want[i])
			n := min(5, len(want[i]))
			equal(t, where, collect(t, s.Search(ctx, q, Near(k), &SearchOptions{Limit: 5})), want[i][:n])
			if q.Fingerprints == nil && m.words == 1 {
				equal(t, where, collect(t, m.db.Near(ctx, q.Fingerprints[0][0], k)), want[i])
			}
			if n := must(s.CountMatches(ctx, q, Near(k), nil))(t); n != int64(len(want[i])) {
				t.Fatalf("%s: %d counted, want %d", where, n, len(want[i]))
			}
			if _, err := s.Plan(ctx, q, Near(k)); err != nil {
				t.Fatal(err)
			}
			if known, _, err := s.Any(ctx, batch[i:i+1], Near(k), nil); err != nil || known[0] != (len(want[i]) > 0) {
				t.Fatalf("%s: Any says %v, %v", where, known, err)
			}
		}
		known, _, err := s.Any(ctx, batch, Near(k), &SearchOptions{Unordered: true})
		must(known, err)(t)
		got := make([][]Match, len(batch))
		for b, err := range s.SearchBatch(ctx, batch, Near(k), nil) {
			if err != nil {
				t.Fatal(err)
			}
			got[b.Query] = append(got[b.Query], ofQuery(0, b))
		}
		for i := range batch {
			equal(t, stage+", batch", got[i], want[i])
			if known[i] != (len(want[i]) > 0) {
				t.Fatalf("%s: Any of %d says %v", stage, i, known[i])
			}
		}
	}
	asked := 0
	for id, fps := range m.docs {
		if len(fps) > 0 && asked < 5 {
			want := m.within(fps, 20, id)
			equal(t, stage+", by ID", collect(t, s.Search(ctx, Doc{ID: id}, Near(20), nil)), want)
			if n := must(s.CountMatches(ctx, Doc{ID: id}, Near(20), nil))(t); n != int64(len(want)) {
				t.Fatalf("%s: %d counted by ID, want %d", stage, n, len(want))
			}
			asked++
		}
	}
}

// checkPairs compares pairs and clusters with brute force, only among the few documents whose IDs
// begin with a prefix.
func (m *wideModel) checkPairs(stage string) {
	m.t.Helper()
	t, ctx := m.t, m.t.Context()
	s := must(m.db.Snapshot())(t)
	defer s.Close()
	for _, k := range map[bool][]int{true: {0, 10, 31, 70}, false: {0, 20}}[m.kind == "uniform"] {
		if k > 64*m.words {
			continue
		}
		var want []Pair
		near := map[string][]Match{}
		for id, fps := range m.docs {
			if len(fps) == 0 {
				continue
			}
			near[id] = m.within(fps, k, id)
			for _, match := range near[id] {
				if id < match.ID {
					want = append(want, Pair{id, match.ID, match})
				}
			}
		}
		slices.SortFunc(want, func(x, y Pair) int {
			return cmp.Or(cmp.Compare(x.Distance, y.Distance), strings.Compare(x.A, y.A), strings.Compare(x.B, y.B))
		})
		where := fmt.Sprintf("%s, pairs within %d", stage, k)
		if got := collect(t, s.Pairs(ctx, Near(k), nil)); !slices.Equal(got, want) {
			t.Fatalf("%s: %d pairs, want %d", where, len(got), len(want))
		}
		sameSet(t, where, collect(t, s.Pairs(ctx, Near(k), &SearchOptions{Unordered: true})), want)
		if got := collect(t, s.Pairs(ctx, Near(k), &SearchOptions{Limit: 7})); !slices.Equal(got, want[:min(7, len(want))]) {
			t.Fatalf("%s: the first are %v", where, got)
		}
		if n := must(countPairs(ctx, s, Near(k)))(t); n != int64(len(want)) {
			t.Fatalf("%s: %d counted, want %d", where, n, len(want))
		}
		// A document and all of its matches are in the same component, and no others.
		of := map[string]int{}
		for _, member := range collect(t, s.Clusters(ctx, Near(k), &ClusterOptions{Mode: Components})) {
			of[member.ID] = member.Cluster
		}
		for id, matches := range near {
			if (of[id] == 0) != (len(matches) == 0) {
				t.Fatalf("%s: %s with %d matches is in component %d", where, id, len(matches), of[id])
			}
			for _, other := range matches {
				if of[other.ID] != of[id] {
					t.Fatalf("%s: %s and %s are in components %d and %d", where, id, other.ID, of[id], of[other.ID])
				}
			}
		}
		// Each member of a star has the reported distance from its keeper, and keepers do not match
		// each other.
		keepers := map[int]string{}
		star := map[string]bool{}
		for _, member := range collect(t, s.Clusters(ctx, Near(k), nil)) {
			if star[member.ID] = true; member.Keep {
				keepers[member.Cluster] = member.ID
			}
			want := slices.IndexFunc(m.within(m.docs[keepers[member.Cluster]], k, ""), func(x Match) bool { return x.ID == member.ID && x.Distance == member.Distance })
			if want < 0 {
				t.Fatalf("%s: %+v of keeper %s", where, member, keepers[member.Cluster])
			}
		}
		for id, matches := range near {
			if !star[id] { // a single keeper: none of its matches is a keeper
				for _, other := range matches {
					if !star[other.ID] || keepers[of[id]] == other.ID && len(matches) == 1 {
						t.Fatalf("%s: %s and %s match, and are both alone", where, id, other.ID)
					}
				}
			}
		}
	}
}

// TestWide runs databases with wide fingerprints through all operations that change them.
func TestWide(t *testing.T) {
	type one struct {
		kind  string
		words int
	}
	all := []one{{"uniform", 16}}
	for _, kind := range slices.Sorted(maps.Keys(wideKinds)) {
		all = append(all, one{kind, 2}, one{kind, 4})
	}
	for i := range exhaustive.Some(t, 6, len(all)) {
		t.Run(fmt.Sprintf("%s/%d", all[i].kind, all[i].words), func(t *testing.T) { testWide(t, all[i].kind, all[i].words, false) })
	}
}

// TestSeveral does the same with documents that have several fingerprints.
func TestSeveral(t *testing.T) {
	kinds := []string{"uniform", "ball"}
	for i := range exhaustive.Some(t, 4, 2*len(kinds)) {
		kind, words := kinds[i/2], 1+i%2
		t.Run(fmt.Sprintf("%s/%d", kind, words), func(t *testing.T) { testWide(t, kind, words, true) })
	}
}

func testWide(t *testing.T, kind string, words int, several bool) {
	ctx := context.Background()
	o := &Options{Bits: 64 * words, Sync: SyncNever, NoSketch: words == 2, Features: Features{Several: several}}
	db, path := create4test(t, o)
	m := &wideModel{t: t, db: db, r: rand.New(rand.NewPCG(uint64(words), uint64(len(kind)))), words: words, kind: kind, docs: map[string][][]uint64{}, several: several}
	part := func(n int) int {
		if several {
			return n / 3 // number of documents, which have more fingerprints
		}
		return n
	}
	put := func(n int) {
		n = part(n)
		var b Batch
		for range n {
			d := m.doc()
			b.Put(d)
			m.stored(d)
		}
		for range n / 10 {
			id := fmt.Sprintf("d%d", 1+m.r.IntN(m.next))
			b.Delete(id)
			delete(m.docs, id)
		}
		if err := m.db.Apply(ctx, &b); err != nil {
			t.Fatal(err)
		}
	}
	reopen := func() {
		if err := m.db.Close(); err != nil {
			t.Fatal(err)
		}
		m.db = must(Open(path, nil))(t)
		t.Cleanup(func() { m.db.Close() })
	}
	put(300)
	m.check("memtable")
	reopen() // replays the log
	m.check("replayed")
	if err := m.db.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	put(200)
	l := must(m.db.NewLoader(ctx, &LoadOptions{Replace: true}))(t)
	for range part(700) {
		d := m.doc()
		if err := l.Add(d); err != nil {
			t.Fatal(err)
		}
		m.stored(d)
	}
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
	m.check("loaded")
	m.checkPairs("loaded")
	put(2300) // enough for an index of the memtable
	m.check("indexed")
	for range 20 {
		d := m.doc()
		before, there := m.docs[d.ID]
		match, stored, err := m.db.PutNovel(ctx, d, Near(31))
		if err != nil {
			t.Fatal(err)
		}
		m.stored(d)
		if q := m.docs[d.ID]; !stored {
			if delete(m.docs, d.ID); there {
				m.docs[d.ID] = before
			}
			if want := m.within(q, 31, d.ID); len(want) == 0 || match.Distance < want[0].Distance {
				t.Fatalf("PutNovel of %x names %+v, want %v", q, match, want)
			}
		} else if delete(m.docs, d.ID); q != nil && len(m.within(q, 31, d.ID)) > 0 {
			t.Fatalf("PutNovel has stored %x", q)
		} else {
			m.docs[d.ID] = q
		}
	}
	if err := m.db.Compact(ctx, nil); err != nil {
		t.Fatal(err)
	}
	m.check("compacted")
	if r := must(m.db.Check(ctx, nil))(t); len(r.Problems) > 0 {
		t.Fatal(r.Problems)
	}
	if words > 1 {
		if err := m.db.Put(ctx, ofPrint(1)); !errors.Is(err, ErrInvalid) { // without an ID
			t.Error(err)
		}
		if err := m.db.Put(ctx, Doc{ID: "x", Fingerprints: []Fingerprint{{0}}}); !errors.Is(err, ErrParams) {
			t.Errorf("a fingerprint of 64 bits is stored: %v", err)
		}
		for _, err := range m.db.Near(ctx, 1, 3) {
			if !errors.Is(err, ErrParams) {
				t.Errorf("a fingerprint of 64 bits is searched for: %v", err)
			}
		}
	}
	for _, err := range m.db.Search(ctx, Doc{Text: "a b c"}, Near(64*words+1), nil) {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("a distance that no fingerprints have: %v", err)
		}
	}
	packed := filepath.Join(t.TempDir(), "x.sst")
	if err := m.db.Pack(ctx, packed, nil); err != nil {
		t.Fatal(err)
	}
	put(50)
	reopen()
	again := *m
	again.db = must(Open(packed, nil))(t)
	t.Cleanup(func() { again.db.Close() })
	if p := again.db.Options(); p.Bits != 64*words {
		t.Errorf("the packed table has %d bits", p.Bits)
	}
	recovered := filepath.Join(t.TempDir(), "r.simdb")
	if err := m.db.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := Recover(ctx, path, recovered, nil); err != nil || r.Documents != int64(len(m.docs)) {
		t.Fatalf("%d documents recovered of %d, %v", r.Documents, len(m.docs), err)
	}
	m.db = must(Open(recovered, nil))(t)
	t.Cleanup(func() { m.db.Close() })
	m.check("recovered")
	if _, err := Open(recovered, &Options{Bits: 64}); !errors.Is(err, ErrParams) && !errors.Is(err, ErrLocked) {
		t.Errorf("opened with other bits: %v", err)
	}
}
