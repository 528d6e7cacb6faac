package selfjoin

import (
	"errors"
	"sync"
	"sync/atomic"
)

// runAhead is how many units a worker may be ahead of the unit whose pairs are being emitted: it
// limits the memory for pairs to chunkPairs per unit and worker.
const runAhead = 4

// runUnits runs the units 0..n-1 on the workers, under the current conditions of j.lead, and
// emits the pairs that they find in the order of the units. It calls after after each unit.
//
// A worker needs a token to start a unit. Tokens are returned in the order of the units, and
// units start in order, so the unit that drain waits for is always in progress.
func (j *join) runUnits(n int, work func(w *worker, unit int), after func(unit int)) error {
	if n == 0 {
		return nil
	}
	outs := make([]chan []pair, n)
	for i := range outs {
		outs[i] = make(chan []pair, 1)
	}
	var (
		wg     sync.WaitGroup
		next   atomic.Int64
		active = j.workers[:min(n, len(j.workers))]
		tokens = make(chan struct{}, runAhead*len(active))
		quit   = make(chan struct{})
	)
	for _, w := range active {
		wg.Go(func() {
			w.agree, w.differ = j.lead.agree, append(w.differ[:0], j.lead.differ...)
			w.quit = quit
			for {
				select {
				case tokens <- struct{}{}:
				case <-quit:
					return
				}
				u := int(next.Add(1)) - 1
				if u >= n {
					return
				}
				w.out = outs[u]
				work(w, u)
				w.flush()
				close(w.out)
			}
		})
	}
	err := j.drain(outs, tokens, after)
	if err != nil {
		j.stop.Store(true)
	}
	close(quit)
	wg.Wait()
	return err
}

// drain emits the pairs, unit by unit.
func (j *join) drain(outs []chan []pair, tokens chan struct{}, after func(unit int)) error {
	for u, out := range outs {
		for chunk := range out {
			for _, p := range chunk {
				if !j.emit(p.i, p.j, int(p.distance)) {
					return errStopped
				}
			}
			select {
			case j.free <- chunk[:0]:
			default:
			}
		}
		if err := j.ctx.Err(); err != nil { // workers that see this leave their unit unfinished
			return err
		}
		<-tokens
		after(u)
	}
	return nil
}

// errStopped ends a join whose emit function has returned false.
var errStopped = errors.New("stopped")
