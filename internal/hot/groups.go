package hot

import (
	"sync/atomic"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/minhash"
)

// Groups finds sketches that may be similar to a given one because of common hot hashes. If two
// sketches have a score of t or more but no common cold hash, all their common hashes are hot, and
// there are at least minhash.LeastCommon of these. Therefore members are grouped by size and number
// of hot hashes: a group with too few hot hashes is skipped as a whole. This happens to pages of a
// template whose similarity is less than t. Members of other groups are compared by a bitmap of
// their hot hashes. Each of the first 256 hot hashes has a separate bit.
//
// Only one goroutine may add at a time; any number may search concurrently.
type Groups struct {
	n    int // number of hashes of a full sketch
	all  atomic.Pointer[[]*group]
	open map[groupClass]*group // by class: the last group, which may have free slots

	members, bytes int
}

type groupClass struct{ size, hot int }

// A group has members of one class, as many as the length of its slices. Each group of a class has
// twice the capacity of the previous one.
type group struct {
	groupClass
	n     atomic.Uint32 // number of members
	at    []uint32      // their positions
	masks []minhash.Bitmap
}

const (
	maskBits    = 8 * len(minhash.Bitmap{}) * 8
	leastGroup  = 8 // capacity of the first group of a class
	memberBytes = 4 + maskBits/8
)

// Together is the number of members that are compared at a time.
const Together = 128

// NewGroups returns groups without members for sketches of at most n hashes.
func NewGroups(n int) *Groups {
	g := &Groups{n: n, open: map[groupClass]*group{}}
	g.all.Store(new([]*group))
	return g
}

// A Shape is the part of a sketch that groups store.
type Shape struct {
	groupClass
	mask minhash.Bitmap
}

// NewShape returns the shape of a sketch with size hashes; keys are its hot hashes.
func NewShape(size int, keys []Key) (s Shape) {
	s.groupClass = groupClass{size, len(keys)}
	for _, k := range keys {
		number := k >> 40 % Key(maskBits)
		s.mask[number>>6] |= 1 << (number & 63)
	}
	return s
}

// Add adds a member.
func (g *Groups) Add(at uint32, s *Shape) {
	last := g.open[s.groupClass]
	if last == nil || int(last.n.Load()) == len(last.at) {
		capacity := leastGroup
		if last != nil {
			capacity = 2 * len(last.at)
		}
		last = &group{groupClass: s.groupClass, at: make([]uint32, capacity), masks: make([]minhash.Bitmap, capacity)}
		g.open[s.groupClass] = last
		old := *g.all.Load()
		all := append(old, last) // readers do not look beyond the length that they have loaded
		g.all.Store(&all)
		g.bytes += capacity*memberBytes + int(unsafe.Sizeof(*last)) + 32 // plus the entry in the map
	}
	i := last.n.Load()
	last.at[i], last.masks[i] = at, s.mask
	last.n.Store(i + 1) // readers see the member only after it is complete
	g.members++
}

// Members returns the number of members.
func (g *Groups) Members() int { return g.members }

// Bytes returns the memory of the groups in bytes.
func (g *Groups) Bytes() int { return g.bytes }

// Each calls do with members that may have a score of t or more with a sketch of this shape,
// several at a time. It stops when do returns true, and then returns enough. The members include
// all that have such a score and no common cold hash with the sketch. found is a buffer for the
// arguments of do. compared is the number of bitmaps compared.
func (g *Groups) Each(s *Shape, t float64, found []uint32, do func(at []uint32) (enough bool)) (compared int, enough bool) {
	for _, x := range *g.all.Load() {
		need := minhash.LeastCommon(s.size, x.size, g.n, t)
		if need > min(s.hot, x.hot) {
			continue
		}
		for from, n := 0, int(x.n.Load()); from < n; from += Together {
			to := min(from+Together, n)
			compared += to - from
			found = kernel.FilterBitmaps(found[:0], &s.mask, x.masks[from:to], s.hot-need)
			for i, m := range found {
				found[i] = x.at[from+int(m)]
			}
			if len(found) > 0 && do(found) {
				return compared, true
			}
		}
	}
	return compared, false
}
