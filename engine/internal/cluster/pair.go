package cluster

import (
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/minhash"
)

// Bytes that a join holds for each pair that it has found, while a slice of them grows.
const (
	pairBytes       = 24 // two items, and room for two more to sort
	sketchPairBytes = 96
	heldPairBytes   = 2 * 104
)

// A sketchPair is two items and their score.
type sketchPair struct {
	a, b  uint32
	score minhash.Score
}

// match returns the score as the match of the document with this ID.
func (p *sketchPair) match(id string) view.Match {
	return view.Match{ID: id, Score: p.score.Score, Error: p.score.Error, Exact: p.score.Exact}
}

// foundPairs are the pairs of a join: it calls yield for each, A < B bytewise, until that returns
// false.
type foundPairs func(yield func(a, b string, m view.Match) bool)
