package hamming

import (
	"math"
	"sync/atomic"

	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

const maxDistance = 64

// Hit is a document within the distance of a search.
type Hit struct {
	Doc         uint32 // its number in the table
	Distance    uint8  // bits that differ from the query, 0..64
	Fingerprint uint64
}

// An Index finds the fingerprints of one table that differ from a query in at most k bits. It is
// safe for concurrent use.
type Index struct {
	layout   Layout
	tables   []permuted
	disjoint []int       // tables whose leads do not overlap
	ids      *blobs.List // of the documents, to be prefetched for hits; or nil
	damage   error       // what makes searches impossible

	resolveNs float64 // nanoseconds to find the documents of a hit of a table after the first
	leastScan float64 // nanoseconds to estimate a scan, and for one that skips all blocks
	ahead     int     // probes that are prefetched while those before are scanned

	standard [maxDistance + 1]atomic.Pointer[allocation] // of each k, see standardPlan
}

// permuted is one permuted table, with what a probe of it needs to know.
type permuted struct {
	perm
	run   *keyrun.Run
	rest  uint64             // the bits of a key after the lead
	mean  float64            // keys with one lead, on average
	ahead int                // keys to prefetch for a range
	probe float64            // nanoseconds for a probe with the mean number of keys
	long  int                // a range of more blocks is scanned as the whole table is
	most  uint32             // a range of more keys is looked up in the directory
	shell [maxRadius + 1]int // number of leads at each distance from one
}

// New returns the index over the l.Tables() runs of a table. Run 0 has the fingerprints in order,
// as often as they occur; run i has each distinct fingerprint once, permuted. ids are the IDs of
// the documents, which searches prefetch for their hits because callers nearly always read them;
// nil if nobody does.
func New(l Layout, runs []*keyrun.Run, ids *blobs.List) *Index {
	x := &Index{layout: l, ids: ids}
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
			x.tables[t].shell[d] = int(ways(p.leadBits, d))
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
