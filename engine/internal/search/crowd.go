package search

import (
	"bytes"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// A query with more than crowdLeast candidates, and more than one in crowdShare documents, has a
// crowd: copies of one text, or pages of one template. Comparing the bitmaps of all documents is
// then cheaper than comparing the texts.
const (
	crowdLeast = 1024
	crowdShare = 256
)

// crowdFrom returns the largest number of candidates that is not a crowd. Sets with weights are
// always compared one by one.
func crowdFrom(v *view.View) int {
	if v.Texts.Spec().Real() {
		return math.MaxInt
	}
	return max(crowdLeast, v.Version.NumDocs()/crowdShare)
}

// A crowd is a verified search for up to 64 queries with many candidates. It processes the
// documents of all tables and memtables in ranges. In each range it finds the candidates of all
// queries, reads each text once and compares it immediately, so that only the candidates of the
// current ranges are in memory. Adjacent equal sketches are compared once, and so are texts; a text
// that differs little from an earlier one is compared only by the difference.
type crowd struct {
	v       *view.View
	t       float64
	queries []*crowdQuery
	first   bool         // a query needs only one match
	left    atomic.Int64 // queries that need more matches
	masks   queryMasks
	buffers sync.Pool // of *textPairs, for reuse between ranges
}

type crowdQuery struct {
	number  int // index of the query for the caller
	text    string
	set     features.Hashes
	target  target
	accepts func(id []byte) bool
	done    atomic.Bool // it needs no more matches
}

// newCrowdQuery returns the query for the documents that match the target of a text with a set.
func newCrowdQuery(number int, text []byte, set features.Hashes, of target, accepts func(id []byte) bool) *crowdQuery {
	return &crowdQuery{number: number, text: string(text), set: set, target: of, accepts: accepts}
}

// A crowdHit is a match of a query. query is its index.
type crowdHit struct {
	JaccardHit
	query int
}

// A crowdRange is the documents [from, to) of a part, or the bitmaps of a memtable.
type crowdRange struct {
	part     *view.Part // nil for a memtable
	mem      view.MemView
	from, to uint32
}

// A range has at most crowdRangeDocs and at least crowdRangeLeast documents.
const (
	crowdRangeDocs  = 4096
	crowdRangeLeast = 64
)

// ranges divides all documents into ranges, so small that the candidates of all queries in the
// ranges processed at the same time fit into a quarter of the memory.
func (c *crowd) ranges(workers int) (all []crowdRange) {
	most := c.v.Memory / 4 / int64(workers) / int64(len(c.queries)*textPairBytes)
	docs := uint32(min(max(most, crowdRangeLeast), crowdRangeDocs))
	cut := func(n uint32, r crowdRange) {
		for ; r.from < n; r.from = r.to {
			r.to = r.from + min(docs, n-r.from)
			all = append(all, r)
		}
	}
	for i := range c.v.Version.Parts {
		p := &c.v.Version.Parts[i]
		cut(p.NumDocs(), crowdRange{part: p})
	}
	for _, m := range c.v.Mems {
		cut(uint32(len(m.Bitmaps)), crowdRange{mem: m})
	}
	return all
}

// each calls found with the matches of one range at a time.
func (c *crowd) each(ctx context.Context, found func(hits []crowdHit) error) error {
	workers := runtime.GOMAXPROCS(0)
	ranges := c.ranges(workers)
	c.left.Store(int64(len(c.queries)))
	c.masks = queryMasks{}
	for i, q := range c.queries {
		for _, e := range q.set {
			c.masks[e] |= 1 << i
		}
	}
	return pipeline.Ordered(ctx, len(ranges), workers, func(i int) (hits []crowdHit, err error) {
		if c.left.Load() == 0 {
			return nil, nil
		}
		x := &crowdSearch{crowd: c, ctx: ctx, crowdRange: ranges[i]}
		err = c.v.Safely(ctx, x.run)
		return x.hits, err
	}, func(_ int, hits []crowdHit) error { return found(hits) })
}

type crowdSearch struct {
	*crowd
	crowdRange
	ctx   context.Context
	texts *textPairs
	work  Counts
	hits  []crowdHit

	doc   uint32 // the last candidate document; unset if not seen
	seen  bool
	alive bool // doc is visible
	id    []byte

	text    []byte // the last text compared
	texted  uint32 // number of different texts so far
	scores  []crowdScore
	counted uint32 // the text that shared was computed for
	shared  sharedCounts
}

// A crowdScore is the score of a query for a text.
type crowdScore struct {
	text  uint32
	score float64
}

// run sets x.hits to the matches.
func (x *crowdSearch) run() error {
	x.texts, _ = x.buffers.Get().(*textPairs)
	if x.texts == nil {
		x.texts = &textPairs{v: x.v}
	}
	defer x.buffers.Put(x.texts)
	x.texts.pairs, x.texts.compare = x.texts.pairs[:0], x.compare
	err := error(nil)
	if x.part != nil {
		err = x.gatherPart()
	} else {
		x.gatherMem()
	}
	if err != nil || len(x.texts.pairs) == 0 {
		return err
	}
	x.work.Candidates = int64(len(x.texts.pairs))
	x.scores, x.shared.queries = make([]crowdScore, len(x.queries)), x.masks
	if err := x.texts.order(); err != nil {
		return err
	}
	if err := x.texts.share(x.ctx, x.v.Texts.Sets(), x.texts.spans); err != nil {
		return err
	}
	if x.texts.failed != nil {
		return x.texts.failed
	}
	x.work.Matches = int64(len(x.hits))
	x.work.report(x.ctx)
	for i := range x.hits {
		if x.hits[i].id, err = x.hits[i].ID(); err != nil {
			return err
		}
	}
	return nil
}

// gatherPart finds the candidates in a range of a part.
func (x *crowdSearch) gatherPart() error {
	var all []table.JaccardQuery
	var queries []int
	for i, q := range x.queries {
		if !q.done.Load() {
			all, queries = append(all, q.target.query()), append(queries, i)
		}
	}
	number := pairOf(x.v, 0, view.Place{Part: x.part}, 0).part
	return x.part.JaccardRange(x.from, x.to, all, func(i int, h table.JaccardHit) (err error) {
		if !x.queries[queries[i]].target.accepts(estimate(h)) {
			return nil
		}
		if !x.seen || h.Doc != x.doc {
			x.doc, x.seen = h.Doc, true
			if x.id, x.alive, err = x.v.AliveID(x.part, h.Doc); err != nil {
				return err
			}
		}
		if q := queries[i]; x.alive && x.queries[q].accepts(x.id) {
			x.texts.pairs = append(x.texts.pairs, textPair{part: number, doc: h.Doc, query: uint32(q)})
		}
		return nil
	})
}

// gatherMem finds the candidates in a range of a memtable.
func (x *crowdSearch) gatherMem() {
	maps := x.mem.Bitmaps[x.from:x.to]
	var found []uint32
	for i, q := range x.queries {
		if q.done.Load() {
			continue
		}
		bitmap := q.target.sketch.Bitmap()
		found = kernel.FilterBitmaps(found[:0], &bitmap, maps, minhash.MaxMissing(len(q.target.sketch), q.target.t))
		for _, at := range found {
			d := x.mem.Docs[x.mem.BitmapDoc[x.from+at]]
			if !x.v.MemAlive(d) || !q.accepts(d.ID) {
				continue
			}
			if score, ok := minhash.JaccardAtLeast(q.target.sketch, d.Sketch, int(x.v.Params.Sketch), q.target.t); ok && q.target.accepts(score) && !q.target.rejects(d) {
				x.texts.pairs = append(x.texts.pairs, textPair{mem: d, part: inMemory, query: uint32(i)})
			}
		}
	}
	slices.SortFunc(x.texts.pairs, compareByDoc)
}

// countedTogether is the number of queries from which the shared elements of a text are counted for
// all queries at once.
const countedTogether = 4

// compare compares a text with queries, unless the previous text was equal.
func (x *crowdSearch) compare(sets *features.SetHasher, text []byte, pairs []textPair) {
	if x.texted == 0 || !bytes.Equal(text, x.text) {
		x.text = append(x.text[:0], text...)
		x.texted++
	}
	if x.counted != x.texted && len(pairs) >= countedTogether {
		x.shared.count(sets.LastSet(text))
		x.counted = x.texted
	}
	for i := range pairs {
		p := &pairs[i]
		q, s := x.queries[p.query], &x.scores[p.query]
		switch {
		case q.done.Load():
			continue
		case s.text == x.texted:
		case x.counted == x.texted:
			*s = crowdScore{x.texted, x.shared.jaccard(int(p.query), q.set)}
		default:
			*s = crowdScore{x.texted, similarity(q.set, q.text, sets, text, x.t)}
		}
		if s.score < x.t {
			continue
		}
		if x.first && !q.done.Swap(true) {
			x.left.Add(-1)
		}
		p.score = s.score
		x.hits = append(x.hits, crowdHit{JaccardHit{nil, p.exactly(), p.place(x.v)}, int(p.query)})
	}
}
