package hamming

import (
	"math"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// The join of a batch with a table compares groups. A group has the queries, or the keys, with the
// same leading bits. The join decodes each block once, into the first cache, and compares the keys
// of each group with the queries of all groups within the table's radius.
//
//	queries, sorted  |  group 0  |  group 1  |  group 2   | ...   start[g]: first query of group g
//	                       \      |     \ |                       radius 1: groups whose leads
//	decoded block           ... keys of lead 0 | keys of lead 1     differ in one bit
//
// The number of bits that define a group is chosen to make the join cheapest. It may be smaller
// than the lead of the table: the pairs whose leading group bits are within the radius include all
// pairs whose leads are, and the others are dropped when they are found. So one algorithm serves
// leads of 8 bits and of 32, and many queries as well as very many; with groups of no bits it is a
// scan.

const (
	// maxJoinBits bounds the array of groups.
	maxJoinBits = 18
	// joinAhead is how many blocks ahead the join prefetches: the hardware does not prefetch beyond
	// a page.
	joinAhead = 3
	// joinRows is how many queries are compared with the keys of a group before the pairs are
	// processed.
	joinRows = 64
)

// A joinModel has the times of the steps of a join, in nanoseconds on one core, including waits for
// memory; see BenchmarkScanMany and BenchmarkDecode.
type joinModel struct {
	decode float64 // decode a key
	look   float64 // find that a group has no queries
	group  float64 // start on a group that has queries
	pair   float64 // compare a query with a key
}

// joinOf serves all kernels, as cost does: AVX-512 compares a pair in 0.04 ns, AVX2 in 0.27 and
// pure Go in 0.9.
var joinOf = joinModel{decode: 0.8, look: 2.5, group: 20, pair: 0.1}

// joinCost is the expected cost of joining table t by groups of the given number of bits, if keys
// and queries are spread evenly.
func (x *Index) joinCost(t, radius, bits, queries int) float64 {
	n, groups := float64(x.tables[t].run.Len()), math.Ldexp(1, bits)
	masks := 0.0
	for d := range radius + 1 {
		masks += ways(bits, min(d, bits))
	}
	// The kernel compares tiles of four queries; the last tile of a group is only partly filled,
	// which counts as 1.5 more queries.
	rows := float64(queries) / groups
	filled := 1 - math.Exp(-rows) // share of the groups that have queries (Poisson)
	rows += 1.5 * filled
	visits := min(groups, n) * masks
	return n*joinOf.decode + groups + visits*(joinOf.look+filled*joinOf.group+rows*max(n/groups, 1)*joinOf.pair)
}

// joinBits returns the number of bits for which joining table t is cheapest, and the cost.
func (x *Index) joinBits(t, radius, queries int) (bits int, ns float64) {
	ns = math.Inf(1)
	for b := min(radius, x.tables[t].leadBits); b <= min(x.tables[t].leadBits, maxJoinBits); b++ {
		if c := x.joinCost(t, radius, b, queries); c < ns {
			bits, ns = b, c
		}
	}
	return bits, ns
}

// joinTable joins the queries in w.order with a table.
func (x *Index) joinTable(c *batchCall, j *join) error {
	w := &c.s.batch
	j.run.LoadDirectory()
	w.fillMasks(j.bits, j.radius)
	w.countOccupancy(j)
	x.groupQueries(c, j)
	// Each block is decoded once, whatever the number of queries.
	for b := range j.run.NumBlocks() {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if ahead := b + joinAhead; ahead < j.run.NumBlocks() && w.wants(j, ahead) {
			j.run.PrefetchBlock(ahead)
		}
		if !w.wants(j, b) {
			continue
		}
		if err := j.run.Check(b); err != nil {
			return err
		}
		j.block = b << keyrun.BlockShift
		keys := j.run.Decode(b, j.run.Info(b), 0, j.run.Count(b), &c.s.decoded)
		if err := x.joinBlock(c, j, keys); err != nil {
			return err
		}
		if err := x.resolveSome(c, j.table); err != nil {
			return err
		}
	}
	return x.resolveFound(c, j.table)
}

// wants reports whether there may be queries for the keys of block b.
func (w *batch) wants(j *join, b int) bool {
	if len(w.masks) > 1 {
		return true
	}
	last := j.run.Greatest()
	if b+1 < j.run.NumBlocks() {
		last = j.run.Base(b + 1)
	}
	return w.start[j.group(j.run.Base(b))] < w.start[j.group(last)+1]
}

// fillMasks lists the numbers of width bits with at most radius bits set: the differences of leads.
func (w *batch) fillMasks(width, radius int) {
	w.masks = append(w.masks[:0], 0)
	for d := 1; d <= min(radius, width); d++ {
		mask := uint64(1)<<uint(d) - 1
		for n := ways(width, d); n > 0; n-- {
			w.masks = append(w.masks, mask)
			low := mask & -mask // Gosper's hack, as in addShell
			up := mask + low
			mask = up | (mask^up)>>2>>uint(bits.TrailingZeros64(low))
		}
	}
}

// countOccupancy counts the blocks that start in each group. It leaves occupancy empty if no query
// can cost more than the limit.
func (w *batch) countOccupancy(j *join) {
	w.occupancy = append(w.occupancy[:0], make([]uint32, 1<<j.bits)...)
	most := uint32(0)
	for b := range j.run.NumBlocks() {
		blocks := &w.occupancy[j.group(j.run.Base(b))]
		*blocks++
		most = max(most, *blocks)
	}
	if j.all || float64(most)*float64(len(w.masks))*keyrun.BlockLen*joinOf.pair <= j.limit {
		w.occupancy = w.occupancy[:0]
	}
}

// price is the approximate cost of a query of a group.
func (w *batch) price(group uint64) float64 {
	if len(w.occupancy) == 0 {
		return 0
	}
	blocks := uint32(0)
	for _, mask := range w.masks {
		blocks += w.occupancy[group^mask]
	}
	return float64(blocks) * keyrun.BlockLen * joinOf.pair
}

// groupQueries fills keys and start from the queries in w.order. It sets aside those for which a
// search of their own is cheaper.
func (x *Index) groupQueries(c *batchCall, j *join) {
	w := &c.s.batch
	w.keys = slices.Grow(w.keys[:0], len(w.order))
	w.start = append(w.start[:0], make([]uint32, 1<<j.bits+1)...)
	kept, next := 0, uint64(0)
	price := 0.0
	for i, item := range w.order {
		if group := j.group(item.key); group >= next {
			for ; next <= group; next++ {
				w.start[next] = uint32(kept)
			}
			price = w.price(group)
		}
		if price > j.limit && price > x.alonePrice(c, item.query) {
			w.aside[item.query] = uint8(j.table + 1)
			continue
		}
		if kept < i {
			w.order[kept] = item
		}
		kept++
		w.keys = append(w.keys, item.key)
	}
	for ; next < uint64(len(w.start)); next++ {
		w.start[next] = uint32(kept)
	}
	w.order = w.order[:kept]
}

// alonePrice is the expected cost of a search for one query.
func (x *Index) alonePrice(c *batchCall, query uint32) float64 {
	price := &c.s.batch.alone[query]
	if *price == 0 {
		*price = float32(aloneFactor * c.s.planOne(x, c.queries[query], c.k).ns)
	}
	return float64(*price)
}

func (x *Index) joinBlock(c *batchCall, j *join, keys []uint64) error {
	w := &c.s.batch
	for lo := 0; lo < len(keys); {
		// keys[lo:hi] belong to one group.
		group := j.group(keys[lo])
		hi := len(keys)
		if j.group(keys[hi-1]) != group {
			hi = lo + countLess(keys[lo:], (group+1)<<uint(64-j.bits))
		}
		for _, mask := range w.masks {
			from, to := w.start[group^mask], w.start[group^mask+1]
			for ; from < to; from += joinRows {
				end := min(to, from+joinRows)
				c.s.stats.Candidates += int(end-from) * (hi - lo)
				w.pairs = kernel.ScanMany(w.pairs[:0], w.keys[from:end], keys[lo:hi], c.k)
				for _, p := range w.pairs {
					at := lo + int(uint32(p))
					if err := x.joined(c, j, w.order[from+uint32(p>>32)], at, keys[at]); err != nil {
						return err
					}
				}
			}
		}
		c.s.stats.Probes += len(w.masks)
		lo = hi
	}
	return nil
}

// joined processes a pair of a query and the key at a position of the current block, unless another
// table reports it.
func (x *Index) joined(c *batchCall, j *join, q batchItem, at int, key uint64) error {
	diff := key ^ q.key
	distance := uint16(bits.OnesCount64(diff))
	if !j.all && j.bits < j.leadBits && bits.OnesCount64(diff&^j.rest) > j.radius {
		return nil
	}
	if j.table == 0 {
		return c.emit(int(q.query), Hit{uint32(j.block + at), distance, key})
	}
	if !x.foundBefore(c.a, j.table, j.invert(diff)) {
		w := &c.s.batch
		w.found = append(w.found, batchItem{j.invert(key), q.query, distance})
	}
	return nil
}
