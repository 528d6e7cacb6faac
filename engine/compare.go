package engine

import (
	"context"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// PairComparison is the result of comparing two documents; WHY shows it.
type PairComparison struct {
	Distance int // between the fingerprints, in bits
	// FingerprintA and FingerprintB are the compared fingerprints: the nearest two if there are
	// several. Both are nil if one of the documents has none.
	FingerprintA, FingerprintB Fingerprint
	// Leads are the differing bits in the lead of each permuted table, by the layout of the second
	// document's table.
	Leads      []int
	Score      Match   // Score, Error and Exact by the sketches
	AInB, BInA float64 // containment: from the texts if Verified, else estimated from the sketches
	Verified   bool    // the database stores texts: the fields below are exact
	Jaccard    float64 // of the full sets of shingles
	Shared     int     // number of shingles in both
	ShinglesA  int
	ShinglesB  int
}

// Compare compares two stored documents by every measure that the database supports. It returns
// ErrNotFound if a document does not exist, ErrClosed, *CorruptionError, or the error of the
// context.
func (r *Reader) Compare(ctx context.Context, a, b string) (PairComparison, error) {
	return readByID(ctx, r, func(s *Snapshot) (PairComparison, error) { return s.compare(ctx, a, b) })
}

func (s *Snapshot) compare(ctx context.Context, a, b string) (c PairComparison, err error) {
	v := &s.v
	err = v.Safely(ctx, func() error {
		var docs [2]table.Document
		var layout table.Layout // of the table that holds the second document
		for i, id := range [...]string{a, b} {
			p, err := s.locate(id)
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
		if v.Several && docs[0].HasFingerprint && docs[1].HasFingerprint {
			if err := nearestPrints(v, &docs[0], &docs[1]); err != nil {
				return err
			}
		}
		c = compareDocs(v.Config, layout, &docs[0], &docs[1])
		return nil
	})
	return c, err
}

// nearestPrints sets the fingerprints of two documents to the nearest pair among all of theirs.
func nearestPrints(v *view.View, docs ...*table.Document) error {
	var all [2][][]uint64
	for i, d := range docs {
		more, err := v.Fingerprints(string(d.ID))
		if err != nil {
			return err
		}
		all[i] = append([][]uint64{append([]uint64{d.Fingerprint}, d.Rest...)}, more...)
	}
	least := v.Bits() + 1
	for _, a := range all[0] {
		for _, b := range all[1] {
			if d := base.DistanceWords(a, b); d < least {
				least = d
				docs[0].Fingerprint, docs[0].Rest, docs[1].Fingerprint, docs[1].Rest = a[0], a[1:], b[0], b[1:]
			}
		}
	}
	return nil
}

// compareDocs compares two documents by all stored data, and by the leads of a layout.
func compareDocs(conf *view.Config, layout table.Layout, a, b *table.Document) (c PairComparison) {
	if a.HasFingerprint && b.HasFingerprint {
		c.FingerprintA, c.FingerprintB = append(Fingerprint{a.Fingerprint}, a.Rest...), append(Fingerprint{b.Fingerprint}, b.Rest...)
		c.Distance = base.DistanceWords(c.FingerprintA, c.FingerprintB)
		for i := range layout.Tables() {
			c.Leads = append(c.Leads, base.Distance(a.Fingerprint&layout.LeadMask(i), b.Fingerprint&layout.LeadMask(i)))
		}
	}
	if n := int(conf.Params.Sketch); n > 0 {
		score := minhash.Jaccard(a.Sketch, b.Sketch, n)
		c.Score = Match{ID: string(b.ID), Score: score.Score, Error: score.Error, Exact: score.Exact}
		aInB, bInA := minhash.Containment(a.Sketch, b.Sketch, n)
		c.AInB, c.BInA = aInB.Score, bInA.Score
	}
	if c.Verified = conf.Params.StoreText; c.Verified {
		sets := conf.Texts.Sets()
		x, y := sets.Set(a.Text), sets.Set(b.Text)
		c.Jaccard = sets.Jaccard(x, y)
		c.AInB, c.BInA = sets.Contained(x, y)
		if conf.Texts.Spec().Real() {
			x, y = features.Weighted(x).Hashes(), features.Weighted(y).Hashes()
		}
		c.Shared, c.ShinglesA, c.ShinglesB = ordered.Common(x, y, 0), len(x), len(y)
		c.Score = Match{ID: string(b.ID), Score: c.Jaccard, Exact: true}
	}
	return c
}

// Matcher prepares the query Search(doc, by) for tests of single documents. The function that it
// returns reports whether the query yields the document with an ID, and returns its match; it
// returns ErrNotFound if there is no such document. It serves one goroutine, while the Snapshot is
// open. The error of Matcher is ErrInvalid if the criterion is Near; others are those of Search.
func (s *Snapshot) Matcher(ctx context.Context, doc Doc, by Criterion) (func(ctx context.Context, id string) (Match, bool, error), error) {
	s.searches()
	x, err := search.NewScorer(ctx, &s.v, doc.sample(), by.in(s.v.Config))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, id string) (Match, bool, error) {
		m, ok, err := x.Match(ctx, id)
		return Match(m), ok, err
	}, nil
}
