package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/simdb/simdb/engine/internal/contain"
	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
)

// BatchMatch is a document that a query of a batch found.
type BatchMatch struct {
	Query int // position of the query in the batch
	Match
}

// SearchBatch yields for every document of docs what Search yields of it. Matches come by query,
// those of a query best first, then by ID. An error that one of docs has, such as ErrNotFound, ends
// the batch, and names its position. docs must not change meanwhile.
//
// By Near many fingerprints share one walk through each table, which takes a fraction of the time
// of as many searches: from some ten thousand on, or fewer if k is large or the tables are small.
// Fewer are searched for one by one. A million queries are searched at a time, fewer if they find
// more than four million documents, or more than Options.Memory has room for. In memory are, of
// those, 60 bytes a query, 60 bytes a match and its ID, and the fingerprints of all. A query that
// alone finds more is searched for again for each part of its matches that there is room for; if it
// has several fingerprints, that is ErrTooLarge. It uses one processor; several can work on parts
// of a batch.
//
// By other criteria it works on all processors: several documents are looked for at a time, so that
// in memory are the matches of a few of them. By verified Jaccard it gathers the candidates of as
// many documents as take a quarter of Options.Memory, with the shingles of their texts, and reads
// each of the stored texts that these need once, in the order in which they lie. Documents that
// very many stored ones look like, as copies of one text or pages of one template do, are compared
// with all of the database, up to 64 of them together, and equal texts that lie side by side once:
// their candidates take a quarter of Options.Memory at most, too, and their matches no more than
// those of one document may. By Contains and Within all stored texts are read once for as many
// documents as take a quarter of Options.Memory, at most 100 bytes a shingle.
func (s *Snapshot) SearchBatch(ctx context.Context, docs []Doc, by Criterion) iter.Seq2[BatchMatch, error] {
	switch {
	case by.by.Near():
		return s.nearBatch(ctx, docs, by, search.ChunkQueries, search.BatchMatches(&s.v))
	case by.by.Verified && len(docs) > 1:
		return s.verifiedBatch(ctx, docs, by)
	case s.together(docs, by):
		return s.containedBatch(ctx, docs, by)
	}
	return s.eachBatch(ctx, docs, by)
}

// nearBatch is SearchBatch by Near in chunks of that many queries, or fewer if they have more
// matches.
func (s *Snapshot) nearBatch(ctx context.Context, docs []Doc, by Criterion, queries, matches int) iter.Seq2[BatchMatch, error] {
	return view.UntilDone(ctx, func(yield func(BatchMatch, error) bool) {
		fps, at, err := s.batchPrints(ctx, docs, by)
		if err != nil {
			yield(BatchMatch{}, err)
			return
		}
		take := yield
		var nearest *nearestBatch
		if s.several(docs, by) {
			nearest = &nearestBatch{most: s.v.Most(nearestBytes), yield: yield}
			take = nearest.take
		}
		err = search.EachBatch(ctx, &s.v, fps, by.by.K, queries, matches, func(query int, m view.Match) bool {
			if at != nil {
				query = at[query]
			}
			return m.ID == docs[query].ID || take(BatchMatch{Query: query, Match: Match(m)}, nil)
		})
		if err == nil && nearest != nil {
			if nearest.flush(); nearest.many {
				err = s.v.OverBudget("documents")
			}
		}
		if err != nil {
			yield(BatchMatch{}, err)
		}
	})
}

// A nearestBatch takes the matches of the fingerprints of each query one after the other. It yields
// of each document that matches several of them the nearest match.
type nearestBatch struct {
	found   []BatchMatch // of one query
	most    int
	many    bool // there is no memory for those of a query
	stopped bool
	yield   func(BatchMatch, error) bool
}

// nearestBytes is about what a match takes that a nearestBatch holds.
const nearestBytes = 128

// take takes a match, and reports whether more are wanted.
func (x *nearestBatch) take(m BatchMatch, _ error) bool {
	if len(x.found) > 0 && x.found[0].Query != m.Query {
		x.flush()
	}
	x.found, x.many = append(x.found, m), len(x.found) == x.most
	return !x.many && !x.stopped
}

// flush yields the matches of a query, best first.
func (x *nearestBatch) flush() {
	if x.many || x.stopped {
		return
	}
	slices.SortFunc(x.found, func(a, b BatchMatch) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(a.Distance, b.Distance))
	})
	x.found = slices.CompactFunc(x.found, func(a, b BatchMatch) bool { return a.ID == b.ID })
	slices.SortStableFunc(x.found, func(a, b BatchMatch) int { return cmp.Compare(a.Distance, b.Distance) })
	for _, m := range x.found {
		if x.stopped = !x.yield(m, nil); x.stopped {
			return
		}
	}
	x.found = x.found[:0]
}

// batchPrints returns the fingerprints of docs, a column a word, and of each its document; at is
// nil if all have one.
func (s *Snapshot) batchPrints(ctx context.Context, docs []Doc, by Criterion) (fps [][]Fingerprint, at []int, err error) {
	fps = make([][]Fingerprint, s.v.Params.NumWords())
	for i := range fps {
		fps[i] = make([]Fingerprint, 0, len(docs))
	}
	n := 0 // documents with the fingerprint of one word that they need, which most batches have alone
	for ; len(fps) == 1 && n < len(docs) && docs[n].Fingerprint != nil && docs[n].Rest == nil && docs[n].Fingerprints == nil; n++ {
		fps[0] = append(fps[0], *docs[n].Fingerprint)
	}
	if err := s.v.CheckCriterion(by.by); err != nil {
		return nil, nil, err
	}
	for i := n; i < len(docs); i++ {
		all, err := s.prints(ctx, &docs[i], by)
		if err != nil {
			return nil, nil, fmt.Errorf("document %d of the batch: %w", i, err)
		}
		if len(all) != 1 && at == nil {
			at = make([]int, i, len(docs))
			for k := range at {
				at[k] = k
			}
		}
		for _, words := range all {
			if at != nil {
				at = append(at, i)
			}
			for j, word := range words {
				fps[j] = append(fps[j], word)
			}
		}
	}
	return fps, at, nil
}

// verifiedBatch is SearchBatch by verified Jaccard.
func (s *Snapshot) verifiedBatch(ctx context.Context, docs []Doc, by Criterion) iter.Seq2[BatchMatch, error] {
	return view.UntilDone(ctx, func(yield func(BatchMatch, error) bool) {
		err := search.EachVerified(ctx, &s.v, len(docs), sampleOf(docs), by.by, func(query int, matches []view.Match) bool {
			for _, m := range matches {
				if !yield(BatchMatch{Query: query, Match: Match(m)}, nil) {
					return false
				}
			}
			return true
		})
		if err != nil {
			yield(BatchMatch{}, err)
		}
	})
}

// An index of containment says of a document what there is to compare in about the time that it
// takes to read indexedTexts texts.
const indexedTexts = 200

// together reports whether documents are found by containment faster by one scan of all texts.
func (s *Snapshot) together(docs []Doc, by Criterion) bool {
	all := uint32(0)
	for i := range s.v.Version.Parts {
		all += s.v.Version.Parts[i].NumDocs()
	}
	return by.by.Text.Contained() && len(docs) > 1 && (!s.v.Params.Sets || len(docs) > int(all)/indexedTexts)
}

// containedBatch is SearchBatch by containment.
func (s *Snapshot) containedBatch(ctx context.Context, docs []Doc, by Criterion) iter.Seq2[BatchMatch, error] {
	return view.UntilDone(ctx, func(yield func(BatchMatch, error) bool) {
		err := s.v.CheckCriterion(by.by)
		if err == nil {
			err = contain.Each(ctx, &s.v, len(docs), sampleOf(docs), by.by, func(i int, id string) bool { return id == docs[i].ID },
				func(m contain.Match) bool { return yield(BatchMatch{Query: m.Sample, Match: Match(m.Match)}, nil) })
		}
		if err != nil {
			yield(BatchMatch{}, err)
		}
	})
}

// sampleOf returns what documents are looked for by.
func sampleOf(docs []Doc) func(i int) search.Sample {
	return func(i int) search.Sample { return docs[i].sample() }
}

// A share of a batch is what one goroutine looks for. It hands its matches over as they come, and
// waits until they are taken once it has shareMatches.
const (
	shareDocs    = 64
	shareMatches = 1 << 12
)

// shareFound is matches of a share, or the error that ends it.
type shareFound struct {
	matches []BatchMatch
	err     error
}

// eachBatch is SearchBatch by searches for one document.
func (s *Snapshot) eachBatch(ctx context.Context, docs []Doc, by Criterion) iter.Seq2[BatchMatch, error] {
	return view.UntilDone(ctx, func(yield func(BatchMatch, error) bool) {
		var running sync.WaitGroup
		defer running.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		shares := (len(docs) + shareDocs - 1) / shareDocs
		found := make([]chan shareFound, min(2*runtime.GOMAXPROCS(0), shares)) // of share i at i%len
		start := func(i int) {
			to := make(chan shareFound, 1)
			found[i%len(found)] = to
			running.Go(func() {
				defer close(to)
				s.searchShare(ctx, docs, i*shareDocs, min((i+1)*shareDocs, len(docs)), by, to)
			})
		}
		for i := range found {
			start(i)
		}
		for i := range shares {
			for f := range found[i%len(found)] {
				for _, m := range f.matches {
					if !yield(m, nil) {
						return
					}
				}
				if f.err != nil {
					yield(BatchMatch{}, f.err)
					return
				}
			}
			if err := ctx.Err(); err != nil { // then a share may not have handed over all
				yield(BatchMatch{}, err)
				return
			}
			if next := i + len(found); next < shares {
				start(next)
			}
		}
	})
}

// searchShare hands over the matches of docs[from:to].
func (s *Snapshot) searchShare(ctx context.Context, docs []Doc, from, to int, by Criterion, found chan<- shareFound) {
	var f shareFound
	hand := func() bool {
		select {
		case found <- f:
			f.matches = nil
			return true
		case <-ctx.Done():
			return false
		}
	}
	for query := from; query < to && f.err == nil; query++ {
		for m, err := range s.Search(ctx, docs[query], by) {
			if err != nil {
				f.err = fmt.Errorf("document %d of the batch: %w", query, err)
				break
			}
			f.matches = append(f.matches, BatchMatch{Query: query, Match: m})
			if len(f.matches) == shareMatches && !hand() {
				return
			}
		}
	}
	if len(f.matches) > 0 || f.err != nil {
		hand()
	}
}
