package setjoin

import (
	"cmp"
	"slices"

	"github.com/simdb/simdb/internal/textsim"
)

// Very many sets may be one set with a few changes each: a letter that goes to many, pages of a
// template. Where the threshold lies among their similarities, each shares most keys with all
// others, and is similar to few. Such entries of an index form a crowd, which has a pivot: what
// most of them have in common. A set differs from the pivot in the elements that are in one of both
// only. By the differences of two sets alone it is known how much they have in common:
//
//	|x ∩ y| = |pivot| - |pivot \ x| - |pivot \ y| + what both differences have in common
//
// as an element that is in both differences is missing in both sets, or added in both.
//
// So the members are listed by the elements of their differences, and reading the lists of a set's
// own difference once says exactly what it has in common with each member. Each
// segment of a crowd has such lists of its own: what is counted stays in the cache, and where one
// match of each part is wanted, no more segments are read when all parts are found.
//
// In the chains and postings of the index, the members of one size are one entry, the first of
// them, their lead: it has a node for each key of any of them, with a rest that rules out none.
type crowd struct {
	pivot    []uint64 // ascending
	segments []*crowdSegment
	leads    map[int]uint32      // of each size
	nodes    map[uint64]struct{} // the nodes of leads, by lead and tag
	loose    *loose              // nil if there is a pivot
	parts    []uint32            // Components: members, of each part one at least
	apart    int                 // parts when parts was last cleaned
	slots    int
}

// A crowdSegment is some members.
type crowdSegment struct {
	lists  map[uint64][]uint32 // of an element of differences: slots of members
	chunks []crowdChunk        // slot n is in chunks[n/chunkSlots]
	open   map[crowdClass]int  // of each class: the chunk that has room, or is the last one
}

// A crowdClass is the members of one size that miss as many elements of the pivot.
type crowdClass struct{ size, missing int }

// A crowdChunk has members of one class, in the order of entries.
type crowdChunk struct {
	crowdClass
	entries []uint32
}

const (
	chunkSlots = 64
	leastCrowd = 64 // sets that may become one; and keys of entries that are those of a set, before
	// it is looked for the crowd that it belongs to
	mostAlone   = 1 << 12 // Contained: entries of an element, beyond which no crowd is looked for
	crowdShare  = 2       // members differ from the pivot in one element for that many of theirs at most
	crowdSample = 16      // sets that a pivot is made of, at most

	segmentChunks = 128 // of a segment
	chunkBytes    = 4*chunkSlots + 64
	partSlots     = 16 // slots to each part, at least, where it is asked whether all parts are found
)

// crowds are those of an index.
type crowds struct {
	counts  *counts
	read    func(entry uint32) ([]uint64, error) // returns the set of an entry
	of      map[uint32]*crowd                    // of each lead
	part    func(entry uint32) uint32            // of Components, where any match of a part will do
	t, any  threshold                            // of the join, and one that all sets reach
	loose   *crowd                               // nil if there is none
	parter  parter
	most    int // Options.crowd
	least   int // entries that may become another one
	bytes   int64
	found   []uint32
	differs []uint64
}

func (c *crowds) reset() { c.of, c.least, c.bytes, c.loose = map[uint32]*crowd{}, c.most, 0, nil }

// difference appends the elements by which a set differs from the pivot, except for those that no
// other set has by counts, and returns how many elements of the pivot it misses.
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

// crowd makes an entry a member of a crowd, if there is one for it.
func (x *index) crowd(entry uint32, p *prefix) bool {
	cs := x.crowds
	if cs == nil || p.met < cs.most && !p.whole {
		return false
	}
	asked := p
	if p.whole { // Contained: it may have met none, and would be met by very many
		if cs.least > mostAlone {
			return false
		}
		mid := len(p.keys) / 2
		asked = &prefix{size: p.size, alone: p.alone + mid, keys: p.keys[mid : mid+1], look: 1, whole: true}
	}
	before := p.met
	cs.found = x.candidates(cs.found[:0], asked, cs.any) // also those that cannot match it
	p.met = before
	if len(cs.found) < cs.most {
		return false
	}
	slices.Sort(cs.found)
	cs.found = slices.Compact(cs.found)
	met := false
	for _, e := range cs.found {
		switch c := cs.of[e]; {
		case c == nil:
		case c.loose != nil:
			met = true
		case x.join(c, entry, p):
			return true
		}
	}
	pays := cs.t.parted() && (cs.part != nil || cs.pays(p)) // twins are members
	alone := slices.DeleteFunc(cs.found, func(e uint32) bool { return cs.of[e] != nil })
	if len(alone) >= cs.least && (!met || cs.loose.loose.all >= 2*cs.loose.loose.tried) {
		c := &crowd{pivot: cs.pivot(alone), leads: map[int]uint32{}, nodes: map[uint64]struct{}{}}
		if x.join(c, entry, p) {
			return true
		}
		if !met && !pays {
			cs.least = 2 * len(alone) // these have not enough in common
			return false
		}
		if met = true; cs.loose == nil {
			cs.loose = &crowd{loose: &loose{}, leads: map[int]uint32{}, nodes: map[uint64]struct{}{}}
		}
		cs.loose.loose.tried = cs.loose.loose.all
	}
	return met && pays && x.join(cs.loose, entry, p)
}

// pivot returns the elements that more than half of some entries have.
func (c *crowds) pivot(entries []uint32) (pivot []uint64) {
	sets := make([][]uint64, min(len(entries), crowdSample))
	for i := range sets {
		var err error
		if sets[i], err = c.read(entries[i*len(entries)/len(sets)]); err != nil {
			return nil // the join has this error when it compares the set
		}
	}
	return majority(sets)
}

// majority returns the elements that more than half of some sets have.
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

// join makes an entry a member of a crowd, unless it differs too much from its pivot.
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
		tag, _ := p.node(i)
		node := uint64(lead)<<32 | uint64(tag)
		if _, ok := c.nodes[node]; !ok {
			c.nodes[node] = struct{}{}
			x.insert(tag, lead, uint32(p.size))
			cs.bytes += 32
		}
	}
	return true
}

// member lists an entry by its difference from the pivot, if that is small enough.
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

// add makes an entry of a size a member that differs so from the pivot. It reports whether that
// took another chunk.
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

// open returns the segment of further members.
func (c *crowd) open() *crowdSegment {
	n := len(c.segments)
	if n == 0 || len(c.segments[n-1].chunks) == segmentChunks {
		c.segments = append(c.segments, &crowdSegment{lists: map[uint64][]uint32{}, open: map[crowdClass]int{}})
	}
	return c.segments[len(c.segments)-1]
}

// onePerPart returns the members of parts, one of each, in the order of parts.
func (c *crowds) onePerPart(members []uint32) []uint32 {
	slices.SortFunc(members, func(a, b uint32) int { return cmp.Compare(c.part(a), c.part(b)) })
	return slices.CompactFunc(members, func(a, b uint32) bool { return c.part(a) == c.part(b) })
}

// expand replaces the leads among what was found by the members of their crowds that may match; if
// only the best match is wanted, by that of each crowd.
func (f *finder) expand(x *index, p *prefix, t threshold, best bool) {
	var met []*crowd
	f.found = slices.DeleteFunc(f.found, func(e uint32) bool {
		c := x.crowds.of[e]
		if c != nil && !slices.Contains(met, c) {
			met = append(met, c)
		}
		return c != nil
	})
	if len(met) == 0 {
		return
	}
	p.met += x.crowds.most
	for _, c := range met {
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
			whole := len(c.pivot) - missing - chunk.missing // and what the differences have in common
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

// take reports whether a part has not been found, as far as it is known, and takes it as found.
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

// count counts what the difference of a set has in common with those of each slot.
func (f *finder) count(s *crowdSegment) {
	n := len(s.chunks) * chunkSlots
	f.common = slices.Grow(f.common[:0], n)[:n]
	clear(f.common)
	for _, e := range f.differs {
		list := s.lists[e]
		f.met += len(list)
		for _, slot := range list {
			f.common[slot]++
		}
	}
}

// A finder finds the entries of indexes that may match. It serves one goroutine.
type finder struct {
	t       threshold // of the join
	found   []uint32
	hits    []uint32 // Edits: of each entry, the pieces that were found
	reaches []reach  // Edits: of texts of each length from least on
	least   int
	nodes   []uint32            // Edits: of a lookup, as index.found appends them
	bounds  []textsim.EditBound // Edits by length: of texts of each length from the least on
	differs []uint64            // Jaccard: from the pivot of a crowd
	parts   []uint32            // Components: those that are not found yet if there are few, ascending
	last    uint32              // Components: the part that was found last
	common  []uint32            // Jaccard: of each slot of a segment of a crowd
	marks   []uint64            // a bit for each entry, while many are sorted
	met     int                 // entries that were looked at, in lists of those that share something
	parter  parter
	lookups [lookupsAtOnce]lookup // of which n are there
	n       int
}
