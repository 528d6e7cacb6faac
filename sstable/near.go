package sstable

import (
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/simdb/simdb/internal/kernel"
)

// Hit is a document within the distance asked for.
type Hit struct {
	Doc         uint32 // its number in the table
	Distance    uint8  // bits that differ from the query, 0..64
	Fingerprint uint64
}

// Index finds the fingerprints of one table that differ from a query in at most k bits, for every k.
//
// Each permuted table of a disjoint set (all of them, in a layout with Lead 1) gets a radius r >= -1 such that the sum of r+1 is
// k+1. If a fingerprint had more than r differing bits in the lead of every table, it would have at least k+1 of them: so it is
// within r of the query's lead in some table, and probing each table for every lead within its radius finds it. This is the
// generalised pigeonhole principle (Norouzi, Punjani, Fleet: Fast Exact Search in Hamming Space with Multi-Index Hashing, TPAMI
// 2014; Qin et al.: GPH, ICDE 2018). A probe is a range of a sorted run, whose keys are compared by a kernel. The radii are
// chosen per query by cost (see planner); where nothing beats it, table 0 is scanned whole.
//
//	plan      radii from the mean sizes of ranges; look up the ranges; if they are far larger, choose again
//	prefetch  ask for the blocks of all ranges
//	scan      compare the low bits of each range, decode what passes, accept it if no earlier table has found it
//	resolve   a hit of table i > 0 is a fingerprint: run 0 has its documents, as document numbers follow fingerprint order; it is
//	          asked for when the hit is found, and read when all ranges are scanned
//
// An Index is safe for concurrent use; a Scratch is not.
type Index struct {
	layout   Layout
	tables   []permuted
	disjoint []int  // tables whose leads do not overlap
	names    *names // of the documents, or nil; whoever searches mostly wants to know them
	damage   error  // what makes searches impossible
	standard [maxDistance + 1]atomic.Pointer[allocation]
}

// permuted is one permuted table, with what a probe of it needs to know.
type permuted struct {
	perm
	run   *keyRun
	rest  uint64  // the bits of a key after the lead
	mean  float64 // keys with one lead, on average
	ahead int     // keys to prefetch for a range
	probe float64 // nanoseconds for a probe that finds as many
}

const maxDistance = 64

// NearStats counts the work of searches.
type NearStats struct {
	Probes     int // ranges of table runs looked up
	Candidates int // keys compared with the query
	Scans      int // searches that read all of table 0
}

// Scratch is the working memory of searches, one at a time. Its zero value is ready; reuse makes searches free of allocation.
type Scratch struct {
	Stats NearStats // of all searches since it was last set to zero

	planner
	planned searchPlan // of a search in one table
	batch   batch
	pending []pendingHit
	pos     []uint32
	keys    kernel.Keys
	dst     []Hit
}

// newIndex returns the index over the l.Tables() runs of a table. Run 0 has the fingerprints in order, as often as they occur; run i
// has each distinct fingerprint once, permuted.
func newIndex(l Layout, runs []*keyRun) *Index {
	x := &Index{layout: l}
	taken := uint64(0)
	for t, p := range l.perms() {
		if p.leadMask&taken == 0 {
			x.disjoint = append(x.disjoint, t)
			taken |= p.leadMask
		}
		mean := math.Ldexp(float64(runs[t].n), -p.leadBits)
		if runs[t].n == 0 && runs[0].n > 0 && x.damage == nil {
			x.damage = runs[t].corrupt(0, "no keys, but table 0 has %d", runs[0].n)
		}
		x.tables = append(x.tables, permuted{
			perm:  p,
			run:   runs[t],
			rest:  ^uint64(0) >> uint(p.leadBits), // shifted by 64 if every bit leads: nothing
			mean:  mean,
			ahead: int(min(mean, prefetchKeys)),
			probe: cost.probe + mean*cost.key,
		})
	}
	return x
}

// Near appends to dst every document whose fingerprint differs from q in at most k bits, each once, in no particular order.
func (x *Index) Near(q uint64, k int, s *Scratch, dst []Hit) ([]Hit, error) {
	s.ranges = s.ranges[:0]
	x.aim(q, k, s, &s.planned)
	x.plan(q, k, s, &s.planned)
	return x.finish(q, k, s, &s.planned, dst)
}

// finish carries out a search that is planned.
func (x *Index) finish(q uint64, k int, s *Scratch, p *searchPlan, dst []Hit) ([]Hit, error) {
	var err error
	switch s.dst = dst; {
	case p.allocation == nil:
		err = x.damage
	case p.scan:
		s.Stats.Scans++
		err = x.scanAll(q, k, s)
	default:
		err = x.probe(q, k, s, p)
	}
	dst, s.dst = s.dst, nil
	return dst, err
}

// probe searches the ranges that the plan has looked up. What a hit needs next, its place in run 0 and its name, is asked for when the hit
// is found and used a range later, so that most of these cache misses pass behind the scan.
func (x *Index) probe(q uint64, k int, s *Scratch, plan *searchPlan) error {
	ranges := s.ranges[plan.first:plan.end]
	s.Stats.Probes += len(ranges)
	f := scanFor{a: plan.allocation, k: k, table: -1}
	s.pending = s.pending[:0]
	settled, named := 0, len(s.dst) // hits up to here are done with
	for i := range ranges {
		if i+prefetchAhead < len(ranges) && !plan.flat {
			x.prefetch(&ranges[i+prefetchAhead])
		}
		p := &ranges[i]
		if t := int(p.table); t != f.table {
			f.table, f.permuted, f.q = t, &x.tables[t], x.tables[t].apply(q)
		}
		f.lead, f.off = f.leadBits, int(p.dist)
		pending, hits := len(s.pending), len(s.dst)
		if err := x.scanRange(&f, p, s); err != nil {
			return err
		}
		for ; named < hits; named++ {
			x.names.prefetch(s.dst[named].Doc)
		}
		for ; settled < pending; settled++ {
			if err := x.settle(&s.pending[settled], s); err != nil {
				return err
			}
		}
	}
	for ; settled < len(s.pending); settled++ {
		if err := x.settle(&s.pending[settled], s); err != nil {
			return err
		}
	}
	for ; named < len(s.dst); named++ {
		x.names.prefetch(s.dst[named].Doc)
	}
	return nil
}

// scanFor says what blocks are scanned for: keys of a table within k of q, the permuted query. The first lead bits of every key in
// question are off bits away from those of q.
type scanFor struct {
	*permuted
	a     *allocation
	table int
	q     uint64
	k     int
	lead  int
	off   int

	first, last uint64 // only keys between these are wanted, all others belong to other ranges
}

// scanRange compares the keys of one range.
func (x *Index) scanRange(f *scanFor, p *keyRange, s *Scratch) error {
	run := f.run
	f.first, f.last = p.first, p.last
	first, in := p.start(), unpackInfo(p.info)
	for b := first; b < int(p.end); b++ {
		if b > first {
			in = run.info(b)
		}
		if b > first || p.info&checkedBit == 0 {
			if err := run.check(b); err != nil {
				return err
			}
		}
		if b+1 < int(p.end) {
			run.prefetchNext(b+1, p)
		}
		bound := f.bound(in.width)
		from, to := p.borders(b, in)
		var lo, hi int
		switch {
		case in.width < leastWidth(bound):
			lo, hi = kernel.RankZeros(run.data[in.off:in.off+8*in.high], from, to, run.count(b))
			if err := x.scanKeys(f, b, in, lo, hi, s); err != nil {
				return err
			}
			continue
		default:
			s.pos, lo, hi = kernel.ScanBlock(s.pos, run.data[in.off:], in.high, in.width, run.count(b), from, to, f.q, bound)
		}
		if s.Stats.Candidates += hi - lo; len(s.pos) == 0 {
			continue
		}
		if err := x.confirm(f, b, in, lo, hi, from, s); err != nil {
			return err
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

// bound is how far the low bits of a key may be: the lead's difference is known, unless low bits reach into it.
func (f *scanFor) bound(width int) int {
	if width <= 64-f.lead {
		return f.k - f.off
	}
	return f.k
}

// leastWidth is the width of low bits from which on comparing them alone is worth it. Of w random bits, w/2 - 5 or fewer are set once
// in twenty times, about; where more pass by chance it is cheaper to decode all keys.
func leastWidth(bound int) int { return 2*bound + 10 }

// scanKeys decodes and compares the keys [lo, hi) of the checked block b.
func (x *Index) scanKeys(f *scanFor, b int, in blockInfo, lo, hi int, s *Scratch) error {
	if lo >= hi {
		return nil
	}
	s.Stats.Candidates += hi - lo
	keys := f.run.decode(b, in, lo, hi, &s.keys)
	s.pos = kernel.ScanFlat(s.pos[:0], keys, f.q, f.k)
	for _, i := range s.pos {
		if err := x.accept(f, b<<blockShift+lo+int(i), keys[i], s); err != nil {
			return err
		}
	}
	return nil
}

// manyPassed is the number of keys whose low bits are near from which on decoding the block is cheaper than decoding each.
const manyPassed = 24

// confirm accepts those keys of [lo, hi) whose low bits are near, at s.pos, that are near as a whole.
func (x *Index) confirm(f *scanFor, b int, in blockInfo, lo, hi int, from uint64, s *Scratch) error {
	var keys []uint64
	if len(s.pos) >= manyPassed {
		keys = f.run.decode(b, in, 0, hi, &s.keys)
	}
	for _, i := range s.pos {
		if int(i) < lo || int(i) >= hi {
			continue
		}
		var key uint64
		if keys != nil {
			key = keys[i]
		} else {
			key = f.run.keyFrom(b, in, int(i), lo, from)
		}
		if bits.OnesCount64(key^f.q) > f.k {
			continue
		}
		if err := x.accept(f, b<<blockShift+int(i), key, s); err != nil {
			return err
		}
	}
	return nil
}

// accept adds the documents of a key of table t, which is near enough, unless it is out of range or an earlier table has found it: the first table that
// finds a fingerprint reports it, so that no set of what has been reported is needed.
func (x *Index) accept(f *scanFor, pos int, key uint64, s *Scratch) error {
	if key < f.first || key > f.last {
		return nil
	}
	t, diff := f.table, key^f.q
	hit := Hit{Doc: uint32(pos), Distance: uint8(bits.OnesCount64(diff)), Fingerprint: key}
	if t == 0 {
		s.dst = append(s.dst, hit)
		x.names.touch(hit.Doc)
		return nil
	}
	diff = f.invert(diff) // bit by bit, so it is the difference of the fingerprints too
	for earlier := range t {
		if bits.OnesCount64(diff&x.tables[earlier].leadMask) <= int(f.a.radius[earlier]) {
			return nil
		}
	}
	hit.Fingerprint = f.invert(key)
	p := x.pend(t, hit)
	p.prefetch(1)
	x.names.touch((max(p.block, 1) - 1) << blockShift) // the directory has one cache line for the names of a block of keys
	s.pending = append(s.pending, p)
	return nil
}

// A pendingHit is a fingerprint that a table after the first has found, with where run 0 has it; table is the one that found it.
type pendingHit struct {
	hit Hit // without document
	keyRange
}

// pend looks up where run 0 has a fingerprint that table t has found.
func (x *Index) pend(t int, hit Hit) pendingHit {
	run, fp := x.tables[0].run, hit.Fingerprint
	block, end := run.blockRange(fp, fp)
	r := keyRange{run: run, first: fp, last: fp, block: uint32(block), end: uint32(end), table: uint8(t)}
	r.info = run.infoWord(r.start())
	return pendingHit{hit, r}
}

// resolve adds the documents of a fingerprint that table t has found.
func (x *Index) resolve(t int, hit Hit, s *Scratch) error {
	p := x.pend(t, hit)
	return x.settle(&p, s)
}

// settle adds the documents of a pending hit.
func (x *Index) settle(p *pendingHit, s *Scratch) error {
	run, fp, found := x.tables[0].run, p.hit.Fingerprint, false
	for b := p.start(); b < int(p.end); b++ {
		if err := run.check(b); err != nil {
			return err
		}
		in := run.info(b)
		prefix := shr(fp, in.width) - shr(run.base(b), in.width)
		var lo, hi int
		s.pos, lo, hi = kernel.ScanBlock(s.pos, run.data[in.off:], in.high, in.width, run.count(b), prefix, prefix+1, fp, 0)
		for _, i := range s.pos { // of one prefix and with equal low bits: equal
			if int(i) >= lo && int(i) < hi {
				p.hit.Doc, found = uint32(b<<blockShift+int(i)), true
				s.dst = append(s.dst, p.hit)
			}
		}
	}
	if !found {
		return x.tables[p.table].run.corrupt(0, "fingerprint %016x is not in table 0", fp)
	}
	return nil
}

// scanAll compares all keys of table 0, but for the blocks whose common leading bits are too far away.
func (x *Index) scanAll(q uint64, k int, s *Scratch) error {
	run := x.tables[0].run
	f := scanFor{permuted: &x.tables[0], q: q, k: k, last: ^uint64(0)}
	for b := range run.blocks {
		limit := run.last
		if b+1 < run.blocks {
			limit = run.base(b + 1)
		}
		first := run.base(b)
		f.lead = bits.LeadingZeros64(first ^ limit)
		f.off = bits.OnesCount64((first ^ q) &^ (^uint64(0) >> uint(f.lead)))
		if f.off > k {
			continue
		}
		if err := run.check(b); err != nil {
			return err
		}
		in, n := run.info(b), run.count(b)
		var err error
		if bound := f.bound(in.width); in.width < leastWidth(bound) {
			err = x.scanKeys(&f, b, in, 0, n, s)
		} else {
			s.Stats.Candidates += n
			s.pos = kernel.ScanPacked(s.pos[:0], run.packed(in), in.width, 0, n, q, bound)
			err = x.confirm(&f, b, in, 0, n, 0, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
