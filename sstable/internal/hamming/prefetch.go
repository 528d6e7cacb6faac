package hamming

import "github.com/simdb/simdb/sstable/internal/keyrun"

// A search waits for memory more than for anything else, so what its ranges need is asked for ahead. Where a range's keys lie in their
// block is known only once the block's unary part is there; to ask for about the right lines at once takes a few lines more, and is faster.

const (
	// prefetchAhead is how many probes the prefetch is ahead of the scan, at least, and prefetchAheadMost at most: as many as have
	// prefetchAheadKeys keys, which is enough to hide a cache miss, and few enough to stay in the first cache.
	prefetchAhead, prefetchAheadMost = 8, 32
	prefetchAheadKeys                = 1344
	// prefetchKeys bounds the keys that are asked for by a guess.
	prefetchKeys = 2 * keyrun.BlockLen
	// prefetchNames is how many hits have their names asked for: those of more would not stay in the first caches.
	prefetchNames = 64
)
