package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
)

// makeKinds are the kinds of files that make writes. Kind "code" is real text from the Go source
// tree, half edited copies: see corpus.
var makeKinds = map[string]func(w io.Writer, r *rand.Rand, n int){
	"fps":    makeFingerprints, // n uniform fingerprints and a copy of every tenth with 1 to 3 bits flipped: hex TAB id
	"texts":  makeTexts,        // documents of 200 words; every second is an edited copy of an earlier one
	"family": makeFamily,       // documents of 200 words; each is the same text with three words replaced
	"pages":  makePages,        // documents with 160 common words and 30 of their own
	"same":   makeSame,         // equal documents of 100 words
	"equal":  makeEqual,        // equal fingerprints: hex TAB id
}

// runMake writes documents of a kind, always the same for the same n and seed.
func runMake(to io.Writer, kind string, n int, seed uint64) error {
	w := bufio.NewWriterSize(to, 1<<20)
	if write, ok := makeKinds[kind]; ok {
		write(w, rand.New(rand.NewPCG(seed, 1)), n)
		return w.Flush()
	}
	if kind != "code" {
		return fmt.Errorf("-kind %s: not one of code, equal, family, fps, pages, same, texts", kind)
	}
	docs, _, err := corpus(runtime.GOROOT(), n, 0, leastWords, seed)
	for i, text := range docs {
		fmt.Fprintf(w, "{\"id\":\"%d\",\"text\":%s}\n", i, quoted(text))
	}
	return errors.Join(err, w.Flush())
}

// quoted returns a string in JSON.
func quoted(s string) []byte {
	b, _ := json.Marshal(s) // a string cannot fail
	return b
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

// words returns n words with frequencies as in running text.
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

// withEdits returns words, some replaced.
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
