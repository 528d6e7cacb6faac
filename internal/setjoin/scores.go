package setjoin

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// Scores returns the Jaccard similarity of each set with the set partner[i], 1 where that is the
// set itself.
func (s *Sets) Scores(ctx context.Context, partner []uint32) ([]float64, error) {
	const run = 1 << 10
	scores := make([]float64, len(partner))
	workers := max(1, min(runtime.GOMAXPROCS(0), len(partner)/run))
	errs := make([]error, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			mine, others := s.Reader(), s.Reader()
			var a, b []uint64
			for errs[w] == nil {
				from := int(next.Add(run)) - run
				if from >= len(partner) {
					return
				}
				if errs[w] = ctx.Err(); errs[w] != nil {
					return
				}
				for i := from; i < min(from+run, len(partner)); i++ {
					if partner[i] == uint32(i) {
						scores[i] = 1
						continue
					}
					var err error
					if a, err = mine.Append(a[:0], i); err == nil {
						b, err = others.Append(b[:0], int(partner[i]))
					}
					if err != nil {
						errs[w] = err
						return
					}
					if n := common(a, b, 0); n > 0 {
						scores[i] = score(len(a), len(b), n)
					}
				}
			}
		})
	}
	wg.Wait()
	return scores, errors.Join(errs...)
}
