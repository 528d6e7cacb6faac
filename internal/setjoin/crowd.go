package setjoin

import (
	"cmp"
	"slices"

	"github.com/simdb/simdb/internal/textsim"
)

// Very many sets may be variants of one set with a few changes each: a letter sent to many
// people, or pages of a template. If the threshold lies within the range of their similarities,
// each shares most keys with all others but matches only few. Such entries of an index form a
// crowd, which has a pivot: the elements that most members share. The difference of a set from
// the pivot is the set of elements that are in only one of the two. The overlap of two sets
// follows from their differences:
//
//	|x ∩ y| = |pivot| - |pivot \ x| - |pivot \ y| + common elements of both differences
//
// since an element of both differences is either missing from both sets or added to both.
//
// So an inverted list of members exists for each element of a difference. Reading the lists of
// the elements of a set's own difference once yields the exact overlap with each member. Each
// segment of a crowd has its own lists: its counters stay in the cache, and if one match per part
// suffices, reading stops at the segment where all parts have been found.
//
// In the chains and postings of the index, the members of one size share one entry, their lead,
// the first one. It has a node for each key of any member, with a rest that rules out none.
type crowd struct {
	pivot    []uint64 // ascending
	segments []*crowdSegment
	leads    map[int]uint32      // by size
	nodes    map[uint64]struct{} // the nodes of leads, by lead and tag
	loose    *loose              // nil if there is a pivot
	parts    []uint32            // Components: members, at least one of each part
	apart    int                 // length of parts after it was last compacted
	slots    int
}

// A crowdSegment holds some members.
type crowdSegment struct {
	lists  map[uint64][]uint32 // by element of differences: slots of members
	chunks []crowdChunk        // slot n is in chunks[n/chunkSlots]
	open   map[crowdClass]int  // by class: its last chunk, which may have free slots
}

// A crowdClass is the members of one size that lack the same number of the pivot's elements.
type crowdClass struct{ size, missing int }

// A crowdChunk has members of one class, in the order of entries.
type crowdChunk struct {
	crowdClass
	entries []uint32
}

const (
	chunkSlots = 64
	// leastCrowd is the number of entries that may form a crowd, and the number of common keys that
	// a set must meet before its crowd is looked for.
	leastCrowd  = 64
	mostAlone   = 1 << 12 // Contained: no crowd is formed above that many entries of an element
	crowdShare  = 2       // a member differs from the pivot in at most 1/crowdShare of its size
	crowdSample = 16      // most sets that determine a pivot

	segmentChunks = 128 // chunks in a segment
	chunkBytes    = 4*chunkSlots + 64
	partSlots     = 16 // least slots per part at which it pays to check whether all parts have been found
)

// crowds are the crowds of an index.
type crowds struct {
	counts  *counts
	read    func(entry uint32) ([]uint64, error) // returns the set of an entry
	of      map[uint32]*crowd                    // by lead
	part    func(entry uint32) uint32            // for Components, which need only one match of each part
	t, any  threshold                            // of the join, and one that every pair reaches
	loose   *crowd                               // nil if there is none
	parter  parter
	most    int // Options.crowd
	least   int // entries without a crowd at which one is formed
	bytes   int64
	found   []uint32
	differs []uint64
}

func (c *crowds) reset() { c.of, c.least, c.bytes, c.loose = map[uint32]*crowd{}, c.most, 0, nil }

// difference appends the elements that are in either a set or the pivot but not both, except for
// elements that no other set has according to counts, and returns how many elements of the pivot
// the set lacks.
func (c *crowd) difference(dst, set []uint64, counts *counts) (_ []uint64, missing int) {
	i, k := 0, 0
	for i < len(c.pivot) || k < len(set) {
		switch {
		case k == len(set) || i < len(c.pivot) && c.pivot[i] < set[k]:
			dst = append(dst, c.pivot[i])
			i, missing = i+1, missing+1
		case i == len(c.pivot) || set[k] < c.pivot[i]:
			if counts == nil || counts.shared(set[k]) {
				dst = append(dst, set[k])
			}
			k++
		default:
			i, k = i+1, k+1
		}
	}
	return dst, missing
}

// crowd adds an entry to a crowd, if there is a suitable one or one can be formed.
func (x *index) crowd(entry uint32, p *prefix) bool {
	cs := x.crowds
	if cs == nil || p.visited < cs.most && !p.whole {
		return false
	}
	asked := p
	if p.whole { // Contained: it may have met no entry although very many sets would meet it
		if cs.least > mostAlone {
			return false
		}
		mid := len(p.keys) / 2
		asked = &prefix{size: p.size, alone: p.alone + mid, keys: p.keys[mid : mid+1], look: 1, whole: true}
	}
	before := p.visited
	cs.found = x.candidates(cs.found[:0], asked, cs.any) // including entries that cannot match it
	p.visited = before
	if len(cs.found) < cs.most {
		return false
	}
	slices.Sort(cs.found)
	cs.found = slices.Compact(cs.found)
	found := false
	for _, e := range cs.found {
		switch c := cs.of[e]; {
		case c == nil:
		case c.loose != nil:
			found = true
		case x.join(c, entry, p):
			return true
		}
	}
	pays := cs.t.parted() && (cs.part != nil || cs.pays(p)) // twins are members
	alone := slices.DeleteFunc(cs.found, func(e uint32) bool { return cs.of[e] != nil })
	if len(alone) >= cs.least && (!found || cs.loose.loose.all >= 2*cs.loose.loose.tried) {
		c := &crowd{pivot: cs.pivot(alone), leads: map[int]uint32{}, nodes: map[uint64]struct{}{}}
		if x.join(c, entry, p) {
			return true
		}
		if !found && !pays {
			cs.least = 2 * len(alone) // these have too little in common
			return false
		}
		if found = true; cs.loose == nil {
			cs.loose = &crowd{loose: &loose{}, leads: map[int]uint32{}, nodes: map[uint64]struct{}{}}
		}
		cs.loose.loose.tried = cs.loose.loose.all
	}
	return found && pays && x.join(cs.loose, entry, p)
}

// pivot returns the elements that are in more than half of some entries.
func (c *crowds) pivot(entries []uint32) (pivot []uint64) {
	sets := make([][]uint64, min(len(entries), crowdSample))
	for i := range sets {
		var err error
		if sets[i], err = c.read(entries[i*len(entries)/len(sets)]); err != nil {
			return nil // the join gets the same error when it compares the set
		}
	}
	return majority(sets)
}

// majority returns the elements that are in more than half of some sets.
func majority(sets [][]uint64) (elements []uint64) {
	all, half := slices.Concat(sets...), len(sets)/2
	slices.Sort(all)
	for i := half; i < len(all); i++ {
		if all[i] == all[i-half] && (len(elements) == 0 || elements[len(elements)-1] != all[i]) {
			elements = append(elements, all[i])
		}
	}
	return elements
}

// join adds an entry to a crowd, unless it differs too much from the crowd's pivot.
func (x *index) join(c *crowd, entry uint32, p *prefix) bool {
	cs := x.crowds
	if c.loose != nil {
		x.spread(c.loose, entry, p)
	} else if !cs.member(c, entry, p) {
		return false
	}
	lead, ok := c.leads[p.size]
	if !ok {
		lead = entry
		c.leads[p.size], cs.of[lead] = lead, c
	}
	for i := range p.keys {
		tag, _ := p.node(x, i)
		node := uint64(lead)<<32 | uint64(tag)
		if _, ok := c.nodes[node]; !ok {
			c.nodes[node] = struct{}{}
			x.insert(tag, lead, uint32(p.size))
			cs.bytes += 32
		}
	}
	return true
}

// member adds an entry to the lists of its difference from the pivot, unless that is too large.
func (cs *crowds) member(c *crowd, entry uint32, p *prefix) bool {
	var missing int
	if cs.differs, missing = c.difference(cs.differs[:0], p.set, cs.counts); len(cs.differs) > p.size/crowdShare {
		return false
	}
	if c.add(entry, p.size, missing, cs.differs) {
		cs.bytes += chunkBytes
	}
	if cs.part != nil {
		if c.parts = append(c.parts, entry); len(c.parts) > 2*c.apart+4 {
			c.parts = cs.onePerPart(c.parts)
			c.apart = len(c.parts)
		}
	}
	cs.bytes += 8 * int64(len(cs.differs))
	return true
}

// add adds an entry with that size and difference as a member. It reports whether it needed
// another chunk.
func (c *crowd) add(entry uint32, size, missing int, differs []uint64) (grown bool) {
	segment, class := c.open(), crowdClass{size, missing}
	at, ok := segment.open[class]
	if grown = !ok || len(segment.chunks[at].entries) == chunkSlots; grown {
		at = len(segment.chunks)
		segment.open[class] = at
		segment.chunks = append(segment.chunks, crowdChunk{crowdClass: class, entries: make([]uint32, 0, chunkSlots)})
		c.slots += chunkSlots
	}
	chunk := &segment.chunks[at]
	slot := uint32(at*chunkSlots + len(chunk.entries))
	chunk.entries = append(chunk.entries, entry)
	for _, e := range differs {
		segment.lists[e] = append(segment.lists[e], slot)
	}
	return grown
}

// open returns the segment to which members are added.
func (c *crowd) open() *crowdSegment {
	n := len(c.segments)
	if n == 0 || len(c.segments[n-1].chunks) == segmentChunks {
		c.segments = append(c.segments, &crowdSegment{lists: map[uint64][]uint32{}, open: map[crowdClass]int{}})
	}
	return c.segments[len(c.segments)-1]
}

// onePerPart reduces members to one of each part, in the order of parts.
func (c *crowds) onePerPart(members []uint32) []uint32 {
	slices.SortFunc(members, func(a, b uint32) int { return cmp.Compare(c.part(a), c.part(b)) })
	return slices.CompactFunc(members, func(a, b uint32) bool { return c.part(a) == c.part(b) })
}

// takeLeads moves the crowds of leads from the entries found to f.crowds.
func (f *finder) takeLeads(cs *crowds) {
	f.found = slices.DeleteFunc(f.found, func(e uint32) bool {
		c := cs.of[e]
		if c != nil && !slices.Contains(f.crowds, c) {
			f.crowds = append(f.crowds, c)
		}
		return c != nil
	})
}

// expand adds those members of f.crowds that may match to the entries found; with best, the best
// member of each crowd.
func (f *finder) expand(x *index, p *prefix, t threshold, best bool) {
	if len(f.crowds) == 0 {
		return
	}
	p.visited += x.crowds.most
	for _, c := range f.crowds {
		if c.loose != nil {
			f.parted(x, c.loose, p, t)
		} else {
			f.members(c, x.crowds, p, t, best)
		}
	}
	f.ascending(x)
}

// members appends the members of a crowd that may match, or the best one, or one of each part.
func (f *finder) members(c *crowd, cs *crowds, p *prefix, t threshold, best bool) {
	var missing int
	f.differs, missing = c.difference(f.differs[:0], p.set, cs.counts)
	few := cs.part != nil && len(c.parts)*partSlots < c.slots
	if f.parts, f.last = f.parts[:0], none; few {
		for _, e := range c.parts {
			f.parts = append(f.parts, cs.part(e))
		}
		slices.Sort(f.parts)
		f.parts = slices.Compact(f.parts)
	}
	bestEntry, most := none, 0.0
	for _, s := range c.segments {
		if few && len(f.parts) == 0 {
			break
		}
		f.count(s)
		for at := range s.chunks {
			chunk := &s.chunks[at]
			whole := len(c.pivot) - missing - chunk.missing // plus the common elements of the differences
			need := t.need(p.size, chunk.size) - whole
			if need > len(f.differs) {
				continue
			}
			for i, n := range f.common[at*chunkSlots:][:len(chunk.entries)] {
				if int(n) < need {
					continue
				}
				entry := chunk.entries[i]
				if !best {
					if cs.part == nil || f.take(cs.part(entry), few) {
						f.found = append(f.found, entry)
					}
					continue
				}
				need = int(n) + 1
				if s := t.score(p.size, chunk.size, whole+int(n)); s > most || s == most && entry < bestEntry {
					bestEntry, most = entry, s
					t = t.higher(max(t.t, s))
				}
			}
		}
	}
	if bestEntry != none {
		f.found = append(f.found, bestEntry)
	}
}

// take marks a part as found. It reports false if it knows that the part has been found before.
func (f *finder) take(part uint32, few bool) bool {
	if part == f.last {
		return false
	}
	f.last = part
	at, ok := slices.BinarySearch(f.parts, part)
	if ok {
		f.parts = slices.Delete(f.parts, at, at+1)
	}
	return ok || !few
}

// count computes, for each slot, the common elements of its difference and the set's.
func (f *finder) count(s *crowdSegment) {
	n := len(s.chunks) * chunkSlots
	f.common = slices.Grow(f.common[:0], n)[:n]
	clear(f.common)
	for _, e := range f.differs {
		list := s.lists[e]
		f.visited += len(list)
		for _, slot := range list {
			f.common[slot]++
		}
	}
}

// A finder finds the entries of an index that may match. It is not safe for concurrent use.
type finder struct {
	t       threshold // of the join
	found   []uint32
	crowds  []*crowd // whose leads the current search has found
	hits    []uint32 // by entry, of Edits: the number of its pieces found; of a tally: its common elements
	reaches []reach  // Edits: by length of texts, from least on
	least   int
	nodes   []uint32            // Edits: results of a lookup, in the form of index.found
	bounds  []textsim.EditBound // Edits by length: by length of texts, from the least on
	differs []uint64            // Jaccard: difference from the pivot of a crowd
	parts   []uint32            // Components: parts that are not found yet, ascending, if there are few parts
	last    uint32              // Components: the last part found
	common  []uint32            // Jaccard: by slot of a crowd's segment
	marks   []uint64            // a bit for each entry, to sort many
	visited int                 // number of entries visited in lists of shared elements
	parter  parter
	lookups [lookupsAtOnce]lookup // the first n are in use
	n       int
}
