package fuzz

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
)

// A model has the documents of a database in a map, and answers every query by brute force.
type model struct {
	o       *engine.Options
	docs    map[string]doc
	seq     uint64
	allowed map[[2]string]bool // the smaller ID first
	now     time.Time          // before the database was made

	sets    map[string]map[string]bool // shingles of texts
	similar map[[3]string]float64      // of two texts, by a kind of criterion
}

// epoch is the time of the newest documents; it is before the time of the test.
func (c *choices) age() time.Duration { return time.Duration(c.n(100)) * 20 * time.Hour }

const ttl = 1000*time.Hour - 10*time.Hour // no age is near it

// options chooses the parameters of a database.
func (c *choices) options() *engine.Options {
	o := &engine.Options{
		NoSync: true, MinJaccard: 0.5, Bits: pick(c, 64, 64, 64, 128, 192, 1024), Memory: pick[int64](c, 0, 0, 64<<10), Shingle: pick(c, 3, 2, 1), Sketch: pick(c, 128, 128, 4),
		MemtableBytes: pick(c, 0, 3000, 1500), DisableAutoCompaction: c.once(3), Layout: pick(c, "", "2:1", "5:2", "6:3"),
	}
	if o.Bits > 64 {
		o.Layout = ""
	}
	o.MaxTableBytes = 8 * int64(o.MemtableBytes)
	o.NoSketch = c.once(8)
	o.NoText, o.Containment = c.once(5), c.once(3)
	if o.Containment = o.Containment && !o.NoText; !o.NoText && c.once(2) {
		o.Index = []string{"lang", "meta.stars"}
	}
	if o.Features.Several = c.once(4); c.once(3) {
		o.TTL = ttl
	}
	return o
}

func newModel(o *engine.Options) *model {
	return &model{o: o, docs: map[string]doc{}, allowed: map[[2]string]bool{}, sets: map[string]map[string]bool{}, similar: map[[3]string]float64{}, now: time.Now().Truncate(time.Microsecond)}
}

func (m *model) clone() *model {
	n := *m
	n.docs, n.allowed = maps.Clone(m.docs), maps.Clone(m.allowed)
	return &n
}

// fingerprints returns the fingerprints of a document.
func (m *model) fingerprints(d *doc) [][]uint64 {
	if d.fingerprints != nil {
		return d.fingerprints
	}
	if fp := printOf(d.text, m.o.Shingle, m.o.Bits/64); fp != nil {
		return [][]uint64{fp}
	}
	return nil
}

// put stores a document; the model keeps texts that the database does not.
func (m *model) put(d doc) {
	m.seq++
	d.seq, d.fingerprints = m.seq, m.fingerprints(&d)
	m.docs[d.id] = d
	if m.expired(d.time) {
		delete(m.docs, d.id)
	}
}

func (m *model) expired(t time.Time) bool { return m.o.TTL > 0 && t.Before(m.now.Add(-m.o.TTL)) }

// shown returns a document as the database returns it.
func (m *model) shown(d doc) doc {
	if m.o.NoText {
		d.text, d.fields = "", ""
	}
	return d
}

func (m *model) isAllowed(a, b string) bool { return m.allowed[[2]string{min(a, b), max(a, b)}] }

// sorted returns the documents in the order of their IDs.
func (m *model) sorted() []doc {
	return slices.SortedFunc(maps.Values(m.docs), func(a, b doc) int { return strings.Compare(a.id, b.id) })
}

// written returns the documents in the order in which they were written.
func (m *model) written() []doc {
	return slices.SortedFunc(maps.Values(m.docs), func(a, b doc) int { return cmp.Compare(a.seq, b.seq) })
}

// A criterion of the engine, with its oracle.
type criterion struct {
	by    engine.Criterion
	score func(query, d *doc) (score float64, ok bool) // by NEAR minus the distance
	size  func(d *doc) int                             // documents that CLUSTERS prefers as larger, or nil
}

func (by criterion) near() bool { return by.by.Kind() == "near" }

// texts reports whether the criterion compares stored texts, which the database may lack.
func (by criterion) texts() bool {
	return !by.near() && by.by.Kind() != "jaccard"
}

var thresholds = []float64{0.1, 0.3, 0.5, 0.65, 0.8, 0.9, 1}

// criterion chooses a criterion that the database supports.
func (m *model) criterion(c *choices) criterion {
	k, t := pick(c, 0, 1, 3, 6, 12, 30, 64), pick(c, thresholds...)
	kinds := []func() criterion{func() criterion { return m.near(k) }}
	if !m.o.NoSketch {
		kinds = append(kinds, func() criterion { return m.jaccard(t, false) })
	}
	if !m.o.NoText {
		kinds = append(kinds, func() criterion { return m.within(engine.Contains(t)) }, func() criterion { return m.within(engine.Within(t)) },
			func() criterion { return m.ofTexts(engine.Cosine(t), cosine) }, func() criterion { return m.ofTexts(engine.Levenshtein(t), levenshtein) })
		if !m.o.NoSketch && m.o.Sketch > 4 { // sketches choose the candidates, and these miss some
			kinds = append(kinds, func() criterion { return m.jaccard(t, true) })
		}
	}
	of := pick(c, kinds...)
	by := of()
	if docs := m.sorted(); len(docs) > 0 && c.once(2) { // a threshold that two documents reach exactly
		a, b := pick(c, docs...), pick(c, docs...)
		if score, _ := by.score(&a, &b); by.near() {
			k = int(-score)
		} else if score > 0 {
			t = score
		}
		by = of()
	}
	return by
}

func (m *model) shingles(d *doc) map[string]bool {
	set, ok := m.sets[d.text]
	if !ok {
		set = shinglesOf(d.text, m.o.Shingle)
		m.sets[d.text] = set
	}
	return set
}

func (m *model) near(k int) criterion {
	return criterion{by: engine.Near(k), score: func(q, d *doc) (float64, bool) {
		n, ok := distance(m.fingerprints(q), m.fingerprints(d))
		return float64(-n), ok && n <= k
	}}
}

// jaccard returns Jaccard(t), decided by texts if exact is set, otherwise by sketches.
func (m *model) jaccard(t float64, exact bool) criterion {
	by := criterion{by: engine.Jaccard(t), score: func(q, d *doc) (float64, bool) {
		a, b := m.shingles(q), m.shingles(d)
		score := jaccard(a, b)
		if !exact && max(len(a), len(b)) >= m.o.Sketch {
			score = estimate(q.text, d.text, m.o.Shingle, m.o.Sketch)
		}
		return score, score >= t && len(a) > 0
	}}
	if !exact && !m.o.NoText {
		by.by = by.by.Estimated()
	}
	return by
}

// within returns Contains or Within.
func (m *model) within(of engine.Criterion) criterion {
	return criterion{by: of, score: func(q, d *doc) (float64, bool) {
		a, b := m.shingles(q), m.shingles(d)
		if of.Kind() == "within" {
			a, b = b, a
		}
		score := share(a, b)
		return score, score >= of.T()
	}, size: func(d *doc) int { return len(m.shingles(d)) }}
}

func (m *model) ofTexts(of engine.Criterion, measure func(a, b string) float64) criterion {
	return criterion{by: of, score: func(q, d *doc) (float64, bool) {
		if strings.TrimSpace(q.text) == "" || strings.TrimSpace(d.text) == "" {
			return 0, false
		}
		key := [3]string{string(of.Kind()), q.text, d.text}
		score, known := m.similar[key]
		if !known {
			score = measure(q.text, d.text)
			m.similar[key] = score
		}
		return score, score >= of.T() || of.Kind() == "levenshtein" && score >= of.T()-1e-9 // 1 - 9/10 is less than 0.1
	}}
}

// matches returns the documents that match a query, the best first.
func (m *model) matches(q *doc, by criterion) (all []found) {
	for _, d := range m.docs {
		if score, ok := by.score(q, &d); ok && d.id != q.id {
			all = append(all, found{d.id, score})
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.id, b.id)) })
	return all
}

// relation returns the documents as items, the oldest first.
func (m *model) relation(by criterion) *relation {
	docs := m.written()
	r := &relation{apart: func(a, b int) bool { return m.isAllowed(docs[a].id, docs[b].id) }}
	for _, d := range docs {
		r.names = append(r.names, d.id)
	}
	type result struct {
		score float64
		ok    bool
	}
	known := map[[2]int]result{}
	score := func(a, b int) (float64, bool) {
		x, had := known[[2]int{a, b}]
		if !had {
			x.score, x.ok = by.score(&docs[a], &docs[b])
			known[[2]int{a, b}] = x
		}
		return x.score, x.ok
	}
	r.match = func(a, b int) (float64, bool) { return score(min(a, b), max(a, b)) }
	if by.near() {
		r.equal = func(a, b int) bool {
			p, q := m.fingerprints(&docs[a]), m.fingerprints(&docs[b])
			return len(p) > 0 && slices.EqualFunc(p, q, slices.Equal)
		}
		if m.o.Features.Several {
			r.equal = nil
		}
	} else {
		r.self = 1
	}
	if by.size != nil { // the larger document contains the smaller one
		sizes := make([]int, len(docs))
		for i := range docs {
			sizes[i] = by.size(&docs[i])
		}
		r.size = func(a int) int { return sizes[a] }
		r.match = func(a, b int) (float64, bool) {
			if (r.size(a) < r.size(b)) != (by.by.Kind() == "contains") {
				a, b = b, a
			}
			return score(a, b)
		}
	}
	return r
}

// compare compares a snapshot with the model, by queries that c chooses.
func (m *model) compare(t testing.TB, s *engine.Snapshot, c *choices) {
	t.Helper()
	ctx := context.Background()
	var want, got, order []string
	for _, d := range m.sorted() {
		want = append(want, fmt.Sprint(m.shown(d)))
	}
	for _, d := range collect(t, s.Range(ctx, engine.Range{Load: true})) {
		got = append(got, fmt.Sprint(docOf(d)))
	}
	same(t, got, want, "all documents")
	want = nil
	for _, d := range m.written() {
		want = append(want, d.id)
	}
	for _, d := range collect(t, s.Range(ctx, engine.Range{Written: true})) {
		order = append(order, d.ID)
	}
	same(t, order, want, "order of writing")
	if n, err := s.Count(ctx, engine.Range{}); err != nil || n != int64(len(m.docs)) {
		t.Fatalf("%d documents counted, %v; want %d", n, err, len(m.docs))
	}
	var pairs []string
	for p := range s.Allowed() {
		pairs = append(pairs, p.A+" "+p.B)
	}
	want = nil
	for p := range m.allowed {
		want = append(want, p[0]+" "+p[1])
	}
	slices.Sort(want)
	same(t, pairs, want, "allowed pairs")
	m.compareReads(t, s, c)
	for range 2 {
		m.compareSearch(t, s, c, m.criterion(c))
	}
	m.compareJoins(t, s, c, m.criterion(c))
}

// compareReads reads single documents, and pages of documents.
func (m *model) compareReads(t testing.TB, s *engine.Snapshot, c *choices) {
	t.Helper()
	ctx := context.Background()
	id := c.id()
	got, err := s.Get(ctx, id)
	want, there := m.docs[id]
	if there != (err == nil) || !there && !errors.Is(err, engine.ErrNotFound) || there && docOf(got).String() != m.shown(want).String() {
		t.Fatalf("Get(%q) = %v, %v; want %v, %t", id, docOf(got), err, want, there)
	}
	if e, err := lookup(s, id); there != (err == nil) || there && (e.seq != got.Seq || fmt.Sprint(e.fingerprints) != fmt.Sprint(want.fingerprints)) {
		t.Fatalf("Lookup(%q) = %v, %v; want %v, %t", id, e, err, want, there)
	}
	r := engine.Range{From: pick(c, "", c.id()), To: pick(c, "", c.id()), Reverse: c.once(2), Since: m.now.Add(-c.age())}
	var ids, all []string
	for _, d := range collect(t, s.Range(ctx, r)) {
		ids = append(ids, d.ID)
	}
	for _, d := range m.sorted() {
		if d.id >= r.From && (r.To == "" || d.id < r.To) && !d.time.Before(r.Since) {
			all = append(all, d.id)
		}
	}
	if n, err := s.Count(ctx, engine.Range{Since: r.Since}); err != nil || r.From == "" && r.To == "" && n != int64(len(all)) {
		t.Fatalf("%d documents since %v counted, %v; want %d", n, r.Since, err, len(all))
	}
	if r.Reverse {
		slices.Reverse(all)
	}
	same(t, ids, all, "documents from %q to %q", r.From, r.To)
	each, err := getEach(s, all)
	slices.Sort(all)
	for i := range all {
		if check(t, err); i >= len(each) || each[i].String() != m.shown(m.docs[all[i]]).String() {
			t.Fatalf("GetEach(%q) = %v", all, each)
		}
	}
}

// compareSearch searches by a criterion, alone and in a batch.
func (m *model) compareSearch(t testing.TB, s *engine.Snapshot, c *choices, by criterion) {
	t.Helper()
	ctx := context.Background()
	var queries []engine.Doc
	var wants [][]found
	for range 3 {
		q := doc{text: c.text(m.texts()), id: pick(c, "", c.id())}
		if d, ok := m.docs[q.id]; ok && c.once(2) && (!by.texts() || d.text != "") {
			q = d
			queries = append(queries, engine.Doc{ID: q.id})
		} else if by.near() && c.once(2) {
			q = doc{fingerprints: [][]uint64{c.print(m.o.Bits / 64)}}
			for m.o.Features.Several && len(q.fingerprints) < 3 && c.once(2) {
				q.fingerprints = append(q.fingerprints, c.print(m.o.Bits/64))
			}
			queries = append(queries, q.given())
		} else if q.text == "" {
			continue
		} else {
			queries = append(queries, q.given())
		}
		want := m.matches(&q, by)
		wants = append(wants, want)
		got, err := search(s, queries[len(queries)-1], by, 0)
		check(t, err)
		same(t, got, want, "%v of %v", by.by, q)
		if n := 1 + c.n(3); n < len(want) {
			got, err := search(s, queries[len(queries)-1], by, n)
			check(t, err)
			same(t, got, want[:n], "the best %d by %v of %v", n, by.by, q)
		}
		if n, err := s.CountMatches(ctx, queries[len(queries)-1], by.by, nil); err != nil || n != int64(len(want)) {
			t.Fatalf("%d matches counted by %v of %v, %v; want %d", n, by.by, q, err, len(want))
		}
	}
	m.compareScores(t, s, queries, wants, by)
	batch := make([][]found, len(queries))
	for _, b := range collect(t, s.SearchBatch(ctx, queries, by.by, nil)) {
		batch[b.Query] = append(batch[b.Query], found{b.ID, scoreOf(b, by.near())})
	}
	any, err := anyOf(s, queries, by)
	check(t, err)
	for i, q := range queries {
		same(t, batch[i], wants[i], "batch of %v by %v", docOf(q), by.by)
		wants[i] = slices.DeleteFunc(wants[i], func(f found) bool { return m.isAllowed(f.id, q.ID) })
		if any[i] != (len(wants[i]) > 0) {
			t.Fatalf("Any of %v by %v = %t; want %v", docOf(q), by.by, any[i], wants[i])
		}
	}
}

// compareScores tests documents one by one.
func (m *model) compareScores(t testing.TB, s *engine.Snapshot, queries []engine.Doc, wants [][]found, by criterion) {
	t.Helper()
	for i, q := range queries {
		if by.near() {
			return
		}
		x := must(s.Matcher(context.Background(), q, by.by))(t)
		for id := range m.docs {
			got, ok, err := x(context.Background(), id)
			if want := slices.Contains(wants[i], found{id, got.Score}); err != nil || ok != want {
				t.Fatalf("the score of %q by %v of %v: %v, %t, %v; want %v", id, by.by, docOf(q), got, ok, err, wants[i])
			}
		}
	}
}

// compareJoins joins all documents with each other.
func (m *model) compareJoins(t testing.TB, s *engine.Snapshot, c *choices, by criterion) {
	t.Helper()
	r := m.relation(by)
	want := r.pairs()
	got, err := pairsOf(s, by, engine.SearchOptions{})
	check(t, err)
	same(t, got, want, "pairs by %v", by.by)
	switch limit := 1 + c.n(4); c.n(5) {
	case 0:
		if n, err := countPairs(s, by); err != nil || n != int64(len(want)) {
			t.Fatalf("%d pairs counted by %v, %v; want %d", n, by.by, err, len(want))
		}
		got, err = pairsOf(s, by, engine.SearchOptions{Limit: limit})
		check(t, err)
		same(t, got, want[:min(limit, len(want))], "%d pairs by %v", limit, by.by)
	case 1:
		got, err = pairsOf(s, by, engine.SearchOptions{Unordered: true})
		check(t, err)
		slices.SortFunc(got, comparePairs)
		same(t, got, want, "unordered pairs by %v", by.by)
	case 2:
		members, err := clustersOf(s, by, true)
		check(t, err)
		same(t, members, r.clusters(r.components()), "components by %v", by.by)
	default:
		stars := r.clusters(r.stars())
		members, err := clustersOf(s, by, false)
		check(t, err)
		same(t, members, stars, "clusters by %v", by.by)
		if len(m.docs) > 0 {
			id := pick(c, r.names...)
			members, err = clusterOf(s, id, by)
			check(t, err)
			same(t, members, clusterWith(stars, id), "the cluster of %q by %v", id, by.by)
		}
	}
}

// clusterWith returns the cluster of an item, as cluster 1.
func clusterWith(all []member, id string) (with []member) {
	i := slices.IndexFunc(all, func(x member) bool { return x.id == id })
	for _, x := range all {
		if i >= 0 && x.cluster == all[i].cluster {
			x.cluster = 1
			with = append(with, x)
		}
	}
	return with
}

// texts returns the texts of all documents.
func (m *model) texts() (all []string) {
	for _, d := range m.sorted() {
		all = append(all, d.text)
	}
	return all
}
