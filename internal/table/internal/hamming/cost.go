package hamming

import (
	"math"
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// Probing pays if the ranges that a query probes are small and few of their keys are near. A scan
// skips blocks by their leading bits, so its cost depends on the query, too, and can be very low if
// keys are similar to each other. Both costs are estimated only from directories:
//
//	a range in one block	a look-up, and the mean number of keys
//	a longer one, a scan	the blocks that remain after skipping those too far away
//
// The remaining blocks are estimated from a few parts of equal size, in two ways. One uses the bits
// that all keys of a part have in common and treats the others as random, which is right for
// uniform keys and for dense ones. The other uses one block of each part, which is right where keys
// have few different leads. For a range we use the larger estimate, for a scan the mean; this
// biases ties towards the scan, whose cost is predictable.
//
// How many keys are near is known only after scanning the ranges. A search that finds more than its
// cost estimate allows for switches to a scan (worthwhile).

// A costModel has the times of the steps of a search, in nanoseconds on one core;
// BenchmarkSearchCosts measures them for a kernel. Only their ratios matter, and an error of a
// factor of two changes a plan only if the plans are close anyway.
type costModel struct {
	probe  float64 // look up a range, load its keys, start comparing
	lookUp float64 // the look-up alone, as part of probe
	key    float64 // compare one more key of a range
	// compare the low bits of one key in a scan of the whole table, if that fits into a cache
	scan    float64
	decode  float64 // decode one key of a whole block and compare it
	confirm float64 // decode one key alone because its low bits are near
	hit     float64 // add one document
	resolve float64 // find the documents of a hit of a later table
	walk    float64 // skip a block of a scan because its leading bits are too far away
}

const (
	// scanCached is how many keys fit into a last-level cache. A scan of more keys waits for
	// memory, and a key costs scanUncached times as much.
	scanCached   = 3 << 20
	scanUncached = 2.5
	// resolveCached is how many keys fit into a second-level cache, where finding the documents of
	// a hit costs half as much.
	resolveCached = 1 << 16
	// longBlocks: a range with more blocks than this, in addition to four times the mean number of
	// keys, is scanned like a whole table. Only hot ranges have more.
	longBlocks = 3
	// scanParts is how many parts of the table are used to estimate the cost of a scan, rangeParts
	// how many parts of a range.
	scanParts, rangeParts = 32, 8
)

// One model serves all processors and kernels, so that plans, and their costs in EXPLAIN, are the
// same everywhere. Its values lie between those measured for the kernels: with AVX-512 a scan costs
// less, and in pure Go everything but look-ups costs more.
var cost = costModel{probe: 40, lookUp: 10, key: 0.5, scan: 0.3, decode: 0.65, confirm: 18, hit: 1.1, resolve: 80, walk: 3}

// chance[n][k] is the probability that at most k of n random bits are set.
var chance = func() (p [maxDistance + 1][maxDistance + 1]float64) {
	for n := range p {
		sum, exactly := 0.0, math.Ldexp(1, -n)
		for k := range p[n] {
			sum += exactly
			p[n][k] = min(sum, 1)
			exactly *= float64(n-k) / float64(k+1)
		}
	}
	return p
}()

// leastWidths is, for each distance, the least width of low bits for which comparing only them is
// cheaper than decoding all keys, because few keys are near by chance.
var leastWidths = func() (least [maxDistance + 1]uint8) {
	for k := range least {
		for width := maxDistance; width >= 0; width-- {
			if cost.scan+chance[width][k]*cost.confirm > cost.decode {
				least[k] = uint8(width + 1)
				break
			}
		}
	}
	return least
}()

// scanKeyCost is the cost of comparing a key of a whole block with low bits of the given width,
// which may differ in at most bound bits.
func scanKeyCost(width, bound int) float64 {
	if width >= int(leastWidths[bound]) {
		return cost.scan
	}
	return cost.decode
}

// scanCost is the cost of a scan within k of a table of uniform keys.
func (x *Index) scanCost(k int) float64 {
	n := x.tables[0].run.Len()
	lead := bits.Len(uint(n >> keyrun.BlockShift)) // bits that a block has in common
	width := kernel.RoundWidth(64 - min(64, lead+keyrun.BlockShift))
	return cost.probe + float64(n)*scanKeyCost(width, max(0, k-lead/2))*scanFactor(n)
}

// scanFactor is the ratio of the time of a scan of n keys to one within a cache.
func scanFactor(n int) float64 {
	if n > scanCached {
		return scanUncached
	}
	return 1
}

// scanCostOf is the cost of a scan for the query of a plan. It is estimated once.
func (x *Index) scanCostOf(p *searchPlan) float64 {
	if p.scanNs == 0 {
		run := x.tables[0].run
		run.LoadDirectory()
		random, sample := x.blocksCost(p.q, p.k, 0, 0, run.NumBlocks(), scanParts)
		p.scanNs = cost.probe + (random+sample)/2*scanFactor(run.Len())
	}
	return p.scanNs
}

// cheapScan reports whether a scan may cost less than the plan. It looks at a few blocks.
func (x *Index) cheapScan(p *searchPlan) bool {
	const some = 8
	run, near := x.tables[0].run, 0
	if run.IsPaged() {
		return false // a scan reads far more from the server
	}
	for i := range some {
		b := (2*i + 1) * run.NumBlocks() / (2 * some)
		if _, off := run.Shared(b, b+1, p.q); off <= p.k {
			near++
		}
	}
	return float64(near)/some*float64(run.Len())*cost.scan < 2*p.ns
}

// blocksCost returns two estimates of the cost of scanning the blocks [from, to) of table t for
// keys within k of q.
func (x *Index) blocksCost(q uint64, k, t, from, to, parts int) (random, sample float64) {
	run := x.tables[t].run
	parts = min(parts, to-from)
	// Both estimates start with skipping blocks, several at a time.
	random = float64(to-from) / 8 * cost.walk
	sample = random
	for i := range parts {
		b, end := from+(to-from)*i/parts, from+(to-from)*(i+1)/parts
		lead, off := run.Shared(b, end, q)
		if off > k {
			continue
		}
		// random: the bits after the common ones are treated as random, and only blocks whose own
		// bits happen to be near are scanned.
		n := float64(end - b)
		split := min(bits.Len(uint(end-b))-1, 64-lead) // bits in which the blocks differ
		ns := n * chance[split][k-off] * x.blockCost(t, run.Info(b).Width, lead+split, max(0, k-off-split/2))
		random += ns
		if end-b == 1 {
			sample += ns
			continue
		}
		// sample: all blocks of the part are assumed to resemble its middle one.
		b += (end - b) / 2
		if lead, off = run.Shared(b, b+1, q); off <= k {
			sample += n * x.blockCost(t, run.Info(b).Width, lead, k-off)
		}
	}
	return random, sample
}

// blockCost is the cost of scanning one block of table t whose keys have lead bits in common, if at
// most bound of the others may differ.
func (x *Index) blockCost(t, width, lead, bound int) float64 {
	key, hit := scanKeyCost(width, bound), cost.hit
	if t > 0 {
		key, hit = max(key, cost.key), x.resolveNs+cost.confirm
	}
	return cost.walk + keyrun.BlockLen*(key+chance[64-lead][bound]*hit)
}

// hotCost is rangeCost for a long range of table t that is searched for keys within k of key. A
// range of up to twice the mean size is not hot, and costs the time to compare its keys.
func (x *Index) hotCost(t int, key uint64, k int, p *keyrun.Probe) float64 {
	blocks := int(p.To) - int(p.From)
	if float64(blocks*keyrun.BlockLen) <= 2*x.tables[t].mean {
		return x.tables[t].rangeCost(p)
	}
	random, sample := x.blocksCost(key, k, t, max(int(p.From), 1)-1, int(p.To), rangeParts)
	return cost.probe + max(random, sample)
}

// worthwhile returns errScan if a scan is cheaper than the rest of a search, given how many keys
// have been near so far. The first ranges have the query's own leads, where most near keys are; we
// assume that the rest has at most 4 times as many. pendingNs is the time, in nanoseconds, that
// keys found but not yet processed will cost.
func (x *Index) worthwhile(p *searchPlan, s *Searcher, pendingNs float64) error {
	hits := float64(len(s.pending)-s.settled)*x.resolveNs + pendingNs
	if hits+s.extra < x.leastScan {
		return nil
	}
	// The remaining probes cost their share of the plan, and find more hits at the same rate.
	done, all := float64(s.scanned), float64(p.end-p.first)
	grows := min(4, all/done)
	if (all-done)/all*p.ns+hits*grows+s.extra*(grows-1) > x.scanCostOf(p) {
		return errScan
	}
	return nil
}

// rangeCost is the cost of a probe of a looked-up range.
func (t *permuted) rangeCost(r *keyrun.Probe) float64 {
	if r.Exact {
		return cost.probe + float64(r.To-r.From)*cost.key
	}
	if r.To <= r.From+1 {
		return t.probe
	}
	return cost.probe + float64((r.To-r.From)*keyrun.BlockLen)*cost.key
}

// aloneFactor is the ratio of the cost of a query that is searched for alone to its planned cost:
// its data is no longer in the caches.
const aloneFactor = 1.9
