package pairrule

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// written writes the normal form of a rule.
func written(r *Rule) string {
	var any []string
	for _, b := range r.Branches {
		var all []string
		for _, l := range b {
			text := r.Atoms[l.Atom].String()
			if l.Not {
				text = "NOT " + text
			}
			all = append(all, text)
		}
		any = append(any, strings.Join(all, " AND "))
	}
	return strings.Join(any, " OR ")
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"jaccard >= 80%": "JACCARD >= 0.8",
		"JACCARD >= 0.8 AND NUMBERS(a) = NUMBERS(b)":      "JACCARD >= 0.8 AND NUMBERS(a) = NUMBERS(b)",
		"JACCARD(chars:5, text) >= .4 OR a.y=b.y -- x":    "JACCARD(chars:5, text) >= 0.4 OR a.y = b.y",
		"JACCARD(tokens) >= 0.4":                          "JACCARD(words:1) >= 0.4",
		"JACCARD 0.8 AND NEAR 3 /* c */":                  "JACCARD >= 0.8 AND NEAR <= 3",
		"within(chars:4, t) 80% OR CONTAINS >= 0.5":       "CONTAINS(chars:4, t) >= 0.8 OR CONTAINS >= 0.5",
		"NEAR <= 3 AND a.m.'x y' != b.m.'x y'":            "NEAR <= 3 AND NOT a.m.'x y' = b.m.'x y'",
		"COSINE(t, u) >= 0.5 AND NOT DIFFERS('B', 'a')":   "COSINE(t, u) >= 0.5 AND NOT DIFFERS('a', 'b')",
		"COSINE >= 1 AND DIFFERS(title, 'x')":             "COSINE >= 1 AND NOT NOT DIFFERS(title, 'x')",
		"COSINE >= 1 AND NOT DIFFERS(x.y, 'B/a', 'c')":    "COSINE >= 1 AND NOT DIFFERS(x.y, 'c') AND NOT DIFFERS(x.y, 'a/b')",
		"NEAR <= 1 AND DIFFERS('c', recurring)":           "NEAR <= 1 AND NOT NOT DIFFERS('c') OR NEAR <= 1 AND NOT NOT DIFFERS(RECURRING)",
		"NEAR <= 1 AND DIFFERS(recurring, 'c')":           "NEAR <= 1 AND NOT NOT DIFFERS(recurring, 'c')",
		"NEAR <= 1 AND NOT DIFFERS(t, RECURRING)":         "NEAR <= 1 AND NOT DIFFERS(t, RECURRING)",
		"a.x = b.x AND NOT (a.y = b.y OR JACCARD >= 0.5)": "a.x = b.x AND NOT a.y = b.y AND NOT JACCARD >= 0.5",
		"a.x = b.x AND JACCARD < 0.5":                     "a.x = b.x AND NOT JACCARD >= 0.5",
		"a.x = b.x AND (a.y = b.y OR a.z = b.z)":          "a.x = b.x AND a.y = b.y OR a.x = b.x AND a.z = b.z",
		"a.x = b.x OR a.x = b.x AND a.y = b.y":            "a.x = b.x",
		"NOT NOT a.x = b.x AND NOT NOT NOT a.y = b.y":     "a.x = b.x AND NOT a.y = b.y",
		"a.x IS NOT DISTINCT FROM b.x":                    "a.x IS NOT DISTINCT FROM b.x",
		"NEAR <= 1 AND a.x IS DISTINCT FROM b.x":          "NEAR <= 1 AND NOT a.x IS NOT DISTINCT FROM b.x",
		"MATCHES(a, '[A-Z]''+') = MATCHES(b, '[A-Z]''+')": "MATCHES(a, '[A-Z]''+') = MATCHES(b, '[A-Z]''+')",
		"FILE(a) = FILE(b) AND DATES(a.t) = DATES(b.t)":   "FILE(a) = FILE(b) AND DATES(a.t) = DATES(b.t)",
		"LEVENSHTEIN(name) >= 0.9 AND (a.doi = b.doi OR LEVENSHTEIN(street) >= 0.7)\nAND NOT a.source = b.source": "LEVENSHTEIN(name) >= 0.9 AND a.doi = b.doi AND NOT a.source = b.source OR LEVENSHTEIN(name) >= 0.9 AND LEVENSHTEIN(street) >= 0.7 AND NOT a.source = b.source",
	} {
		r, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := written(r); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
		if again, err := Parse(written(r)); err != nil || written(again) != want {
			t.Errorf("%s does not read as itself: %v", want, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "1:1 the rule is empty: such as JACCARD >= 0.8",
		"JACARD >= 0.8":                     `1:1 expected a comparison, not "JACARD": did you mean JACCARD?`,
		"JACCARD > 0.8":                     `1:9 expected >=, as in JACCARD >= 0.8, not ">"`,
		"JACCARD >= 0":                      `1:12 a similarity is a share above 0 and up to 1, such as 0.8 or 80%, not "0"`,
		"NEAR >= 3":                         `1:6 expected <=, as in NEAR <= 3, not ">="`,
		"JACCARD >= 0.8 AND\n NUMBERS(a)":   `2:12 expected =, != or IS DISTINCT FROM, not the end of the rule`,
		"JACCARD >= 0.8 AND a.x = b.y":      "1:26 the two sides compare different things: as in a.year = b.year",
		"a.x = 3":                           `1:7 expected the other document's side, which begins with b, not "3": as in a.year = b.year`,
		"LEVENSHTEIN(chars:5) >= 0.8":       "1:13 LEVENSHTEIN has no units: only JACCARD and CONTAINS do",
		"JACCARD(bytes:5) >= 0.8":           `1:9 unknown unit "bytes": words:3, chars:5 or tokens`,
		"JACCARD(chars:0) >= 0.8":           `1:15 the length of a shingle is a number from 1 to 1024, not "0": as in chars:5`,
		"JACCARD >= 0.8 OR NOT a.x = b.x":   "1:23 documents that are only different cannot be listed: add a similarity or an equality with AND, such as JACCARD >= 0.8",
		"JACCARD >= 0.8 AND JACCARD < 0.8":  "1:1 no two documents can match, as each part of the rule contradicts itself",
		"(JACCARD >= 0.8":                   "1:16 expected ), not the end of the rule",
		"JACCARD >= 0.8 a.x = b.x":          `1:16 expected AND, OR or the end of the rule, not "a.x"`,
		"a.x = b.x AND DIFFERS()":           `1:23 expected a word in quotes, not ")": as in DIFFERS('draft', 'final')`,
		"a.x = b.x AND DIFFERS('a b')":      "1:23 DIFFERS compares single words, not 'a b': as in DIFFERS('draft', 'final')",
		"NOT DIFFERS(RECURRING)":            "1:5 documents that are only different cannot be listed: add a similarity or an equality with AND, such as JACCARD >= 0.8",
		"a.x = b.x AND DIFFERS('a/b/c')":    "1:23 DIFFERS compares single words, not 'a/b/c': as in DIFFERS('draft', 'final')",
		"a.x = b.x AND DIFFERS('a/')":       "1:23 DIFFERS compares single words, not 'a/': as in DIFFERS('draft', 'final')",
		"MATCHES(a, '(') = MATCHES(b, '(')": "1:12 '(' is no regular expression: error parsing regexp: missing closing ): `(`",
		"FILE(a.x) = FILE(b.x)":             "1:6 FILE has no fields",
		"a.x[] = b.x[]":                     `1:1 "a.x[]" leads to several values of a document; name a field that has one`,
		"JACCARD ? 3":                       `1:9 unexpected "?"`,
		`DIFFERS("x")`:                      "1:9 strings are written in single quotes: as in 'it''s'",
		"MATCHES(a, 'x":                     "1:12 the string that starts here has no end: write a quote inside twice, as in 'it''s'",
		strings.Repeat("(", 300) + "a.x":    "1:202 the rule nests deeper than 200 levels",
	} {
		_, err := Parse(text)
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Errorf("%s: %v", text, err)
			continue
		}
		line, column := e.Position()
		if got := fmt.Sprintf("%d:%d %s", line, column, e.Sentence()); got != want {
			t.Errorf("%s: got\n%s, want\n%s", text, got, want)
		}
	}
	many := "(a.a = b.a OR a.b = b.b)"
	for c := 'c'; c < 'q'; c += 2 {
		many += fmt.Sprintf(" AND (a.%c = b.%c OR a.%c = b.%c)", c, c, c+1, c+1)
	}
	if _, err := Parse(many); err == nil || !strings.Contains(err.Error(), "more than 64 alternatives") {
		t.Error(err)
	}
	if _, err := Parse("JACCARD >= 0.8 AND\n  é.x = b.x"); err == nil || !strings.HasSuffix(err.Error(), "\n    é.x = b.x\n    ^") {
		t.Error(err)
	}
}

// TestNormalForm compares the values of random expressions with those of their normal forms, in the
// logic of three values.
func TestNormalForm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"p", "q", "r", "s"}
	for range 3000 {
		text, value := expression(rng, 3)
		text, whole := "JACCARD >= 0.5 AND ("+text+")", value
		r, err := Parse(text)
		if err != nil {
			if !strings.Contains(err.Error(), "contradicts") {
				t.Fatal(text, err)
			}
			r = &Rule{}
		}
		for states := range 81 {
			of := map[string]int{}
			for i, name := range names {
				of[name] = states / []int{1, 3, 9, 27}[i] % 3 // false, unknown, true
			}
			got := false
			for _, b := range r.Branches {
				all := true
				for _, l := range b {
					v := 2
					if a := r.Atoms[l.Atom]; a.Kind == Equal {
						v = of[a.Fields[0]]
					}
					if l.Not {
						v = 2 - v
					}
					all = all && v == 2
				}
				got = got || all
			}
			if want := whole(of) == 2; got != want {
				t.Fatalf("%s with %v: %v, want %v", text, of, got, want)
			}
		}
	}
}

// expression returns a random expression, and its value given those of its atoms.
func expression(rng *rand.Rand, depth int) (text string, value func(map[string]int) int) {
	if depth == 0 || rng.IntN(4) == 0 {
		name := []string{"p", "q", "r", "s"}[rng.IntN(4)]
		return fmt.Sprintf("a.%s = b.%s", name, name), func(of map[string]int) int { return of[name] }
	}
	x, f := expression(rng, depth-1)
	y, g := expression(rng, depth-1)
	switch rng.IntN(3) {
	case 0:
		return "NOT (" + x + ")", func(of map[string]int) int { return 2 - f(of) }
	case 1:
		return "(" + x + " OR " + y + ")", func(of map[string]int) int { return max(f(of), g(of)) }
	}
	return x + " AND (" + y + ")", func(of map[string]int) int { return min(f(of), g(of)) }
}
