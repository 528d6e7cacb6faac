package search

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/minhash"
)

// A JaccardHit is a visible document with a score. Its id aliases the table or memtable.
type JaccardHit struct {
	id []byte
	minhash.Score
	view.Place
}

// Match converts the hit for callers.
func (h *JaccardHit) Match() view.Match { return scored(string(h.id), h.Score) }

func scored(id string, s minhash.Score) view.Match {
	return view.Match{ID: id, Score: s.Score, Error: s.Error, Exact: s.Exact}
}

// CompareJaccard orders hits by score, the highest first, then by ID.
func CompareJaccard(a, b JaccardHit) int {
	if c := cmp.Compare(b.Score.Score, a.Score.Score); c != 0 {
		return c
	}
	return bytes.Compare(a.id, b.id)
}

// A Sample is the query of a search by Jaccard or by texts: a text, or, if that is empty, the
// stored document with the ID. The document stored under the ID does not match.
type Sample struct{ ID, Text string }

// sketch returns the sketch of the query. It returns ErrNotFound if there is no stored document
// with the ID.
func (sample Sample) sketch(v *view.View) (minhash.Sketch, error) {
	if err := v.NeedSketches(); err != nil {
		return nil, err
	}
	if sample.Text != "" {
		var s view.Sums
		v.Texts.Sum(&s, sample.Text)
		return s.Sketch, nil
	}
	p, err := v.Locate(sample.ID)
	if err == nil {
		err = p.Announce(table.PartSketch | table.PartText)
	}
	if err != nil {
		return nil, err
	}
	return p.Sketch(nil)
}

// ReadText returns the text of the query. It returns ErrNotFound if there is no stored document
// with the ID.
func (sample Sample) ReadText(v *view.View) ([]byte, error) {
	if sample.Text != "" {
		return []byte(sample.Text), nil
	}
	p, err := v.Locate(sample.ID)
	if err != nil {
		return nil, err
	}
	var scratch []byte
	return p.Text(&scratch)
}

// Stored returns a copy of the stored document with the ID, or ErrNotFound if there is none.
func (sample Sample) Stored(v *view.View) (d table.Document, err error) {
	p, err := v.Locate(sample.ID)
	if err == nil {
		err = p.Announce(table.PartSketch | table.PartText)
	}
	if err != nil {
		return d, err
	}
	e, err := p.EntryOf(sample.ID)
	if err != nil {
		return d, err
	}
	d = table.Document{ID: []byte(sample.ID), Fingerprint: e.Fingerprint, Rest: e.Rest, HasFingerprint: e.HasFingerprint}
	if d.Sketch, err = p.Sketch(nil); err != nil || v.NeedTexts() != nil {
		return d, err
	}
	var scratch []byte
	text, err := p.Text(&scratch)
	d.Text = slices.Clone(text)
	return d, err
}

// A Jaccard holds the buffers of searches by Jaccard, one at a time. The zero value is ready to
// use; it serves one goroutine.
type Jaccard struct {
	v     *view.View
	table table.JaccardSearcher
	raw   []table.JaccardHit
	index memindex.Searcher
	mem   []uint32
	sets  *features.SetHasher
	of    *view.Hasher    // sets is one of its hashers
	mine  features.Hashes // set of the query, if texts decide
	Hits  []JaccardHit    // the results, in no particular order
	// few, if not 0, ends a search with errCrowded if more sketches of a table, or more candidates,
	// must be compared.
	few  int
	work Counts
}

var jaccardPool = sync.Pool{New: func() any { return new(Jaccard) }}

// Forget clears references, so that a pooled Jaccard holds no tables. The buffers remain.
func (q *Jaccard) Forget() {
	clear(q.Hits)
	q.v = nil
}

// Find sets q.Hits to all visible documents of v that match the sample by a Jaccard criterion,
// except the one stored under its ID.
func (q *Jaccard) Find(ctx context.Context, v *view.View, sample Sample, by view.Criterion) (err error) {
	if err := v.Usable(ctx); err != nil {
		return err
	}
	defer v.Unguard(vfs.Guard(), &err)
	if err := q.findCandidates(ctx, v, sample, by); err != nil || !by.Verified {
		return err
	}
	return q.verify(ctx, by.T)
}

// findCandidates sets q.Hits to the results of Find, or, for a verified criterion, to all documents
// that may match, and q.mine to the set of the sample.
func (q *Jaccard) findCandidates(ctx context.Context, v *view.View, sample Sample, by view.Criterion) error {
	if by.Verified {
		if err := v.NeedTexts(); err != nil {
			return err
		}
	}
	sketch, err := sample.sketch(v)
	if err != nil {
		return err
	}
	q.mine = nil
	var mine func() features.Hashes
	if by.Verified && len(sketch) > 0 {
		text, err := sample.ReadText(v)
		if err != nil {
			return err
		}
		if q.of != v.Texts {
			q.of, q.sets = v.Texts, v.Texts.Sets()
		}
		q.mine = q.sets.Set(text)
		mine = func() features.Hashes { return q.mine }
	}
	return q.bySketch(ctx, v, newTarget(v, sketch, mine, by), sample.ID)
}

// A target is the set that a search compares sketches with.
type target struct {
	sketch   minhash.Sketch
	t        float64 // threshold for estimates
	real     float64 // threshold for texts, which then decide; 0 if estimates do
	collided float64 // threshold for exact estimates, if texts decide

	odd func() *oddsketch.Query // rejects documents by their odd sketches; nil if it is unknown
}

// query returns the search of a table for the target.
func (x *target) query() table.JaccardQuery {
	return table.JaccardQuery{Sketch: x.sketch, T: x.t, Odd: x.odd}
}

// rejects reports whether the odd sketch of a document in memory rejects it.
func (x *target) rejects(d *view.MemDoc) bool {
	if x.odd == nil || d.Odd == nil {
		return false
	}
	_, ok := x.odd().Differ(d.Odd)
	return !ok
}

// newTarget returns the target for a sketch and a criterion. set returns the set of the query's
// features, and is called when that is needed; nil if it is unknown, or if estimates decide. If texts decide, documents have to be
// found whose similarity is t or more, whatever their estimate: estimates from full sketches have
// errors, and may be as low as minhash.LeastScore. Other sketches are whole sets, except that two
// features may share the 32 bits of a hash; thresholds allow for one such pair. A query with fewer
// than t N hashes cannot have that similarity with a document whose sketch is full: such a document
// has at least N features, and the similarity of sets is at most the ratio of their sizes.
func newTarget(v *view.View, sketch minhash.Sketch, set func() features.Hashes, by view.Criterion) target {
	x := target{sketch: sketch, t: by.T}
	if !by.Verified || by.T > 1 || !(by.T > 0) { // bySketch refuses an invalid threshold
		return x
	}
	n := int(v.Params.Sketch)
	x.real = by.T
	if set != nil && v.Texts.Odd() {
		x.odd = sync.OnceValue(func() *oddsketch.Query { return oddsketch.NewQuery(set(), by.T) })
	}
	x.collided = max(by.T-(1-by.T)/float64(max(len(sketch), 1)), 0.5/float64(n))
	if x.t = x.collided; float64(len(sketch)+1) >= by.T*float64(n) {
		x.t = min(x.t, minhash.LeastScore(n, by.T))
	}
	return x
}

// accepts reports whether a document that reaches the threshold x.t by its estimate matches, or may
// match by its text.
func (x *target) accepts(s minhash.Score) bool {
	switch {
	case x.real == 0:
		return true
	case s.Exact:
		return s.Score >= x.collided
	}
	return s.MayReach(x.real)
}

// bySketch sets q.Hits to all visible documents that match a target, or may match by their texts, in
// no particular order, except the one whose ID is except.
func (q *Jaccard) bySketch(ctx context.Context, v *view.View, x target, except string) error {
	q.v, q.Hits = v, q.Hits[:0]
	if err := v.NeedSketches(); err != nil {
		return err
	}
	if err := view.CheckThreshold(x.t); err != nil {
		return err
	}
	if len(x.sketch) == 0 {
		return nil // no words: nothing matches
	}
	q.work = Counts{}
	err := q.all(ctx, &x, except)
	q.work.Matches += int64(len(q.Hits))
	q.work.report(ctx)
	return err
}

// all searches the tables, then the memtables.
func (q *Jaccard) all(ctx context.Context, x *target, except string) error {
	for i := range q.v.Version.Parts {
		if err := q.part(ctx, &q.v.Version.Parts[i], x, except); err != nil {
			return err
		}
	}
	for _, m := range q.v.Mems {
		q.memtable(m, x, except)
	}
	if q.few > 0 && len(q.Hits) > q.few {
		return errCrowded
	}
	return ctx.Err()
}

// part searches a table.
func (q *Jaccard) part(ctx context.Context, p *view.Part, x *target, except string) (err error) {
	q.table.TakeStats()
	most := math.MaxInt
	if q.few > 0 {
		most = q.few - len(q.Hits)
	}
	var few bool
	if q.raw, few, err = q.table.JaccardFew(p.Reader, x.query(), most, q.raw[:0]); err != nil {
		return err
	}
	q.work.Tables++
	found := q.table.TakeStats()
	q.work.Probes += int64(found.Postings)
	q.work.Candidates += int64(found.Candidates)
	if !few {
		return errCrowded
	}
	if len(q.Hits)+len(q.raw) > q.v.Most(jaccardHitBytes) {
		return q.v.OverBudget("documents")
	}
	for i, h := range q.raw {
		if i%4096 == 4095 && ctx.Err() != nil {
			return ctx.Err()
		}
		if i%table.Together == 0 && p.IsServed() {
			if err := announce(p, q.raw[i:min(i+table.Together, len(q.raw))], x); err != nil {
				return err
			}
		}
		score := estimate(h)
		if !x.accepts(score) {
			continue
		}
		id, ok, err := q.v.AliveID(p, h.Doc)
		if err != nil {
			return err
		}
		if ok && string(id) != except {
			q.Hits = append(q.Hits, JaccardHit{id, score, view.Place{Part: p, Doc: h.Doc}})
		}
	}
	return nil
}

// announce says that the IDs of hits will be read and, if texts decide, their texts.
func announce(p *view.Part, hits []table.JaccardHit, x *target) error {
	var docs []uint32
	for _, h := range hits {
		if x.accepts(estimate(h)) {
			docs = append(docs, h.Doc)
		}
	}
	parts := table.PartID
	if x.real != 0 {
		parts |= table.PartText
	}
	return p.Announce(docs, parts)
}

// estimate returns the score of a hit.
func estimate(h table.JaccardHit) minhash.Score {
	return minhash.Score{Score: h.Score, Error: h.Err, Exact: h.Exact}
}

func (q *Jaccard) memtable(m view.MemView, x *target, except string) {
	if len(m.Bitmaps) == 0 {
		return
	}
	q.work.Tables++
	bitmap := x.sketch.Bitmap()
	if !q.gather(m, x, &bitmap, &q.work) {
		q.mem = kernel.FilterBitmaps(q.mem[:0], &bitmap, m.Bitmaps, minhash.MaxMissing(len(x.sketch), x.t))
		q.work.Candidates += int64(len(q.mem))
	}
	for _, i := range q.mem {
		d := m.Docs[m.BitmapDoc[i]]
		if !q.v.MemAlive(d) || string(d.ID) == except {
			continue
		}
		if score, ok := minhash.JaccardAtLeast(x.sketch, d.Sketch, int(q.v.Params.Sketch), x.t); ok && x.accepts(score) && !x.rejects(d) {
			q.Hits = append(q.Hits, JaccardHit{d.ID, score, view.Place{Mem: d}})
		}
	}
}

// gather sets q.mem to the sketches of a memtable that its index and their bitmaps do not reject,
// and adds up the work. It returns false if comparing all bitmaps is faster.
func (q *Jaccard) gather(m view.MemView, x *target, bitmap *minhash.Bitmap, work *Counts) bool {
	found, postings, ok := q.index.Gather(q.mem[:0], m.Sketches, len(m.Bitmaps), x.sketch, x.t)
	work.Probes += int64(postings)
	work.Candidates += int64(len(found))
	q.mem = found[:0]
	for most := minhash.MaxMissing(len(x.sketch), x.t); len(found) > 0; found = found[1:] {
		if bitmap.Missing(&m.Bitmaps[found[0]]) <= most {
			q.mem = append(q.mem, found[0])
		}
	}
	return ok
}

// verify replaces the estimates of the hits by exact scores of the texts, and removes hits with
// scores below t.
func (q *Jaccard) verify(ctx context.Context, t float64) error {
	sets := q.sets
	verified := q.Hits[:0]
	var scratch []byte
	for _, h := range q.Hits {
		if err := ctx.Err(); err != nil {
			return err
		}
		other, err := h.Text(&scratch)
		if err != nil {
			return err
		}
		if score, ok := sets.JaccardAtLeast(q.mine, sets.LastSet(other), t); ok {
			h.Score = minhash.Score{Score: score, Exact: true}
			verified = append(verified, h)
		}
	}
	q.Hits = verified
	return nil
}
