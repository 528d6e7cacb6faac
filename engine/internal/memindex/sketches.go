package memindex

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/minhash"
)

// MinSketches is the number of sketches from which an index is worth its memory. Comparing fewer
// bitmaps costs a microsecond, less than most searches of a table.
const MinSketches = 1024

const (
	positionBits = 20
	maxSketches  = 1<<positionBits - 1 // capacity of an index
	maxRun       = 64                  // how many slots from its first one a posting may be stored in
	firstSlots   = 1 << 16
	lists        = 1 << 12 // number of lists of crowded postings
	sampled      = 4096    // limit of the sketches in which hot hashes are counted
	listedShare  = 16      // inverse of the fraction of slots: how many crowded postings may be added before hot hashes are counted again

	bitmapCost    = 0.9 // nanoseconds to compare a bitmap in a scan
	prefixCost    = 15  // nanoseconds to look up a hash
	candidateCost = 20  // nanoseconds to compare the bitmap of a candidate
)

// Sketches finds the sketches of a memtable that may be similar to one, while others are added.
//
// Two sketches with a score of at least t share a hash of their prefixes (see package sketchidx),
// or many hot hashes (see package hot). The index has a posting for each cold hash of each sketch's
// prefix. Postings are in a hash table with linear probing; if the first maxRun slots are full,
// because many sketches have the hash, the posting goes into a list. A slot is written once, so
// readers need no locks. When a table is full, or its lists become long, another table with a new
// list of hot hashes replaces it.
type Sketches struct {
	n        int // number of hashes of a full sketch
	t        float64
	table    atomic.Pointer[postingTable]
	sketches []minhash.Sketch // only the adder accesses sketches and prefix
	prefix   prefix
}

// A prefix is the part of a sketch that is looked up.
type prefix struct {
	prefix []uint32
	cold   []uint32 // hashes whose postings are visited
	keys   []hot.Key
	hot    bool // the prefix contains hot hashes
	shape  hot.Shape
}

// setTo sets x to the prefix of a sketch for a threshold.
func (x *prefix) setTo(s minhash.Sketch, t float64, order *hot.Order) {
	var cold int
	x.prefix, cold, x.keys = order.Prefix(x.prefix[:0], s, minhash.MaxMissing(len(s), t)+1, x.keys)
	x.cold, x.hot = x.prefix[:cold], cold < len(x.prefix)
	if x.hot {
		x.shape = hot.NewShape(len(s), x.keys)
	}
}

// A postingTable holds the postings of an index.
type postingTable struct {
	order   *hot.Order
	groups  *hot.Groups     // sketches with hot hashes in their prefix
	shift   uint            // the first slot of a mixed hash is given by its bits from here on
	slots   []atomic.Uint32 // tag | position + 1; 0 if empty
	heads   [lists]atomic.Uint32
	crowded atomic.Pointer[[]crowdedPosting] // its length is the capacity; replaced by a larger copy

	used, listed, most int // numbers of slots and crowded postings in use, and limit of crowded ones; only the adder accesses them
}

type crowdedPosting struct {
	what uint32 // contents as in a slot
	next uint32 // one plus the index of the previous posting in the list; 0 if none
}

// newPostingTable returns an empty table for sketches of at most n hashes.
func newPostingTable(slots, n int, order *hot.Order) *postingTable {
	x := &postingTable{order: order, groups: hot.NewGroups(n), shift: uint(32 - bits.Len(uint(slots-1))), slots: make([]atomic.Uint32, slots)}
	x.crowded.Store(new([]crowdedPosting))
	x.most = slots / listedShare
	return x
}

// mix spreads a hash over 32 bits, because sketches contain the least hashes of a text. The tag is
// the low bits, shifted to their position in a slot.
func mix(hash uint32) (mixed, tag uint32) {
	mixed = hash * 0x9e3779b1
	return mixed, mixed << positionBits
}

// NewSketches returns an empty index for thresholds from t on and sketches of at most n hashes.
func NewSketches(t float64, n int) *Sketches {
	x := &Sketches{n: n, t: t}
	x.table.Store(newPostingTable(firstSlots, n, hot.NewOrder(nil)))
	return x
}

// Add adds a sketch at the next position. The caller must not change it afterwards.
func (x *Sketches) Add(s minhash.Sketch) {
	if len(x.sketches) == maxSketches {
		return // Gather refuses to search more sketches
	}
	x.sketches = append(x.sketches, s)
	table := x.table.Load()
	x.prefix.setTo(s, x.t, table.order)
	slots := len(table.slots)
	for table.used+len(x.prefix.cold) > slots/4*3 {
		slots *= 2
	}
	if slots == len(table.slots) && table.listed <= table.most {
		table.add(&x.prefix, uint32(len(x.sketches)-1))
		return
	}
	step := (len(x.sketches) + sampled - 1) / sampled
	hashes, _ := hot.Hashes(len(x.sketches)/step, func(i int) ([]uint32, error) { return x.sketches[i*step], nil })
	other := newPostingTable(slots, x.n, hot.NewOrder(hashes))
	for at, s := range x.sketches {
		x.prefix.setTo(s, x.t, other.order)
		other.add(&x.prefix, uint32(at))
	}
	other.most += 2 * other.listed
	x.table.Store(other)
}

// prefetch prefetches the first slots of hashes.
func (x *postingTable) prefetch(hashes []uint32) {
	for _, hash := range hashes {
		mixed, _ := mix(hash)
		kernel.PrefetchAt(unsafe.Pointer(&x.slots[mixed>>x.shift]), 1)
	}
}

// add adds the postings of a sketch. The table must have enough free slots.
func (x *postingTable) add(p *prefix, at uint32) {
	if p.hot {
		x.groups.Add(at, &p.shape)
	}
	x.prefetch(p.cold)
	for _, hash := range p.cold {
		mixed, tag := mix(hash)
		first, i := int(mixed>>x.shift), 0
		for i < maxRun && x.slots[(first+i)&(len(x.slots)-1)].Load() != 0 {
			i++
		}
		if i == maxRun {
			x.list(mixed, tag|(at+1))
			continue
		}
		x.slots[(first+i)&(len(x.slots)-1)].Store(tag | (at + 1))
		x.used++
	}
}

// list adds a posting to the list of a mixed hash.
func (x *postingTable) list(mixed, what uint32) {
	postings := *x.crowded.Load()
	if x.listed == len(postings) {
		more := make([]crowdedPosting, max(1024, 2*len(postings)))
		copy(more, postings)
		x.crowded.Store(&more)
		postings = more
	}
	head := &x.heads[mixed%lists]
	postings[x.listed] = crowdedPosting{what, head.Load()}
	x.listed++
	head.Store(uint32(x.listed)) // link to the posting only when it is complete
}

// Bytes returns the memory of the index.
func (x *Sketches) Bytes() int {
	table := x.table.Load()
	return 4*len(table.slots) + 4*lists + 8*len(*table.crowded.Load()) + table.groups.Bytes() + int(unsafe.Sizeof(minhash.Sketch{}))*len(x.sketches)
}

// Gather appends to dst the positions, among the first n of x, of sketches that may have a score of
// t or more with q, each once and in no particular order. It returns how many postings and members
// of groups it visited. ok is false, and nothing is found, if comparing all bitmaps is cheaper, or
// x does not support the search.
func (s *Searcher) Gather(dst []uint32, x *Sketches, n int, q minhash.Sketch, t float64) (found []uint32, visits int, ok bool) {
	if x == nil || t < x.t || n < MinSketches || n > maxSketches {
		return dst, 0, false
	}
	table, p := x.table.Load(), &s.prefix
	p.setTo(q, t, table.order)
	most := int((bitmapCost*float64(n) - prefixCost*float64(len(p.cold))) / candidateCost)
	table.prefetch(p.cold)
	first, seen := len(dst), s.seenSet(n)
	for _, hash := range p.cold {
		var more int
		if dst, more = table.gather(dst, seen, hash, uint32(n), most-visits); visits+more > most {
			seen.remove(dst[first:])
			return dst[:first], visits, false
		}
		visits += more
	}
	compared, crowded := 0, false
	if p.hot {
		before := visits - len(dst)
		compared, crowded = table.groups.Each(&p.shape, t, s.members[:0], func(members []uint32) bool {
			for _, at := range members {
				if at < uint32(n) && !seen.add(at) {
					dst = append(dst, at)
				}
			}
			visits = before + len(dst)
			return visits > most
		})
	}
	if seen.remove(dst[first:]); crowded {
		return dst[:first], visits, false
	}
	return dst, visits + compared, true
}

// gather appends to dst the positions, among the first n, of the sketches with a hash that are not
// in seen, and adds them to seen. It gives up after more than most visits.
func (x *postingTable) gather(dst []uint32, seen positionSet, hash, n uint32, most int) (found []uint32, visits int) {
	mixed, tag := mix(hash)
	first := int(mixed >> x.shift)
	for i := range maxRun {
		what := x.slots[(first+i)&(len(x.slots)-1)].Load()
		if what == 0 {
			return dst, visits
		}
		if at := (what ^ tag) - 1; at < n { // the tags are equal
			visits++
			if !seen.add(at) {
				dst = append(dst, at)
			}
		}
	}
	at := x.heads[mixed%lists].Load()
	crowded := *x.crowded.Load() // loaded after the head, so that it includes the posting that the head links to
	for ; at != 0 && visits <= most; at = crowded[at-1].next {
		visits++
		if at := (crowded[at-1].what ^ tag) - 1; at < n && !seen.add(at) {
			dst = append(dst, at)
		}
	}
	return dst, visits
}

// A positionSet is a set of positions, one bit each.
type positionSet []uint64

// seenSet returns an empty set of positions below n.
func (s *Searcher) seenSet(n int) positionSet {
	if words := (n + 63) / 64; len(s.seen) < words {
		s.seen = make(positionSet, 2*words)
	}
	return s.seen
}

// add adds a position and reports whether it was in the set already.
func (s positionSet) add(at uint32) (there bool) {
	word, bit := &s[at/64], uint64(1)<<(at%64)
	there = *word&bit != 0
	*word |= bit
	return there
}

func (s positionSet) remove(all []uint32) {
	for _, at := range all {
		s[at/64] = 0
	}
}

// A SketchPlan says how a search of sketches is carried out.
type SketchPlan struct {
	Indexed    bool    // postings are visited; otherwise all bitmaps are compared
	Postings   int     // to visit
	Candidates int     // sketches whose bitmap is compared
	Cost       float64 // estimated nanoseconds on one core
}

// EstimateSketches returns the plan of a search for q with threshold t among the first n sketches
// of x. It visits the postings.
func (s *Searcher) EstimateSketches(x *Sketches, n int, q minhash.Sketch, t float64) SketchPlan {
	found, visits, ok := s.Gather(nil, x, n, q, t)
	if !ok {
		return SketchPlan{Candidates: n, Cost: bitmapCost * float64(n)}
	}
	cost := callCost + prefixCost*float64(len(s.prefix.cold)) + candidateCost*float64(visits)
	return SketchPlan{true, visits, len(found), cost}
}
