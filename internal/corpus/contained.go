package corpus

import (
	"context"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/setjoin"
)

// NewFewExtractor returns an Extractor of documents whose sets are compared with those of a Few.
// For each match it calls found with the document's position, from 0, and its id. If the
// documents of a batch have more than most matches, it calls found for some, and returns
// many.
func NewFewExtractor(ctx context.Context, params features.Params, few *setjoin.Few, most int, many error, found func(place int, id string, m setjoin.FewMatch) error) *Extractor {
	before := 0 // documents of earlier batches
	worker := func() func(*featured) {
		sets, finder, scored := newHasher(params).sets, few.Finder(), []setjoin.FewMatch(nil)
		return func(b *featured) {
			for i := 0; i < len(b.docs) && len(b.found) <= most; i++ {
				b.hashes = sets.Append(b.hashes[:0], b.docs[i].Text)
				scored = finder.Append(scored[:0], b.hashes)
				for _, m := range scored {
					b.found = append(b.found, located{at: int32(i), place: int32(m.Set), score: m.Score})
				}
			}
		}
	}
	return newExtractor(ctx, worker, func(b *featured) error {
		for _, m := range b.found {
			if err := found(before+int(m.at), b.docs[m.at].ID, setjoin.FewMatch{Set: int(m.place), Score: m.score}); err != nil {
				return err
			}
		}
		before += len(b.docs)
		if len(b.found) > most {
			return many
		}
		return nil
	})
}

// Hashed returns a function that makes the sets of texts; it is not safe for concurrent use.
func Hashed(params features.Params) func(text string) []uint64 {
	sets := newHasher(params).sets
	return func(text string) []uint64 { return sets.Append(nil, text) }
}
