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

// A Search finds what is like a few documents among very many, which are read once more and not
// kept: those within some bits, and those whose sets are similar. What it holds is of the few
// alone. Documents with equal sets and fingerprints are one node.
type Search struct {
	o      SearchOptions
	nodes  []Node
	prints [][]base.Fingerprint // of the nodes, those of a node together: a column a word
	of     []int32              // of each of prints: the node
	few    *setjoin.Few         // the sets of the nodes
}

// SearchOptions say what a Search finds.
type SearchOptions struct {
	Within    int     // bits, for each 64 bits of a fingerprint
	Least     float64 // Jaccard similarity of sets
	Memory    int64   // bytes for the documents that are searched for
	Documents int64   // about how many there are in all
}

// A Node is what documents with the same set and fingerprint have in common.
type Node struct {
	Doc   engine.Doc // that of the least ID
	Count int        // of the documents that are searched for
	Set   bool       // it has one that is not empty
}

// A Met is a document that was found.
type Met struct {
	Place    int         // of the node that it is like
	Doc      *engine.Doc // valid until the function that it is given to returns
	Distance int         // in bits; -1 if it is more than Within
	Score    float64     // -1 if it is less than Least
}

// What a Search takes is bounded: the fewer documents are searched for, the more are like them.
const (
	searchElements = 6 << 20 // of the sets that are searched for
	searchWork     = 4e9     // nanoseconds, about, for all documents
	searchLeast    = 30      // documents are searched for in any case
	searchPilot    = 200     // documents that the work is estimated by

	workMatch = 150 // nanoseconds, about, for a match; 1 for each set that an element is in
	workPrint = 0.5 // for each fingerprint that another one is compared with
)

// NewSearch returns a Search for documents in random order: for the first of them if not all
// fit into memory, or if finding all that resemble them would take too long.
// Documents without words are not searched for.
func NewSearch(params features.Params, docs []engine.Doc, o SearchOptions) *Search {
	f := newHasher(params)
	type key struct {
		print, set xxh3.Uint128
	}
	var sets [][]uint64
	of, drawn, buf := map[key]int{}, []int(nil), []byte(nil) // drawn: the node of each document
	s := &Search{o: o}
	for left, i := min(o.Memory/setjoin.FewBytes(o.Least, setjoin.FewAlike), searchElements), 0; i < len(docs); i++ {
		words := f.appendPrint(nil, &docs[i])
		if len(words) == 0 {
			continue
		}
		if s.prints == nil {
			s.prints = make([][]base.Fingerprint, len(words))
		}
		if len(words) != len(s.prints) {
			continue // the second pass refuses it
		}
		words = append(words, slices.Concat(docs[i].Fingerprints...)...)
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
	s.few = setjoin.NewFew(sets, o.Least, setjoin.FewAlike)
	if work := s.work(drawn, sets); work > searchWork {
		drawn = drawn[:min(len(drawn), max(searchLeast, int(float64(len(drawn))*searchWork/work)))]
		n := 1 + slices.Max(drawn)
		s.nodes = s.nodes[:n]
		rows, _ := slices.BinarySearch(s.of, int32(n))
		s.of = s.of[:rows]
		for w := range s.prints {
			s.prints[w] = s.prints[w][:rows]
		}
		s.few = setjoin.NewFew(sets[:n], o.Least, setjoin.FewAlike)
	}
	for _, n := range drawn {
		s.nodes[n].Count++
	}
	return s
}

// work is about how long the search takes for all documents, in nanoseconds, by some of those that
// are searched for.
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

// Words returns how many words of 64 bits the fingerprints have.
func (s *Search) Words() int { return max(len(s.prints), 1) }

// near appends to pairs, for fingerprints one after the other, the number of each <<32 | that of
// one of the nodes that is near.
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

// distance returns the distance of a fingerprint from one of the nodes.
func (s *Search) distance(print []base.Fingerprint, row int) (d int) {
	for w, word := range print {
		d += base.Distance(word, s.prints[w][row])
	}
	return d
}

// Nodes returns what is searched for. Every document of it finds itself, too.
func (s *Search) Nodes() []Node { return s.nodes }

// Extractor returns an Extractor of all documents, among which are those that are searched for. It
// calls each in their order for every one, and whether it has words, and found for what it is like,
// in the order of places.
func (s *Search) Extractor(ctx context.Context, params features.Params, each func(words bool), found func(Met) error) *Extractor {
	worker := func() func(*featured) {
		w := &searcher{Search: s, hasher: newHasher(params), finder: s.few.Finder()}
		return w.batch
	}
	return newExtractor(ctx, worker, func(b *featured) error {
		if b.other > 0 {
			return fmt.Errorf("documents have fingerprints of %d and of %d bits: %s N makes wider ones of texts", 64*s.Words(), 64*b.other, option.Name("Bits"))
		}
		for _, empty := range b.empty {
			each(!empty)
		}
		for i, m := range b.met {
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := found(Met{int(m.place), &b.docs[m.at], int(m.bits), m.score}); err != nil {
				return err
			}
		}
		return nil
	})
}

// searcher finds the matches of batches. It serves one goroutine.
type searcher struct {
	*Search
	hasher *hasher
	finder *setjoin.FewFinder
	at     []int32 // of each fingerprint of a batch: the document
	pairs  []uint64
	nearby []met // what was found by its fingerprints, by document and place
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
		b.prints = append(b.prints, slices.Concat(b.docs[i].Fingerprints...)...)
		for range 1 + len(b.docs[i].Fingerprints) {
			w.at = append(w.at, int32(i))
		}
	}
	w.pairs, w.nearby = w.near(w.pairs[:0], b.prints), w.nearby[:0]
	for _, p := range w.pairs {
		print, row, n := int(p>>32), int(p&(1<<32-1)), len(w.prints)
		w.nearby = append(w.nearby, met{at: w.at[print], place: w.of[row], bits: int32(w.distance(b.prints[print*n:][:n], row))})
	}
	slices.SortFunc(w.nearby, func(a, b met) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.place, b.place), cmp.Compare(a.bits, b.bits))
	})
	nearby := slices.CompactFunc(w.nearby, func(a, b met) bool { return a.at == b.at && a.place == b.place })
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

// merge adds the matches of document i, which was found by its set and its fingerprint, each in the
// order of places.
func (w *searcher) merge(b *featured, i int, nearby []met) {
	scored := w.scored
	for len(scored) > 0 || len(nearby) > 0 {
		m := met{at: int32(i), place: math.MaxInt32, bits: -1, score: -1}
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
		b.met = append(b.met, m)
	}
}
