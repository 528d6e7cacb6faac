package cluster

// Bytes that a join holds for each pair that it has found, while a slice of them grows.
const (
	pairBytes       = 24 // two items, and as many again to sort
	sketchPairBytes = 96
	heldPairBytes   = 2 * 104
)
