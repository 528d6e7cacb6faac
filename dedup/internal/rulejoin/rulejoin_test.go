package rulejoin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/dedup/internal/corpus"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/records"
)

// A doc is a document of the model.
type doc struct {
	file, text, name, year string // name and year may be missing: ""
}

func (d *doc) record(id int) *records.Record {
	var fields []string
	if d.name != "" {
		fields = append(fields, fmt.Sprintf(`"name":%q`, d.name))
	}
	if d.year != "" {
		fields = append(fields, `"year":`+d.year)
	}
	rec := &records.Record{File: d.file, Doc: engine.Doc{ID: fmt.Sprint(id), Text: d.text}}
	if fields != nil {
		rec.Doc.Fields = []byte("{" + strings.Join(fields, ",") + "}")
	}
	return rec
}

func (d *doc) field(name string) string {
	return map[string]string{"": d.text, "text": d.text, "name": d.name}[name]
}

// randomDocs returns documents among which are many variants of each other, and copies.
func randomDocs(rng *rand.Rand, n int) (docs []doc) {
	words := strings.Fields("alpha beta gamma delta 12 2026-01-02 3.5 draft final eps")
	text := func() string {
		var t []string
		for range rng.IntN(12) {
			t = append(t, words[rng.IntN(len(words))])
		}
		return strings.Join(t, " ")
	}
	for len(docs) < n {
		d := doc{file: []string{"x/a", "x/b", "y/a"}[rng.IntN(3)], text: text(), name: text(), year: []string{"", "1", "2", "2.0"}[rng.IntN(4)]}
		if len(docs) > 0 && rng.IntN(3) > 0 {
			d = docs[rng.IntN(len(docs))]
			for range rng.IntN(3) {
				of := []*string{&d.text, &d.name}[rng.IntN(2)]
				if len(*of) > 0 {
					at := rng.IntN(len(*of))
					*of = (*of)[:at] + string("abx 1"[rng.IntN(5)]) + (*of)[at+rng.IntN(2):]
				}
			}
			if rng.IntN(4) == 0 {
				d.year = []string{"", "1", "2"}[rng.IntN(3)]
			}
		}
		docs = append(docs, d)
	}
	return docs
}

// A model is an expression: it returns the score of two documents, and that of its negation; -1 for
// what does not hold.
type model func(a, b *doc) (score, not float64)

var params = features.Params{Shingle: 2}

// atoms returns random atoms with their models.
func randomAtom(rng *rand.Rand) (string, model) {
	field := []string{"", "text", "name"}[rng.IntN(3)]
	in := func(args string) string {
		if args == "" {
			return ""
		}
		return "(" + args + ")"
	}
	of := func(side string) string {
		if field != "" {
			return side + "." + field
		}
		return side
	}
	t := []float64{0.3, 0.5, 0.7, 0.9, 1}[rng.IntN(5)]
	switch rng.IntN(11) {
	case 0:
		p, args := params, field
		if rng.IntN(2) == 0 {
			p.Features.Unit, p.Shingle, args = features.Chars, 3, strings.TrimSuffix("chars:3, "+field, ", ")
		}
		hashed, name := corpus.Hashed(p), []string{"JACCARD", "CONTAINS"}[rng.IntN(2)]
		return fmt.Sprintf("%s%s >= %v", name, in(args), t), similar(field, t, func(x, y string) (float64, bool) {
			one, other := hashed(x), hashed(y)
			common := 0
			for _, e := range one {
				if slices.Contains(other, e) {
					common++
				}
			}
			if name == "CONTAINS" {
				return float64(common) / float64(max(min(len(one), len(other)), 1)), len(one) > 0 && len(other) > 0
			}
			return float64(common) / float64(max(len(one)+len(other)-common, 1)), len(one) > 0 && len(other) > 0
		})
	case 1:
		return fmt.Sprintf("LEVENSHTEIN%s >= %v", in(field), t), similar(field, t, func(x, y string) (float64, bool) {
			d := edits([]rune(x), []rune(y))
			return 1 - float64(d)/float64(max(len([]rune(x)), len([]rune(y)), 1)), strings.TrimSpace(x) != "" && strings.TrimSpace(y) != ""
		})
	case 2:
		return fmt.Sprintf("COSINE%s >= %v", in(field), t), similar(field, t, cosine)
	case 3:
		k, prints := rng.IntN(20), features.NewFingerprinter(params)
		return fmt.Sprintf("NEAR%s <= %d", in(field), k), func(a, b *doc) (float64, float64) {
			x, y := prints.Text(a.field(field)), prints.Text(b.field(field))
			if x.Empty || y.Empty {
				return -1, -1
			}
			d := bits.OnesCount64(x.Fingerprint ^ y.Fingerprint)
			if d > k {
				return -1, 1
			}
			return 1 - float64(d)/64, -1
		}
	case 4:
		return "a.year = b.year", func(a, b *doc) (float64, float64) {
			if a.year == "" || b.year == "" {
				return -1, -1
			}
			return equal(a.year[:1] == b.year[:1])
		}
	case 5:
		return "a.year IS NOT DISTINCT FROM b.year", func(a, b *doc) (float64, float64) {
			return equal(strings.TrimSuffix(a.year, ".0") == strings.TrimSuffix(b.year, ".0"))
		}
	case 6:
		call, re := "NUMBERS(%s)", regexp.MustCompile(`0x[0-9a-f]+|[0-9]+([.,:][0-9]+)*`)
		if rng.IntN(2) == 0 {
			call, re = "MATCHES(%s, '[dg][a-z]+')", regexp.MustCompile(`[dg][a-z]+`)
		}
		return fmt.Sprintf(call, of("a")) + " = " + fmt.Sprintf(call, of("b")), func(a, b *doc) (float64, float64) {
			return equal(reflect.DeepEqual(set(re, a.field(field)), set(re, b.field(field))))
		}
	case 7:
		return "FOLDER(a) = FOLDER(b)", func(a, b *doc) (float64, float64) { return equal(a.file[0] == b.file[0]) }
	case 8:
		return strings.Replace("NOT DIFFERS(, 'draft/final', 'beta/a')", "(, ", "("+strings.TrimPrefix(field+", ", ", "), 1), func(a, b *doc) (float64, float64) {
			lacks, adds := differ(a.field(field), b.field(field))
			against := func(x, y string) bool { return lacks[x] > 0 && adds[y] > 0 || lacks[y] > 0 && adds[x] > 0 }
			return equal(!against("draft", "final") && !against("beta", "a"))
		}
	case 9:
		return "NOT DIFFERS(" + strings.TrimPrefix(field+", RECURRING)", ", "), func(a, b *doc) (float64, float64) {
			return equal(!recursIn(field, a, b))
		}
	}
	re := regexp.MustCompile(`\b(draft|final)\b`)
	return strings.Replace("NOT DIFFERS(, 'draft', 'FINAL')", "(, ", "("+strings.TrimPrefix(field+", ", ", "), 1), func(a, b *doc) (float64, float64) {
		return equal(reflect.DeepEqual(set(re, a.field(field)), set(re, b.field(field))))
	}
}

func equal(ok bool) (score, not float64) {
	if ok {
		return 1, -1
	}
	return -1, 1
}

func similar(field string, t float64, of func(x, y string) (float64, bool)) model {
	return func(a, b *doc) (float64, float64) {
		s, ok := of(a.field(field), b.field(field))
		switch {
		case !ok:
			return -1, -1
		case s < t-1e-12:
			return -1, 1
		}
		return s, -1
	}
}

func set(re *regexp.Regexp, text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range re.FindAllString(text, -1) {
		found[m] = true
	}
	return found
}

func cosine(x, y string) (float64, bool) {
	count := func(s string) map[string]float64 {
		n := map[string]float64{}
		for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r) }) {
			n[w]++
		}
		return n
	}
	one, other := count(x), count(y)
	dot := func(m, n map[string]float64) (sum float64) {
		for w := range maps.Keys(m) {
			sum += m[w] * n[w]
		}
		return sum
	}
	return dot(one, other) / math.Sqrt(dot(one, one)*dot(other, other)), len(one) > 0 && len(other) > 0
}

func edits(x, y []rune) int {
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		last := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			last, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, last+cost)
		}
	}
	return row[len(y)]
}

// randomRule returns an expression and its model.
func randomRule(rng *rand.Rand, depth int) (string, model) {
	if depth == 0 || rng.IntN(4) == 0 {
		return randomAtom(rng)
	}
	x, f := randomRule(rng, depth-1)
	y, g := randomRule(rng, depth-1)
	switch rng.IntN(4) {
	case 0:
		return "NOT (" + x + ")", func(a, b *doc) (float64, float64) {
			score, not := f(a, b)
			return not, score
		}
	case 1:
		return "(" + x + " OR " + y + ")", func(a, b *doc) (float64, float64) {
			s, notS := f(a, b)
			t, notT := g(a, b)
			return max(s, t), min(notS, notT)
		}
	}
	return "(" + x + ") AND (" + y + ")", func(a, b *doc) (float64, float64) {
		s, notS := f(a, b)
		t, notT := g(a, b)
		return min(s, t), max(notS, notT)
	}
}

type pair struct{ a, b uint32 }

// TestRandomRules compares pairs, stars and components by random rules with brute force.
func TestRandomRules(t *testing.T) {
	ctx := context.Background()
	ran, matched := 0, 0
	for i := range exhaustive.Some(t, 50, 20000) {
		rng := rand.New(rand.NewPCG(exhaustive.Seed(t), uint64(i)))
		text, rule := randomRule(rng, 1+rng.IntN(3))
		parsed, err := pairrule.Parse(text)
		if err != nil {
			if !strings.Contains(err.Error(), "only different") && !strings.Contains(err.Error(), "contradicts") {
				t.Fatal(text, err)
			}
			continue
		}
		docs := randomDocs(rng, 2+rng.IntN(40))
		apart := rng.IntN(4) == 0
		c := build(t, parsed, docs, apart)
		if c == nil {
			continue
		}
		o := JoinOptions{JoinOptions: corpus.JoinOptions{Memory: 64 << 20, Progress: func(engine.Progress) {}}}
		countRecurring(docs, rule)
		want := map[pair]float64{}
		for a := range docs {
			for b := a + 1; b < len(docs); b++ {
				if s, _ := rule(&docs[a], &docs[b]); s >= 0 {
					want[pair{uint32(a), uint32(b)}] = s
				}
			}
		}
		got := map[pair]float64{}
		if err := c.Pairs(ctx, o, func(a, b uint32, score float64) bool {
			if _, twice := got[pair{a, b}]; twice {
				t.Errorf("%s: %d and %d twice", text, a, b)
			}
			got[pair{a, b}] = score
			return true
		}); err != nil {
			t.Fatal(err)
		}
		near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }
		if !maps.EqualFunc(got, want, near) {
			t.Fatalf("%s\n%v\ngot  %v\nwant %v", text, docs, got, want)
		}
		if n, err := c.Count(ctx, o); err != nil || n != int64(len(want)) {
			t.Fatalf("%s: %d pairs, %v, want %d", text, n, err, len(want))
		}
		ran, matched = ran+1, matched+len(want)
		clusters(t, rng, text, c, got, o, apart)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rules were valid, and matched %d pairs", ran, matched)
	if ran < 20 || matched < 200 {
		t.Errorf("only %d rules were valid, and matched %d pairs", ran, matched)
	}
}

// clusters compares stars and components with those of the pairs.
func clusters(t *testing.T, rng *rand.Rand, text string, c *Corpus, pairs map[pair]float64, o JoinOptions, apart bool) {
	n := uint32(c.N)
	s := StarOptions{Known: rng.IntN(int(n) + 1), OnlyKnown: rng.IntN(2) == 0}
	for _, i := range rng.Perm(int(n)) {
		s.Order = append(s.Order, uint32(i))
	}
	if apart {
		s.Accept = func(a, b uint32) bool { return (a+b)%3 > 0 }
	}
	keeper, scores, err := c.Stars(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	var keepers []uint32
	for at, doc := range s.Order {
		best, score := doc, 1.0
		for _, k := range keepers {
			match, ok := pairs[pair{min(doc, k), max(doc, k)}]
			if at >= s.Known && ok && (best == doc || match > score) && (s.Accept == nil || s.Accept(doc, k)) {
				best, score = k, match
			}
		}
		if best == doc && (at < s.Known || !s.OnlyKnown) {
			keepers = append(keepers, doc)
		}
		if keeper[doc] != best || math.Abs(scores[doc]-score) > 1e-9 {
			t.Fatalf("%s: stars: %d joins %d with %v, want %d with %v", text, doc, keeper[doc], scores[doc], best, score)
		}
	}
	component, scores, err := c.Components(context.Background(), s.Order, o)
	if err != nil {
		t.Fatal(err)
	}
	place := make([]int, n)
	for at, doc := range s.Order {
		place[doc] = at
	}
	want := make([]uint32, n)
	for i := range want {
		want[i] = uint32(i)
	}
	for changed := true; changed; {
		changed = false
		for p := range pairs {
			best := slices.MinFunc([]uint32{want[p.a], want[p.b]}, func(x, y uint32) int { return cmp.Compare(place[x], place[y]) })
			changed = changed || want[p.a] != best || want[p.b] != best
			want[p.a], want[p.b] = best, best
		}
	}
	for doc, k := range component {
		score := pairs[pair{min(uint32(doc), k), max(uint32(doc), k)}]
		if k == uint32(doc) {
			score = 1
		}
		if k != want[doc] || math.Abs(score-scores[doc]) > 1e-9 {
			t.Fatalf("%s: components: %d is in that of %d with %v, want %d with %v", text, doc, k, scores[doc], want[doc], score)
		}
	}
}

// build returns the corpus of documents, nil if none has a field that the rule names.
func build(t *testing.T, rule *pairrule.Rule, docs []doc, apart bool) *Corpus {
	c, err := New(context.Background(), rule, Options{Params: params, TextFields: []string{"text"}, Memory: []int64{1, 64 << 20}[len(docs)%2], InputBytes: 1 << 20, Dir: t.TempDir(), Apart: apart})
	if err != nil {
		t.Fatal(err)
	}
	for i := range docs {
		if err := c.Add(docs[i].record(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Finish(); err != nil {
		if !strings.Contains(err.Error(), "no document has") {
			t.Fatal(err)
		}
		c.Close()
		return nil
	}
	return c
}
