package hamming

import (
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// found reports whether there is anything for follow to do.
func (f *scanFor) found(s *Searcher) bool {
	return s.extra > f.extra || s.settled < len(s.pending) || f.named < len(s.dst)
}

// follow continues after some probes; pending and hits are the numbers of both before them. What a
// hit needs next, its place in run 0 and its ID, is prefetched when it is found and used a step
// later, so that most of these cache misses pass behind the scan.
func (x *Index) follow(f *scanFor, pending, hits int, s *Searcher) error {
	// Keys that were near by their low bits alone have cost time: is the rest still worth it?
	if s.extra > f.extra {
		f.extra = s.extra
		if err := x.worthwhile(f.plan, s, 0); err != nil {
			return err
		}
	}
	// New hits are located, and those of the step before, whose cache lines have arrived meanwhile,
	// are resolved.
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

// locate looks up where run 0 has the fingerprints of pending hits, and prefetches it.
func (x *Index) locate(pending []pendingHit) {
	run := x.tables[0].run
	for i := range pending {
		p := &pending[i]
		fp := p.hit.Fingerprint
		block, end := run.Blocks(fp, fp)
		r := keyrun.Range{First: fp, Last: fp, Run: run, Block: uint32(block), End: uint32(end)}
		r.Prefetch(1)
		p.start, p.end = r.Start(), end
		// the directory has one cache line for the names of a block of keys
		x.ids.PrefetchEntry(uint32(p.start) << keyrun.BlockShift)
	}
}

// resolvePending adds the documents of pending hits up to number end, which have been located.
func (x *Index) resolvePending(end int, s *Searcher) error {
	for ; s.settled < end; s.settled++ {
		if err := x.resolve(&s.pending[s.settled], s); err != nil {
			return err
		}
	}
	return s.offer()
}

// resolve adds the documents of a hit that has been located: all keys of run 0 that equal its
// fingerprint, in one block or several. A run after the first has no fingerprint that run 0 lacks,
// so a hit without a document is damage.
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
		// Keys with the prefix of the fingerprint are consecutive; compared at distance 0 are their
		// low bits.
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
		for _, i := range s.pos { // of one prefix and with equal low bits: equal
			if int(i) >= lo && int(i) < hi {
				hit.Doc, found = uint32(b<<keyrun.BlockShift+int(i)), true
				dst = append(dst, hit)
			}
		}
		s.dst = dst
	}
	if !found {
		return x.tables[p.table].run.Corrupt(0, "fingerprint %016x is not in table 0", hit.Fingerprint)
	}
	return nil
}

// offer passes the hits that it has not passed yet to accept, if this is a search for the first
// one. It returns errAccepted to end the search.
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

// addEqual adds n documents, the first and those that follow it, with one fingerprint.
func (s *Searcher) addEqual(first, n int, fp base.Fingerprint, distance int) {
	s.dst = slices.Grow(s.dst, n)
	for i := range n {
		s.dst = append(s.dst, Hit{Doc: uint32(first + i), Distance: uint16(distance), Fingerprint: fp})
	}
}
