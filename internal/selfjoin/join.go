package selfjoin

import (
	"context"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

// join is one run of the search. The calling goroutine processes the large nodes: it splits them,
// runs workers on their children (units.go), and emits the pairs found in order.
type join struct {
	ctx     context.Context
	fps     []base.Fingerprint
	k       int
	marked  []bool   // nil for all pairs
	label   []uint32 // nil for all pairs; pairs with equal labels are not wanted
	emit    func(i, j uint32, distance int) bool
	opts    Options
	stop    atomic.Bool
	lead    *worker   // of the calling goroutine: it splits, and holds the conditions of the current node
	workers []*worker // of the other goroutines, reused for each run of units
	free    chan []pair

	root        group // all fingerprints, in the order that the last split has left
	done, total int64
}

func newJoin(ctx context.Context, fps []base.Fingerprint, k int, o Options, marked []bool, label []uint32, emit func(i, j uint32, distance int) bool) *join {
	j := &join{ctx: ctx, fps: fps, k: k, marked: marked, label: label, emit: emit, opts: o}
	j.root = group{make([]base.Fingerprint, len(fps)), make([]uint32, len(fps))}
	vfs.HugePages(j.root.keys)
	vfs.HugePages(j.root.ids)
	n := o.workers()
	j.free = make(chan []pair, 4*n)
	j.lead = j.newWorker()
	for range n {
		j.workers = append(j.workers, j.newWorker())
	}
	return j
}

func (j *join) newWorker() *worker {
	return &worker{
		k: j.k, marked: j.marked != nil, label: j.label, stop: &j.stop, free: j.free,
		plan: newPlanner(len(j.fps), j.k), found: make([]pair, 0, chunkPairs),
	}
}

// id returns the number of fingerprint i with its mark.
func (j *join) id(i int) uint32 {
	if j.marked != nil && j.marked[i] {
		return uint32(i) | markBit
	}
	return uint32(i)
}

// largeGroup returns the least size of a large node.
func (j *join) largeGroup() int { return max(1<<15, len(j.fps)/256) }
