package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
)

// Kinds of files that make writes, with what they hold.
var makeKinds = map[string]func(w io.Writer, r *rand.Rand, n int){
	"fps":    makeFingerprints, // n uniform fingerprints and a copy of every tenth with 1 to 3 bits flipped: hex TAB id
	"texts":  makeTexts,        // documents of 200 words, every second an edited copy of an earlier one
	"family": makeFamily,       // documents of 200 words, each the same text with three words replaced
	"pages":  makePages,        // documents of 160 words that all share and 30 of their own
	"same":   makeSame,         // documents of one text of 100 words
	"equal":  makeEqual,        // equal fingerprints: hex TAB id
}

// runMake writes documents of a kind: the same ones for the same n and seed.
func runMake(to io.Writer, kind string, n int, seed uint64) error {
	write, ok := makeKinds[kind]
	if !ok {
		return fmt.Errorf("-kind %s: not one of equal, family, fps, pages, same, texts", kind)
	}
	w := bufio.NewWriterSize(to, 1<<20)
	write(w, rand.New(rand.NewPCG(seed, 1)), n)
	return w.Flush()
}

func makeFingerprints(w io.Writer, r *rand.Rand, n int) {
	fps, _ := fingerprints(n, 0, r.Uint64())
	for i, fp := range fps {
		fmt.Fprintf(w, "%016x\t%d\n", fp, i)
	}
}

func makeEqual(w io.Writer, _ *rand.Rand, n int) {
	for i := range n {
		fmt.Fprintf(w, "%016x\t%d\n", 42, i)
	}
}

// words returns n words, frequent ones more often than rare ones, as in running text.
func words(r *rand.Rand, n int) []string {
	zipf := rand.NewZipf(r, 1.1, 3, 50_000)
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("w%x", zipf.Uint64())
	}
	return all
}

func putDocument(w io.Writer, id int, words []string) {
	fmt.Fprintf(w, "{\"id\":\"%d\",\"text\":\"%s\"}\n", id, strings.Join(words, " "))
}

// withEdits returns words with some of them replaced.
func withEdits(r *rand.Rand, from []string, edits int) []string {
	text := slices.Clone(from)
	for range edits {
		text[r.IntN(len(text))] = fmt.Sprintf("w%x", r.IntN(50_000))
	}
	return text
}

func makeTexts(w io.Writer, r *rand.Rand, n int) {
	var earlier [][]string
	for i := range n {
		text := words(r, 200)
		if i%2 == 1 {
			text = withEdits(r, earlier[r.IntN(len(earlier))], r.IntN(20))
		}
		putDocument(w, i, text)
		if earlier = append(earlier, text); len(earlier) > 1000 {
			earlier = earlier[1:]
		}
	}
}

func makeFamily(w io.Writer, r *rand.Rand, n int) {
	text := words(r, 200)
	for i := range n {
		putDocument(w, i, withEdits(r, text, 3))
	}
}

func makeSame(w io.Writer, r *rand.Rand, n int) {
	text := words(r, 100)
	for i := range n {
		putDocument(w, i, text)
	}
}

func makePages(w io.Writer, r *rand.Rand, n int) {
	page := words(r, 160)
	for i := range n {
		putDocument(w, i, slices.Concat(page[:80], words(r, 30), page[80:]))
	}
}
