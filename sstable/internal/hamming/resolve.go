package hamming

import (
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// A pendingHit is a fingerprint that a table after the first has found, with the blocks of run 0
// that may have it.
type pendingHit struct {
	hit   Hit // without document
	start int // the first block of run 0 that may have it
	end   int // and the one after the last
	table uint8
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

// resolve adds the documents of a hit that has been located.
func (x *Index) resolve(p *pendingHit, s *Searcher) error {
	run, hit, found := x.tables[0].run, p.hit, false
	for b := p.start; b < p.end; b++ {
		if err := run.Check(b); err != nil {
			return err
		}
		if lead, off := run.Shared(b, b+1, hit.Fingerprint); lead == 64 && off == 0 {
			s.addEqual(b<<keyrun.BlockShift, run.Count(b), hit.Fingerprint, int(hit.Distance))
			found = true
			if err := s.offer(); err != nil {
				return err
			}
			continue
		}
		in := run.Info(b)
		prefix := run.PrefixIn(b, in, hit.Fingerprint)
		var lo, hi int
		s.pos, lo, hi = kernel.ScanBlock(s.pos, run.From(in), in.High, in.Width, run.Count(b), prefix, prefix+1, hit.Fingerprint, 0)
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
