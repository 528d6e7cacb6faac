package selfjoin

import (
	"context"
	"errors"
	"slices"
)

// ErrManyOffers means that documents have too many near documents, on average, to visit each.
var ErrManyOffers = errors.New("too many documents within the distance of each other")

const (
	mostOffers = 512 // offers per document so far, plus leastMany
	leastMany  = 1 << 16
	mostPicked = 16 // fingerprints in the joins of stretches, per document
)

// Offer calls decide for each document in the order of preference, with the kept documents before
// it that have fingerprints within k bits, in ascending order. decide returns whether to keep the
// document. If there are too many pairs, Offer ends with ErrManyOffers.
func Offer(ctx context.Context, fps Columns, docs Documents, k int, o Options, decide func(p uint32, kept []uint32) (keep bool, err error)) error {
	return offer(ctx, fps, docs, k, o, 4*fps.Len()+1<<20, decide)
}

// offer is Offer with at most budget pairs in memory.
func offer(ctx context.Context, fps Columns, docs Documents, k int, o Options, budget int, decide func(p uint32, kept []uint32) (keep bool, err error)) error {
	s := &clustering{fps: fps, docs: docs, k: k, opts: o}
	having := make([][]uint32, fps.Len()) // by fingerprint: kept documents
	var kept, near []uint32
	picked, offered := 0, 0
	for from, size := 0, docs.Len(); from < docs.Len(); {
		size = min(size, docs.Len()-from)
		some := make([]uint32, size)
		for i := range some {
			some[i] = uint32(from + i)
		}
		codes := docs.codes(slices.Concat(kept, some))
		label := make([]uint32, len(codes)) // 0 for fingerprints that only kept documents have
		for _, f := range docs.codes(some) {
			i, _ := slices.BinarySearch(codes, f)
			label[i] = uint32(i) + 1
		}
		if picked += len(codes); picked > mostPicked*fps.Len()+leastMany {
			return ErrManyOffers
		}
		n, err := s.neighbours(ctx, fps.pick(codes), label, budget)
		if errors.Is(err, errManyPairs) {
			size = max(size/4, 1)
			continue
		}
		if err != nil {
			return err
		}
		for _, p := range some {
			if p%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			near = near[:0]
			for _, f := range docs.Of(p) {
				i, _ := slices.BinarySearch(codes, f)
				near = append(near, having[f]...)
				for _, x := range n.of(uint32(i)) {
					near = append(near, having[codes[x.fp]]...)
				}
			}
			slices.Sort(near)
			near = slices.Compact(near)
			if offered += len(near); offered > mostOffers*int(p)+leastMany {
				return ErrManyOffers
			}
			keep, err := decide(p, near)
			if err != nil {
				return err
			}
			if keep {
				kept = append(kept, p)
				for _, f := range docs.Of(p) {
					having[f] = append(having[f], p)
				}
			}
		}
		if from += size; len(n.near)/2 < budget/16 {
			size *= 4
		}
	}
	return nil
}
