package loader

import (
	"bytes"
	"cmp"
)

// An idSpan is what IDs lie between, in an order. Files are often sorted by their IDs, or have the
// numbers of lines: then all IDs of a chunk are beyond those of the chunks before it, and need not
// be compared with them.
type idSpan struct {
	less            func(a, b []byte) int
	least, greatest []byte // nil if there are no IDs
	useless         bool   // it is not kept any more: spans of chunks have overlapped in this order
}

// shorter is the order in which numbers without leading zeros ascend.
func shorter(a, b []byte) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return bytes.Compare(a, b)
}

// add extends the span by an ID, which must stay as it is.
func (s *idSpan) add(id []byte) {
	if s.greatest == nil {
		s.least, s.greatest = id, id
		return
	}
	if s.less(id, s.greatest) > 0 { // so it is with each, in a sorted file
		s.greatest = id
	} else if s.less(id, s.least) < 0 {
		s.least = id
	}
}

// apart reports whether no ID can be in both spans.
func (s *idSpan) apart(o *idSpan) bool {
	return s.greatest == nil || o.greatest == nil || s.less(s.least, o.greatest) > 0 || s.less(s.greatest, o.least) < 0
}

// loadedIDs are the spans of the IDs of the chunks that were published.
type loadedIDs [2]idSpan

func newLoadedIDs() loadedIDs { return loadedIDs{{less: shorter}, {less: bytes.Compare}} }

// take adds the IDs of a chunk, and reports whether none of them can be in a chunk before.
func (l *loadedIDs) take(c *chunk) (apart bool) {
	for i := range l {
		all := &l[i]
		if apart && all.greatest != nil {
			all.useless = true // one order is enough
		}
		if all.useless {
			continue
		}
		span := idSpan{less: all.less}
		for pos := range c.len() {
			span.add(c.id(pos))
		}
		if all.apart(&span) {
			apart = true
		} else {
			all.useless = true // nothing is lost but time
		}
		if span.greatest != nil { // the chunk is used again
			all.add(bytes.Clone(span.least))
			all.add(bytes.Clone(span.greatest))
		}
	}
	return apart
}
