package search

// Bytes that a query holds for each thing that it has found, while a slice of them grows.
const (
	nearHitBytes    = 2 * 56
	jaccardHitBytes = 2 * 72
	batchMatchBytes = 2 * 120
	EntryBytes      = 2 * 48
)

// MostFirst is how many things a query may keep the first of while they are found, instead of all
// of them.
const MostFirst = 1 << 16
