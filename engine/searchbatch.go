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

// SearchBatch yields for every document of docs the results of Search. Matches come by query, those
// of each query best first, then by ID. If the query of one of docs fails, for example with
// ErrNotFound, the batch ends with an error that names its position. docs must not change
// meanwhile.
//
// By Near, a batch of some ten thousand fingerprints or more shares one walk through each table, in
// a fraction of the time of single searches; if k is large or the tables are small, smaller batches
// do too. Below that, queries run one by one. A batch runs in chunks of a million queries, or fewer
// if they find more than four million documents or more than Options.Memory can hold. A chunk needs
// 60 bytes per query and 60 bytes and the ID per match; the fingerprints of all queries stay in
// memory. If a single query exceeds these limits, it is repeated for each part of its matches that
// fits; if it has several fingerprints, the error is ErrTooLarge. A batch by Near uses one
// processor; several goroutines can search its parts.
//
// By other criteria SearchBatch uses all processors and searches for several documents at a time,
// so that memory holds the matches of a few documents. By Jaccard it gathers the
// candidates of as many documents as fit into a quarter of Options.Memory, with the shingles of
// their texts, and reads each stored text that these need once, in storage order. Some documents
// resemble very many stored ones, such as copies of one text or pages of one template. Up to 64
// such documents are compared with the whole database together, and a run of equal stored texts is
// compared once: their candidates also need at most a quarter of Options.Memory, and their matches
// no more memory than the matches of one document. By Contains and Within all stored texts are read
// once for as many documents as fit into a quarter of Options.Memory, at no more than 100 bytes per
// shingle.
func (r *Reader) SearchBatch(ctx context.Context, docs []Doc, by Criterion, o *SearchOptions) iter.Seq2[Match, error] {
	ctx = o.counting(ctx)
	return each(ctx, r, func(s *Snapshot) iter.Seq2[Match, error] {
		if o == nil || o.Limit <= 0 {
			return s.searchBatch(ctx, docs, by)
		}
		return firstOfEach(o.Limit, s.searchBatch(ctx, docs, by))
	})
}

// firstOfEach passes the first n matches of each query.
func firstOfEach(n int, all iter.Seq2[Match, error]) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		query, given := -1, 0
		for m, err := range all {
			if m.Query != query {
				query, given = m.Query, 0
			}
			if given++; given > n && err == nil {
				continue
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

func (s *Snapshot) searchBatch(ctx context.Context, docs []Doc, by Criterion) iter.Seq2[Match, error] {
	switch {
	case by.by.Near():
		return s.nearBatch(ctx, docs, by, search.ChunkQueries, search.BatchMatches(&s.v))
	case len(docs) > 1 && by.in(s.v.Config).Verified:
		return s.verifiedBatch(ctx, docs, by)
	case s.together(docs, by):
		return s.containedBatch(ctx, docs, by)
	}
	return s.eachBatch(ctx, docs, by)
}

// nearBatch is SearchBatch by Near in chunks of the given number of queries, or fewer if they have
// more than the given number of matches.
func (s *Snapshot) nearBatch(ctx context.Context, docs []Doc, by Criterion, queries, matches int) iter.Seq2[Match, error] {
	return view.UntilDone(ctx, func(yield func(Match, error) bool) {
		fps, at, err := s.batchPrints(ctx, docs, by, false)
		if err != nil {
			yield(Match{}, err)
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
			return m.ID == docs[query].ID || take(batchMatch(query, m), nil)
		})
		if err == nil && nearest != nil {
			if nearest.flush(); nearest.many {
				err = s.v.OverBudget("documents")
			}
		}
		if err != nil {
			yield(Match{}, err)
		}
	})
}

// A nearestBatch receives the matches of the fingerprints of each query, one fingerprint at a time.
// For each document that matches several of these fingerprints, it yields the nearest match.
type nearestBatch struct {
	found   []Match // matches of the current query
	most    int
	many    bool // the matches of a query exceed most
	stopped bool
	yield   func(Match, error) bool
}

// nearestBytes is about the memory of a match in a nearestBatch.
const nearestBytes = 128

// take adds a match, and reports whether more are wanted.
func (x *nearestBatch) take(m Match, _ error) bool {
	if len(x.found) > 0 && x.found[0].Query != m.Query {
		x.flush()
	}
	x.found, x.many = append(x.found, m), len(x.found) == x.most
	return !x.many && !x.stopped
}

// flush yields the matches of the current query, best first.
func (x *nearestBatch) flush() {
	if x.many || x.stopped {
		return
	}
	slices.SortFunc(x.found, func(a, b Match) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(a.Distance, b.Distance))
	})
	x.found = slices.CompactFunc(x.found, func(a, b Match) bool { return a.ID == b.ID })
	slices.SortStableFunc(x.found, func(a, b Match) int { return cmp.Compare(a.Distance, b.Distance) })
	for _, m := range x.found {
		if x.stopped = !x.yield(m, nil); x.stopped {
			return
		}
	}
	x.found = x.found[:0]
}

// batchPrints returns the fingerprints of docs, one column per word, and the index in docs of each;
// at is nil if each document has exactly one. A document without text, fingerprint and ID is an
// error, unless empty is set.
func (s *Snapshot) batchPrints(ctx context.Context, docs []Doc, by Criterion, empty bool) (fps [][]uint64, at []int, err error) {
	fps = make([][]uint64, s.v.Params.NumWords())
	for i := range fps {
		fps[i] = make([]uint64, 0, len(docs))
	}
	n := 0 // leading documents with one fingerprint of one word, which is the common case
	for ; len(fps) == 1 && n < len(docs) && len(docs[n].Fingerprints) == 1 && len(docs[n].Fingerprints[0]) == 1; n++ {
		fps[0] = append(fps[0], docs[n].Fingerprints[0][0])
	}
	if err := s.v.CheckCriterion(by.in(s.v.Config)); err != nil {
		return nil, nil, err
	}
	for i := n; i < len(docs); i++ {
		var all [][]uint64
		if d := &docs[i]; !empty || d.ID != "" || d.Text != "" || len(d.Fingerprints) > 0 {
			all, err = s.prints(ctx, d, by)
		}
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

// verifiedBatch is SearchBatch by Jaccard, if texts decide.
func (s *Snapshot) verifiedBatch(ctx context.Context, docs []Doc, by Criterion) iter.Seq2[Match, error] {
	return view.UntilDone(ctx, func(yield func(Match, error) bool) {
		err := search.EachVerified(ctx, &s.v, len(docs), sampleOf(docs), by.in(s.v.Config), func(query int, matches []view.Match) bool {
			for _, m := range matches {
				if !yield(batchMatch(query, m), nil) {
					return false
				}
			}
			return true
		})
		if err != nil {
			yield(Match{}, err)
		}
	})
}

// indexedTexts is the number of texts that can be read in the time that the index of containment
// needs to find the candidates of one document.
const indexedTexts = 200

// together reports whether one scan of all texts finds the matches of docs by containment faster
// than the index.
func (s *Snapshot) together(docs []Doc, by Criterion) bool {
	return by.by.Text.Contained() && len(docs) > 1 && (!s.v.Params.Sets || len(docs) > s.v.Version.NumDocs()/indexedTexts)
}

// containedBatch is SearchBatch by Contains and Within.
func (s *Snapshot) containedBatch(ctx context.Context, docs []Doc, by Criterion) iter.Seq2[Match, error] {
	return view.UntilDone(ctx, func(yield func(Match, error) bool) {
		err := s.v.CheckCriterion(by.in(s.v.Config))
		if err == nil {
			err = contain.Each(ctx, &s.v, len(docs), sampleOf(docs), by.in(s.v.Config), func(i int, id string) bool { return id == docs[i].ID },
				func(m contain.Match) bool { return yield(batchMatch(m.Sample, m.Match), nil) })
		}
		if err != nil {
			yield(Match{}, err)
		}
	})
}

// batchMatch returns a match of a query of a batch.
func batchMatch(query int, m view.Match) Match {
	m.Query = query
	return Match(m)
}

// sampleOf returns a function that returns the query of docs[i].
func sampleOf(docs []Doc) func(i int) search.Sample {
	return func(i int) search.Sample { return docs[i].sample() }
}

// One goroutine searches for a share of a batch, shareDocs documents. It sends matches in groups of
// shareMatches, and waits until the consumer has received each group.
const (
	shareDocs    = 64
	shareMatches = 1 << 12
)

// shareFound holds matches of a share, or the error that ends it.
type shareFound struct {
	matches []Match
	err     error
}

// eachBatch is SearchBatch by one search per document.
func (s *Snapshot) eachBatch(ctx context.Context, docs []Doc, by Criterion) iter.Seq2[Match, error] {
	return view.UntilDone(ctx, func(yield func(Match, error) bool) {
		var running sync.WaitGroup
		defer running.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		shares := (len(docs) + shareDocs - 1) / shareDocs
		found := make([]chan shareFound, min(2*runtime.GOMAXPROCS(0), shares)) // results of share i at i%len
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
					yield(Match{}, f.err)
					return
				}
			}
			if err := ctx.Err(); err != nil { // then a share may not have sent all of its matches
				yield(Match{}, err)
				return
			}
			if next := i + len(found); next < shares {
				start(next)
			}
		}
	})
}

// searchShare sends the matches of docs[from:to].
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
		for m, err := range s.search(ctx, docs[query], by, SearchOptions{}) {
			if err != nil {
				f.err = fmt.Errorf("document %d of the batch: %w", query, err)
				break
			}
			m.Query = query
			f.matches = append(f.matches, m)
			if len(f.matches) == shareMatches && !hand() {
				return
			}
		}
	}
	if len(f.matches) > 0 || f.err != nil {
		hand()
	}
}
