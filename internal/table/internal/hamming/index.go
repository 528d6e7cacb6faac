package hamming

import (
	"math"

	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// New returns the index over the l.Tables() runs of a table. Run 0 has all fingerprints in order,
// repeated ones too; run i has each distinct fingerprint once, permuted. ids has the IDs of the
// documents, which searches prefetch for their hits because callers nearly always read them; nil if
// nobody does.
func New(l Layout, runs []*keyrun.Run, ids *blobs.List) *Index {
	x := &Index{layout: l, ids: ids, cached: runs[0].Len() <= cachedKeys}
	taken := uint64(0)
	for t, p := range l.perms() {
		// Only the first tables whose leads do not overlap get radii; in a layout with Lead 1 these
		// are all tables. The pigeonhole principle counts a differing bit in one lead only, so it
		// does not hold for overlapping leads.
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
			rest:  ^uint64(0) >> uint(p.leadBits), // 0 if every bit leads: shifted by 64
			mean:  mean,
			ahead: int(min(mean, prefetchKeys)),
			probe: cost.probe + mean*cost.key,
			long:  longBlocks + int(4*mean/keyrun.BlockLen),
			most:  uint32(min(max(hotBlocks*keyrun.BlockLen, 2*mean), math.MaxUint32)),
		})
		for d := range maxRadius + 1 {
			x.tables[t].shell[d] = int(ways(p.leadBits, d))
		}
		// With more keys per lead, exact positions would save nothing.
		if mean < spanKeys {
			runs[t].IndexLeads(p.leadBits)
		}
	}
	// Finding the documents of a hit is one look-up in run 0, whose cost depends on the cache that
	// run 0 fits in, and reading the average number of documents per fingerprint.
	x.resolveNs = cost.resolve
	if runs[0].Len() < resolveCached {
		x.resolveNs /= 2
	}
	if len(runs) > 1 {
		x.resolveNs += (float64(runs[0].Len())/float64(max(runs[1].Len(), 1)) - 1) * cost.hit
	}
	x.leastScan = cost.probe + float64(runs[0].NumBlocks())/8*cost.walk + float64(min(runs[0].NumBlocks(), scanParts))*cost.lookUp
	// The prefetch distance is a number of keys: if ranges are larger, fewer probes hide a cache
	// miss.
	most := 0.0
	for _, t := range x.tables {
		most = max(most, t.mean)
	}
	x.ahead = int(min(max(prefetchAheadKeys/(most+1), prefetchAhead), prefetchAheadMost))
	return x
}
