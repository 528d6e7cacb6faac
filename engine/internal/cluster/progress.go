package cluster

import "github.com/simdb/simdb/engine/internal/view"

// progressOf adapts the callback of a self-join of n documents. What a join counts is its own
// affair (documents times passes): the share of it that is done is told as documents.
func progressOf(n int, progress func(view.Progress)) func(done, total int64) {
	if progress == nil {
		return nil
	}
	return func(done, total int64) {
		share := float64(done) / float64(max(total, 1))
		progress(view.Progress{Stage: "join", Done: int64(share * float64(n)), Total: int64(n), Unit: "documents"})
	}
}

// sorting reports that the pairs of a join are sorted, of which nothing can be counted.
func sorting(progress func(view.Progress)) {
	if progress != nil {
		progress(view.Progress{Stage: "sort"})
	}
}
