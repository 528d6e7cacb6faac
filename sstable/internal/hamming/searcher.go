package hamming

import (
	"github.com/simdb/simdb/internal/kernel"
)

// Stats counts the work of searches.
type Stats struct {
	Probes     int // ranges of table runs looked up
	Candidates int // keys compared with the query
	Scans      int // searches that read all of table 0
}

// A Searcher searches indexes, one search at a time. It holds the working memory of a search, so
// that the next one allocates nothing. Its zero value is ready. It must not be used concurrently.
type Searcher struct {
	stats Stats // of all searches since TakeStats

	planner
	plans    [groupTables]searchPlan // of the searches that are planned together
	group    []Hit                   // of a table of a group
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

	accept  func(table int, h Hit) (bool, error) // of First, or nil
	table   int                                  // its first argument
	offered int                                  // hits that have been passed to it
}

// TakeStats returns the work of the searches since it was called last. Group passes the work of its
// searches to its callback instead.
func (s *Searcher) TakeStats() Stats {
	work := s.stats
	s.stats = Stats{}
	return work
}

// Near appends to dst every document of x whose fingerprint differs from q in at most k bits, each
// once and in no particular order.
func (s *Searcher) Near(x *Index, q uint64, k int, dst []Hit) ([]Hit, error) {
	p := s.planOne(x, q, k)
	return x.execute(s, p, dst)
}

// planOne takes the first three steps of a single search.
func (s *Searcher) planOne(x *Index, q uint64, k int) *searchPlan {
	s.start()
	p := &s.plans[0]
	x.prepare(q, k, s, p)
	x.resolveLeads(s, p)
	x.choose(s, p)
	return p
}

// start forgets the plans that have been made.
func (s *Searcher) start() {
	s.probes = s.probes[:0]
	s.begun.reset()
}
