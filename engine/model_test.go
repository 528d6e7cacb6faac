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
	"testing"

	"go.uber.org/goleak"

	"github.com/simdb/simdb/internal/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A model answers queries like a database: it has the documents in a map, and answers every query
// by brute force.
type model struct {
	docs map[string]entry
	seq  uint64
	mark int64 // mark of a load

	allowed map[Pair]bool // allowed pairs, the smaller ID first; nil for none
}

func (m *model) clone() *model {
	return &model{maps.Clone(m.docs), m.seq, m.mark, maps.Clone(m.allowed)}
}

// isAllowed reports whether two documents are an allowed pair.
func (m *model) isAllowed(a, b string) bool { return m.allowed[Pair{A: min(a, b), B: max(a, b)}] }

// compareIDPairs orders pairs by A, then by B.
func compareIDPairs(p, q Pair) int {
	return cmp.Or(strings.Compare(p.A, q.A), strings.Compare(p.B, q.B))
}

// inPair reports whether a document is in an allowed pair.
func (m *model) inPair(id string) bool {
	for p := range m.allowed {
		if p.A == id || p.B == id {
			return true
		}
	}
	return false
}

func (m *model) put(id string, fp uint64, has bool) {
	m.seq++
	m.docs[id] = entry{ID: id, Fingerprint: fp, HasFingerprint: has, Seq: m.seq}
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

func (m *model) sorted() []entry {
	return slices.SortedFunc(maps.Values(m.docs), func(a, b entry) int { return strings.Compare(a.ID, b.ID) })
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

// stars forms star clusters by their definition.
func (m *model) stars(k int) []Member {
	order := slices.SortedFunc(maps.Values(m.docs), func(a, b entry) int { return cmp.Compare(a.Seq, b.Seq) })
	order = slices.DeleteFunc(order, func(e entry) bool { return !e.HasFingerprint })
	nearest := func(keepers []entry, e entry) (at, d int) {
		at, d = -1, k+1
		for i, kp := range keepers {
			if n := bits.OnesCount64(kp.Fingerprint ^ e.Fingerprint); n < d && !m.isAllowed(kp.ID, e.ID) {
				at, d = i, n
			}
		}
		return at, d
	}
	var keepers []entry
	var clusters [][]Member
	joined := map[uint64]Member{} // the first document with a fingerprint decides for all
	for _, e := range order {
		j, ok := joined[e.Fingerprint]
		if alone := m.inPair(e.ID); !ok || alone {
			if j.Cluster, j.Distance = nearest(keepers, e); j.Cluster < 0 {
				j.Cluster, j.Distance = len(keepers), 0
				keepers = append(keepers, e)
				clusters = append(clusters, nil)
			}
			if !alone {
				joined[e.Fingerprint] = j
			}
		}
		x := Member{Keep: keepers[j.Cluster].ID == e.ID, Match: Match{ID: e.ID, Distance: j.Distance}}
		clusters[j.Cluster] = append(clusters[j.Cluster], x)
	}
	return number(clusters)
}

// number sorts and numbers clusters and their members as Clusters does.
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

// collect returns all values of an iterator.
func collect[T any](t testing.TB, seq func(func(T, error) bool)) []T {
	t.Helper()
	var all []T
	for x, err := range seq {
		must.Do(t, err)
		all = append(all, x)
	}
	return all
}

func checkAgainst(t testing.TB, r *rand.Rand, s *Snapshot, m *model, deep bool) {
	t.Helper()
	ctx := context.Background()
	es := m.sorted()
	equal(t, "allowed", slices.Collect(s.Allowed()), slices.SortedFunc(maps.Keys(m.allowed), compareIDPairs))
	equal(t, "entries", written(simplify(collect(t, entriesIn(ctx, s, Range{})))), written(simplify(es)))
	for range 8 {
		fp, k := r.Uint64(), r.IntN(12)
		if len(es) > 0 && r.IntN(4) > 0 {
			fp = es[r.IntN(len(es))].Fingerprint ^ 1<<r.IntN(64)
		}
		if r.IntN(10) == 0 {
			k = r.IntN(65)
		}
		want := m.near(fp, k)
		equal(t, fmt.Sprintf("near %016x %d", fp, k), collect(t, s.Search(ctx, ofPrint(fp), Near(k), nil)), want)
		n, nearest := r.IntN(6), m.near(fp, 64)
		if n > 0 { // otherwise all
			nearest = head(nearest, n)
		}
		equal(t, "nearest", collect(t, s.Search(ctx, ofPrint(fp), Near(64), &SearchOptions{Limit: n})), nearest)
	}
	checkNearBatch(t, r, s, m)
	for id, want := range m.docs {
		got, err := lookup(s, ctx, id)
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
		unordered := collect(t, s.Pairs(ctx, Near(k), &SearchOptions{Unordered: true}))
		slices.SortFunc(unordered, func(x, y Pair) int {
			return cmp.Or(cmp.Compare(x.Distance, y.Distance), strings.Compare(x.A, y.A), strings.Compare(x.B, y.B))
		})
		equal(t, "unordered pairs", unordered, m.pairs(k))
		equal(t, "stars", collect(t, s.Clusters(ctx, Near(k), nil)), m.stars(k))
	}
}

func head[T any](s []T, n int) []T { return s[:min(n, len(s))] }

func simplify(es []entry) []entry {
	out := make([]entry, len(es))
	for i, e := range es {
		out[i] = entry{ID: e.ID, HasFingerprint: e.HasFingerprint}
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
