package sstable

// FingerprintBlocks calls fn with the fingerprints of all documents that have one, in order and a
// block of at most 512 at a time: fps[i], valid until fn returns, is that of document first+i. It
// stops at the first error, which it returns. It decodes the first run and reads nothing else.
func (r *Reader) FingerprintBlocks(fn func(first uint32, fps []Fingerprint) error) (err error) {
	defer r.unguard(guard(), &err)
	defer r.pages.Sequential()()
	return r.runs[0].EachBlock(func(pos int, keys []uint64) error { return fn(uint32(pos), keys) })
}
