package search

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
)

// A NearHit is a visible document within the distance searched for. Its id aliases the table or
// memtable.
type NearHit struct {
	id       []byte
	distance int
	view.Place
}

// Match converts the hit for callers.
func (h *NearHit) Match() view.Match { return view.Match{ID: string(h.id), Distance: h.distance} }

// CompareNear orders hits by distance, the nearest first, then by ID.
func CompareNear(a, b NearHit) int {
	if c := cmp.Compare(a.distance, b.distance); c != 0 {
		return c
	}
	return bytes.Compare(a.id, b.id)
}

// A Near holds the buffers of searches by Hamming distance, one at a time. The zero value is ready
// to use; it serves one goroutine.
type Near struct {
	v       *view.View
	group   table.NearSearcher
	readers []*table.Reader
	index   memindex.Searcher
	mem     []uint32
	hits    []table.Hit        // of a table in the index of small tables
	words   []base.Fingerprint // words of a query of AnyMatch
	Hits    []NearHit          // the results, in no particular order
	work    Counts

	Want    NearWant
	Found   int64 // number of visible hits
	most    int   // limit of the hits held
	far     int   // hits at greater distances are not wanted
	limited ordered.Limited[NearHit]
}

// NearWant says which hits a Near collects. The zero value collects all.
type NearWant struct {
	Count bool                // only count the hits
	Visit func(NearHit) error // pass the hits to this function
	First int                 // collect this many hits, the first in order
	After *NearHit            // with First: collect only hits after this one
}

var nearPool = sync.Pool{New: func() any { return new(Near) }}

// Forget clears references, so that a pooled Near holds no tables. The buffers remain.
func (q *Near) Forget() {
	clear(q.Hits)
	clear(q.readers)
	if q.v, q.Want = nil, (NearWant{}); q.limited.Compare != nil {
		q.limited = ordered.Limited[NearHit]{}
	}
}

// Nearest finds the n visible documents nearest to any of fps. q.Hits has these, and possibly
// others.
func (q *Near) Nearest(ctx context.Context, v *view.View, fps [][]base.Fingerprint, n int) error {
	if n <= MostFirst {
		q.Want.First = n
	}
	for _, k := range [...]int{0, 3, 6, 10, 15, 20, 25, 32, base.FingerprintBits} {
		k *= len(fps[0])
		if err := q.FindAny(ctx, v, fps, k); err != nil {
			return err
		}
		if q.Found >= int64(n) {
			break
		}
	}
	return nil
}

// Find sets q.Hits to all visible documents of v within k bits of fp, which has one or more words,
// in no particular order, unless q.Want says otherwise.
func (q *Near) Find(ctx context.Context, v *view.View, fp []base.Fingerprint, k int) error {
	if v.Several {
		return q.FindAny(ctx, v, [][]base.Fingerprint{fp}, k)
	}
	return q.find(ctx, v, fp, k)
}

// FindAny is Find for the documents within k bits of any of fps.
func (q *Near) FindAny(ctx context.Context, v *view.View, fps [][]base.Fingerprint, k int) error {
	if len(fps) == 1 && !v.Several {
		return q.find(ctx, v, fps[0], k)
	}
	want, rows := q.Want, []NearHit(nil)
	defer func() { q.Want = want }()
	q.Want = NearWant{}
	for _, fp := range fps {
		if err := q.find(ctx, v, fp, k); err != nil {
			return err
		}
		if rows = append(rows, q.Hits...); len(rows) > q.most {
			return v.OverBudget("documents")
		}
	}
	q.Want = want
	return v.Safely(ctx, func() error { return q.fold(rows) })
}

// fold replaces rows by their documents, each once with the distance of its nearest row.
func (q *Near) fold(rows []NearHit) error {
	for i := range rows {
		h := &rows[i]
		ownerID, code := view.Owner(h.id)
		if !code {
			continue
		}
		p, ok, err := q.v.Find(ownerID)
		if err == nil && !ok {
			err = files.NoDocument(string(ownerID)) // the search found only rows that count
		}
		if err != nil {
			return err
		}
		h.id, h.Place = ownerID, p
	}
	slices.SortFunc(rows, func(a, b NearHit) int {
		return cmp.Or(bytes.Compare(a.id, b.id), cmp.Compare(a.distance, b.distance))
	})
	rows = slices.CompactFunc(rows, func(a, b NearHit) bool { return bytes.Equal(a.id, b.id) })
	clear(q.Hits)
	q.Hits, q.Found = q.Hits[:0], int64(len(rows))
	if q.Want.First > 0 {
		q.limited = ordered.Limited[NearHit]{Most: q.Want.First, Compare: CompareNear}
	}
	for _, h := range rows {
		if q.Want.Count {
			break
		}
		if err := q.add(h); err != nil {
			return err
		}
	}
	if q.Want.First > 0 {
		q.Hits = q.limited.Items()
	}
	return nil
}

// find is Find for rows. If View.Several is set, a document may have several rows.
func (q *Near) find(ctx context.Context, v *view.View, fp []base.Fingerprint, k int) (err error) {
	if err := v.Usable(ctx); err != nil {
		return err
	}
	if err := cmp.Or(v.CheckWords(len(fp)), v.CheckDistance(k)); err != nil {
		return err
	}
	defer v.Unguard(vfs.Guard(), &err)
	clear(q.Hits)
	q.v, q.Hits, q.Found, q.far, q.most = v, q.Hits[:0], 0, k, v.Most(nearHitBytes)
	if q.Want.First > 0 {
		q.limited = ordered.Limited[NearHit]{Most: q.Want.First, Compare: CompareNear}
	}
	q.work = Counts{}
	defer func() {
		q.work.Matches += q.Found
		q.work.report(ctx)
	}()
	if len(fp) == 1 {
		for _, m := range v.Mems { // the prefetched data arrives while the tables are searched
			m.Index.Prefetch(fp[0], k)
		}
	}
	apart, err := q.small(ctx, fp, k)
	if err != nil {
		return err
	}
	q.readersOf(apart)
	// All tables are searched together, so that their cache misses overlap.
	err = q.group.NearGroup(q.readers, fp, k, func(i int, hits []table.Hit, work table.NearStats) error {
		q.work.Tables++
		q.work.Probes += int64(work.Probes)
		q.work.Candidates += int64(work.Candidates)
		return q.takeHits(ctx, apart[i], hits)
	})
	if err != nil {
		return err
	}
	for _, m := range v.Mems {
		if err := q.memtable(m, fp, k); err != nil {
			return err
		}
	}
	if q.Want.First > 0 {
		q.Hits = q.limited.Items()
	}
	return ctx.Err()
}

// readersOf sets q.readers to those of parts.
func (q *Near) readersOf(parts []*view.Part) {
	q.readers = q.readers[:0]
	for _, p := range parts {
		q.readers = append(q.readers, p.Reader)
	}
}

// small searches the index of small tables, and returns the tables that are left: all, if searching
// each is cheaper.
func (q *Near) small(ctx context.Context, fp []base.Fingerprint, k int) (left []*view.Part, err error) {
	s := q.v.Version.Small()
	var compared int
	var ok bool
	q.mem, compared, ok = findSmall(&q.index, q.mem[:0], &s.Columns, fp, k)
	q.work.Candidates += int64(compared)
	if !ok {
		return s.All, nil
	}
	q.work.Tables += int64(s.Tables)
	for i := 0; i < len(q.mem); {
		p, first, end := s.Range(q.mem[i])
		for q.hits = q.hits[:0]; i < len(q.mem) && first <= q.mem[i] && q.mem[i] < end; i++ {
			at := q.mem[i]
			q.hits = append(q.hits, table.Hit{Doc: at - first, Distance: uint16(s.Distance(fp, at))})
		}
		if p == nil {
			continue
		}
		if err := q.takeHits(ctx, p, q.hits); err != nil {
			return nil, err
		}
	}
	return s.Apart, ctx.Err()
}

func (q *Near) add(h NearHit) error {
	switch {
	case q.Want.Visit != nil:
		return q.Want.Visit(h)
	case q.Want.First > 0:
		if q.Want.After != nil && CompareNear(h, *q.Want.After) <= 0 {
			return nil
		}
		q.limited.Add(h)
		if last, ok := q.limited.Last(); ok {
			q.far = last.distance
		}
	case len(q.Hits) == q.most:
		return q.v.OverBudget("documents")
	default:
		q.Hits = append(q.Hits, h)
	}
	return nil
}

// takeHits adds the visible hits of a table.
func (q *Near) takeHits(ctx context.Context, p *view.Part, hits []table.Hit) error {
	for i, h := range hits {
		if i%4096 == 4095 && ctx.Err() != nil {
			return ctx.Err()
		}
		ok, err := q.v.Alive(p, h.Doc)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if q.Found++; q.Want.Count || int(h.Distance) > q.far {
			continue
		}
		id, err := p.ID(h.Doc)
		if err != nil {
			return err
		}
		if err := q.add(NearHit{id, int(h.Distance), view.Place{Part: p, Doc: h.Doc}}); err != nil {
			return err
		}
	}
	return nil
}

func (q *Near) memtable(m view.MemView, fp []base.Fingerprint, k int) error {
	if len(m.FPs) == 0 {
		return nil
	}
	q.work.Tables++
	var compared int
	q.mem, compared = findMem(&q.index, q.mem[:0], m.Columns, fp, k)
	q.work.Candidates += int64(compared)
	for _, i := range q.mem {
		d := m.Docs[m.FPDoc[i]]
		if !q.v.MemAlive(d) {
			continue
		}
		if q.Found++; q.Want.Count {
			continue
		}
		if err := q.add(NearHit{d.ID, m.Distance(fp, i), view.Place{Mem: d}}); err != nil {
			return err
		}
	}
	return nil
}

// findMem appends to dst the positions of the fingerprints of a memtable within k bits of q, each
// once and in no particular order, and returns how many it compared.
func findMem(s *memindex.Searcher, dst []uint32, c *view.Columns, q []base.Fingerprint, k int) (found []uint32, compared int) {
	dst, compared, ok := findSmall(s, dst, c, q, k)
	if ok {
		return dst, compared
	}
	for i := range uint32(len(c.FPs)) {
		if c.Distance(q, i) <= k {
			dst = append(dst, i)
		}
	}
	return dst, compared + len(c.FPs)
}

// findSmall is findMem for the index of small tables, which has no fingerprints if there is none.
// ok is false, and nothing is found, if searching the tables is cheaper.
func findSmall(s *memindex.Searcher, dst []uint32, c *view.Columns, q []base.Fingerprint, k int) (found []uint32, compared int, ok bool) {
	if len(q) > 1 || len(c.FPs) == 0 {
		return lookWords(s, dst, c, q, k)
	}
	dst, compared = s.Find(dst, c.Index, c.FPs, q[0], k)
	return dst, compared, true
}

// lookWords is findMem for fingerprints of several words, by looking up values only. ok is false,
// and nothing is found, if comparing all fingerprints is cheaper. Words are searched one by one,
// each within its share of k: see hamming.Wide.
func lookWords(s *memindex.Searcher, dst []uint32, c *view.Columns, q []base.Fingerprint, k int) (found []uint32, compared int, ok bool) {
	radius := func(word int) int { return (k+len(q)-word)/len(q) - 1 }
	first, ok := len(dst), c.Index != nil
	for j := 0; j < len(q) && ok && radius(j) >= 0; j++ {
		index, at, n := c.Index, len(dst), 0
		if j > 0 {
			index = c.Indexes[j-1]
		}
		dst, n, ok = s.Look(dst, index, len(c.FPs), q[j], radius(j))
		compared += n
		dst = append(dst[:at], slices.DeleteFunc(dst[at:], func(i uint32) bool {
			for e := range j { // already found by an earlier word
				if base.Distance(q[e], c.Word(e, i)) <= radius(e) {
					return true
				}
			}
			return c.Distance(q, i) > k
		})...)
	}
	if !ok {
		dst = dst[:first]
	}
	return dst, compared, ok
}
