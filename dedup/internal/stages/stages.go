package stages

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/internal/token"
)

// A Plan holds the settings that all workers of a job share.
type Plan struct {
	By    corpus.Criterion // a Jaccard similarity or a distance of fingerprints
	Words int              // of 64 bits in a fingerprint
	Ranks Ranks            // of the elements of all sets; without any, only hashes order them
	// Groups is the number of groups of Postings, of Members and of components; 0 means one for
	// each element, cell and component. Large cells are additional groups of their own.
	Groups uint64
	// MaxCell is the largest number of sets that must be in one group; 0 means 1<<16.
	MaxCell int
	// Memory is roughly how many bytes a join of a group may use, not counting its Members; 0
	// means 1 GiB.
	Memory  int64
	TempDir string // for sets that do not fit into memory

	compared int // replaces mostCompared in tests
}

// least returns the least ratio of sizes of two matching sets. A fingerprint counts as a set with
// one element: two that match are equal in one of their blocks.
func (p *Plan) least() float64 {
	if p.By.Sets {
		return p.By.T
	}
	return 1
}

// A Set holds the features of a document. Documents are numbered in the order of preference;
// elements are hashes in strictly ascending order. A document may have several fingerprints.
type Set struct {
	Doc          uint64
	Elements     []uint64
	Fingerprints []uint64 // words of consecutive fingerprints
}

// A Posting means that an element is in a set's prefix.
type Posting struct {
	Key, Doc uint64 // Key orders all elements
	Size     int    // of the set
	Rest     int    // number of the set's elements from this one on
	// Root is the first document of the document's component, as far as it is known. Two
	// documents of one component need not be compared.
	Root uint64
}

// Group returns the group that receives a Posting.
func (p *Plan) Group(x Posting) uint64 { return p.groupOf(x.Key) }

func (p *Plan) groupOf(name uint64) uint64 {
	if name = token.Mix(name); p.Groups > 0 {
		name %= p.Groups
	}
	return name
}

// Route appends the Postings of a set.
func (p *Plan) Route(dst []Posting, s Set) []Posting {
	if !p.By.Sets {
		return p.routePrints(dst, s)
	}
	keys := make([]uint64, len(s.Elements))
	for i, e := range s.Elements {
		keys[i] = p.Ranks.of(e)<<rankShift | e>>(64-rankShift)
	}
	n := min(setjoin.PrefixLen(p.By.T, len(keys)), len(keys))
	ordered.Least(keys, n)
	slices.Sort(keys[:n])
	for i, key := range keys[:n] {
		if i == 0 || key != keys[i-1] { // different elements may have one key
			dst = append(dst, Posting{key, s.Doc, len(keys), len(keys) - i, s.Doc})
		}
	}
	return dst
}

// An Ask assigns the set of a document to a cell of a group, where it is compared with the other
// sets of the cell. Cell 0 holds the sets of the group's large cells.
type Ask struct {
	Doc uint64
	Asked
}

// Meet assigns documents to cells, given all Postings of a group, so that all pairs are found
// except for documents that are known to be in one component.
func (p *Plan) Meet(postings []Posting) (asks []Ask) {
	for sets := range p.elements(postings) {
		asks = p.cells(asks, sets)
	}
	return compact(asks)
}

// MeetFirst is Meet for Links. It returns separately the Postings of elements in more than
// MaxCell sets; these get their Roots from the Forest of the links found so far, and then Meet
// receives them. Candidates is a Forest that links all documents that may match.
func (p *Plan) MeetFirst(postings []Posting) (asks []Ask, later []Posting, candidates []Link) {
	most := p.mostInCell()
	for sets := range p.elements(postings) {
		for i := range sets {
			if i > 0 {
				candidates = append(candidates, Link{sets[0].Doc, sets[i].Doc})
			}
		}
		if len(sets) <= most {
			asks = p.cell(asks, sets)
			continue
		}
		later = append(later, sets...)
		// Consecutive parts overlap, which links the sets of a crowd.
		for common := max(most/8, 1); len(sets) > common; {
			n := min(most, len(sets))
			asks = p.cell(asks, p.company(sets[:n]))
			sets = sets[n-common:]
		}
	}
	return compact(asks), later, Forest(candidates)
}

// Whole splits the Forest of all candidates. The components in small have at most MaxCell/ownShare
// documents: Stars joins them whole, without their Links. Those in large may be most of all sets,
// because few candidates connect very many documents, so their documents receive Asks.
func (p *Plan) Whole(candidates []Link) (small, large []Link) {
	others := map[uint64]int{}
	for _, l := range candidates {
		others[l.A]++
	}
	for _, l := range candidates {
		if others[l.A] < p.mostInCell()/ownShare {
			small = append(small, l)
		} else {
			large = append(large, l)
		}
	}
	return small, large
}

// Only returns the Asks of the documents in links.
func Only(asks []Ask, links []Link) []Ask {
	in := make(map[uint64]bool, len(links))
	for _, l := range links {
		in[l.A], in[l.B] = true, true
	}
	return slices.DeleteFunc(asks, func(a Ask) bool { return !in[a.Doc] })
}

// elements yields, for each element, the sets that may have a partner, ordered by size, in a
// slice that is reused. Most elements are in a single set.
func (p *Plan) elements(postings []Posting) iter.Seq[[]Posting] {
	order := ordered.MakePairs(len(postings))
	for i, x := range postings {
		order.Keys[i], order.Vals[i] = x.Key, uint32(i)
	}
	order = ordered.SortPairs(order, ordered.MakePairs(len(postings)))
	return func(yield func([]Posting) bool) {
		var sets []Posting
		for from, to := 0, 0; from < len(order.Keys); from = to {
			for to = from + 1; to < len(order.Keys) && order.Keys[to] == order.Keys[from]; to++ {
			}
			if to == from+1 {
				continue
			}
			sets = sets[:0]
			for _, i := range order.Vals[from:to] {
				sets = append(sets, postings[i])
			}
			slices.SortFunc(sets, func(a, b Posting) int { return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Doc, b.Doc)) })
			sets = slices.CompactFunc(sets, func(a, b Posting) bool { return a.Doc == b.Doc })
			if !yield(p.company(sets)) {
				return
			}
		}
	}
}

func (p *Plan) mostInCell() int {
	if p.MaxCell == 0 {
		return 1 << 16
	}
	return max(p.MaxCell, 2)
}

// cells appends the Asks of sets that share an element, in order of size.
func (p *Plan) cells(asks []Ask, sets []Posting) []Ask {
	most := p.mostInCell()
	if len(sets) <= most {
		return p.cell(asks, sets)
	}
	parts, alone := slices.Collect(slices.Chunk(sets, most/2)), true
	for i, a := range parts {
		largest, before := float64(a[len(a)-1].Size), alone
		alone = true // the next part shares no cell with this one
		for n, b := range parts[i+1:] {
			if float64(b[0].Size)*p.least() > largest+slack {
				break
			}
			asks = p.cell(asks, p.company(slices.Concat(a, b)))
			before, alone = false, alone && n > 0
		}
		if before {
			asks = p.cell(asks, p.company(a))
		}
	}
	return asks
}

// A cell with more than MaxCell/ownShare sets is a group of its own.
const ownShare = 4

// Cells with up to mostCompared sets compare all pairs; larger cells are joined. With 100,000 texts
// as in docs/cluster.md, step link needs 3.7 s of CPU with 16, 1.2 s with 64, and 1.0 s with 256 or
// 1,024; more comparisons in a cell would only help cells that are rare.
const mostCompared = 256

// cell appends Asks that assign sets to one cell, unless there is only one set. The cell's name
// depends only on the documents. Small cells with the same first document are in one group: the
// cells of a document with copies mostly hold the same documents, except for one or two, so a set
// is sent to fewer groups.
func (p *Plan) cell(asks []Ask, sets []Posting) []Ask {
	if len(sets) < 2 {
		return asks
	}
	name, first, cell := uint64(0), sets[0].Doc, uint32(0)
	for _, s := range sets {
		name, first = token.Mix(name+s.Doc), min(first, s.Doc)
	}
	group := p.groupOf(name)
	switch small := p.By.Sets && len(sets) <= cmp.Or(p.compared, mostCompared); {
	case len(sets) > p.mostInCell()/ownShare:
		group = name | 1<<63
	case small && p.Groups > 0:
		group, cell = p.groupOf(first), uint32(name>>32)|1
	case small:
		cell = 1
	}
	for _, s := range sets {
		asks = append(asks, Ask{s.Doc, Asked{group, cell}})
	}
	return asks
}

// slack absorbs rounding errors: it may admit too much, never too little.
const slack = 1e-6

// company removes the sets that cannot match another set, judging by the elements from their
// common one on: matching sets of sizes x and y share at least (x+y) t/(1+t) elements. Sets of
// the same component do not count as partners. The sets are in order of size, and remain so.
func (p *Plan) company(sets []Posting) []Posting {
	ratio := p.least() / (1 + p.least())
	spare := func(s Posting) float64 { return float64(s.Rest) - ratio*float64(s.Size) }
	// For each prefix of the sets: the set that has the most to spare, and the most that a set of
	// another component has.
	first, second := make([]int, len(sets)), make([]float64, len(sets))
	best, next := 0, math.Inf(-1)
	for i, s := range sets {
		v, same := spare(s), s.Root == sets[best].Root
		switch {
		case v > spare(sets[best]):
			if !same {
				next = spare(sets[best])
			}
			best = i
		case !same:
			next = max(next, v)
		}
		first[i], second[i] = best, next
	}
	kept := sets[:0:0]
	for _, s := range sets {
		largest := spare(s)/ratio + slack // the largest size it has enough elements for
		last, _ := slices.BinarySearchFunc(sets, largest, func(o Posting, size float64) int {
			if float64(o.Size) <= size {
				return -1
			}
			return 1
		})
		if last == 0 {
			continue
		}
		most := second[last-1]
		if sets[first[last-1]].Root != s.Root {
			most = spare(sets[first[last-1]])
		}
		if most >= ratio*float64(s.Size)-slack {
			kept = append(kept, s)
		}
	}
	return kept
}

// compact sorts Asks and removes duplicates.
func compact(asks []Ask) []Ask {
	slices.SortFunc(asks, func(a, b Ask) int {
		if a.Doc != b.Doc {
			return cmp.Compare(a.Doc, b.Doc)
		}
		return a.compare(b.Asked)
	})
	return slices.Compact(asks)
}

// Shards returns the Asks of all documents in components, given the Forest of all Links.
func (p *Plan) Shards(forest []Link) []Ask {
	asks := make([]Ask, 0, 2*len(forest))
	for _, l := range forest {
		shard := Asked{Group: p.groupOf(l.A)}
		asks = append(asks, Ask{l.A, shard}, Ask{l.B, shard})
	}
	return compact(asks)
}

// A Star names the document that is kept in place of Doc; a keeper is its own keeper. Score has
// the meaning of Pair.Score.
type Star struct {
	Doc, Keeper uint64
	Score       float64
}

// Stars forms the star clusters of a shard.
func (p *Plan) Stars(ctx context.Context, members []Member) ([]Star, error) {
	members = distinct(members)
	c, err := p.join(members)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var keeper []uint32
	var score func(i int) float64
	if p.By.Sets {
		found, err := c.Sets.Stars(ctx, p.By.T, setjoin.Options{})
		if err != nil {
			return nil, err
		}
		keeper, score = found.Keeper, func(i int) float64 { return found.Score[i] }
	} else {
		keepers, distance, err := c.PrintStars(ctx, nil, p.By.K, 0, nil, selfjoin.Options{})
		if err != nil {
			return nil, err
		}
		keeper, score = keepers, func(i int) float64 { return float64(distance[i]) }
	}
	stars := make([]Star, len(members))
	for i := range stars {
		stars[i] = Star{members[i].Doc, members[keeper[i]].Doc, score(i)}
	}
	return stars, nil
}
