package hamming

import (
	"fmt"
	"math"
	"strings"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// Plan says how a search would be done.
type Plan struct {
	Method     string  // "probe" or "scan"
	Radii      []int   // of each table, -1 where it is not probed; nil for a scan
	Probes     int     // ranges to look up
	Candidates int     // keys to compare, estimated from the real sizes of the ranges
	Cost       float64 // nanoseconds, estimated
}

// String returns one line: "probe radii 0 0 0 0, 4 probes, about 610 candidates", or "scan, 1100000
// candidates".
func (p Plan) String() string {
	if p.Method == "scan" {
		return fmt.Sprintf("scan, %d candidates", p.Candidates)
	}
	radii := strings.Trim(fmt.Sprint(p.Radii), "[]")
	return fmt.Sprintf("probe radii %s, %d probes, about %d candidates", radii, p.Probes, p.Candidates)
}

// Plan returns how Near(x, q, k) would search. It reads directories only.
func (s *Searcher) Plan(x *Index, q base.Fingerprint, k int) Plan {
	a := s.planOne(x, q, k)
	if a.allocation == nil {
		return Plan{Method: "scan"}
	}
	if a.scan {
		return Plan{Method: "scan", Candidates: x.tables[0].run.Len(), Cost: x.scanCostOf(a)}
	}
	// Either all ranges were looked up by findFlat, or the shells of the chosen radii by lookUp.
	p := Plan{Method: "probe", Cost: a.flatNs}
	if !a.flat {
		p.Cost = s.knownCost(a.allocation, len(x.tables))
	}
	for t := range x.tables {
		p.Radii = append(p.Radii, int(a.radius[t]))
	}
	p.Probes = a.end - a.first
	// Directories say exactly how many keys a range has only where the lead index covers it. Else a
	// range in one block counts as a mean one, a longer one as all keys of its blocks.
	keys := 0.0
	for _, r := range s.probes[a.first:a.end] {
		if r.Exact {
			keys += float64(r.To - r.From)
		} else if r.To > r.From+1 {
			keys += float64((r.To - r.From) * keyrun.BlockLen)
		} else {
			keys += x.tables[r.Table].mean
		}
	}
	p.Candidates = int(math.Round(keys))
	return p
}
