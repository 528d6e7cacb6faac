package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/sstable"
)

func checkDistance(k int) error {
	if k < 0 || k > 64 {
		return fmt.Errorf("a distance of %d bits is outside 0..64: %w", k, ErrInvalid)
	}
	return nil
}

// A nearHit is a visible document within the distance asked for. Its id aliases the table or memtable.
type nearHit struct {
	id       []byte
	distance int
	place
}

// nearScratch is the reusable memory of a Near query.
type nearScratch struct {
	snap    Snapshot // of a query that brings none
	group   sstable.NearSearcher
	readers []*sstable.Reader
	mem     []uint32
	hits    []nearHit
	matches []Match
	spare   QueryStats

	want    nearWant
	found   int64 // visible hits
	most    int   // hits that may be held
	far     int   // hits of a greater distance are not wanted
	limited ordered.Limited[nearHit]
}

// nearWant says what becomes of the hits of a Near query. The zero value keeps all.
type nearWant struct {
	count bool                // they are counted, and nothing else
	visit func(nearHit) error // they are given to a function
	first int                 // the first so many are kept, in order
}

var nearPool = sync.Pool{New: func() any { return new(nearScratch) }}

// release returns the scratch memory to the pool. It must not hold on to tables.
func (sc *nearScratch) release() {
	clear(sc.hits)
	clear(sc.readers)
	sc.want, sc.limited = nearWant{}, ordered.Limited[nearHit]{}
	sc.snap.version, sc.snap.mems, sc.snap.memBuf = nil, nil, [maxImmutable + 1]memSnapshot{}
	nearPool.Put(sc)
}

// Near is Snapshot.Near now.
func (db *DB) Near(ctx context.Context, fp uint64, k int) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		sc := nearPool.Get().(*nearScratch)
		defer sc.release()
		s := &sc.snap
		if err := db.takeSnapshot(s); err != nil {
			yield(Match{}, err)
			return
		}
		defer s.Close()
		s.yieldNear(ctx, sc, func() error { return s.near(ctx, fp, k, sc) }, yield)
	}
}

// Near yields every visible document whose fingerprint differs from fp in at most k bits, k in 0..64: nearest first, then
// by ID. More than Options.Memory has room for are ErrTooLarge; NearFirst and NearUnordered take any number.
func (s *Snapshot) Near(ctx context.Context, fp uint64, k int) iter.Seq2[Match, error] {
	return s.nearWanted(ctx, fp, k, nearWant{})
}

// NearFirst yields the first n documents of Near. It holds about twice as many, if n is at most 65536, however many there are.
func (s *Snapshot) NearFirst(ctx context.Context, fp uint64, k, n int) iter.Seq2[Match, error] {
	if n < 1 {
		return func(func(Match, error) bool) {}
	}
	if n > mostFirst {
		return firstOf(n, s.Near(ctx, fp, k))
	}
	return s.nearWanted(ctx, fp, k, nearWant{first: n})
}

func (s *Snapshot) nearWanted(ctx context.Context, fp uint64, k int, want nearWant) iter.Seq2[Match, error] {
	return func(yield func(Match, error) bool) {
		sc := nearPool.Get().(*nearScratch)
		defer sc.release()
		sc.want = want
		s.yieldNear(ctx, sc, func() error { return s.near(ctx, fp, k, sc) }, yield)
	}
}

// NearUnordered is Near as documents are found, without holding them: in no particular order, though always in the same.
func (s *Snapshot) NearUnordered(ctx context.Context, fp uint64, k int) iter.Seq2[Match, error] {
	return untilDone(ctx, func(yield func(Match, error) bool) {
		sc := nearPool.Get().(*nearScratch)
		defer sc.release()
		sc.want.visit = func(h nearHit) error {
			if !yield(h.match(), nil) {
				return errStopped
			}
			return nil
		}
		err := s.safely(ctx, func() error { return s.near(ctx, fp, k, sc) })
		if err != nil && !errors.Is(err, errStopped) {
			yield(Match{}, err)
		}
	})
}

// CountNear returns how many documents Near yields. It neither orders them nor looks at their IDs.
func (s *Snapshot) CountNear(ctx context.Context, fp uint64, k int) (int64, error) {
	sc := nearPool.Get().(*nearScratch)
	defer sc.release()
	sc.want.count = true
	err := s.safely(ctx, func() error { return s.near(ctx, fp, k, sc) })
	return sc.found, err
}

// Nearest yields the n visible documents nearest to fp (all, if there are fewer): nearest first, then by ID.
func (s *Snapshot) Nearest(ctx context.Context, fp uint64, n int) iter.Seq2[Match, error] {
	return firstOf(n, func(yield func(Match, error) bool) {
		sc := nearPool.Get().(*nearScratch)
		defer sc.release()
		s.yieldNear(ctx, sc, func() error { return s.nearest(ctx, fp, n, sc) }, yield)
	})
}

// nearest leaves the n nearest visible documents in sc.hits, and perhaps others.
func (s *Snapshot) nearest(ctx context.Context, fp uint64, n int, sc *nearScratch) error {
	if n < 0 {
		return fmt.Errorf("%d nearest documents: %w", n, ErrInvalid)
	}
	if sc.hits = sc.hits[:0]; n == 0 {
		return nil
	}
	if n <= mostFirst {
		sc.want.first = n
	}
	for _, k := range [...]int{0, 3, 6, 10, 15, 20, 25, 32, 64} {
		if err := s.near(ctx, fp, k, sc); err != nil {
			return err
		}
		if sc.found >= int64(n) {
			break
		}
	}
	return nil
}

// yieldNear yields the hits that find leaves in sc, in order.
func (s *Snapshot) yieldNear(ctx context.Context, sc *nearScratch, find func() error, yield func(Match, error) bool) {
	hits := func() ([]nearHit, error) {
		err := find()
		return sc.hits, err
	}
	yieldInOrder(ctx, s, &sc.matches, hits, compareNear, (*nearHit).match, yield)
}

func (h *nearHit) match() Match { return Match{ID: string(h.id), Distance: h.distance} }

// compareNear puts nearer hits first, then those of smaller IDs.
func compareNear(a, b nearHit) int {
	if c := cmp.Compare(a.distance, b.distance); c != 0 {
		return c
	}
	return bytes.Compare(a.id, b.id)
}

// near leaves all visible documents within k bits of fp in sc.hits, in no order.
func (s *Snapshot) near(ctx context.Context, fp uint64, k int, sc *nearScratch) error {
	if err := checkDistance(k); err != nil {
		return err
	}
	clear(sc.hits)
	sc.hits, sc.found, sc.far, sc.most = sc.hits[:0], 0, k, s.db.most(nearHitBytes)
	if sc.want.first > 0 {
		sc.limited = ordered.Limited[nearHit]{Most: sc.want.first, Compare: compareNear}
	}
	stats := statsOf(ctx, &sc.spare)
	if err := s.nearParts(ctx, fp, k, sc, stats); err != nil {
		return err
	}
	for _, m := range s.mems {
		if err := s.nearMem(m, fp, k, sc, stats); err != nil {
			return err
		}
	}
	if sc.want.first > 0 {
		sc.hits = sc.limited.Items()
	}
	stats.Matches += sc.found
	return ctx.Err()
}

// add takes a visible hit.
func (s *Snapshot) add(sc *nearScratch, h nearHit) error {
	switch {
	case sc.want.visit != nil:
		return sc.want.visit(h)
	case sc.want.first > 0:
		sc.limited.Add(h)
		if last, ok := sc.limited.Last(); ok {
			sc.far = last.distance
		}
	case len(sc.hits) == sc.most:
		return s.db.overBudget("documents")
	default:
		sc.hits = append(sc.hits, h)
	}
	return nil
}

// nearParts searches the tables, all at once: their cache misses overlap.
func (s *Snapshot) nearParts(ctx context.Context, fp uint64, k int, sc *nearScratch, stats *QueryStats) error {
	parts := s.version.parts
	sc.readers = sc.readers[:0]
	for i := range parts {
		sc.readers = append(sc.readers, parts[i].Reader)
	}
	return sc.group.NearGroup(sc.readers, fp, k, func(i int, hits []sstable.Hit, work sstable.NearStats) error {
		stats.Tables++
		stats.Probes += int64(work.Probes)
		stats.Candidates += int64(work.Candidates)
		return s.takeHits(ctx, &parts[i], hits, sc)
	})
}

// takeHits keeps the visible ones of a table's hits.
func (s *Snapshot) takeHits(ctx context.Context, p *part, hits []sstable.Hit, sc *nearScratch) error {
	for i, h := range hits {
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
		if sc.found++; sc.want.count || int(h.Distance) > sc.far {
			continue
		}
		id, err := p.ID(h.Doc)
		if err != nil {
			return err
		}
		if err := s.add(sc, nearHit{id, int(h.Distance), place{part: p, doc: h.Doc}}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Snapshot) nearMem(m memSnapshot, fp uint64, k int, sc *nearScratch, stats *QueryStats) error {
	if len(m.fps) == 0 {
		return nil
	}
	stats.Tables++
	stats.Candidates += int64(len(m.fps))
	sc.mem = kernel.ScanFlat(sc.mem[:0], m.fps, fp, k)
	for _, i := range sc.mem {
		d := m.docs[m.fpDoc[i]]
		if !s.memAlive(d) {
			continue
		}
		if sc.found++; sc.want.count {
			continue
		}
		if err := s.add(sc, nearHit{d.ID, distance(fp, m.fps[i]), place{mem: d}}); err != nil {
			return err
		}
	}
	return nil
}

// PlanNear returns how a Near query would be carried out.
func (s *Snapshot) PlanNear(fp uint64, k int) (NearPlan, error) {
	plan := NearPlan{K: k}
	if err := checkDistance(k); err != nil {
		return plan, err
	}
	err := s.safely(context.Background(), func() error {
		var sc sstable.NearSearcher
		for i := range s.version.parts {
			p := &s.version.parts[i]
			t, err := sc.Plan(p.Reader, fp, k)
			if err != nil {
				return err
			}
			plan.Parts = append(plan.Parts, PartPlan{
				Part: "table " + p.name, Documents: int(p.NumDocs()), Method: t.Method, Radii: t.Radii,
				Probes: int(t.Probes), Candidates: int(t.Candidates),
			})
		}
		return nil
	})
	for _, m := range s.mems {
		if n := len(m.docs); n > 0 {
			plan.Parts = append(plan.Parts, PartPlan{Part: "memtable", Documents: n, Method: "scan", Candidates: len(m.fps)})
		}
	}
	return plan, err
}
