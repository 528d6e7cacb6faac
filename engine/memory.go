package engine

import (
	"fmt"
	"math"
)

// defaultMemory is the default of Options.Memory.
const defaultMemory = 1 << 30

// Bytes that a query holds for each thing that it has found, while a slice of them grows.
const (
	nearHitBytes    = 2 * 56
	jaccardHitBytes = 2 * 72
	batchMatchBytes = 120
	pairBytes       = 24 // two items, and as many again to sort
	sketchPairBytes = 96
	heldPairBytes   = 2 * 104
	entryBytes      = 2 * 48
	memberBytes     = 120
	mostFirst       = 1 << 16 // things of which the first so many are kept while they are found, instead of all of them
)

// Memory returns the number of bytes that a query may hold of what it has found: Options.Memory.
func (db *DB) Memory() int64 { return db.opts.Memory }

// most returns how many things of so many bytes a query may hold.
func (db *DB) most(size int) int {
	return int(min(max(db.opts.Memory/int64(size), 1), math.MaxInt32))
}

// overBudget is the error of a query that found more things, documents or pairs, than it may hold.
func (db *DB) overBudget(things string) error {
	hint := "use LIMIT or COUNT, or allow more memory (--memory, Options.Memory)"
	if things == "pairs" {
		hint = "use LIMIT or COUNT, list them unordered (pairs --unordered, PairsUnordered), or allow more memory (--memory, Options.Memory)"
	}
	return fmt.Errorf("the %s that match do not fit into the %s that a query may hold: %s: %w", things, mebibytes(db.opts.Memory), hint, ErrTooLarge)
}

// mebibytes writes a number of bytes for people.
func mebibytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
}
