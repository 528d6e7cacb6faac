package kernel

import "unsafe"

// A Span is a range of the packed values of a block, with the query and the bound they are compared
// with; see ScanSpans. The assembly depends on the layout of its fields.
type Span struct {
	packed       *byte // value 0 of the block
	query        uint64
	from, to     uint16
	width, bound uint8
	Tag          uint64 // the caller's
}

// Set makes s the span of the values [from, to), 0 <= from < to <= BlockKeys, of width w. Those are
// near that differ from the w lowest bits of q in at most k bits, 0 <= k <= 64. packed must hold Slack
// readable bytes past the value to-1 for as long as the span is in use.
//
// The fields are set in place: copying the struct right after stalls on store forwarding.
func (s *Span) Set(packed []byte, w, from, to int, q uint64, k int, tag uint64) {
	s.packed, s.query, s.Tag = &packed[:(to-1)>>3*w+64][0], q, tag // the last byte that is read is inside
	s.from, s.to, s.width, s.bound = uint16(from), uint16(to), uint8(w), uint8(k)
}

// Len returns the number of values.
func (s *Span) Len() int { return int(s.to - s.from) }

// ScanSpans appends to dst, for every span, the positions of the values that are near, ascending, as
// number of the span<<32 | position. Each span is scanned as by ScanPacked, with less overhead: spans
// of a few values cost little more than their values.
func ScanSpans(dst []uint64, spans []Span) []uint64 {
	if active == avx512 && len(spans) > 0 {
		return scanSpansAsm(dst, spans)
	}
	return scanSpansEach(dst, spans)
}

func scanSpansEach(dst []uint64, spans []Span) []uint64 {
	var space [BlockKeys + 8]uint32
	for i := range spans {
		s := &spans[i]
		packed := unsafe.Slice(s.packed, int(s.to-1)>>3*int(s.width)+64)
		for _, pos := range ScanPacked(space[:0], packed, int(s.width), int(s.from), int(s.to), s.query, int(s.bound)) {
			dst = append(dst, uint64(i)<<32|uint64(pos))
		}
	}
	return dst
}

// PrefetchSpans prefetches the cache lines of the values of all spans.
func PrefetchSpans(spans []Span) {
	if active != pureGo && len(spans) > 0 {
		prefetchSpansAsm(spans)
	}
}
