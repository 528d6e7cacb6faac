package kernel

import (
	"context"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Limits up to mostNarrow need at most the 64 diagonals of one word. Limits up to mostWide need the
// diagonals of wideWords words, for patterns of up to narrowRunes runes.
const (
	mostNarrow  = 63
	wideWords   = 4
	mostWide    = wideWords*64 - 1
	narrowRunes = 1 << 12
)

// restShare is the inverse of the largest share of a long text that may differ from the pattern, if
// making another pattern from the differing part should be worthwhile.
const restShare = 4

// Within is Distance for a UTF-8 text with a known number of runes. If the limit is small, it only
// reads the beginning of texts that are not similar.
func (p *Pattern) Within(ctx context.Context, text []byte, runes, most int) (distance int, ok bool) {
	if max(p.n-runes, runes-p.n) > most {
		return 0, false
	}
	start, rest := p.differing(text)
	if most > mostWide || p.n > narrowRunes {
		equal := len(text) - len(rest) // in bytes
		if own := p.source[start : len(p.source)-equal+start]; len(own)+len(rest) < len(text)/restShare {
			return NewPattern(string(own)).Within(ctx, rest, utf8.RuneCount(rest), most)
		}
	} else {
		if len(text) > runes {
			start = utf8.RuneCount(text[:start])
		}
		if most <= mostNarrow {
			return p.diagonals(rest, start, p.n-runes, most)
		}
		return p.wide(rest, start, p.n-runes, most)
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

// differing compares the pattern's text with another one. It returns the number of bytes that their
// beginnings have in common, and the other text without these and without the bytes that their ends
// have in common.
func (p *Pattern) differing(text []byte) (same int, rest []byte) {
	a, b := p.source, text
	for len(a)-same >= 8 && len(b)-same >= 8 {
		x := binary.LittleEndian.Uint64(a[same:]) ^ binary.LittleEndian.Uint64(b[same:])
		if same += bits.TrailingZeros64(x) / 8; x != 0 {
			break
		}
	}
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	// Move back to a position where runes of both texts begin, so that the bytes before it are the
	// same runes.
	for same > 0 && (same < len(a) && !utf8.RuneStart(a[same]) || same < len(b) && !utf8.RuneStart(b[same])) {
		same--
	}
	a, b = a[same:], b[same:]
	n := len(b)
	for len(a) > len(b)-n && n > 0 && a[len(a)-1-(len(b)-n)] == b[n-1] {
		n--
	}
	for n < len(b) && !utf8.RuneStart(b[n]) {
		n++
	}
	return same, b[:n]
}

// diagonals is Within for the diagonals that a path of most edits can reach and from which it can
// return to the last one, k: it visits e only if |e| + |k-e| <= most. There are at most most+1 of
// these. Bit b of a word is diagonal b-low, so from column to column the rows move by one (Hyyrö
// 2003). Distances on the last diagonal never decrease, so the first one above most ends the
// search. The search begins after the common runes at the beginning, where the distance on diagonal
// e is |e|; text does not include these runes.
func (p *Pattern) diagonals(text []byte, start, k, most int) (distance int, ok bool) {
	if p.rows == nil {
		p.rows = p.makeRows(1)
	}
	low := (most - k) / 2 // number of diagonals below 0, rounded down; |k| <= most
	pv := ^uint64(0) << (low & 63)
	mv := ^pv & (^uint64(0) << max(low-start, 0))
	last := (k + low) & 63
	d := max(k, min(-k, start)) // rows up to 0 have the distance of row 0
	at := 64 - low + start      // position of the first bit's row in p.rows
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
		same := ((equal&pv + pv) ^ pv) | equal | mv // the distance equals the one of the previous row and column
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

// rowPad is the number of words in a row of Pattern.rows that are not blocks: one before the first
// block and two after the last, for the rows above and below the pattern.
const rowPad = 3

// makeRows makes the rows of all runes of the pattern; row 0 is for other runes. Rows are padded
// for diagonals, with `words` words before the first block and words+1 after the last one.
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

// wide is diagonals with several words.
func (p *Pattern) wide(text []byte, start, k, most int) (distance int, ok bool) {
	if p.wideRows == nil {
		p.wideRows = p.makeRows(wideWords)
	}
	low := (most - k) / 2
	words := most>>6 + 1
	var pv, mv [wideWords]uint64
	for w := range words {
		pv[w] = ^uint64(0) << max(low-w*64, 0) // the diagonals from 0 on
		mv[w] = ^pv[w] & (^uint64(0) << max(low-start-w*64, 0))
	}
	d := max(k, min(-k, start))
	word, last := (k+low)>>6, (k+low)&63
	at := wideWords*64 - low + start
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
