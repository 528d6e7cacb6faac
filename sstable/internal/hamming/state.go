package hamming

import (
	"context"
	"errors"
	"math/bits"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// The data of searches. An Index is what they share; a Searcher is the working memory of one at a
// time, with the plans of the searches that are under way. Everything else in the package is
// functions over these: by step, from the bottom up,
//
//	layout.go cost.go        permutations; what steps cost
//	shells.go radii.go       look up ranges; choose radii
//	plan.go                  steps 1 to 3 of a search
//	resolve.go scan.go       what a hit needs next; compare blocks
//	spans.go execute.go      compare ranges known exactly; step 4
//	searcher.go              the methods of Searcher for one query
//	items.go join*.go batch.go  many queries at once

// maxDistance is the greatest distance of two words.
const maxDistance = base.FingerprintBits

// Search is memory-latency bound, so it prefetches. Where the keys of a range lie in their block is
// known only once the block's unary part has been read; to prefetch about the right lines at once
// takes a few lines more, and is faster.
const (
	// prefetchAhead is how many probes the prefetch is ahead of the scan, at least, and
	// prefetchAheadMost at most: as many as have prefetchAheadKeys keys, which is enough to hide a
	// cache miss, and few enough to stay in the first cache.
	prefetchAhead, prefetchAheadMost = 8, 32
	prefetchAheadKeys                = 1344
	// prefetchKeys bounds the keys of a range that are prefetched at a guessed position.
	prefetchKeys = 2 * keyrun.BlockLen
	// prefetchIDs is how many hits have their IDs prefetched: those of more would not stay in the
	// first caches.
	prefetchIDs = 64
)

const (
	// maxRadius bounds the radius of one table: beyond it a scan of table 0 is cheaper on anything
	// that fits into memory.
	maxRadius = 8
	// maxShell bounds the probes at one distance in one table, and so the memory of a
	// Searcher.
	maxShell = 1 << 18
	// hotBlocks: a range is hot if more blocks start in it, and it has more than twice the mean
	// number of keys.
	hotBlocks = 4
	// overrunRatio: the radii are chosen again if the looked-up ranges cost more than this times
	// their estimate.
	overrunRatio = 1.5
	// longRangeRatio: measured cost / estimate above which we assume long ranges.
	longRangeRatio = 1.1
	// scanEstimateAbove: a search that costs more nanoseconds has its scan estimated even if no
	// range is hot.
	scanEstimateAbove = 1000
	// acceptShare: ranges that cost less than this part of a scan of uniform keys are taken as they
	// are, without a search for better radii.
	acceptShare = 0.5
	// scanMargin: a plan for mean ranges must cost less than this part of a scan.
	scanMargin = 0.7
	// hotPlanMargin: once a query hits hot ranges, a plan must cost less than this part of a scan,
	// because its cost estimate has no upper bound.
	hotPlanMargin = 0.3
	// lookUpShare: looking up the ranges of other radii may cost this part of what those radii may
	// cost.
	lookUpShare = 0.4
)

const (
	// prefetchNear is how many keys that are within the distance are prefetched whole at once.
	prefetchNear = 16
	// spanKeys is how many keys with one lead make it not worth knowing exactly where they lie, and
	// fewSpanKeys if there are but a few probes: prefetching the unary parts as well is faster
	// then, as a hit needs them.
	spanKeys, fewSpanKeys = 512, 64
	// stepKeys is how many keys are scanned before what is near is looked at, at least.
	stepKeys = 256
)

// groupTables is how many searches are planned together: what is prefetched for them has to stay in
// the first caches.
const groupTables = 16

// Hit is a document within the distance of a search.
type Hit struct {
	Doc         uint32           // its number in the table
	Distance    uint16           // bits that differ from the query
	Fingerprint base.Fingerprint // of several words, the one that was found by
}

// Stats counts the work of searches.
type Stats struct {
	Probes     int // ranges of table runs looked up
	Candidates int // keys compared with the query
	Scans      int // searches that read all of table 0
}

// An Index finds the fingerprints of one table that differ from a query in at most k bits. It is
// safe for concurrent use.
type Index struct {
	layout   Layout
	tables   []permuted
	disjoint []int       // tables whose leads do not overlap
	ids      *blobs.List // of the documents, to be prefetched for hits; or nil
	damage   error       // what makes searches impossible

	resolveNs float64 // nanoseconds to find the documents of a hit of a table after the first
	leastScan float64 // nanoseconds to estimate a scan, and for one that skips all blocks
	ahead     int     // probes that are prefetched while those before are scanned

	standard [maxDistance + 1]atomic.Pointer[allocation] // of each k, see standardPlan
}

// permuted is one permuted table, with what a probe of it needs to know.
type permuted struct {
	perm
	run   *keyrun.Run
	rest  uint64             // the bits of a key after the lead
	mean  float64            // keys with one lead, on average
	ahead int                // keys to prefetch for a range
	probe float64            // nanoseconds for a probe with the mean number of keys
	long  int                // a range of more blocks is scanned as the whole table is
	most  uint32             // a range of more keys is looked up in the directory
	shell [maxRadius + 1]int // number of leads at each distance from one
}

// A Searcher searches indexes, one search at a time. It holds the working memory of a search, so
// that the next one allocates nothing. Its zero value is ready. It must not be used concurrently.
type Searcher struct {
	stats Stats // of all searches since TakeStats

	planner
	plans    [groupTables]searchPlan // of the searches that are planned together
	found    []Hit                   // by a search of a group
	queries  []query                 // of a group
	hits     []Hit                   // of a table, by several words
	one      split                   // of fingerprints of one word
	batch    batch
	begun    spanList    // of the probes that the plans begin with
	turns    [2]spanList // of the current probes, and of the next ones
	near     []uint64    // values of the current spans within the distance, from kernel.ScanSpans
	permuted *searchPlan // the plan whose query was permuted last
	layout   Layout      // that it was permuted in
	pending  []pendingHit
	settled  int     // how many of these have been resolved
	scanned  int     // probes, with the current one
	extra    float64 // nanoseconds spent on keys whose low bits alone are within the distance
	pos      []uint32
	decoded  kernel.Keys
	dst      []Hit

	accept  func(i int, h Hit) (bool, error) // of first, or nil
	table   int                              // its first argument
	offered int                              // hits that have been passed to it
}

// An allocation is a way of searching: a radius for each table, or a scan.
type allocation struct {
	scan   bool
	flat   bool            // no radius is above 0
	radius [MaxTables]int8 // -1: the table is not probed
	ns     float64         // estimated cost

	// cost of its ranges up to which no other radii are tried, which would cost as much
	acceptNs float64
}

// A planner chooses the radii of one search.
//
// The cost of radius r in table t is the sum over the shells 0..r, a shell being the probes at one
// distance from the query's lead. Until the ranges of a shell are looked up we take it to be that
// of mean ranges. The choice starts from the best radii for mean ranges, which depend on k alone
// and are kept. It looks up their ranges, which a search must do anyway. If they cost about what
// was expected (uniform keys, or a cold part of skewed ones), they stand. Otherwise the query has
// met hot ranges: the radii are chosen again with the costs that are known now, and the ranges that
// they need are looked up, until there are radii whose shells are all known and that are far
// cheaper than a scan. Each round looks up at least one more shell, and the look-ups may cost no
// more than a share of the search (lookUpShare).
type planner struct {
	probes []keyrun.Probe
	// what the probes at one distance in one table cost, from real sizes
	shells [MaxTables][maxRadius + 1]float64
	known  [MaxTables]int8 // shells of a table that are looked up

	// Of the dynamic program: best[i][j] is the least cost of the first i disjoint tables with
	// sum(radius+1) = j, and pick the radius+1 of table i-1 in it.
	best [maxLayoutBlocks + 1][maxDistance + 2]float64
	pick [maxLayoutBlocks + 1][maxDistance + 2]int8
}

// A searchPlan is how one index is searched for one query.
type searchPlan struct {
	*allocation                  // nil if nothing is searched
	own         allocation       // where radii that were chosen for this query are kept
	first, end  int              // its probes: planner.probes[first:end]
	q           base.Fingerprint // what is searched for
	k           int
	keys        [MaxTables]uint64 // q permuted, for each table

	started         int        // probes that are prefetched when execution begins
	spans, spansEnd int        // theirs: Searcher.begun[spans:spansEnd]
	begun           spanCounts // of these spans
	flatNs          float64    // cost of its ranges, if it is flat
	exact           int        // how many of its ranges are exact, if it is flat
	scanNs          float64    // cost of a scan for this query, 0 while that is not known
}

// A spanList has the spans of some probes of a plan. The tag of a span is the number of its probe
// << 32 | its block.
type spanList struct {
	spans []kernel.Span
	spanCounts
}

type spanCounts struct {
	rest int // probes that are not in it
	keys int // of the spans
}

func (l *spanList) reset() { l.spans, l.spanCounts = l.spans[:0], spanCounts{} }

// A pendingHit is a fingerprint that a table after the first has found, with the blocks of run 0
// that may have it.
type pendingHit struct {
	hit   Hit // without document
	start int // the first block of run 0 that may have it
	end   int // and the one after the last
	table uint8
}

// A scanFor says what blocks are scanned for: keys of a table within k of q, the permuted query.
// The first lead bits of every key in question are off bits away from those of q.
type scanFor struct {
	*permuted
	plan  *searchPlan // nil for a scan
	table int         // its number
	q     uint64
	k     int
	lead  int
	off   int

	first, last uint64 // only keys between these are wanted, all others belong to other ranges

	extra float64 // Searcher.extra when it was last looked at
	// hits from start on are of this search; up to named their IDs are prefetched
	start, named int
}

func (f *scanFor) pointAt(x *Index, p *keyrun.Probe) *scanFor {
	if t := int(p.Table); t != f.table {
		f.table, f.permuted, f.q = t, &x.tables[t], f.plan.keys[t]
	}
	f.lead, f.off, f.first, f.last = f.leadBits, int(p.Dist), p.First, p.First|f.rest
	return f
}

// bound is how far the low bits of a key may be: the difference of the lead is known, unless low
// bits reach into it.
func (f *scanFor) bound(width int) int {
	if width <= 64-f.lead {
		return f.k - f.off
	}
	return f.k
}

// batch is the working memory of a batch.
type batch struct {
	order, spare []batchItem // queries as a table permutes them
	aside        []uint8     // of each query, 1 + the table where it was set aside, or 0
	// of each query, the cost of searching for it alone, 0 while that is not known
	alone []float32
	found []batchItem // fingerprints without their documents

	hits []Hit // of a query that is searched alone

	joinScratch
}

// A batchItem is a query, or a fingerprint that a query has found.
type batchItem struct {
	key      uint64
	query    uint32 // position in the batch
	distance uint16
}

// A batchCall is one call of Batch.
type batchCall struct {
	ctx     context.Context
	queries []base.Fingerprint
	k       int
	a       *allocation
	s       *Searcher
	emit    func(query int, h Hit) error
}

// joinScratch is the working memory of a join.
type joinScratch struct {
	keys      []uint64 // of the queries in order
	start     []uint32 // of each group, the position of its first query; one more than groups
	masks     []uint64 // the differences of leads within the radius
	occupancy []uint32 // of each group, about how many blocks its keys fill
	pairs     []uint64
}

// A join is the join of a batch with one table.
type join struct {
	*permuted
	table  int
	radius int
	bits   int     // that make a group
	limit  float64 // what a query may cost, unless a search of its own costs more
	all    bool    // every pair counts, whatever the table's lead

	block int // number of the first key of the current block
}

func (j *join) group(key uint64) uint64 { return key >> uint(64-j.bits) }

// errScan ends a search of which more is left to do than a scan takes.
var errScan = errors.New("a scan is cheaper")

// errAccepted ends a search, one of whose hits has been accepted.
var errAccepted = errors.New("sstable: a hit has been accepted")

// foundBefore reports whether a table before t reports a fingerprint that has these differences to
// a query, if all queries are searched for with these radii.
func (x *Index) foundBefore(a *allocation, t int, diff uint64) bool {
	for earlier := range t {
		if bits.OnesCount64(diff&x.tables[earlier].leadMask) <= int(a.radius[earlier]) {
			return true
		}
	}
	return false
}

// A query is a search of a group: for the fingerprints of an index within k bits of q.
type query struct {
	*Index
	q     base.Fingerprint
	k     int16
	word  int16 // of a Wide
	table int32 // that it is of
}

// start forgets the plans that have been made.
func (s *Searcher) start() {
	s.probes = s.probes[:0]
	s.begun.reset()
}

// A split is how a distance is distributed over words.
type split struct {
	scan   bool
	radius [base.MaxWords]int16 // -1: the word is not searched
	ns     float64              // estimated cost
}
