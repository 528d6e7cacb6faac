package jaccardjoin

import "sync"

// expect estimates the work that is left, from block b on, if the other blocks are as large.
func (j *join) expect(b *block) {
	left := int64(0)
	for first := b.first; first < j.s.Len && len(b.ends) > 0; first += len(b.ends) {
		left += int64(j.s.Len - first)
	}
	j.total = max(j.total, j.done+left)
}

// newProbers returns a prober for each worker.
func (j *join) newProbers(b *block) []*prober {
	probers := make([]*prober, j.o.Workers)
	for w := range probers {
		probers[w] = j.newProber(b)
	}
	return probers
}

// How workers share a search.
const (
	runLength  = 256  // turns that a worker takes before it takes others
	batchPairs = 4096 // pairs that are handed over together, or a few more
	runBatches = 4    // batches of a run that wait for those of runs before it
)

// task is a run of turns.
type task struct {
	from, to int
	out      chan []found
}

// probeBlock has n turns probe a block, and emits what they find in their order. It calls behind
// with the numbers of turns that are.
func (j *join) probeBlock(b *block, probers []*prober, n int, at func(i int) turn, behind func(n int)) {
	window := 4 * len(probers)
	tasks := make(chan task, window)
	ended := make(chan struct{})
	var wg sync.WaitGroup
	for _, p := range probers[:min(len(probers), (n+runLength-1)/runLength)] {
		wg.Go(func() {
			for t := range tasks {
				p.run(t, at, ended)
			}
		})
	}
	var pending []task // given out, not emitted
	next := 0
	for !j.stop.Load() && (next < n || len(pending) > 0) {
		for next < n && len(pending) < window {
			t := task{next, min(next+runLength, n), make(chan []found, runBatches)}
			next = t.to
			tasks <- t // has room for all that are pending
			pending = append(pending, t)
		}
		j.hand(pending[0])
		behind(pending[0].to - pending[0].from)
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
}

// run does a task, unless the join has been stopped or has ended.
func (p *prober) run(t task, at func(i int) turn, ended <-chan struct{}) {
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
		p.probe(at(i))
		if len(p.out) >= batchPairs && !send() {
			return
		}
	}
	if len(p.out) > 0 {
		send()
	}
}
