package hamming

import (
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

const (
	// waitingHits is the minimum number of fingerprints that are collected before their documents
	// are looked up.
	waitingHits = 1 << 16
	// resolveBits: fingerprints are sorted by this many leading bits: more bits would not improve
	// locality.
	resolveBits = 22
	// resolveAhead is for how many fingerprints blocks are prefetched together.
	resolveAhead = 16
)

// resolveSome calls resolveFound once enough fingerprints are waiting: as many as there are
// queries, so that several share a block.
func (x *Index) resolveSome(c *batchCall, t int) error {
	if len(c.s.batch.found) < max(waitingHits, len(c.queries)) {
		return nil
	}
	return x.resolveFound(c, t)
}

// resolveFound emits the documents of the fingerprints that table t has found. It looks them up in
// the order of run 0.
func (x *Index) resolveFound(c *batchCall, t int) error {
	w := &c.s.batch
	w.spare = sortItems(w.found, w.spare, resolveBits)
	r := resolver{Run: x.tables[0].run, current: -1}
	for rest := w.found; len(rest) > 0; {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		n := min(resolveAhead, len(rest))
		r.lookUp(rest[:n])
		for i, f := range rest[:n] {
			found, err := r.emit(c, f, r.blocks[i])
			if err != nil {
				return err
			}
			if !found {
				return x.tables[t].run.Corrupt(0, "fingerprint %016x is not in table 0", f.key)
			}
		}
		rest = rest[n:]
	}
	w.found = w.found[:0]
	return nil
}

// resolver finds fingerprints in run 0. They arrive nearly sorted, so that a block is decoded once
// for all of its fingerprints.
type resolver struct {
	*keyrun.Run
	// by fingerprint: the blocks that may have it, as [first, end)
	blocks  [resolveAhead][2]int
	current int // the block that is decoded in keys, or -1
	keys    []uint64
}

// lookUp finds the blocks of some fingerprints and prefetches them.
func (r *resolver) lookUp(some []batchItem) {
	before := r.current
	for i, f := range some {
		block, end := r.Blocks(f.key, f.key)
		first := max(block, 1) - 1
		if r.blocks[i] = [2]int{first, end}; first != before {
			r.PrefetchBlock(first)
			before = first
		}
	}
}

// emit emits the documents of a fingerprint and reports whether there is one.
func (r *resolver) emit(c *batchCall, f batchItem, blocks [2]int) (found bool, err error) {
	for b := blocks[0]; b < blocks[1]; b++ {
		if b != r.current {
			if err := r.Check(b); err != nil {
				return false, err
			}
			r.current, r.keys = b, r.Decode(b, r.Info(b), 0, r.Count(b), &c.s.decoded)
		}
		for i := countLess(r.keys, f.key); i < len(r.keys) && r.keys[i] == f.key; i++ {
			found = true
			if err := c.emit(int(f.query), Hit{uint32(b<<keyrun.BlockShift + i), f.distance, f.key}); err != nil {
				return true, err
			}
		}
	}
	return found, nil
}

// countLess returns how many of the ascending keys are less than key. Its steps do not depend on
// the keys, so no branch is mispredicted.
func countLess(keys []uint64, key uint64) int {
	at := 0
	for n := len(keys); n > 0; {
		half := (n + 1) / 2
		next := at
		if keys[at+half-1] < key {
			next = at + half
		}
		at, n = next, n-half
	}
	return at
}
