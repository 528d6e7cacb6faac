package kernel

import (
	"context"
	"math/bits"
)

// A Pattern is a text that other texts are compared with. It must not be used concurrently.
type Pattern struct {
	n      int            // number of runes
	source []byte         // the text
	blocks int            // number of blocks of 64 rows; the last one is padded with runes that equal no other rune
	ascii  [128]int32     // by rune, its number + 1; 0 if the pattern lacks it
	others map[rune]int32 // the same for other runes
	runes  []occurrences  // by number of the rune

	pv, mv []uint64 // by block, the rows whose distance is one more, or one less, than that of the previous row
	bottom []int32  // by block, the distance of its last row when the band last moved
	equal  [together][]uint64
	text   []rune // buffer

	rows, wideRows []uint64 // for each rune, with 0 for all others: one bit per row, as makeRows sets them
}

// occurrences are the positions of a rune in the pattern: one bit per row or, if there are few, a
// list.
type occurrences struct {
	bits []uint64
	list []int32
}

// NewPattern returns a Pattern for a text.
func NewPattern(text string) *Pattern {
	p := &Pattern{source: []byte(text), others: map[rune]int32{}}
	for _, r := range text {
		i := p.number(r)
		if i == 0 {
			p.runes = append(p.runes, occurrences{})
			i = int32(len(p.runes))
			if uint32(r) < 128 {
				p.ascii[r] = i
			} else {
				p.others[r] = i
			}
		}
		o := &p.runes[i-1]
		o.list = append(o.list, int32(p.n))
		p.n++
	}
	p.blocks = (p.n + 63) / 64
	for i := range p.runes {
		o := &p.runes[i]
		if len(o.list) < p.blocks/2 { // so that all bits together need at most 16 bytes per rune
			continue
		}
		o.bits = paddedWords(p.blocks)
		for _, at := range o.list {
			o.bits[at/64] |= 1 << (at % 64)
		}
		o.list = nil
	}
	p.pv, p.mv, p.bottom = paddedWords(p.blocks), paddedWords(p.blocks), make([]int32, p.blocks)
	for i := range p.equal {
		p.equal[i] = paddedWords(p.blocks)
	}
	return p
}

// Len returns the number of runes.
func (p *Pattern) Len() int { return p.n }

// number returns the number of a rune + 1, or 0 if the pattern lacks it.
func (p *Pattern) number(r rune) int32 {
	if uint32(r) < 128 {
		return p.ascii[r]
	}
	return p.others[r]
}

// strip is the number of columns that are computed with the same blocks. It must be even.
const strip = 64

// slack bounds the difference between a distance within a block and strip, together with its lower
// bound for the rest, and that of the block's last row at the start of the strip: each of 63 rows
// and 64 columns changes both by at most one.
const slack = 4 * 64

// Distance returns the distance between the pattern and text if it is at most most. Otherwise, and
// when ctx ends, it returns false. For a text of n runes at distance d, it needs n * min(d, most) /
// 64 steps of about a nanosecond, and far fewer if most is soon exceeded. It tries smaller limits
// first, because most texts are either much more similar than required, or much less. The point at
// which a limit is exceeded suggests the next limit, because edits are usually distributed evenly.
func (p *Pattern) Distance(ctx context.Context, text []rune, most int) (distance int, ok bool) {
	rest := p.n - len(text) // minimum number of edits
	if max(rest, -rest) > most {
		return 0, false
	}
	if p.n == 0 || len(text) == 0 {
		return max(p.n, len(text)), true
	}
	for limit := max(most/64, 64, rest, -rest); limit < most; {
		d, columns, ok := p.within(ctx, text, limit)
		if ok || ctx.Err() != nil {
			return d, ok
		}
		evenly := int(int64(limit+slack) * int64(len(text)) / int64(max(columns, strip)))
		if limit = max(limit+limit/2, evenly+evenly/8); limit > most/4*3 {
			limit = most
		}
	}
	distance, _, ok = p.within(ctx, text, most)
	return distance, ok
}

// within is Distance with a single limit, for texts that are not empty. The limit must be at least
// the difference in length. If the limit is exceeded, columns is the number of columns within it.
func (p *Pattern) within(ctx context.Context, text []rune, most int) (distance, columns int, ok bool) {
	b := band{p: p, most: most, left: len(text), last: -1}
	for from := 0; from < len(text); from += strip {
		if from%(strip*64) == 0 && ctx.Err() != nil || !b.move() {
			return 0, from, false
		}
		part := text[from:min(from+strip, len(text))]
		for at.eight != Go && len(part) >= together && b.eight(part) {
			part = part[together:]
		}
		for len(part) >= 2 {
			b.two(part[0], part[1])
			part = part[2:]
		}
		if len(part) == 1 {
			b.one(part[0])
		}
		b.left = len(text) - min(from+strip, len(text))
	}
	if b.last != p.blocks-1 {
		return 0, len(text), false
	}
	d := b.above
	for w := b.first; w <= b.last; w++ {
		rows := ^uint64(0) // rows of the pattern
		if r := p.n - w*64; r < 64 {
			rows = 1<<r - 1
		}
		d += bits.OnesCount64(p.pv[w]&rows) - bits.OnesCount64(p.mv[w]&rows)
	}
	return d, len(text), d <= most
}

// A band is the range of blocks [first, last] that are computed. Distances in it are never too
// small, because each is the length of some path. They are exact wherever a path of at most most
// edits passes.
type band struct {
	p           *Pattern
	most        int
	left        int // columns not yet computed
	first, last int
	above       int // an upper bound for the distance of the row above the first block
}

// possible reports whether a path of at most most edits may lead through block b, or from it into
// the next, before the next move.
func (b *band) possible(block int) bool {
	rest := b.p.n - min((block+1)*64, b.p.n) - b.left // the difference between remaining rows and columns is the minimum number of edits
	return int(b.p.bottom[block])+max(rest, -rest) <= b.most+slack
}

// move drops blocks, and adds others at the end, so that the band has all blocks that are possible
// in the next columns. It returns false if there are none.
func (b *band) move() bool {
	p := b.p
	d := b.above
	for w := b.first; w <= b.last; w++ {
		d += bits.OnesCount64(p.pv[w]) - bits.OnesCount64(p.mv[w])
		p.bottom[w] = int32(d)
	}
	for b.last >= b.first && !b.possible(b.last) {
		b.last--
	}
	for b.first <= b.last && !b.possible(b.first) {
		b.above = int(p.bottom[b.first])
		b.first++
	}
	if b.last < b.first && b.last >= 0 {
		return false
	}
	for b.last+1 < p.blocks && (b.last < 0 || b.possible(b.last)) {
		b.last++
		above := int32(0)
		if b.last > 0 {
			above = p.bottom[b.last-1]
		}
		p.pv[b.last], p.mv[b.last], p.bottom[b.last] = ^uint64(0), 0, above+64
	}
	return true
}

// rows returns, for each block of the band, the rows whose rune is r. buf is a buffer.
func (b *band) rows(r rune, buf []uint64) []uint64 {
	buf = buf[:b.last+1-b.first]
	i := b.p.number(r)
	if i > 0 && b.p.runes[i-1].bits != nil {
		return b.p.runes[i-1].bits[b.first : b.last+1]
	}
	clear(buf)
	if i > 0 {
		list := b.p.runes[i-1].list
		from := lowerBound(list, int32(b.first*64))
		for _, at := range list[from:] {
			block := int(at)/64 - b.first
			if block >= len(buf) {
				break
			}
			buf[block] |= 1 << (at % 64)
		}
	}
	return buf
}

// lowerBound returns the number of elements of a sorted list that are less than v.
func lowerBound(list []int32, v int32) int {
	from, to := 0, len(list)
	for from < to {
		mid := int(uint(from+to) >> 1)
		if list[mid] < v {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return from
}

// step advances a block by one column. pv and mv are its vertical differences, and equal the rows
// whose rune is that of the column. hp and hm say whether the distance above the block is one more,
// or one less, than in the previous column. It returns the new differences, and hp and hm for the
// distance of its last row.
func step(pv, mv, equal, hp, hm uint64) (newP, newM, outP, outM uint64) {
	xv := equal | mv
	equal |= hm
	xh := ((equal&pv + pv) ^ pv) | equal
	ph := mv | ^(xh | pv)
	mh := pv & xh
	outP, outM = ph>>63, mh>>63
	ph, mh = ph<<1|hp, mh<<1|hm
	return mh | ^(xv | ph), ph & xv, outP, outM
}

// one computes a column. Above the band, each step to the right is an edit.
func (b *band) one(r rune) {
	p := b.p
	equal := b.rows(r, p.equal[0])
	pv, mv := p.pv[b.first:][:len(equal)], p.mv[b.first:][:len(equal)]
	hp, hm := uint64(1), uint64(0)
	for w, e := range equal {
		pv[w], mv[w], hp, hm = step(pv[w], mv[w], e, hp, hm)
	}
	b.above++
}

// two computes two columns. The second one is one block behind the first, so that their steps
// overlap.
func (b *band) two(r, s rune) {
	p := b.p
	equal := b.rows(r, p.equal[0])
	n := len(equal)
	next, pv, mv := b.rows(s, p.equal[1])[:n], p.pv[b.first:][:n], p.mv[b.first:][:n]
	lastP, lastM, hp, hm := step(pv[0], mv[0], equal[0], 1, 0) // block w-1 after the first column
	np, nm := uint64(1), uint64(0)                             // hp and hm of the second column
	for w := 1; w < n; w++ {
		var p1, m1 uint64
		p1, m1, hp, hm = step(pv[w], mv[w], equal[w], hp, hm)
		pv[w-1], mv[w-1], np, nm = step(lastP, lastM, next[w-1], np, nm)
		lastP, lastM = p1, m1
	}
	pv[n-1], mv[n-1], _, _ = step(lastP, lastM, next[n-1], np, nm)
	b.above += 2
}

// together is the number of columns that vectors compute at once.
const together = 8

// Bands of fewer than leastTogether blocks are computed in pairs of columns, because most lanes of
// a vector would be before their first block or after their last one.
const leastTogether = 4

// padding is the number of meaningless words before a band that vectors read and write. After the
// band there are twice as many.
const padding = together

// paddedWords returns words for the blocks of a band, with padding if the number of blocks suffices
// for vectors.
func paddedWords(blocks int) []uint64 {
	if blocks < leastTogether {
		return make([]uint64, blocks)
	}
	return make([]uint64, padding+blocks+2*padding)[padding:][:blocks]
}
