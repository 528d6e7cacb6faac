package learn

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/worddiff"
)

// judged returns a corpus of testdata with its labels.
func judged(t *testing.T, name string) (*Corpus, []Label) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var docs []engine.Doc
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var d engine.Doc
		if err := json.Unmarshal(s.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		docs = append(docs, d)
	}
	labels, err := ReadLabels(t.Context(), filepath.Join("testdata", name+".labels.jsonl"), nil)
	if err != nil || s.Err() != nil {
		t.Fatal(err, s.Err())
	}
	c, err := New(t.Context(), docs, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return c, labels
}

// TestAgreement learns from 20 labels and compares the rule with the others, and with the threshold
// that the same labels choose.
func TestAgreement(t *testing.T) {
	for name, least := range map[string]float64{"icd": 0.99, "aws": 0.88} {
		c, labels := judged(t, name)
		all, err := c.examples(labels)
		if err != nil {
			t.Fatal(err)
		}
		rules, plain, n := 0, 0, 0
		for seed := range uint64(20) {
			var few []example
			order := rand.New(rand.NewPCG(seed, 1)).Perm(len(all))
			for _, i := range order[:20] {
				few = append(few, all[i])
			}
			rule, alone := choose(shapesOf(len(c.names)), few), choose(plainShapes, few)
			for _, i := range order[20:] {
				n++
				if rule.holds(all[i].traits) == all[i].same {
					rules++
				}
				if alone.holds(all[i].traits) == all[i].same {
					plain++
				}
			}
		}
		if share := float64(rules) / float64(n); share < least || rules < plain {
			t.Errorf("%s: %.3f of the labels agree, want %.2f; %.3f with a threshold", name, share, least, float64(plain)/float64(n))
		}
	}
}

// TestTraits compares what rules see in pairs with definitions by sets of strings.
func TestTraits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	words := []string{"red", "blue", "7", "12", "left", "right", "x9"}
	var docs []engine.Doc
	for i := range 60 {
		var text []string
		for range 4 + r.IntN(4) {
			text = append(text, words[r.IntN(len(words))])
		}
		docs = append(docs, engine.Doc{ID: fmt.Sprint(i), Text: strings.Join(text, " ")})
	}
	c, err := New(t.Context(), docs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	shingles := func(text string, n int) map[string]bool {
		w, set := strings.Fields(text), map[string]bool{}
		for i := 0; i+n <= len(w); i++ {
			set[strings.Join(w[i:i+n], " ")] = true
		}
		return set
	}
	jaccard := func(x, y map[string]bool) float64 {
		common := 0
		for s := range x {
			if y[s] {
				common++
			}
		}
		return float64(common) / float64(len(x)+len(y)-common)
	}
	within := func(x, y map[string]bool) bool {
		for s := range x {
			if !y[s] {
				return false
			}
		}
		return true
	}
	numbersOf := func(text string) string {
		var all []string
		for _, w := range strings.Fields(text) {
			if strings.Trim(w, "0123456789") == "" || w == "x9" {
				all = append(all, strings.TrimLeft(w, "x"))
			}
		}
		slices.Sort(all)
		return fmt.Sprint(slices.Compact(all))
	}
	differences := map[string][]float64{} // scores by difference, in both directions
	key := func(a, b string) string {
		count := map[string]int{}
		for _, w := range strings.Fields(a) {
			count[w]++
		}
		for _, w := range strings.Fields(b) {
			count[w]--
		}
		var sides [2][]string
		for w, n := range count {
			for range n {
				sides[0] = append(sides[0], w)
			}
			for range -n {
				sides[1] = append(sides[1], w)
			}
		}
		slices.Sort(sides[0])
		slices.Sort(sides[1])
		one, other := fmt.Sprint(sides[0]), fmt.Sprint(sides[1])
		return min(one, other) + max(one, other)
	}
	unequal := map[string]bool{}
	var texts []string
	for _, d := range docs {
		if !unequal[d.Text] {
			unequal[d.Text], texts = true, append(texts, d.Text)
		}
	}
	for i, a := range texts {
		for _, b := range texts[i+1:] {
			if s := jaccard(shingles(a, 3), shingles(b, 3)); s >= leastScore {
				differences[key(a, b)] = append(differences[key(a, b)], s)
			}
		}
	}
	for a := range docs {
		for b := range docs {
			x, one, other := c.traits(a, b), docs[a].Text, docs[b].Text
			if one == other {
				continue
			}
			p, q := shingles(one, 1), shingles(other, 1)
			for m, want := range []float64{jaccard(shingles(one, 3), shingles(other, 3)), jaccard(p, q)} {
				if math.Abs(x.scores[m]-want) > 1e-9 {
					t.Fatalf("%q, %q: %s is %v, want %v", one, other, c.names[m], x.scores[m], want)
				}
			}
			if x.facts[oneSided] != (within(p, q) || within(q, p)) || x.facts[numbers] != (numbersOf(one) == numbersOf(other)) {
				t.Fatalf("%q, %q: %v", one, other, x.facts)
			}
			if scores := differences[key(one, other)]; len(scores) >= worddiff.Recurs && key(one, other) != "[][]" {
				slices.Sort(scores)
				if least := scores[len(scores)-worddiff.Recurs]; x.recurs < least-1e-6 {
					t.Fatalf("%q, %q recur up to %v, want %v", one, other, x.recurs, least)
				}
			}
		}
	}
}

// TestRecurring counts the same difference in pairs, and the same words in several differences.
func TestRecurring(t *testing.T) {
	var r recurring
	a, b, c := []uint64{1}, []uint64{2}, []uint64{3}
	r.add(a, b, 0.9)
	r.add(b, a, 0.7)
	if got := r.upTo(a, b); got != 0 {
		t.Errorf("two pairs recur up to %v", got)
	}
	r.add(a, b, 0.8)
	if got := r.upTo(b, a); math.Abs(got-0.7) > 1e-6 {
		t.Errorf("three pairs recur up to %v, want 0.7", got)
	}
	for i := range uint64(worddiff.WordRecurs) {
		r.add(c, []uint64{10 + i}, 0.6)
	}
	if got := r.upTo(c, nil); math.Abs(got-0.6) > 1e-6 {
		t.Errorf("a word of five differences recurs up to %v, want 0.6", got)
	}
	if got := r.upTo(c, []uint64{10}); got != 0 {
		t.Errorf("a difference with a rare word recurs up to %v", got)
	}
	long := worddiff.Bag{21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33} // more words than a difference that recurs
	for range worddiff.WordRecurs {
		r.add(long, nil, 0.9)
	}
	if got := max(r.upTo(long, nil), r.upTo(long[:1], nil)); got != 0 {
		t.Errorf("a long difference, or its words, recurs up to %v", got)
	}
	for i := range uint64(worddiff.WordRecurs - 1) {
		r.add(worddiff.Bag{40, 40}, worddiff.Bag{50 + i}, 0.9)
	}
	if got := r.upTo(worddiff.Bag{40}, nil); got != 0 {
		t.Errorf("a word that some differences have twice recurs up to %v", got)
	}
	if got := r.upTo(nil, nil); got != 0 {
		t.Errorf("no difference recurs up to %v", got)
	}
}

// TestBelieve compares the errors of all thresholds of all shapes with a count, and the votes with
// the decisions of the fitted rule.
func TestBelieve(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		var all []example
		for range 1 + r.IntN(20) {
			x := &traits{scores: []float64{float64(r.IntN(101)) / 100, r.Float64(), r.Float64()}, recurs: float64(r.IntN(3)) / 3}
			for i := range x.facts {
				x.facts[i] = i == int(always) || r.IntN(2) == 0
			}
			x.facts[unique] = x.recurs == 0
			all = append(all, example{x, r.IntN(2) == 0})
		}
		for _, s := range shapesOf(3) {
			b := believe(s, all)
			sum, weights := 0.0, make([]float64, thresholds)
			for i := range thresholds {
				errors := 0
				for _, x := range all {
					holds := threshold(i) <= x.scores[s.measure]+1e-9 && (x.facts[s.also] || s == shape{0, unique} && threshold(i) > x.recurs)
					if got := (fitted{s, threshold(i)}).holds(x.traits); got != holds {
						t.Fatalf("%v at %v: %v holds: %v", s, threshold(i), x.traits, got)
					}
					if holds != x.same {
						errors++
					}
				}
				weights[i] = math.Pow(mistaken, float64(errors)) * math.Pow(1-mistaken, float64(len(all)-errors))
				sum += weights[i]
			}
			for i := range weights {
				if math.Abs(b.at[i]-weights[i]/sum) > 1e-9 {
					t.Fatalf("%v: threshold %v has probability %v, want %v", s, threshold(i), b.at[i], weights[i]/sum)
				}
			}
		}
	}
}

// TestSimpleFirst learns a threshold where nothing else is needed, and conditions where they are.
func TestSimpleFirst(t *testing.T) {
	x := func(score float64, same bool, facts ...condition) example {
		e := example{&traits{scores: []float64{score, score, score}}, same}
		for _, f := range append(facts, always) {
			e.facts[f] = true
		}
		return e
	}
	every := []condition{numbers, dates, unique, oneSided}
	var plain, numbered []example
	for i := range 10 {
		s := 0.7 + float64(i)*0.03
		plain = append(plain, x(s, s > 0.84, every...))
		numbered = append(numbered, x(s, i%2 == 0, every[i%2:]...))
	}
	if f := choose(shapesOf(3), plain); f.shape != (shape{}) || f.t < 0.82 || f.t > 0.85 {
		t.Errorf("%+v, want a threshold between 0.82 and 0.85", f)
	}
	if f := choose(shapesOf(3), numbered); f.shape != (shape{0, numbers}) {
		t.Errorf("%+v, want the condition that numbers are equal", f)
	}
	var different []example // none with equal numbers, so these say nothing about the threshold beside that condition
	for i := range 10 {
		different = append(different, x(0.5+float64(i)*0.04, false, every[1:]...))
	}
	if f := choose(shapesOf(3), different); f.shape != (shape{0, numbers}) || f.t < 0.87 {
		t.Errorf("%+v, want the condition that numbers are equal, and a threshold above all labels", f)
	}
}

// TestAsk answers by a hidden rule, which must be learned, and checks that no document is asked about
// twice and that the same seed asks the same.
func TestAsk(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	var docs []engine.Doc
	var number []int
	for i := range 300 {
		words := make([]string, 12)
		for j := range words {
			words[j] = fmt.Sprintf("w%c%c", 'a'+rune(i/4%26), 'a'+rune(r.IntN(26)))
		}
		for copies := range 4 {
			if copies > 0 && r.IntN(2) == 0 {
				words[r.IntN(12)] = "changed"
			}
			number = append(number, r.IntN(2))
			docs = append(docs, engine.Doc{ID: fmt.Sprint(len(docs)), Text: fmt.Sprintf("%s %d", strings.Join(words, " "), number[len(docs)])})
		}
	}
	var asked [2][]Label
	for run := range asked {
		c, err := New(t.Context(), docs, Options{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		used := map[string]bool{}
		for range 25 {
			p, ok, err := c.Ask(asked[run], nil)
			if err != nil || !ok || used[p.A] || used[p.B] {
				t.Fatal(p, ok, err)
			}
			used[p.A], used[p.B] = true, true
			a, b := c.at[p.A], c.at[p.B]
			asked[run] = append(asked[run], Label{A: p.A, B: p.B, Same: number[a] == number[b]})
		}
		lesson, err := c.Learn(asked[run])
		if err != nil || !strings.HasSuffix(lesson.Rule, "AND NUMBERS(a) = NUMBERS(b)") || lesson.Labels != 25 {
			t.Errorf("%+v, %v", lesson, err)
		}
		if _, err := dedup.ParsePairRule(lesson.Rule); err != nil {
			t.Error(err)
		}
		if len(lesson.Drops) == 0 || len(lesson.Spares) == 0 || lesson.Low > float64(lesson.Right)/25 || lesson.High < float64(lesson.Right)/25 {
			t.Errorf("%+v", lesson)
		}
		if _, err := c.Learn([]Label{{A: "1", B: "none", Line: 7}}); err == nil || !strings.Contains(err.Error(), `"none"`) {
			t.Error(err)
		}
		if _, err := c.Learn(nil); !errors.Is(err, engine.ErrInvalid) {
			t.Error(err)
		}
	}
	if !slices.Equal(asked[0], asked[1]) {
		t.Error("the same seed asks about other pairs")
	}
}

// TestLabels reads labels and decisions, and names the lines that are wrong.
func TestLabels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.jsonl")
	read := func(text string) ([]Label, error) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return ReadLabels(t.Context(), path, nil)
	}
	got, err := read(`{"a":"1","b":"2","same":true,"jaccard":0.9}

{"a":"2","b":"1","same":true}
{"a":"3","b":"4","decision":"allow"}
{"a":"5","b":"6","decision":"drop"}
{"a":"7","b":"6","decision":"keep"}
`)
	if want := []Label{{"1", "2", true, 1}, {"3", "4", false, 4}, {"5", "6", true, 5}, {"7", "6", true, 6}}; err != nil || !slices.Equal(got, want) {
		t.Error(got, err)
	}
	for text, want := range map[string]string{
		`{"a":"1","b":"2"}`:             `:1: a label needs "same"`,
		`{"a":"1","b":"1","same":true}`: `is paired with itself`,
		`{"a":"1","same":true}`:         `needs the ids of two documents`,
		"\n{\n":                         `:2: not JSON`,
		`{"a":1,"b":"2","same":true}`:   `number in place of string`,
		"{\"a\":\"1\",\"b\":\"2\",\"same\":true}\n{\"a\":\"2\",\"b\":\"1\",\"same\":false}": `:2: the label contradicts that of line 1`,
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestWilson compares the interval with published values.
func TestWilson(t *testing.T) {
	for _, tc := range []struct {
		right, n  int
		low, high float64
	}{{0, 10, 0, 0.2775}, {10, 10, 0.7225, 1}, {18, 20, 0.6990, 0.9721}, {81, 263, 0.2553, 0.3662}} {
		if low, high := wilson(tc.right, tc.n); math.Abs(low-tc.low) > 5e-4 || math.Abs(high-tc.high) > 5e-4 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", tc.right, tc.n, low, high, tc.low, tc.high)
		}
	}
}

// TestCrowd learns from pages of one template, of which all pairs match, and which are compared in
// fewer texts: the pairs stand for all pairs.
func TestCrowd(t *testing.T) {
	page, docs := strings.Repeat("all pages have these words in common ", 6), []engine.Doc(nil)
	for i := range 3000 {
		docs = append(docs, engine.Doc{ID: fmt.Sprint(i), Text: fmt.Sprintf("%sn%d", page, i)})
	}
	c, err := New(t.Context(), docs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := 0.0
	for _, x := range c.pairs {
		all += x.weight
	}
	if want := 3000 * 2999 / 2.; math.Abs(all/want-1) > 0.01 {
		t.Errorf("the pairs stand for %v, want %v", all, want)
	}
}
