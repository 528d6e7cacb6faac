package hamming

import (
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// found reports whether follow has anything to do.
func (f *scanFor) found(s *Searcher) bool {
	return s.extra > f.extra || s.settled < len(s.pending) || f.named < len(s.dst)
}

// follow processes the hits of some probes; pending and hits are the lengths of both lists before
// those probes. For a new hit it prefetches its position in run 0 and its ID, which are read one
// step later, so that the scan hides most of these cache misses.
func (x *Index) follow(f *scanFor, pending, hits int, s *Searcher) error {
	// Keys of which only the low bits were near have cost time: is the rest still worth it?
	if s.extra > f.extra {
		f.extra = s.extra
		if err := x.worthwhile(f.plan, s, 0); err != nil {
			return err
		}
	}
	// Locate new hits, and resolve the hits of the previous step, whose cache lines have arrived
	// meanwhile.
	if len(s.pending) > pending {
		x.locate(s.pending[pending:])
	}
	x.prefetchIDs(f, hits, s)
	return x.resolvePending(pending, s)
}

// prefetchIDs prefetches the IDs of the hits up to number end.
func (x *Index) prefetchIDs(f *scanFor, end int, s *Searcher) {
	for ; f.named < min(end, f.start+prefetchIDs); f.named++ {
		x.ids.Prefetch(s.dst[f.named].Doc)
	}
}

// locate finds the position of pending hits in run 0, and prefetches it.
func (x *Index) locate(pending []pendingHit) {
	run := x.tables[0].run
	for i := range pending {
		p := &pending[i]
		fp := p.hit.Fingerprint
		block, end := run.Blocks(fp, fp)
		r := keyrun.Range{First: fp, Last: fp, Run: run, Block: uint32(block), End: uint32(end)}
		r.Prefetch(1)
		p.start, p.end = r.Start(), end
		// The directory has one cache line for the names of a block of keys.
		x.ids.PrefetchEntry(uint32(p.start) << keyrun.BlockShift)
	}
}

// resolvePending adds the documents of pending hits, up to index end. They must have been located.
func (x *Index) resolvePending(end int, s *Searcher) error {
	for ; s.settled < end; s.settled++ {
		if err := x.resolve(&s.pending[s.settled], s); err != nil {
			return err
		}
	}
	return s.offer()
}

// resolve adds the documents of a located hit: all keys of run 0 that equal its fingerprint, in one
// block or several. No later run has a fingerprint that run 0 lacks, so a hit without a document
// means damage.
func (x *Index) resolve(p *pendingHit, s *Searcher) error {
	run, hit, found := x.tables[0].run, p.hit, false
	for b := p.start; b < p.end; b++ {
		if lead, off := run.Shared(b, b+1, hit.Fingerprint); lead == 64 && off == 0 {
			if err := run.Check(b); err != nil {
				return err
			}
			// All keys of the block are this fingerprint.
			s.addEqual(b<<keyrun.BlockShift, run.Count(b), hit.Fingerprint, int(hit.Distance))
			found = true
			if err := s.offer(); err != nil {
				return err
			}
			continue
		}
		// Keys with the prefix of the fingerprint are consecutive; their low bits are compared at
		// distance 0.
		in := run.Info(b)
		prefix := run.PrefixIn(b, in, hit.Fingerprint)
		if err := run.CheckHead(b); err != nil {
			return err
		}
		var lo, hi int
		s.pos, lo, hi = kernel.ScanBlock(s.pos, run.From(in), in.High, in.Width, run.Count(b), prefix, prefix+1, hit.Fingerprint, 0)
		if err := run.CheckKeys(b, lo, hi); err != nil {
			return err
		}
		dst := s.dst
		for _, i := range s.pos { // equal prefixes and equal low bits: equal keys
			hit.Doc, found = uint32(b<<keyrun.BlockShift+int(i)), true
			dst = append(dst, hit)
		}
		s.dst = dst
	}
	if !found {
		return x.tables[p.table].run.Corrupt(0, "fingerprint %016x is not in table 0", hit.Fingerprint)
	}
	return nil
}

// offer passes new hits to accept, if this is a search for the first one. It returns errAccepted to
// end the search.
func (s *Searcher) offer() error {
	if s.accept == nil {
		return nil
	}
	for s.offered < len(s.dst) {
		h := s.dst[s.offered]
		s.offered++
		ok, err := s.accept(s.table, h)
		if err == nil && ok {
			err = errAccepted
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addEqual adds n consecutive documents, starting with first, that have the same fingerprint.
func (s *Searcher) addEqual(first, n int, fp base.Fingerprint, distance int) {
	s.dst = slices.Grow(s.dst, n)
	for i := range n {
		s.dst = append(s.dst, Hit{Doc: uint32(first + i), Distance: uint16(distance), Fingerprint: fp})
	}
}
