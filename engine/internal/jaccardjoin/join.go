package jaccardjoin

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/minhash"
)

// join is one run of the search.
type join struct {
	ctx   context.Context
	s     Sketches
	t     float64
	o     Options
	emit  func(i, j uint32, score minhash.Score) bool
	order *order

	stop        atomic.Bool
	done, total int64
}

// run searches block after block.
func (j *join) run() error {
	defer context.AfterFunc(j.ctx, func() { j.stop.Store(true) })()
	for first := 0; first < j.s.Len && !j.stop.Load(); {
		b := j.newBlock(first)
		first = b.end()
		j.total = max(j.total, j.done+j.remaining(b))
		j.probeBlock(b)
	}
	return j.ctx.Err()
}

// remaining estimates the probes that are left, from block b on, if the other blocks are as large.
func (j *join) remaining(b *block) (probes int64) {
	for first := b.first; first < j.s.Len; first += len(b.ends) {
		probes += int64(j.s.Len - first)
	}
	return probes
}

const (
	runLength  = 256  // sketches that a worker probes before it takes others
	batchPairs = 4096 // pairs that are handed over together, or a few more
	runBatches = 4    // batches of a run that wait for those of runs before it
)

// task is a run of probes.
type task struct {
	from, to int // sketches
	out      chan []found
}

// probeBlock has all sketches from the block's first on probe it, and emits what they find in their order.
func (j *join) probeBlock(b *block) {
	window := 4 * j.o.Workers
	tasks := make(chan task, window)
	ended := make(chan struct{})
	var wg sync.WaitGroup
	for range j.o.Workers {
		wg.Go(func() {
			p := prober{join: j, b: b, prefixer: prefixer{order: j.order}, marks: make([]uint32, len(b.ends))}
			for t := range tasks {
				p.run(t, ended)
			}
		})
	}
	var pending []task // given out, not emitted
	next := b.first
	for !j.stop.Load() && (next < j.s.Len || len(pending) > 0) {
		for next < j.s.Len && len(pending) < window {
			t := task{next, min(next+runLength, j.s.Len), make(chan []found, runBatches)}
			next = t.to
			tasks <- t // has room for all that are pending
			pending = append(pending, t)
		}
		j.hand(pending[0])
		pending = pending[1:]
	}
	close(ended)
	close(tasks)
	wg.Wait()
}

// hand emits what a task finds.
func (j *join) hand(t task) {
	for batch := range t.out {
		for _, p := range batch {
			if j.stop.Load() {
				return
			}
			if !j.emit(p.i, p.j, p.score) {
				j.stop.Store(true)
				return
			}
		}
	}
	j.done += int64(t.to - t.from)
	if j.o.Progress != nil {
		j.o.Progress(j.done, j.total)
	}
}

// run does a task, unless the join has been stopped or has ended.
func (p *prober) run(t task, ended <-chan struct{}) {
	defer close(t.out)
	send := func() bool {
		select {
		case t.out <- p.out:
			p.out = nil
			return true
		case <-ended:
			return false
		}
	}
	for i := t.from; i < t.to && !p.stop.Load(); i++ {
		p.probe(i)
		if len(p.out) >= batchPairs && !send() {
			return
		}
	}
	if len(p.out) > 0 {
		send()
	}
}
