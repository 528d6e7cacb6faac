package verbs

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/fingerprint"
)

const (
	summaryLargest = 10   // clusters that are looked at, and edges that are listed
	summaryMembers = 64   // members of a cluster that are compared with each other
	summaryDocs    = 1000 // documents in which shingles are counted
	summaryShared  = 5    // shingles and fingerprints that are listed
)

// summaryColumns are those of the rows of clusters --summary. What does not apply is null.
var summaryColumns = []string{"figure", "id", "other", "size", "value", "exact"}

// clusterSummary are figures of all clusters, as their members come in order.
type clusterSummary struct {
	by       app.SimilarityFlags
	rng      *rand.Rand
	clusters int64
	members  int64
	sizes    [64]int64 // clusters by the length of their size in bits
	now      summarized
	largest  []summarized // the first ones
	weakest  []weakEdge   // in order
}

// summarized is a cluster: its keeper, how many documents it has, the worst edge, and a sample of
// members.
type summarized struct {
	keeper string
	size   int64
	worst  engine.Match
	sample []string
}

// weakEdge is a member that is little like its keeper.
type weakEdge struct {
	keeper string
	engine.Match
}

func newSummary(by app.SimilarityFlags) *clusterSummary {
	return &clusterSummary{by: by, rng: rand.New(rand.NewPCG(1, 2))}
}

// worse compares matches: the one that is less alike comes first.
func (s *clusterSummary) worse(a, b engine.Match) int {
	return cmp.Or(cmp.Compare(b.Distance, a.Distance), cmp.Compare(a.Score, b.Score), cmp.Compare(a.ID, b.ID))
}

// add takes the next member.
func (s *clusterSummary) add(m engine.Member) {
	if m.Keep {
		s.end()
		s.now = summarized{keeper: m.ID}
	} else {
		if s.now.size == 1 || s.worse(m.Match, s.now.worst) < 0 {
			s.now.worst = m.Match
		}
		s.weak(weakEdge{s.now.keeper, m.Match})
	}
	s.now.size++
	s.members++
	if s.clusters >= summaryLargest {
		return
	}
	at := int64(len(s.now.sample))
	if at == summaryMembers {
		if at = s.rng.Int64N(s.now.size); at >= summaryMembers {
			return
		}
		s.now.sample[at] = m.ID
		return
	}
	s.now.sample = append(s.now.sample, m.ID)
}

// weak keeps an edge if it is one of the weakest.
func (s *clusterSummary) weak(e weakEdge) {
	n := len(s.weakest)
	if n == summaryLargest && s.worse(e.Match, s.weakest[n-1].Match) > 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(s.weakest, e, func(a, b weakEdge) int { return s.worse(a.Match, b.Match) })
	s.weakest = slices.Insert(s.weakest, at, e)[:min(n+1, summaryLargest)]
}

// end ends the cluster.
func (s *clusterSummary) end() {
	if s.now.size == 0 {
		return
	}
	s.clusters++
	s.sizes[bits.Len64(uint64(s.now.size))]++
	if len(s.largest) < summaryLargest {
		s.largest = append(s.largest, s.now)
	}
	s.now = summarized{}
}

// measure is how alike two documents are, by the criterion.
func (s *clusterSummary) measure(m engine.Match) float64 {
	if s.by.Near != nil {
		return float64(m.Distance)
	}
	return app.Rounded(m.Score, 4)
}

// diameter is the worst match of any two of some members of a cluster, by their IDs; false if it is
// not known.
type diameter func(ids []string) (float64, bool, error)

// shared are what many documents share: fingerprints of all documents, shingles of a sample.
type shared struct {
	prints, shingles []corpus.Shared
	sampled          int  // documents with texts
	exact            bool // they are all there are
}

// rows writes the figures.
func (s *clusterSummary) rows(row func(...any) error, across diameter, hot shared) error {
	s.end()
	all := [][]any{{"clusters", nil, nil, nil, s.clusters, true}, {"documents in clusters", nil, nil, nil, s.members, true}}
	for n, count := range s.sizes {
		if lo, hi := int64(1)<<max(n-1, 0), int64(1)<<n-1; count > 0 {
			all = append(all, []any{fmt.Sprintf("clusters of %d to %d", max(lo, 2), hi), nil, nil, nil, count, true})
		}
	}
	for _, c := range s.largest {
		all = append(all, []any{"largest cluster, weakest edge", c.keeper, c.worst.ID, c.size, s.measure(c.worst), s.by.Near != nil || c.worst.Exact})
	}
	for _, c := range s.largest {
		worst, known, err := across(c.sample)
		if err != nil {
			return err
		}
		if known {
			all = append(all, []any{"largest cluster, diameter", c.keeper, nil, int64(len(c.sample)), app.Rounded(worst, 4), int64(len(c.sample)) == c.size})
		}
	}
	for _, e := range s.weakest {
		all = append(all, []any{"weakest edge", e.keeper, e.ID, nil, s.measure(e.Match), s.by.Near != nil || e.Exact})
	}
	for _, h := range hot.prints {
		all = append(all, []any{"shared fingerprint", nil, fmt.Sprintf("%016x", h.Hash), nil, h.Documents, true})
	}
	for _, h := range hot.shingles {
		all = append(all, []any{"shared shingle", h.ID, cmp.Or(h.Text, fmt.Sprintf("%016x", h.Hash)), int64(hot.sampled), h.Documents, hot.exact})
	}
	for _, r := range all {
		if err := row(r...); err != nil {
			return err
		}
	}
	return nil
}

// summaryOfList writes the figures of clusters of files, or of a sample.
func (c *Clusters) summaryOfList(a *app.App, l *fileList, found *corpus.Clusters) error {
	s := newSummary(c.SimilarityFlags)
	if err := found.Each(a.Context(), func(m engine.Member) bool { s.add(m); return true }); err != nil {
		return err
	}
	across := func(ids []string) (float64, bool, error) {
		docs := make([]uint32, len(ids))
		for i, id := range ids {
			docs[i], _ = l.Find(id)
		}
		worst, err := l.Diameter(a.Context(), docs, l.by)
		return worst, true, err
	}
	hot := shared{prints: corpus.HotPrints(l.WordPrints(), summaryShared)}
	if l.texts != nil {
		if err := hot.count(a.Context(), l.texts.Documents(), l.params); err != nil {
			return err
		}
	}
	return c.writeSummary(a, s, across, hot)
}

// count counts shingles in a sample of documents, of which some have texts. Their order does not
// matter.
func (h *shared) count(ctx context.Context, docs []engine.Doc, p fingerprint.Params) (err error) {
	h.exact = len(docs) < summaryDocs
	docs = slices.DeleteFunc(docs, func(d engine.Doc) bool { return d.Text == "" })
	slices.SortFunc(docs, func(a, b engine.Doc) int { return cmp.Compare(a.ID, b.ID) })
	h.sampled = len(docs)
	h.shingles, err = corpus.HotShingles(ctx, docs, p, summaryShared)
	return err
}

func (c *Clusters) writeSummary(a *app.App, s *clusterSummary, across diameter, hot shared) error {
	_, err := a.Rows(c.RowFlags, summaryColumns, func(row func(...any) error) error { return s.rows(row, across, hot) })
	return app.FoundOr(s.clusters > 0, err)
}

// summaryOfDB writes the figures of clusters of a database.
func (c *Clusters) summaryOfDB(a *app.App, db *engine.DB, by engine.Criterion, o *engine.ClusterOptions) (err error) {
	snap, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	s := newSummary(c.SimilarityFlags)
	for m, err := range snap.Clusters(a.Context(), by, o) {
		if err != nil {
			return err
		}
		s.add(m)
	}
	spec, err := features.Spec(db.Params().Features).Canonical()
	if err != nil {
		return err
	}
	p := fingerprint.Params{Shingle: db.Params().Shingle, Features: spec}
	hot, err := sharedInDB(a, snap, p, db.Params().Text)
	if err != nil {
		return err
	}
	a.EndProgress()
	return c.writeSummary(a, s, c.acrossDB(a, snap, p, db.Params().Text), hot)
}

// acrossDB compares documents of a database with each other: by fingerprints, or by the texts where
// they are kept.
func (c *Clusters) acrossDB(a *app.App, snap *engine.Snapshot, p fingerprint.Params, texts bool) diameter {
	return func(ids []string) (worst float64, known bool, err error) {
		by := corpus.Criterion{Sets: c.Near == nil}
		if c.Near == nil && (c.Jaccard == nil || !texts) {
			return 0, false, nil
		}
		some := corpus.New(corpus.Options{Sets: by.Sets, Prints: !by.Sets, Memory: math.MaxInt32})
		defer some.Close()
		x := corpus.NewExtractor(a.Context(), p, some)
		defer x.Stop()
		for _, id := range ids {
			var d engine.Doc
			if by.Sets {
				d, err = snap.Get(a.Context(), id)
			} else {
				var e engine.Entry
				e, err = snap.Lookup(a.Context(), id)
				d.Fingerprint = &e.Fingerprint
			}
			if err == nil {
				err = x.Add(&d)
			}
			if err != nil {
				return 0, false, err
			}
		}
		if err := x.Finish(); err != nil {
			return 0, false, err
		}
		docs := make([]uint32, some.N)
		for i := range docs {
			docs[i] = uint32(i)
		}
		worst, err = some.Diameter(a.Context(), docs, by)
		return worst, true, err
	}
}

// sharedInDB looks for what documents of a database share: fingerprints of all, shingles of some.
func sharedInDB(a *app.App, snap *engine.Snapshot, p fingerprint.Params, texts bool) (hot shared, err error) {
	var prints []engine.Fingerprint
	sample := corpus.NewSample(summaryDocs, 1, math.MaxInt64)
	for e, err := range snap.EntriesUnordered(a.Context(), "") {
		if err == nil && texts {
			err = sample.Add(&engine.Doc{ID: e.ID})
		}
		if err != nil {
			return hot, err
		}
		if e.HasFingerprint {
			prints = append(prints, e.Fingerprint)
		}
	}
	hot.prints = corpus.HotPrints(prints, summaryShared)
	docs := sample.Documents()
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
	}
	err = snap.GetEach(a.Context(), ids, func(i int, d engine.Doc) error {
		docs[i].Text = d.Text
		return nil
	})
	if err == nil {
		err = hot.count(a.Context(), docs, p)
	}
	return hot, err
}
