package loader

import (
	"bytes"
	"cmp"
)

// An idSpan is the least and the greatest of some IDs in an order. Files are often sorted by ID, or
// use line numbers as IDs: then all IDs of a chunk are greater than those of earlier chunks, and
// need not be compared with them.
type idSpan struct {
	less            func(a, b []byte) int
	least, greatest []byte // nil if there are no IDs
	useless         bool   // no longer updated, because spans of chunks have overlapped in this order
}

// shorter orders IDs by length, then by bytes: numerically, for numbers without leading zeros.
func shorter(a, b []byte) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return bytes.Compare(a, b)
}

// add extends the span by an ID, which must not change afterwards.
func (s *idSpan) add(id []byte) {
	if s.greatest == nil {
		s.least, s.greatest = id, id
		return
	}
	if s.less(id, s.greatest) > 0 { // the common case, in a sorted file
		s.greatest = id
	} else if s.less(id, s.least) < 0 {
		s.least = id
	}
}

// apart reports whether the two spans do not overlap.
func (s *idSpan) apart(o *idSpan) bool {
	return s.greatest == nil || o.greatest == nil || s.less(s.least, o.greatest) > 0 || s.less(s.greatest, o.least) < 0
}

// loadedIDs are the spans of the IDs of the published chunks, in two orders.
type loadedIDs [2]idSpan

func newLoadedIDs() loadedIDs { return loadedIDs{{less: shorter}, {less: bytes.Compare}} }

// take adds the IDs of a chunk, and reports whether no earlier chunk can contain any of these.
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
			all.useless = true // this costs only time
		}
		if span.greatest != nil { // clone, because the chunk is reused
			all.add(bytes.Clone(span.least))
			all.add(bytes.Clone(span.greatest))
		}
	}
	return apart
}
