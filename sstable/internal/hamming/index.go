package hamming

import (
	"math"

	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// New returns the index over the l.Tables() runs of a table. Run 0 has the fingerprints in order,
// as often as they occur; run i has each distinct fingerprint once, permuted. ids are the IDs of
// the documents, which searches prefetch for their hits because callers nearly always read them;
// nil if nobody does.
func New(l Layout, runs []*keyrun.Run, ids *blobs.List) *Index {
	x := &Index{layout: l, ids: ids}
	taken := uint64(0)
	for t, p := range l.perms() {
		// The first tables whose leads do not overlap get radii; all of them in a layout with Lead
		// 1. The pigeonhole principle counts a differing bit in one lead only, so it does not hold
		// for leads that overlap.
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
			x.tables[t].shell[d] = int(ways(p.leadBits, d))
		}
		// With more keys a lead, knowing exactly where they are saves nothing.
		if mean < spanKeys {
			runs[t].IndexLeads(p.leadBits)
		}
	}
	// The documents of a hit are found by one look-up in run 0, whose cost depends on the cache
	// that holds it, and by reading as many keys as documents share a fingerprint on average.
	x.resolveNs = cost.resolve
	if runs[0].Len() < resolveCached {
		x.resolveNs /= 2
	}
	if len(runs) > 1 {
		x.resolveNs += (float64(runs[0].Len())/float64(max(runs[1].Len(), 1)) - 1) * cost.hit
	}
	x.leastScan = cost.probe + float64(runs[0].NumBlocks())/8*cost.walk + float64(min(runs[0].NumBlocks(), scanParts))*cost.lookUp
	// The prefetch distance is a number of keys: of larger ranges fewer probes hide a cache miss.
	most := 0.0
	for _, t := range x.tables {
		most = max(most, t.mean)
	}
	x.ahead = int(min(max(prefetchAheadKeys/(most+1), prefetchAhead), prefetchAheadMost))
	return x
}
