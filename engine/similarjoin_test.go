package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/textsim"
)

// A joinModel computes the expected results of TestSimilarJoin.
type joinModel struct {
	db      *DB
	order   []string // IDs in the order of writing
	docs    map[string]string
	allowed []Pair
	by      Criterion
	scores  map[Pair]float64 // of matching pairs, A < B
}

// compute fills scores by comparing all pairs.
func (m *joinModel) compute(t *testing.T, compare func(string, float64) textsim.Compare) {
	m.scores = map[Pair]float64{}
	share := m.by.T()
	for i, a := range m.order {
		with := compare(m.docs[a], share)
		for _, b := range m.order[:i] {
			if score, ok := with(t.Context(), []byte(m.docs[b])); ok {
				m.scores[Pair{A: min(a, b), B: max(a, b)}] = score
			}
		}
	}
}

// apart reports whether two documents are an allowed pair.
func (m *joinModel) apart(a, b string) bool {
	return slices.Contains(m.allowed, Pair{A: a, B: b}) || slices.Contains(m.allowed, Pair{A: b, B: a})
}

// match returns the score of two documents. ok reports whether they may be in one cluster.
func (m *joinModel) match(a, b string) (score float64, ok bool) {
	score, ok = m.scores[Pair{A: min(a, b), B: max(a, b)}]
	return score, ok && !m.apart(a, b)
}

// TestSimilarJoin compares pairs and clusters of similar texts with a comparison of all pairs: in
// tables and memtables, with equal texts, deleted documents and allowed pairs, whether texts fit
// into memory or not.
func TestSimilarJoin(t *testing.T) {
	for seed, memory := range []int64{0, 64 << 10} {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		db := open4test(t, t.TempDir()+"/test.simdb", &Options{Memory: memory})
		source, m := &titles{rng: rng}, &joinModel{db: db, docs: map[string]string{}}
		for i := range 240 {
			d := Doc{ID: fmt.Sprint(rng.IntN(1000)), Text: strings.Repeat(source.next()+" ", 1+2*seed)} // the second time, longer than fits into memory
			if len(m.order) > 0 && rng.IntN(5) == 0 {
				d.Text = m.docs[m.order[rng.IntN(len(m.order))]]
			}
			if rng.IntN(25) == 0 {
				d.Text = []string{"", "...", "!"}[rng.IntN(3)]
			}
			m.order = slices.DeleteFunc(m.order, func(id string) bool { return id == d.ID })
			m.order, m.docs[d.ID] = append(m.order, d.ID), d.Text
			if err := db.Put(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(12) == 0 {
				at := rng.IntN(len(m.order))
				if err := db.Delete(t.Context(), m.order[at]); err != nil {
					t.Fatal(err)
				}
				m.order = slices.Delete(m.order, at, at+1)
			}
			if i == 80 || i == 160 {
				if err := db.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, allowed := range []bool{false, true} {
			for _, share := range []float64{0.6, 0.85, 1} {
				m.by = Levenshtein(share)
				m.compute(t, textsim.Levenshtein)
				m.check(t, allowed)
				m.by = Cosine(share)
				m.compute(t, textsim.Cosine)
				m.check(t, allowed)
			}
			for p := range m.scores {
				if rng.IntN(3) == 0 || m.docs[p.A] == m.docs[p.B] && rng.IntN(2) == 0 {
					m.allowed = append(m.allowed, p)
					if err := db.SetAllowed(t.Context(), true, p); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// check compares the results by m.by with the model. Pairs do not depend on allowed pairs, so they
// are only compared without.
func (m *joinModel) check(t *testing.T, allowed bool) {
	t.Helper()
	if !allowed {
		m.checkPairs(t)
	}
	components := componentsOf(m.order, func(a, b string) bool { _, ok := m.match(a, b); return ok })
	for mode, want := range map[ClusterMode]map[string]string{Star: starsOf(m.order, m.match), Components: components} {
		sizes, of := map[string]int{}, map[string]string{}
		for _, k := range want {
			sizes[k]++
		}
		keeper, clusters := "", 0
		for c, err := range m.db.Clusters(t.Context(), m.by, &ClusterOptions{Mode: mode}) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Keep {
				keeper = c.ID
			}
			of[c.ID] = keeper
			clusters = c.Cluster
			score := 1.0
			if !c.Keep && m.docs[c.ID] != m.docs[keeper] {
				score = m.scores[Pair{A: min(c.ID, keeper), B: max(c.ID, keeper)}]
			}
			if _, matches := m.scores[Pair{A: min(c.ID, keeper), B: max(c.ID, keeper)}]; c.Keep || matches {
				if c.Score != score || !c.Exact {
					t.Fatalf("%v mode %d: %s of %s has the score %g, want %g", m.by, mode, c.ID, keeper, c.Score, score)
				}
			}
		}
		for id, k := range want {
			if sizes[k] > 1 && of[id] != k || sizes[k] == 1 && of[id] != "" {
				t.Fatalf("%v mode %d: %s is of %q, want %q, of %d", m.by, mode, id, of[id], k, sizes[k])
			}
		}
		counted, err := countClusters(t.Context(), m.db, m.by, ClusterOptions{Mode: mode})
		if err != nil || int(counted) != clusters {
			t.Fatalf("%v: %d clusters (%v), want %d", m.by, counted, err, clusters)
		}
	}
}

func (m *joinModel) checkPairs(t *testing.T) {
	t.Helper()
	var want, got, unordered []Pair
	for p, score := range m.scores {
		want = append(want, Pair{p.A, p.B, Match{ID: p.B, Score: score, Exact: true}})
	}
	slices.SortFunc(want, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	for p, err := range m.db.Pairs(t.Context(), m.by, nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%v: %d pairs, want %d:\n%v\n%v", m.by, len(got), len(want), got, want)
	}
	for p, err := range m.db.Pairs(t.Context(), m.by, &SearchOptions{Unordered: true}) {
		if err != nil {
			t.Fatal(err)
		}
		unordered = append(unordered, p)
	}
	n, err := countPairs(t.Context(), m.db, m.by)
	if err != nil || int(n) != len(want) || len(unordered) != len(want) {
		t.Fatalf("%v: %d pairs counted (%v), %d unordered, want %d", m.by, n, err, len(unordered), len(want))
	}
	s, err := m.db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got = got[:0]
	for p, err := range s.Pairs(t.Context(), m.by, &SearchOptions{Limit: 7}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p)
	}
	if !slices.Equal(got, want[:min(7, len(want))]) {
		t.Fatalf("%v: the first pairs are %v, want %v", m.by, got, want[:min(7, len(want))])
	}
}
