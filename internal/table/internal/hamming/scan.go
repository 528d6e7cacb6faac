package hamming

import (
	"encoding/binary"
	"math/bits"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// The keys of a block share leading bits: those that its first key shares with the first key of the
// next block. So the directory alone gives a lower bound of a query's distance from them, and a
// block, or many in a row, is skipped if that is too far. In the other blocks a kernel compares the
// stored low bits, and the few keys whose low bits are near enough are decoded, in one pass over
// the unary part. If the distance is a large part of the number of low bits, many would be near
// enough by chance; then all keys of the block are decoded and compared.

// scanAll compares all keys of table 0.
func (x *Index) scanAll(q base.Fingerprint, k int, s *Searcher) error {
	f := scanFor{permuted: &x.tables[0], q: q, k: k, last: ^uint64(0)}
	run := f.run
	run.LoadDirectory()
	// Everything up to Check reads only the directory.
	for b := 0; b < run.NumBlocks(); b++ {
		if far := run.FarBlocks(b, q, k); far > 0 {
			b += far - 1
			continue
		}
		if f.lead, f.off = run.Shared(b, b+1, q); f.off > k {
			continue
		}
		if err := run.Check(b); err != nil {
			return err
		}
		in, n := run.Info(b), run.Count(b)
		s.stats.Candidates += n
		if bound := f.bound(in.Width); f.lead == 64 {
			s.addEqual(b<<keyrun.BlockShift, n, run.Base(b), f.off)
		} else if in.Width < int(leastWidths[bound]) {
			x.scanKeys(&f, b, in, 0, n, s)
		} else {
			s.pos = kernel.ScanPacked(s.pos[:0], run.Packed(in), in.Width, 0, n, q, bound)
			x.confirm(&f, b, in, 0, n, 0, s)
		}
		if err := s.offer(); err != nil {
			return err
		}
	}
	return nil
}

// scanRange compares the keys of one range. In a range with many more keys than the mean it skips
// blocks that are too far away, as a scan does, and it returns errScan if the number of hits makes
// a scan cheaper.
func (x *Index) scanRange(f *scanFor, p *keyrun.Probe, s *Searcher) error {
	run := f.run
	var r keyrun.Range
	f.run.SetRange(&r, p, f.rest)
	// A long range belongs to a hot lead: its blocks differ in more bits than the lead, so some can
	// be skipped.
	long := int(r.End) > r.Start()+f.long
	for b := r.Start(); b < int(r.End); b++ {
		if long {
			if lead, off := run.Shared(b, b+1, f.q); off > f.k {
				continue
			} else if f.lead, f.off = f.leadBits, int(p.Dist); lead > f.lead {
				f.lead, f.off = lead, off
			}
			if err := x.worthwhile(f.plan, s, 0); err != nil {
				return err
			}
		}
		in, known := run.InfoKnown(b)
		if !known.Head() {
			if err := run.CheckHead(b); err != nil {
				return err
			}
		}
		if b+1 < int(r.End) && !long {
			r.PrefetchNext(b + 1)
		}
		bound := f.bound(in.Width)
		from, to := r.Borders(b, in)
		var lo, hi int
		if in.Width < int(leastWidths[bound]) {
			lo, hi = kernel.RankZeros(run.Unary(in), from, to, run.Count(b))
			if err := run.CheckKeys(b, lo, hi); err != nil {
				return err
			}
			s.stats.Candidates += hi - lo
			x.scanKeys(f, b, in, lo, hi, s)
			if err := s.offer(); err != nil {
				return err
			}
			continue
		}
		s.pos, lo, hi = kernel.ScanBlock(s.pos, run.From(in), in.High, in.Width, run.Count(b), from, to, f.q, bound)
		if !known.Keys(lo, hi) {
			if err := run.CheckKeys(b, lo, hi); err != nil {
				return err
			}
		}
		if s.stats.Candidates += hi - lo; len(s.pos) > 0 {
			x.confirm(f, b, in, lo, hi, from, s)
			if err := s.offer(); err != nil {
				return err
			}
		}
	}
	return nil
}

// confirm accepts those keys of [lo, hi) that are within the distance as a whole. Their positions
// are in s.pos because their low bits are near. Zero number from of the unary part comes right
// before key lo, or both are 0.
func (x *Index) confirm(f *scanFor, b int, in keyrun.Info, lo, hi int, from uint64, s *Searcher) {
	// If many low bits are near, decoding all keys of the block is cheaper than decoding them one
	// by one. extra adds up this time, since no plan has foreseen it (worthwhile).
	ns := float64(len(s.pos)) * cost.confirm
	if all := keyrun.BlockLen*cost.decode + float64(len(s.pos))*cost.hit; ns > all {
		s.extra += all
		x.scanKeys(f, b, in, lo, hi, s)
		return
	}
	s.extra += ns
	// Positions ascend, so one pass over the unary part finds all prefixes: at is the offset of the
	// current word, skip masks the bits before the start, before counts the ones in earlier words.
	unary, packed := f.run.Unary(in), f.run.Packed(in)
	base := f.run.Base(b) >> uint(in.Width)
	bit, before := lo+int(from), lo // ones before the current word
	at, skip := bit>>6<<3, ^uint64(0)<<(bit&63)
	for _, pos := range s.pos {
		i := int(pos)
		if i < lo || i >= hi {
			continue
		}
		word := binary.LittleEndian.Uint64(unary[at:]) & skip
		for ones := bits.OnesCount64(word); before+ones <= i; ones = bits.OnesCount64(word) {
			before += ones
			at, skip = at+8, ^uint64(0)
			word = binary.LittleEndian.Uint64(unary[at:])
		}
		prefix := base + uint64(8*at+kernel.Select(word, i-before)-i)
		key := prefix<<uint(in.Width) | kernel.Get(packed, in.Width, i)
		if bits.OnesCount64(key^f.q) <= f.k {
			x.accept(f, b<<keyrun.BlockShift+i, key, s)
		}
	}
}

// scanKeys decodes the keys [lo, hi) of the verified block b and accepts those within the distance.
func (x *Index) scanKeys(f *scanFor, b int, in keyrun.Info, lo, hi int, s *Searcher) {
	if lo >= hi {
		return
	}
	keys := f.run.Decode(b, in, lo, hi, &s.decoded)
	s.pos = kernel.ScanFlat(s.pos[:0], keys, f.q, f.k)
	first := b<<keyrun.BlockShift + lo
	if f.plan != nil {
		for _, i := range s.pos {
			x.accept(f, first+int(i), keys[i], s)
		}
		return
	}
	dst := s.dst // like accept, for many keys
	for _, i := range s.pos {
		dst = append(dst, Hit{Doc: uint32(first) + i, Distance: uint16(bits.OnesCount64(keys[i] ^ f.q)), Fingerprint: keys[i]})
	}
	s.dst = dst
}

// accept adds a key of the current range, which is within the distance, to the hits, or to the
// pending hits if its documents have to be looked up first. It drops a key outside the range, and a
// key that an earlier table reports: only the first table that finds a fingerprint reports it, so
// no set of reported hits is needed.
func (x *Index) accept(f *scanFor, pos int, key uint64, s *Searcher) {
	// A block may have keys of the neighbouring leads, which belong to another probe or to none.
	if key < f.first || key > f.last {
		return
	}
	t, diff := f.table, key^f.q
	hit := Hit{Doc: uint32(pos), Distance: uint16(bits.OnesCount64(diff)), Fingerprint: key}
	if t == 0 {
		s.dst = append(s.dst, hit)
		x.ids.PrefetchEntry(hit.Doc)
		return
	}
	diff = f.invert(diff) // bit by bit, so it is also the difference of the fingerprints
	if x.foundBefore(f.plan.allocation, t, diff) {
		return
	}
	hit.Fingerprint = f.invert(key)
	s.pending = append(s.pending, pendingHit{hit: hit, table: uint8(t)})
}
