// Package passage finds passages: runs of words that texts have in common with one text, which this
// package calls the query.
//
// A run is a stretch of words in a text that also occurs in the query, and that is not part of a
// longer such stretch of the text. Therefore every occurrence of n or more words of the query is in
// a run, runs of a text are never within each other, and there are at most as many runs as words,
// even if a word is repeated many times in both texts. If a run occurs several times in the query,
// the first occurrence is reported.
//
// Most texts have no run, which hashes of n consecutive words show. For other texts, the words
// themselves are compared, so a collision of hashes has no effect. Both steps need linear time.
package passage

import (
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/token"
)

// A Run is a run of words that a text has in common with the query. Positions are byte offsets in
// the original texts.
type Run struct {
	Words             int
	At, End           int // in the text
	QueryAt, QueryEnd int // in the query
}

// A Finder finds the runs of at least some number of words. Only one goroutine may use it at a
// time.
type Finder struct {
	least  int
	cut    *features.Cutter
	walk   *token.Shingler
	query  []place
	ids    map[string]int32
	chains *automaton // of the query; nil until it is needed
	words  []int32    // of the query, as numbers

	windows token.HashSet // hashes of consecutive words of the query
	fresh   []uint64      // buffer for windows
	found   bool          // a window of the text occurs in the query
	places  []place       // buffer for the positions of words in a text
}

// A place is the position of a word in its text.
type place struct{ at, end int }

// noWord separates the texts of two fields, and stands for words that the query lacks.
const noWord = -1

// New returns a Finder for runs of at least `least` words, 1 or more, in the query. spec, which
// must be canonical, defines words.
func New(spec features.Spec, least int, query []byte) *Finder {
	f := &Finder{least: least, cut: features.NewCutter(spec), ids: map[string]int32{}}
	f.cut.OwnWords = true
	f.walk = token.New(token.Config{Shingle: min(least, token.MaxShingle), Symbols: spec.Symbols, Version: spec.Version()})
	f.cut.Words(query, func(word []byte, start, end int) {
		id, known := f.ids[string(word)]
		switch {
		case word == nil:
			id = noWord
		case !known:
			id = int32(len(f.ids))
			f.ids[string(word)] = id
		}
		f.words = append(f.words, id)
		f.query = append(f.query, place{start, end})
	})
	if len(f.words) >= least {
		f.windows.Reset(len(f.words))
		for _, part := range f.cut.Parts(query) {
			if normal := f.cut.Normal(part); f.cut.HasWords(normal) {
				f.walk.Bytes(normal, (*learner)(f))
			}
		}
	}
	return f
}

// Words returns the number of words in the query. From the first text with a run on, each word
// needs about 160 bytes.
func (f *Finder) Words() int { return len(f.words) }

// learner is a Finder that collects the windows of the query.
type learner Finder

// Shingles adds windows of the query.
func (f *learner) Shingles(hashes []uint64) {
	f.fresh = f.windows.AppendNew(f.fresh[:0], hashes)
}

// Shingles looks up windows of a text.
func (f *Finder) Shingles(hashes []uint64) {
	for _, h := range hashes {
		if f.windows.Has(h) {
			f.found = true
			return
		}
	}
}

// May reports whether text may have a run. False positives are rare.
func (f *Finder) May(text []byte) bool {
	f.found = false
	for _, part := range f.cut.Parts(text) {
		f.walk.Bytes(f.cut.Normal(part), f)
	}
	return f.found
}

// Runs returns the runs of text in order. If there are more than most, it may return only a part,
// but more than most.
func (f *Finder) Runs(text []byte, most int) (runs []Run) {
	if f.windows.Len() == 0 || !f.May(text) {
		return nil
	}
	if f.chains == nil {
		f.chains = newAutomaton(f.words)
	}
	f.places = f.places[:0]
	state, words := int32(0), 0 // the longest stretch of the last words that occurs in the query, and its length
	end := func() {
		if words >= f.least && len(runs) <= most {
			last := int(f.chains.first[state])
			from, to := f.places[len(f.places)-words], f.places[len(f.places)-1]
			runs = append(runs, Run{words, from.at, to.end, f.query[last-words].at, f.query[last-1].end})
		}
	}
	f.cut.Words(text, func(word []byte, start, stop int) {
		id, known := f.ids[string(word)]
		if word == nil || !known {
			id = noWord
		}
		next, n := f.chains.step(state, words, id)
		if n != words+1 {
			end()
		}
		state, words = next, n
		f.places = append(f.places, place{start, stop})
	})
	end()
	return runs
}
