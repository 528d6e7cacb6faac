package sstable

import "github.com/simdb/simdb/internal/kernel"

// FingerprintBlocks calls fn with the fingerprints of all documents that have one, in order and a block of at most 512 at a
// time: fps[i], valid until fn returns, is that of document first+i. It stops at the first error, which it returns. It decodes
// the first run and reads nothing else.
func (r *Reader) FingerprintBlocks(fn func(first uint32, fps []uint64) error) (err error) {
	defer r.unguard(guard(), &err)
	run := r.runs[0]
	var space kernel.Keys
	for b := range run.blocks {
		if err := run.check(b); err != nil {
			return err
		}
		if err := fn(uint32(b)<<blockShift, run.decode(b, run.info(b), 0, run.count(b), &space)); err != nil {
			return err
		}
	}
	return nil
}
