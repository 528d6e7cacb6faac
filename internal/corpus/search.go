package corpus

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/setjoin"
)

// A Search finds the documents that resemble a few given ones among very many, which are read
// once more and not stored: those within some bits, and those with similar sets. It stores only
// data of the few. Documents with equal sets and fingerprints share one node.
type Search struct {
	o      SearchOptions
	nodes  []Node
	prints [][]base.Fingerprint // fingerprints of the nodes, grouped by node: a column for each word
	of     []int32              // by row of prints: the node
	few    *setjoin.Few         // the sets of the nodes
}

// SearchOptions are the options of a Search.
type SearchOptions struct {
	Within    int     // bits, per 64 bits of a fingerprint
	Least     float64 // Jaccard similarity of sets
	Memory    int64   // bytes for the few documents
	Documents int64   // approximate number of all documents
}

// A Node represents the documents with the same set and fingerprints.
type Node struct {
	Doc   engine.Doc // the document with the least ID
	Count int        // number of the few documents in this node
	Set   bool       // the set is not empty
}

// A Found is a document that was found.
type Found struct {
	Place    int         // of the node that it resembles
	Doc      *engine.Doc // valid until the function that receives it returns
	Distance int         // in bits; -1 if above Within
	Score    float64     // -1 if below Least
}

// A Search has bounded costs: the more documents resemble the few, the fewer it searches for.
const (
	searchElements = 6 << 20 // elements in the sets of the few
	searchWork     = 4e9     // approximate nanoseconds for all documents
	searchLeast    = 30      // documents to search for in any case
	searchPilot    = 200     // documents in the sample that estimates the work

	workMatch = 150 // approximate nanoseconds per match; an element costs 1 for each set that contains it
	workPrint = 0.5 // per comparison of two fingerprints
)

// NewSearch returns a Search for documents in random order. It drops the last ones if not all fit
// into memory, or if finding everything that resembles them would take too long. Documents
// without words are ignored.
func NewSearch(params features.Params, docs []engine.Doc, o SearchOptions) *Search {
	f := newHasher(params)
	type key struct {
		print, set xxh3.Uint128
	}
	var sets [][]uint64
	of, drawn, buf := map[key]int{}, []int(nil), []byte(nil) // drawn: by document, its node
	s := &Search{o: o}
	for left, i := min(o.Memory/setjoin.FewBytes(o.Least, setjoin.FewJaccard), searchElements), 0; i < len(docs); i++ {
		words := f.appendPrint(nil, &docs[i])
		if len(words) == 0 {
			continue
		}
		if s.prints == nil {
			s.prints = make([][]base.Fingerprint, len(words))
		}
		if len(words) != len(s.prints) {
			continue // the second pass reports it
		}
		words = append(words, further(&docs[i])...)
		set := f.sets.Append(nil, docs[i].Text)
		hash := func(values []uint64) xxh3.Uint128 {
			buf = buf[:0]
			for _, e := range values {
				buf = binary.LittleEndian.AppendUint64(buf, e)
			}
			return xxh3.Hash128(buf)
		}
		k := key{hash(words), hash(set)}
		n, known := of[k]
		if !known {
			if left -= int64(len(set)); left < 0 && len(drawn) > 0 {
				break
			}
			n = len(s.nodes)
			of[k], sets = n, append(sets, set)
			for at, word := range words {
				w := at % len(s.prints)
				if s.prints[w] = append(s.prints[w], word); w == 0 {
					s.of = append(s.of, int32(n))
				}
			}
			s.nodes = append(s.nodes, Node{Doc: docs[i], Set: len(set) > 0})
		}
		if s.nodes[n].Doc.ID > docs[i].ID {
			s.nodes[n].Doc = docs[i]
		}
		drawn = append(drawn, n)
	}
	if s.prints == nil {
		s.prints = [][]base.Fingerprint{nil}
	}
	s.few = setjoin.NewFew(sets, o.Least, roleOf(params))
	if work := s.work(drawn, sets); work > searchWork {
		drawn = drawn[:min(len(drawn), max(searchLeast, int(float64(len(drawn))*searchWork/work)))]
		n := 1 + slices.Max(drawn)
		s.nodes = s.nodes[:n]
		rows, _ := slices.BinarySearch(s.of, int32(n))
		s.of = s.of[:rows]
		for w := range s.prints {
			s.prints[w] = s.prints[w][:rows]
		}
		s.few = setjoin.NewFew(sets[:n], o.Least, roleOf(params))
	}
	for _, n := range drawn {
		s.nodes[n].Count++
	}
	return s
}

func roleOf(params features.Params) setjoin.FewRole {
	if params.Real() {
		return setjoin.FewWeighted
	}
	return setjoin.FewJaccard
}

// work estimates how long the search takes for all documents, in nanoseconds, from a sample of
// the few.
func (s *Search) work(drawn []int, sets [][]uint64) (work float64) {
	drawn = drawn[:min(len(drawn), searchPilot)]
	finder := s.few.Finder()
	for _, n := range drawn {
		var own []base.Fingerprint
		for row, _ := slices.BinarySearch(s.of, int32(n)); row < len(s.of) && int(s.of[row]) == n; row++ {
			for _, words := range s.prints {
				own = append(own, words[row])
			}
		}
		matches := len(finder.Append(nil, sets[n])) + len(s.near(nil, own))
		work += float64(workMatch*matches) + float64(s.few.Visits(sets[n])) + workPrint*float64(len(own)*len(s.of))
	}
	return work / float64(max(len(drawn), 1)) * float64(s.o.Documents)
}

// Words returns the number of 64-bit words in a fingerprint.
func (s *Search) Words() int { return max(len(s.prints), 1) }

// near appends to pairs, for each of consecutive fingerprints, its number <<32 | the row of a
// near fingerprint of a node.
func (s *Search) near(pairs []uint64, prints []base.Fingerprint) []uint64 {
	words := s.Words()
	if words == 1 {
		return kernel.ScanMany(pairs, prints, s.prints[0], s.o.Within)
	}
	for i := 0; i < len(prints); i += words {
		for row := range s.of {
			if s.distance(prints[i:i+words], row) <= s.o.Within*words {
				pairs = append(pairs, uint64(i/words)<<32|uint64(row))
			}
		}
	}
	return pairs
}

// distance returns the distance between a fingerprint and a node's fingerprint.
func (s *Search) distance(print []base.Fingerprint, row int) (d int) {
	for w, word := range print {
		d += base.Distance(word, s.prints[w][row])
	}
	return d
}

// Nodes returns the documents that the Search looks for. Each also finds itself.
func (s *Search) Nodes() []Node { return s.nodes }

// Extractor returns an Extractor of all documents, including the few. For each document, in
// order, it calls each, saying whether the document has words, and then found for every node that
// it resembles, ordered by place.
func (s *Search) Extractor(ctx context.Context, params features.Params, each func(words bool), found func(Found) error) *Extractor {
	worker := func() func(*featured) {
		w := &searcher{Search: s, hasher: newHasher(params), finder: s.few.Finder()}
		return w.batch
	}
	return newExtractor(ctx, worker, func(b *featured) error {
		if b.other > 0 {
			return fmt.Errorf("documents have fingerprints of %d and of %d bits: %s N sets the width for texts", 64*s.Words(), 64*b.other, option.Name("Bits"))
		}
		for _, empty := range b.empty {
			each(!empty)
		}
		for i, m := range b.found {
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := found(Found{int(m.place), &b.docs[m.at], int(m.bits), m.score}); err != nil {
				return err
			}
		}
		return nil
	})
}

// searcher finds the matches of batches. It is not safe for concurrent use.
type searcher struct {
	*Search
	hasher *hasher
	finder *setjoin.FewFinder
	at     []int32 // by fingerprint of a batch: the document
	pairs  []uint64
	nearby []located // matches by fingerprint, by document and place
	scored []setjoin.FewMatch
}

// batch finds the matches of a batch.
func (w *searcher) batch(b *featured) {
	w.at = w.at[:0]
	for i := range b.docs {
		n := len(b.prints)
		b.prints = w.hasher.appendPrint(b.prints, &b.docs[i])
		if b.empty = append(b.empty, len(b.prints) == n); len(b.prints) == n {
			continue
		}
		if len(b.prints)-n != len(w.prints) {
			b.prints, b.other = b.prints[:n], len(b.prints)-n
			continue
		}
		b.prints = append(b.prints, further(&b.docs[i])...)
		for range max(1, len(b.docs[i].Fingerprints)) {
			w.at = append(w.at, int32(i))
		}
	}
	w.pairs, w.nearby = w.near(w.pairs[:0], b.prints), w.nearby[:0]
	for _, p := range w.pairs {
		print, row, n := int(p>>32), int(p&(1<<32-1)), len(w.prints)
		w.nearby = append(w.nearby, located{at: w.at[print], place: w.of[row], bits: int32(w.distance(b.prints[print*n:][:n], row))})
	}
	slices.SortFunc(w.nearby, func(a, b located) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.place, b.place), cmp.Compare(a.bits, b.bits))
	})
	nearby := slices.CompactFunc(w.nearby, func(a, b located) bool { return a.at == b.at && a.place == b.place })
	for i := range b.docs {
		b.hashes = w.hasher.sets.Append(b.hashes[:0], b.docs[i].Text)
		w.scored = w.finder.Append(w.scored[:0], b.hashes)
		n := 0
		for n < len(nearby) && nearby[n].at == int32(i) {
			n++
		}
		w.merge(b, i, nearby[:n])
		nearby = nearby[n:]
	}
}

// merge adds the matches of document i, by its set and by its fingerprints, both ordered by
// place.
func (w *searcher) merge(b *featured, i int, nearby []located) {
	scored := w.scored
	for len(scored) > 0 || len(nearby) > 0 {
		m := located{at: int32(i), place: math.MaxInt32, bits: -1, score: -1}
		if len(scored) > 0 {
			m.place = int32(scored[0].Set)
		}
		if len(nearby) > 0 {
			m.place = min(m.place, nearby[0].place)
		}
		if len(scored) > 0 && scored[0].Set == int(m.place) {
			m.score, scored = scored[0].Score, scored[1:]
		}
		if len(nearby) > 0 && nearby[0].place == m.place {
			m.bits, nearby = nearby[0].bits, nearby[1:]
		}
		b.found = append(b.found, m)
	}
}
