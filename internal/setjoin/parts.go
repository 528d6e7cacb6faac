package setjoin

import (
	"math"
	"slices"
)

// A family may have no centre: pages assembled from alternatives, or texts of a few words. Each
// set shares most of its keys with many others, but no element is in most sets. So neither
// prefixes nor a pivot distinguish the sets that match.
//
// Two matching sets differ in few elements, at most d. Elements are divided into parts by their
// hashes; of any d/2+1 parts, at least one differs in at most one element. This allows finding
// the members of such a family by whole parts: for each part of a member, the index has one node
// for its elements, and one node for each way to remove a single element. (Arasu, Ganti, Kaushik,
// "Efficient Exact Set-Similarity Joins", VLDB 2006)
//
// The number of parts depends on the size of a member: sizes are divided into classes.
type loose struct {
	members [math.MaxUint8]int // by class
	all     int
	tried   int // members at the last attempt to find a pivot
}

const (
	partClasses = 4 // for each doubling of the size
	// leastParted is the least threshold where parts are large enough to distinguish sets: they
	// have 2t/(1-t) elements.
	leastParted = 0.6
	// Parts pay for a set once it meets more than size/partPays elements of others for each set
	// that may become a crowd. Meeting that many costs about as much as looking up each part
	// without each of its elements, in each class. With 4, 10,000 texts of TestWithoutCentre's
	// crowds "few" and "stretches" need three times as long; with 16 they need no longer than
	// without a bound.
	partPays = 16
)

func partClass(size int) int { return int(math.Log2(float64(size)) * partClasses) }

// pays reports whether a set should be found by parts: if it meets many elements otherwise, and
// few by parts. By parts it meets many if these have few elements, or frequent ones: texts of
// few, frequent words, see TestSkewed.
func (c *crowds) pays(p *prefix) bool {
	many := c.most * p.size / partPays
	return p.visited-p.parted >= many && p.parted < max(many, leastCrowd)
}

// differ returns an upper bound of the number of elements in which matching sets of these sizes
// differ.
func (t threshold) differ(x, y float64) int { return int((x+y)*(1-2*t.ratio) + 1e-6) }

// parted reports whether sets may be found by parts: not if one set may be much larger than the
// other, nor if parts would be small.
func (t threshold) parted() bool {
	return (t.Kind == Jaccard || t.Kind == Sketches) && t.t >= leastParted
}

// A parter divides sets into parts. It is scratch memory of one goroutine.
type parter struct {
	set  []uint64 // elements that other sets may have, too
	sums []uint64 // by part: the sum of its elements
	salt uint64
}

// divide divides a set into as many parts as the sets of a class have. It returns the number of
// elements that no other set has according to counts; these are in no part.
func (f *parter) divide(set []uint64, counts *counts, t threshold, class int) (alone int) {
	f.set, f.salt = f.set[:0], uint64(class)<<32
	for _, e := range set {
		if counts.shared(e) {
			f.set = append(f.set, e)
		}
	}
	largest := math.Exp2(float64(class+1)/partClasses) + 1
	n := t.differ(largest, largest/t.t+1)/2 + 1
	f.sums = slices.Grow(f.sums[:0], n)[:n]
	clear(f.sums)
	for _, e := range f.set {
		f.sums[f.part(e)] += e
	}
	return len(set) - len(f.set)
}

// part returns the part of an element.
func (f *parter) part(e uint64) int {
	return int(e * 0x9e3779b97f4a7c15 >> 32 * uint64(len(f.sums)) >> 32)
}

// whole returns the tag of a part; without returns the tag of an element's part without that
// element.
func (f *parter) whole(part int) uint32 { return f.tag(f.sums[part], part) }

func (f *parter) without(e uint64) (tag uint32, part int) {
	part = f.part(e)
	return f.tag(f.sums[part]-e, part), part
}

func (f *parter) tag(sum uint64, part int) uint32 {
	sum = (sum ^ f.salt ^ uint64(part)) * 0xbf58476d1ce4e5b9
	return uint32((sum ^ sum>>29) * 0x94d049bb133111eb >> 32)
}

// withoutOne is added to the tags of members' parts that lack one element.
const withoutOne = 0x7f4a7c15

// spread adds an entry to the loose crowd.
func (x *index) spread(l *loose, entry uint32, p *prefix) {
	cs, class := x.crowds, partClass(p.size)
	l.members[class]++
	l.all++
	cs.parter.divide(p.set, cs.counts, cs.t, class)
	for part := range cs.parter.sums {
		x.insert(cs.parter.whole(part), entry, uint32(p.size))
	}
	for _, e := range cs.parter.set {
		tag, _ := cs.parter.without(e)
		x.insert(tag+withoutOne, entry, uint32(p.size))
	}
}

// parted appends the members of the loose crowd that may match.
func (f *finder) parted(x *index, l *loose, p *prefix, t threshold) {
	before := p.visited
	least, most := t.t*float64(p.size)-1, float64(p.size)/t.t+1
	for class := partClass(max(1, int(least))); class <= partClass(int(most)); class++ {
		if l.members[class] == 0 {
			continue
		}
		differ := t.differ(float64(p.size), min(most, math.Exp2(float64(class+1)/partClasses)+1))
		if differ -= f.parter.divide(p.set, x.crowds.counts, f.t, class); differ < 0 {
			continue
		}
		n := min(differ/2+1, len(f.parter.sums))
		for part := range n {
			whole := f.parter.whole(part)
			f.look(x, p, t, whole)
			f.look(x, p, t, whole+withoutOne)
		}
		for _, e := range f.parter.set {
			if tag, part := f.parter.without(e); part < n {
				f.look(x, p, t, tag)
			}
		}
	}
	f.looked(x, p, t)
	p.parted += p.visited - before
}

// look adds a tag to the pending lookups.
func (f *finder) look(x *index, p *prefix, t threshold, tag uint32) {
	f.lookups[f.n] = lookup{tag: tag, rest: uint32(p.size)}
	if f.n += x.marked(tag); f.n == len(f.lookups) {
		f.looked(x, p, t)
	}
}

// looked completes the pending lookups.
func (f *finder) looked(x *index, p *prefix, t threshold) {
	x.begin(f.lookups[:f.n])
	f.found = x.finish(f.found, f.lookups[:f.n], p, t)
	f.n = 0
}
