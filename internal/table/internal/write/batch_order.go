package write

import (
	"bytes"
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table/internal/format"
)

// A Batch is sorted into the order of a table by two sorts of 64-bit words, so that a sort moves
// eight bytes per document:
//
//	 63                   38 37                                    0
//	+-----------------------+---------------------------------------+
//	| position in the batch | leading bits of the hash of the ID    |
//	| position in the batch | leading bits of the fingerprint       |
//	+-----------------------+---------------------------------------+
//
// The first sort gives the run of IDs, with equal IDs next to each other. The second gives the
// order of documents; those with equal leading bits are sorted again by the other bits. Documents
// without a fingerprint come last, in the order of their IDs.
const (
	LeadMask  = 1<<format.IDBits - 1
	OtherBits = 64 - format.IDBits // other bits of a fingerprint; bits of a position
	share     = 1 << 14            // documents per goroutine at a time; a multiple of 64
)

// BatchOrder is a batch in the order of a table.
type BatchOrder struct {
	*Batch
	ByID    []uint64 // all documents, sorted by the hash of the ID
	dropped Bitset   // documents that are left out; nil if none are
	before  []uint32 // by word of dropped: number of dropped documents before it; nil if dropped is
	written []uint32 // positions in the order of sequence numbers, if those do not ascend
	ranks   []uint32 // by position in the batch: its index in written; nil if that is
	fps     []uint64 // fingerprints, sorted
	docs    []uint32 // by document of the table: its position in the batch
	numbers []uint32 // by position in the batch: the document of the table
	named   []uint32 // positions in the order of IDs; nil if neither the table nor its numbers need it
	spare   []uint64 // buffer
}

// inOrder sorts a batch into the order of a table.
func inOrder(ctx context.Context, b *Batch, options *WriterOptions, workers int, buffers *BatchBuffers) (*BatchOrder, error) {
	n := b.Len()
	o := &BatchOrder{Batch: b}
	keys := buffers.take(0, n)
	err := shares(ctx, n, workers, func(from, to int) {
		for i := from; i < to; i++ {
			keys[i] = uint64(i)<<format.IDBits | format.HashID(b.ID(uint32(i)))>>OtherBits
		}
	})
	if err != nil {
		return nil, err
	}
	o.ByID, keys = ordered.SortParts(keys, buffers.take(1, n), format.IDBits, workers)
	o.dropEarlier()
	if !slices.IsSorted(b.Seqs) {
		o.sortBySeq()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	keys = keys[:0]
	bare, sorted, last := 0, true, uint64(0)
	for i, fp := range b.Fingerprints {
		switch {
		case o.dropped.Has(uint32(i)):
		case b.isBare(uint32(i)):
			bare++
		default:
			keys = append(keys, uint64(i)<<format.IDBits|fp>>OtherBits)
			sorted, last = sorted && last <= fp, fp
		}
	}
	tmp := buffers.take(2, n)[:len(keys)]
	if !sorted { // documents read from a table are sorted already
		keys, tmp = ordered.SortParts(keys, tmp, format.IDBits, workers)
	}
	if err := o.sortOthers(ctx, keys, tmp, workers); err != nil {
		return nil, err
	}
	o.docs = buffers.takeNumbers(0, len(keys)+bare)[:len(keys)]
	o.fps, o.spare = tmp, keys
	err = shares(ctx, len(keys), workers, func(from, to int) {
		for j := from; j < to; j++ {
			pos := uint32(keys[j] >> format.IDBits)
			o.docs[j], o.fps[j] = pos, b.Fingerprints[pos]
		}
	})
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	if options.StoresIDOrder(len(keys)+bare) || bare > 0 {
		o.sortByID(len(keys)+bare, buffers)
	}
	for _, pos := range o.named {
		if b.isBare(pos) {
			o.docs = append(o.docs, pos)
		}
	}
	o.numbers = buffers.takeNumbers(1, n)
	for doc, pos := range o.docs {
		o.numbers[pos] = uint32(doc)
	}
	return o, err
}

// sortByID sorts the n documents that are not left out by their IDs.
func (o *BatchOrder) sortByID(n int, buffers *BatchBuffers) {
	p := ordered.Pairs{Vals: buffers.takeNumbers(2, n)[:0]}
	ascend, last := true, []byte(nil)
	for pos := range uint32(o.Len()) {
		if o.dropped.Has(pos) {
			continue
		}
		id := o.ID(pos)
		ascend, last = ascend && bytes.Compare(last, id) < 0, id
		p.Vals = append(p.Vals, pos)
	}
	if o.named = p.Vals; ascend {
		return
	}
	p.Keys = o.spare[:n]
	copy(o.named, ordered.SortStrings(p, ordered.Pairs{Keys: buffers.take(3, n), Vals: buffers.takeNumbers(1, n)}, o.ID))
}

// shares calls work for [0, n) in shares, in several goroutines.
func shares(ctx context.Context, n, workers int, work func(from, to int)) error {
	return pipeline.Each(ctx, (n+share-1)/share, workers, func(i int) error {
		work(i*share, min((i+1)*share, n))
		return nil
	})
}

// dropEarlier finds the documents whose ID a later document has, too.
func (o *BatchOrder) dropEarlier() {
	var alive []uint32 // documents with the current hash and different IDs
	for j, k := range o.ByID {
		pos := uint32(k >> format.IDBits) // positions with the same hash ascend
		if j == 0 || k&LeadMask != o.ByID[j-1]&LeadMask {
			alive = append(alive[:0], pos)
			continue
		}
		i := slices.IndexFunc(alive, func(e uint32) bool { return bytes.Equal(o.ID(e), o.ID(pos)) })
		if i < 0 {
			alive = append(alive, pos)
			continue
		}
		if o.dropped == nil {
			o.dropped = NewBitset(uint32(o.Len()))
		}
		o.dropped.Add(alive[i])
		alive[i] = pos
	}
	if o.dropped == nil {
		return
	}
	o.before = make([]uint32, len(o.dropped))
	sum := 0
	for w, word := range o.dropped {
		o.before[w] = uint32(sum)
		sum += bits.OnesCount64(word)
	}
}

// sortBySeq sorts the documents that are not left out by their sequence numbers.
func (o *BatchOrder) sortBySeq() {
	p := ordered.Pairs{Keys: make([]uint64, 0, o.Len()), Vals: make([]uint32, 0, o.Len())}
	for pos, seq := range o.Seqs {
		if !o.dropped.Has(uint32(pos)) {
			p.Keys, p.Vals = append(p.Keys, seq), append(p.Vals, uint32(pos))
		}
	}
	n := len(p.Keys)
	o.written = ordered.SortPairs(p, ordered.MakePairs(n)).Vals
	o.ranks = make([]uint32, o.Len())
	for rank, pos := range o.written {
		o.ranks[pos] = uint32(rank)
	}
}

// inSeqOrder returns the positions of the documents in the order of sequence numbers; nil if these
// are all positions, in order.
func (o *BatchOrder) inSeqOrder() (positions []uint32) {
	if o.written != nil || o.dropped == nil {
		return o.written
	}
	for pos := range uint32(o.Len()) {
		if !o.dropped.Has(pos) {
			positions = append(positions, pos)
		}
	}
	return positions
}

// rank returns how many documents that are not left out have a lower sequence number than the
// document at a position.
func (o *BatchOrder) rank(pos uint32) uint32 {
	if o.ranks != nil {
		return o.ranks[pos]
	}
	if o.dropped == nil {
		return pos
	}
	return pos - o.before[pos>>6] - uint32(bits.OnesCount64(o.dropped[pos>>6]&(1<<(pos&63)-1)))
}

// sortOthers sorts documents whose fingerprints have the same leading bits by the other bits.
func (o *BatchOrder) sortOthers(ctx context.Context, keys, tmp []uint64, workers int) error {
	for from := 0; from < len(keys); {
		if from%share == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		to := from + 1
		for to < len(keys) && keys[to]&LeadMask == keys[from]&LeadMask {
			to++
		}
		if part := keys[from:to]; len(part) > 1 {
			for j, k := range part {
				part[j] = k&^LeadMask | o.Fingerprints[k>>format.IDBits]&(1<<OtherBits-1)
			}
			if sorted, _ := ordered.SortParts(part, tmp[from:to], OtherBits, workers); &sorted[0] != &part[0] {
				copy(part, sorted)
			}
		}
		from = to
	}
	return nil
}

// A BatchBuffers holds memory that successive writers reuse. The zero value is empty.
type BatchBuffers struct {
	words   [4][]uint64
	numbers [3][]uint32
}

// take returns array i of words with n elements of arbitrary content.
func (r *BatchBuffers) take(i, n int) []uint64 { return grown(&r.words[i], n) }

func (r *BatchBuffers) takeNumbers(i, n int) []uint32 { return grown(&r.numbers[i], n) }

// grown returns n elements of an array, which it replaces by a longer one if necessary.
func grown[T any](a *[]T, n int) []T {
	if cap(*a) < n {
		*a = nil // frees the old array before the new one is allocated
		*a = make([]T, n+n/16)
	}
	return (*a)[:n]
}
