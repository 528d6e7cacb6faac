package engine

import (
	"context"

	"github.com/simdb/simdb/engine/internal/search"
)

// PairComparison is how two documents compare: what WHY shows.
type PairComparison struct {
	Distance     int     // between the fingerprints, in bits
	Fingerprints bool    // both have one
	Leads        []int   // bits that differ in the lead of each permuted table of the second document
	Score        Match   // Score, Error and Exact of the sketches
	AInB, BInA   float64 // containment: of the texts if Verified, else estimated from the sketches
	Verified     bool    // the texts are kept: what follows is exact
	Jaccard      float64 // of the full sets of shingles
	Shared       int     // shingles in both
	ShinglesA    int
	ShinglesB    int
}

// Compare compares two stored documents in every way the database can. It returns ErrNotFound if
// one of them is not there, ErrClosed, *CorruptionError, or the error of the context.
func (s *Snapshot) Compare(ctx context.Context, a, b string) (PairComparison, error) {
	c, err := search.Compare(ctx, &s.v, a, b)
	return PairComparison{
		Distance: c.Distance, Fingerprints: c.Fingerprints, Leads: c.Leads, Score: Match(c.Score),
		AInB: c.AInB, BInA: c.BInA, Verified: c.Verified, Jaccard: c.Jaccard,
		Shared: c.Shared, ShinglesA: c.ShinglesA, ShinglesB: c.ShinglesB,
	}, err
}

// A Scorer tests documents one at a time against a query by Jaccard, where few are in question. It
// serves one goroutine, as long as its Snapshot is open.
type Scorer struct{ x *search.Scorer }

// Scorer prepares the query Search(doc, by) for tests of single documents.
// The error is ErrInvalid if the criterion is not one of Jaccard, and otherwise as that of Jaccard.
func (s *Snapshot) Scorer(ctx context.Context, doc Doc, by Criterion) (*Scorer, error) {
	x, err := search.NewScorer(ctx, &s.v, doc.sample(), by.by)
	return &Scorer{x}, err
}

// Empty reports whether there is nothing to search for: the document of the query has no sketch.
func (x *Scorer) Empty() bool { return len(x.x.Sketch) == 0 }

// Match reports whether the query yields the document with this ID, and as what. ErrNotFound if
// there is no such document.
func (x *Scorer) Match(ctx context.Context, id string) (m Match, ok bool, err error) {
	found, ok, err := x.x.Match(ctx, id)
	return Match(found), ok, err
}
