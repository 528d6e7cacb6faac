package sketchidx

import (
	"sync/atomic"

	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/minhash"
)

// A crowd says which sketches of a segment may be similar for their hot hashes alone: pages of one
// template are those that all share most hashes. They are in the postings of the same hot hashes,
// so a search for one of them finds all others. If such searches have compared as many sketches as
// the segment has, groups of these sketches (hot.Groups) are made, which take as long as that, and
// from then on the place of postings of hot hashes. A file has no groups.
type crowd struct {
	compared atomic.Int64 // sketches
	made     atomic.Bool  // or being made, or not to be made
	groups   atomic.Pointer[hot.Groups]
}

// maxMembers is how many members the groups of a segment have at most: 17 MiB. Of more, none are
// made.
const maxMembers = 1 << 18

// scored counts the sketches that a search whose prefix has hot hashes compares.
func (c *crowd) scored(s *Searcher) {
	if s.cold < len(s.prefix) && c.groups.Load() == nil {
		c.compared.Add(int64(len(s.passed)))
	}
}

// groups returns of which hashes of the prefix of a query the postings are to be read, and the
// groups that serve the other ones; nil if there are none.
func (x *Index) groups(seg *segment, s *Searcher) (prefix []uint32, groups *hot.Groups) {
	if s.cold == len(s.prefix) {
		return s.prefix, nil
	}
	c := seg.crowd
	if groups = c.groups.Load(); groups == nil && c.compared.Load() >= int64(seg.bitmaps.len()) && c.made.CompareAndSwap(false, true) {
		groups = x.makeGroups(seg)
		c.groups.Store(groups)
	}
	if groups == nil {
		return s.prefix, nil
	}
	return s.prefix[:s.cold], groups
}

// makeGroups returns the groups of a segment; nil if they had too many members, or if a sketch
// can't be read, which is an error of the search that needs it.
func (x *Index) makeGroups(seg *segment) *hot.Groups {
	order, err := x.order()
	if err != nil {
		return nil
	}
	groups := hot.NewGroups(int(x.params.Size))
	var sketch minhash.Sketch
	var prefix []uint32
	var keys []hot.Key
	for i := range uint32(seg.bitmaps.len()) {
		if sketch, err = x.Sketch(seg.first+i, sketch[:0]); err != nil || groups.Members() == maxMembers {
			return nil
		}
		var cold int
		prefix, cold, keys = order.Prefix(prefix[:0], sketch, prefixLength(len(sketch), x.params.MinJaccard), keys)
		if cold < len(prefix) {
			shape := hot.NewShape(len(sketch), keys)
			groups.Add(i, &shape)
		}
	}
	return groups
}
