package corpora

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Crowds are generators of texts that share many words with very many others, by name. Each
// generates the words of document i of n. "blocks", "stretches" and "few" have no centre: no set of
// words is in most of their texts and tells which are similar.
var Crowds = map[string]func(r *rand.Rand, i, n int) []string{
	// Blocks of ten words from two templates, and one unique word.
	"blocks": func(r *rand.Rand, i, _ int) (words []string) {
		for b := range 12 {
			words = append(words, numbered([]string{"a", "b"}[r.IntN(2)], 10*b, 10)...)
		}
		return append(words, fmt.Sprint("own", i))
	},
	// Words from two templates, with probabilities that differ between stretches of the text.
	"stretches": func(r *rand.Rand, _, _ int) (words []string) {
		for k := range 100 {
			template := "a"
			if r.IntN(10) < 1+2*(k/20) {
				template = "b"
			}
			words = append(words, numbered(template, k, 1)...)
		}
		return words
	},
	"few": func(r *rand.Rand, _, _ int) (words []string) {
		for range 60 {
			words = append(words, numbered("w", r.IntN(8), 1)...)
		}
		return words
	},
	// Four letters, with 3 to 5 of 100 words changed.
	"letters": func(r *rand.Rand, _, _ int) []string {
		length := []int{60, 100, 150, 200}[r.IntN(4)]
		words := numbered(fmt.Sprint("l", length, "w"), 0, length)
		for range length * (30 + r.IntN(20)) / 1000 {
			words[r.IntN(length)] = fmt.Sprint("x", r.Uint32())
		}
		return words
	},
	// A long common header, and a unique body.
	"header": func(r *rand.Rand, i, _ int) []string {
		return slices.Concat(numbered("h", 0, 1000), numbered(fmt.Sprint("b", i, "w"), 0, 50+r.IntN(350)))
	},
	// One text, and many parts of that text.
	"contained": func(r *rand.Rand, i, n int) []string {
		if i == 0 {
			return numbered("w", 0, 10*n)
		}
		return numbered("w", r.IntN(10*n-40), 30+r.IntN(11))
	},
	// Overlapping windows of one text.
	"chain": func(_ *rand.Rand, i, _ int) []string { return numbered("w", i, 100) },
}

// numbered returns words made of a prefix and n consecutive numbers, starting at from.
func numbered(prefix string, from, n int) (words []string) {
	for i := range n {
		words = append(words, fmt.Sprint(prefix, from+i))
	}
	return words
}
