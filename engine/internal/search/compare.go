package search

import (
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

// Comparison is how two documents compare; engine.PairComparison documents the fields.
type Comparison struct {
	Distance     int        // between the fingerprints, in bits
	Fingerprints bool       // both have one
	Leads        []int      // bits that differ in the lead of each permuted table of the second document
	Score        view.Match // Score, Error and Exact of the sketches
	AInB, BInA   float64    // containment: of the texts if Verified, else estimated from the sketches
	Verified     bool       // the texts are kept: what follows is exact
	Jaccard      float64    // of the full sets of shingles
	Shared       int        // shingles in both
	ShinglesA    int
	ShinglesB    int
}

// Compare compares two stored documents of v.
func Compare(ctx context.Context, v *view.View, a, b string) (c Comparison, err error) {
	err = v.Safely(ctx, func() error {
		var docs [2]sstable.Document
		var layout sstable.Layout // of the table that has the second document
		for i, id := range [...]string{a, b} {
			p, err := v.Locate(id)
			if err != nil {
				return err
			}
			if err := p.Document(&docs[i]); err != nil {
				return err
			}
			if layout = v.Params.ForTable(0).Layout; p.Part != nil {
				layout = p.Part.Params().Layout
			}
			if v.Params.Sketch > 0 {
				if docs[i].Sketch, err = p.Sketch(nil); err != nil {
					return err
				}
			}
		}
		c = compareDocs(v.Config, layout, &docs[0], &docs[1])
		return nil
	})
	return c, err
}

// compareDocs compares two documents by what the database keeps, and by the leads of a layout.
func compareDocs(conf *view.Config, layout sstable.Layout, a, b *sstable.Document) (c Comparison) {
	if c.Fingerprints = a.HasFingerprint && b.HasFingerprint; c.Fingerprints {
		c.Distance = view.Distance(a.Fingerprint, b.Fingerprint)
		for i := range layout.Tables() {
			c.Leads = append(c.Leads, view.Distance(a.Fingerprint&layout.LeadMask(i), b.Fingerprint&layout.LeadMask(i)))
		}
	}
	if n := int(conf.Params.Sketch); n > 0 {
		score := minhash.Jaccard(a.Sketch, b.Sketch, n)
		c.Score = scored(string(b.ID), score)
		aInB, bInA := minhash.Containment(a.Sketch, b.Sketch, n)
		c.AInB, c.BInA = aInB.Score, bInA.Score
	}
	if c.Verified = conf.Params.StoreText; c.Verified {
		sets := conf.Texts.Shingler()
		x, y := sets.Set(a.Text), sets.Set(b.Text)
		c.Shared, c.ShinglesA, c.ShinglesB = x.Common(y), len(x), len(y)
		c.Jaccard = x.Jaccard(y)
		if len(x) > 0 {
			c.AInB = float64(c.Shared) / float64(len(x))
		}
		if len(y) > 0 {
			c.BInA = float64(c.Shared) / float64(len(y))
		}
	}
	return c
}
