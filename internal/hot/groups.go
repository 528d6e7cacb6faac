package hot

import (
	"sync/atomic"
	"unsafe"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/minhash"
)

// Groups find sketches that may be similar to one because of common hot hashes. If two sketches
// with a score of t or more have no cold hash in common, all that they have in common is hot: of
// those that miss as few cold hashes, minhash.LeastCommon hashes. So members are grouped by their
// size and by how many hot hashes they have: a group with too few is skipped as a whole. That
// happens to pages of a template that are less similar to each other than t. Members of other
// groups are compared by a bitmap of their hot hashes, in which each of the first 512 hot hashes
// has a bit of its own.
//
// One goroutine at a time adds; any number may search meanwhile.
type Groups struct {
	n    int // hashes of a full sketch
	all  atomic.Pointer[[]*group]
	open map[groupClass]*group // of each class the one that has room, or is the last one

	members, bytes int
}

type groupClass struct{ size, hot int }

// A group has members of one class, up to the length of its slices. Each group of a class has room
// for twice as many as the one before it.
type group struct {
	groupClass
	n     atomic.Uint32 // members
	at    []uint32      // their positions
	masks []minhash.Bitmap
}

const (
	maskBits    = 8 * len(minhash.Bitmap{}) * 8
	leastGroup  = 8 // members of the first group of a class
	memberBytes = 4 + maskBits/8
)

// Together is how many members are compared at a time.
const Together = 128

// NewGroups returns groups without members for sketches of at most n hashes.
func NewGroups(n int) *Groups {
	g := &Groups{n: n, open: map[groupClass]*group{}}
	g.all.Store(new([]*group))
	return g
}

// A Shape is what groups have of a sketch.
type Shape struct {
	groupClass
	mask minhash.Bitmap
}

// NewShape returns the shape of a sketch of size hashes, of which keys are hot.
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
		room := leastGroup
		if last != nil {
			room = 2 * len(last.at)
		}
		last = &group{groupClass: s.groupClass, at: make([]uint32, room), masks: make([]minhash.Bitmap, room)}
		g.open[s.groupClass] = last
		old := *g.all.Load()
		all := append(old, last) // readers see no more than they have loaded the length of
		g.all.Store(&all)
		g.bytes += room*memberBytes + int(unsafe.Sizeof(*last)) + 32 // and in the map
	}
	i := last.n.Load()
	last.at[i], last.masks[i] = at, s.mask
	last.n.Store(i + 1) // readers see the member when it is complete
	g.members++
}

// Members returns how many there are.
func (g *Groups) Members() int { return g.members }

// Bytes returns the memory of the groups.
func (g *Groups) Bytes() int { return g.bytes }

// Each calls do with members, some at a time, that may have a score of t or more with a sketch of a
// shape, until it returns true, and reports whether it has. All that have such a score and no cold
// hash in common with it are among them. found is room for them. It returns how many bitmaps it has
// compared.
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
