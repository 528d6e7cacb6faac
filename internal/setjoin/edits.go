package setjoin

import (
	"math"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/textsim"
)

// For Edits, the set of a text has the hashes of its runs of q runes, one from each rune on, in
// the order of the text, which is extended by q-1 marks. The runs from runes 0, q, 2q, ... on are
// its pieces; an edit changes at most one of them. Of any d+1 pieces, at least one is a run of
// every text within d edits, and of m pieces at least m-d are. The index has as many pieces of a
// text as this requires, roughly the rarest, and the runs of other texts are looked up in it
// (Qin, Wang, Lu, Xiao, Lin, "Efficient Exact Edit Similarity Query Processing with the
// Asymmetric Signature Scheme", SIGMOD 2011).
//
// An unchanged piece moves by e runes if e more runes are inserted than deleted before it, and
// k-e more after it, where the other text is longer by k: |e| + |k-e| <= d. A node of the index
// therefore represents a piece at an approximate position in a text of an approximate length.

// EditGrams returns the length of the runs that find texts at a threshold. A text of n runes has
// at least n/q pieces, and a matching text, of up to n+d runes, needs at most d <= n (1-t)/t
// edits, which must be fewer. Longer runs are rarer. Runs shorter than fewestRunes are too
// frequent to be useful; then EditGrams returns 1, and texts are found only by length.
func EditGrams(t float64) int {
	const fewestRunes, mostRunes = 3, 12
	q := int(min(0.99*t/max(1-t, 1e-9), mostRunes))
	if q < fewestRunes {
		return 1
	}
	return q
}

// LeastEdits is the least threshold of Edits: below it, rounding could make texts match that
// share nothing.
const LeastEdits = 1e-6

// partners returns the least and the greatest length of texts that match a text of n runes, or a
// wider range.
func (t threshold) partners(n int) (least, most int) {
	return max(n-textsim.MostEdits(n, t.t), 1), int(min((float64(n)+1e-6)/t.t, math.MaxInt32))
}

// farthest returns the most edits between a text of n runes and a matching text, or more.
func (t threshold) farthest(n int) int {
	return int(min((1-t.t)/t.t*float64(n)+1e-6, math.MaxInt32))
}

// Texts are divided into classes by length: lengthClasses classes per doubling.
const (
	lengthBits    = 1
	lengthClasses = 1 << lengthBits
)

func lengthClass(n int) int {
	b := bits.Len(uint(n))
	return b<<lengthBits | int(uint64(n)<<lengthBits>>(b-1))&(lengthClasses-1)
}

// shortest returns the least length in a class.
func shortest(class int) int {
	n := uint64(lengthClasses|class&(lengthClasses-1)) << (class >> lengthBits)
	return int(min((n+2*lengthClasses-1)>>(lengthBits+1), math.MaxInt32))
}

// stretch returns how many trailing bits of positions are dropped in lookups of texts in a class,
// so that a window of positions has few values.
func (t threshold) stretch(class int) int {
	return max(bits.Len(uint(t.farthest(shortest(class)))), 3)
}

// nodeTag returns the tag of a run in texts of a class, at a position without its trailing bits.
func nodeTag(run uint32, class, position int) uint32 {
	return run + uint32(class)*0x85ebca6b ^ uint32(position)*0xc2b2ae35
}

// textPrefix implements prefixer.of for Edits.
func (p *prefixer) textPrefix(set, dst []uint64) (prefix, []uint64) {
	n, q := len(set), p.t.Q
	f := prefix{size: n, whole: true, pieces: 1, signed: p.t.byLength()}
	if n == 0 {
		return f, dst
	}
	class := lengthClass(n)
	from := len(dst)
	if p.t.byLength() {
		dst = append(dst, uint64(placeOf(nodeTag(0, class, 0), 0)))
		f.keys = dst[from:len(dst):len(dst)]
		if p.signer == nil {
			p.signer = textsim.NewSigner(features.Spec{})
		}
		f.signature = p.signer.SignHashes(set)
		return f, dst
	}
	all := (n + q - 1) / q
	f.pieces = min(all, p.t.farthest(n)+1)
	p.keys = p.keys[:0]
	for i := range all {
		if h := set[i*q]; p.counts.shared(h) {
			p.keys = append(p.keys, p.counts.rankOf(h)<<hashBits|uint64(i))
		}
	}
	// Pieces that no other text has are the rarest; no text finds them.
	if most := f.pieces - (all - len(p.keys)); most > 0 {
		ordered.Least(p.keys, most)
		stretch := p.t.stretch(class)
		for _, key := range p.keys[:most] {
			at := int(key&(1<<hashBits-1)) * q
			dst = append(dst, uint64(placeOf(nodeTag(runTag(set[at]), class, at>>stretch), at)))
		}
	}
	f.keys = dst[from:len(dst):len(dst)]
	from = len(dst)
	for at, h := range set {
		if p.counts.shared(h) {
			dst = append(dst, uint64(placeOf(runTag(h), at)))
		}
	}
	f.runs = dst[from:len(dst):len(dst)]
	slices.Sort(f.runs)
	return f, dst
}

// runTag returns the bits of a hash that identify a run in the index.
func runTag(hash uint64) uint32 { return uint32(hash >> 32) }

// reachOf returns the reach between a text of x runes and a text of the index with y runes.
func (t threshold) reachOf(x, y int) reach {
	d := textsim.MostEdits(max(x, y), t.t)
	return reach{int32(d), int32((d + x - y) >> 1), int32((d - x + y) >> 1)}
}

// firstLookups is the number of lookups before the first comparison, if only the best match is
// wanted.
const firstLookups = 8

// candidates returns the entries that may match a set, ascending. If only the best match is wanted,
// it may return those that some keys find; then more is true, and the next call continues, maybe
// with a higher threshold: fewer keys find the sets that match better.
func (f *finder) candidates(x *index, p *prefix, t threshold, best bool) (found []uint32, more bool) {
	f.found = f.found[:0]
	before := p.visited
	if p.next == 0 {
		f.crowds = f.crowds[:0]
	}
	switch {
	case x.tally != nil:
		f.tallied(x, p, t)
		return f.found, false
	case t.Kind == Edits:
		f.texts(x, p, t)
	case best:
		to, most := min(p.look, max(t.long(p.size)-p.alone, 0)), lookupsAtOnce
		if p.next == 0 {
			most = firstLookups
		}
		f.found, p.next = x.lookUp(f.found, p, t, p.next, to, most)
		more = p.next < to
	default:
		f.found = x.candidates(f.found, p, t)
	}
	f.ascending(x)
	if x.crowds != nil && len(x.crowds.of) > 0 {
		if f.takeLeads(x.crowds); !more {
			f.expand(x, p, t, best)
		}
	}
	f.visited += p.visited - before + len(f.found)
	return f.found, more
}

// ascending sorts found and removes duplicates. If it has many of all entries, it uses a bitmap.
func (f *finder) ascending(x *index) {
	const share = 32
	if len(f.found) < len(x.sets)/share {
		slices.Sort(f.found)
		f.found = slices.Compact(f.found)
		return
	}
	if n := (len(x.sets) + 63) / 64; len(f.marks) < n {
		f.marks = make([]uint64, n+n/4)
	}
	for _, e := range f.found {
		f.marks[e/64] |= 1 << (e % 64)
	}
	f.found = f.found[:0]
	for at, m := range f.marks[:(len(x.sets)+63)/64] {
		for ; m != 0; m &= m - 1 {
			f.found = append(f.found, uint32(at*64+bits.TrailingZeros64(m)))
		}
		f.marks[at] = 0
	}
}

// texts finds texts, without duplicates.
func (f *finder) texts(x *index, p *prefix, t threshold) {
	if p.size == 0 || len(x.sets) == 0 {
		return
	}
	least, most := t.partners(p.size)
	from, to := lengthClass(least), lengthClass(most)
	if t.byLength() {
		f.byLength(x, p, p.signature.EditFilter(t.t), from, to)
		return
	}
	f.least, f.reaches = least, f.reaches[:0]
	for n := least; n <= most; n++ {
		f.reaches = append(f.reaches, t.reachOf(p.size, n))
	}
	if len(f.hits) < len(x.sets) {
		f.hits = make([]uint32, len(x.sets)+len(x.sets)/4)
	}
	for class := from; class <= to; class++ {
		f.ofClass(x, p, class)
	}
	kept := f.found[:0]
	for _, entry := range f.found {
		if f.hits[entry]+uint32(f.reaches[int(x.sizes[entry])-least].edits) >= x.pieces[entry] {
			kept = append(kept, entry)
		}
		f.hits[entry] = 0
	}
	f.found = kept
}

// ofClass finds texts whose lengths are in a class. Equal runs are looked up together.
func (f *finder) ofClass(x *index, p *prefix, class int) {
	lo := max(shortest(class), f.least)
	hi := min(shortest(class+1)-1, f.least+len(f.reaches)-1)
	if hi < lo {
		return
	}
	before, after := f.reaches[lo-f.least].before, f.reaches[hi-f.least].after
	for _, r := range f.reaches[lo-f.least : hi+1-f.least] {
		before, after = max(before, r.before), max(after, r.after)
	}
	stretch := f.t.stretch(class)
	var all [lookupsAtOnce]lookup
	n := 0
	for i := 0; i < len(p.runs); {
		tag, first := place(p.runs[i]).tag(), place(p.runs[i]).position()
		last := first
		for i++; i < len(p.runs) && place(p.runs[i]).tag() == tag; i++ {
			last = place(p.runs[i]).position()
		}
		end := min(last+int(after), hi-1) >> stretch
		for at := max(first-int(before), 0) >> stretch; at <= end; at++ {
			all[n] = lookup{tag: nodeTag(tag, class, at), from: first, to: last}
			if n += x.marked(all[n].tag); n == len(all) {
				f.pieces(x, p, all[:n])
				n = 0
			}
		}
	}
	f.pieces(x, p, all[:n])
}

// pieces counts, for each entry, the pieces that equal the runs of lookups; a lookup gives the
// first and the last position of equal runs.
func (f *finder) pieces(x *index, p *prefix, all []lookup) {
	x.begin(all)
	for i := range all {
		l := &all[i]
		f.nodes = x.finish(f.nodes[:0], all[i:i+1], p, f.t)
		for i := 0; i < len(f.nodes); i += 2 {
			entry, size := f.nodes[i], int(x.sizes[f.nodes[i]])
			n := uint(size - f.least)
			if n >= uint(len(f.reaches)) {
				continue
			}
			r, at := &f.reaches[n], size-int(f.nodes[i+1])
			if at+(size-1)>>shareBits < l.from-int(r.before) || at > l.to+int(r.after) {
				continue
			}
			if f.hits[entry]++; f.hits[entry] == 1 {
				f.found = append(f.found, entry)
			}
		}
	}
}

// byLength finds texts by length, in these classes, unless their signatures rule them out.
func (f *finder) byLength(x *index, p *prefix, filter *textsim.EditFilter, from, to int) {
	f.bounds = f.bounds[:0]
	for class := from; class <= to; class++ {
		one := [1]lookup{{tag: nodeTag(0, class, 0)}}
		x.begin(one[:])
		f.nodes = x.finish(f.nodes[:0], one[:], p, f.t)
		for i := 0; i < len(f.nodes); i += 2 {
			entry, size := f.nodes[i], int(x.sizes[f.nodes[i]])
			if size < filter.Least || size > filter.Most {
				continue
			}
			for size-filter.Least >= len(f.bounds) {
				f.bounds = append(f.bounds, filter.Of(filter.Least+len(f.bounds)))
			}
			if f.bounds[size-filter.Least].May(&x.signatures[entry]) {
				f.found = append(f.found, entry)
			}
		}
	}
}
