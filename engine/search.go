package engine

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/simdb/simdb/engine/internal/contain"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
)

// SearchOptions are the options of Search, SearchBatch, Any, Pairs and AddNovel.
type SearchOptions struct {
	// Limit ends the search after this many matches, or pairs; 0 means all. By Near, a Limit of at
	// most 65536 bounds the matches in memory to about twice that many, however many match; this
	// also holds for Pairs. With Near(64), which all documents match, a Limit finds the nearest
	// documents without comparing all; with Jaccard and a threshold near 0, such as 1e-9, it finds
	// the most similar documents that share anything with the query. SearchBatch yields this many
	// matches of each query. Limit has no effect on Any and CountPairs.
	Limit int
	// Unordered yields the matches of a search by Near, and pairs by any criterion, as they are
	// found, without holding them in memory: in an unspecified but reproducible order. It has no
	// effect on searches by other criteria and on SearchBatch. With it, Any does not name matches.
	Unordered bool
	// Stats, if not nil, is increased by the work of a search when it has ended. Concurrent searches
	// may share it; it must not be read while one runs. Pairs does not count its work.
	Stats    *QueryStats
	Progress func(Progress) // called now and then by Pairs and CountPairs; may be nil
	// Together makes Any and AddNovel by Contains(t) compare a document with all others together: it
	// matches if at least the fraction t of its shingles, at each of their positions, is in other
	// documents, however few each has. The Match has no ID, and its Score is that fraction;
	// Any returns it for all documents. It needs the time of reading all texts, or, with
	// Options.Containment, of those that the index does not rule out.
	Together bool
	// Unseen, with Together, is called by Any for each document in order with the runs of its words
	// that no other document has. QueryAt and QueryEnd are offsets in Doc.Text; At is the number of
	// the first word, from 0, and End that of the last one, plus one. Each shingle that no document
	// has is in a run. There are none if shingles are not those of consecutive words.
	Unseen func(i int, runs []Passage)
	// Renew counts Options.TTL from the last sighting: AddNovel gives the document that matches
	// another one the time of that one, if it is later, as a new version of the document.
	Renew bool
}

// counting returns a context whose searches count their work as o.Stats says; o may be nil.
func (o *SearchOptions) counting(ctx context.Context) context.Context {
	if o == nil || o.Stats == nil {
		return ctx
	}
	return search.WithCounts(ctx, (*search.Counts)(o.Stats))
}

// Search yields every visible document that matches doc by the criterion: the best match first,
// then by ID. The query is doc.Text, or, by Near, doc.Fingerprints if they are given. If these are
// empty, the query is the stored document doc.ID, which must exist (ErrNotFound). The document
// stored as doc.ID does not match itself.
//
// By Jaccard the texts decide, and scores are exact: sketches find the candidates, and their texts
// are compared. By Jaccard(t).Estimated, and if no texts are stored, scores are estimated from the
// sketches (minhash.Jaccard), and every score that reaches the threshold is found.
//
// By Levenshtein and Cosine the result is complete, and scores are exact. Search compares
// signatures of the texts, 48 bytes each, and then the texts that these do not rule out. Among
// texts of up to about 200 runes the signatures rule out nearly all. Among longer texts, by
// Levenshtein they rule out those with other lengths; by Cosine they rule out few. The first search
// reads all texts of a table to make its signatures. These occupy up to half of Options.Memory in
// addition, until the table is merged or the database closed. Every search reads all texts of
// tables whose signatures do not fit.
//
// By Contains and Within the result is complete and exact, too. Search reads all texts, or with
// Options.Containment those that the index does not rule out.
//
// Errors are ErrInvalid for an invalid threshold, ErrParams if the criterion needs texts and the
// database stores none, ErrNoSketches, ErrNotFound, ErrTooLarge if the matches exceed
// Options.Memory, ErrClosed, *CorruptionError, and ctx.Err(). An error is the last value yielded.
func (r *Reader) Search(ctx context.Context, doc Doc, by Criterion, o *SearchOptions) iter.Seq2[Match, error] {
	ctx = o.counting(ctx)
	return each(ctx, r, func(s *Snapshot) iter.Seq2[Match, error] { return s.search(ctx, doc, by, *cmp.Or(o, &SearchOptions{})) })
}

// Jaccard is Search by the criterion Jaccard(t).
func (r *Reader) Jaccard(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return r.Search(ctx, doc, Jaccard(t), nil)
}

func (s *Snapshot) search(ctx context.Context, doc Doc, by Criterion, o SearchOptions) iter.Seq2[Match, error] {
	o.Limit = min(max(o.Limit, 0), math.MaxInt-1)
	if err := s.v.CheckText(doc.Text); err != nil {
		return func(yield func(Match, error) bool) { yield(Match{}, err) }
	}
	if by.by.Near() {
		return s.searchNear(ctx, doc, by, o)
	}
	found := s.searchScored(ctx, doc, by, o.Limit)
	if o.Limit > 0 {
		found = view.First(o.Limit, found)
	}
	return found
}

// sample returns the query of a search by texts or sketches.
func (d Doc) sample() search.Sample { return search.Sample{ID: d.ID, Text: d.Text} }

// A scoredScratch holds the buffers of a search by a criterion other than Near.
type scoredScratch struct {
	search.Jaccard
	matches []Match
}

var scoredScratches = sync.Pool{New: func() any { return new(scoredScratch) }}

// release returns the buffers to the pool.
func (sc *scoredScratch) release() {
	sc.Forget()
	scoredScratches.Put(sc)
}

// searchScored is Search by a criterion other than Near. Only the best most matches are wanted, or
// all if most is 0.
func (s *Snapshot) searchScored(ctx context.Context, doc Doc, by Criterion, most int) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		sc := scoredScratches.Get().(*scoredScratch)
		defer sc.release()
		var err error
		if by.by.Jaccard {
			err = s.findFirst(ctx, sc, doc, by, most)
		} else {
			err = sc.FindSimilar(ctx, &s.v, doc.sample(), by.in(s.v.Config))
		}
		if err != nil {
			yield(Match{}, err)
			return
		}
		view.InOrder(ctx, &s.v, &sc.matches, sc.Hits, search.CompareJaccard, jaccardMatch, yield)
	}
}

// findFirst sets sc.Hits to the matches by Jaccard. If most is not 0, it may stop when it has found
// that many, which are then the best. If the index of the tables does not support the threshold, it
// first searches with higher thresholds, for which a scan compares fewer sketches.
func (s *Snapshot) findFirst(ctx context.Context, sc *scoredScratch, doc Doc, by Criterion, most int) error {
	higher, least := by.in(s.v.Config), s.v.Params.MinJaccard
	for t := 0.9; most > 0 && by.by.T < least && t > max(by.by.T, 1/float64(s.v.Params.Sketch)); {
		higher.T = t
		if err := sc.Find(ctx, &s.v, doc.sample(), higher); err != nil || len(sc.Hits) >= most {
			return err
		}
		if t /= 4; t < least && 4*t > least {
			t = least
		}
	}
	return sc.Find(ctx, &s.v, doc.sample(), by.in(s.v.Config))
}

func jaccardMatch(h *search.JaccardHit) Match { return Match(h.Match()) }

// prints returns all fingerprints of the query of a search by Near, with all their words.
func (s *Snapshot) prints(ctx context.Context, doc *Doc, by Criterion) (fps [][]uint64, err error) {
	words, err := s.print(ctx, nil, doc, by)
	if err != nil || words == nil {
		return nil, err
	}
	fps = [][]uint64{words}
	switch {
	case doc.stored(by):
		err := s.v.Safely(ctx, func() error {
			more, err := s.v.Fingerprints(doc.ID)
			fps = append(fps, more...)
			return err
		})
		return fps, err
	case len(doc.Fingerprints) > 1:
		for _, words := range doc.Fingerprints[1:] {
			if err := s.v.CheckWords(len(words)); err != nil {
				return nil, err
			}
			fps = append(fps, words)
		}
	}
	return fps, nil
}

// several reports whether one of docs makes a search by Near look for more than one fingerprint.
func (s *Snapshot) several(docs []Doc, by Criterion) bool {
	return slices.ContainsFunc(docs, func(d Doc) bool { return len(d.Fingerprints) > 1 || s.v.Several && d.stored(by) })
}

// print returns the words of the fingerprint that a search by Near looks for, in buf. It returns
// nil for a text without words, which has no fingerprint.
func (s *Snapshot) print(ctx context.Context, buf []uint64, doc *Doc, by Criterion) (words []uint64, err error) {
	if err := s.v.CheckCriterion(by.in(s.v.Config)); err != nil {
		return nil, err
	}
	switch {
	case len(doc.Fingerprints) > 0:
		words = append(buf[:0], doc.Fingerprints[0]...)
		return words, s.v.CheckWords(len(words))
	case doc.ID == "" && doc.Text == "":
		_, err := s.v.Locate(doc.ID)
		return nil, err
	}
	d, err := s.toMatch(ctx, doc, by)
	if err != nil || !d.HasFingerprint {
		return nil, err
	}
	return append(append(buf[:0], d.Fingerprint), d.Rest...), nil
}

// CountMatches returns how many documents Search yields, whatever the Limit. By Near it neither
// sorts them nor reads their IDs.
func (r *Reader) CountMatches(ctx context.Context, doc Doc, by Criterion, o *SearchOptions) (int64, error) {
	ctx = o.counting(ctx)
	return read(ctx, r, func(s *Snapshot) (int64, error) { return s.countMatches(ctx, doc, by) })
}

func (s *Snapshot) countMatches(ctx context.Context, doc Doc, by Criterion) (n int64, err error) {
	switch {
	case by.by.Near():
		return s.countNear(ctx, &doc, by)
	case !by.by.Jaccard:
		return search.CountSimilar(ctx, &s.v, doc.sample(), by.in(s.v.Config))
	}
	sc := scoredScratches.Get().(*scoredScratch)
	defer sc.release()
	if err := sc.Find(ctx, &s.v, doc.sample(), by.in(s.v.Config)); err != nil {
		return 0, err
	}
	return int64(len(sc.Hits)), nil
}

func (s *Snapshot) countNear(ctx context.Context, doc *Doc, by Criterion) (n int64, err error) {
	fps, err := s.prints(ctx, doc, by)
	if err != nil || fps == nil {
		return 0, err
	}
	sc := nearScratches.Get().(*nearScratch)
	defer sc.release()
	sc.Want.Count = true
	if err := sc.FindAny(ctx, &s.v, fps, by.by.K); err != nil {
		return 0, err
	}
	if n = sc.Found; doc.ID == "" {
		return n, nil
	}
	e, err := s.lookup(ctx, doc.ID)
	if errors.Is(err, files.ErrNotFound) {
		return n, nil
	}
	if e.HasFingerprint && slices.ContainsFunc(fps, func(fp []uint64) bool { return within(&e, fp, by.by.K) }) {
		n--
	}
	return n, err
}

// within reports whether a fingerprint of e differs from fp in at most k bits.
func within(e *view.Entry, fp []uint64, k int) bool {
	own := append([]uint64{e.Fingerprint}, e.Rest...)
	return base.DistanceWords(own, fp) <= k ||
		slices.ContainsFunc(e.Fingerprints, func(own []uint64) bool { return base.DistanceWords(own, fp) <= k })
}

// PartPlan is the plan of a Search for one table or memtable.
type PartPlan struct {
	Part      string // "table 000012.sst", "memtable"; "12 small tables", by Near, have an index in memory
	Documents int    // including dead documents
	// Method is how the part is searched: "probe", for Near, looks up ranges of permuted tables, or
	// values of blocks in memory; "postings", for Jaccard, reads the postings of the query's rarest
	// hashes; "scan" compares all fingerprints, all bitmaps of sketches, or all texts; "signatures",
	// for Levenshtein and Cosine, compares signatures of texts, and reads the texts that they do not
	// rule out; "sign" is the same for a table whose texts must first be read to make their
	// signatures; "index", for Contains and Within, reads entries of the index of containment, and
	// the texts that they do not rule out.
	Method     string
	Radii      []int   // of "probe": the radius of each permuted table, or block, or -1 if it is not probed
	Probes     int     // ranges or values to look up, or postings to read
	Candidates int     // fingerprints or sketches expected to be compared
	Cost       float64 // estimated nanoseconds on one core, without sorting the matches
}

// Plan returns the plan of Search: a part for small tables that are searched together, one for each
// other table, then one for each memtable. It reads directories and postings, but neither bitmaps
// nor sketches, and makes no signatures. Errors are as for Search.
func (r *Reader) Plan(ctx context.Context, doc Doc, by Criterion) ([]PartPlan, error) {
	return read(ctx, r, func(s *Snapshot) ([]PartPlan, error) { return s.plan(ctx, doc, by) })
}

func (s *Snapshot) plan(ctx context.Context, doc Doc, by Criterion) ([]PartPlan, error) {
	var parts []search.PartPlan
	var err error
	switch {
	case by.by.Jaccard:
		parts, err = search.PlanJaccard(ctx, &s.v, doc.sample(), by.in(s.v.Config))
	case by.by.Near():
		fp, failed := s.print(ctx, nil, &doc, by)
		if failed != nil || fp == nil {
			return nil, failed
		}
		parts, err = search.PlanNear(ctx, &s.v, fp, by.by.K)
	default:
		parts, err = search.PlanSimilar(ctx, &s.v, doc.sample(), by.in(s.v.Config))
	}
	return partPlans(parts), err
}

// partPlans converts plans to those of the API.
func partPlans(parts []search.PartPlan) (plans []PartPlan) {
	for _, p := range parts {
		plans = append(plans, PartPlan{p.Part, p.Documents, p.Method, p.Radii, p.Probes, p.Candidates, p.Cost})
	}
	return plans
}

// Any reports for each of docs whether a visible document matches it by the criterion. Queries are
// as in Search, except that a document without a text, a fingerprint and an ID matches nothing. The
// document doc.ID does not match itself, nor do documents that SetAllowed has recorded with it.
//
// Unless SearchOptions.Unordered is set, Any also returns the matches that PutNovel would name: for
// each of docs the best match, or among equally good ones the match with the smallest ID; if more
// than a few dozen match, the best of the first ones found; the zero Match if none matches.
//
// Each search ends with its first matches, so large numbers of matches do not slow it down, and Any
// uses all processors. By Near, documents without IDs share one walk through each table, as in
// SearchBatch, if Unordered. By Jaccard the stored texts that are needed are read in
// storage order. Any holds in memory a copy of the texts of up to 32,768 of docs, their sketches,
// their sets of shingles, and up to an eighth of Options.Memory. docs must not change meanwhile.
func (r *Reader) Any(ctx context.Context, docs []Doc, by Criterion, o *SearchOptions) (known []bool, best []Match, err error) {
	if o == nil || !o.Unordered {
		best = make([]Match, len(docs))
	}
	ctx = o.counting(ctx)
	known, err = read(ctx, r, func(s *Snapshot) ([]bool, error) {
		if o != nil && o.Together {
			return s.seenTogether(ctx, docs, by, best, o.Unseen)
		}
		return s.any(ctx, docs, by, best)
	})
	return known, best, err
}

// any is Any. If named is not nil, any sets its elements to the matches that PutNovel would name.
func (s *Snapshot) any(ctx context.Context, docs []Doc, by Criterion, named []Match) ([]bool, error) {
	stored := func(d Doc) bool { return d.ID != "" }
	if by.by.Near() && named == nil && len(docs) > 1 && !s.several(docs, by) && !slices.ContainsFunc(docs, stored) {
		fps, at, err := s.batchPrints(ctx, docs, by, true)
		if err != nil {
			return nil, err
		}
		known, err := search.AnyNear(ctx, &s.v, fps, by.by.K)
		if at == nil {
			return known, err
		}
		all := make([]bool, len(docs))
		for i, k := range known {
			all[at[i]] = k
		}
		return all, err
	}
	if by.by.Near() && s.several(docs, by) {
		return s.anyOf(ctx, docs, by, named)
	}
	if s.together(docs, by) {
		return s.anyContained(ctx, docs, by, named)
	}
	document, err := s.allToMatch(ctx, docs, by)
	if err != nil {
		return nil, err
	}
	var found []view.Match
	if named != nil {
		found = make([]view.Match, len(docs))
	}
	known, err := search.AnyMatches(ctx, &s.v, len(docs), document, by.in(s.v.Config), novelMatches, found)
	for i, m := range found {
		named[i] = Match(m)
	}
	return known, err
}

// anyContained is Any by Contains and Within.
func (s *Snapshot) anyContained(ctx context.Context, docs []Doc, by Criterion, named []Match) ([]bool, error) {
	if err := s.v.CheckCriterion(by.in(s.v.Config)); err != nil {
		return nil, err
	}
	most := 1
	if named != nil {
		most = novelMatches
	}
	first, err := contain.First(ctx, &s.v, len(docs), sampleOf(docs), by.in(s.v.Config), most, func(i int, id string) bool {
		return id == docs[i].ID || s.v.Allowed.Has(id, docs[i].ID)
	})
	known := make([]bool, len(docs))
	for i, m := range first {
		if known[i] = m.Sample >= 0; known[i] && named != nil {
			named[i] = Match(m.Match)
		}
	}
	return known, err
}

// anyOf is Any by Near if some of docs have several fingerprints.
func (s *Snapshot) anyOf(ctx context.Context, docs []Doc, by Criterion, named []Match) ([]bool, error) {
	known := make([]bool, len(docs))
	for i := range docs {
		if docs[i].ID == "" && docs[i].Text == "" && len(docs[i].Fingerprints) == 0 {
			continue
		}
		fps, err := s.prints(ctx, &docs[i], by)
		if err != nil {
			return nil, err
		}
		m, found, err := search.AnyMatch(ctx, &s.v, &table.Document{ID: []byte(docs[i].ID)}, fps, by.in(s.v.Config), novelMatches)
		if err != nil {
			return nil, err
		}
		if known[i] = found; named != nil {
			named[i] = Match(m)
		}
	}
	return known, nil
}

// toMatch returns the query for doc by a criterion.
func (s *Snapshot) toMatch(ctx context.Context, doc *Doc, by Criterion) (d table.Document, err error) {
	if doc.stored(by) {
		err = s.v.Safely(ctx, func() (err error) { d, err = doc.sample().Stored(&s.v); return err })
		return d, err
	}
	d = table.Document{ID: []byte(doc.ID), Text: []byte(doc.Text)}
	if fps := doc.Fingerprints; by.by.Near() && len(fps) > 0 {
		if err := s.v.CheckWords(len(fps[0])); err != nil {
			return d, err
		}
		d.Fingerprint, d.Rest, d.HasFingerprint = fps[0][0], fps[0][1:], true
	}
	if by.by.Jaccard || by.by.Near() && !d.HasFingerprint {
		s.v.Texts.Fill(&d, doc.Text)
	}
	return d, nil
}

// stored reports whether the query is the stored document of the ID.
func (d *Doc) stored(by Criterion) bool {
	return d.ID != "" && d.Text == "" && (len(d.Fingerprints) == 0 || !by.by.Near())
}

// allToMatch returns a function that returns the query for docs[i].
func (s *Snapshot) allToMatch(ctx context.Context, docs []Doc, by Criterion) (func(i int) table.Document, error) {
	if err := s.v.CheckCriterion(by.in(s.v.Config)); err != nil {
		return nil, err
	}
	stored := map[int]table.Document{}
	for i := range docs {
		if docs[i].stored(by) || len(docs[i].Fingerprints) > 0 {
			d, err := s.toMatch(ctx, &docs[i], by)
			if err != nil {
				return nil, err
			}
			stored[i] = d
		}
	}
	return func(i int) table.Document {
		if d, ok := stored[i]; ok {
			return d
		}
		d, _ := s.toMatch(ctx, &docs[i], by) // stored documents and wrong fingerprints, which can fail, are above
		return d
	}, nil
}
