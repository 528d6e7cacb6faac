package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/simdb/simdb/internal/intersect"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

// verifyErrors is how many standard errors below the threshold an estimate may lie for the texts to be compared: at 3.3 one
// document in two thousand that reaches the threshold in truth is missed at the threshold itself, and next to none above it. Where
// t N is below 3.3^2, two sketches of N may have no hash in common at all, with a chance of (1-t)^N, and then no margin helps.
const verifyErrors = 3.3

func checkThreshold(t float64) error {
	if !(t > 0 && t <= 1) {
		return fmt.Errorf("a similarity of %g is outside 0 < t <= 1: %w", t, ErrInvalid)
	}
	return nil
}

// sketching reports whether the database has sketches.
func (db *DB) sketching() error {
	if db.params.Sketch == 0 {
		return fmt.Errorf("%s: %w", db.path, ErrNoSketches)
	}
	return nil
}

// keepsTexts reports whether the database keeps the texts that verifying needs.
func (db *DB) keepsTexts() error {
	if !db.params.StoreText {
		return fmt.Errorf("%s keeps no texts to verify on: %w", db.path, ErrParams)
	}
	return nil
}

// A jaccardHit is a visible document with a score. Its id aliases the table or memtable.
type jaccardHit struct {
	id []byte
	minhash.Score
	place
}

// jaccardScratch is the reusable memory of a Jaccard query.
type jaccardScratch struct {
	table   sstable.JaccardScratch
	raw     []sstable.JaccardHit
	mem     []uint32
	hits    []jaccardHit
	matches []Match
	spare   QueryStats
}

var jaccardPool = sync.Pool{New: func() any { return new(jaccardScratch) }}

// release returns the scratch memory to the pool. It must not hold on to tables.
func (sc *jaccardScratch) release() {
	clear(sc.hits)
	jaccardPool.Put(sc)
}

// Jaccard yields every visible document whose estimated Jaccard similarity to doc is t or more, 0 < t <= 1: the most similar
// first, then by ID. The estimates come from the sketches (minhash.Jaccard); none that reaches t is missed. What is looked for
// is doc.Text, or, if that is empty, the stored document doc.ID. The document that is stored as doc.ID is no match.
func (s *Snapshot) Jaccard(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return s.yieldJaccard(ctx, func(sc *jaccardScratch) error { return s.jaccardHits(ctx, doc, Jaccard(t), sc) })
}

// jaccardHits leaves what Jaccard yields in sc.hits, in no order, or JaccardVerified if the criterion is verified.
func (s *Snapshot) jaccardHits(ctx context.Context, doc Doc, by Criterion, sc *jaccardScratch) error {
	if by.verified {
		if err := s.db.keepsTexts(); err != nil {
			return err
		}
	}
	sketch, err := s.querySketch(doc)
	if err != nil {
		return err
	}
	if !by.verified {
		return s.jaccard(ctx, sketch, by.t, doc.ID, sc)
	}
	text, err := s.queryText(doc)
	if err != nil {
		return err
	}
	return s.jaccardVerified(ctx, sketch, text, by.t, doc.ID, sc)
}

// JaccardSketch is Jaccard by a sketch, made with the database's parameters.
func (s *Snapshot) JaccardSketch(ctx context.Context, sketch minhash.Sketch, t float64) iter.Seq2[Match, error] {
	return s.yieldJaccard(ctx, func(sc *jaccardScratch) error {
		if len(sketch) > int(s.db.params.Sketch) {
			return fmt.Errorf("a sketch of %d hashes, the database has %d: %w", len(sketch), s.db.params.Sketch, ErrParams)
		}
		if !slices.IsSortedFunc(sketch, func(a, b uint32) int { return cmp.Or(cmp.Compare(a, b), 1) }) {
			return fmt.Errorf("a sketch that is not ascending: %w", ErrInvalid)
		}
		return s.jaccard(ctx, sketch, t, "", sc)
	})
}

// JaccardVerified is Jaccard with the scores computed from the texts themselves: no document whose text is less similar than t
// is yielded, and every score is exact. Candidates are those whose estimate is not below t by more than 3.3 standard
// errors. The database must keep texts.
func (s *Snapshot) JaccardVerified(ctx context.Context, doc Doc, t float64) iter.Seq2[Match, error] {
	return s.yieldJaccard(ctx, func(sc *jaccardScratch) error { return s.jaccardHits(ctx, doc, Jaccard(t).Verified(), sc) })
}

// jaccardVerified is jaccard by the similarity of texts.
func (s *Snapshot) jaccardVerified(ctx context.Context, sketch minhash.Sketch, text []byte, t float64, except string, sc *jaccardScratch) error {
	if err := s.jaccard(ctx, sketch, s.candidateThreshold(sketch, t), except, sc); err != nil {
		return err
	}
	return s.verify(ctx, text, t, sc)
}

// candidateThreshold returns the threshold for estimates of documents that may be similar to t or more in truth. An estimate is off
// only where a sketch is full. A query of less than t N shingles is that similar to no document whose sketch is full: that
// has N shingles at least, and the similarity of sets is at most the ratio of their sizes.
func (s *Snapshot) candidateThreshold(sketch minhash.Sketch, t float64) float64 {
	if t > 1 || !(t > 0) || float64(len(sketch)) < t*float64(s.db.params.Sketch) {
		return t // the first is refused by jaccard
	}
	return s.db.lowered(t)
}

// lowered returns t less the margin for estimates from full sketches.
func (db *DB) lowered(t float64) float64 {
	n := float64(db.params.Sketch)
	return max(t-verifyErrors*math.Sqrt(t*(1-t)/n), min(t, 1/n/2))
}

// querySketch returns the sketch to look for.
func (s *Snapshot) querySketch(doc Doc) (minhash.Sketch, error) {
	if err := s.db.sketching(); err != nil {
		return nil, err
	}
	if doc.Text != "" {
		_, sketch := s.db.sums(doc.Text)
		return sketch, nil
	}
	p, err := s.locate(doc.ID)
	if err != nil {
		return nil, err
	}
	return p.sketch(nil)
}

// queryText returns the text to look for.
func (s *Snapshot) queryText(doc Doc) ([]byte, error) {
	if doc.Text != "" {
		return []byte(doc.Text), nil
	}
	p, err := s.locate(doc.ID)
	if err != nil {
		return nil, err
	}
	var scratch []byte
	return p.text(&scratch)
}

// sketch appends the document's sketch to dst.
func (p place) sketch(dst []uint32) ([]uint32, error) {
	if p.mem != nil {
		return append(dst, p.mem.Sketch...), nil
	}
	return p.part.Sketch(p.doc, dst)
}

// yieldJaccard yields the hits that find leaves in the scratch memory, in order.
func (s *Snapshot) yieldJaccard(ctx context.Context, find func(*jaccardScratch) error) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		sc := jaccardPool.Get().(*jaccardScratch)
		defer sc.release()
		hits := func() ([]jaccardHit, error) {
			err := find(sc)
			return sc.hits, err
		}
		yieldInOrder(ctx, s, &sc.matches, hits, compareJaccard, func(h *jaccardHit) Match {
			return Match{ID: string(h.id), Score: h.Score.Score, Error: h.Score.Error, Exact: h.Exact}
		}, yield)
	}
}

// compareJaccard puts more similar hits first, then those of smaller IDs.
func compareJaccard(a, b jaccardHit) int {
	if c := cmp.Compare(b.Score.Score, a.Score.Score); c != 0 {
		return c
	}
	return bytes.Compare(a.id, b.id)
}

// jaccard leaves all visible documents but the one of ID except whose score is t or more in sc.hits, in no order.
func (s *Snapshot) jaccard(ctx context.Context, sketch minhash.Sketch, t float64, except string, sc *jaccardScratch) error {
	sc.hits = sc.hits[:0]
	if err := s.db.sketching(); err != nil {
		return err
	}
	if err := checkThreshold(t); err != nil {
		return err
	}
	if len(sketch) == 0 {
		return nil // no words: it matches nothing
	}
	stats := statsOf(ctx, &sc.spare)
	for i := range s.version.parts {
		if err := s.jaccardPart(ctx, &s.version.parts[i], sketch, t, except, sc, stats); err != nil {
			return err
		}
	}
	for _, m := range s.mems {
		s.jaccardMem(m, sketch, t, except, sc, stats)
	}
	stats.Matches += int64(len(sc.hits))
	return ctx.Err()
}

func (s *Snapshot) jaccardPart(ctx context.Context, p *part, sketch minhash.Sketch, t float64, except string, sc *jaccardScratch, stats *QueryStats) (err error) {
	sc.table.Stats = sstable.JaccardStats{}
	if sc.raw, err = p.Jaccard(sketch, t, &sc.table, sc.raw[:0]); err != nil {
		return err
	}
	stats.Tables++
	stats.Probes += int64(sc.table.Stats.Postings)
	stats.Candidates += int64(sc.table.Stats.Candidates)
	if len(sc.hits)+len(sc.raw) > s.db.most(jaccardHitBytes) {
		return s.db.overBudget("documents")
	}
	for i, h := range sc.raw {
		if i%4096 == 4095 && ctx.Err() != nil {
			return ctx.Err()
		}
		ok, err := s.alive(p, h.Doc)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		id, err := p.ID(h.Doc)
		if err != nil {
			return err
		}
		if string(id) != except {
			sc.hits = append(sc.hits, jaccardHit{id, minhash.Score{Score: h.Score, Error: h.Err, Exact: h.Exact}, place{part: p, doc: h.Doc}})
		}
	}
	return nil
}

func (s *Snapshot) jaccardMem(m memSnapshot, sketch minhash.Sketch, t float64, except string, sc *jaccardScratch, stats *QueryStats) {
	if len(m.bitmaps) == 0 {
		return
	}
	stats.Tables++
	bitmap := sketch.Bitmap()
	sc.mem = intersect.Filter(sc.mem[:0], &bitmap, m.bitmaps, minhash.MaxMissing(len(sketch), t))
	stats.Candidates += int64(len(sc.mem))
	for _, i := range sc.mem {
		d := m.docs[m.bitmapDoc[i]]
		if !s.memAlive(d) || string(d.ID) == except {
			continue
		}
		if score, ok := minhash.JaccardAtLeast(sketch, d.Sketch, int(s.db.params.Sketch), t); ok {
			sc.hits = append(sc.hits, jaccardHit{d.ID, score, place{mem: d}})
		}
	}
}

// PlanJaccard returns how Jaccard would be carried out; by a criterion of Jaccard alone, be it verified or not.
func (s *Snapshot) PlanJaccard(doc Doc, by Criterion) (parts []PartPlan, err error) {
	err = s.safely(context.Background(), func() error {
		if !by.jaccard {
			return fmt.Errorf("%v is no criterion of Jaccard: %w", by, ErrInvalid)
		}
		if err := s.db.checkCriterion(by); err != nil {
			return err
		}
		sketch, err := s.querySketch(doc)
		if err != nil {
			return err
		}
		t := by.t
		if by.verified {
			t = s.candidateThreshold(sketch, t)
		}
		var sc sstable.JaccardScratch
		for i := range s.version.parts {
			p := &s.version.parts[i]
			plan, err := p.JaccardPlan(sketch, t, &sc)
			if err != nil {
				return err
			}
			parts = append(parts, PartPlan{
				Part: "table " + p.name, Documents: int(p.NumDocs()), Method: plan.Method, Probes: plan.Postings, Candidates: plan.Candidates,
			})
		}
		return nil
	})
	for _, m := range s.mems {
		if n := len(m.docs); n > 0 {
			parts = append(parts, PartPlan{Part: "memtable", Documents: n, Method: "scan", Candidates: len(m.bitmaps)})
		}
	}
	return parts, err
}

// verify replaces the estimates of the hits by exact scores, from the texts, and keeps those of t or more.
func (s *Snapshot) verify(ctx context.Context, text []byte, t float64, sc *jaccardScratch) error {
	sets := s.db.shingleSets()
	mine := sets.ofBytes(text)
	kept := sc.hits[:0]
	var scratch []byte
	for _, h := range sc.hits {
		if err := ctx.Err(); err != nil {
			return err
		}
		other, err := h.text(&scratch)
		if err != nil {
			return err
		}
		if score := mine.jaccard(sets.ofBytes(other)); score >= t {
			h.Score = minhash.Score{Score: score, Exact: true}
			kept = append(kept, h)
		}
	}
	sc.hits = kept
	return nil
}
