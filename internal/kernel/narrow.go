package kernel

import (
	"context"
	"math/bits"
	"unicode/utf8"
)

// Limits up to mostNarrow need no more than the 64 diagonals of one word, and those up to mostWide
// the diagonals of wideWords words, of patterns of up to narrowRunes runes.
const (
	mostNarrow  = 63
	wideWords   = 4
	mostWide    = wideWords*64 - 1
	narrowRunes = 1 << 12
)

// Within is Distance for a text in UTF-8 that has a number of runes. Of texts that are not similar
// it reads only the beginning if the limit is small.
func (p *Pattern) Within(ctx context.Context, text []byte, runes, most int) (distance int, ok bool) {
	if max(p.n-runes, runes-p.n) > most {
		return 0, false
	}
	if most <= mostWide && p.n <= narrowRunes {
		if most <= mostNarrow {
			return p.diagonals(text, runes, most)
		}
		return p.wide(text, runes, most)
	}
	p.text = p.text[:0]
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		p.text = append(p.text, r)
		i += n
	}
	return p.Distance(ctx, p.text, most)
}

// diagonals is Within for the diagonals that a path of most edits can reach and return from to the
// last one, k = p.n - runes, which are most+1 at most: it visits e only if |e| + |k-e| <= most. Bit
// b of a word is that of diagonal b-low, so from column to column the rows move by one (Hyyrö
// 2003). Distances on the last diagonal never fall, so that the first above most ends it.
func (p *Pattern) diagonals(text []byte, runes, most int) (distance int, ok bool) {
	if p.rows == nil {
		p.rows = p.makeRows(1)
	}
	k := p.n - runes
	low := (most - k) / 2 // diagonals below 0, rounded down: |k| <= most
	pv, mv := ^uint64(0)<<(low&63), uint64(0)
	last := (k + low) & 63
	d := max(k, 0) // in column 0; where the diagonal begins below it, rows up to 0 have that of row 0
	at := 64 - low // of the first bit's row, in p.rows
	width := p.blocks + rowPad
	for i := 0; i < len(text); at++ {
		number, n := int32(0), 1
		if c := text[i]; c < utf8.RuneSelf {
			number = p.ascii[c]
		} else {
			var r rune
			r, n = utf8.DecodeRune(text[i:])
			number = p.number(r)
		}
		i += n
		row := p.rows[int(number)*width+at>>6:][:2]
		shift := uint(at) & 63
		equal := row[0]>>shift | row[1]<<1<<(63-shift)
		same := ((equal&pv + pv) ^ pv) | equal | mv // where the distance is that one row and column before
		ph := mv | ^(same | pv)
		mh := same & pv
		if d += 1 - int(same>>last&1); d > most {
			return 0, false
		}
		same >>= 1
		pv, mv = mh|^(same|ph), same&ph
	}
	return d, true
}

// rowPad is how many words of a row of Pattern.rows are no block: one before the first, and two
// after the last, for the rows above and below the pattern.
const rowPad = 3

// makeRows makes the rows of all runes of the pattern, of which row 0 is that of others, with
// padding for diagonals: that many words before the first block belong to no block, and neither
// does one after the last.
func (p *Pattern) makeRows(words int) []uint64 {
	width := p.blocks + 2*words + 1
	rows := make([]uint64, (len(p.runes)+1)*width)
	for i, o := range p.runes {
		row := rows[(i+1)*width+words:][:p.blocks]
		copy(row, o.bits)
		for _, at := range o.list {
			row[at/64] |= 1 << (at % 64)
		}
	}
	return rows
}

// wide is diagonals for those of several words.
func (p *Pattern) wide(text []byte, runes, most int) (distance int, ok bool) {
	if p.wideRows == nil {
		p.wideRows = p.makeRows(wideWords)
	}
	k := p.n - runes
	low := (most - k) / 2
	words := most>>6 + 1
	var pv, mv [wideWords]uint64
	for w := range words {
		pv[w] = ^uint64(0)
		if first := low - w*64; first > 0 { // the diagonals from 0 on
			pv[w] <<= first // none, if these are 64 or more
		}
	}
	d := max(k, 0)
	word, last := (k+low)>>6, (k+low)&63
	at := wideWords*64 - low
	width := p.blocks + 2*wideWords + 1
	for i := 0; i < len(text); at++ {
		number, n := int32(0), 1
		if c := text[i]; c < utf8.RuneSelf {
			number = p.ascii[c]
		} else {
			var r rune
			r, n = utf8.DecodeRune(text[i:])
			number = p.number(r)
		}
		i += n
		row := p.wideRows[int(number)*width+at>>6:][:wideWords+1]
		shift := uint(at) & 63
		var same [wideWords + 1]uint64
		carry := uint64(0)
		for w := range words {
			w &= wideWords - 1
			equal := row[w]>>shift | row[w+1]<<1<<(63-shift)
			var sum uint64
			sum, carry = bits.Add64(equal&pv[w], pv[w], carry)
			same[w] = sum ^ pv[w] | equal | mv[w]
		}
		if d += 1 - int(same[word]>>last&1); d > most {
			return 0, false
		}
		for w := range words {
			w &= wideWords - 1
			ph := mv[w] | ^(same[w] | pv[w])
			mh := same[w] & pv[w]
			right := same[w]>>1 | same[w+1]<<63
			pv[w], mv[w] = mh|^(right|ph), right&ph
		}
	}
	return d, true
}
