package sstable

// EachFingerprint calls fn for every document that has a fingerprint, in order, and stops at the first error, which it
// returns. It decodes the first run a block at a time and reads nothing else.
func (r *Reader) EachFingerprint(fn func(doc uint32, fp uint64) error) (err error) {
	defer r.unguard(guard(), &err)
	it := r.runs[0].Iter(0)
	for it.Next() {
		if err := fn(uint32(it.Pos()), it.Key()); err != nil {
			return err
		}
	}
	return it.Err()
}
