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
// handed over run by run, so that the order of pairs is the same for any number of workers
// (workers.go). Stars takes its sketches in another way (stars.go).
package jaccardjoin

import (
	"context"

	"github.com/simdb/simdb/minhash"
)

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

// pairs searches block after block.
func (j *join) pairs() error {
	defer j.start()()
	for first := 0; first < j.s.Len && !j.stop.Load(); {
		b := j.newBlock(first, nil)
		j.addAll(b)
		j.expect(b)
		first = b.first
		j.probeBlock(b, j.newProbers(b), j.s.Len-first, func(i int) turn {
			return turn{first + i, 0, uint32(min(first+i, b.end()) - b.first)}
		}, j.advance)
		first = b.end()
	}
	return j.ctx.Err()
}
