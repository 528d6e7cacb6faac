// Package passage finds passages: runs of words that texts have in common with one text, which here
// is the query.
//
// A run is a stretch of words of a text that is somewhere in the query too, and that is not part of
// a longer such stretch of the text. So every place where n words or more of the query stand is in
// a run, runs of a text are never within each other, and there are no more of them than words, even
// if a word is repeated all over both texts. Of several places of a run in the query the first one
// counts.
//
// Most texts have no run: this is decided by hashes of n consecutive words. Of the others the words
// themselves are compared, so a collision of hashes has no effect. Both take linear time.
package passage

import (
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/token"
)

// A Run is a run of words that a text has in common with the query. Places are in bytes of the
// texts as they are.
type Run struct {
	Words             int
	At, End           int // in the text
	QueryAt, QueryEnd int // in the query
}

// A Finder finds the runs of at least some number of words. It serves one goroutine.
type Finder struct {
	least  int
	cut    *features.Cutter
	walk   *token.Shingler
	query  []place
	ids    map[string]int32
	chains *automaton // of query; nil until it is needed
	words  []int32    // of the query, by ids

	windows token.HashSet // hashes of consecutive words of the query
	fresh   []uint64      // scratch of windows
	found   bool          // a window of the text is one of the query
	places  []place       // scratch: of the words of a text
}

// A place is where a word is in its text.
type place struct{ at, end int }

// noWord is what is between the texts of two fields, and what the query does not have.
const noWord = -1

// New returns the Finder of runs of at least some words, 1 or more, that are in the query. The spec
// of features, which must be canonical, says what words are.
func New(spec features.Spec, least int, query []byte) *Finder {
	f := &Finder{least: least, cut: features.NewCutter(spec), ids: map[string]int32{}}
	f.cut.OwnWords = true
	f.walk = token.New(token.Config{Shingle: min(least, token.MaxShingle), Symbols: spec.Symbols})
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

// Words returns how many words the query has. Once a text has a run, each takes some 160 bytes.
func (f *Finder) Words() int { return len(f.words) }

// learner is a Finder that learns the windows of the query.
type learner Finder

// Shingles takes windows of the query.
func (f *learner) Shingles(hashes []uint64) {
	f.fresh = f.windows.AppendNew(f.fresh[:0], hashes)
}

// Shingles takes windows of a text.
func (f *Finder) Shingles(hashes []uint64) {
	for _, h := range hashes {
		if f.windows.Has(h) {
			f.found = true
			return
		}
	}
}

// May reports whether text can have a run; it rarely says so of one that has none.
func (f *Finder) May(text []byte) bool {
	f.found = false
	for _, part := range f.cut.Parts(text) {
		f.walk.Bytes(f.cut.Normal(part), f)
	}
	return f.found
}

// Runs returns the runs of text, in their order there. Of more than most it returns some, and more
// than most.
func (f *Finder) Runs(text []byte, most int) (runs []Run) {
	if f.windows.Len() == 0 || !f.May(text) {
		return nil
	}
	if f.chains == nil {
		f.chains = newAutomaton(f.words)
	}
	f.places = f.places[:0]
	state, words := int32(0), 0 // how many of the last words are in the query, and where
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
