package hamming

import (
	"context"
	"errors"
	"math/bits"
	"sync/atomic"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// The data of searches. All searches share an Index; a Searcher holds the buffers of one search at
// a time, with the plans of the searches in progress. The other files have functions on these
// types, by step, from the bottom up:
//
//	layout.go cost.go        permutations; costs of steps
//	shells.go radii.go       look up ranges; choose radii
//	plan.go                  steps 1 to 3 of a search
//	resolve.go scan.go       process hits; compare blocks
//	spans.go execute.go      compare ranges known exactly; step 4
//	searcher.go              the methods of Searcher for one query
//	items.go join*.go batch.go  many queries at once

// maxDistance is the greatest distance of two words.
const maxDistance = base.FingerprintBits

// Searches are bound by the latency of memory, so they prefetch. The positions of the keys of a
// range in their block are known only after reading the block's unary part; prefetching roughly the
// right lines at once loads a few lines more, but is faster.
const (
	// The prefetch is at least prefetchAhead and at most prefetchAheadMost probes ahead of the
	// scan. Between these limits, it is as many probes ahead as have prefetchAheadKeys keys, enough
	// to hide a cache miss, and few enough to stay in the first cache.
	prefetchAhead, prefetchAheadMost = 8, 32
	prefetchAheadKeys                = 1344
	// prefetchKeys bounds the keys of a range that are prefetched at a guessed position.
	prefetchKeys = 2 * keyrun.BlockLen
	// prefetchIDs is for how many hits IDs are prefetched: more would not stay in the first caches.
	prefetchIDs = 64
)

const (
	// maxRadius bounds the radius of one table: beyond it, a scan of table 0 is cheaper for any
	// table that fits into memory.
	maxRadius = 8
	// maxShell bounds the probes at one distance in one table, and so the memory of a Searcher.
	maxShell = 1 << 18
	// hotBlocks: a range is hot if more blocks than this start in it, and it has more than twice
	// the mean number of keys.
	hotBlocks = 4
	// overrunRatio: the radii are chosen again if the looked-up ranges cost more than this multiple
	// of their estimate.
	overrunRatio = 1.5
	// longRangeRatio: if the measured cost exceeds this multiple of the estimate, we assume long
	// ranges.
	longRangeRatio = 1.1
	// scanEstimateAbove: for a search that costs more nanoseconds than this, the scan is estimated
	// even if no range is hot.
	scanEstimateAbove = 1000
	// acceptShare: ranges that cost less than this share of a scan of uniform keys are accepted
	// without a search for better radii.
	acceptShare = 0.5
	// scanMargin: a plan for mean ranges must cost less than this share of a scan.
	scanMargin = 0.7
	// hotPlanMargin: once a query meets hot ranges, a plan must cost less than this share of a
	// scan, because its cost estimate has no upper bound.
	hotPlanMargin = 0.3
	// lookUpShare: looking up the ranges of other radii may cost this share of the allowed cost of
	// those radii.
	lookUpShare = 0.4
)

const (
	// prefetchNear is how many keys within the distance are prefetched whole at once.
	prefetchNear = 16
	// With spanKeys or more keys per lead, or fewSpanKeys if there are only a few probes, it is not
	// worth knowing their exact positions: then prefetching the unary parts as well is faster,
	// since a hit needs them.
	spanKeys, fewSpanKeys = 512, 64
	// stepKeys is the minimum number of keys that are scanned before near ones are processed.
	stepKeys = 256
)

// A table of up to cachedKeys fingerprints stays in the second or third cache.
const cachedKeys = 1 << 18

// groupTables is how many searches are planned together: the data prefetched for them must stay in
// the first caches.
const groupTables = 16

// Hit is a document within the distance of a search.
type Hit struct {
	Doc         uint32           // its number in the table
	Distance    uint16           // number of bits that differ from the query
	Fingerprint base.Fingerprint // the word by which it was found, if there are several
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
	ids      *blobs.List // IDs of the documents, to prefetch them for hits; or nil
	damage   error       // if not nil, the error of every search
	cached   bool        // few enough keys for a near cache: prefetching would cost more than it saves

	resolveNs float64 // nanoseconds to find the documents of a hit of a later table
	leastScan float64 // nanoseconds of a scan that skips all blocks, including its estimate
	ahead     int     // probes prefetched ahead of the scan

	standard [maxDistance + 1]atomic.Pointer[allocation] // indexed by k, see standardPlan
}

// permuted is one permuted table, with the data that a probe needs.
type permuted struct {
	perm
	run   *keyrun.Run
	rest  uint64             // the bits of a key after the lead
	mean  float64            // keys with one lead, on average
	ahead int                // keys to prefetch for a range
	probe float64            // nanoseconds for a probe with the mean number of keys
	long  int                // a range of more blocks is scanned like a whole table
	most  uint32             // a range of more keys is looked up in the directory
	shell [maxRadius + 1]int // number of leads at each distance from a given one
}

// A Searcher searches indexes, one search at a time. It holds the buffers of a search, so that the
// next one allocates nothing. Its zero value is ready to use. It must not be used concurrently.
type Searcher struct {
	stats Stats // of all searches since TakeStats

	planner
	plans    [groupTables]searchPlan // of the searches that are planned together
	found    []Hit                   // hits of one search of a group
	queries  []query                 // the searches of a group
	hits     []Hit                   // hits in one table by all words
	one      split                   // the split for fingerprints of one word
	batch    batch
	begun    spanList    // spans of the first probes of the plans
	turns    [2]spanList // spans of the current probes, and of the next ones
	near     []uint64    // values of the current spans within the distance, from kernel.ScanSpans
	permuted *searchPlan // the plan whose query was permuted last
	layout   Layout      // layout of permuted
	pending  []pendingHit
	settled  int     // number of pending hits that have been resolved
	scanned  int     // probes scanned, including the current one
	extra    float64 // nanoseconds spent on keys of which only the low bits are within the distance
	pos      []uint32
	decoded  kernel.Keys
	dst      []Hit

	accept  func(i int, h Hit) (bool, error) // accept of first, or nil
	table   int                              // its first argument
	offered int                              // number of hits that have been passed to accept
}

// An allocation is a way to search: a radius for each table, or a scan.
type allocation struct {
	scan   bool
	flat   bool            // no radius is above 0
	radius [MaxTables]int8 // -1: the table is not probed
	ns     float64         // estimated cost

	// if the ranges cost no more than this, no other radii are tried, since that would cost as much
	acceptNs float64
}

// A planner chooses the radii of one search.
//
// The cost of radius r in table t is the sum over the shells 0..r; a shell has the probes at one
// distance from the query's lead. Until the ranges of a shell have been looked up, the planner
// assumes ranges of mean size. The choice starts from the best radii for mean ranges, which depend
// only on k and are cached. The planner looks up their ranges, which a search must do anyway. If
// they cost about as much as expected (uniform keys, or a cold part of skewed ones), the radii are
// final. Otherwise the query has hot ranges: the planner chooses radii again with the costs known
// by now, and looks up the ranges they need, until all shells of the chosen radii are known and the
// radii are far cheaper than a scan. Each round looks up at least one more shell, and look-ups may
// cost no more than a share of the search (lookUpShare).
type planner struct {
	probes []keyrun.Probe
	// cost of the probes at each distance in each table, from the real sizes of ranges
	shells [MaxTables][maxRadius + 1]float64
	known  [MaxTables]int8 // number of shells that have been looked up, by table

	// The dynamic program: best[i][j] is the least cost of the first i disjoint tables with
	// sum(radius+1) = j, and pick[i][j] is the radius+1 of table i-1 in it.
	best [maxLayoutBlocks + 1][maxDistance + 2]float64
	pick [maxLayoutBlocks + 1][maxDistance + 2]int8
}

// A searchPlan says how one index is searched for one query.
type searchPlan struct {
	*allocation                  // nil if nothing is searched
	own         allocation       // buffer for radii that were chosen for this query
	first, end  int              // its probes: planner.probes[first:end]
	q           base.Fingerprint // the query
	k           int
	keys        [MaxTables]uint64 // q permuted, for each table

	short           bool       // looked up by lookUpAtOnce, when it is executed
	started         int        // number of probes that are prefetched before execution starts
	spans, spansEnd int        // their spans: Searcher.begun[spans:spansEnd]
	begun           spanCounts // counts of these spans
	flatNs          float64    // cost of the ranges, if flat
	exact           int        // number of exact ranges, if flat
	scanNs          float64    // cost of a scan for this query, 0 if it is not known yet
}

// A spanList has the spans of some probes of a plan. The tag of a span is the index of its probe <<
// 32 | its block.
type spanList struct {
	spans []kernel.Span
	spanCounts
}

type spanCounts struct {
	rest int // number of probes without spans in the list
	keys int // number of keys in the spans
}

func (l *spanList) reset() { l.spans, l.spanCounts = l.spans[:0], spanCounts{} }

// A pendingHit is a fingerprint that a later table has found, with the blocks of run 0 that may
// have it.
type pendingHit struct {
	hit   Hit // without document
	start int // the first block of run 0 that may have it
	end   int // the block after the last one that may have it
	table uint8
}

// A scanFor describes what a scan of blocks looks for: keys of a table within k of q, the permuted
// query. The first lead bits of every candidate key are off bits away from those of q.
type scanFor struct {
	*permuted
	plan  *searchPlan // nil for a scan
	table int         // index of the table
	q     uint64
	k     int
	lead  int
	off   int

	first, last uint64 // bounds of the range; other keys belong to other ranges

	extra float64 // Searcher.extra at the last check by worthwhile
	// hits from start on belong to this search; the IDs of those before named have been prefetched
	start, named int
}

func (f *scanFor) pointAt(x *Index, p *keyrun.Probe) *scanFor {
	if t := int(p.Table); t != f.table {
		f.table, f.permuted, f.q = t, &x.tables[t], f.plan.keys[t]
	}
	f.lead, f.off, f.first, f.last = f.leadBits, int(p.Dist), p.First, p.First|f.rest
	return f
}

// bound is how far the low bits of a key may be from the query's: the distance of the lead is
// known, unless low bits reach into it.
func (f *scanFor) bound(width int) int {
	if width <= 64-f.lead {
		return f.k - f.off
	}
	return f.k
}

// batch has the buffers of a batch.
type batch struct {
	order, spare []batchItem // queries with their keys in the current table
	aside        []uint8     // by query: 1 + the table where it was set aside, or 0
	// by query: the cost of searching for it alone, 0 if it is not known yet
	alone []float32
	found []batchItem // fingerprints without their documents

	hits []Hit // of one query that is searched for alone

	joinScratch
}

// A batchItem is a query, or a fingerprint that a query has found.
type batchItem struct {
	key      uint64
	query    uint32 // index in the batch
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

// joinScratch has the buffers of a join.
type joinScratch struct {
	keys      []uint64 // keys of the queries, sorted
	start     []uint32 // by group: the position of its first query; one entry more than groups
	masks     []uint64 // the differences of leads within the radius
	occupancy []uint32 // by group: about how many blocks its keys fill
	pairs     []uint64
}

// A join is the join of a batch with one table.
type join struct {
	*permuted
	table  int
	radius int
	bits   int     // number of leading bits that define a group
	limit  float64 // maximum cost of a query, unless a search of its own costs more
	all    bool    // every pair counts, whatever its leads

	block int // number of the first key of the current block
}

func (j *join) group(key uint64) uint64 { return key >> uint(64-j.bits) }

// errScan ends a search if the rest would cost more than a scan.
var errScan = errors.New("a scan is cheaper")

// errAccepted ends a search when a hit has been accepted.
var errAccepted = errors.New("sstable: a hit has been accepted")

// foundBefore reports whether a table before t reports a fingerprint with this difference to a
// query, if all queries are searched for with the radii of a.
func (x *Index) foundBefore(a *allocation, t int, diff uint64) bool {
	for earlier := range t {
		if bits.OnesCount64(diff&x.tables[earlier].leadMask) <= int(a.radius[earlier]) {
			return true
		}
	}
	return false
}

// A query is one search of a group: for the fingerprints of an index within k bits of q.
type query struct {
	*Index
	q     base.Fingerprint
	k     int16
	word  int16 // index of the word in a Wide
	table int32 // index of the table
}

// start discards all plans.
func (s *Searcher) start() {
	s.probes = s.probes[:0]
	s.begun.reset()
}

// A split says how a distance is distributed over the words.
type split struct {
	scan   bool
	radius [base.MaxWords]int16 // -1: the word is not searched
	ns     float64              // estimated cost
}
