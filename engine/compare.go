package engine

import (
	"context"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// PairComparison is the result of comparing two documents; WHY shows it.
type PairComparison struct {
	Distance       int           // between the fingerprints, in bits
	Fingerprints   bool          // both documents have a fingerprint
	WordsA, WordsB []Fingerprint // the compared fingerprints: the nearest two if there are several
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
func (s *Snapshot) Compare(ctx context.Context, a, b string) (c PairComparison, err error) {
	v := &s.v
	err = v.Safely(ctx, func() error {
		var docs [2]table.Document
		var layout table.Layout // of the table that holds the second document
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
	var all [2][][]Fingerprint
	for i, d := range docs {
		more, err := v.Fingerprints(string(d.ID))
		if err != nil {
			return err
		}
		all[i] = append([][]Fingerprint{append([]Fingerprint{d.Fingerprint}, d.Rest...)}, more...)
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
	if c.Fingerprints = a.HasFingerprint && b.HasFingerprint; c.Fingerprints {
		c.WordsA, c.WordsB = append([]Fingerprint{a.Fingerprint}, a.Rest...), append([]Fingerprint{b.Fingerprint}, b.Rest...)
		c.Distance = base.DistanceWords(c.WordsA, c.WordsB)
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
		c.Shared, c.ShinglesA, c.ShinglesB = ordered.Common(x, y, 0), len(x), len(y)
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

// A Scorer tests single documents against a query by a criterion other than Near. It serves one
// goroutine, while its Snapshot is open.
type Scorer struct{ x *search.Scorer }

// Scorer prepares the query Search(doc, by) for tests of single documents. The error is ErrInvalid
// if the criterion is Near; others are those of Search.
func (s *Snapshot) Scorer(ctx context.Context, doc Doc, by Criterion) (*Scorer, error) {
	x, err := search.NewScorer(ctx, &s.v, doc.sample(), by.by)
	if err != nil {
		return nil, err
	}
	return &Scorer{x}, nil
}

// Empty reports whether the query can match nothing, because its document has no sketch.
func (x *Scorer) Empty() bool { return x.x.Empty() }

// Match reports whether the query yields the document with this ID, and returns its match. It
// returns ErrNotFound if there is no such document.
func (x *Scorer) Match(ctx context.Context, id string) (m Match, ok bool, err error) {
	found, ok, err := x.x.Match(ctx, id)
	return Match(found), ok, err
}
