package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// A textPair is a query of a batch and a document, whose texts must be compared.
type textPair struct {
	mem      *view.MemDoc // nil for a document of a table
	part     uint32       // inMemory, or the index of the part in the version
	doc      uint32       // in the part
	query    uint32
	estimate float32 // estimated similarity
	score    float64 // similarity of the texts, once compared; any value below the threshold if it is less
}

const (
	inMemory      = math.MaxUint32
	textPairBytes = 2 * 32 // while a slice of them grows
)

func pairOf(v *view.View, query int, p view.Place, estimate float64) textPair {
	if p.Mem != nil {
		return textPair{mem: p.Mem, part: inMemory, query: uint32(query), estimate: float32(estimate)}
	}
	part := slices.IndexFunc(v.Version.Parts, func(q view.Part) bool { return q.Table == p.Part.Table })
	return textPair{part: uint32(part), doc: p.Doc, query: uint32(query), estimate: float32(estimate)}
}

// place returns the place of the document.
func (p *textPair) place(v *view.View) view.Place {
	if p.mem != nil {
		return view.Place{Mem: p.mem}
	}
	return view.Place{Part: &v.Version.Parts[p.part], Doc: p.doc}
}

// compareByDoc orders pairs by document, then by query.
func compareByDoc(a, b textPair) int {
	if c := cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.doc, b.doc)); c != 0 || a.mem == nil {
		return cmp.Or(c, cmp.Compare(a.query, b.query))
	}
	return cmp.Or(cmp.Compare(a.mem.Seq, b.mem.Seq), cmp.Compare(a.query, b.query))
}

// A span is the pairs [from, to) of a document.
type span struct{ from, to int }

// A textPairs is a set of pairs that are being compared.
type textPairs struct {
	v     *view.View
	pairs []textPair // sorted by document
	spans []span     // in storage order: parts, then memtables

	// compare compares all pairs of a document, and may set their scores. It is called from several
	// goroutines.
	compare func(sets *features.SetHasher, text []byte, pairs []textPair)

	mu      sync.Mutex
	failed  error  // error of a text that cannot be read,
	atQuery uint32 // and the least query that needs it
}

// spanShare is how many documents a worker handles at a time.
const spanShare = 256

// compareTexts sorts pairs by document and compares them. It reads every text once, and decodes
// every block of texts once, except for blocks at the ends of shares. If a text cannot be read, it
// sets x.failed for the queries from atQuery on; it returns other errors.
func (x *textPairs) compareTexts(ctx context.Context) error {
	slices.SortFunc(x.pairs, compareByDoc)
	if err := x.v.Safely(ctx, x.order); err != nil {
		return err
	}
	shares := slices.Collect(slices.Chunk(x.spans, spanShare))
	return eachShare(ctx, len(shares), 1, func(i int) error {
		return x.v.Safely(ctx, func() error { return x.share(ctx, x.v.Texts.Sets(), shares[i]) })
	})
}

// order sets x.spans.
func (x *textPairs) order() error {
	x.spans = x.spans[:0]
	var docs []uint32
	for from := 0; from < len(x.pairs); {
		part, first := x.pairs[from].part, len(x.spans)
		docs = docs[:0]
		for from < len(x.pairs) && x.pairs[from].part == part {
			to := from + 1
			for to < len(x.pairs) && x.pairs[to].part == part && x.pairs[to].doc == x.pairs[from].doc && x.pairs[to].mem == x.pairs[from].mem {
				to++
			}
			x.spans = append(x.spans, span{from, to})
			docs = append(docs, x.pairs[from].doc)
			from = to
		}
		if part == inMemory {
			continue
		}
		inOrder := slices.Clone(docs)
		if err := x.v.Version.Parts[part].SortInTextOrder(inOrder); err != nil {
			return err
		}
		spans := slices.Clone(x.spans[first:])
		for i, doc := range inOrder {
			at, _ := slices.BinarySearch(docs, doc)
			x.spans[first+i] = spans[at]
		}
	}
	return nil
}

// share compares the pairs of some documents.
func (x *textPairs) share(ctx context.Context, sets *features.SetHasher, spans []span) error {
	var reader *table.Texts
	part := uint32(inMemory)
	if err := x.announce(spans); err != nil {
		return err
	}
	for _, s := range spans {
		if err := ctx.Err(); err != nil {
			return err
		}
		pairs := x.pairs[s.from:s.to]
		var text []byte
		var err error
		if first := &pairs[0]; first.mem != nil {
			text = first.mem.Text
		} else {
			if first.part != part {
				part = first.part
				reader = x.v.Version.Parts[part].TextsInOrder(false)
			}
			text, _, err = reader.Get(first.doc)
		}
		if err != nil {
			x.fail(pairs[0].query, err)
			continue
		}
		x.compare(sets, text, pairs)
	}
	return nil
}

// announce says that the texts of documents will be read.
func (x *textPairs) announce(spans []span) error {
	for i, parts := 0, x.v.Version.Parts; i < len(spans); {
		part := x.pairs[spans[i].from].part
		if part == inMemory || !parts[part].IsServed() {
			i++
			continue
		}
		var docs []uint32
		for ; i < len(spans) && x.pairs[spans[i].from].part == part; i++ {
			docs = append(docs, x.pairs[spans[i].from].doc)
		}
		if err := parts[part].Announce(docs, table.PartText); err != nil {
			return err
		}
	}
	return nil
}

// fail records the error of a text that a query, and possibly later ones, need.
func (x *textPairs) fail(query uint32, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failed == nil || query < x.atQuery {
		x.failed, x.atQuery = err, query
	}
}

// similarity returns the similarity of the texts of a query and of a document, or 0 if it is below
// t. It computes the set of the document only if the texts are not equal.
func similarity(mine features.Hashes, query string, sets *features.SetHasher, text []byte, t float64) float64 {
	if len(mine) > 0 && string(text) == query {
		return 1
	}
	score, _ := sets.JaccardAtLeast(mine, sets.LastSet(text), t)
	return score
}

// exactly returns the score of a pair that was compared.
func (p *textPair) exactly() minhash.Score { return minhash.Score{Score: p.score, Exact: true} }
