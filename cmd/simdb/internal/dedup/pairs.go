package dedup

import (
	"math"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/setjoin"
)

// An audit records the pairs of near-duplicates, so that --replay can decide again: at a higher
// threshold a document that was dropped may be kept, and others may then be dropped for it. One of
// the two documents of a pair is always dropped, and has a row, where the pair is. Of equal
// documents only one has pairs with others:
//
//   - of a group of equal documents, each that is dropped has a pair of score 1 with the one that
//     is kept, or, if none is, with the first;
//   - a pair of two such groups is in the row of the first document of a group without a
//     kept document; if both have none, of the group that begins later.
//
// Of equal documents of --against only the first in the order of preference is one of the group:
// the others have no pairs.

const (
	// Without --audit-pairs, pairs are recorded of at most fewDocuments documents and fewPairs
	// pairs, which takes less than a second. In a corpus half of which are copies, the run takes up
	// to a third longer.
	fewDocuments = 100_000
	fewPairs     = 1 << 18
	// pairBytes is about what a recorded pair takes, with its links.
	pairBytes = 24
)

// mostPairs is how many pairs the audit of a run may record. The number of documents includes
// known ones.
func (d *job) mostPairs(documents int64) int {
	if d.c.Near != nil || d.c.Within != nil || d.c.ofTexts() || d.decided != nil || d.c.auditPath() == "" {
		return 0
	}
	n := int(min(int64(d.c.Memory)/8/pairBytes, math.MaxInt32))
	switch {
	case d.c.auditPairs():
		return n
	case d.c.AuditPairs != nil || documents > fewDocuments:
		return 0
	}
	return min(n, fewPairs)
}

// pairs are those that an audit records.
type pairs struct {
	graph *setjoin.Graph
	links *setjoin.Links
	kept  []uint32 // of equal documents, by the first: the one that is kept + 1, or 0
}

// newPairs returns nil if the audit of a run records no pairs.
func newPairs(d *job) *pairs {
	g := d.pairs
	if g == nil {
		return nil
	}
	p := &pairs{g, g.Links(), make([]uint32, len(g.Same))}
	for n, first := range g.Same {
		if d.out.kept(int64(n)) {
			p.kept[first] = uint32(n) + 1
		}
	}
	return p
}

// each calls f for the pairs in the row of document n, which is dropped.
func (p *pairs) each(n uint32, f func(other uint32, score float64)) {
	first := p.graph.Same[n]
	switch kept := p.kept[first]; {
	case kept > 0:
		f(kept-1, 1)
	case n != first:
		f(first, 1)
	default:
		for other, score := range p.links.Of(n) {
			if other < n || p.kept[other] > 0 {
				f(other, score)
			}
		}
	}
}

func (p *pairs) add(row *app.AuditRow, n uint32) {
	if p == nil {
		return
	}
	row.Number = new(int64(n))
	p.each(n, func(other uint32, score float64) { row.Like = append(row.Like, [2]float64{float64(other), score}) })
}

// head says in the head of the audit what is recorded.
func (p *pairs) head(d *job) *app.AuditReplay {
	if p == nil {
		return nil
	}
	h := &app.AuditReplay{Known: d.known, Documents: d.read, Empty: d.empty, Rows: d.out.dropped}
	for n := range d.known + d.read {
		if !d.out.kept(n) {
			p.each(uint32(n), func(uint32, float64) { h.Pairs++ })
		}
	}
	return h
}
