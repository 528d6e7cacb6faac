package setjoin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
)

type memFile struct {
	buf bytes.Buffer
	max int // capacity in bytes; 0 for no limit
}

func (f *memFile) Write(p []byte) (int, error) {
	if f.max > 0 && f.buf.Len()+len(p) > f.max {
		return 0, errFull
	}
	return f.buf.Write(p)
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(f.buf.Bytes()).ReadAt(p, off)
}

func (f *memFile) Close() error { return nil }

var errFull = errors.New("no space left")

func jaccard(a, b []uint64) float64 {
	n := 0
	for _, h := range a {
		if slices.Contains(b, h) {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(n) / float64(len(a)+len(b)-n)
}

// share is the oracle of Contained: common elements as a share of a.
func share(a, b []uint64) float64 {
	n := 0
	for _, h := range a {
		if slices.Contains(b, h) {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(n) / float64(len(a))
}

// weightedJaccard is the oracle of Weighted, exact for weights with few binary digits.
func weightedJaccard(a, b []uint64) float64 {
	weight := func(set []uint64, h uint64) float64 {
		if i := slices.Index(set[:len(set)/2], h); i >= 0 {
			return math.Float64frombits(set[len(set)/2+i])
		}
		return 0
	}
	least, most := 0.0, 0.0
	for _, h := range a[:len(a)/2] {
		least, most = least+min(weight(a, h), weight(b, h)), most+max(weight(a, h), weight(b, h))
	}
	for _, h := range b[:len(b)/2] {
		if weight(a, h) == 0 {
			most += weight(b, h)
		}
	}
	if least == 0 {
		return 0
	}
	return least / most
}

// withWeights returns the sets in the layout of Weighted. Elements have weights of their own, with
// few binary digits; some differ in some sets.
func withWeights(r *rand.Rand, sets [][]uint64) (all [][]uint64) {
	salt, spread, own := r.Uint64(), 1+r.IntN(100), 1+r.IntN(20)
	for _, set := range sets {
		n := len(set)
		set = slices.Clone(set)
		for i := range n {
			w := float64(1+(set[i]^salt)*0x9e3779b97f4a7c15>>40%uint64(spread)) / 8
			if r.IntN(own) == 0 {
				w = float64(1+r.IntN(spread)) / 8
			}
			set = append(set, math.Float64bits(w))
		}
		all = append(all, set)
	}
	return all
}

// corpus makes sets that resemble each other in several ways.
func corpus(r *rand.Rand, n int) [][]uint64 {
	draw := func(space, skew int) uint64 {
		v := r.IntN(space)
		for range skew {
			v = min(v, r.IntN(space))
		}
		return uint64(v+1) * 0x9e3779b97f4a7c15
	}
	space, skew, longest := 1+r.IntN(2000), r.IntN(4), 1+r.IntN(60)
	template := make([]uint64, r.IntN(40))
	for i := range template {
		template[i] = draw(1<<30, 0)
	}
	family := r.IntN(4) // 1, 2: half or all of the sets are the template with few changes; 3: the sets have no centre
	blocks := make([][2][]uint64, 2+r.IntN(10))
	for i := range blocks {
		for k := range blocks[i] {
			for range 1 + r.IntN(6) {
				blocks[i][k] = append(blocks[i][k], draw(1<<30, 0))
			}
		}
	}
	var sets [][]uint64
	for len(sets) < n {
		var set []uint64
		switch kind := r.IntN(8); {
		case family == 3: // blocks from two templates, with a few other elements
			for _, b := range blocks {
				set = append(set, b[r.IntN(2)]...)
			}
			for range r.IntN(3) {
				set = append(set, draw(1<<(5*r.IntN(7)), 0))
			}
		case family == 2 || family == 1 && r.IntN(2) == 0:
			set = slices.Clone(template)
			for range min(r.IntN(6), len(set)) {
				at := r.IntN(len(set))
				set = slices.Delete(set, at, at+1)
			}
			for range r.IntN(6) {
				set = append(set, draw(20, 0))
			}
		case kind < 3 && len(sets) > 0: // an edited copy
			set = slices.Clone(sets[r.IntN(len(sets))])
			for range r.IntN(4) {
				if len(set) > 0 && r.IntN(2) == 0 {
					set = slices.Delete(set, 0, 1+r.IntN(len(set)))[:max(0, len(set)-1-r.IntN(2))]
				} else {
					set = append(set, draw(space, skew))
				}
			}
		case kind == 3 && len(sets) > 0: // a copy
			set = slices.Clone(sets[r.IntN(len(sets))])
		case kind == 4: // a page of a template
			set = slices.Clone(template)
			for range r.IntN(12) {
				set = append(set, r.Uint64())
			}
		default:
			for range r.IntN(longest + 1) {
				set = append(set, draw(space, skew))
			}
		}
		slices.Sort(set)
		sets = append(sets, slices.Compact(set))
	}
	return sets
}

// brute forms star clusters, one set at a time. With all, each known set is a keeper.
func brute(sets [][]uint64, like func(a, b []uint64) float64, order []uint32, t float64, known int, all, only bool, accept func(a, b int) bool) Assignment {
	out := Assignment{Keeper: make([]uint32, len(sets)), Score: make([]float64, len(sets))}
	var keepers []uint32
	for at, i := range order {
		best, high := i, 0.0
		for _, k := range keepers {
			if s := like(sets[i], sets[k]); s >= t && s > high && (accept == nil || accept(int(k), int(i))) {
				best, high = k, s
			}
		}
		if at < known && (all || high < 1) {
			best = i
		}
		if best == i {
			if high = 1; at < known || !only {
				keepers = append(keepers, i)
			}
		}
		out.Keeper[i], out.Score[i] = best, high
	}
	return out
}

func add(t *testing.T, sets [][]uint64, o SetsOptions) *Sets {
	t.Helper()
	s := NewSets(o)
	for _, set := range sets {
		must.Do(t, s.Add(set))
	}
	return s
}

var thresholds = []float64{0.01, 0.3, 0.5, 2.0 / 3, 0.7, 0.75, 0.8, 0.9, 0.95, 1}

func TestJoinsAgainstBruteForce(t *testing.T) {
	for run := range exhaustive.Every(t, 12).Of(1200) {
		r := rand.New(rand.NewPCG(uint64(run), 1))
		sets := corpus(r, 1+r.IntN(200))
		so, like := SetsOptions{Counters: int64(1 << r.IntN(18))}, jaccard
		switch r.IntN(4) {
		case 0:
			so.Measure.Kind, like = Contained, share
		case 1:
			so.Measure.Kind, like = Weighted, weightedJaccard
			sets = withWeights(r, sets)
		}
		if r.IntN(2) == 0 {
			so.Memory, so.Create = 1, func() (File, error) { return &memFile{}, nil }
		}
		s := add(t, sets, so)
		at := thresholds[r.IntN(len(thresholds))]
		o := Options{Workers: 1 + r.IntN(3), window: 1 + r.IntN(40), found: 1 + r.IntN(100), crowd: 1 << r.IntN(7), Memory: 1 << (12 + r.IntN(8)), least: 1, loose: 1 << r.IntN(12), tally: r.IntN(3) == 0}
		order := make([]uint32, len(sets))
		for i := range order {
			order[i] = uint32(i)
		}
		if r.IntN(2) == 0 {
			r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			o.Order = order
		}
		if r.IntN(3) == 0 {
			salt := r.IntN(1000)
			o.Accept = func(a, b int) bool { return (min(a, b)*7919+max(a, b)*104729+salt)%5 != 0 }
		} else if r.IntN(3) == 0 {
			groups := 1 + r.IntN(4)
			o.Accept = func(a, b int) bool { return a%groups != b%groups }
			o.Same = make([]uint32, len(sets))
			firsts := map[string]uint32{}
			for i, set := range sets {
				key := fmt.Sprint(set, i%groups)
				if _, ok := firsts[key]; !ok {
					firsts[key] = uint32(i)
				}
				o.Same[i] = firsts[key]
			}
		}
		if r.IntN(3) == 0 {
			o.Known, o.OnlyKnown = r.IntN(len(sets)+1), r.IntN(2) == 0
		}
		if so.Measure.Kind == Contained {
			slices.SortStableFunc(order[o.Known:], func(a, b uint32) int { return len(sets[b]) - len(sets[a]) })
		}
		got, err := s.Stars(context.Background(), at, o)
		must.Do(t, err)
		want := brute(sets, like, order, at, o.Known, o.Same != nil, o.OnlyKnown, o.Accept)
		if !slices.Equal(got.Keeper, want.Keeper) || !slices.Equal(got.Score, want.Score) {
			t.Fatalf("run %d, t %v, %d sets: stars differ", run, at, len(sets))
		}
		var pairs []string
		err = s.Pairs(context.Background(), at, o, func(a, b int, score float64) bool {
			pairs = append(pairs, fmt.Sprint(a, b, score))
			return true
		})
		must.Do(t, err)
		var all []string
		for k, b := range order {
			for _, a := range order[:k] {
				if s := like(sets[b], sets[a]); s >= at && (o.Accept == nil || o.Accept(int(a), int(b))) {
					all = append(all, fmt.Sprint(a, b, s))
				}
			}
		}
		slices.Sort(pairs)
		slices.Sort(all)
		if !slices.Equal(pairs, all) {
			t.Fatalf("run %d, t %v: %d pairs, %d wanted", run, at, len(pairs), len(all))
		}
		if o.Known, o.OnlyKnown = 0, false; so.Measure.Kind == Contained {
			slices.SortStableFunc(order, func(a, b uint32) int { return len(sets[b]) - len(sets[a]) })
		}
		checkComponents(t, s, sets, like, order[r.IntN(len(order)):], at, o)
	}
}

func checkComponents(t *testing.T, s *Sets, sets [][]uint64, like func(a, b []uint64) float64, some []uint32, at float64, o Options) {
	t.Helper()
	o.Order = some
	got, want := selfjoin.NewForest(len(sets)), selfjoin.NewForest(len(sets))
	must.Do(t, s.Components(context.Background(), at, o, got))
	for k, b := range some {
		for _, a := range some[:k] {
			if like(sets[b], sets[a]) >= at && (o.Accept == nil || o.Accept(int(a), int(b))) {
				want.Union(a, b)
			}
		}
	}
	if !slices.Equal(got.Labels(), want.Labels()) {
		t.Fatalf("t %v, %d sets: components differ", at, len(some))
	}
}

// A cosineJudge compares sets of words that occur once each.
type cosineJudge struct {
	sets [][]uint64
	at   float64
}

func (j cosineJudge) Compare(a, b int) (score float64, ok bool, err error) {
	score = cosine(j.sets[a], j.sets[b])
	return score, score >= j.at, nil
}

func cosine(a, b []uint64) float64 {
	return float64(ordered.Common(a, b, 0)) / math.Sqrt(float64(len(a)*len(b)))
}

// TestComponentsByCosine has nodes with many entries, some connected with each other.
func TestComponentsByCosine(t *testing.T) {
	for run := range exhaustive.Every(t, 2).Of(400) {
		r := rand.New(rand.NewPCG(uint64(run), 3))
		sets := corpus(r, 1+r.IntN(200))
		for _, set := range sets {
			for i := range set {
				set[i] = WordElement(set[i]<<16, 1)
			}
			slices.Sort(set)
		}
		at := thresholds[r.IntN(len(thresholds))]
		o := Options{Workers: 1 + r.IntN(3), window: 1 + r.IntN(40), crowd: 1 + r.IntN(3), Memory: 1 << (12 + r.IntN(8)), least: 1}
		o.Judge = func() Judge { return cosineJudge{sets, at} }
		order := make([]uint32, len(sets))
		for i := range order {
			order[i] = uint32(i)
		}
		checkComponents(t, add(t, sets, SetsOptions{Measure: Measure{Kind: Cosine}}), sets, cosine, order, at, o)
	}
}

// TestComponentsOfCrowd checks that few comparisons connect sets that are all similar.
func TestComponentsOfCrowd(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var sets [][]uint64
	for range 3000 {
		var set []uint64
		for i := range 50 {
			set = append(set, uint64(2*i+1)*0x9e3779b97f4a7c15)
		}
		set[r.IntN(50)] = r.Uint64()
		slices.Sort(set)
		sets = append(sets, set)
	}
	s := add(t, sets, SetsOptions{Counters: 1 << 20})
	var compared atomic.Int64
	o := Options{Accept: func(int, int) bool { compared.Add(1); return true }}
	forest := selfjoin.NewForest(len(sets))
	must.Do(t, s.Components(context.Background(), 0.8, o, forest))
	if n := compared.Load(); n > int64(2*len(sets)) || slices.Max(forest.Labels()) > 0 {
		t.Errorf("%d matches were found", n)
	}
}

// TestPartsOfCrowd connects a crowd of two parts. A set finds one member of each part, and reads
// no more segments than necessary.
func TestPartsOfCrowd(t *testing.T) {
	const n = 16_000
	r := rand.New(rand.NewPCG(7, 9))
	shared := make([]uint64, 100)
	for i := range shared {
		shared[i] = r.Uint64()
	}
	parts := [2][]uint64{slices.Clone(shared), slices.Clone(shared)}
	for i := range 12 { // J = 76 / 124 between the two
		parts[0][i], parts[1][i] = r.Uint64(), r.Uint64()
	}
	var sets [][]uint64
	for i := range n {
		set := slices.Clone(parts[i%2])
		for range 3 { // sets with the same changes are similar, as are many others
			set[20+r.IntN(80)] = uint64(r.IntN(50)+1) * 0x9e3779b97f4a7c15
		}
		slices.Sort(set)
		sets = append(sets, slices.Compact(set))
	}
	s := add(t, sets, SetsOptions{Counters: 1 << 20})
	j := must.Get(newJoin(t.Context(), s, 0.85, Options{}))(t)
	forest := selfjoin.NewForest(n)
	must.Do(t, j.connect(forest))
	for i := range n {
		if forest.Root(uint32(i)) != uint32(i%2) {
			t.Fatalf("%d is a part of %d", i, forest.Root(uint32(i)))
		}
	}
	p := prefixer{counts: s.counts, t: j.t}
	all := 0
	j.finder.visited = 0
	for _, set := range sets[:n/50] {
		f, _ := p.of(set, nil)
		if found, _ := j.finder.candidates(&j.index, &f, newThreshold(0.6), false); len(found) > 2*leastCrowd {
			t.Fatalf("%d found", len(found))
		}
		for _, c := range j.index.crowds.of {
			for _, s := range c.segments {
				for _, e := range j.finder.differs {
					all += len(s.lists[e])
				}
			}
			break
		}
	}
	if all < n*n/50/4 || j.finder.visited > all/3*2 {
		t.Errorf("%d of %d slots are counted", j.finder.visited, all)
	}
}

// TestCrowds forms stars of a family whose similarities are on both sides of the threshold: a set
// visits few entries of the index, though it has a fifth of all sets.
func TestCrowds(t *testing.T) {
	const n = 4000
	r := rand.New(rand.NewPCG(5, 6))
	letter := make([]uint64, 100)
	for i := range letter {
		letter[i] = r.Uint64()
	}
	s := NewSets(SetsOptions{})
	for range n {
		set := slices.Clone(letter)
		for range 1 + r.IntN(3) { // a word of three shingles
			for i, at := 0, r.IntN(98); i < 3; i++ {
				set[at+i] = r.Uint64()
			}
		}
		slices.Sort(set)
		must.Do(t, s.Add(set))
	}
	j := must.Get(newJoin(context.Background(), s, 0.8, Options{}))(t)
	x := &stars{join: j, out: Assignment{Keeper: make([]uint32, n), Score: make([]float64, n)}}
	for i := range n {
		x.out.Keeper[i] = none
	}
	must.Get(x.block(0))(t)
	p := prefixer{counts: s.counts, t: j.t}
	visited, compared := 0, 0
	for i := range n {
		set := must.Get(s.Reader().Append(nil, i))(t)
		f, _ := p.of(set, nil)
		visited += len(j.index.candidates(nil, &f, j.t))
		found, _ := j.finder.candidates(&j.index, &f, j.t, true)
		compared += len(found)
	}
	if entries := len(j.index.sets); entries < n/10 || visited > n*entries/4 || compared > n*entries/8 {
		t.Errorf("%d sets meet %d of %d entries and are compared with %d", n, visited, entries, compared)
	}
}

// TestCrowded checks that a slow join calls Crowded once, before its end, and other joins do not.
func TestCrowded(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	for _, shared := range []int{0, 100} {
		var sets [][]uint64
		for range 2000 {
			var set []uint64
			for i := range 100 {
				if set = append(set, uint64(i+1)*0x9e3779b97f4a7c15); i >= shared || r.IntN(16) == 0 {
					set[i] = r.Uint64()
				}
			}
			slices.Sort(set)
			sets = append(sets, set)
		}
		told, at, done := 0, 0, 0
		o := Options{each: 100, Crowded: func(each int) {
			if told, at = told+1, done; each < 100 {
				t.Errorf("it tells of %d entries", each)
			}
		}, Progress: func(n, _ int) { done = n }}
		must.Get(add(t, sets, SetsOptions{}).Stars(t.Context(), 0.8, o))(t)
		if want := min(shared, 1); told != want || at >= len(sets)-100 {
			t.Errorf("%d elements are shared: told %d times, after %d of %d", shared, told, at, done)
		}
	}
}

// TestNodesOfTemplate checks that pages of a template share nodes, so that each rules out all
// others in a few steps.
func TestNodesOfTemplate(t *testing.T) {
	const n = 1000
	r := rand.New(rand.NewPCG(9, 10))
	s := NewSets(SetsOptions{Measure: Measure{Kind: Cosine}})
	for range n {
		var set []uint64
		for i := range 100 {
			word := uint64(i+1) * 0x9e3779b97f4a7c15
			if i >= 88 {
				word = r.Uint64()
			}
			set = append(set, WordElement(word, 1))
		}
		slices.Sort(set)
		must.Do(t, s.Add(set))
	}
	j := must.Get(newJoin(context.Background(), s, 0.9, Options{Judge: func() Judge { return nil }}))(t)
	x := &stars{join: j, out: Assignment{Keeper: slices.Repeat([]uint32{none}, n), Score: make([]float64, n)}}
	must.Get(x.block(0))(t)
	if entries := len(j.index.sets); entries != n || j.index.nodes > n {
		t.Errorf("%d entries have %d nodes", entries, j.index.nodes)
	}
}

// TestFamilies checks that a family of equal and nearly equal sets costs no more than other sets:
// each is compared only with keepers.
func TestFamilies(t *testing.T) {
	const n = 20000
	r := rand.New(rand.NewPCG(3, 4))
	page := make([]uint64, 100)
	for i := range page {
		page[i] = r.Uint64()
	}
	s := NewSets(SetsOptions{})
	for i := range n {
		set := slices.Clone(page)
		for range i % 4 { // every fourth equals the first
			set[r.IntN(len(set))] = r.Uint64()
		}
		slices.Sort(set)
		must.Do(t, s.Add(set))
	}
	compared := int64(0)
	var mu sync.Mutex
	got := must.Get(s.Stars(context.Background(), 0.8, Options{Accept: func(a, b int) bool {
		mu.Lock()
		defer mu.Unlock()
		compared++
		return true
	}}))(t)
	for i, k := range got.Keeper {
		if k != 0 {
			t.Fatalf("set %d has keeper %d", i, k)
		}
	}
	if compared > n+sampledSets {
		t.Errorf("%d matches of %d sets", compared, n)
	}
}

// TestTemplates checks that pages of a template that are too different to match cost nothing:
// common elements are not looked up.
func TestTemplates(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	template := make([]uint64, 160)
	for i := range template {
		template[i] = r.Uint64()
	}
	s := NewSets(SetsOptions{Counters: 4 << 20})
	for range 3000 {
		set := slices.Clone(template)
		for range 30 { // the similarity of two is 0.73
			set = append(set, r.Uint64())
		}
		slices.Sort(set)
		must.Do(t, s.Add(set))
	}
	j := must.Get(newJoin(context.Background(), s, 0.8, Options{}))(t)
	x := &stars{join: j, out: Assignment{Keeper: make([]uint32, s.Len()), Score: make([]float64, s.Len())}}
	for i := range x.out.Keeper {
		x.out.Keeper[i] = none
	}
	must.Get(x.block(0))(t)
	candidates := 0
	for i := range s.Len() {
		set := must.Get(s.Reader().Append(nil, i))(t)
		p := prefixer{counts: s.counts, t: j.t}
		f, _ := p.of(set, nil)
		candidates += len(j.index.candidates(nil, &f, j.t))
	}
	if most := 2 * s.Len(); candidates > most {
		t.Errorf("%d candidates of %d sets", candidates, s.Len())
	}
}

func TestFullFile(t *testing.T) {
	s := NewSets(SetsOptions{Memory: 1, Create: func() (File, error) { return &memFile{max: 300 << 10}, nil }})
	set := make([]uint64, 1000)
	for i := range set {
		set[i] = uint64(i)
	}
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		err = s.Add(set)
	}
	if !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
	s = NewSets(SetsOptions{Memory: 1, Create: func() (File, error) { return nil, errFull }})
	for err = nil; err == nil; {
		err = s.Add(set)
	}
	if !errors.Is(err, errFull) {
		t.Errorf("no file: %v", err)
	}
}

func TestCancelAndStop(t *testing.T) {
	s := add(t, corpus(rand.New(rand.NewPCG(7, 8)), 500), SetsOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Stars(ctx, 0.8, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	n := 0
	err := s.Pairs(context.Background(), 0.5, Options{}, func(int, int, float64) bool { n++; return n < 3 })
	if err != nil || n != 3 {
		t.Errorf("%d pairs after the third: %v", n, err)
	}
	if _, err := s.Stars(context.Background(), 0, Options{}); err == nil {
		t.Error("a threshold of 0 is taken")
	}
}

// TestThresholds compares the lengths of prefixes with the definition of a match, for every size.
func TestThresholds(t *testing.T) {
	for _, at := range append(thresholds, 0.55, 0.6, 0.85, 1.0/3) {
		th := newThreshold(at)
		for x := 1; x < 120; x++ {
			for y := 1; y < 120; y++ {
				need := 1
				for need <= x+y && float64(need)/float64(x+y-need) < at {
					need++
				}
				if need > min(x, y) {
					need = max(need, th.need(x, y)) // no overlap suffices
				}
				if got := th.need(x, y); got != need {
					t.Fatalf("t %v: need(%d, %d) = %d, not %d", at, x, y, got, need)
				}
				if about := th.about(x, y); about > need {
					t.Fatalf("t %v: about(%d, %d) = %d, more than %d", at, x, y, about, need)
				}
				if need > min(x, y) {
					continue
				}
				if x-need+1 > th.long(x) || y >= x && x-need+1 > th.short(x) {
					t.Fatalf("t %v: the prefixes of %d, %d and %d, are too short for %d", at, x, th.long(x), th.short(x), y)
				}
			}
		}
	}
}

func TestScores(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, kind := range []Kind{Jaccard, Weighted} {
		testScores(t, r, kind)
	}
}

func testScores(t *testing.T, r *rand.Rand, kind Kind) {
	sets, like := corpus(r, 300), jaccard
	if kind == Weighted {
		sets, like = withWeights(r, sets), weightedJaccard
	}
	s := add(t, sets, SetsOptions{Measure: Measure{Kind: kind}, Memory: 1, NoJoin: true, Create: func() (File, error) { return &memFile{}, nil }})
	if _, err := s.Stars(context.Background(), 0.5, Options{}); err == nil {
		t.Error("sets whose elements were not counted are joined")
	}
	partner := make([]uint32, len(sets))
	for i := range partner {
		partner[i] = uint32(r.IntN(len(sets)))
	}
	got := must.Get(s.Scores(context.Background(), partner))(t)
	for i, p := range partner {
		want := like(sets[i], sets[p])
		if int(p) == i {
			want = 1
		}
		if got[i] != want {
			t.Fatalf("sets %d and %d: %v, not %v", i, p, got[i], want)
		}
	}
}

// TestSpillFreesMemory checks that chunks in the file are not retained in memory.
func TestSpillFreesMemory(t *testing.T) {
	s := NewSets(SetsOptions{Memory: 4 * chunkElems * 8, Create: func() (File, error) { return &memFile{}, nil }})
	set := make([]uint64, chunkElems/4)
	for i := range set {
		set[i] = uint64(i)
	}
	for range 40 {
		must.Do(t, s.Add(set))
	}
	kept := 0
	for _, c := range s.chunks[:cap(s.chunks)] {
		kept += cap(c)
	}
	if kept > chunkElems {
		t.Errorf("%d elements are in memory, %d in the file", kept, s.inFile)
	}
}

// TestPostings compares postings after many merges, with some buckets that span chunks, with
// chains.
func TestPostings(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	th := newThreshold(0.5)
	packed, chains := index{packed: newPacked(th, 1<<10, 1<<12)}, index{}
	packed.reset()
	chains.reset()
	prefixOf := func() *prefix {
		p := &prefix{size: 1 + r.IntN(600)}
		for range min(p.size, 1+r.IntN(30)) {
			p.keys = append(p.keys, uint64(min(r.IntN(5000), r.IntN(5000)))*0x9e3779b97f4a7c15)
		}
		p.look, p.short = len(p.keys), r.IntN(len(p.keys)+1)
		return p
	}
	for n := range 4000 {
		p := prefixOf()
		packed.add(uint32(n), p)
		chains.add(uint32(n), p)
	}
	if packed.packed.n < 3*chunkPostings {
		t.Fatalf("%d postings", packed.packed.n)
	}
	found, more := 0, 0
	for range 1000 {
		p := prefixOf()
		got, want := packed.candidates(nil, p, th), chains.candidates(nil, p, th)
		slices.Sort(got)
		slices.Sort(want)
		got, want = slices.Compact(got), slices.Compact(want)
		for _, entry := range want {
			if _, has := slices.BinarySearch(got, entry); !has {
				t.Fatalf("entry %d is not found", entry)
			}
		}
		found, more = found+len(want), more+len(got)-len(want)
	}
	if found == 0 || more > found/20 {
		t.Errorf("%d candidates, %d more than in chains", found, more)
	}
}

// TestFirstOfEqual joins a set that is equally similar to two keepers. Its rarest elements find the
// later one, which is compared first.
func TestFirstOfEqual(t *testing.T) {
	const size = 60
	r := rand.New(rand.NewPCG(3, 4))
	random := func(n int, and ...uint64) []uint64 {
		for range n {
			and = append(and, r.Uint64())
		}
		slices.Sort(and)
		return and
	}
	first, last := random(size), random(size)
	sets := [][]uint64{first, last}
	for i := 0; i < size; i += 6 { // they make the elements of the first one more frequent
		sets = append(sets, random(size, first[i:i+6:i+6]...))
	}
	var both []uint64
	for i := 0; i < size; i += 2 {
		both = append(both, first[i], last[i])
	}
	slices.Sort(both)
	sets = append(sets, both)
	for _, window := range []int{1, 100} {
		s := NewSets(SetsOptions{})
		for _, set := range sets {
			must.Do(t, s.Add(set))
		}
		a := must.Get(s.Stars(t.Context(), 0.3, Options{window: window}))(t)
		if n := len(sets) - 1; a.Keeper[1] != 1 || a.Keeper[n] != 0 || a.Score[n] != 1.0/3 {
			t.Errorf("windows of %d: the keeper is %d, with %v", window, a.Keeper[n], a.Score[n])
		}
	}
}
