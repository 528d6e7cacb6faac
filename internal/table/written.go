package table

import (
	"context"

	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// Written selects documents by when they were written: those with From <= Time <= To, both in
// microseconds since the Unix epoch, that expire after Now or never, and with a sequence number in
// the file of at most MaxSeq.
type Written struct {
	From, To int64
	Now      int64
	MaxSeq   uint64
}

// blocksPerLook is how many blocks of a column are read between two checks of the context.
const blocksPerLook = 256

// CountWritten returns how many documents w selects. It reads only the columns of times, and only
// those blocks whose bounds do not decide.
func (r *Reader) CountWritten(ctx context.Context, w Written) (n int64, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	set, err := r.writtenRanks(ctx, w)
	return int64(set.count), err
}

// EachWritten calls fn with the numbers of the documents that w selects, ascending, several at a
// time. fn must not retain the slice. EachWritten reads the column of times, and the column of
// ranks only if there are such documents. It needs at most one bit of memory per document.
func (r *Reader) EachWritten(ctx context.Context, w Written, fn func(docs []uint32) error) (err error) {
	defer r.t.Unguard(format.Guard(), &err)
	set, err := r.writtenRanks(ctx, w)
	if err != nil || set.count == 0 {
		return err
	}
	return r.eachDocOf(ctx, &set, fn)
}

// eachDocOf calls fn with the numbers of the documents whose ranks are in set, as EachWritten does.
func (r *Reader) eachDocOf(ctx context.Context, set *rankSet, fn func(docs []uint32) error) error {
	var ranks [keyrun.BlockLen]uint64
	var docs [keyrun.BlockLen]uint32
	total := int(r.t.Info.Docs)
	for start := 0; start < total; start += keyrun.BlockLen {
		if start%(blocksPerLook*keyrun.BlockLen) == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		count := min(keyrun.BlockLen, total-start)
		if r.t.Ranks == nil || set.count == total { // ranks are numbers, or all are wanted
			for i := range count {
				ranks[i] = uint64(start + i)
			}
		} else if _, err := r.t.Ranks.Block(start>>keyrun.BlockShift, ranks[:]); err != nil {
			return err
		}
		n := 0
		for i, rank := range ranks[:count] {
			docs[n] = uint32(start + i)
			if set.has(int(rank)) {
				n++
			}
		}
		if n > 0 {
			if err := fn(docs[:n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// WrittenUpTo returns how many documents have a sequence number in the file of at most seq: they are
// the first in the order of writing.
func (r *Reader) WrittenUpTo(seq uint64) (n int, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	return r.ranksUpTo(seq)
}

// AppendInOrder appends the documents at the positions [from, to) of the order of writing. It reads
// the column of ranks.
func (r *Reader) AppendInOrder(dst []uint32, from, to int) (_ []uint32, err error) {
	defer r.t.Unguard(format.Guard(), &err)
	at := len(dst)
	for doc := from; doc < to; doc++ {
		dst = append(dst, uint32(doc))
	}
	if r.t.Ranks == nil {
		return dst, nil
	}
	var ranks [keyrun.BlockLen]uint64
	for b := 0; b<<keyrun.BlockShift < int(r.t.Info.Docs); b++ {
		n, err := r.t.Ranks.Block(b, ranks[:])
		if err != nil {
			return nil, err
		}
		for i, rank := range ranks[:n] {
			if rank := int(rank); from <= rank && rank < to {
				dst[at+rank-from] = uint32(b<<keyrun.BlockShift + i)
			}
		}
	}
	return dst, nil
}

// writtenRanks returns the ranks of the documents that w selects.
func (r *Reader) writtenRanks(ctx context.Context, w Written) (set rankSet, err error) {
	set, err = r.ranksFrom(ctx, w)
	if err != nil || set.count == 0 || r.FirstExpiry() > w.Now {
		return set, err
	}
	var left rankSet
	now := format.OrderedTime(w.Now)
	var values [keyrun.BlockLen]uint64
	for b := set.from >> keyrun.BlockShift; b<<keyrun.BlockShift < set.to; b++ {
		if ctx.Err() != nil {
			return left, ctx.Err()
		}
		n, err := r.t.Expiries.Block(b, values[:])
		if err != nil {
			return left, err
		}
		for i, at := range values[:n] {
			if rank := b<<keyrun.BlockShift + i; at > now && set.has(rank) {
				left.add(rank, rank+1, int(r.t.Info.Docs))
			}
		}
	}
	return left, nil
}

// ranksFrom is writtenRanks without regard to Now.
func (r *Reader) ranksFrom(ctx context.Context, w Written) (set rankSet, err error) {
	n, err := r.ranksUpTo(w.MaxSeq)
	if err != nil || n == 0 || w.From > w.To || r.t.Info.MaxTime < w.From || r.t.Info.MinTime > w.To {
		return set, err
	}
	if r.t.Info.MinTime >= w.From && r.t.Info.MaxTime <= w.To {
		set.add(0, n, n)
		return set, nil
	}
	lo, hi := format.OrderedTime(w.From), format.OrderedTime(w.To)
	var values [keyrun.BlockLen]uint64
	for b := 0; b<<keyrun.BlockShift < n; b++ {
		if b%blocksPerLook == 0 {
			if err := ctx.Err(); err != nil {
				return set, err
			}
		}
		start := b << keyrun.BlockShift
		end := min(start+r.t.Times.Count(b), n)
		least, most := r.t.Times.Bounds(b)
		switch {
		case least > hi || most < lo:
		case least >= lo && most <= hi:
			set.add(start, end, n)
		default:
			if _, err := r.t.Times.Block(b, values[:]); err != nil {
				return set, err
			}
			set.addEach(start, values[:end-start], lo, hi, n)
		}
	}
	return set, nil
}

// ranksUpTo returns how many documents have a sequence number of at most seq. They have the lowest
// ranks.
func (r *Reader) ranksUpTo(seq uint64) (n int, err error) {
	total := int(r.t.Info.Docs)
	if seq >= r.t.Info.MaxSeq {
		return total, nil
	}
	from := 0
	for from < total {
		mid := int(uint(from+total) / 2)
		at, err := r.t.Seqs.Key(mid)
		if err != nil {
			return 0, err
		}
		if at <= seq {
			from = mid + 1
		} else {
			total = mid
		}
	}
	return from, nil
}

// A rankSet is a set of ranks: [from, to) or, if bits is not nil, the ranks in this range whose
// bit is set. Times usually rise with every write; then the documents written before a given moment
// are one range, which needs no memory for bits.
type rankSet struct {
	from, to int
	bits     []uint64 // by rank, starting with rank 0
	count    int
}

func (s *rankSet) has(rank int) bool {
	if uint(rank-s.from) >= uint(s.to-s.from) {
		return false
	}
	return s.bits == nil || s.bits[rank>>6]>>(rank&63)&1 != 0
}

// add adds the ranks in [from, to), which must follow those in the set. n is the number of all
// ranks.
func (s *rankSet) add(from, to, n int) {
	if from >= to {
		return
	}
	switch {
	case s.count == 0:
		s.from = from
	case s.to < from && s.bits == nil:
		s.bits = make([]uint64, (n+63)/64)
		s.set(s.from, s.to)
	}
	if s.to = to; s.bits != nil {
		s.set(from, to)
	}
	s.count += to - from
}

func (s *rankSet) set(from, to int) {
	for ; from < to && from&63 != 0; from++ {
		s.bits[from>>6] |= 1 << (from & 63)
	}
	for ; from+64 <= to; from += 64 {
		s.bits[from>>6] = ^uint64(0)
	}
	for ; from < to; from++ {
		s.bits[from>>6] |= 1 << (from & 63)
	}
}

// addEach adds the ranks, starting with start, whose values lie in lo..hi. n is the number of all
// ranks.
func (s *rankSet) addEach(start int, values []uint64, lo, hi uint64, n int) {
	for i := 0; i < len(values); {
		if values[i]-lo > hi-lo {
			i++
			continue
		}
		from := i
		for i < len(values) && values[i]-lo <= hi-lo {
			i++
		}
		s.add(start+from, start+i, n)
	}
}
