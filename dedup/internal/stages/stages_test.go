package stages

import (
	"cmp"
	"encoding"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
)

// A cluster runs a job whose messages move as bytes, in any order, some twice.
type cluster struct {
	t       testing.TB
	r       *rand.Rand
	plan    Plan
	workers int
	moved   int // members sent
	largest int // most members in a group
}

type message[T any] interface {
	*T
	encoding.BinaryUnmarshaler
}

// shuffle sends messages to their groups.
func shuffle[T encoding.BinaryAppender, P message[T]](c *cluster, messages []T, group func(T) []uint64) map[uint64][]T {
	all := map[uint64][]T{}
	for _, i := range c.r.Perm(len(messages)) {
		b, _ := messages[i].AppendBinary(nil)
		var x T
		if err := P(&x).UnmarshalBinary(b); err != nil {
			c.t.Fatal(err)
		}
		for _, g := range group(x) {
			all[g] = append(all[g], x)
			if c.r.IntN(50) == 0 {
				all[g] = append(all[g], x)
			}
		}
	}
	return all
}

// AppendBinary appends a batch of one Ask.
func (x Ask) AppendBinary(dst []byte) ([]byte, error) {
	to := NewBatches(func(_ uint64, b []byte) error {
		dst = append(dst, b...)
		return nil
	})
	err := cmp.Or(to.AddAsk(0, x), to.Flush())
	return dst, err
}

// UnmarshalBinary reads a batch of one Ask.
func (x *Ask) UnmarshalBinary(b []byte) error {
	all, err := AppendAsks(nil, b)
	if len(all) > 0 {
		*x = all[0]
	}
	return err
}

// ask sends sets to the groups they are assigned to.
func (c *cluster) ask(sets []Set, asks []Ask) map[uint64][]Member {
	of := shuffle(c, asks, func(a Ask) []uint64 { return []uint64{a.Doc} })
	var members []Member
	for _, s := range sets {
		if len(of[s.Doc]) > 0 {
			members = append(members, c.plan.NewMember(s, of[s.Doc]))
		}
	}
	groups := shuffle(c, members, func(m Member) []uint64 { return slices.Collect(m.Groups()) })
	for _, g := range groups {
		distinct := map[uint64]bool{}
		for _, m := range g {
			distinct[m.Doc] = true
		}
		c.moved, c.largest = c.moved+len(distinct), max(c.largest, len(distinct))
	}
	return groups
}

// route counts and routes sets.
func (c *cluster) route(sets []Set) []Posting {
	parts := make([]*Counts, c.workers)
	for i := range parts {
		parts[i] = NewCounts(1 << 12)
	}
	for _, s := range sets {
		parts[c.r.IntN(c.workers)].Add(s.Elements)
	}
	counts := NewCounts(1 << 12)
	for _, part := range parts {
		b, _ := part.AppendBinary(nil)
		var read Counts
		if err := cmp.Or(read.UnmarshalBinary(b), counts.Merge(&read)); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := c.plan.Ranks.UnmarshalBinary(counts.Ranks()); err != nil {
		c.t.Fatal(err)
	}
	var postings []Posting
	for _, s := range sets {
		postings = c.plan.Route(postings, s)
	}
	return postings
}

// byElement sends postings to their groups.
func (c *cluster) byElement(postings []Posting) map[uint64][]Posting {
	return shuffle(c, postings, func(x Posting) []uint64 { return []uint64{c.plan.groupOf(x.Key)} })
}

// meetPrints sends fingerprints to their groups, which join them.
func (c *cluster) meetPrints(sets []Set) (found []Link, later []Posting) {
	for g, some := range shuffle(c, sets, func(s Set) []uint64 { return c.plan.PrintGroups(nil, s) }) {
		all := Prints{Words: c.plan.Words}
		for _, s := range some {
			x := NewBatches(func(_ uint64, b []byte) error { return all.Add(b) })
			if err := cmp.Or(x.AddPrints(g, s), x.Flush()); err != nil {
				c.t.Fatal(err)
			}
		}
		links, l, err := c.plan.MeetPrints(c.t.Context(), g, &all)
		if err != nil {
			c.t.Fatal(err)
		}
		found, later = append(found, links...), append(later, l...)
	}
	return found, later
}

// pairs runs a whole job for pairs.
func (c *cluster) pairs(sets []Set) (pairs []Pair) {
	var asks []Ask
	for _, g := range c.byElement(c.route(sets)) {
		asks = append(asks, c.plan.Meet(g)...)
	}
	for g, members := range c.ask(sets, asks) {
		err := c.plan.Pairs(c.t.Context(), g, members, func(p Pair) bool {
			pairs = append(pairs, p)
			return true
		})
		if err != nil {
			c.t.Fatal(err)
		}
	}
	slices.SortFunc(pairs, byBoth)
	return pairs
}

// links finds the links of sets that are assigned to groups.
func (c *cluster) links(sets []Set, asks []Ask) (fewer []Link) {
	var links []Link
	for g, members := range c.ask(sets, asks) {
		found, err := c.plan.Links(c.t.Context(), g, members)
		if err != nil {
			c.t.Fatal(err)
		}
		links = append(links, found...)
	}
	for _, some := range shuffle(c, links, func(Link) []uint64 { return []uint64{uint64(c.r.IntN(c.workers))} }) {
		fewer = append(fewer, Forest(some)...)
	}
	return fewer
}

// stars runs a whole job for stars.
func (c *cluster) stars(sets []Set) []Star {
	var asks, more []Ask
	var later []Posting
	var found []Link // of documents that are not to be linked
	if !c.plan.By.Sets {
		found, later = c.meetPrints(sets)
	} else {
		for _, g := range c.byElement(c.route(sets)) {
			a, l, candidates := c.plan.MeetFirst(g)
			asks, later, found = append(asks, a...), append(later, l...), append(found, candidates...)
		}
		var large []Link
		found, large = c.plan.Whole(Forest(found))
		asks = Only(asks, large)
	}
	first := append(c.links(sets, asks), found...)
	roots := map[uint64]uint64{}
	for _, l := range Forest(first) {
		roots[l.B] = l.A
	}
	for i, x := range later {
		if root, ok := roots[x.Doc]; ok {
			later[i].Root = root
		}
	}
	for _, g := range c.byElement(later) {
		more = append(more, c.plan.Meet(g)...)
	}
	fewer := append(first, c.links(sets, more)...)
	defer func(cells int) { c.largest = cells }(c.largest) // shards do not count
	stars := map[uint64]Star{}
	for _, s := range sets {
		stars[s.Doc] = Star{s.Doc, s.Doc, 1}
	}
	for _, members := range c.ask(sets, c.plan.Shards(Forest(fewer))) {
		found, err := c.plan.Stars(c.t.Context(), members)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, s := range found {
			stars[s.Doc] = s
		}
	}
	out := make([]Star, len(sets))
	for i, s := range sets {
		out[i] = stars[s.Doc]
	}
	return out
}

func byBoth(a, b Pair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) }

// alone returns the result of one machine for sets in the order of preference.
func alone(t testing.TB, sets []Set, at float64, withPairs bool) (stars []Star, pairs []Pair) {
	t.Helper()
	all := setjoin.NewSets(setjoin.SetsOptions{})
	for _, s := range sets {
		must.Do(t, all.Add(s.Elements))
	}
	found, err := all.Stars(t.Context(), at, setjoin.Options{})
	must.Do(t, err)
	for i, s := range sets {
		stars = append(stars, Star{s.Doc, sets[found.Keeper[i]].Doc, found.Score[i]})
	}
	if !withPairs {
		return stars, nil
	}
	err = all.Pairs(t.Context(), at, setjoin.Options{}, func(a, b int, score float64) bool {
		pairs = append(pairs, Pair{sets[a].Doc, sets[b].Doc, score})
		return true
	})
	must.Do(t, err)
	slices.SortFunc(pairs, byBoth)
	return stars, pairs
}

func jaccard(t float64) corpus.Criterion { return corpus.Criterion{Sets: true, T: t} }

// random returns sets, many of which resemble others.
func random(r *rand.Rand, n int) (sets []Set) {
	space, template := 20+r.IntN(2000), 1+r.IntN(40)
	doc := uint64(r.IntN(1 << 20))
	for len(sets) < n {
		var set []uint64
		switch kind := r.IntN(5); {
		case kind < 2 && len(sets) > 0: // an edited copy
			set = slices.Clone(sets[r.IntN(len(sets))].Elements)
			for range r.IntN(4) {
				if at := r.IntN(len(set) + 1); at < len(set) {
					set = slices.Delete(set, at, at+1)
				}
				set = append(set, uint64(r.IntN(space)+1)*0x9e3779b97f4a7c15)
			}
		case kind == 2: // a page of a template
			for i := range template {
				if r.IntN(10) > 0 {
					set = append(set, uint64(i+5000)*0x9e3779b97f4a7c15)
				}
			}
			for range r.IntN(6) {
				set = append(set, r.Uint64())
			}
		default:
			for range r.IntN(50) {
				set = append(set, uint64(min(r.IntN(space), r.IntN(space))+1)*0x9e3779b97f4a7c15)
			}
		}
		slices.Sort(set)
		doc += 1 + uint64(r.IntN(1<<30))
		sets = append(sets, Set{Doc: doc, Elements: slices.Compact(set)})
	}
	return sets
}

// TestAgainstOneMachine compares jobs with various numbers of groups and workers with setjoin,
// and the pairs with brute force.
func TestAgainstOneMachine(t *testing.T) {
	for run := range exhaustive.Every(t, 40).Of(400) {
		r := rand.New(rand.NewPCG(uint64(run), 3))
		sets := random(r, 1+r.IntN(200))
		at := []float64{0.1, 0.3, 0.5, 2.0 / 3, 0.7, 0.8, 0.9, 0.95, 1}[r.IntN(9)]
		by := jaccard(at)
		most := []int{0, 2, 3, 8, 30}[r.IntN(5)]
		stars, pairs := alone(t, sets, at, true)
		var brute []Pair
		for i, a := range sets {
			for _, b := range sets[i+1:] {
				n := ordered.Common(a.Elements, b.Elements, 0)
				if score := float64(n) / float64(len(a.Elements)+len(b.Elements)-n); n > 0 && score >= at {
					brute = append(brute, Pair{a.Doc, b.Doc, score})
				}
			}
		}
		if !slices.Equal(pairs, brute) {
			t.Fatalf("run %d: setjoin has other pairs", run)
		}
		for _, groups := range []uint64{0, 1, 3, 16} {
			c := &cluster{t: t, r: r, plan: Plan{By: by, Groups: groups, MaxCell: most, compared: []int{0, 2, 4}[r.IntN(3)]}, workers: 1 + int(groups)}
			if got := c.pairs(sets); !slices.Equal(got, pairs) {
				t.Fatalf("run %d, t %v, %d groups, cells of %d: %d pairs, want %d", run, at, groups, most, len(got), len(pairs))
			}
			if groups == 0 && most > 0 && c.largest > most {
				t.Fatalf("run %d: a group of %d", run, c.largest)
			}
			if got := c.stars(sets); !slices.Equal(got, stars) || groups == 0 && most > 0 && c.largest > most {
				t.Fatalf("run %d, t %v, %d groups, cells of %d: stars differ", run, at, groups, most)
			}
		}
	}
}

// TestPrints compares jobs by fingerprints, with one or more words and one or more per document,
// with a corpus on one machine, and the pairs with brute force.
func TestPrints(t *testing.T) {
	for run := range exhaustive.Every(t, 16).Of(400) {
		r := rand.New(rand.NewPCG(uint64(run), 7))
		words, k := []int{1, 1, 2, 5}[r.IntN(4)], []int{0, 1, 3, 6, 10}[r.IntN(5)]
		var sets []Set
		var leads []uint64 // fingerprints that others are near
		for i := range 1 + r.IntN(150) {
			s := Set{Doc: uint64(i) * 5}
			for range []int{0, 1, 1, 1, 1 + r.IntN(3)}[r.IntN(5)] {
				print := make([]uint64, words)
				for w := range print {
					print[w] = r.Uint64()
				}
				if len(leads) > 0 && r.IntN(3) > 0 {
					at := r.IntN(len(leads) / words)
					copy(print, leads[at*words:])
				}
				for range r.IntN(k + 3) {
					print[r.IntN(words)] ^= 1 << r.IntN(64)
				}
				leads, s.Fingerprints = append(leads, print...), append(s.Fingerprints, print...)
			}
			sets = append(sets, s)
		}
		var brute []Pair
		for i, a := range sets {
			for _, b := range sets[i+1:] {
				least := 64*words + 1
				for x := range slices.Chunk(a.Fingerprints, words) {
					for y := range slices.Chunk(b.Fingerprints, words) {
						d := 0
						for w := range x {
							d += bits.OnesCount64(x[w] ^ y[w])
						}
						least = min(least, d)
					}
				}
				if least <= k {
					brute = append(brute, Pair{a.Doc, b.Doc, float64(least)})
				}
			}
		}
		one := corpus.New(corpus.Options{Fingerprints: true})
		for _, s := range sets {
			must.Do(t, one.Add(nil, s.Fingerprints, len(s.Fingerprints)/words))
		}
		keeper, distance, err := one.PrintStars(t.Context(), nil, k, 0, nil, selfjoin.Options{})
		must.Do(t, err)
		var stars []Star
		for i, s := range sets {
			stars = append(stars, Star{s.Doc, sets[keeper[i]].Doc, float64(distance[i])})
		}
		most := []int{0, 2, 3, 8, 30}[r.IntN(5)]
		for _, groups := range []uint64{0, 1, 16} {
			c := &cluster{t: t, r: r, plan: Plan{By: corpus.Criterion{K: k}, Words: words, Groups: groups, MaxCell: most}, workers: 1 + int(groups)}
			if got := c.pairs(sets); !slices.Equal(got, brute) {
				t.Fatalf("run %d, k %d, %d groups, cells of %d: pairs %v, want %v", run, k, groups, most, got, brute)
			}
			got := c.stars(sets)
			for i, s := range got { // a keeper outside all shards has the score of a set with itself
				if s.Doc == s.Keeper {
					got[i].Score = 0
				}
			}
			if !slices.Equal(got, stars) || groups == 0 && most > 0 && c.largest > most {
				t.Fatalf("run %d, k %d, %d groups, cells of %d: stars differ", run, k, groups, most)
			}
		}
	}
}

// TestLicenses compares a job on real texts with setjoin.
func TestLicenses(t *testing.T) {
	hasher := features.NewSetHasher(features.Spec{}, 3, 0)
	var sets []Set
	for i, doc := range corpora.Docs(t, "../../../examples/licenses.jsonl.gz") {
		sets = append(sets, Set{Doc: uint64(i), Elements: hasher.Append(nil, doc.Text)})
	}
	stars, pairs := alone(t, sets, 0.8, true)
	dropped := 0
	for _, s := range stars {
		if s.Doc != s.Keeper {
			dropped++
		}
	}
	if len(sets) != 728 || dropped != 156 { // as README.md says
		t.Fatalf("%d of %d dropped", dropped, len(sets))
	}
	for i := range exhaustive.Some(t, 3, 3) {
		groups := []uint64{1, 3, 16}[i]
		c := &cluster{t: t, r: rand.New(rand.NewPCG(groups, 4)), plan: Plan{By: jaccard(0.8), Groups: groups, MaxCell: 300}, workers: int(groups)}
		if !slices.Equal(c.pairs(sets), pairs) || !slices.Equal(c.stars(sets), stars) {
			t.Errorf("%d groups: other pairs or stars", groups)
		}
	}
}

// TestCrowds has very many pages of one template, where all, some or no pairs match. No group may
// be too large, and the number of messages must not be quadratic.
func TestCrowds(t *testing.T) {
	for _, c := range []struct {
		name      string
		n         int
		own, miss int
		most      int // members that move for each page
	}{{"all match", 8_000, 2, 1, 8}, {"some match", 4_000, 5, 4, 20}, {"none match", 8_000, 14, 0, 0}} {
		t.Run(c.name, func(t *testing.T) {
			n := c.n / exhaustive.Slower
			r := rand.New(rand.NewPCG(uint64(c.own), 5))
			template := make([]uint64, 50)
			for i := range template {
				template[i] = r.Uint64()
			}
			sets := make([]Set, n)
			for i := range sets {
				set := slices.Clone(template)
				for range c.miss {
					at := r.IntN(len(set))
					set = slices.Delete(set, at, at+1)
				}
				for range c.own {
					set = append(set, r.Uint64())
				}
				slices.Sort(set)
				sets[i] = Set{Doc: uint64(i), Elements: set}
			}
			stars, _ := alone(t, sets, 0.8, false)
			job := &cluster{t: t, r: r, plan: Plan{By: jaccard(0.8), MaxCell: n / 4}, workers: 3}
			if got := job.stars(sets); !slices.Equal(got, stars) {
				t.Error("stars differ")
			}
			if job.largest > n/4 || job.moved > c.most*n {
				t.Errorf("%d members moved, %d in the largest group", job.moved, job.largest)
			}
		})
	}
}

// TestMessages decodes messages, and rejects truncated ones and ones with trailing bytes.
func TestMessages(t *testing.T) {
	check := func(x encoding.BinaryAppender, read encoding.BinaryUnmarshaler) {
		b := must.Get(x.AppendBinary(nil))(t)
		if err := read.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(reflect.ValueOf(read).Elem().Interface(), x) {
			t.Errorf("%#v: read %#v, %v", x, read, err)
		}
		for n := range b {
			if b[:n] != nil && read.UnmarshalBinary(b[:n]) == nil && (len(b)-n)%8 != 0 {
				t.Errorf("%#v: %d of %d bytes read as %#v", x, n, len(b), read)
			}
		}
		if read.UnmarshalBinary(append(b, 0)) == nil {
			t.Errorf("%#v: a byte more is read", x)
		}
	}
	set := Set{Doc: 1 << 60, Elements: []uint64{3, 1 << 40, 1 << 63}}
	check(Posting{1 << 63, 300, 1000, 4, 7}, &Posting{})
	check(Link{7, 1 << 50}, &Link{})
	check(Star{9, 8, 0.75}, &Star{})
	check(Pair{9, 8, 0.75}, &Pair{})
	check(set, &Set{})
	check(Member{set, []Asked{{0, 7}, {5, 0}, {1 << 62, 1 << 31}}, nil}, &Member{})
	check(Member{set, []Asked{{0, 7}}, []byte("text")}, &Member{})
	check(Set{Doc: 3, Fingerprints: []uint64{9, 1}}, &Set{})
	counts := NewCounts(32)
	counts.Add(set.Elements)
	b, _ := counts.AppendBinary(nil)
	var read Counts
	if err := read.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(&read, counts) || read.UnmarshalBinary(b[:7]) == nil || new(Ranks).UnmarshalBinary(b[:7]) == nil {
		t.Errorf("counters are read as %v, %v", read, err)
	}
	if counts.Merge(NewCounts(64)) == nil {
		t.Error("counters of other sizes are merged")
	}
	for _, bad := range [][]byte{{1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}} {
		if new(Set).UnmarshalBinary(bad) == nil {
			t.Error("elements that do not ascend are read")
		}
	}
}

// TestBatches reads what batches hold, and the beginnings of a batch, which are damaged unless they
// end with a document.
func TestBatches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var postings, gotPostings []Posting
	var asks, gotAsks []Ask
	var sets []Set
	prints := Prints{Words: 1}
	for i := range 9000 {
		doc, size := r.Uint64()>>(r.IntN(2)*60), 1+r.IntN(1<<20)
		postings = append(postings, Posting{r.Uint64(), doc, size, r.IntN(size + 1), doc})
		asks = append(asks, Ask{doc, Asked{r.Uint64() >> r.IntN(64), r.Uint32()}})
		sets = append(sets, Set{Doc: doc, Fingerprints: []uint64{r.Uint64(), r.Uint64()}[:1+i%2]})
	}
	for kind, of := range []struct {
		add  func(x *Batches, key uint64, i int) error
		read func(b []byte) error
		docs func() int
	}{
		{
			func(x *Batches, key uint64, i int) error { return x.AddPosting(key, postings[i]) },
			func(b []byte) (err error) { gotPostings, err = AppendPostings(gotPostings, b); return err },
			func() int { return len(gotPostings) },
		},
		{
			func(x *Batches, key uint64, i int) error { return x.AddAsk(key, asks[i]) },
			func(b []byte) (err error) { gotAsks, err = AppendAsks(gotAsks, b); return err },
			func() int { return len(gotAsks) },
		},
		{
			func(x *Batches, key uint64, i int) error { return x.AddPrints(key, sets[i]) },
			prints.Add,
			func() int { return len(prints.docs) },
		},
	} {
		batches := map[uint64][][]byte{}
		x := NewBatches(func(key uint64, b []byte) error {
			batches[key] = append(batches[key], slices.Clone(b))
			return nil
		})
		for i := range postings {
			must.Do(t, of.add(x, uint64(i%2)<<63, i))
		}
		must.Do(t, x.Flush())
		for _, key := range []uint64{0, 1 << 63} {
			for _, b := range batches[key] {
				must.Do(t, of.read(b))
			}
		}
		if n := len(batches[0]); of.docs() != len(postings) || n < 3 {
			t.Errorf("kind %d: %d of %d documents in %d batches", kind, of.docs(), len(postings), n)
		}
		whole, damaged := batches[0][0][:99], 0
		for n := range whole {
			if of.read(whole[:n]) != nil {
				damaged++
			}
		}
		if damaged < 70 {
			t.Errorf("kind %d: only %d of %d beginnings are damaged", kind, damaged, len(whole))
		}
	}
	for i := range postings {
		at := i / 2
		if i%2 == 1 {
			at += len(postings) / 2
		}
		if gotPostings[at] != postings[i] || gotAsks[at] != asks[i] || prints.docs[at] != sets[i].Doc || !slices.Equal(prints.of(uint32(at)), sets[i].Fingerprints) {
			t.Fatalf("document %d differs", i)
		}
	}
}
