package hamming

import (
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/keyrun"
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
//	plan      radii from the mean sizes of ranges; look up where the ranges lie (aim, look); if they are far larger, choose again (plan)
//	ask       prefetch what the scan of some ranges will read
//	scan      compare the low bits of these ranges, decode what passes, accept it if no earlier table has found it; where that is more
//	          than is worth it, scan table 0 instead
//	resolve   a hit of table i > 0 is a fingerprint: run 0 has its documents, as document numbers follow fingerprint order; it is
//	          asked for when the hit is found, and read when all ranges are scanned
//
// An Index is safe for concurrent use; a Searcher is not.
type Index struct {
	layout   Layout
	tables   []permuted
	disjoint []int       // tables whose leads do not overlap
	names    *blobs.List // of the documents, or nil; whoever searches mostly wants to know them
	damage   error       // what makes searches impossible

	resolveNs float64 // nanoseconds to find the documents of a hit of a table after the first
	leastScan float64 // nanoseconds to find out what a scan costs, and for one that passes over all blocks
	ahead     int     // probes to be asked for while those before are scanned

	standard [maxDistance + 1]atomic.Pointer[allocation]
}

// permuted is one permuted table, with what a probe of it needs to know.
type permuted struct {
	perm
	run   *keyrun.Run
	rest  uint64             // the bits of a key after the lead
	mean  float64            // keys with one lead, on average
	ahead int                // keys to prefetch for a range
	probe float64            // nanoseconds for a probe that finds as many
	long  int                // the number of blocks that only hot ranges have more of
	most  uint32             // the number of keys that only hot ranges have more of
	shell [maxRadius + 1]int // how many leads are so many bits away from one
}

const maxDistance = 64

// Stats counts the work of searches.
type Stats struct {
	Probes     int // ranges of table runs looked up
	Candidates int // keys compared with the query
	Scans      int // searches that read all of table 0
}

// Searcher is the working memory of searches, one at a time. Its zero value is ready; reuse makes searches free of allocation.
type Searcher struct {
	stats Stats // of all searches since TakeStats

	planner
	plans    [groupTables]searchPlan // of the searches that are planned together
	group    []Hit                   // of a table of a group
	batch    batch
	begun    spanList    // of the probes that all plans begin with
	turns    [2]spanList // of the probes at hand, and of those that come next
	near     []uint64    // of the spans at hand, from kernel.ScanSpans
	permuted *searchPlan // the plan whose query was permuted last
	layout   Layout      // in this layout
	pending  []pendingHit
	settled  int     // of these
	scanned  int     // probes, with the one at hand
	extra    float64 // nanoseconds it took to tell keys apart whose low bits are near
	pos      []uint32
	decoded  kernel.Keys
	dst      []Hit

	accept  func(table int, h Hit) (bool, error) // of NearFirst, or nil
	table   int                                  // that is searched for it
	offered int                                  // hits that it has refused
}

// TakeStats returns the work of the searches since it was called last. Group hands the work of its searches to its callback
// instead.
func (s *Searcher) TakeStats() Stats {
	work := s.stats
	s.stats = Stats{}
	return work
}

// New returns the index over the l.Tables() runs of a table. Run 0 has the fingerprints in order, as often as they occur; run i
// has each distinct fingerprint once, permuted.
func New(l Layout, runs []*keyrun.Run, ids *blobs.List) *Index {
	x := &Index{layout: l, names: ids}
	taken := uint64(0)
	for t, p := range l.perms() {
		if p.leadMask&taken == 0 {
			x.disjoint = append(x.disjoint, t)
			taken |= p.leadMask
		}
		mean := math.Ldexp(float64(runs[t].Len()), -p.leadBits)
		if runs[t].Len() == 0 && runs[0].Len() > 0 && x.damage == nil {
			x.damage = runs[t].Corrupt(0, "no keys, but table 0 has %d", runs[0].Len())
		}
		x.tables = append(x.tables, permuted{
			perm:  p,
			run:   runs[t],
			rest:  ^uint64(0) >> uint(p.leadBits), // shifted by 64 if every bit leads: nothing
			mean:  mean,
			ahead: int(min(mean, prefetchKeys)),
			probe: cost.probe + mean*cost.key,
			long:  longBlocks + int(4*mean/keyrun.BlockLen),
			most:  uint32(min(max(hotBlocks*keyrun.BlockLen, 2*mean), math.MaxUint32)),
		})
		for d := range maxRadius + 1 {
			x.tables[t].shell[d] = int(choose(p.leadBits, d))
		}
		if mean < spanKeys {
			runs[t].IndexLeads(p.leadBits)
		}
	}
	x.resolveNs = cost.resolve
	if runs[0].Len() < resolveCached {
		x.resolveNs /= 2
	}
	if len(runs) > 1 { // as many as there are of a fingerprint
		x.resolveNs += (float64(runs[0].Len())/float64(max(runs[1].Len(), 1)) - 1) * cost.hit
	}
	x.leastScan = cost.probe + float64(runs[0].NumBlocks())/8*cost.walk + float64(min(runs[0].NumBlocks(), scanParts))*cost.lookUp
	most := 0.0
	for _, t := range x.tables {
		most = max(most, t.mean)
	}
	x.ahead = int(min(max(prefetchAheadKeys/(most+1), prefetchAhead), prefetchAheadMost))
	return x
}

// Near appends to dst every document of x whose fingerprint differs from q in at most k bits, each once, in no
// particular order.
func (s *Searcher) Near(x *Index, q uint64, k int, dst []Hit) ([]Hit, error) {
	p := s.planOne(x, q, k)
	return x.execute(s, p, dst)
}

// planOne plans a single search.
func (s *Searcher) planOne(x *Index, q uint64, k int) *searchPlan {
	s.start()
	p := &s.plans[0]
	x.prepare(q, k, s, p)
	x.resolveLeads(s, p)
	x.choose(s, p)
	return p
}

// start forgets the plans that have been made.
func (s *Searcher) start() {
	s.probes = s.probes[:0]
	s.begun.reset()
}

// permute makes the keys of a plan. The files of a database have one layout, so that for several of them a query is permuted once.
func (x *Index) permute(s *Searcher, p *searchPlan) {
	if last := s.permuted; last != nil && last != p && last.q == p.q && s.layout == x.layout {
		for t := range x.tables {
			p.keys[t] = last.keys[t]
		}
		return
	}
	for t := range x.tables {
		p.keys[t] = x.tables[t].apply(p.q)
	}
	s.permuted, s.layout = p, x.layout
}

// execute carries out a search that is planned.
func (x *Index) execute(s *Searcher, p *searchPlan, dst []Hit) ([]Hit, error) {
	var err error
	s.offered = len(dst)
	switch s.dst = dst; {
	case p.allocation == nil:
		err = x.damage
	case p.scan:
		s.stats.Scans++
		err = x.scanAll(p.q, p.k, s)
	default:
		err = x.probe(s, p)
	}
	dst, s.dst = s.dst, nil
	return dst, err
}

// probe carries out the probes of a plan, some at a time: those that come next are asked for before those at hand are scanned.
func (x *Index) probe(s *Searcher, plan *searchPlan) error {
	s.pending, s.settled, s.extra, s.scanned = s.pending[:0], 0, 0, 0
	var f scanFor
	f.plan, f.k, f.table, f.start, f.named = plan, plan.k, -1, len(s.dst), len(s.dst)
	probes := s.probes[plan.first:plan.end]
	spans := s.begun.spans[plan.spans:plan.spansEnd] // of the probes at hand
	rest, keys := plan.begun.rest, plan.begun.keys
	for from, to, turn := 0, plan.asked, 0; from < len(probes); turn ^= 1 {
		ahead, next := &s.turns[turn], min(to+x.ahead, len(probes))
		if ahead.reset(); next > to {
			x.ask(s, plan, to, next, ahead)
		}
		s.stats.Candidates += keys
		err := x.scanSpans(&f, spans, s)
		for i := from; rest > 0 && err == nil; i++ {
			if p := &probes[i]; !p.Exact {
				rest--
				pending, hits := len(s.pending), len(s.dst)
				s.scanned = max(s.scanned, i+1)
				if err = x.scanRange(f.aim(x, p), p, s); err == nil && f.found(s) {
					err = x.follow(&f, pending, hits, s)
				}
			}
		}
		if err == errScan {
			s.dst = s.dst[:f.start]
			s.offered = f.start
			s.stats.Probes += s.scanned
			s.stats.Scans++
			return x.scanAll(plan.q, plan.k, s)
		}
		if err != nil {
			return err
		}
		s.scanned = to
		from, to, spans, rest, keys = to, next, ahead.spans, ahead.rest, ahead.keys
	}
	s.stats.Probes += len(probes)
	if !f.found(s) {
		return nil
	}
	err := x.settle(len(s.pending), s)
	x.nameHits(&f, len(s.dst), s)
	return err
}

// found reports whether there is anything for follow to do.
func (f *scanFor) found(s *Searcher) bool {
	return s.extra > f.extra || s.settled < len(s.pending) || f.named < len(s.dst)
}

// follow goes on after some probes, before which there were so many pending and found hits. What a hit needs next, its place in run 0 and its
// name, is asked for when it is found and used a step later, so that most of these cache misses pass behind the scan.
func (x *Index) follow(f *scanFor, pending, hits int, s *Searcher) error {
	if s.extra > f.extra {
		f.extra = s.extra
		if err := x.worthwhile(f.plan, s, 0); err != nil {
			return err
		}
	}
	if len(s.pending) > pending {
		x.place(s.pending[pending:])
	}
	x.nameHits(f, hits, s)
	return x.settle(pending, s)
}

// nameHits asks for the names of hits up to number end.
func (x *Index) nameHits(f *scanFor, end int, s *Searcher) {
	for ; f.named < min(end, f.start+prefetchNames); f.named++ {
		x.names.Prefetch(s.dst[f.named].Doc)
	}
}

// accept adds a key of the range at hand, which is near enough, to the hits, or if its documents have to be found first, to what is pending.
// A key that is out of range, or that an earlier table finds too, is passed over: the first table that finds a fingerprint reports it, so that
// no set of what has been reported is needed.
func (x *Index) accept(f *scanFor, pos int, key uint64, s *Searcher) {
	if key < f.first || key > f.last {
		return
	}
	t, diff := f.table, key^f.q
	hit := Hit{Doc: uint32(pos), Distance: uint8(bits.OnesCount64(diff)), Fingerprint: key}
	if t == 0 {
		s.dst = append(s.dst, hit)
		x.names.PrefetchEntry(hit.Doc)
		return
	}
	diff = f.invert(diff) // bit by bit, so it is the difference of the fingerprints too
	for earlier := range t {
		if bits.OnesCount64(diff&x.tables[earlier].leadMask) <= int(f.plan.radius[earlier]) {
			return
		}
	}
	hit.Fingerprint = f.invert(key)
	s.pending = append(s.pending, pendingHit{hit: hit, table: uint8(t)})
}

// A pendingHit is a fingerprint that a table after the first has found, with where run 0 has it; table is the one that found it.
type pendingHit struct {
	hit   Hit // without document
	start int // the first block of run 0 that may have it
	end   int // and the one after the last
	table uint8
}

// place looks up where run 0 has the fingerprints of pending hits, and asks for it.
func (x *Index) place(pending []pendingHit) {
	run := x.tables[0].run
	for i := range pending {
		p := &pending[i]
		fp := p.hit.Fingerprint
		block, end := run.Blocks(fp, fp)
		r := keyrun.Range{First: fp, Last: fp, Run: run, Block: uint32(block), End: uint32(end)}
		r.Prefetch(1)
		p.start, p.end = r.Start(), end
		x.names.PrefetchEntry(uint32(p.start) << keyrun.BlockShift) // the directory has one cache line for the names of a block of keys
	}
}

// settle adds the documents of pending hits up to number end, which have been placed.
func (x *Index) settle(end int, s *Searcher) error {
	for ; s.settled < end; s.settled++ {
		if err := x.resolve(&s.pending[s.settled], s); err != nil {
			return err
		}
	}
	return s.offer()
}

// resolve adds the documents of a hit that has been placed.
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
