package health

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
)

const (
	sampled    = 1000 // documents in which shingles are counted
	mostShared = 5    // shingles and fingerprints that are listed
)

// Shared is what many documents share: fingerprints of all documents, shingles of a sample.
type Shared struct {
	prints, shingles []hot
	sampled          int  // documents with texts
	exact            bool // they are all there are
}

// NewSample returns the sample of documents in which AddTexts counts shingles.
func NewSample() *Sample { return New(sampled, 1, math.MaxInt64) }

// AddPrints counts the fingerprints of all documents. It sorts them.
func (s *Shared) AddPrints(prints []base.Fingerprint) { s.prints = hotPrints(prints, mostShared) }

// AddTexts counts shingles in the documents of NewSample, of which some have texts. Their order
// does not matter.
func (s *Shared) AddTexts(ctx context.Context, docs []engine.Doc, p features.Params) (err error) {
	s.exact = len(docs) < sampled
	docs = slices.DeleteFunc(docs, func(d engine.Doc) bool { return d.Text == "" })
	slices.SortFunc(docs, func(a, b engine.Doc) int { return cmp.Compare(a.ID, b.ID) })
	s.sampled = len(docs)
	s.shingles, err = hotShingles(ctx, docs, p, mostShared)
	return err
}

// hot is a shingle or a fingerprint that several documents have.
type hot struct {
	text      string // the words of a shingle; "" where it is not made of words
	hash      uint64 // or the fingerprint
	documents int64
	id        string // of the first document that has it
}

// hotShingles returns the shingles that most of some documents have, at most that many, each of two
// documents or more. Of shingles that overlap, and that the same documents have, there is one.
func hotShingles(ctx context.Context, docs []engine.Doc, p features.Params, most int) ([]hot, error) {
	type counted struct{ docs, first int }
	h, counts := features.NewSetHasher(p.Features, p.Shingle, p.Seed), map[uint64]counted{}
	var set []uint64
	for i := range docs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		set = h.Append(set[:0], docs[i].Text)
		for _, hash := range set {
			c, ok := counts[hash]
			if !ok {
				c.first = i
			}
			c.docs++
			counts[hash] = c
		}
	}
	var all []hot
	for hash, c := range counts {
		if c.docs > 1 {
			all = append(all, hot{hash: hash, documents: int64(c.docs), id: docs[c.first].ID})
		}
	}
	slices.SortFunc(all, compareHot)
	seen := map[counted]bool{}
	all = slices.DeleteFunc(all, func(s hot) bool {
		c := counts[s.hash]
		was := seen[c]
		seen[c] = true
		return was
	})
	all = all[:min(len(all), most)]
	for i := range all {
		all[i].text = wordsOf(h, all[i].hash, docs[counts[all[i].hash].first].Text, p)
	}
	return all, nil
}

// compareHot puts what most documents have first.
func compareHot(a, b hot) int {
	return cmp.Or(cmp.Compare(b.documents, a.documents), cmp.Compare(a.hash, b.hash))
}

// wordsOf returns the words of a shingle of a text by its hash, "" if it is not made of words
// alone.
func wordsOf(h *features.SetHasher, hash uint64, text string, p features.Params) string {
	if unit := p.Features.Unit; unit != "" && unit != features.Words {
		return ""
	}
	words := p.Features.Words(text)
	var set []uint64
	for i := range words {
		run := strings.Join(words[i:min(i+p.Shingle, len(words))], " ")
		if set = h.Append(set[:0], run); len(set) == 1 && set[0] == hash {
			return run
		}
	}
	return ""
}

// hotPrints returns the fingerprints that most documents have, at most that many, each of two
// documents or more. It sorts prints.
func hotPrints(prints []base.Fingerprint, most int) (all []hot) {
	slices.Sort(prints)
	for from := 0; from < len(prints); {
		to := from + 1
		for to < len(prints) && prints[to] == prints[from] {
			to++
		}
		if to-from > 1 {
			all = append(all, hot{hash: prints[from], documents: int64(to - from)})
		}
		if len(all) > 100*most {
			slices.SortFunc(all, compareHot)
			all = all[:most]
		}
		from = to
	}
	slices.SortFunc(all, compareHot)
	return all[:min(len(all), most)]
}
