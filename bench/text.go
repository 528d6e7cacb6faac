package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// leastWords is the default minimum number of words in a piece of text.
const leastWords = 120

// corpus returns n documents: up to n/2 real pieces of text with at least words words from the
// source files below root, then edited copies (0.2 to 8 % of the words changed, dropped
// or doubled; a third with a tail of foreign text of up to 20 %). The nq queries are edited
// copies that are not among the documents.
func corpus(root string, n, nq, words int, seed uint64) (docs, queries []string, err error) {
	r := rand.New(rand.NewPCG(seed, 1))
	docs, err = pieces(root, words, n/2)
	if err != nil {
		return nil, nil, err
	}
	if len(docs) == 0 {
		return nil, nil, fmt.Errorf("%s: no text of %d words", root, words)
	}
	base := docs
	for len(docs) < n {
		docs = append(docs, edited(r, base))
	}
	for range nq {
		queries = append(queries, edited(r, base))
	}
	return docs, queries, nil
}

// edited returns an edited copy of a text in base.
func edited(r *rand.Rand, base []string) string {
	rate := 0.002 + 0.078*r.Float64()
	var to []string
	for _, w := range strings.Fields(base[r.IntN(len(base))]) {
		if r.Float64() >= rate {
			to = append(to, w)
			continue
		}
		switch r.IntN(3) {
		case 0:
			to = append(to, fmt.Sprintf("edit%d", r.IntN(1e6)))
		case 1:
			to = append(to, w, w)
		case 2: // dropped
		}
	}
	if r.IntN(3) == 0 {
		tail := strings.Fields(base[r.IntN(len(base))])
		to = append(to, tail[:min(len(tail), r.IntN(1+len(to)/5))]...)
	}
	return strings.Join(to, " ")
}

// largestPiece is the maximum length of a text in bytes: longer ones are tables of numbers.
const largestPiece = 64 << 10

// pieces cuts the text files below root into at most limit documents, at empty lines.
func pieces(root string, words, limit int) (docs []string, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case len(docs) >= limit:
			return fs.SkipAll
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case e.IsDir() || !strings.Contains(" .go .md .html .txt ", " "+filepath.Ext(path)+" "):
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(src) {
			return err
		}
		var piece []string
		have := 0
		for p := range strings.SplitSeq(string(src), "\n\n") {
			piece = append(piece, p)
			if have += len(strings.Fields(p)); have < words || len(docs) >= limit {
				continue
			}
			if text := strings.Join(piece, "\n\n"); len(text) <= largestPiece {
				docs = append(docs, text)
			}
			piece, have = nil, 0
		}
		return nil
	})
	return docs, err
}
