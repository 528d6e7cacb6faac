package sstable

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
)

// Scanning blocks. The keys of a block have leading bits in common, those that its first key shares with the next block's first key. So the
// directory tells how far a query is from them, and a block, or many of them in a row, is passed over where that is too far. Of the others
// the low bits are compared as they lie in the block, and the few keys whose low bits are near enough are decoded, in one walk. Where many
// would be near enough by chance, as the distance is a large part of the low bits' number, all keys of the block are decoded and compared.

// scanFor says what blocks are scanned for: keys of a table within k of q, the permuted query. The first lead bits of every key in
// question are off bits away from those of q.
type scanFor struct {
	*permuted
	plan  *searchPlan // nil for a scan
	table int
	q     uint64
	k     int
	lead  int
	off   int

	first, last uint64 // only keys between these are wanted, all others belong to other ranges

	extra        float64 // Scratch.extra when it was last looked at
	start, named int     // hits from start on are of this search, and up to named they have had their names asked for
}

// aim makes f that for the keys of p.
func (f *scanFor) aim(x *Index, p *leadProbe) *scanFor {
	if t := int(p.table); t != f.table {
		f.table, f.permuted, f.q = t, &x.tables[t], f.plan.keys[t]
	}
	f.lead, f.off, f.first, f.last = f.leadBits, int(p.dist), p.first, p.first|f.rest
	return f
}

// bound is how far the low bits of a key may be: the lead's difference is known, unless low bits reach into it.
func (f *scanFor) bound(width int) int {
	if width <= 64-f.lead {
		return f.k - f.off
	}
	return f.k
}

// scanAll compares all keys of table 0.
func (x *Index) scanAll(q uint64, k int, s *Scratch) error {
	f := scanFor{permuted: &x.tables[0], q: q, k: k, last: ^uint64(0)}
	run := f.run
	for b := 0; b < run.blocks; b++ {
		if far := run.farBlocks(b, q, k); far > 0 {
			b += far - 1
			continue
		}
		if f.lead, f.off = run.shared(b, b+1, q); f.off > k {
			continue
		}
		if err := run.check(b); err != nil {
			return err
		}
		in, n := run.info(b), run.count(b)
		s.Stats.Candidates += n
		if bound := f.bound(in.width); f.lead == 64 {
			s.addEqual(b<<blockShift, n, run.base(b), f.off)
		} else if in.width < int(leastWidths[bound]) {
			x.scanKeys(&f, b, in, 0, n, s)
		} else {
			s.pos = kernel.ScanPacked(s.pos[:0], run.packed(in), in.width, 0, n, q, bound)
			x.confirm(&f, b, in, 0, n, 0, s)
		}
		if err := s.offer(); err != nil {
			return err
		}
	}
	return nil
}

// shared returns how many leading bits all keys of the blocks [b, end) have in common, and how many of these differ from q.
func (d *blockDir) shared(b, end int, q uint64) (lead, off int) {
	first, limit := d.base(b), d.last
	if end < d.blocks {
		limit = d.base(end)
	}
	lead = bits.LeadingZeros64(first ^ limit)
	return lead, bits.OnesCount64((first ^ q) &^ (^uint64(0) >> uint(lead)))
}

// farBlocks returns the number of blocks from b on, 256 or 16 or none, whose shared leading bits differ from q in more than k.
func (d *blockDir) farBlocks(b int, q uint64, k int) int {
	for n := 256; n > 1 && b%16 == 0; n /= 16 {
		if b%n == 0 && b+n <= d.blocks {
			if _, off := d.shared(b, b+n, q); off > k {
				return n
			}
		}
	}
	return 0
}

// addEqual adds n documents, the first and those that follow it, with one fingerprint.
func (s *Scratch) addEqual(first, n int, fp uint64, distance int) {
	s.dst = slices.Grow(s.dst, n)
	for i := range n {
		s.dst = append(s.dst, Hit{Doc: uint32(first + i), Distance: uint8(distance), Fingerprint: fp})
	}
}

// scanRange compares the keys of one range. In a range that has many more than the mean, blocks that are too far away are passed over as in a
// scan, and errScan is returned if what has been found makes a scan cheaper.
func (x *Index) scanRange(f *scanFor, p *leadProbe, s *Scratch) error {
	run := f.run
	var r keyRange
	f.setRange(&r, p)
	long := int(r.end) > r.start()+f.long
	for b := r.start(); b < int(r.end); b++ {
		if long {
			if lead, off := run.shared(b, b+1, f.q); off > f.k {
				continue
			} else if f.lead, f.off = f.leadBits, int(p.dist); lead > f.lead {
				f.lead, f.off = lead, off
			}
			if err := x.worthwhile(f.plan, s, 0); err != nil {
				return err
			}
		}
		word := run.infoWord(b)
		if word&checkedBit == 0 {
			if err := run.check(b); err != nil {
				return err
			}
		}
		if b+1 < int(r.end) && !long {
			r.prefetchNext(b + 1)
		}
		in := unpackInfo(word)
		bound := f.bound(in.width)
		from, to := r.borders(b, in)
		var lo, hi int
		if in.width < int(leastWidths[bound]) {
			lo, hi = kernel.RankZeros(run.data[in.off:in.off+8*in.high], from, to, run.count(b))
			s.Stats.Candidates += hi - lo
			x.scanKeys(f, b, in, lo, hi, s)
			if err := s.offer(); err != nil {
				return err
			}
			continue
		}
		s.pos, lo, hi = kernel.ScanBlock(s.pos, run.data[in.off:], in.high, in.width, run.count(b), from, to, f.q, bound)
		if s.Stats.Candidates += hi - lo; len(s.pos) > 0 {
			x.confirm(f, b, in, lo, hi, from, s)
			if err := s.offer(); err != nil {
				return err
			}
		}
	}
	return nil
}

// startsIn and endsIn report whether the range starts, or ends, inside block b, which is one of its own.
func (r *keyRange) startsIn(b int) bool { return b < int(r.block) }
func (r *keyRange) endsIn(b int) bool   { return b == int(r.end)-1 && r.last < r.run.last }

// borders returns the prefixes [from, to) that the range has in block b, counted from the block's first. Where prefixes are shorter than
// the lead, its neighbours may share them.
func (r *keyRange) borders(b int, in blockInfo) (from, to uint64) {
	base := shr(r.run.base(b), in.width)
	to = ^uint64(0)
	if r.startsIn(b) {
		from = shr(r.first, in.width) - base
	}
	if r.endsIn(b) {
		to = shr(r.last, in.width) - base + 1
	}
	return from, to
}

// confirm accepts those keys of [lo, hi) whose low bits are near, at s.pos, that are near as a whole. Zero number from of the unary part
// comes right before key lo, or both are 0.
func (x *Index) confirm(f *scanFor, b int, in blockInfo, lo, hi int, from uint64, s *Scratch) {
	ns := float64(len(s.pos)) * cost.confirm
	if all := blockKeys*cost.decode + float64(len(s.pos))*cost.hit; ns > all {
		s.extra += all
		x.scanKeys(f, b, in, lo, hi, s)
		return
	}
	s.extra += ns
	// Positions ascend, so one walk over the unary part finds the prefixes of all.
	unary, packed := f.run.data[in.off:in.off+8*in.high], f.run.packed(in)
	base := shr(f.run.base(b), in.width)
	bit, before := lo+int(from), lo // ones before the word at hand
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
		key := prefix<<uint(in.width) | kernel.Get(packed, in.width, i)
		if bits.OnesCount64(key^f.q) <= f.k {
			x.accept(f, b<<blockShift+i, key, s)
		}
	}
}

// scanKeys decodes the keys [lo, hi) of the checked block b and accepts those that are near.
func (x *Index) scanKeys(f *scanFor, b int, in blockInfo, lo, hi int, s *Scratch) {
	if lo >= hi {
		return
	}
	keys := f.run.decode(b, in, lo, hi, &s.decoded)
	s.pos = kernel.ScanFlat(s.pos[:0], keys, f.q, f.k)
	first := b<<blockShift + lo
	if f.plan != nil {
		for _, i := range s.pos {
			x.accept(f, first+int(i), keys[i], s)
		}
		return
	}
	dst := s.dst // accept, for many
	for _, i := range s.pos {
		dst = append(dst, Hit{Doc: uint32(first) + i, Distance: uint8(bits.OnesCount64(keys[i] ^ f.q)), Fingerprint: keys[i]})
	}
	s.dst = dst
}
