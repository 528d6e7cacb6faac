// Package jaccardjoin finds all pairs of MinHash sketches whose score, minhash.Jaccard, is t or
// more.
//
// # Outline
//
//	order   count in how many of a sample of sketches each hash is; all sketches are ordered rarest hash first
//	index   of a block of sketches: bitmaps, and postings of the prefixes p(a) = a - ceil(t a) + 1   (index.go)
//	probe   each sketch, with its own prefix, against those before it in the block                    (probe.go)
//
// Two sketches with a score of t share a hash of their prefixes, in any order (prefix filtering:
// Chaudhuri, Ganti, Kaushik, ICDE 2006; Bayardo, Ma, Srikant, WWW 2007; sstable says why it holds
// for this score). So every pair is found when its later sketch probes the block of its earlier
// one. Candidates are rejected by their bitmaps where these differ too much, and compared else.
// Where the postings of a probe are more than the sketches that they could name, as for small t, a
// scan of all bitmaps takes their place.
//
// # Memory and order
//
// A block is as many sketches as have 2^24 postings, of 8 bytes each with 4 to 8 more for their
// directory; bitmaps take 64 bytes a sketch. Sketches themselves are with the caller. All later
// sketches probe a block before the next block is made, so the work grows with the number of blocks
// times that of sketches.
//
// Probes are cut into runs of consecutive sketches, which workers take in order; what they find is
// handed over run by run, so that the order of pairs is the same for any number of workers.
package jaccardjoin

import (
	"context"
	"fmt"
	"runtime"

	"github.com/simdb/simdb/minhash"
)

// Sketches are what is joined.
type Sketches struct {
	Len  int                  // how many
	Size int                  // N: the number of hashes from which on a sketch is full
	At   func(i int) []uint32 // sketch i, ascending, valid until the join ends; called by all workers at once
}

// MaxSketches is the largest number of sketches that can be joined.
const MaxSketches = 1<<32 - 2

// Options are the options of Pairs. The zero value is fine.
type Options struct {
	// Workers is the number of goroutines that search; 0 means GOMAXPROCS. It changes no result and
	// no order.
	Workers int
	// Progress, if not nil, is called now and then from the calling goroutine: total is the work to
	// do, in sketches times blocks, and done what is behind.
	Progress func(done, total int64)
	// Known, if not nil, numbers parts of the sketches. Pairs need not find pairs within a part,
	// and compares few. It is called by all workers at once and may return other parts each time.
	Known func() []uint32

	blockPostings int // postings of a block; 0 means 2^24
}

// defaultBlockPostings bounds the memory of a block.
const defaultBlockPostings = 1 << 24

// Pairs calls emit for every pair i < j whose score is t or more, 0 < t <= 1, each exactly once:
// ascending by the block of i, then by j, then by i. emit is called from the calling goroutine
// alone; when it returns false the join ends early and without an error. A context that is done
// ends it with the context's error.
func Pairs(ctx context.Context, s Sketches, t float64, o Options, emit func(i, j uint32, score minhash.Score) bool) error {
	j, err := newJoin(ctx, s, t, o)
	if err != nil {
		return err
	}
	j.emit = emit
	return j.pairs()
}

// newJoin checks the arguments.
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
