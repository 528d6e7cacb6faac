package engine

import (
	"context"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/sstable"
)

// AnyMatch reports whether a document of the database as it is now matches doc by the criterion,
// and names one that does; Snapshot.AnyMatch says which, and has the errors.
func (db *DB) AnyMatch(ctx context.Context, doc Doc, by Criterion) (m Match, found bool, err error) {
	s, err := db.Snapshot()
	if err != nil {
		return Match{}, false, err
	}
	defer s.Close()
	return s.AnyMatch(ctx, doc, by)
}

// AnyMatch reports whether a visible document matches doc by the criterion, and names one that
// does: what is searched for is doc.Fingerprint, or that of doc.Text, or by another criterion than
// Near doc.Text; or, if doc has an ID and nothing of that, the stored document doc.ID, which must
// be there (ErrNotFound). A document without a text, a fingerprint and an ID matches nothing. The
// document doc.ID is no match, nor are those that Allow has noted with it. Other errors are as
// those of Near and Jaccard.
//
// It takes no longer where very many match, as it ends with the first. That is one of equal
// fingerprint if there is one; by Jaccard the most similar one of the first few candidates that
// hold any, those whose sketches look most similar. The document named is the same on any number of
// threads, though it may be another one after a compaction.
func (s *Snapshot) AnyMatch(ctx context.Context, doc Doc, by Criterion) (m Match, found bool, err error) {
	return s.anyMatch(ctx, doc, by, 1)
}

// BestMatch is AnyMatch that names the match PutNovel would name: the best one, of equally good
// ones the one whose ID is first; where more than a few dozen match, the best of the first of
// them that are found.
func (s *Snapshot) BestMatch(ctx context.Context, doc Doc, by Criterion) (m Match, found bool, err error) {
	return s.anyMatch(ctx, doc, by, novelMatches)
}

// anyMatch names the best of the first matches, at most most of them.
func (s *Snapshot) anyMatch(ctx context.Context, doc Doc, by Criterion, most int) (m Match, found bool, err error) {
	if err := s.v.CheckCriterion(by.by); err != nil {
		return Match{}, false, err
	}
	d, err := s.toMatch(ctx, &doc, by)
	if err != nil {
		return Match{}, false, err
	}
	got, found, err := search.AnyMatch(ctx, &s.v, &d, by.by, most)
	return Match(got), found, err
}

// toMatch returns doc as it is searched for by a criterion.
func (s *Snapshot) toMatch(ctx context.Context, doc *Doc, by Criterion) (d sstable.Document, err error) {
	if doc.stored(by) {
		err = s.v.Safely(ctx, func() (err error) { d, err = doc.sample().Stored(&s.v); return err })
		return d, err
	}
	d = sstable.Document{ID: []byte(doc.ID), Text: []byte(doc.Text)}
	if doc.Fingerprint != nil {
		d.Fingerprint, d.HasFingerprint = *doc.Fingerprint, true
	}
	if by.by.Jaccard || by.by.Near() && !d.HasFingerprint {
		s.v.Texts.Fill(&d, doc.Text)
	}
	return d, nil
}

// stored reports whether what is searched for is the stored document of the ID.
func (d *Doc) stored(by Criterion) bool {
	return d.ID != "" && d.Text == "" && (d.Fingerprint == nil || !by.by.Near())
}

// allToMatch returns a function that returns each of docs as it is searched for.
func (s *Snapshot) allToMatch(ctx context.Context, docs []Doc, by Criterion) (func(i int) sstable.Document, error) {
	if err := s.v.CheckCriterion(by.by); err != nil {
		return nil, err
	}
	stored := map[int]sstable.Document{}
	for i := range docs {
		if docs[i].stored(by) {
			d, err := s.toMatch(ctx, &docs[i], by)
			if err != nil {
				return nil, err
			}
			stored[i] = d
		}
	}
	return func(i int) sstable.Document {
		if d, ok := stored[i]; ok {
			return d
		}
		d, _ := s.toMatch(ctx, &docs[i], by) // only stored ones have errors
		return d
	}, nil
}

// AnyMatches reports for each of docs whether AnyMatch finds a match by the criterion, in the
// database as it is now. It works on all processors. By verified Jaccard the stored texts that are
// needed are read in the order in which they lie, at first one for each of docs; in memory are a
// copy of the texts of up to 32,768 of docs, their sketches, and up to an eighth of Options.Memory.
// docs must not change meanwhile. Of fingerprints AnyNear asks in a fraction of the time.
func (db *DB) AnyMatches(ctx context.Context, docs []Doc, by Criterion) ([]bool, error) {
	return withSnapshot(db, func(s *Snapshot) ([]bool, error) {
		document, err := s.allToMatch(ctx, docs, by)
		if err != nil {
			return nil, err
		}
		return search.AnyMatches(ctx, &s.v, len(docs), document, by.by)
	})
}

// BestMatches returns for those of docs that have one, in order, the match that BestMatch names. It
// works as AnyMatches, and reads the texts of the first candidates of all of docs. It holds a
// copy of the texts and their sets of shingles in memory.
func (s *Snapshot) BestMatches(ctx context.Context, docs []Doc, by Criterion) (matches []BatchMatch, err error) {
	document, err := s.allToMatch(ctx, docs, by)
	if err != nil {
		return nil, err
	}
	best, err := search.BestMatches(ctx, &s.v, len(docs), document, by.by, novelMatches)
	if err != nil {
		return nil, err
	}
	for i, b := range best {
		if b.Found {
			matches = append(matches, BatchMatch{i, Match(b.Match)})
		}
	}
	return matches, nil
}

// AnyNear reports for each fingerprint whether a document differs from it in at most k bits, k in
// 0..64, in the database as it is now. Many share one walk through each table, as in NearBatch;
// where very many documents match, fingerprints are looked up one by one, each up to its first
// match.
func (db *DB) AnyNear(ctx context.Context, fps []Fingerprint, k int) ([]bool, error) {
	return withSnapshot(db, func(s *Snapshot) ([]bool, error) { return search.AnyNear(ctx, &s.v, fps, k) })
}
