package search

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

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/listing"
	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/table"
)

// A model is a database of two tables and a memtable, with replaced and deleted documents, and its
// visible documents.
type model struct {
	v       *view.View
	rng     *rand.Rand
	docs    map[string]modelDoc
	allowed [][2]string
}

type modelDoc struct {
	text   string
	set    map[string]bool // shingles of the text
	fp     base.Fingerprint
	has    bool // the document has a fingerprint
	fields string
}

// text returns an edit of one of few texts, so that many are similar.
func (m *model) text() string {
	if m.rng.IntN(40) == 0 {
		return "..."
	}
	family, words := m.rng.IntN(12), []string(nil)
	for i := range 12 + 4*family {
		words = append(words, fmt.Sprint("w", family, "x", i))
	}
	for range m.rng.IntN(5) {
		words[m.rng.IntN(len(words))] = fmt.Sprint("edit", m.rng.IntN(20))
	}
	return strings.Join(words, " ")
}

// page returns a page of a template: two pages share 35 of 41 shingles.
func page(n int) string {
	words := make([]string, 40)
	for i := range words {
		words[i] = fmt.Sprint("page", i)
	}
	words[20] = fmt.Sprint("number", n)
	return strings.Join(words, " ")
}

// newModel returns a model with the given number of pages of one template in addition to its
// documents.
func newModel(t *testing.T, seed uint64, pages, sketch int) *model {
	t.Helper()
	m := &model{rng: rand.New(rand.NewPCG(seed, 1)), docs: map[string]modelDoc{}}
	db, err := store.Create(filepath.Join(t.TempDir(), "a.simdb"), store.Options{NoAutoCompaction: true, NoSync: true, Sketch: cmp.Or(sketch, 128)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ctx := t.Context()
	for round := range 3 {
		var ops []store.Operation
		put := func(id, text string) {
			d := modelDoc{text: text, set: shingles(text), fields: fmt.Sprintf(`{"n":%d}`, m.rng.IntN(3))}
			doc := view.Doc{ID: id, Text: text, Fields: []byte(d.fields)}
			var s view.Sums
			db.Texts.Sum(&s, text)
			d.fp, d.has = s.Fingerprint, s.Words
			if m.rng.IntN(3) == 0 {
				fp := base.Fingerprint(1)<<m.rng.IntN(64) | base.Fingerprint(m.rng.IntN(16))
				doc.Fingerprint, d.fp, d.has = &fp, fp, true
			}
			ops = append(ops, store.Put(doc))
			m.docs[id] = d
		}
		for range 150 {
			put(fmt.Sprintf("d%03d", m.rng.IntN(300)), m.text())
		}
		for i := range pages / 3 {
			put(fmt.Sprintf("page%d-%d", round, i), page(i%50))
		}
		for _, id := range m.some(10) {
			ops = append(ops, store.Delete(id))
			delete(m.docs, id)
		}
		if _, err := db.Write(ctx, ops); err != nil {
			t.Fatal(err)
		}
		if round < 2 {
			if err := db.Flush(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	ids := m.ids()
	for range 100 {
		a, b := ids[m.rng.IntN(len(ids))], ids[m.rng.IntN(len(ids))]
		if a != b {
			m.allowed = append(m.allowed, [2]string{a, b})
			if err := db.SetAllowed(ctx, true, []view.IDPair{{A: a, B: b}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if m.v, err = db.View(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.v.Close() })
	if len(m.v.Version.Parts) != 2 || len(m.v.Mems) != 1 || len(m.v.Mems[0].Docs) == 0 {
		t.Fatalf("%d tables, %d memtables", len(m.v.Version.Parts), len(m.v.Mems))
	}
	return m
}

func (m *model) ids() []string { return slices.Sorted(maps.Keys(m.docs)) }

// some returns n IDs, which may repeat.
func (m *model) some(n int) (some []string) {
	ids := m.ids()
	for range n {
		some = append(some, ids[m.rng.IntN(len(ids))])
	}
	return some
}

// isAllowed reports whether two documents are an allowed pair.
func (m *model) isAllowed(a, b string) bool {
	return slices.Contains(m.allowed, [2]string{a, b}) || slices.Contains(m.allowed, [2]string{b, a})
}

// near returns the matches within k bits, best first.
func (m *model) near(fp base.Fingerprint, k int) (all []view.Match) {
	for id, d := range m.docs {
		if n := bits.OnesCount64(d.fp ^ fp); d.has && n <= k {
			all = append(all, view.Match{ID: id, Distance: n})
		}
	}
	return sorted(all)
}

// shingles returns the set of three consecutive words of a text; a text without words is its own
// shingle.
func shingles(text string) map[string]bool {
	words, set := strings.Fields(text), map[string]bool{}
	for i := range max(len(words)-2, 1) {
		set[strings.Join(words[i:min(i+3, len(words))], " ")] = true
	}
	return set
}

// jaccard returns the documents similar to a text: all have so few shingles that their sketches are
// exact.
func (m *model) jaccard(text string, t float64, except string) (all []view.Match) {
	of := shingles(text)
	for id, d := range m.docs {
		if id == except {
			continue
		}
		common, other := 0, d.set
		for s := range other {
			if of[s] {
				common++
			}
		}
		if score := float64(common) / float64(len(of)+len(other)-common); score >= t {
			all = append(all, view.Match{ID: id, Score: score, Exact: true})
		}
	}
	return sorted(all)
}

func sorted(all []view.Match) []view.Match {
	slices.SortFunc(all, func(a, b view.Match) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	return all
}

// nearMatches converts hits to matches, best first.
func nearMatches(hits []NearHit) (all []view.Match) {
	for i := range hits {
		all = append(all, hits[i].Match())
	}
	return sorted(all)
}

func scoredMatches(hits []JaccardHit) (all []view.Match) {
	for i := range hits {
		all = append(all, hits[i].Match())
	}
	return sorted(all)
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %d, want %d: %.300v, want %.300v", what, len(got), len(want), got, want)
	}
}

func TestNear(t *testing.T) {
	m, ctx := newModel(t, 1, 0, 0), t.Context()
	var q Near
	for range 60 {
		fp := m.docs[m.some(1)[0]].fp ^ 1<<m.rng.IntN(64)
		k := []int{0, 1, 2, 3, 6, 12, 30, 64}[m.rng.IntN(8)]
		want, what := m.near(fp, k), fmt.Sprintf("%016x within %d", fp, k)
		must.Do(t, q.Find(ctx, m.v, []base.Fingerprint{fp}, k))
		equal(t, what, nearMatches(q.Hits), want)
		n := 1 + m.rng.IntN(20)
		q.Want = NearWant{First: n}
		must.Do(t, q.Find(ctx, m.v, []base.Fingerprint{fp}, k))
		equal(t, "the first "+what, nearMatches(q.Hits), want[:min(n, len(want))])
		if len(want) > n {
			last := slices.MaxFunc(q.Hits, CompareNear)
			q.Want.After = &last
			must.Do(t, q.Find(ctx, m.v, []base.Fingerprint{fp}, k))
			equal(t, "the next "+what, nearMatches(q.Hits), want[n:min(2*n, len(want))])
		}
		q.Want = NearWant{Count: true}
		must.Do(t, q.Find(ctx, m.v, []base.Fingerprint{fp}, k))
		var visited []NearHit
		q.Want = NearWant{Visit: func(h NearHit) error { visited = append(visited, h); return nil }}
		if q.Found != int64(len(want)) {
			t.Fatalf("%s: counted %d, want %d", what, q.Found, len(want))
		}
		must.Do(t, q.Find(ctx, m.v, []base.Fingerprint{fp}, k))
		equal(t, "unordered "+what, nearMatches(visited), want)
		q.Want = NearWant{}
		must.Do(t, q.Nearest(ctx, m.v, [][]base.Fingerprint{{fp}}, n))
		equal(t, fmt.Sprint("nearest to ", what), nearMatches(q.Hits)[:n], m.near(fp, 64)[:n])
		q.Want = NearWant{}
	}
	for _, k := range []int{3, 64} {
		if parts, err := PlanNear(ctx, m.v, []base.Fingerprint{0}, k); err != nil || len(parts) != 2 || parts[0].Part != "2 small tables" || parts[1].Part != "memtable" {
			t.Errorf("the plan %+v, %v", parts, err)
		}
	}
	if err := q.Find(ctx, m.v, []base.Fingerprint{0}, 65); !errors.Is(err, files.ErrInvalid) {
		t.Errorf("65 bits: %v", err)
	}
}

func TestNearBatch(t *testing.T) {
	m, ctx := newModel(t, 2, 0, 0), t.Context()
	var fps []base.Fingerprint
	for _, id := range m.some(200) {
		fps = append(fps, m.docs[id].fp^1<<m.rng.IntN(64))
	}
	for _, k := range []int{0, 1, 3, 8, 20} {
		for _, matches := range []int{1 << 20, 50, 1} { // limits of the matches held
			var want []view.Match
			for _, fp := range fps {
				want = append(want, m.near(fp, k)...)
			}
			var got []view.Match
			last := 0
			must.Do(t, EachBatch(ctx, m.v, [][]base.Fingerprint{fps}, k, 64, matches, func(query int, found view.Match) bool {
				if query < last {
					t.Fatalf("query %d after %d", query, last)
				}
				last = query
				got = append(got, found)
				return true
			}))
			equal(t, fmt.Sprintf("k %d, %d matches", k, matches), got, want)
		}
		known, err := AnyNear(ctx, m.v, [][]base.Fingerprint{fps}, k)
		must.Do(t, err)
		for i, fp := range fps {
			if want := len(m.near(fp, k)) > 0; known[i] != want {
				t.Fatalf("%x within %d: %v, want %v", fp, k, known[i], want)
			}
		}
	}
}

func TestJaccard(t *testing.T) {
	m, ctx := newModel(t, 3, 0, 0), t.Context()
	var q Jaccard
	for range 60 {
		of := Sample{ID: m.some(1)[0]}
		text := m.docs[of.ID].text
		if m.rng.IntN(2) == 0 {
			text = m.text()
			of = Sample{Text: text}
		}
		by := view.Criterion{Jaccard: true, T: []float64{0.1, 0.3, 0.65, 0.8, 1}[m.rng.IntN(5)], Verified: m.rng.IntN(2) == 0}
		want, what := m.jaccard(text, by.T, of.ID), fmt.Sprintf("%q %+v", text, by)
		must.Do(t, q.Find(ctx, m.v, of, by))
		equal(t, what, scoredMatches(q.Hits), want)
		x, err := NewScorer(ctx, m.v, of, by)
		must.Do(t, err)
		for id := range m.docs {
			at := slices.IndexFunc(want, func(w view.Match) bool { return w.ID == id })
			got, ok, err := x.Match(ctx, id)
			if err != nil || ok != (at >= 0) || ok && got != want[at] {
				t.Fatalf("%s, %s: %+v, %v, %v", what, id, got, ok, err)
			}
		}
		parts, err := PlanJaccard(ctx, m.v, of, by)
		if err != nil || len(parts) != 3 {
			t.Fatalf("%s: the plan %+v, %v", what, parts, err)
		}
	}
	if err := q.Find(ctx, m.v, Sample{ID: "none"}, view.Criterion{Jaccard: true, T: 0.5}); !errors.Is(err, files.ErrNotFound) {
		t.Errorf("a document that is not there: %v", err)
	}
}

// TestVerifiedBatches searches for texts of a model with a crowd: more pages of a template than a
// query decides by itself. Sketches are so small that many dissimilar pages look similar, and
// thresholds so high that no similar page is missed.
func TestVerifiedBatches(t *testing.T) {
	m, ctx := newModel(t, 4, crowdLeast+crowdLeast/2, 16), t.Context()
	var of []table.Document
	for i := range 90 {
		id, text := "", m.text()
		switch {
		case i%3 == 1:
			text = page(m.rng.IntN(60))
		case i%3 == 2:
			id = m.some(1)[0]
			text = m.docs[id].text
		}
		d := table.Document{ID: []byte(id), Text: []byte(text)}
		m.v.Texts.Fill(&d, text)
		of = append(of, d)
	}
	for _, memory := range []int64{1 << 30, 1 << 17} {
		m.v.Memory = memory
		for _, share := range []float64{0.5, 0.9, 1} {
			by := view.Criterion{Jaccard: true, Verified: true, T: share}
			want := make([][]view.Match, len(of))
			for i, d := range of {
				want[i] = m.jaccard(string(d.Text), share, string(d.ID))
			}
			if memory == 1<<30 {
				checkEach(t, m, of, by, want)
			}
			checkAny(ctx, t, m, of, by, want)
		}
	}
}

// TestAnyMatchLearns searches for pages without a match, until the pages of each table and memtable
// are learned as families: then none of their texts is compared again.
func TestAnyMatchLearns(t *testing.T) {
	m, ctx := newModel(t, 4, crowdLeast+crowdLeast/2, 16), t.Context()
	by := view.Criterion{Jaccard: true, Verified: true, T: 0.9}
	question := func(n int) *existence {
		d := table.Document{Text: []byte(page(n))}
		m.v.Texts.Fill(&d, page(n))
		return &existence{v: m.v, ctx: ctx, by: by, of: &d, most: 1}
	}
	for n := range 20 {
		if match, found, err := question(1000 + n).match(); found || err != nil {
			t.Fatalf("page %d: %+v, %v", 1000+n, match, err)
		}
	}
	x := question(1100)
	for _, p := range m.v.Version.Parts {
		x.exclude(&p.Families)
	}
	x.exclude(&m.v.Mems[0].Families)
	if known := x.vain; known < crowdLeast {
		t.Fatalf("%d pages are known not to match", known)
	}
	known := x.vain
	x = question(1100)
	if _, found, err := x.match(); found || err != nil || x.vain-known > known/10 {
		t.Errorf("%v, %v; %d of %d texts were compared", found, err, x.vain-known, x.vain)
	}
}

func checkEach(t *testing.T, m *model, of []table.Document, by view.Criterion, want [][]view.Match) {
	t.Helper()
	got := make([][]view.Match, len(of))
	last := 0
	sample := func(i int) Sample { return Sample{ID: string(of[i].ID), Text: string(of[i].Text)} }
	must.Do(t, EachVerified(t.Context(), m.v, len(of), sample, by, func(query int, found []view.Match) bool {
		if query < last {
			t.Fatalf("query %d after %d", query, last)
		}
		last = query
		got[query] = append(got[query], found...)
		return true
	}))
	for i := range of {
		equal(t, fmt.Sprintf("%q at %g", of[i].Text, by.T), got[i], want[i])
	}
}

// checkAny compares AnyMatches, with names and without, with the expected matches.
func checkAny(ctx context.Context, t *testing.T, m *model, of []table.Document, by view.Criterion, want [][]view.Match) {
	t.Helper()
	const most = 32
	document := func(i int) table.Document { return of[i] }
	known, err := AnyMatches(ctx, m.v, len(of), document, by, most, nil)
	must.Do(t, err)
	named := make([]view.Match, len(of))
	again, err := AnyMatches(ctx, m.v, len(of), document, by, most, named)
	must.Do(t, err)
	equal(t, fmt.Sprintf("known by %+v, named", by), again, known)
	for i, d := range of {
		others := slices.DeleteFunc(slices.Clone(want[i]), func(w view.Match) bool { return m.isAllowed(string(d.ID), w.ID) })
		one, is, err := AnyMatch(ctx, m.v, &d, nil, by, most)
		must.Do(t, err)
		switch what := fmt.Sprintf("%s %q by %+v", d.ID, d.Text, by); {
		case known[i] != (len(others) > 0) || is != known[i]:
			t.Fatalf("%s: known %v, alone %v, of %d", what, known[i], is, len(others))
		case one != named[i]:
			t.Fatalf("%s: %+v, alone %+v", what, named[i], one)
		case is && !slices.Contains(others, one):
			t.Fatalf("%s: %+v is no match", what, one)
		case len(others) > 0 && len(others) <= most && one != others[0]:
			t.Fatalf("%s: %+v, want %+v", what, one, others[0])
		}
	}
}

// TestAnyMatch searches for single matches by every criterion.
func TestAnyMatch(t *testing.T) {
	m, ctx := newModel(t, 5, 0, 0), t.Context()
	for _, by := range []view.Criterion{{K: 0}, {K: 3}, {K: 12}, {Jaccard: true, T: 0.5}, {Jaccard: true, T: 0.9, Verified: true}} {
		var of []table.Document
		var want [][]view.Match
		for _, id := range m.some(60) {
			d := table.Document{ID: []byte(id), Text: []byte(m.docs[id].text)}
			m.v.Texts.Fill(&d, m.docs[id].text)
			d.Fingerprint, d.HasFingerprint = m.docs[id].fp, m.docs[id].has
			of = append(of, d)
			all := m.jaccard(m.docs[id].text, by.T, id)
			if by.Near() {
				all = slices.DeleteFunc(m.near(d.Fingerprint, by.K), func(w view.Match) bool { return w.ID == id || !d.HasFingerprint })
			}
			want = append(want, all)
			if a, err := Admit(ctx, m.v, &d, nil, by, 1); err != nil || (a.New || a.Match.ID != id) && m.docs[id].has {
				t.Fatalf("%s is not like itself: %v", id, err)
			}
		}
		checkAny(ctx, t, m, of, by, want)
	}
}

// levenshtein returns the similarity of two texts.
func levenshtein(a, b string) float64 {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := last
			if a[i] != b[j] {
				change++
			}
			last, row[j+1] = row[j+1], min(change, row[j]+1, row[j+1]+1)
		}
	}
	return 1 - float64(row[len(b)])/float64(max(len(a), len(b)))
}

func TestSimilar(t *testing.T) {
	m, ctx := newModel(t, 6, 0, 0), t.Context()
	var q Jaccard
	for i := range 10 {
		method := "scan"
		if m.v.Short = nil; i >= 3 { // otherwise there is no memory for signatures
			m.v.Short, method = memindex.NewBudget(1<<20), "signatures"
		}
		of := Sample{ID: m.some(1)[0]}
		by := view.Criterion{Text: view.Levenshtein, T: []float64{0.5, 0.8, 0.9, 1}[i%4]}
		var want []view.Match
		for id, d := range m.docs {
			if score := levenshtein(m.docs[of.ID].text, d.text); id != of.ID && score >= by.T {
				want = append(want, view.Match{ID: id, Score: score, Exact: true})
			}
		}
		must.Do(t, q.FindSimilar(ctx, m.v, of, by))
		equal(t, fmt.Sprintf("%s by %+v", of.ID, by), scoredMatches(q.Hits), sorted(want))
		if parts, err := PlanSimilar(ctx, m.v, of, by); err != nil || len(parts) != 3 || parts[0].Method != method {
			t.Fatalf("the plan %+v, %v, want %s", parts, err, method)
		}
		if n, err := CountSimilar(ctx, m.v, of, by); n != int64(len(want)) || err != nil {
			t.Fatalf("%s by %+v: %d, %v, want %d", of.ID, by, n, err, len(want))
		}
	}
}

func TestEntries(t *testing.T) {
	m, ctx := newModel(t, 7, 0, 0), t.Context()
	for i := range 60 {
		f, what := listing.Filter{From: []string{"", "d", "d1", "d12", "e"}[m.rng.IntN(5)], Reverse: m.rng.IntN(2) == 0}, ""
		if m.rng.IntN(2) == 0 {
			f.To = []string{"a", "d2", "d12", "d123", "f"}[m.rng.IntN(5)]
		}
		odd, zero := m.rng.IntN(2) == 0, m.rng.IntN(2) == 0
		if what = fmt.Sprintf("%d: %q to %q, odd %v, zero %v, reverse %v", i, f.From, f.To, odd, zero, f.Reverse); odd {
			f.Match = func(id []byte) (bool, error) { return id[len(id)-1]%2 == 1, nil }
		}
		if zero {
			f.Where = func(_, fields []byte) (bool, error) { return string(fields) == `{"n":0}`, nil }
		}
		want := slices.DeleteFunc(m.ids(), func(id string) bool {
			return id < f.From || f.To != "" && id >= f.To || odd && id[len(id)-1]%2 == 0 || zero && m.docs[id].fields != `{"n":0}`
		})
		var got, inOrder []string
		must.Do(t, listing.Each(ctx, m.v, f, func(id []byte, _ view.Place) error { got = append(got, string(id)); return nil }))
		slices.Sort(got)
		equal(t, what, got, want)
		most := 1 + m.rng.IntN(40)
		if f.Reverse {
			slices.Reverse(want)
		}
		must.Do(t, listing.EachInOrder(ctx, m.v, f, 1+m.rng.IntN(9), 1+m.rng.IntN(9), func(id []byte, _ view.Place) (bool, error) {
			inOrder = append(inOrder, string(id))
			return len(inOrder) < most, nil
		}))
		equal(t, what+" in order", inOrder, want[:min(most, len(want))])
	}
	if n, err := listing.Count(ctx, m.v, 0); n != int64(len(m.docs)) || err != nil {
		t.Errorf("%d documents, %v, want %d", n, err, len(m.docs))
	}
	ids, seen := append(m.some(50), "none"), map[int]bool{}
	must.Do(t, m.v.EachPlace(ctx, ids, func(i int, _ view.Place, text, _ []byte) error {
		if seen[i] = true; string(text) != m.docs[ids[i]].text {
			t.Errorf("%s has the text %q", ids[i], text)
		}
		return nil
	}))
	if len(seen) != 50 || seen[50] {
		t.Errorf("%d documents of 50: %v", len(seen), seen)
	}
}
