// Package ruletest has random rules of pairs, and a model of their meaning, for tests.
package ruletest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/features"
)

// A Doc is a document of the model.
type Doc struct {
	File, Text, Name, Year string // Name and Year may be missing: ""
}

// Stored returns the document as the engine stores it.
func (d *Doc) Stored(id string) engine.Doc {
	var fields []string
	if d.Name != "" {
		fields = append(fields, fmt.Sprintf(`"name":%q`, d.Name))
	}
	if d.Year != "" {
		fields = append(fields, `"year":`+d.Year)
	}
	of := engine.Doc{ID: id, Text: d.Text}
	if fields != nil {
		of.Fields = []byte("{" + strings.Join(fields, ",") + "}")
	}
	return of
}

// Write writes documents into files of a folder, and returns the names of the files. The ids are
// numbers of three digits.
func Write(t testing.TB, dir string, docs []Doc) (names []string) {
	t.Helper()
	lines := map[string]*bytes.Buffer{}
	for i := range docs {
		d := docs[i].Stored(fmt.Sprintf("%03d", i))
		path := filepath.Join(dir, filepath.FromSlash(docs[i].File)+".jsonl")
		if lines[path] == nil {
			lines[path] = &bytes.Buffer{}
		}
		fields := strings.TrimPrefix(strings.TrimSuffix(string(d.Fields), "}"), "{")
		if fields != "" {
			fields = "," + fields
		}
		fmt.Fprintf(lines[path], "{\"id\":%q,\"text\":%q%s}\n", d.ID, d.Text, fields)
	}
	for path, b := range lines {
		names = append(names, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	return names
}

func (d *Doc) field(name string) string {
	return map[string]string{"": d.Text, "text": d.Text, "name": d.Name}[name]
}

// Docs returns documents among which are many variants of each other, and copies.
func Docs(rng *rand.Rand, n int) (docs []Doc) {
	words := strings.Fields("alpha beta gamma delta 12 2026-01-02 3.5 draft final eps")
	text := func() string {
		var t []string
		for range rng.IntN(12) {
			t = append(t, words[rng.IntN(len(words))])
		}
		return strings.Join(t, " ")
	}
	for len(docs) < n {
		d := Doc{File: []string{"x/a", "x/b", "y/a"}[rng.IntN(3)], Text: text(), Name: text(), Year: []string{"", "1", "2", "2.0"}[rng.IntN(4)]}
		if len(docs) > 0 && rng.IntN(3) > 0 {
			d = docs[rng.IntN(len(docs))]
			for range rng.IntN(3) {
				of := []*string{&d.Text, &d.Name}[rng.IntN(2)]
				if len(*of) > 0 {
					at := rng.IntN(len(*of))
					*of = (*of)[:at] + string("abx 1"[rng.IntN(5)]) + (*of)[at+rng.IntN(2):]
				}
			}
			if rng.IntN(4) == 0 {
				d.Year = []string{"", "1", "2"}[rng.IntN(3)]
			}
		}
		docs = append(docs, d)
	}
	return docs
}

// A Model is an expression: it returns the score of two documents, and that of its negation; -1 for
// what does not hold.
type Model func(a, b *Doc) (score, not float64)

// Params are the parameters of the model.
var Params = features.Params{Shingle: 2}

// randomAtom returns a random comparison with its model. Only with files, it may compare them.
func randomAtom(rng *rand.Rand, files bool) (string, Model) {
	field := []string{"", "text", "name"}[rng.IntN(3)]
	of := func(side string) string {
		if field != "" {
			return side + "." + field
		}
		return side
	}
	t := []float64{0.3, 0.5, 0.7, 0.9, 1}[rng.IntN(5)]
	kind := rng.IntN(11)
	if kind == 7 && !files {
		kind = 4
	}
	switch kind {
	case 0:
		return ofSets(rng, field, t)
	case 1:
		return fmt.Sprintf("LEVENSHTEIN%s >= %v", in(field), t), similar(field, t, func(x, y string) (float64, bool) {
			d := edits([]rune(x), []rune(y))
			return 1 - float64(d)/float64(max(len([]rune(x)), len([]rune(y)), 1)), strings.TrimSpace(x) != "" && strings.TrimSpace(y) != ""
		})
	case 2:
		return fmt.Sprintf("COSINE%s >= %v", in(field), t), similar(field, t, cosine)
	case 3:
		k, prints := rng.IntN(20), features.NewFingerprinter(Params)
		return fmt.Sprintf("NEAR%s <= %d", in(field), k), func(a, b *Doc) (float64, float64) {
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
		return "a.year = b.year", func(a, b *Doc) (float64, float64) {
			if a.Year == "" || b.Year == "" {
				return -1, -1
			}
			return equal(a.Year[:1] == b.Year[:1])
		}
	case 5:
		return "a.year IS NOT DISTINCT FROM b.year", func(a, b *Doc) (float64, float64) {
			return equal(strings.TrimSuffix(a.Year, ".0") == strings.TrimSuffix(b.Year, ".0"))
		}
	case 6:
		call, re := "NUMBERS(%s)", regexp.MustCompile(`0x[0-9a-f]+|[0-9]+([.,:][0-9]+)*`)
		if rng.IntN(2) == 0 {
			call, re = "MATCHES(%s, '[dg][a-z]+')", regexp.MustCompile(`[dg][a-z]+`)
		}
		return fmt.Sprintf(call, of("a")) + " = " + fmt.Sprintf(call, of("b")), func(a, b *Doc) (float64, float64) {
			return equal(reflect.DeepEqual(set(re, a.field(field)), set(re, b.field(field))))
		}
	case 7:
		return "FOLDER(a) = FOLDER(b)", func(a, b *Doc) (float64, float64) { return equal(a.File[0] == b.File[0]) }
	}
	return randomDiffer(rng, field, files)
}

// randomDiffer returns a random DIFFERS with its model. Only with files, it may ask what recurs.
func randomDiffer(rng *rand.Rand, field string, files bool) (string, Model) {
	switch kind := rng.IntN(3); {
	case kind == 1:
		return strings.Replace("NOT DIFFERS(, 'draft/final', 'beta/a')", "(, ", "("+strings.TrimPrefix(field+", ", ", "), 1), func(a, b *Doc) (float64, float64) {
			lacks, adds := differ(a.field(field), b.field(field))
			against := func(x, y string) bool { return lacks[x] > 0 && adds[y] > 0 || lacks[y] > 0 && adds[x] > 0 }
			return equal(!against("draft", "final") && !against("beta", "a"))
		}
	case kind == 2 && files:
		return "NOT DIFFERS(" + strings.TrimPrefix(field+", RECURRING)", ", "), func(a, b *Doc) (float64, float64) {
			return equal(!recursIn(field, a, b))
		}
	}
	re := regexp.MustCompile(`\b(draft|final)\b`)
	return strings.Replace("NOT DIFFERS(, 'draft', 'FINAL')", "(, ", "("+strings.TrimPrefix(field+", ", ", "), 1), func(a, b *Doc) (float64, float64) {
		return equal(reflect.DeepEqual(set(re, a.field(field)), set(re, b.field(field))))
	}
}

// in returns the arguments of a similarity in parentheses, if there are any.
func in(args string) string {
	if args == "" {
		return ""
	}
	return "(" + args + ")"
}

// ofSets returns a comparison of sets of shingles.
func ofSets(rng *rand.Rand, field string, t float64) (string, Model) {
	p, args := Params, field
	if rng.IntN(2) == 0 {
		p.Features.Unit, p.Shingle, args = features.Chars, 3, strings.TrimSuffix("chars:3, "+field, ", ")
	}
	hashed, word := corpus.Hashed(p), []string{"JACCARD", "CONTAINS"}[rng.IntN(2)]
	return fmt.Sprintf("%s%s >= %v", word, in(args), t), similar(field, t, func(x, y string) (float64, bool) {
		one, other := hashed(x), hashed(y)
		common := 0
		for _, e := range one {
			if slices.Contains(other, e) {
				common++
			}
		}
		of := len(one) + len(other) - common
		if word == "CONTAINS" {
			of = min(len(one), len(other))
		}
		return float64(common) / float64(max(of, 1)), len(one) > 0 && len(other) > 0
	})
}

func equal(ok bool) (score, not float64) {
	if ok {
		return 1, -1
	}
	return -1, 1
}

func similar(field string, t float64, of func(x, y string) (float64, bool)) Model {
	return func(a, b *Doc) (float64, float64) {
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

// Rule returns an expression and its model.
func Rule(rng *rand.Rand, depth int, files bool) (string, Model) {
	if depth == 0 || rng.IntN(4) == 0 {
		return randomAtom(rng, files)
	}
	x, f := Rule(rng, depth-1, files)
	y, g := Rule(rng, depth-1, files)
	switch rng.IntN(4) {
	case 0:
		return "NOT (" + x + ")", func(a, b *Doc) (float64, float64) {
			score, not := f(a, b)
			return not, score
		}
	case 1:
		return "(" + x + " OR " + y + ")", func(a, b *Doc) (float64, float64) {
			s, notS := f(a, b)
			t, notT := g(a, b)
			return max(s, t), min(notS, notT)
		}
	}
	return "(" + x + ") AND (" + y + ")", func(a, b *Doc) (float64, float64) {
		s, notS := f(a, b)
		t, notT := g(a, b)
		return min(s, t), max(notS, notT)
	}
}

// Limited returns a random rule of a similarity of the texts, an equality and the negation of another.
// Only with files, it may compare them.
func Limited(rng *rand.Rand, files bool) (string, Model) {
	t := []float64{0.2, 0.4, 0.6}[rng.IntN(3)]
	text, model := ofSets(rng, "", t)
	for strings.Contains(text, "(") || strings.Contains(text, "CONTAINS") {
		text, model = ofSets(rng, "", t)
	}
	for n := range 2 {
		other, f := randomAtom(rng, files)
		for !strings.Contains(other, " = ") && !strings.Contains(other, "DISTINCT") {
			other, f = randomAtom(rng, files)
		}
		with := model
		if n == rng.IntN(2) {
			text += " AND NOT " + other
			model = func(a, b *Doc) (float64, float64) {
				s, _ := with(a, b)
				_, u := f(a, b)
				return min(s, u), -1
			}
			continue
		}
		text += " AND " + other
		model = func(a, b *Doc) (float64, float64) {
			s, _ := with(a, b)
			u, _ := f(a, b)
			return min(s, u), -1
		}
	}
	return text, model
}
