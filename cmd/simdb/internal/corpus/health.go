package corpus

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/fingerprint"
	"github.com/simdb/simdb/internal/token"
)

// Find returns the number of the document with an ID, the last one of those with it.
func (l *Listing) Find(id string) (n uint32, ok bool) {
	key := []byte(id)
	at := sort.Search(len(l.byID), func(i int) bool { return bytes.Compare(l.id(l.byID[i]), key) > 0 })
	if at == 0 || !bytes.Equal(l.id(l.byID[at-1]), key) {
		return 0, false
	}
	return l.byID[at-1], true
}

// Diameter compares all documents of a list with each other. It returns the least similarity of
// two of them by the criterion, or with fingerprints the greatest distance.
func (c *Corpus) Diameter(ctx context.Context, docs []uint32, by Criterion) (worst float64, err error) {
	if !by.Sets {
		for i, a := range docs {
			for _, b := range docs[:i] {
				worst = max(worst, float64(base.Distance(c.Prints[a], c.Prints[b])))
			}
		}
		return worst, nil
	}
	if c.texts != nil {
		return c.textDiameter(ctx, docs)
	}
	sets, r := make([][]uint64, len(docs)), c.Sets.Reader()
	for i, n := range docs {
		if sets[i], err = r.Append(nil, int(n)); err != nil {
			return 0, err
		}
	}
	worst = 1
	for i, a := range sets {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		for _, b := range sets[:i] {
			worst = min(worst, jaccard(a, b))
		}
	}
	return worst, nil
}

// textDiameter is Diameter where texts are compared.
func (c *Corpus) textDiameter(ctx context.Context, docs []uint32) (worst float64, err error) {
	worst = 1
	j := c.Judges(ctx, math.SmallestNonzeroFloat64)()
	for i, a := range docs {
		for _, b := range docs[:i] {
			score, _, err := j.Compare(int(a), int(b))
			if err != nil {
				return 0, err
			}
			worst = min(worst, score)
		}
	}
	return worst, nil
}

// jaccard compares two ascending sets.
func jaccard(a, b []uint64) float64 {
	common, i := 0, 0
	for _, h := range b {
		for i < len(a) && a[i] < h {
			i++
		}
		if i < len(a) && a[i] == h {
			common++
		}
	}
	return float64(common) / float64(max(1, len(a)+len(b)-common))
}

// Shared is a shingle or a fingerprint that several documents have.
type Shared struct {
	Text      string // the words of a shingle; "" where it is not made of words
	Hash      uint64 // or the fingerprint
	Documents int64
	ID        string // of the first document that has it
}

// HotShingles returns the shingles that most of some documents have, at most that many, each of two
// documents or more. Of shingles that overlap, and that the same documents have, there is one.
func HotShingles(ctx context.Context, docs []engine.Doc, p fingerprint.Params, most int) ([]Shared, error) {
	type counted struct{ docs, first int }
	h, counts := newHasher(p), map[uint64]counted{}
	var set []uint64
	for i := range docs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		set = h.appendSet(set[:0], docs[i].Text)
		for _, hash := range set {
			c, ok := counts[hash]
			if !ok {
				c.first = i
			}
			c.docs++
			counts[hash] = c
		}
	}
	var all []Shared
	for hash, c := range counts {
		if c.docs > 1 {
			all = append(all, Shared{Hash: hash, Documents: int64(c.docs), ID: docs[c.first].ID})
		}
	}
	slices.SortFunc(all, compareShared)
	seen := map[counted]bool{}
	all = slices.DeleteFunc(all, func(s Shared) bool {
		c := counts[s.Hash]
		was := seen[c]
		seen[c] = true
		return was
	})
	all = all[:min(len(all), most)]
	for i := range all {
		all[i].Text = h.wordsOf(all[i].Hash, docs[counts[all[i].Hash].first].Text, p)
	}
	return all, nil
}

// compareShared puts what most documents have first.
func compareShared(a, b Shared) int {
	return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Hash, b.Hash))
}

// wordsOf returns the words of a shingle of a text by its hash, "" if it is not made of words
// alone.
func (f *hasher) wordsOf(hash uint64, text string, p fingerprint.Params) string {
	if unit := p.Features.Unit; unit != "" && unit != features.Words {
		return ""
	}
	words := slices.Collect(token.SplitWords(text))
	var set []uint64
	for i := range words {
		run := strings.Join(words[i:min(i+p.Shingle, len(words))], " ")
		if set = f.appendSet(set[:0], run); len(set) == 1 && set[0] == hash {
			return run
		}
	}
	return ""
}

// HotPrints returns the fingerprints that most documents have, at most that many, each of two
// documents or more. It sorts prints.
func HotPrints(prints []base.Fingerprint, most int) (hot []Shared) {
	slices.Sort(prints)
	for from := 0; from < len(prints); {
		to := from + 1
		for to < len(prints) && prints[to] == prints[from] {
			to++
		}
		if to-from > 1 {
			hot = append(hot, Shared{Hash: prints[from], Documents: int64(to - from)})
		}
		if len(hot) > 100*most {
			slices.SortFunc(hot, compareShared)
			hot = hot[:most]
		}
		from = to
	}
	slices.SortFunc(hot, compareShared)
	return hot[:min(len(hot), most)]
}
