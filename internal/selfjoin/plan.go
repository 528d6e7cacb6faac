package selfjoin

import (
	"math"
	"math/bits"

	"github.com/simdb/simdb/internal/base"
)

// Costs in nanoseconds, measured by BenchmarkCosts on one core of a Zen 5 server with the AVX-512
// kernel; only their ratios matter. The order of pairs depends on them, so they are the same for
// every kernel.
const (
	costCompare = 1.2  // a pair of fingerprints, in groups too small for the scan kernel
	costScan    = 30   // a call of the scan kernel
	costScanned = 0.1  // a fingerprint that the kernel scans
	costChain   = 2.0  // a fingerprint in one chained pass
	costWalk    = 3.0  // a candidate pair of a chained pass
	costSplit   = 3.0  // moving a fingerprint to its bucket with a copy
	costSwap    = 9.0  // moving a fingerprint to its bucket in place
	costBucket  = 0.5  // a bucket of a split
	costNode    = 20   // a child node that is not empty
	costClear   = 0.06 // the head of an empty chain
)

// Limits of the leaves.
const (
	tinyGroup  = 16 // groups up to this size are compared pair by pair without planning
	maxChained = 15 // log2 of the largest group of a chained pass, whose links have 16 bits
	chainLoad  = 8  // a chained pass gives up if it has more candidates per fingerprint than this
)

// entropySteps is the resolution of a bit's information in planning: from 0, none, to
// entropySteps, that of a uniform bit.
const entropySteps = 8

// logSteps is the resolution of logarithms of sizes in planning.
const logSteps = 4

// planner estimates the cost of a node with 2^(lg/logSteps) fingerprints, r available bits, a
// budget and an entropy of its bits, and the block width with that cost. It caches estimates, so
// that planning costs little compared with the nodes. A planner is not safe for concurrent use.
type planner struct {
	logs, budgets int // exclusive bounds of lg and budget
	memo          [entropySteps + 1][]estimate
}

// estimate is the cost of a node per fingerprint, and how to attain it.
type estimate struct {
	cost    float32
	width   int8 // of the blocks; 0 means comparing all pairs
	chained bool // the passes use chains
	known   bool
}

// newPlanner returns a planner for groups of at most n >= 1 fingerprints and budgets of at most k.
func newPlanner(n, k int) *planner { return &planner{logs: groupLog(n) + 1, budgets: k + 1} }

// plan returns the cheapest way to process n fingerprints like those of g with the bits of avail.
func (p *planner) plan(g group, n int, avail uint64, budget int) estimate {
	r, lg := bits.OnesCount64(avail), groupLog(n)
	w := min(r/(budget+1), maxWidth)
	if w == 0 {
		return estimate{cost: compareCost(lg)}
	}
	return p.at(lg, r, budget, g.entropy(avail, r, w))
}

func (p *planner) at(lg, r, budget, entropy int) estimate {
	if p.memo[entropy] == nil {
		p.memo[entropy] = make([]estimate, p.logs*(base.FingerprintBits+1)*p.budgets)
	}
	e := &p.memo[entropy][(lg*(base.FingerprintBits+1)+r)*p.budgets+budget]
	if e.known {
		return *e
	}
	best := estimate{cost: compareCost(lg), known: true}
	// Many more buckets than fingerprints are useless.
	for w := 1; w <= min(r/(budget+1), maxWidth, lg/logSteps+3); w++ {
		left := lg - (w*entropy*logSteps+entropySteps/2)/entropySteps // logarithm of the fingerprints in a bucket
		c := estimate{width: int8(w), chained: lg <= maxChained*logSteps && left <= 3*logSteps, known: true}
		buckets := pow2(w*logSteps - lg) // per fingerprint
		for j := 0; j <= budget && c.cost < best.cost; j++ {
			if c.chained {
				c.cost += costChain + buckets*costClear + costWalk*pow2(left)/2
				continue
			}
			child := p.at(max(left, 0), r-(j+1)*w, budget-j, entropy)
			c.cost += splitCost(lg) + buckets*(costBucket+costNode) + child.cost
		}
		if c.cost < best.cost {
			best = c
		}
	}
	*e = best
	return best
}

// power returns x to the power of n.
func power(x float32, n int) float32 {
	y := float32(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			y *= x
		}
		x *= x
	}
	return y
}

// groupLog returns the binary logarithm of n >= 1, in logSteps, rounded up.
func groupLog(n int) int {
	top := bits.Len(uint(n - 1)) // rounded up to a whole number
	lg := top * logSteps
	for lg > 0 && uint(n) <= uint(pow2(lg-1)) {
		lg--
	}
	return lg
}

// compareCost returns the cost per fingerprint of comparing all pairs of a group.
func compareCost(lg int) float32 {
	return min(costCompare*pow2(lg)/2, costScan+costScanned*pow2(lg)/2)
}

// splitCost returns the cost of moving a fingerprint to its bucket.
func splitCost(lg int) float32 {
	if pow2(lg) <= copiedGroup {
		return costSplit
	}
	return costSwap
}

// pow2 returns 2 to the power of lg/logSteps.
func pow2(lg int) float32 {
	roots := [logSteps]float64{1, 1.189207115002721, 1.414213562373095, 1.681792830507429} // of 2
	return float32(math.Ldexp(roots[lg&(logSteps-1)], lg>>2))                              // logSteps = 4
}

// entropy estimates, from random pairs, how much information a bit carries in a block of w
// positions, out of the r positions of avail, for the group g: the collision entropy -log2 P(two
// fingerprints agree in the block) / w, in entropySteps.
func (g group) entropy(avail uint64, r, w int) int {
	n := min(max(g.len()/64, 8), 256)
	agree := float32(0)
	a, b := uint64(0), uint64(0)
	for range n {
		a, b = a+0x9e3779b97f4a7c15, b+0xd1342543de82ef95
		i, _ := bits.Mul64(a, uint64(g.len()))
		j, _ := bits.Mul64(b, uint64(g.len()))
		if i == j {
			continue
		}
		d := bits.OnesCount64((g.keys[i] ^ g.keys[j]) & avail)
		agree += power(1-float32(d)/float32(r), w)
	}
	e := -math.Log2(float64(agree)/float64(n)) / float64(w) // +Inf if none agrees
	return int(min(e, 1)*entropySteps + 0.5)
}
