package jaccardjoin

import (
	"context"
	"fmt"
	"runtime"
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

// newJoin checks the arguments and fills in defaults.
func newJoin(ctx context.Context, s Sketches, t float64, o Options) (*join, error) {
	switch {
	case !(t > 0 && t <= 1):
		return nil, fmt.Errorf("jaccardjoin: threshold %v is not in (0, 1]", t)
	case int64(s.Len) > MaxSketches:
		return nil, fmt.Errorf("jaccardjoin: %d sketches, at most %d can be joined", s.Len, int64(MaxSketches))
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.blockPostings <= 0 {
		o.blockPostings = defaultBlockPostings
	}
	return &join{ctx: ctx, s: s, t: t, o: o}, nil
}

// start orders the hashes. The join stops when its context is done, until the returned function is
// called.
func (j *join) start() (release func() bool) {
	release = context.AfterFunc(j.ctx, func() { j.stop.Store(true) })
	j.order = newOrder(j.s, &j.stop)
	return release
}

// advance reports that n more sketches have probed a block.
func (j *join) advance(n int) {
	j.done += int64(n)
	if j.o.Progress != nil && !j.stop.Load() {
		j.o.Progress(j.done, j.total)
	}
}
