package health

import (
	"context"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
)

// database is a snapshot of a database whose clusters are looked at.
type database struct {
	ctx  context.Context
	snap *engine.Snapshot
	by   engine.Criterion
	p    features.Params
	text bool // texts are kept
}

// OfDatabase returns the rows of the clusters of a database, and false if there are none. Beside
// what finding the clusters takes, it takes 8 bytes of memory for each document, for its
// fingerprint.
func OfDatabase(ctx context.Context, snap *engine.Snapshot, of engine.Params, by engine.Criterion, o *engine.ClusterOptions) (rows [][]any, found bool, err error) {
	spec, err := features.Spec(of.Features).Canonical()
	if err != nil {
		return nil, false, err
	}
	d := database{ctx, snap, by, features.Params{Shingle: of.Shingle, Features: spec}, of.Text}
	_, distance := by.Distance()
	clusters := NewClusters(distance)
	for m, err := range snap.Clusters(ctx, by, o) {
		if err != nil {
			return nil, false, err
		}
		clusters.Add(m)
	}
	shared, err := d.shared()
	if err != nil {
		return nil, false, err
	}
	rows, err = clusters.Rows(d.across, shared)
	return rows, clusters.Found(), err
}

// across is a Diameter: by fingerprints, or by the texts where they are kept.
func (d *database) across(ids []string) (worst float64, known bool, err error) {
	if _, distance := d.by.Distance(); distance {
		worst, err = d.farthest(ids)
		return worst, err == nil, err
	}
	if _, jaccard := d.by.Threshold(); !jaccard || !d.text {
		return 0, false, nil
	}
	worst, err = d.leastAlike(ids)
	return worst, err == nil, err
}

// farthest returns the greatest distance of any two documents.
func (d *database) farthest(ids []string) (worst float64, err error) {
	prints := make([][][]base.Fingerprint, len(ids))
	for i, id := range ids {
		e, err := d.snap.Lookup(d.ctx, id)
		if err != nil {
			return 0, err
		}
		prints[i] = append(e.Fingerprints, e.Words())
		for _, p := range prints[:i] {
			away, _ := e.Distance(p...)
			worst = max(worst, float64(away))
		}
	}
	return worst, nil
}

// leastAlike returns the least similarity of any two documents, by their texts.
func (d *database) leastAlike(ids []string) (worst float64, err error) {
	sets, h := make([]features.Hashes, len(ids)), features.NewSetHasher(d.p.Features, d.p.Shingle, d.p.Seed)
	worst = 1
	for i, id := range ids {
		doc, err := d.snap.Get(d.ctx, id)
		if err != nil {
			return 0, err
		}
		sets[i] = h.Append(nil, doc.Text)
		for _, s := range sets[:i] {
			worst = min(worst, sets[i].Jaccard(s))
		}
	}
	return worst, nil
}

// shared looks for what documents share: fingerprints of all, shingles of some.
func (d *database) shared() (s Shared, err error) {
	var prints []base.Fingerprint
	sample := NewSample()
	for e, err := range d.snap.Range(d.ctx, engine.Range{Unordered: true}) {
		if err == nil && d.text {
			err = sample.Add(&engine.Doc{ID: e.ID})
		}
		if err != nil {
			return s, err
		}
		if words := e.Words(); len(words) == 1 { // rows show one of 64 bits
			prints = append(append(prints, words...), slices.Concat(e.Fingerprints...)...)
		}
	}
	s.AddPrints(prints)
	docs := sample.Documents()
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
	}
	err = d.snap.GetEach(d.ctx, ids, func(i int, doc engine.Doc) error {
		docs[i].Text = doc.Text
		return nil
	})
	if err != nil {
		return s, err
	}
	return s, s.AddTexts(d.ctx, docs, d.p)
}
