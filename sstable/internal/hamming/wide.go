package hamming

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// A Wide finds fingerprints of one word or more. Each word has an Index of its own. A search within
// k gives word j a radius r_j >= -1 such that the sum of r_j+1 is k+1, as an Index does with its
// tables: a fingerprint within k bits of the query is within r_j of word j of the query for at
// least one j. A hit of word j counts if no earlier word is within its radius, so that it counts
// once; then the other words of the document are read, and the distance of all decides.
//
// A word whose value many documents have is avoided by queries that are near that value: the others
// share all of k, since looking at each of these documents takes longer.
type Wide struct {
	words []*Index
	// of each word after the first: run 0, whose values are documents, and the word by document
	docs    []*keyrun.Run
	columns []*keyrun.Column

	splits sync.Map // of splitKey: *split
	crowds func() [][]base.Fingerprint
}

type splitKey struct {
	k     int16
	avoid uint16 // a bit for each word that is not to be searched
}

// verifyNs is what reading the other words of a hit takes, in nanoseconds; scanWordNs what a scan
// takes for each word of a document.
const (
	verifyNs   = 200
	scanWordNs = 1.2
)

// crowdSample is how many values of a word are looked at to know which ones many documents have:
// two neighbours that are equal.
const crowdSample = 1024

// NewWide returns the index over the runs of each word of a table, as New takes them, but that run
// 0 of a word after the first has document numbers as values. columns has these words by document.
func NewWide(l Layout, runs [][]*keyrun.Run, columns []*keyrun.Column, ids *blobs.List) *Wide {
	x := &Wide{words: []*Index{New(l, runs[0], ids)}, columns: columns}
	for _, r := range runs[1:] {
		x.words, x.docs = append(x.words, New(l, r, nil)), append(x.docs, r[0])
	}
	x.crowds = sync.OnceValue(x.findCrowds)
	return x
}

// findCrowds returns the values of each word that many documents have. It reads directories only.
func (x *Wide) findCrowds() [][]base.Fingerprint {
	crowds := make([][]base.Fingerprint, len(x.words))
	for j, word := range x.words {
		run := word.tables[0].run
		step := max(run.NumBlocks()/crowdSample, 1)
		for b := step; b < run.NumBlocks(); b += step {
			if v := run.Base(b); v == run.Base(b-step) && !slices.Contains(crowds[j], v) {
				crowds[j] = append(crowds[j], v)
			}
		}
	}
	return crowds
}

// crowded returns the words that a split searches and whose radius around a query reaches a value
// that many documents have.
func (x *Wide) crowded(a *split, word func(i int) base.Fingerprint) (avoid uint16) {
	for j, values := range x.crowds() {
		for _, v := range values {
			if base.Distance(v, word(j)) <= int(a.radius[j]) {
				avoid |= 1 << j
				break
			}
		}
	}
	return avoid
}

// Bits returns the number of bits of a fingerprint.
func (x *Wide) Bits() int { return len(x.words) * maxDistance }

// len returns the number of fingerprints.
func (x *Wide) len() int { return x.words[0].tables[0].run.Len() }

// CheckWidth refuses queries of another number of words.
func (x *Wide) CheckWidth(words int) error {
	if words != len(x.words) {
		return fmt.Errorf("a fingerprint of %d bits, those of the table have %d", words*maxDistance, x.Bits())
	}
	return nil
}

// First returns the index of the first word.
func (x *Wide) First() *Index { return x.words[0] }

// split returns the cheapest radii for k without the words to be avoided, by dynamic programming:
// see allocate.
func (x *Wide) split(k int, avoid uint16, s *Searcher) *split {
	key := splitKey{int16(k), avoid}
	if kept, ok := x.splits.Load(key); ok {
		return kept.(*split)
	}
	need := k + 1
	best := make([][]float64, len(x.words)+1) // [i][n]: the first i words with radii of sum n
	pick := make([][]int16, len(x.words))     // of them, the radius of the last plus one
	best[0] = make([]float64, need+1)
	for n := range best[0] {
		best[0][n] = math.Inf(min(n, 1))
	}
	best[0][0] = 0
	for i, word := range x.words {
		best[i+1], pick[i] = append([]float64(nil), best[i]...), make([]int16, need+1)
		for r := 0; r <= min(k, maxDistance) && avoid>>i&1 == 0; r++ {
			ns := word.standardPlan(r, s).ns + verifyNs*word.expected(r)
			for n := r + 1; n <= need; n++ {
				if c := best[i][n-r-1] + ns; c < best[i+1][n] {
					best[i+1][n], pick[i][n] = c, int16(r+1)
				}
			}
		}
	}
	a := &split{ns: best[len(x.words)][need]}
	for i := len(x.words) - 1; i >= 0; i-- {
		a.radius[i] = pick[i][need] - 1
		need -= int(pick[i][need])
	}
	if scan := scanWordNs * float64(x.len()*len(x.words)); scan < a.ns && len(x.words) > 1 {
		a.scan, a.ns = true, scan
	}
	x.splits.Store(key, a)
	return a
}

// splitFor returns the split for a query in tables, and the words that it avoids. It is that of the
// largest table, x.
func (x *Wide) splitFor(tables []*Wide, word func(i int) base.Fingerprint, k int, s *Searcher) (a *split, avoid uint16) {
	for {
		a = x.split(k, avoid, s)
		more := avoid
		for _, t := range tables {
			more |= t.crowded(a, word)
		}
		if a.scan || more == avoid {
			return a, avoid
		}
		avoid = more
	}
}

// expected returns how many hits a search within k has: those of random bits, and those of a value
// that as many documents have as on average.
func (x *Index) expected(k int) float64 {
	n := float64(x.tables[0].run.Len())
	return n*chance[maxDistance][k] + n/float64(max(x.tables[len(x.tables)-1].run.Len(), 1))
}

func (x *Wide) word(i int, doc uint32) (base.Fingerprint, error) {
	if i == 0 {
		return x.words[0].tables[0].run.Key(int(doc))
	}
	return x.columns[i-1].Get(int(doc))
}

// take completes a hit of word j of a query: its document, and its whole distance. ok is false if
// that is more than k, or an earlier word finds the document.
func (x *Wide) take(h *Hit, j int, word func(i int) base.Fingerprint, a *split, k int) (ok bool, err error) {
	if j > 0 {
		doc, err := x.docs[j-1].Value(int(h.Doc))
		if err == nil && doc >= uint64(x.len()) {
			err = x.docs[j-1].Corrupt(0, "position %d has document %d of %d", h.Doc, doc, x.len())
		}
		if err != nil {
			return false, err
		}
		h.Doc = uint32(doc)
	}
	sum := int(h.Distance)
	for i := len(x.words) - 1; i >= 0; i-- {
		if i == j {
			continue
		}
		fp, err := x.word(i, h.Doc)
		if err != nil {
			return false, err
		}
		d := bits.OnesCount64(fp ^ word(i))
		if sum += d; sum > k || i < j && d <= int(a.radius[i]) {
			return false, nil
		}
	}
	h.Distance = uint16(sum)
	return true, nil
}

// scan calls emit for every document within k bits of each query, which columns have.
func (x *Wide) scan(ctx context.Context, queries [][]base.Fingerprint, k int, emit func(query int, h Hit) error) error {
	block := make([][keyrun.BlockLen]uint64, len(x.columns))
	return x.words[0].tables[0].run.EachBlock(func(pos int, keys []uint64) error {
		for i, c := range x.columns {
			if _, err := c.Block(pos>>keyrun.BlockShift, block[i][:]); err != nil {
				return err
			}
		}
		for q, first := range queries[0] {
			for at, key := range keys {
				sum := bits.OnesCount64(key ^ first)
				for i := 0; i < len(block) && sum <= k; i++ {
					sum += bits.OnesCount64(block[i][at] ^ queries[i+1][q])
				}
				if sum > k {
					continue
				}
				if err := emit(q, Hit{Doc: uint32(pos + at), Distance: uint16(sum), Fingerprint: key}); err != nil {
					return err
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	})
}

// columnsOf returns a query as columns of queries.
func columnsOf(q []base.Fingerprint) [][]base.Fingerprint {
	columns := make([][]base.Fingerprint, len(q))
	for i := range q {
		columns[i] = q[i : i+1]
	}
	return columns
}

// queriesOf returns the searches of the words of tables by radii, those of a table together.
func (s *Searcher) queriesOf(tables []*Wide, q []base.Fingerprint, a *split) []query {
	s.queries = s.queries[:0]
	for t, x := range tables {
		for j, word := range x.words {
			if a.radius[j] >= 0 {
				s.queries = append(s.queries, query{word, q[j], a.radius[j], int16(j), int32(t)})
			}
		}
	}
	return s.queries
}

// begin returns how a search in tables is done.
func (s *Searcher) begin(tables []*Wide, q []base.Fingerprint, k int) (a *split, err error) {
	x := tables[0]
	for _, t := range tables {
		if t.len() > x.len() {
			x = t
		}
	}
	if err := x.CheckWidth(len(q)); err != nil || len(q) == 1 {
		s.one.radius[0] = int16(min(k, maxDistance))
		return &s.one, err
	}
	a, _ = x.splitFor(tables, func(i int) base.Fingerprint { return q[i] }, min(k, x.Bits()), s)
	return a, nil
}

// Group finds the documents of several tables within k bits of q, k >= 0, and calls fn once for
// each table, in order, with its position, its hits (valid during the call) and the work that they
// took. It stops at the first error, which it returns.
func (s *Searcher) Group(tables []*Wide, q []base.Fingerprint, k int, fn func(table int, hits []Hit, work Stats) error) error {
	if len(tables) == 0 || k < 0 {
		return nil
	}
	a, err := s.begin(tables, q, k)
	if err != nil {
		return err
	}
	if len(q) == 1 {
		return s.group(s.queriesOf(tables, q, a), fn)
	}
	scan := func(t int, work Stats) error {
		s.hits = s.hits[:0]
		work.Candidates, work.Scans = work.Candidates+tables[t].len(), work.Scans+1
		err := tables[t].scan(context.Background(), columnsOf(q), k, func(_ int, h Hit) error {
			s.hits = append(s.hits, h)
			return nil
		})
		if err != nil {
			return err
		}
		return fn(t, s.hits, work)
	}
	if a.scan {
		for t := range tables {
			if err := scan(t, Stats{}); err != nil {
				return err
			}
		}
		return nil
	}
	queries := s.queriesOf(tables, q, a)
	var work Stats // of a table
	seen := 0      // its hits
	word := func(i int) base.Fingerprint { return q[i] }
	return s.group(queries, func(i int, hits []Hit, more Stats) error {
		at := &queries[i]
		if i == 0 || queries[i-1].table != at.table {
			s.hits, work, seen = s.hits[:0], Stats{}, 0
		}
		work.Probes, work.Candidates, work.Scans = work.Probes+more.Probes, work.Candidates+more.Candidates, work.Scans+more.Scans
		// With too many hits, a scan is cheaper than looking at the other words of each.
		x := tables[at.table]
		seen += len(hits)
		crowded := float64(seen-fewHits)*verifyNs > scanWordNs*float64(x.len()*len(q))
		for n := 0; n < len(hits) && !crowded; n++ {
			h := hits[n]
			if ok, err := x.take(&h, int(at.word), word, a, k); err != nil {
				return err
			} else if ok {
				s.hits = append(s.hits, h)
			}
		}
		switch last := i+1 == len(queries) || queries[i+1].table != at.table; {
		case !last:
			return nil
		case crowded:
			return scan(int(at.table), work)
		}
		return fn(int(at.table), s.hits, work)
	})
}

// fewHits are looked at in any case.
const fewHits = 1024

// First calls accept with documents of tables within k bits of q, k >= 0, until it returns true,
// and reports whether it has. Tables are searched in order; accept may get a document twice.
func (s *Searcher) First(tables []*Wide, q []base.Fingerprint, k int, accept func(table int, h Hit) (bool, error)) (found bool, err error) {
	if len(tables) == 0 || k < 0 {
		return false, nil
	}
	a, err := s.begin(tables, q, k)
	if err != nil {
		return false, err
	}
	if a.scan {
		for t := 0; t < len(tables) && err == nil; t++ {
			err = tables[t].scan(context.Background(), columnsOf(q), k, func(_ int, h Hit) error {
				ok, err := accept(t, h)
				if err == nil && ok {
					err = errAccepted
				}
				return err
			})
		}
		if err == errAccepted {
			return true, nil
		}
		return false, err
	}
	queries := s.queriesOf(tables, q, a)
	word := func(i int) base.Fingerprint { return q[i] }
	return s.first(queries, func(i int, h Hit) (bool, error) {
		at := &queries[i]
		if ok, err := tables[at.table].take(&h, int(at.word), word, a, k); err != nil || !ok {
			return false, err
		}
		return accept(int(at.table), h)
	})
}

// BatchWide is Batch for fingerprints of one word or more, given as one column a word.
func (s *Searcher) BatchWide(ctx context.Context, x *Wide, queries [][]base.Fingerprint, k int, emit func(query int, h Hit) error) error {
	if err := x.CheckWidth(len(queries)); err != nil || k < 0 {
		return err
	}
	if len(queries) == 1 {
		return s.Batch(ctx, x.words[0], queries[0], k, emit)
	}
	k = min(k, x.Bits())
	if !slices.ContainsFunc(x.crowds(), func(values []base.Fingerprint) bool { return len(values) > 0 }) {
		return s.batchBy(ctx, x, x.split(k, 0, s), queries, k, emit)
	}
	alike := map[uint16][]int{} // the positions of queries, by the words that are avoided
	tables := []*Wide{x}
	for q := range queries[0] {
		_, avoid := x.splitFor(tables, func(i int) base.Fingerprint { return queries[i][q] }, k, s)
		alike[avoid] = append(alike[avoid], q)
	}
	for _, avoid := range slices.Sorted(maps.Keys(alike)) {
		at, some := alike[avoid], make([][]base.Fingerprint, len(queries))
		for i, column := range queries {
			for _, q := range at {
				some[i] = append(some[i], column[q])
			}
		}
		err := s.batchBy(ctx, x, x.split(k, avoid, s), some, k, func(q int, h Hit) error { return emit(at[q], h) })
		if err != nil {
			return err
		}
	}
	return nil
}

// batchBy is BatchWide by a split, for several words.
func (s *Searcher) batchBy(ctx context.Context, x *Wide, a *split, queries [][]base.Fingerprint, k int, emit func(query int, h Hit) error) error {
	if a.scan {
		return x.scan(ctx, queries, k, emit)
	}
	for j := range queries {
		if a.radius[j] < 0 {
			continue
		}
		query := 0
		word := func(i int) base.Fingerprint { return queries[i][query] }
		err := s.Batch(ctx, x.words[j], queries[j], int(a.radius[j]), func(of int, h Hit) error {
			query = of
			ok, err := x.take(&h, j, word, a, k)
			if err != nil || !ok {
				return err
			}
			return emit(of, h)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// PlanWide is Plan for fingerprints of one word or more. Radii has those of all words, one after
// the other: of a word that is scanned, table 0 has that of the word.
func (s *Searcher) PlanWide(x *Wide, q []base.Fingerprint, k int) (Plan, error) {
	a, err := s.begin([]*Wide{x}, q, k)
	if err != nil {
		return Plan{}, err
	}
	if len(q) == 1 {
		return s.Plan(x.words[0], q[0], k), nil
	}
	if a.scan {
		return Plan{Method: "scan", Candidates: x.len(), Cost: a.ns}, nil
	}
	sum := Plan{Method: "probe"}
	for j, word := range x.words {
		var p Plan
		if a.radius[j] >= 0 {
			p = s.Plan(word, q[j], int(a.radius[j]))
		}
		if p.Radii == nil {
			p.Radii = slices.Repeat([]int{-1}, len(word.tables))
			p.Radii[0] = int(a.radius[j])
		}
		sum.Radii = append(sum.Radii, p.Radii...)
		sum.Probes, sum.Candidates, sum.Cost = sum.Probes+p.Probes, sum.Candidates+p.Candidates, sum.Cost+p.Cost
	}
	return sum, nil
}
