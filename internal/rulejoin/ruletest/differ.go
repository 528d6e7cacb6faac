package ruletest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// recursIn says for models whether the difference of two documents in a field recurs.
var recursIn func(field string, a, b *Doc) bool

// wordsOf returns how often a text has each word.
func wordsOf(text string) map[string]int {
	n := map[string]int{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r) }) {
		n[w]++
	}
	if text = strings.TrimSpace(text); len(n) == 0 && text != "" {
		n[text]++ // a text without words is one
	}
	return n
}

// differ returns the words that only one of two texts has, with how often it has them more often.
func differ(x, y string) (lacks, adds map[string]int) {
	less := func(one, other map[string]int) map[string]int {
		d := map[string]int{}
		for w, n := range one {
			if n > other[w] {
				d[w] = n - other[w]
			}
		}
		return d
	}
	return less(wordsOf(x), wordsOf(y)), less(wordsOf(y), wordsOf(x))
}

// named names a difference, the same for both orders; "" if it is nothing, or too much.
func named(lacks, adds map[string]int) string {
	total := 0
	for _, d := range []map[string]int{lacks, adds} {
		for _, n := range d {
			total += n
		}
	}
	if total == 0 || total > 12 {
		return ""
	}
	sides := []string{fmt.Sprint(lacks), fmt.Sprint(adds)}
	slices.Sort(sides)
	return strings.Join(sides, " against ")
}

// CountRecurring prepares models for DIFFERS(RECURRING) by brute force: it counts the pairs of documents, with other words in
// both, that match by the rule if the differences in each field either recur or do not.
func CountRecurring(docs []Doc, rule Model) {
	fields := []string{"", "text", "name"}
	pairs, each := map[string]map[string]map[string]bool{}, map[string]map[string]map[string]bool{}
	for _, f := range fields {
		pairs[f], each[f] = map[string]map[string]bool{}, map[string]map[string]bool{}
	}
	note := func(of map[string]map[string]bool, key, pair string) {
		if of[key] == nil {
			of[key] = map[string]bool{}
		}
		of[key][pair] = true
	}
	for i := range docs {
		for j := i + 1; j < len(docs); j++ {
			a, b := &docs[i], &docs[j]
			matches := false
			for set := range 1 << len(fields) {
				recursIn = func(field string, _, _ *Doc) bool { return set>>slices.Index(fields, field)&1 > 0 }
				s, _ := rule(a, b)
				matches = matches || s >= 0
			}
			for _, f := range fields {
				lacks, adds := differ(a.field(f), b.field(f))
				name, both := named(lacks, adds), []string{fmt.Sprint(wordsOf(a.field(f))), fmt.Sprint(wordsOf(b.field(f)))}
				if slices.Sort(both); !matches || name == "" {
					continue
				}
				note(pairs[f], name, strings.Join(both, "|"))
				for _, d := range []map[string]int{lacks, adds} {
					for w := range d {
						note(each[f], w, strings.Join(both, "|"))
					}
				}
			}
		}
	}
	recursIn = func(f string, a, b *Doc) bool {
		lacks, adds := differ(a.field(f), b.field(f))
		name := named(lacks, adds)
		if name == "" || len(pairs[f][name]) >= 3 {
			return name != ""
		}
		for w := range maps.Keys(lacks) {
			if len(each[f][w]) < 5 {
				return false
			}
		}
		for w := range maps.Keys(adds) {
			if len(each[f][w]) < 5 {
				return false
			}
		}
		return true
	}
}

// Recurs reports whether the difference of two documents in a field recurs, after CountRecurring.
func Recurs(field string, a, b *Doc) bool { return recursIn(field, a, b) }
