package memindex

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/minhash"
)

// MinSketches is how many sketches an index of them is worth its memory for. The bitmaps of fewer
// are compared in some microseconds, less than most searches of a table take.
const MinSketches = 4096

const (
	positionBits = 20
	maxSketches  = 1<<positionBits - 1 // that an index can have
	maxRun       = 64                  // slots from its first one in which a posting may lie
	firstSlots   = 1 << 14
	lists        = 1 << 12 // of crowded postings

	bitmapCost    = 0.9 // nanoseconds to compare a bitmap of all
	prefixCost    = 15  // nanoseconds to look up a hash
	candidateCost = 20  // nanoseconds to compare the bitmap of a candidate
)

// Sketches finds the sketches of a memtable that may be similar to one, while others are added.
//
// Two sketches with a score of at least t share a hash of their prefixes, of the least hashes of
// each (see package sketchidx, which finds rarer ones). An index has a posting for each hash of
// each sketch's prefix. Postings are in a hash table with linear probing; one that finds no free
// slot among the first maxRun, because many sketches have the hash, goes to a list. A slot is
// written once, so readers need no locks; a larger table replaces a full one as a whole.
type Sketches struct {
	t        float64
	table    atomic.Pointer[postingTable]
	sketches []minhash.Sketch // the adder's own
}

// A postingTable holds the postings of an index.
type postingTable struct {
	shift   uint            // the first slot of a mixed hash is its bits from here on
	slots   []atomic.Uint32 // tag | position + 1; 0 for none
	heads   [lists]atomic.Uint32
	crowded atomic.Pointer[[]crowdedPosting] // as long as there is room; replaced by a copy with more

	used, listed int // slots and crowded postings; the adder's own
}

// A crowdedPosting is a posting in a list.
type crowdedPosting struct {
	what uint32 // as in a slot
	next uint32 // after the place of the one before it in the list; 0 for none
}

// newPostingTable returns an empty table.
func newPostingTable(slots int) *postingTable {
	x := &postingTable{shift: uint(32 - bits.Len(uint(slots-1))), slots: make([]atomic.Uint32, slots)}
	x.crowded.Store(new([]crowdedPosting))
	return x
}

// mix spreads a hash over 32 bits: sketches have the least hashes of a text. The low bits, moved to
// where a slot has them, are the tag.
func mix(hash uint32) (mixed, tag uint32) {
	mixed = hash * 0x9e3779b1
	return mixed, mixed << positionBits
}

// prefixOf returns the prefix of a sketch for a threshold.
func prefixOf(s minhash.Sketch, t float64) minhash.Sketch {
	if len(s) == 0 {
		return nil
	}
	return s[:min(minhash.MaxMissing(len(s), t)+1, len(s))]
}

// NewSketches returns an index without sketches that serves thresholds from t on.
func NewSketches(t float64) *Sketches {
	x := &Sketches{t: t}
	x.table.Store(newPostingTable(firstSlots))
	return x
}

// Add adds a sketch, which the index keeps, at the next position.
func (x *Sketches) Add(s minhash.Sketch) {
	if len(x.sketches) == maxSketches {
		return // Gather serves no more
	}
	x.sketches = append(x.sketches, s)
	table, prefix := x.table.Load(), prefixOf(s, x.t)
	if slots := len(table.slots); table.used+len(prefix) > slots/4*3 {
		for table.used+len(prefix) > slots/4*3 {
			slots *= 2
		}
		larger := newPostingTable(slots)
		for at, s := range x.sketches {
			larger.add(prefixOf(s, x.t), uint32(at))
		}
		x.table.Store(larger)
		return
	}
	table.add(prefix, uint32(len(x.sketches)-1))
}

// prefetch prefetches the first slots of hashes.
func (x *postingTable) prefetch(hashes []uint32) {
	for _, hash := range hashes {
		mixed, _ := mix(hash)
		kernel.PrefetchAt(unsafe.Pointer(&x.slots[mixed>>x.shift]), 1)
	}
}

// add adds the postings of a sketch, for which there is room.
func (x *postingTable) add(prefix minhash.Sketch, at uint32) {
	x.prefetch(prefix)
	for _, hash := range prefix {
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
	room := *x.crowded.Load()
	if x.listed == len(room) {
		more := make([]crowdedPosting, max(1024, 2*len(room)))
		copy(more, room)
		x.crowded.Store(&more)
		room = more
	}
	head := &x.heads[mixed%lists]
	room[x.listed] = crowdedPosting{what, head.Load()}
	x.listed++
	head.Store(uint32(x.listed)) // links to it come when it is complete
}

// Bytes returns the memory of the index.
func (x *Sketches) Bytes() int {
	table := x.table.Load()
	return 4*len(table.slots) + 4*lists + 8*len(*table.crowded.Load()) + int(unsafe.Sizeof(minhash.Sketch{}))*len(x.sketches)
}

// Gather appends to dst the positions, each once and in no particular order, of sketches that may
// have a score of t or more with q, among the first n of x, and returns how many postings it
// visited. It returns false, and nothing found, where it takes less time to compare all bitmaps, or
// x cannot say.
func (s *Searcher) Gather(dst []uint32, x *Sketches, n int, q minhash.Sketch, t float64) (found []uint32, visits int, ok bool) {
	if x == nil || t < x.t || n < MinSketches || n > maxSketches {
		return dst, 0, false
	}
	prefix, table := prefixOf(q, t), x.table.Load()
	most := int((bitmapCost*float64(n) - prefixCost*float64(len(prefix))) / candidateCost)
	table.prefetch(prefix)
	first, seen := len(dst), s.seenSet(n)
	for _, hash := range prefix {
		var more int
		if dst, more = table.gather(dst, seen, hash, uint32(n), most-visits); visits+more > most {
			seen.remove(dst[first:])
			return dst[:first], visits, false
		}
		visits += more
	}
	seen.remove(dst[first:])
	return dst, visits, true
}

// gather appends the positions of the sketches that have a hash, among the first n, to dst and to
// seen unless they are there. It gives up after more than most visits.
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
	crowded := *x.crowded.Load() // after the head: it has what that links to
	for ; at != 0 && visits <= most; at = crowded[at-1].next {
		visits++
		if at := (crowded[at-1].what ^ tag) - 1; at < n && !seen.add(at) {
			dst = append(dst, at)
		}
	}
	return dst, visits
}

// A positionSet is a set of positions, a bit for each.
type positionSet []uint64

// seenSet returns an empty set of positions below n.
func (s *Searcher) seenSet(n int) positionSet {
	if words := (n + 63) / 64; len(s.seen) < words {
		s.seen = make(positionSet, 2*words)
	}
	return s.seen
}

// add adds a position and reports whether it was there.
func (s positionSet) add(at uint32) (there bool) {
	word, bit := &s[at/64], uint64(1)<<(at%64)
	there = *word&bit != 0
	*word |= bit
	return there
}

// remove removes positions.
func (s positionSet) remove(all []uint32) {
	for _, at := range all {
		s[at/64] = 0
	}
}

// A SketchPlan says how a search of sketches is done.
type SketchPlan struct {
	Indexed    bool    // postings are visited; else all bitmaps are compared
	Postings   int     // to visit
	Candidates int     // sketches whose bitmap is compared
	Cost       float64 // nanoseconds on one core, estimated
}

// EstimateSketches returns how a search for q with threshold t among the first n sketches of x is
// done. It visits the postings.
func (s *Searcher) EstimateSketches(x *Sketches, n int, q minhash.Sketch, t float64) SketchPlan {
	found, visits, ok := s.Gather(nil, x, n, q, t)
	if !ok {
		return SketchPlan{Candidates: n, Cost: bitmapCost * float64(n)}
	}
	cost := callCost + prefixCost*float64(len(prefixOf(q, t))) + candidateCost*float64(visits)
	return SketchPlan{true, visits, len(found), cost}
}
