package setjoin

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/internal/selfjoin"
)

// Options are the options of joins. The zero value is ready for use.
type Options struct {
	// Memory is roughly the number of bytes for the index; 0 means 1 GiB, and the minimum is 1
	// MiB. It does not affect the result.
	Memory int64
	// Workers is the number of goroutines that compare; 0 means GOMAXPROCS. It does not affect
	// the result.
	Workers int
	// Order lists sets in the order of preference, each once; nil means by number. Sets that it
	// omits are not joined.
	Order []uint32
	// Known is the number of known sets at the beginning of the order: they become keepers even
	// if they resemble other keepers, unless they equal an earlier known set (with Same: one of the same number). Only Stars uses it.
	Known     int
	OnlyKnown bool // in Stars, sets join only known ones
	// Accept, if not nil, reports whether two sets that are similar enough may match. It must be
	// safe for concurrent use.
	Accept func(a, b int) bool
	// Same, if not nil, gives each set a number: sets with one number are equal, and Accept
	// treats them alike. If many may not match each other, Stars compares others only with the
	// first keeper.
	Same []uint32
	// Judge returns a Judge for each goroutine, for sets that represent texts.
	Judge func() Judge
	// Progress, if not nil, is called now and then with the number of comparisons with an index
	// that are done, and their total, which may grow.
	Progress func(done, total int)
	// Crowded, if not nil, is called once when crowds of sets that share most of their elements
	// may make time quadratic in their number: the join is slow, and has visited each entries per
	// set on average.
	Crowded func(each int)

	each   int           // entries per set from which on the join is Crowded; 0 means CrowdedEach
	after  time.Duration // time after which the join may be Crowded; 0 means CrowdedAfter
	window int           // most sets in a window; 0 means mostWindow
	least  int64         // lower bound of Memory in bytes; 0 means leastMemory
	found  int           // matches in a window; 0 means mostFound
	crowd  int           // sets that may become a crowd; 0 means leastCrowd
	tally  bool          // whether common elements are counted without an estimate
	loose  int           // nodes of an index before some become postings; 0 means a share of Memory
}

// Assignment is the result of star clusters: for each set its keeper, and their Jaccard
// similarity, which is 1 for a keeper, as it is its own keeper.
type Assignment struct {
	Keeper []uint32
	Score  []float64
}

const (
	leastMemory = 1 << 20
	leastWindow = 256
	mostWindow  = 1 << 13
	windowElems = 1 << 19 // elements of the sets in a window, unless it has one set
	workerRun   = 16      // sets that a worker processes in a run

	mostFound = 1 << 20 // matches in a window
	mostGap   = 1 << 7  // sets that a worker skips, as others process them or they are decided
)

// A join is Crowded if it has visited CrowdedEach entries per set and has run for CrowdedAfter.
// Ordinary texts visit some hundred.
const (
	CrowdedEach  = 5000
	CrowdedAfter = 10 * time.Second
)

type join struct {
	s       *Sets
	ctx     context.Context
	t       threshold
	o       Options
	index   index // sets before the window, or the keepers among them
	within  index // sets of the window
	workers []*worker
	items   []item           // sets of the window
	all     bool             // every match of every item is wanted
	twins   map[uint64]twin  // Components: by prefix.sum; else nil
	forest  *selfjoin.Forest // Components: connected sets; a match then names the least set of its part
	found   atomic.Int64     // matches of a window's items with the index
	window  int              // most sets in the next window
	done    int              // comparisons made
	begun   time.Time
	finder  finder // of the goroutine that decides
	judge   Judge  // of the goroutine that decides
}

// item is a set of the window.
type item struct {
	set     uint32
	hashes  []uint64
	prefix  prefix
	best    match   // for star clusters
	entry   uint32  // the entry of best, if the current search has found it, else 0
	matches []match // for pairs; nil if they are not collected
	twin    bool    // Components: it has a twin
}

// decided reports whether no better match is possible and no others are wanted. Such an item is
// not read.
func (it *item) decided() bool {
	return it.best.set != none && it.best.score == 1 && it.matches == nil
}

// match is a set that resembles an item; none stands for no set.
type match struct {
	set   uint32
	score float64
}

func newJoin(ctx context.Context, s *Sets, t float64, o Options) (*join, error) {
	if !(t > 0 && t <= 1) {
		return nil, errors.New("setjoin: the threshold must be above 0 and up to 1")
	}
	if s.counts == nil {
		return nil, errors.New("setjoin: the elements were not counted")
	}
	s.endCounting()
	m := s.o.Measure
	switch {
	case m.Kind.comparesElements():
		o.Judge = func() Judge { return nil }
	case o.Judge == nil:
		return nil, errors.New("setjoin: no function compares the sets")
	case m.Kind == Edits && (t < LeastEdits || m.Q != EditGrams(t)):
		return nil, errors.New("setjoin: the runs were made with another threshold")
	}
	if o.Memory <= 0 {
		o.Memory = 1 << 30
	}
	if o.least <= 0 {
		o.least = leastMemory
	}
	o.Memory = max(o.Memory, o.least)
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.each <= 0 {
		o.each, o.after = CrowdedEach, CrowdedAfter
	}
	if o.window <= 0 {
		o.window = mostWindow
	}
	if o.found <= 0 {
		o.found = mostFound
	}
	if o.crowd <= 0 {
		o.crowd = leastCrowd
	}
	if o.loose <= 0 {
		o.loose = int(min(o.Memory/nodeBytes/packShare, mostLoose))
		if m.Kind == Edits { // many entries share a tag, and long chains are slow
			o.loose = min(o.loose, mostLooseEdits)
		}
	}
	j := &join{s: s, ctx: ctx, t: m.threshold(t), o: o, judge: o.Judge(), window: min(leastWindow, o.window), begun: time.Now()}
	j.finder.t = j.t
	if m.Kind == Contained {
		j.bySize()
	}
	postings := min(j.t.postings(s), o.Memory/postingBytes)
	j.index.packed = newPacked(j.t, postings, o.loose)
	if m.Kind.comparesSets() {
		j.formCrowds()
	}
	for range o.Workers {
		reader := s.Reader()
		reader.gap = mostGap
		j.workers = append(j.workers, &worker{join: j, reader: reader, keepers: s.Reader(), prefixer: prefixer{counts: s.counts, t: j.t}, finder: finder{t: j.t}, judge: o.Judge()})
	}
	return j, nil
}

// bySize sorts the sets by decreasing size, except for known sets.
func (j *join) bySize() {
	order := slices.Clone(j.o.Order)
	for n := range j.len() - len(order) {
		order = append(order, uint32(n))
	}
	slices.SortStableFunc(order[j.o.Known:], func(a, b uint32) int {
		return cmp.Compare(j.s.Size(int(b)), j.s.Size(int(a)))
	})
	j.o.Order = order
}

// at returns the set at a position of the order.
func (j *join) at(pos int) uint32 {
	if j.o.Order == nil {
		return uint32(pos)
	}
	return j.o.Order[pos]
}

// hasRoom reports whether the index has memory for another window.
func (j *join) hasRoom() bool {
	return j.index.bytes() < j.o.Memory && !j.index.full()
}

func (j *join) formCrowds() {
	reader := j.s.Reader()
	form := func(x *index, read func(set uint32) ([]uint64, error)) {
		x.crowds = &crowds{counts: j.s.counts, t: j.t, any: j.t.higher(0), most: j.o.crowd, read: func(entry uint32) ([]uint64, error) {
			return read(x.sets[entry])
		}}
	}
	form(&j.index, func(set uint32) ([]uint64, error) { return reader.Append(nil, int(set)) })
	form(&j.within, func(n uint32) ([]uint64, error) { return j.items[n].hashes, nil })
}

// full reports whether another window may exceed the limits of postings, regardless of memory.
func (x *index) full() bool {
	return x.packed != nil && (len(x.sets) > mostEntries-mostWindow || x.packed.n > mostPostings/2)
}

// load reads the sets of a window from pos on, in parallel, calling fn for each before reading
// it, and compares them with the index. It returns the position after the window. A window ends
// at the item whose matches bring the total above Options.found.
func (j *join) load(pos int, fn func(w *worker, it *item)) (end int, err error) {
	if err := j.ctx.Err(); err != nil {
		return pos, err
	}
	j.items = j.items[:0]
	for elems := 0; pos+len(j.items) < j.len() && len(j.items) < j.window; {
		set := j.at(pos + len(j.items))
		elems += j.s.Size(int(set))
		if len(j.items) > 0 && elems > windowElems {
			break
		}
		j.items = append(j.items, item{set: set, best: match{set: none}})
	}
	j.window = min(2*j.window, j.o.window)
	j.found.Store(0)
	var next atomic.Int64
	errs := make([]error, len(j.workers))
	var wg sync.WaitGroup
	for n, w := range j.workers[:min(len(j.workers), (len(j.items)+workerRun-1)/workerRun)] {
		wg.Go(func() { errs[n] = w.run(&next, fn) })
	}
	wg.Wait()
	if j.found.Load() > int64(j.o.found) {
		found, n := 0, 0
		for ; found <= j.o.found; n++ {
			found += len(j.items[n].matches)
		}
		j.items = j.items[:n]
		j.window = max(n, workerRun)
	}
	return pos + len(j.items), errors.Join(errs...)
}

// len returns the number of sets to join.
func (j *join) len() int {
	if j.o.Order == nil {
		return j.s.Len()
	}
	return len(j.o.Order)
}

// report reports progress: n more comparisons are done, and left remain.
func (j *join) report(n, left int) {
	visited := j.finder.visited
	for _, w := range j.workers {
		visited += w.finder.visited
	}
	if j.done += n; j.o.Crowded != nil && visited/j.done >= j.o.each && time.Since(j.begun) >= j.o.after {
		j.o.Crowded(visited / j.done)
		j.o.Crowded = nil
	}
	if j.o.Progress != nil {
		j.o.Progress(j.done, j.done+left)
	}
}

// passes compares an item with the entries of an index. If many entries are connected, it
// compares a few first: if one of a crowd matches, the rest is skipped.
func (j *join) passes(it *item, in *index, compare func(it *item) error) error {
	if p := &it.prefix; in.many {
		p.connected = func(part uint32) bool { return j.connected(it, part) }
		p.few = true
		err := compare(it)
		if p.few = false; err != nil {
			return err
		}
	}
	return compare(it)
}

// search calls try for the entries of an index that may match an item, until it returns true.
func (j *join) search(f *finder, it *item, in *index, try func(entry uint32) (done bool, err error)) error {
	it.entry, it.prefix.next = 0, 0
	for more := true; more; {
		var found []uint32
		found, more = f.candidates(in, &it.prefix, j.least(it), j.best(it))
		for _, entry := range found {
			if done, err := try(entry); done || err != nil {
				return err
			}
		}
	}
	return nil
}

// apart reports whether the bitmaps prove that an item and an entry do not match.
func (j *join) apart(it *item, in *index, entry uint32) bool {
	switch j.t.Kind {
	case Edits:
		return false
	case Cosine:
		return it.prefix.bitmap.differ(&in.bitmaps[entry]) > mostWords(it.prefix.length, in.lengths[entry], j.least(it).t)
	case Weighted:
		x, y := it.prefix.length, in.lengths[entry]
		return min(x, y) < j.least(it).t*(1-rounding)*max(x, y)
	}
	x, y := it.prefix.size, int(in.sizes[entry])
	return it.prefix.bitmap.differ(&in.bitmaps[entry]) > x+y-2*j.least(it).about(x, y)
}

// compare compares an item with a set, which is an entry, and reports whether the item needs no
// further comparisons.
func (j *join) compare(judge Judge, it *item, in *index, entry, set uint32, hashes []uint64) (done bool, err error) {
	if j.o.Accept != nil && !j.o.Accept(int(set), int(it.set)) { // cheaper than comparing
		return false, nil
	}
	m := match{set: set}
	ok := false
	if judge == nil {
		m.score, ok = j.common(it, hashes)
	} else if j.t.Kind != Cosine || mayBeCosine(it.hashes, hashes, it.prefix.length*in.lengths[entry], j.least(it).t) {
		m.score, ok, err = judge.Compare(int(it.set), int(set))
	}
	if !ok || err != nil {
		return false, err
	}
	if it.matches != nil {
		it.matches = append(it.matches, match{j.part(set), m.score})
	}
	if it.best.set == none || m.score > it.best.score || m.score == it.best.score && entry < it.entry {
		it.best, it.entry = m, entry
	}
	return m.score == 1 && !j.all, nil
}

// least returns the threshold that matches of an item have to reach from now on.
func (j *join) least(it *item) threshold {
	if it.matches == nil && it.best.set != none {
		return j.t.higher(max(j.t.t, it.best.score))
	}
	return j.t
}

// best reports whether only the best match of an item is wanted.
func (j *join) best(it *item) bool {
	return it.matches == nil && j.o.Accept == nil && (j.t.Kind == Jaccard || j.t.Kind == Contained)
}

// pair compares an item with the entries of the window.
func (j *join) pair(it *item) error {
	in := &j.within
	return j.search(&j.finder, it, in, func(entry uint32) (done bool, err error) {
		other := &j.items[in.sets[entry]]
		if j.connected(it, other.set) || j.apart(it, in, entry) {
			return false, nil
		}
		return j.compare(j.judge, it, in, entry, other.set, other.hashes)
	})
}

// part returns the set that represents a match: for Components, the least connected set. The
// forest does not change during comparisons.
func (j *join) part(set uint32) uint32 {
	if j.forest == nil {
		return set
	}
	return j.forest.Root(set)
}

// connected reports whether an item is connected with a set, or matches a connected set.
func (j *join) connected(it *item, set uint32) bool {
	if j.forest == nil {
		return false
	}
	part := j.part(set)
	for _, m := range it.matches {
		if m.set == part {
			return true
		}
	}
	return part == j.part(it.set)
}
