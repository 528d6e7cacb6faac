package sketchidx

import (
	"sync/atomic"

	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/minhash"
)

// A crowd finds the sketches of a segment that may be similar only because of their hot hashes.
// Pages of one template, for example, all share most hashes, so they are in the postings of the
// same hot hashes, and a search for one finds all others. Once such searches have compared as many
// sketches as the segment has, the crowd makes groups of these sketches (hot.Groups). This costs
// about as much as those searches; from then on the groups are used instead of the postings of hot
// hashes. Groups are not stored in files.
type crowd struct {
	compared atomic.Int64 // number of sketches compared
	made     atomic.Bool  // groups have been made, are being made, or cannot be made
	groups   atomic.Pointer[hot.Groups]
}

// maxMembers is the maximum number of members of the groups of a segment: 17 MiB. If there would be
// more, no groups are made.
const maxMembers = 1 << 18

// scored counts the sketches compared by a search whose prefix has hot hashes.
func (c *crowd) scored(s *Searcher) {
	if s.cold < len(s.prefix) && c.groups.Load() == nil {
		c.compared.Add(int64(len(s.passed)))
	}
}

// groups returns the hashes of a query's prefix whose postings must be read, and the groups that
// replace the postings of the other hashes; nil if there are no groups.
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

// makeGroups returns the groups of a segment; nil if they have too many members, or if a sketch
// cannot be read, which the search that needs the sketch will report.
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
