package hamming

import "github.com/simdb/simdb/sstable/internal/keyrun"

// Search is memory-latency bound, so it prefetches. Where the keys of a range lie in their block is
// known only once the block's unary part has been read; to prefetch about the right lines at once
// takes a few lines more, and is faster.

const (
	// prefetchAhead is how many probes the prefetch is ahead of the scan, at least, and
	// prefetchAheadMost at most: as many as have prefetchAheadKeys keys, which is enough to hide a
	// cache miss, and few enough to stay in the first cache.
	prefetchAhead, prefetchAheadMost = 8, 32
	prefetchAheadKeys                = 1344
	// prefetchKeys bounds the keys of a range that are prefetched at a guessed position.
	prefetchKeys = 2 * keyrun.BlockLen
	// prefetchIDs is how many hits have their IDs prefetched: those of more would not stay in the
	// first caches.
	prefetchIDs = 64
)
