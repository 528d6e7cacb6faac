package engine

import (
	"context"
	"fmt"

	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

// PairComparison is how two documents compare: what WHY shows.
type PairComparison struct {
	Distance     int     // between the fingerprints, in bits
	Fingerprints bool    // both have one
	Leads        []int   // of each permuted table: how many of the bits that lead it differ
	Score        Match   // Score, Error and Exact of the sketches
	AInB, BInA   float64 // containment: of the texts if Verified, else estimated from the sketches
	Verified     bool    // the texts are kept: what follows is exact
	Jaccard      float64 // of the full sets of shingles
	Shared       int     // shingles in both
	ShinglesA    int
	ShinglesB    int
}

// Compare compares two stored documents in every way the database can.
func (s *Snapshot) Compare(ctx context.Context, a, b string) (c PairComparison, err error) {
	err = s.safely(ctx, func() error {
		var docs [2]sstable.Document
		for i, id := range [...]string{a, b} {
			p, err := s.locate(id)
			if err != nil {
				return err
			}
			if err := p.document(&docs[i]); err != nil {
				return err
			}
			if s.db.params.Sketch > 0 {
				if docs[i].Sketch, err = p.sketch(nil); err != nil {
					return err
				}
			}
		}
		c = s.compare(&docs[0], &docs[1])
		return nil
	})
	return c, err
}

func (s *Snapshot) compare(a, b *sstable.Document) (c PairComparison) {
	if c.Fingerprints = a.HasFingerprint && b.HasFingerprint; c.Fingerprints {
		c.Distance = distance(a.Fingerprint, b.Fingerprint)
		layout := s.db.params.Layout
		for i := range layout.Tables() {
			c.Leads = append(c.Leads, distance(a.Fingerprint&layout.LeadMask(i), b.Fingerprint&layout.LeadMask(i)))
		}
	}
	if n := int(s.db.params.Sketch); n > 0 {
		score := minhash.Jaccard(a.Sketch, b.Sketch, n)
		c.Score = Match{ID: string(b.ID), Score: score.Score, Error: score.Error, Exact: score.Exact}
		aInB, bInA := minhash.Containment(a.Sketch, b.Sketch, n)
		c.AInB, c.BInA = aInB.Score, bInA.Score
	}
	if c.Verified = s.db.params.StoreText; c.Verified {
		sets := s.db.shingleSets()
		x, y := sets.ofBytes(a.Text), sets.ofBytes(b.Text)
		c.Shared, c.ShinglesA, c.ShinglesB = x.common(y), len(x), len(y)
		c.Jaccard = x.jaccard(y)
		if len(x) > 0 {
			c.AInB = float64(c.Shared) / float64(len(x))
		}
		if len(y) > 0 {
			c.BInA = float64(c.Shared) / float64(len(y))
		}
	}
	return c
}

// A Scorer tests documents one at a time against a query by Jaccard, where few are in question. It serves one goroutine, as
// long as its Snapshot is open.
type Scorer struct {
	s         *Snapshot
	by        Criterion
	except    string
	sketch    minhash.Sketch
	candidate float64    // the threshold for estimates
	text      shingleSet // of the query, where texts decide
	sets      *shingler
	other     []uint32
	scratch   []byte
}

// Scorer prepares the query Jaccard(doc, t), or, by a verified criterion, JaccardVerified(doc, t).
func (s *Snapshot) Scorer(ctx context.Context, doc Doc, by Criterion) (*Scorer, error) {
	x := &Scorer{s: s, by: by, except: doc.ID}
	err := s.safely(ctx, func() (err error) {
		if !by.jaccard {
			return fmt.Errorf("%v is no criterion of Jaccard: %w", by, ErrInvalid)
		}
		if err := s.db.checkCriterion(by); err != nil {
			return err
		}
		if x.sketch, err = s.querySketch(doc); err != nil {
			return err
		}
		if x.candidate = by.t; by.verified {
			x.candidate = s.candidateThreshold(x.sketch, by.t)
			x.sets = s.db.shingleSets()
			var text []byte
			if text, err = s.queryText(doc); err == nil {
				x.text = x.sets.ofBytes(text)
			}
		}
		return err
	})
	return x, err
}

// Match says whether the query yields the document with this ID, and as what.
func (x *Scorer) Match(ctx context.Context, id string) (m Match, ok bool, err error) {
	if id == x.except || len(x.sketch) == 0 {
		return Match{}, false, nil
	}
	err = x.s.safely(ctx, func() error {
		p, err := x.s.locate(id)
		if err != nil {
			return err
		}
		if x.other, err = p.sketch(x.other[:0]); err != nil {
			return err
		}
		score, similar := minhash.JaccardAtLeast(x.sketch, x.other, int(x.s.db.params.Sketch), x.candidate)
		if similar && x.by.verified {
			text, err := p.text(&x.scratch)
			if err != nil {
				return err
			}
			score = minhash.Score{Score: x.text.jaccard(x.sets.ofBytes(text)), Exact: true}
			similar = score.Score >= x.by.t
		}
		m, ok = Match{ID: id, Score: score.Score, Error: score.Error, Exact: score.Exact}, similar
		return nil
	})
	return m, ok, err
}
