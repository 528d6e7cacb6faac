package keyrun

import (
	"math/bits"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/pages"
)

// Open opens a section, which is never written to. The section is not trusted: Open checks the
// directory, and a block is verified when it is first read. Every error is a *base.CorruptionError.
func Open(src Section) (*Run, error) {
	d, err := openDir(src, tagKeyRun, tagParts)
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: *d}
	if r.lazy != nil {
		r.guide.parts = make([]uint32, 2) // unused
		return r, nil
	}
	r.fillGuide(uint(bits.LeadingZeros64(r.last | 1)))
	return r, nil
}

// Sized returns a run that has a number of keys but no content: enough to plan searches, and
// nothing else.
func Sized(n int) *Run { return &Run{Dir: Dir{n: n}} }

// Check verifies block b: its checksum, and that it decodes to keys that ascend from its first key
// to at most the next block's. After it has returned nil, the block's content may be used.
func (r *Run) Check(b int) error {
	if r.infoWord(b)&orderedBit != 0 {
		return nil
	}
	return r.checkOrder(b)
}

// CheckHead verifies less, in less time: that the unary words of block b give the positions of its
// keys. The keys that are used must also be verified by CheckKeys.
func (r *Run) CheckHead(b int) error {
	in, known := r.InfoKnown(b)
	if known.Head() {
		return nil
	}
	if d := &r.Dir; d.lazy != nil {
		d.need(b, b+2)
		in = r.Info(b)
	}
	if in.Width > r.leads.shift { // the lead index depends on the order
		return r.checkOrder(b)
	}
	if err := r.checkHead(b, in); err != nil {
		return err
	}
	r.fillLeads(b, in, nil)
	if r.sums == 0 {
		r.know(b, wholeBits)
	} else {
		r.know(b, headBit)
	}
	return nil
}

// CheckKeys verifies the checksums of the keys [lo, hi) of block b, for which CheckHead must have
// returned nil. It does not verify the order of keys with equal prefixes. A search that compares
// all keys with some prefixes does not need that order, and may compare them before Check.
func (r *Run) CheckKeys(b, lo, hi int) error {
	in, known := r.InfoKnown(b)
	parts := partsOf(lo, hi) &^ uint64(known)
	if parts == 0 {
		return nil
	}
	if err := r.checkParts(b, in, parts); err != nil {
		return err
	}
	r.know(b, parts)
	return nil
}

// limit returns an upper bound of the last key of block b; in the last block, its exact value.
func (r *Run) limit(b int) uint64 {
	if b+1 < r.blocks {
		return r.Base(b + 1)
	}
	return r.last
}

func (r *Run) checkOrder(b int) error {
	r.need(b, b+2) // limit reads the next entry
	in, known := r.InfoKnown(b)
	if !known.Head() {
		if err := r.checkHead(b, in); err != nil {
			return err
		}
	}
	if err := r.checkParts(b, in, partBits&^uint64(known)); err != nil {
		return err
	}
	var space kernel.Keys
	keys, err := r.checkAscent(b, in, &space)
	if err != nil {
		return err
	}
	if !known.Head() {
		r.fillLeads(b, in, keys)
	}
	r.entries[b].info.Or(wholeBits | checkedBit | orderedBit)
	return nil
}

// checkEnds verifies that block b, in Elias-Fano code, has the right number of keys, that the first
// is its base and that the last is at most limit.
func (d *Dir) checkEnds(b int, in Info, limit uint64) error {
	if err := d.checkUnary(b, in, limit); err != nil {
		return err
	}
	if err := d.checkFirst(b, in); err != nil {
		return err
	}
	return d.checkLast(b, in, limit)
}

// checkUnary verifies that block b has the right number of keys, that the first has the prefix of
// its base and that the last has at most the prefix of limit.
func (d *Dir) checkUnary(b int, in Info, limit uint64) error {
	n, first, unary := d.Count(b), d.Base(b), d.Unary(in)
	if ones := onesCount(unary); ones != n {
		return d.Corrupt(in.Off, "block %d: %d unary ones for %d keys", b, ones, n)
	}
	// The greatest prefix, which is the last key's because prefixes ascend by construction, must
	// not overflow.
	if d.topPrefix(b, in) > shr(limit, in.Width)-shr(first, in.Width) {
		return d.Corrupt(in.Off, "block %d: keys exceed %016x", b, limit)
	}
	if unary[0]&1 == 0 {
		return d.Corrupt(in.Off, "block %d starts with a key of another prefix than %016x", b, first)
	}
	return nil
}

// topPrefix returns the prefix of the last key of block b relative to the first key's. The block
// must have the right number of keys.
func (d *Dir) topPrefix(b int, in Info) uint64 {
	return uint64(lastOne(d.Unary(in)) - (d.Count(b) - 1))
}

// checkFirst verifies that the first key of block b, which has passed checkUnary, is its base.
func (d *Dir) checkFirst(b int, in Info) error {
	if key := d.keyFrom(b, in, 0, 0, 0); key != d.Base(b) {
		return d.Corrupt(in.Off, "block %d starts with key %016x, not %016x", b, key, d.Base(b))
	}
	return nil
}

// checkLast verifies that the last key of block b, which has passed checkUnary, is at most limit;
// in the last block of a run it must be limit.
func (d *Dir) checkLast(b int, in Info, limit uint64) error {
	top := shr(d.Base(b), in.Width) + d.topPrefix(b, in)
	last := top<<uint(in.Width) | kernel.Get(d.Packed(in), in.Width, d.Count(b)-1)
	if last > limit || last != limit && d.keys && b+1 == d.blocks {
		return d.Corrupt(in.Off, "block %d ends with key %016x, beyond %016x", b, last, limit)
	}
	return nil
}

// checkAscent verifies that the keys of block b, which has passed checkEnds, ascend. It decodes
// them into space and returns them.
func (d *Dir) checkAscent(b int, in Info, space *kernel.Keys) ([]uint64, error) {
	keys := d.Decode(b, in, 0, d.Count(b), space)
	if i := descent(keys); i > 0 {
		return nil, d.Corrupt(in.Off, "block %d: key %d is out of order", b, i)
	}
	return keys, nil
}

// descent returns the position of the first key that is less than its predecessor, 0 if there is
// none.
func descent(keys []uint64) int {
	if kernel.Ascending(keys) {
		return 0
	}
	for i := 1; ; i++ {
		if keys[i] < keys[i-1] {
			return i
		}
	}
}

// Matches reports whether keys are those of block b, by the checksum in the directory. The block
// itself may be damaged.
func (r *Run) Matches(b int, keys []uint64) bool {
	k := NewWriter(nil)
	if r.sums > 0 {
		k = NewPartsWriter(nil)
	}
	if len(keys) != r.Count(b) || k.AddKeys(keys) != nil {
		return false
	}
	k.flushBlock()
	return k.frame.crcs[0] == r.crc(b)
}

// Key returns the key at position i, 0 <= i < Len.
func (r *Run) Key(i int) (uint64, error) {
	b := i >> BlockShift
	if err := r.Check(b); err != nil {
		return 0, err
	}
	return r.keyAt(b, r.Info(b), i&(BlockLen-1)), nil
}

// HasValues reports whether each key has a value.
func (r *Run) HasValues() bool { return r.vwidth > 0 }

// Value returns the value of the key at position i, 0 <= i < Len. It returns 0 if keys have no
// values, or all values are 0.
func (r *Run) Value(i int) (uint64, error) {
	b := i >> BlockShift
	if err := r.Check(b); err != nil || r.vwidth == 0 {
		return 0, err
	}
	return kernel.Get(r.values(b, r.Info(b)), r.vwidth, i&(BlockLen-1)), nil
}

// BlockValues appends the values of the keys [lo, hi) of block b, which must have been verified.
func (r *Run) BlockValues(dst []uint32, b, lo, hi int) []uint32 {
	if r.vwidth == 0 {
		return append(dst, make([]uint32, hi-lo)...)
	}
	packed := r.values(b, r.Info(b))
	for i := lo; i < hi; i++ {
		dst = append(dst, uint32(kernel.Get(packed, r.vwidth, i)))
	}
	return dst
}

// LoadBlocks makes Find load a block, by p, before it reads it for the first time: for runs in which
// each search reads only one block.
func (r *Run) LoadBlocks(p *pages.Table) { r.waits = p }

// Find returns the positions [lo, hi) of the keys equal to key. If there are none, lo is where key
// would be inserted.
func (r *Run) Find(key uint64) (lo, hi int, err error) {
	block, end := r.Blocks(key, key)
	if block == 0 || end > block { // a block starts with key
		return r.Range(key, key)
	}
	lo, same, err := r.findFrom(block, key)
	return lo, lo + same, err
}

// Range returns the positions [lo, hi) of the keys in [first, last].
func (r *Run) Range(first, last uint64) (lo, hi int, err error) {
	if first > last {
		return 0, 0, nil
	}
	if r.lazy != nil { // without the blocks between
		if lo, err = r.lowerBound(r.firstAtLeast(first), first); err != nil || last >= r.last {
			return lo, r.n, err
		}
		hi, err = r.lowerBound(r.firstAtLeast(last+1), last+1)
		return lo, hi, err
	}
	block, end := r.Blocks(first, last)
	if lo, err = r.lowerBound(block, first); err != nil {
		return 0, 0, err
	}
	if last >= r.last {
		return lo, r.n, nil
	}
	if hi, err = r.lowerBound(end, last+1); err != nil {
		return 0, 0, err
	}
	return lo, hi, nil
}

// LowerBound returns the position of the first key that is not less than key, Len if there is none.
func (r *Run) LowerBound(key uint64) (int, error) {
	block, _ := r.Blocks(key, key)
	return r.lowerBound(block, key)
}

// lowerBound returns the position of the first key >= key, given the number b of blocks whose first
// key is less.
func (r *Run) lowerBound(b int, key uint64) (int, error) {
	pos, _, err := r.findFrom(b, key)
	return pos, err
}

// findFrom is lowerBound, and returns how many keys from pos on are equal to key in the block before
// b.
func (r *Run) findFrom(b int, key uint64) (pos, same int, err error) {
	if b == 0 {
		return 0, 0, nil
	}
	b--
	if r.waits != nil && !r.isSeen(b) {
		from, to := r.extent(b)
		r.waits.Load(r.src.Offset+int64(from), r.src.Offset+int64(to))
	} else {
		r.Fetch(b << BlockShift) // fetch all of its pages at once
	}
	if err := r.Check(b); err != nil {
		return 0, 0, err
	}
	at, same := r.findInBlock(b, r.Info(b), key)
	return b<<BlockShift + at, same, nil
}

// findInBlock returns how many keys of the verified block b are less than key, which must be
// greater than the block's first key, and how many are equal to it.
func (r *Run) findInBlock(b int, in Info, key uint64) (i, same int) {
	h := shr(key, in.Width) - shr(r.Base(b), in.Width)
	n := r.Count(b)
	unary := r.Unary(in)
	if _, i = kernel.RankZeros(unary, 0, h, n); i == n {
		return n, 0
	}
	bit := i + int(h)
	ones := 0 // number of keys with the prefix of key
	for bit+ones < 8*len(unary) && unary[(bit+ones)>>3]>>((bit+ones)&7)&1 != 0 {
		ones++
	}
	packed := r.Packed(in)
	low, end := key&kernel.Mask(in.Width), i+ones
	for ones > 8 { // binary search; the last few are compared one by one
		half := ones / 2
		if kernel.Get(packed, in.Width, i+half-1) < low {
			i, ones = i+half, ones-half
		} else {
			ones = half
		}
	}
	for ; ones > 0 && kernel.Get(packed, in.Width, i) < low; ones-- {
		i++
	}
	for i+same < end && kernel.Get(packed, in.Width, i+same) == low {
		same++
	}
	return i, same
}

// keyAt returns key i of the verified block b.
func (r *Run) keyAt(b int, in Info, i int) uint64 { return r.keyFrom(b, in, i, 0, 0) }

// keyFrom is keyAt for callers that know that zero number from comes right before one number lo <=
// i (RankZeros), or that both are 0.
func (d *Dir) keyFrom(b int, in Info, i, lo int, from uint64) uint64 {
	unary := d.Unary(in)
	prefix := shr(d.Base(b), in.Width) + uint64(selectOneFrom(unary, lo+int(from), i-lo)-i)
	return prefix<<uint(in.Width) | kernel.Get(d.Packed(in), in.Width, i)
}

// PrefixIn returns the prefix of a key relative to the prefix of the first key of block b, which
// must not be greater than key.
func (r *Run) PrefixIn(b int, in Info, key uint64) uint64 {
	return shr(key, in.Width) - shr(r.Base(b), in.Width)
}

// Verify verifies every block that has not been verified yet.
func (r *Run) Verify() error {
	for b := range r.blocks {
		if err := r.Check(b); err != nil {
			return err
		}
	}
	return nil
}

// Decode returns the keys [lo, hi) of block b, valid until space is used again. It does not verify
// the block: if that has not been done, keys may be wrong.
func (d *Dir) Decode(b int, in Info, lo, hi int, space *kernel.Keys) []uint64 {
	base := shr(d.Base(b), in.Width) << uint(in.Width)
	return space.Decode(d.Unary(in), d.Packed(in), in.Width, lo, hi, base)
}

// AppendKeys appends the keys at positions [from, to).
func (r *Run) AppendKeys(dst []uint64, from, to int) ([]uint64, error) {
	var space kernel.Keys
	for from < to {
		b := from >> BlockShift
		if err := r.Check(b); err != nil {
			return dst, err
		}
		first := b << BlockShift
		end := min(to-first, r.Count(b))
		dst = append(dst, r.Decode(b, r.Info(b), from-first, end, &space)...)
		from = first + end
	}
	return dst, nil
}

// Iter iterates over the keys in order and decodes a block at a time.
type Iter struct {
	r     *Run
	next  int      // position of the key after the current one
	keys  []uint64 // keys of the current block
	space kernel.Keys
	err   error
}

// Iter returns an iterator before position from.
func (r *Run) Iter(from int) *Iter {
	return &Iter{r: r, next: from}
}

// Next advances to the next key and reports whether there is one.
func (it *Iter) Next() bool {
	if it.next >= it.r.n || it.err != nil {
		return false
	}
	if it.keys == nil || it.next&(BlockLen-1) == 0 {
		b := it.next >> BlockShift
		if it.err = it.r.Check(b); it.err != nil {
			return false
		}
		it.keys = it.r.Decode(b, it.r.Info(b), 0, it.r.Count(b), &it.space)
	}
	it.next++
	return true
}

// Key returns the current key.
func (it *Iter) Key() uint64 { return it.keys[(it.next-1)&(BlockLen-1)] }

// Pos returns the current key's position.
func (it *Iter) Pos() int { return it.next - 1 }

// Err returns the error that ended the iteration, a *base.CorruptionError, or nil.
func (it *Iter) Err() error { return it.err }
