package tune

import (
	"context"
	"math/rand/v2"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/worddiff"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// Documents are the documents of a file or a database. They are read twice: first to draw a
// sample, then to compare them with it.
type Documents struct {
	Params records.FeatureParams
	Each   func(stage string, f func(*engine.Doc) error) error
}

// Compare compares all n documents with those of a sample, which are in random order.
func Compare(ctx context.Context, of Documents, drawn []engine.Doc, n, memory int64) (*Report, error) {
	s := corpus.NewSearch(of.Params, drawn, corpus.SearchOptions{
		Within: MaxDistance, Least: MinScore, Memory: memory, Documents: n,
	})
	report := &Report{Words: s.Words()}
	for _, node := range s.Nodes() {
		report.Scored = report.Scored || node.Set
	}
	for _, node := range s.Nodes() {
		report.Add(node.Doc.ID, node.Doc.Text, node.Count, node.Set)
	}
	each := func(words bool) {
		if words {
			report.Documents++
		}
	}
	if unit := of.Params.Features.Unit; report.Scored && !features.IsGiven(unit) && unit != features.Own {
		report.words = worddiff.NewTally(of.Params.Features)
	}
	found := func(m corpus.Found) error {
		report.Found(m.Place, Match{ID: m.Doc.ID, Text: m.Doc.Text, Distance: m.Distance, Score: m.Score})
		return nil
	}
	x := s.Extractor(ctx, of.Params, each, found)
	defer x.Stop()
	again := int64(0)
	err := of.Each("compare", func(d *engine.Doc) error {
		again++
		return x.Add(d, nil)
	})
	if err == nil {
		err = x.Finish()
	}
	if err == nil && again != n {
		err = inputs.ErrChanged
	}
	report.Nodes = s.Nodes()
	return report, err
}

// Draw draws a sample, in random order, and counts the documents. All documents have the same
// probability of being in it. It has at most most documents, whose IDs and texts use at most room
// bytes.
func Draw(of Documents, most int, seed uint64, memory int64) (docs []engine.Doc, n int64, err error) {
	r := rand.New(rand.NewPCG(seed, 1))
	size := func(d *engine.Doc) int64 { return int64(len(d.ID) + len(d.Text)) }
	drop := func(place int) {
		memory += size(&docs[place])
		docs[place] = docs[len(docs)-1]
		docs = docs[:len(docs)-1]
	}
	err = of.Each("draw documents", func(d *engine.Doc) error {
		if n++; len(docs) == most {
			if r.Int64N(n) >= int64(most) {
				return nil
			}
			drop(r.IntN(most))
		}
		own := engine.Doc{ID: strings.Clone(d.ID), Text: strings.Clone(d.Text)}
		own.Fingerprints = d.Fingerprints
		docs = append(docs, own)
		for memory -= size(d); memory < 0 && len(docs) > 1; most = len(docs) {
			drop(r.IntN(len(docs)))
		}
		return nil
	})
	r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	return docs, n, err
}
