package corpus

import (
	"context"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/setjoin"
)

// NewFewExtractor returns an Extractor of documents whose sets are compared with those of a Few. It
// calls found for each match, with the id of the document.
func NewFewExtractor(ctx context.Context, params features.Params, few *setjoin.Few, found func(id string, m setjoin.FewMatch) error) *Extractor {
	worker := func() func(*featured) {
		sets, finder, scored := newHasher(params).sets, few.Finder(), []setjoin.FewMatch(nil)
		return func(b *featured) {
			for i := range b.docs {
				b.hashes = sets.Append(b.hashes[:0], b.docs[i].Text)
				scored = finder.Append(scored[:0], b.hashes)
				for _, m := range scored {
					b.met = append(b.met, met{at: int32(i), place: int32(m.Set), score: m.Score})
				}
			}
		}
	}
	return newExtractor(ctx, worker, func(b *featured) error {
		for _, m := range b.met {
			if err := found(b.docs[m.at].ID, setjoin.FewMatch{Set: int(m.place), Score: m.score}); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetsOf returns the sets of texts.
func SetsOf(params features.Params, n int, text func(i int) string) [][]uint64 {
	hasher, sets := newHasher(params).sets, make([][]uint64, n)
	for i := range sets {
		sets[i] = hasher.Append(nil, text(i))
	}
	return sets
}
