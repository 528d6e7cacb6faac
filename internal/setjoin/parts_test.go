package setjoin

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/selfjoin"
)

// crowdSets returns the sets of shingles of a crowd.
func crowdSets(t *testing.T, name string, n int) *Sets {
	r := rand.New(rand.NewPCG(1, 2))
	s := NewSets(SetsOptions{Counters: 1 << 20})
	for i := range n {
		words, set := corpora.Crowds[name](r, i, n), []uint64(nil)
		for k := range len(words) - 2 {
			set = append(set, xxh3.HashString(words[k]+" "+words[k+1]+" "+words[k+2]))
		}
		slices.Sort(set)
		must.Do(t, s.Add(slices.Compact(set)))
	}
	return s
}

// TestWithoutCentre counts the entries that families without a centre visit: little more than
// four times as many for four times as many sets.
func TestWithoutCentre(t *testing.T) {
	for _, name := range []string{"blocks", "stretches", "few"} {
		var all [2]int
		for i, n := range []int{1000, 4000} {
			s := crowdSets(t, name, n)
			j := must.Get(newJoin(t.Context(), s, 0.8, Options{}))(t)
			x := &stars{join: j, out: Assignment{Keeper: slices.Repeat([]uint32{none}, n), Score: make([]float64, n)}}
			must.Get(x.block(0))(t)
			p, reader := prefixer{counts: s.counts, t: j.t}, s.Reader()
			for n := range n {
				set := must.Get(reader.Append(nil, n))(t)
				f, _ := p.of(set, nil)
				found, _ := j.finder.candidates(&j.index, &f, j.t, true)
				all[i] += f.visited + len(found)
			}
		}
		if all[1] > all[0]*6 {
			t.Errorf("%s: 1000 sets meet %d elements of others, 4000 meet %d", name, all[0], all[1])
		}
	}
}

// TestSkewed has texts of few frequent words. They share parts with very many others, so comparing
// them one by one is cheaper.
func TestSkewed(t *testing.T) {
	const n = 6000
	r := rand.New(rand.NewPCG(5, 6))
	zipf := rand.NewZipf(r, 1.7, 1, 1999)
	sets := make([][]uint64, n)
	for i := range sets {
		words := make([]byte, 0, 8*80)
		for range 20 + r.IntN(61) {
			words = binary.BigEndian.AppendUint64(words, zipf.Uint64())
		}
		for k := 24; k <= len(words); k += 8 {
			sets[i] = append(sets[i], xxh3.Hash(words[k-24:k]))
		}
		slices.Sort(sets[i])
		sets[i] = slices.Compact(sets[i])
	}
	var visited [2]int
	for i, crowd := range []int{0, n + 1} { // with the latter, no crowds form
		j, err := newJoin(t.Context(), add(t, sets, SetsOptions{}), 0.6, Options{Workers: 1, crowd: crowd})
		must.Do(t, err)
		must.Get(j.s.newStars(j).block(0))(t)
		visited[i] = j.finder.visited + j.workers[0].finder.visited
	}
	t.Log(visited)
	if visited[0] > visited[1]*5/4 {
		t.Errorf("%d elements of others are visited, and %d without crowds", visited[0], visited[1])
	}
}

// TestTwins connects sets of a few kinds, each with its own unique element: about one set of each
// kind is compared with others.
func TestTwins(t *testing.T) {
	const n = 30_000
	s := crowdSets(t, "blocks", n)
	j := must.Get(newJoin(t.Context(), s, 0.8, Options{}))(t)
	forest := selfjoin.NewForest(n)
	must.Do(t, j.connect(forest))
	if kinds := 1 << 12; slices.Max(forest.Labels()) > 0 || len(j.index.sets) > kinds+mostWindow {
		t.Errorf("%d sets are compared with others", len(j.index.sets))
	}
}
