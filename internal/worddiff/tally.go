package worddiff

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/token"
)

// Limits of the differences that a Tally counts. What recurs is short, and the work for a pair is
// bounded: a comparison of bytes, and an alignment of the few words between the first and the last
// difference.
const (
	maxMiddle = 512 // bytes of a text from the first to the last difference
	maxWords  = 12  // words that differ
	maxKinds  = 1 << 16

	batchBytes = 8 << 10
	mark       = "\nendoftextqxzjk\n" // a word that texts hardly have; if one does, the batch is slow
)

// place is a part of Tally.batch or raw.
type place struct{ from, to int }

// A Tally counts the differences of pairs of texts. Only one goroutine may use it.
type Tally struct {
	// Pairs is the number of pairs. After a call of Recurring, Alike is the number of pairs without a
	// difference in words, and Long the number of pairs that differ in more than 12 words, or in words
	// more than 512 bytes apart.
	Pairs, Alike, Long int64

	of    features.Spec
	ready func([]byte) []byte // prepares a text for split; nil if texts need no preparation
	split *token.Shingler
	mark  uint64 // the hash of the word that follows each text of the batch

	pending    [][2]place // pairs of the batch
	batch, raw []byte     // prepared texts with marks; texts as they are, if they need preparation
	words      hashes

	kinds []kind           // by first occurrence
	at    map[uint64]int32 // indexes of kinds
	floor int64            // differences with at most this many occurrences may have been forgotten
}

// A Recurring difference is one of several pairs of texts: the first of each pair has the words
// Lacks where the second has Adds.
type Recurring struct {
	Lacks, Adds string // as Words returns them
	Count       int64  // pairs
}

// kind counts a difference, whose first pair differs in a and b.
type kind struct {
	key  uint64
	a, b string
	n    int64
}

// hashes collects the hashes of words. It implements token.Sink.
type hashes []uint64

// Shingles implements token.Sink.
func (h *hashes) Shingles(words []uint64) { *h = append(*h, words...) }

// NewTally returns a Tally of texts whose words are those of a canonical spec.
func NewTally(of features.Spec) *Tally {
	t := &Tally{
		of: of, ready: of.Normalizer(), at: map[uint64]int32{},
		split: token.New(token.Config{Shingle: 1, Symbols: of.Symbols, Version: of.Version()}),
	}
	t.split.Text(mark, &t.words)
	t.mark = t.words[0]
	return t
}

// Add counts the difference between two texts.
func (t *Tally) Add(a, b string) {
	t.Pairs++
	if a, b = middles(a, b); max(len(a), len(b)) > maxMiddle {
		t.Long++
		return
	}
	if t.pending = append(t.pending, [2]place{t.add(a), t.add(b)}); len(t.batch) >= batchBytes {
		t.flush()
	}
}

// middles returns two texts without their common beginning and end. It cuts at spaces, so that no
// word is cut.
func middles(a, b string) (string, string) {
	n, least := 0, min(len(a), len(b))
	for n+8 <= least && a[n:n+8] == b[n:n+8] {
		n += 8
	}
	for n < least && a[n] == b[n] {
		n++
	}
	n = strings.LastIndexByte(a[:n], ' ') + 1
	a, b = a[n:], b[n:]
	n, least = 0, min(len(a), len(b))
	for n+8 <= least && a[len(a)-n-8:len(a)-n] == b[len(b)-n-8:len(b)-n] {
		n += 8
	}
	for n < least && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	if i := strings.IndexByte(a[len(a)-n:], ' '); i >= 0 {
		n -= i
	} else {
		n = 0
	}
	return a[:len(a)-n], b[:len(b)-n]
}

// add appends a text to the batch, and returns its place in raw.
func (t *Tally) add(text string) (p place) {
	if t.ready == nil {
		p.from = len(t.batch)
		t.batch = append(t.batch, text...)
		p.to = len(t.batch)
	} else {
		p.from = len(t.raw)
		t.raw = append(t.raw, text...)
		p.to = len(t.raw)
		t.batch = append(t.batch, t.ready(t.raw[p.from:])...)
	}
	t.batch = append(t.batch, mark...)
	return p
}

// text returns a text of the batch; it is valid until the next call of Add.
func (t *Tally) text(p place) string {
	raw := t.raw
	if t.ready == nil {
		raw = t.batch
	}
	if p.from == p.to {
		return ""
	}
	return unsafe.String(&raw[p.from], p.to-p.from)
}

// flush counts the differences of the batch. A call of the tokenizer for each text would cost more
// than the words of most texts.
func (t *Tally) flush() {
	t.words = t.words[:0]
	t.split.Bytes(t.batch, &t.words)
	marks := 0
	for _, w := range t.words {
		if w == t.mark {
			marks++
		}
	}
	rest := t.words
	next := func(p place) (words hashes) {
		if marks == 2*len(t.pending) {
			n := slices.Index(rest, t.mark)
			words, rest = rest[:n], rest[n+1:]
			return words
		}
		b := []byte(t.text(p)) // a text has the word that marks ends
		if t.ready != nil {
			b = t.ready(b)
		}
		t.split.Bytes(b, &words)
		return words
	}
	for _, p := range t.pending {
		a, b := next(p[0]), next(p[1])
		runs, ok := Runs(a, b, maxWords)
		switch {
		case !ok:
			t.Long++
		case len(runs) == 0:
			t.Alike++
		default:
			t.count(keyOf(a, b, runs), t.text(p[0]), t.text(p[1]))
		}
	}
	t.pending, t.batch, t.raw = t.pending[:0], t.batch[:0], t.raw[:0]
}

// keyOf returns a hash of the words that differ.
func keyOf(a, b hashes, runs []Run) uint64 {
	key := uint64(0)
	for _, r := range runs {
		for _, w := range a[r.A0:r.A1] {
			key = token.Mix(key*3 + w)
		}
	}
	key = token.Mix(^key)
	for _, r := range runs {
		for _, w := range b[r.B0:r.B1] {
			key = token.Mix(key*3 + w)
		}
	}
	return key
}

// count counts a difference. If there are too many, it forgets the rarest ones (lossy counting: Manku
// and Motwani, Approximate frequency counts over data streams, VLDB 2002).
func (t *Tally) count(key uint64, a, b string) {
	i, ok := t.at[key]
	if !ok {
		if len(t.kinds) == maxKinds {
			t.forget()
		}
		i = int32(len(t.kinds))
		t.at[key], t.kinds = i, append(t.kinds, kind{key: key, a: strings.Clone(a), b: strings.Clone(b)})
	}
	t.kinds[i].n++
}

// forget forgets the rarest differences, at least half of all.
func (t *Tally) forget() {
	for len(t.kinds) > maxKinds/2 {
		t.floor++
		t.kinds = slices.DeleteFunc(t.kinds, func(k kind) bool { return k.n <= t.floor })
	}
	clear(t.at)
	for i, k := range t.kinds {
		t.at[k.key] = int32(i)
	}
}

// Recurring returns the differences that at least least pairs have, the most frequent ones first, at
// most most of them, and the number of pairs with any of these differences. exact is false if there
// were so many differences that rare ones were forgotten: then each count is a lower bound.
func (t *Tally) Recurring(least int64, most int) (all []Recurring, pairs int64, exact bool) {
	t.flush()
	var often []kind
	for _, k := range t.kinds {
		if k.n >= least {
			often = append(often, k)
			pairs += k.n
		}
	}
	slices.SortStableFunc(often, func(x, y kind) int { return cmp.Compare(y.n, x.n) }) // then by first occurrence
	for _, k := range often[:min(len(often), most)] {
		lacks, adds := Words(t.of.Words(k.a), t.of.Words(k.b))
		all = append(all, Recurring{lacks, adds, k.n})
	}
	return all, pairs, t.floor == 0
}
