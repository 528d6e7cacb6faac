package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"unsafe"

	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/table"
)

const (
	// ChunkQueries is how many queries are searched together. Larger chunks are only slightly
	// faster.
	ChunkQueries = 1 << chunkBits
	chunkBits    = 20
	// chunkMatches limits the matches held for a chunk of several queries.
	chunkMatches = 4 * ChunkQueries
)

// The low bits of a key in nearBatch.found are a distance. The array type below is invalid if the
// greatest distance does not fit.
const (
	distanceBits = 11
	distanceMask = 1<<distanceBits - 1
)

var _ [distanceMask - base.FingerprintBits*table.MaxWords]struct{}

// BatchMatches returns the limit of the matches held for a chunk of queries.
func BatchMatches(v *view.View) int { return min(chunkMatches, v.Most(batchMatchBytes)) }

// rowsOf returns the rows [from, to) of columns.
func rowsOf(columns [][]base.Fingerprint, from, to int) [][]base.Fingerprint {
	rows := make([][]base.Fingerprint, len(columns))
	for i, c := range columns {
		rows[i] = c[from:to]
	}
	return rows
}

// row returns row i of columns; it reuses buf.
func row(columns [][]base.Fingerprint, i int, buf []base.Fingerprint) []base.Fingerprint {
	buf = buf[:0]
	for _, c := range columns {
		buf = append(buf, c[i])
	}
	return buf
}

// EachBatch calls fn for the matches of every fingerprint of fps, one column per word: by query,
// those of each query nearest first, then by ID, until fn returns false. It searches in chunks:
// queries limits the fingerprints of a chunk, and matches its matches; a chunk is smaller if its
// IDs do not fit into memory. A single query may have any number of matches.
func EachBatch(ctx context.Context, v *view.View, fps [][]base.Fingerprint, k, queries, matches int, fn func(query int, m view.Match) bool) error {
	if err := cmp.Or(v.CheckDistance(k), v.CheckWords(len(fps))); err != nil {
		return err
	}
	b := batchPool.Get().(*nearBatch)
	b.v, b.ctx, b.k, b.most = v, ctx, k, matches
	defer b.release()
	size, all := queries, len(fps[0])
	for first := 0; first < all; {
		n := min(size, all-first)
		b.queries = rowsOf(fps, first, first+n)
		err := v.Safely(ctx, b.search)
		goOn := false
		switch {
		case err == nil:
			goOn = b.yield(first, fn)
		case !errors.Is(err, errCrowded):
			return err
		case n > 1:
			size = (n + 1) / 2
			continue
		default:
			goOn, err = b.inTurns(first, fn)
		}
		if !goOn || err != nil {
			return err
		}
		first += n
		if len(b.found.Keys) < matches/4 {
			size = min(2*size, queries)
		}
	}
	return nil
}

// errCrowded says that a chunk must be divided into smaller ones.
var errCrowded = errors.New("more matches than fit into memory")

// inTurns yields the matches of a single query with more matches than can be held: the first ones,
// then the next ones, and so on. Each turn repeats the search.
func (b *nearBatch) inTurns(first int, fn func(query int, m view.Match) bool) (goOn bool, err error) {
	q := nearPool.Get().(*Near)
	defer nearPool.Put(q)
	defer q.Forget()
	q.Want.First = max(b.most/2, 1)
	var matches []view.Match
	for {
		if err := b.v.Safely(b.ctx, func() error { return q.Find(b.ctx, b.v, row(b.queries, 0, nil), b.k) }); err != nil {
			return false, err
		}
		for some := range slices.Chunk(q.Hits, turnMatches) {
			err := b.v.Safely(b.ctx, func() error { // the IDs alias the tables
				matches = matches[:0]
				for i := range some {
					matches = append(matches, some[i].Match())
				}
				return nil
			})
			if err != nil {
				return false, err
			}
			for _, m := range matches {
				if !fn(first, m) {
					return false, nil
				}
			}
		}
		n := len(q.Hits)
		if n < q.Want.First {
			return true, nil
		}
		q.Want.After = &NearHit{id: q.Hits[n-1].id, distance: q.Hits[n-1].distance}
	}
}

// turnMatches is how many hits inTurns converts to matches at a time.
const turnMatches = 256

// nearBatch holds the state of EachBatch. It finds the hits of one table at a time, sorts these by
// document, which makes reading their IDs cheap, and finally sorts all hits into the order of the
// results.
type nearBatch struct {
	v       *view.View
	ctx     context.Context
	k       int
	most    int                  // limit of the matches held for a chunk
	queries [][]base.Fingerprint // queries of the chunk, one column per word
	one     []base.Fingerprint   // current query of eachNearWide
	asked   []base.Fingerprint   // query of a match in a memtable

	scratch table.NearSearcher
	index   memindex.Searcher
	mem     []uint32
	hits    []uint64 // hits of a table: distance<<52 | query<<32 | document
	other   []uint64
	docs    []uint32
	pairs   []uint64

	found ordered.Pairs // query<<distanceBits | distance, with the index of an ID
	spare ordered.Pairs
	ids   []byte   // concatenated IDs
	ends  []int    // end of each ID in ids
	last  []uint32 // permutation that sorted the last long run of matches
}

// batchPool pools nearBatches for reuse of their buffers.
var batchPool = sync.Pool{New: func() any { return new(nearBatch) }}

func (b *nearBatch) release() {
	b.v, b.ctx, b.queries, b.last = nil, nil, nil, b.last[:0]
	batchPool.Put(b)
}

// search finds the matches of a chunk.
func (b *nearBatch) search() error {
	b.found.Keys, b.found.Vals, b.ids, b.ends = b.found.Keys[:0], b.found.Vals[:0], b.ids[:0], b.ends[:0]
	var work Counts
	b.scratch.TakeStats()
	parts := b.v.Version.Parts
	for i := range parts {
		if err := b.table(&parts[i]); err != nil {
			return err
		}
	}
	for _, m := range b.v.Mems {
		if len(m.FPs) == 0 {
			continue
		}
		compared, err := b.memtable(m)
		if err != nil {
			return err
		}
		work.Tables++
		work.Candidates += compared
	}
	b.order()
	work.Tables += int64(len(parts))
	near := b.scratch.TakeStats()
	work.Probes += int64(near.Probes)
	work.Candidates += int64(near.Candidates)
	work.Matches += int64(len(b.found.Keys))
	work.report(b.ctx)
	return b.ctx.Err()
}

// crowded returns errCrowded if there are too many matches, including n that are not in found yet,
// or too many bytes of IDs.
func (b *nearBatch) crowded(n int) error {
	if n+len(b.found.Keys) > b.most || int64(len(b.ids)) > max(b.v.Memory/idsShare, 1<<20) {
		return errCrowded
	}
	return nil
}

// IDs are copied idsAtOnce at a time. They may occupy one idsShare-th of the memory.
const (
	idsAtOnce = 1 << 10
	idsShare  = 8
)

// table adds the matches of a table.
func (b *nearBatch) table(p *view.Part) error {
	b.hits = b.hits[:0]
	err := b.scratch.NearBatch(b.ctx, p.Reader, b.queries, b.k, func(query int, h table.Hit) error {
		if err := b.crowded(len(b.hits)); err != nil {
			return err
		}
		b.hits = append(b.hits, uint64(h.Distance)<<52|uint64(query)<<32|uint64(h.Doc))
		return nil
	})
	if err != nil {
		return err
	}
	b.other = slices.Grow(b.other[:0], len(b.hits))[:len(b.hits)]
	b.hits, b.other = ordered.Radix(b.hits, b.other, 32)
	b.docs = slices.Grow(b.docs[:0], len(b.hits))
	b.found.Keys, b.found.Vals = slices.Grow(b.found.Keys, len(b.hits)), slices.Grow(b.found.Vals, len(b.hits))
	b.ends = slices.Grow(b.ends, len(b.hits))
	for i, h := range b.hits {
		if i%4096 == 0 && b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		ok, err := b.v.Alive(p, uint32(h))
		if err != nil {
			return err
		}
		if ok {
			b.add(int(h>>32&(ChunkQueries-1)), int(h>>52))
			b.docs = append(b.docs, uint32(h))
		}
	}
	for some := range slices.Chunk(b.docs, idsAtOnce) {
		if b.ids, b.ends, err = p.AppendIDs(b.ids, b.ends, some); err == nil {
			err = b.crowded(0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds a match. Its ID must be added next.
func (b *nearBatch) add(query, distance int) {
	b.found.Vals = append(b.found.Vals, uint32(len(b.found.Keys)))
	b.found.Keys = append(b.found.Keys, uint64(query)<<distanceBits|uint64(distance))
}

// memtable adds the matches of a memtable, and returns the number of comparisons.
func (b *nearBatch) memtable(m view.MemView) (compared int64, err error) {
	return b.eachNearMem(b.ctx, m, b.queries, b.k, func(query int, at uint32) error {
		d := m.Docs[m.FPDoc[at]]
		if !b.v.MemAlive(d) {
			return nil
		}
		if err := b.crowded(0); err != nil {
			return err
		}
		b.asked = row(b.queries, query, b.asked)
		b.add(query, m.Distance(b.asked, at))
		b.ids = append(b.ids, d.ID...)
		b.ends = append(b.ends, len(b.ids))
		return nil
	})
}

// How many queries are compared with how many fingerprints of a memtable at a time, so that both
// fit into the first-level cache.
const (
	memQueries = 64
	memKeys    = 1024
)

// eachNearMem calls fn for each pair of a query and a position of a fingerprint in a memtable that
// differ in at most k bits, and returns how many it has compared.
func (b *nearBatch) eachNearMem(ctx context.Context, m view.MemView, columns [][]base.Fingerprint, k int, fn func(query int, at uint32) error) (compared int64, err error) {
	if len(columns) > 1 {
		return b.eachNearWide(ctx, m, columns, k, fn)
	}
	queries := columns[0]
	looked, compared, err := b.lookUp(ctx, m, queries, k, fn)
	if err != nil {
		return compared, err
	}
	queries = queries[looked:]
	for from := 0; from < len(m.FPs) && len(queries) > 0; from += memKeys {
		keys := m.FPs[from:min(from+memKeys, len(m.FPs))]
		for first := 0; first < len(queries); first += memQueries {
			b.pairs = kernel.ScanMany(b.pairs[:0], queries[first:min(first+memQueries, len(queries))], keys, k)
			for _, p := range b.pairs {
				if err := fn(looked+first+int(p>>32), uint32(from)+uint32(p)); err != nil {
					return compared, err
				}
			}
		}
		compared += int64(len(keys)) * int64(len(queries))
		if err := ctx.Err(); err != nil {
			return compared, err
		}
	}
	return compared, nil
}

// eachNearWide is eachNearMem for fingerprints with several words.
func (b *nearBatch) eachNearWide(ctx context.Context, m view.MemView, columns [][]base.Fingerprint, k int, fn func(query int, at uint32) error) (compared int64, err error) {
	for query := range columns[0] {
		var n int
		b.one = row(columns, query, b.one)
		b.mem, n = findMem(&b.index, b.mem[:0], m.Columns, b.one, k)
		compared += int64(n)
		for _, at := range b.mem {
			if err := fn(query, at); err != nil {
				return compared, err
			}
		}
		if query%64 == 0 && ctx.Err() != nil {
			return compared, ctx.Err()
		}
	}
	return compared, nil
}

// lookUp is eachNearMem through the memtable's index. It stops early if the index turns out to be
// slow for these queries, and returns how many queries it has searched.
func (b *nearBatch) lookUp(ctx context.Context, m view.MemView, queries []base.Fingerprint, k int, fn func(query int, at uint32) error) (looked int, compared int64, err error) {
	if m.Index == nil || !memindex.Probed(len(m.FPs), k) {
		return 0, 0, nil
	}
	for crowded := 0; looked < len(queries) && crowded <= memQueries+looked/memQueries; looked++ {
		m.Index.Prefetch(queries[min(looked+1, len(queries)-1)], k)
		var n int
		if b.mem, n = b.index.Find(b.mem[:0], m.Index, m.FPs, queries[looked], k); n >= len(m.FPs) {
			crowded++
		}
		compared += int64(n)
		for _, at := range b.mem {
			if err := fn(looked, at); err != nil {
				return looked, compared, err
			}
		}
		if looked%1024 == 0 && ctx.Err() != nil {
			return looked, compared, ctx.Err()
		}
	}
	return looked, compared, nil
}

// order sorts the matches.
func (b *nearBatch) order() {
	n := len(b.found.Keys)
	b.spare.Keys, b.spare.Vals = slices.Grow(b.spare.Keys[:0], n)[:n], slices.Grow(b.spare.Vals[:0], n)[:n]
	if sorted := ordered.SortPairs(b.found, b.spare); n > 0 && &sorted.Keys[0] != &b.found.Keys[0] {
		b.found, b.spare = sorted, b.found
	}
	for from := 0; from < n; {
		to := from + 1
		for to < n && b.found.Keys[to] == b.found.Keys[from] {
			to++
		}
		b.orderRun(b.found.Vals[from:to])
		from = to
	}
	if b.v.Several {
		b.fold()
	}
}

// fold removes all but the first, nearest match of each document from the matches of a query.
func (b *nearBatch) fold() {
	seen, query, n := map[string]bool{}, uint64(0), 0
	for i, key := range b.found.Keys {
		if q := key >> distanceBits; q != query {
			clear(seen)
			query = q
		}
		val := b.found.Vals[i]
		if id := b.id(val); !seen[string(id)] {
			seen[string(id)] = true
			b.found.Keys[n], b.found.Vals[n] = key, val
			n++
		}
	}
	b.found.Keys, b.found.Vals = b.found.Keys[:n], b.found.Vals[:n]
}

// longRun is the length from which orderRun remembers the permutation of a run.
const longRun = 1 << 10

// orderRun sorts the matches of a query at one distance by ID. Documents with equal fingerprints
// form the same run for many queries: it first tries the permutation of the last long run.
func (b *nearBatch) orderRun(run []uint32) {
	if len(run) < longRun {
		if len(run) > 1 {
			slices.SortFunc(run, func(x, y uint32) int { return bytes.Compare(b.id(x), b.id(y)) })
		}
		return
	}
	moved := b.spare.Vals[:len(run)]
	move := func() {
		for i, from := range b.last {
			moved[i] = run[from]
		}
	}
	if len(b.last) == len(run) {
		if move(); b.ascends(moved) {
			copy(run, moved)
			return
		}
	}
	b.last = slices.Grow(b.last[:0], len(run))[:len(run)]
	for i := range b.last {
		b.last[i] = uint32(i)
	}
	slices.SortFunc(b.last, func(x, y uint32) int { return bytes.Compare(b.id(run[x]), b.id(run[y])) })
	move()
	copy(run, moved)
}

// ascends reports whether matches are in the order of their IDs.
func (b *nearBatch) ascends(matches []uint32) bool {
	var before []byte
	for i, m := range matches {
		b.prefetch(matches, i)
		id := b.id(m)
		if bytes.Compare(before, id) > 0 {
			return false
		}
		before = id
	}
	return true
}

// id returns the ID with index i.
func (b *nearBatch) id(i uint32) []byte {
	id := b.ids[:b.ends[i]]
	if i > 0 {
		id = id[b.ends[i-1]:]
	}
	if b.v.Several {
		id, _ = view.Owner(id)
	}
	return id
}

// yield calls fn with the matches of the chunk whose first query has the given index.
func (b *nearBatch) yield(first int, fn func(query int, m view.Match) bool) bool {
	for i, key := range b.found.Keys {
		b.prefetch(b.found.Vals, i)
		if !fn(first+int(key>>distanceBits), view.Match{ID: string(b.id(b.found.Vals[i])), Distance: int(key & distanceMask)}) {
			return false
		}
	}
	return true
}

// How many matches ahead the end of an ID, and the ID itself, are prefetched: matches are ordered
// by query, but IDs by document.
const (
	endsAhead = 32
	idsAhead  = 16
)

// prefetch prefetches data for matches after the one at index i.
func (b *nearBatch) prefetch(vals []uint32, i int) {
	if i+endsAhead < len(vals) {
		kernel.PrefetchAt(unsafe.Pointer(&b.ends[vals[i+endsAhead]]), 1)
	}
	if i+idsAhead < len(vals) {
		if end := b.ends[vals[i+idsAhead]]; end > 0 {
			kernel.PrefetchAt(unsafe.Pointer(&b.ids[end-1]), 1)
		}
	}
}
