package cluster

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/texts"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/minhash"
)

// Memory for the shingle sets of a join that texts decide, in shingles of 8 bytes, and how many
// pairs a worker takes at a time.
const (
	textMemory = 8 << 20
	textRun    = 128
)

// textScores compares the texts of items. Sets of shingles are kept as long as there is room: the
// pairs of a cluster share their documents, and neighbours in the order of fingerprints share
// blocks of texts. It serves one goroutine.
type textScores struct {
	j       *joinSet
	sets    *texts.Shingler
	kept    map[uint32]texts.Set // by item
	room    int                  // shingles that may still be kept
	memory  int                  // shingles that may be kept
	scratch []byte
}

func (j *joinSet) newTextScores(memory int) *textScores {
	return &textScores{j: j, sets: j.v.Texts.Shingler(), kept: map[uint32]texts.Set{}, room: memory, memory: memory}
}

// score returns the Jaccard similarity of the texts of items a and b. Of many with the same a it
// reads a once.
func (x *textScores) score(a, b uint32) (float64, error) {
	mine, err := x.set(a)
	if err != nil {
		return 0, err
	}
	other, err := x.set(b)
	return mine.Jaccard(other), err
}

// set returns the shingle set of an item. When memory is full all other sets are dropped: those in
// use now come back.
func (x *textScores) set(i uint32) (texts.Set, error) {
	i = x.j.sets[i]
	if set, ok := x.kept[i]; ok {
		return set, nil
	}
	text, err := x.j.place(i).Text(&x.scratch)
	if err != nil {
		return nil, err
	}
	set := x.sets.Set(text)
	if len(set) > x.room {
		clear(x.kept)
		x.room = x.memory
	}
	if len(set) <= x.room {
		x.kept[i] = set
		x.room -= len(set)
	}
	return set, nil
}

// A verifier computes the scores of pairs of items from their texts. Its workers are kept from
// batch to batch, with the shingle sets that they hold: keepers come again.
type verifier struct {
	j       *joinSet
	workers []*textScores // one for each processor; nil until it is used
}

// verify gives pairs the score of their texts, and orders them by a, then by b. Each worker takes
// runs of pairs; there is at most one worker for each processor.
func (v *verifier) verify(ctx context.Context, pairs []sketchPair, progress func(view.Progress)) error {
	slices.SortFunc(pairs, func(x, y sketchPair) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	workers := max(1, min(runtime.GOMAXPROCS(0), len(pairs)/textRun))
	var next, done atomic.Int64
	var failed atomic.Bool
	var report sync.Mutex
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		x := v.worker(w)
		wg.Go(func() {
			for !failed.Load() {
				from := int(next.Add(textRun)) - textRun
				if from >= len(pairs) {
					return
				}
				run := pairs[from:min(from+textRun, len(pairs))]
				if errs[w] = v.j.v.Safely(ctx, func() error { return x.scoreAll(ctx, run) }); errs[w] != nil {
					failed.Store(true)
					return
				}
				if done.Add(int64(len(run))); progress != nil && report.TryLock() {
					progress(view.Progress{Stage: "verify", Done: done.Load(), Total: int64(len(pairs)), Unit: "pairs"})
					report.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// worker returns worker w.
func (v *verifier) worker(w int) *textScores {
	for len(v.workers) <= w {
		v.workers = append(v.workers, nil)
	}
	if v.workers[w] == nil {
		v.workers[w] = v.j.newTextScores(textMemory / runtime.GOMAXPROCS(0))
	}
	return v.workers[w]
}

// scoreAll gives pairs the score of their texts.
func (x *textScores) scoreAll(ctx context.Context, pairs []sketchPair) error {
	for i := range pairs {
		if err := ctx.Err(); err != nil {
			return err
		}
		score, err := x.score(pairs[i].a, pairs[i].b)
		if err != nil {
			return err
		}
		pairs[i].score = minhash.Score{Score: score, Exact: true}
	}
	return nil
}
