package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// invented returns a corpus of n pairs, of documents 2i and 2i+1, whose traits are random. Some pairs
// share a document with the one before, and some have the same difference.
func invented(r *rand.Rand, n int) *Corpus {
	c := &Corpus{names: []string{"words:3", "words:1", "chars:3"}, at: map[string]int{}}
	of := map[[2]int]*traits{}
	for i := range 2*n + 1 {
		id := fmt.Sprint("d", i)
		c.docs, c.at[id] = append(c.docs, engine.Doc{ID: id, Text: id}), i
	}
	for i := range n {
		x := &traits{a: 2 * i, b: 2*i + 1 + r.IntN(2), differs: r.Uint64N(9), weight: float64(1 + r.IntN(3))}
		for range c.names {
			x.scores = append(x.scores, float64(20+r.IntN(81))/100)
		}
		x.facts = [conditions]bool{true, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0}
		if !x.facts[unique] {
			x.recurs = float64(r.IntN(100)) / 100
		}
		of[[2]int{x.a, x.b}] = x
		c.pairs = append(c.pairs, x)
	}
	c.traits = func(a, b int) *traits { return of[[2]int{a, b}] }
	return c
}

// labelsOf returns labels of the first pairs, half of them as a threshold decides.
func (c *Corpus) labelsOf(r *rand.Rand, n int) (labels []Label) {
	for _, x := range c.pairs[:n] {
		same := x.scores[0] >= 0.6
		if r.IntN(2) == 0 {
			same = r.IntN(2) == 0
		}
		labels = append(labels, Label{A: c.docs[x.a].ID, B: c.docs[x.b].ID, Same: same})
	}
	return labels
}

// posterior returns the probability, up to a factor, of a rule after labels, as the package's comments
// define it.
func posterior(f fitted, all []example) float64 {
	p := 1.0
	if f.measure > 0 {
		p *= math.Exp(-1)
	}
	if f.also != always {
		p *= math.Exp(-0.5)
	}
	for _, x := range all {
		if f.holds(x.traits) == x.same {
			p *= 0.9
		} else {
			p *= 0.1
		}
	}
	return p
}

// TestAskByBruteForce compares the pair that is asked with the one about which all rules vote most
// equally.
func TestAskByBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for range 60 {
		c := invented(r, 30)
		n := r.IntN(12)
		given := c.labelsOf(r, n)
		labels, skipped := given[:n-n/3], given[n-n/3:]
		all, err := c.examples(labels)
		if err != nil {
			t.Fatal(err)
		}
		used, asked := map[int]bool{}, map[uint64]int{}
		for _, x := range c.pairs[:n] {
			used[x.a], used[x.b] = true, true
			asked[x.differs]++
		}
		best, most := "", -1.0
		for _, x := range c.pairs {
			if used[x.a] || used[x.b] || asked[x.differs] > 1 {
				continue
			}
			yes, sum := 0.0, 0.0
			for _, s := range shapesOf(len(c.names)) {
				for i := range thresholds {
					f := fitted{s, threshold(i)}
					p := posterior(f, all)
					if sum += p; f.holds(x) {
						yes += p
					}
				}
			}
			if vote := yes / sum; vote*(1-vote) > most+1e-9 {
				best, most = c.docs[x.a].ID, vote*(1-vote)
			}
		}
		if p, ok, err := c.Ask(labels, skipped); err != nil || ok != (best != "") || p.A != best {
			t.Fatalf("%d labels: asks about %q, want %q, %v", len(labels), p.A, best, err)
		}
	}
}

// TestChooseByBruteForce compares what labels choose with all rules, each by its probability.
func TestChooseByBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	shapes := map[shape]bool{}
	for range 150 {
		c := invented(r, 25)
		all, err := c.examples(c.labelsOf(r, 1+r.IntN(25)))
		if err != nil {
			t.Fatal(err)
		}
		var want fitted
		most := -1.0
		for _, s := range shapesOf(len(c.names)) {
			sum, mean, least, finds := 0.0, 0.0, 1.0, false
			for i := range thresholds {
				f := fitted{s, threshold(i)}
				p := posterior(f, all)
				sum, mean = sum+p, mean+p*f.t
				for _, x := range all {
					least, finds = min(least, x.scores[s.measure]), finds || x.same && f.holds(x.traits)
				}
			}
			if sum > most*(1+1e-9) && finds {
				want, most = fitted{s, math.Round(100*max(mean/sum, least-0.02)) / 100}, sum
			} else if sum > most*(1+1e-9) {
				want, most = fitted{shape: s}, sum // no label decides the threshold: TestSimpleFirst
			}
		}
		got := choose(shapesOf(len(c.names)), all)
		if got.shape != want.shape || want.t > 0 && got.t != want.t {
			t.Fatalf("%d labels: %+v, want %+v", len(all), got, want)
		}
		shapes[got.shape] = true
	}
	if len(shapes) < 8 {
		t.Errorf("only the shapes %v are chosen", shapes)
	}
}

// TestValidateByBruteForce compares the cross-validation of up to 20 labels, which leaves out each once,
// with rules that the others choose. With more labels the seed draws the parts.
func TestValidateByBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	for range 25 {
		c := invented(r, 20)
		labels := c.labelsOf(r, 2+r.IntN(19))
		all, err := c.examples(labels)
		if err != nil {
			t.Fatal(err)
		}
		right, plain := 0, 0
		for i, x := range all {
			others := slices.Delete(slices.Clone(all), i, i+1)
			if choose(shapesOf(len(c.names)), others).holds(x.traits) == x.same {
				right++
			}
			if choose(plainShapes, others).holds(x.traits) == x.same {
				plain++
			}
		}
		l, err := c.Learn(labels)
		if err != nil || l.Right != right || l.Plain != plain || l.Labels != len(all) {
			t.Fatalf("%d labels: %+v, want %d and %d right, %v", len(all), l, right, plain, err)
		}
	}
	c := invented(r, 60)
	all, err := c.examples(c.labelsOf(r, 50))
	if err != nil {
		t.Fatal(err)
	}
	shapes, counts := shapesOf(len(c.names)), map[int]bool{}
	for seed := range uint64(12) {
		right := validate(shapes, all, seed)
		if counts[right] = true; right != validate(shapes, all, seed) {
			t.Errorf("seed %d draws other parts the second time", seed)
		}
	}
	if len(counts) < 2 {
		t.Errorf("the seed does not draw the parts: %v", counts)
	}
}

// TestLessonShows checks the pairs and labels that a lesson names, and its estimate of matches.
func TestLessonShows(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 38))
	for range 20 {
		c := invented(r, 40)
		labels := c.labelsOf(r, 20)
		l, err := c.Learn(labels)
		if err != nil {
			t.Fatal(err)
		}
		all, err := c.examples(labels)
		if err != nil {
			t.Fatal(err)
		}
		rule := choose(shapesOf(len(c.names)), all)
		var wrong []Label
		same, matches := 0, 0.0
		for i, x := range all {
			if rule.holds(x.traits) != x.same {
				wrong = append(wrong, labels[i])
			}
			if x.same {
				same++
			}
		}
		for _, x := range c.pairs {
			if rule.holds(x) {
				matches += x.weight
			}
		}
		if !slices.Equal(l.Wrong, wrong) || l.Same != same || l.Matches != matches || l.Rule != c.rule(rule) {
			t.Fatalf("%+v: want %v, %d, %v", l, wrong, same, matches)
		}
		for drops, pairs := range map[bool][]Pair{true: l.Drops, false: l.Spares} {
			used, last, n := map[string]bool{}, -1.0, 0
			for _, p := range pairs {
				x := c.traits(c.at[p.A], c.at[p.B])
				far := math.Abs(x.scores[rule.measure] - rule.t)
				if rule.holds(x) != drops || used[p.A] || used[p.B] || far < last {
					t.Errorf("%s: %+v is shown, drops %v", l.Rule, p, drops)
				}
				used[p.A], used[p.B], last = true, true, far
			}
			for _, x := range c.pairs {
				far := math.Abs(x.scores[rule.measure] - rule.t)
				a, b := c.docs[x.a].ID, c.docs[x.b].ID
				if rule.holds(x) == drops && !used[a] && !used[b] {
					if n++; far < last {
						t.Errorf("%s: %s and %s are nearer than what is shown", l.Rule, a, b)
					}
				}
			}
			if len(pairs) > shown || len(pairs) < shown && n > 0 {
				t.Errorf("%d pairs are shown, %d others are left", len(pairs), n)
			}
		}
	}
}

// TestReadDraws checks that documents of labels are among those that are read, and that the seed draws
// the others.
func TestReadDraws(t *testing.T) {
	var lines strings.Builder
	for i := range 300 {
		fmt.Fprintf(&lines, "{\"id\":\"%d\",\"text\":\"text %d\"}\n", i, i)
	}
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(seed uint64) (ids []string) {
		env := &inputs.Env{}
		src, err := env.New(t.Context(), []string{path}, inputs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := Read(t.Context(), env, src, inputs.Reading{Options: records.Options{MakeID: true}}, []Label{{A: "7", B: "290"}}, Options{Seed: seed, Sample: 20})
		if err != nil || c.Documents != 300 || c.Compared() != 22 {
			t.Fatal(c, err)
		}
		for _, d := range c.docs {
			ids = append(ids, d.ID)
		}
		if !slices.Contains(ids, "7") || !slices.Contains(ids, "290") {
			t.Errorf("documents of labels are missing: %v", ids)
		}
		slices.Sort(ids)
		return ids
	}
	if one := read(1); !slices.Equal(one, read(1)) || slices.Equal(one, read(2)) {
		t.Error("the seed does not draw the documents")
	}
}

// TestCandidates compares the candidates of short texts, and how many pairs they stand for, with all pairs.
func TestCandidates(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 40))
	words := strings.Fields("lantern harbour pebble cinder walnut orchard saddle ribbon thistle copper meadow anchor")
	var docs []engine.Doc
	seen := map[string]bool{}
	for len(docs) < 700 {
		var text []string
		if len(docs) > 0 && r.IntN(3) == 0 {
			text = append(strings.Fields(docs[r.IntN(len(docs))].Text), "more")
		}
		for len(text) < 4+r.IntN(3) {
			text = append(text, words[r.IntN(len(words))]+string("  st"[r.IntN(4)]))
		}
		if s := strings.Join(strings.Fields(strings.Join(text, " ")), " "); !seen[s] {
			seen[s], docs = true, append(docs, engine.Doc{ID: fmt.Sprint(len(docs)), Text: s})
		}
	}
	c, err := New(t.Context(), docs, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	hash := func(unit features.Unit, n int) (sets []features.Hashes, of *features.SetHasher) {
		spec, err := features.Spec{Unit: unit}.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		of = features.NewSetHasher(spec, n, 0)
		for _, d := range docs {
			sets = append(sets, slices.Clone(of.Brief([]byte(d.Text))))
		}
		return sets, of
	}
	byWords, w := hash("", 3)
	byChars, h := hash(features.Chars, 3)
	var want, got [2]float64
	for a := range docs {
		for b := range a {
			if w.Jaccard(byWords[a], byWords[b]) >= leastScore {
				want[0]++
			} else if h.Jaccard(byChars[a], byChars[b]) >= leastChars {
				want[1]++
			}
		}
	}
	per, twice := map[int]int{}, map[[2]int]bool{}
	for _, x := range c.pairs {
		kind := 0
		if x.scores[0] < leastScore {
			kind = 1
		}
		got[kind] += x.weight
		per[int(x.scores[2*kind]*intervals)+100*kind]++
		if x.a >= x.b || twice[[2]int{x.a, x.b}] {
			t.Errorf("the pair %d, %d is a candidate twice", x.a, x.b)
		}
		twice[[2]int{x.a, x.b}] = true
	}
	for kind, n := range got {
		if want[kind] < 20 || math.Abs(n-want[kind]) > 0.15*want[kind] {
			t.Errorf("kind %d: candidates stand for %v pairs, want about %v", kind, n, want[kind])
		}
	}
	for interval, n := range per {
		if n > mostPairs {
			t.Errorf("interval %d has %d candidates", interval, n)
		}
	}
	other, err := New(t.Context(), docs, Options{Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	if slices.EqualFunc(c.pairs, other.pairs, func(x, y *traits) bool { return x.a == y.a && x.b == y.b }) {
		t.Error("the seed does not draw candidates")
	}
}

// TestFacts compares numbers and dates.
func TestFacts(t *testing.T) {
	texts := []string{"paid 7 on 2024-05-01", "2024-05-01: paid 7", "paid 7 on 2024-05-02", "paid 8 on 2024-05-01", "paid on 2024-05-01 7 of 7"}
	var docs []engine.Doc
	for i, text := range texts {
		docs = append(docs, engine.Doc{ID: fmt.Sprint(i), Text: text})
	}
	c, err := New(t.Context(), docs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for b, want := range [][2]bool{{true, true}, {true, true}, {false, false}, {false, true}, {true, true}} {
		if x := c.traits(0, b); x.facts[numbers] != want[0] || x.facts[dates] != want[1] {
			t.Errorf("%q and %q: numbers %v, dates %v", texts[0], texts[b], x.facts[numbers], x.facts[dates])
		}
	}
}

// TestCharsStop stops the comparison of short texts.
func TestCharsStop(t *testing.T) {
	texts := []string{"one two three", "one two three four", "one two threes"}
	for _, stop := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		if stop {
			cancel()
		}
		n := 0
		new(Corpus).byChars(ctx, rand.New(rand.NewPCG(1, 1)), texts, func(int, int, float64) { n++ })
		if (n == 0) != stop {
			t.Errorf("stopped: %v, but %d pairs are found", stop, n)
		}
		cancel()
	}
}
