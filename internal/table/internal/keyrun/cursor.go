package keyrun

import "github.com/simdb/simdb/internal/kernel"

// EachBlock calls fn with the position of the first key and the keys of every block, until fn
// returns an error.
func (r *Run) EachBlock(fn func(pos int, keys []uint64) error) error {
	return r.EachBlockOf(func(int) bool { return true }, fn)
}

// EachBlockOf is EachBlock for the blocks for which want returns true.
func (r *Run) EachBlockOf(want func(b int) bool, fn func(pos int, keys []uint64) error) error {
	var space kernel.Keys
	for b := range r.blocks {
		if !want(b) {
			continue
		}
		if err := r.Check(b); err != nil {
			return err
		}
		if err := fn(b<<BlockShift, r.Decode(b, r.Info(b), 0, r.Count(b), &space)); err != nil {
			return err
		}
	}
	return nil
}
