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
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// A Wide finds fingerprints of one word or more. Each word has an Index of its own. As an Index
// does with its tables, a search within k gives word j a radius r_j >= -1 such that the sum of
// r_j+1 is k+1: a fingerprint within k bits of the query is within r_j of word j of the query for
// at least one j. A hit of word j counts only if no earlier word is within its radius, so that it
// counts once. Then the other words of the document are read, and the total distance decides.
//
// If many documents have the same value of a word, queries near that value avoid the word, since
// checking each of these documents would take longer: the other words share all of k.
type Wide struct {
	words []*Index
	// for each word after the first: run 0, whose values are documents, and the column of the word
	docs    []*keyrun.Run
	columns []*keyrun.Column

	splits sync.Map // of splitKey: *split
	crowds func() [][]base.Fingerprint
}

type splitKey struct {
	k     int16
	avoid uint16 // a bit for each word that must not be searched
}

// verifyNs is the time to read the other words of a hit, in nanoseconds; scanWordNs the time of a
// scan per word of a document.
const (
	verifyNs   = 200
	scanWordNs = 1.2
)

// crowdSample is how many values of a word are sampled to find those that many documents have:
// values that are equal in two neighbouring samples.
const crowdSample = 1024

// NewWide returns the index over the runs of each word of a table. runs[j] are runs as for New,
// except that run 0 of a later word has document numbers as values. columns has the later words by
// document.
func NewWide(l Layout, runs [][]*keyrun.Run, columns []*keyrun.Column, ids *blobs.List) *Wide {
	x := &Wide{words: []*Index{New(l, runs[0], ids)}, columns: columns}
	for _, r := range runs[1:] {
		x.words, x.docs = append(x.words, New(l, r, nil)), append(x.docs, r[0])
	}
	crowds := sync.OnceValue(x.findCrowds)
	x.crowds = func() [][]base.Fingerprint {
		for _, word := range x.words {
			word.tables[0].run.LoadDirectory() // may fail and succeed later
		}
		return crowds()
	}
	return x
}

// findCrowds returns the values of each word that many documents have. It uses directories only, which
// must have been loaded.
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

// crowded returns the words of a split whose radius around the query reaches a value that many
// documents have.
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

// CheckWidth returns an error if queries have another number of words than the table.
func (x *Wide) CheckWidth(words int) error {
	if words != len(x.words) {
		return fmt.Errorf("a fingerprint of %d bits, those of the table have %d", words*maxDistance, x.Bits())
	}
	return nil
}

// First returns the index of the first word.
func (x *Wide) First() *Index { return x.words[0] }

// split returns the cheapest radii for k without the words to avoid, by dynamic programming: see
// allocate.
func (x *Wide) split(k int, avoid uint16, s *Searcher) *split {
	key := splitKey{int16(k), avoid}
	if kept, ok := x.splits.Load(key); ok {
		return kept.(*split)
	}
	need := k + 1
	best := make([][]float64, len(x.words)+1) // [i][n]: cost of i words whose radius+1 add up to n
	pick := make([][]int16, len(x.words))     // in it, the radius+1 of the last word
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

// splitFor returns the split of x, the largest of tables, for a query, and the words to avoid.
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

// expected returns the expected number of hits of a search within k: those of random bits, and the
// average number of documents per value.
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

// take completes a hit of word j of a query with its document and the total distance. ok is false
// if the distance exceeds k, or an earlier word finds the document.
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

// scan calls emit for every document within k bits of each query. queries has a column for each
// word.
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

// queriesOf returns the searches for the words in each table, by the radii of a split. The searches
// of a table are consecutive.
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

// begin returns the split of a search in tables.
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

// Group finds the documents of several tables within k bits of q, k >= 0. It calls fn once for each
// table, in order, with the table's index, its hits (valid during the call) and the work. It stops
// at fn's first error and returns it.
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
	var work Stats // in the current table
	seen := 0      // hits in the current table
	word := func(i int) base.Fingerprint { return q[i] }
	return s.group(queries, func(i int, hits []Hit, more Stats) error {
		at := &queries[i]
		if i == 0 || queries[i-1].table != at.table {
			s.hits, work, seen = s.hits[:0], Stats{}, 0
		}
		work.Probes, work.Candidates, work.Scans = work.Probes+more.Probes, work.Candidates+more.Candidates, work.Scans+more.Scans
		// With too many hits, a scan is cheaper than reading the other words of each hit.
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

// fewHits is the number of hits whose other words are read in any case.
const fewHits = 1024

// First calls accept with documents of tables within k bits of q, k >= 0, until accept returns
// true, and reports whether it did. Tables are searched in order; accept may be called twice with
// the same document.
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

// BatchWide is Batch for fingerprints of one word or more, given as one column per word.
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
	alike := map[uint16][]int{} // indexes of queries, by the words that they avoid
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

// batchBy is BatchWide with a given split, for several words.
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
		err := s.Batch(ctx, x.words[j], queries[j], int(a.radius[j]), func(i int, h Hit) error {
			query = i
			ok, err := x.take(&h, j, word, a, k)
			if err != nil || !ok {
				return err
			}
			return emit(i, h)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// PlanWide is Plan for fingerprints of one word or more. Radii has the radii of all words, one word
// after the other; if a word is scanned, table 0 has the radius of the word.
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
