// Package pages decides how the pages of a mapped table are brought into memory.
//
// A page that is not in memory costs a read from storage, about a hundred microseconds. By default,
// the system reads megabytes around such a page. That is right for a table that is read as a whole,
// and for a table so small that it is soon read completely. But a search in a large table reads a
// dozen of millions of pages, so the system would read a hundred times more than the search needs.
//
// A table that is not small is in one of three states:
//
//	random    nothing is read ahead; before a search reads any of its ranges, it fetches all of
//	          them, so that the reads from storage overlap
//	loading   so much has been read that the rest is expected to follow: a goroutine reads the
//	          whole index in order, in large pages, while searches continue as before
//	loaded    the index is in memory, and the system may read ahead
//
// A table starts as loaded if a sample of its pages is in memory, and as random otherwise. The
// loaded tables of a process share a budget, which is a fraction of memory; tables beyond it stay
// random.
//
// All of this is only advice to the system. Results do not depend on it, whether the system follows
// it or not.
package pages

import (
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/internal/vfs"
)

const (
	// The system may load a table of up to 1/smallShare of memory as it likes; the loaded tables
	// may use 1/budgetShare of memory in all.
	smallShare, budgetShare = 256, 4
	// loadShare is the inverse of the fraction of an index that is read before the rest is loaded:
	// at most 1 + 1/loadShare of the index are read.
	loadShare = 10

	sampled      = 64 // pages in the sample that shows whether a table is in memory
	sampledTotal = 48 // minimum number of them that must be in memory
	// loadStep is how many bytes are loaded at a time. Pages are dropped dropAhead bytes ahead of
	// loading: the system may read that far ahead, and uses large pages only where no pages are in
	// memory.
	loadStep, dropAhead = 4 << 20, 16 << 20
)

// Limits are sizes in bytes.
type Limits struct {
	Small  int64 // maximum size of a file whose pages are left to the system
	Budget int64 // maximum total size of loaded indexes
}

// Machine returns the limits for this machine, zero if the size of its memory is unknown.
func Machine() Limits {
	m := vfs.Memory()
	return Limits{Small: m / smallShare, Budget: m / budgetShare}
}

// loaded is the total size of the loaded indexes of all tables of the process.
var loaded atomic.Int64

// Table controls how one mapped table is read. Its methods may be called concurrently, but Close
// must be the last call. A nil *Table is valid and means that the pages are left to the system.
type Table struct {
	src    *source // reads a file that is not on this machine; otherwise nil
	file   vfs.Adviser
	data   []byte
	limits Limits

	index, size int64      // the index is data[index:] and has size bytes
	scanned     [][2]int64 // parts of the index in which the system may read ahead

	touched  atomic.Int64 // bytes that have been read for the first time
	settled  atomic.Bool  // loading has started, or the budget does not allow it
	resident atomic.Bool  // nothing needs to be fetched any more

	mu         sync.Mutex
	sequential int   // number of jobs that read in order
	reserved   int64 // bytes reserved from the budget
	stop       atomic.Bool
	loader     sync.WaitGroup
}

// New returns a Table for a mapping that is about to be opened. Unless the file is small, pages are
// only read when they are accessed or fetched. New returns nil if the system does not accept
// advice.
func New(file vfs.Adviser, data []byte, l Limits) *Table {
	t := &Table{file: file, data: data, limits: l, size: int64(len(data))}
	if t.small() {
		return t
	}
	if l.Budget == 0 || !file.Advise(data, 0, t.size, vfs.AdviseRandom) {
		return nil
	}
	return t
}

// small reports whether the table's pages are left to the system.
func (t *Table) small() bool { return int64(len(t.data)) <= t.limits.Small }

// SetIndex says that searches read data[index:]. scanned lists the parts that scans read in order,
// which are left to the system. It must be called once, before any other method except Close.
func (t *Table) SetIndex(index int64, scanned [][2]int64) {
	if t == nil || t.src != nil {
		return
	}
	t.index, t.size, t.scanned = index, int64(len(t.data))-index, scanned
	if (t.small() || t.cached()) && t.reserve() {
		t.file.Advise(t.data, index, int64(len(t.data)), vfs.AdviseIndex)
	}
	if t.small() || t.reserved > 0 {
		t.settled.Store(true)
		t.resident.Store(true)
	}
	if !t.small() {
		t.random()
	}
}

// cached reports whether nearly all of a sample of the index's pages are in memory.
func (t *Table) cached() bool {
	in := 0
	for i := range int64(sampled) {
		if t.size > 0 && t.file.Cached(t.data, t.index+t.size/sampled*i) {
			in++
		}
	}
	return in >= sampledTotal
}

// Random returns t if data must be fetched before it is read, else nil.
func (t *Table) Random() *Table {
	if t == nil || t.resident.Load() {
		return nil
	}
	return t
}

// random gives the advice for searches: for the whole table or, if its index is loaded, for the
// rest.
func (t *Table) random() {
	if t.reserved > 0 {
		t.adviseTexts(vfs.AdviseRandom)
		return
	}
	t.file.Advise(t.data, 0, int64(len(t.data)), vfs.AdviseRandom)
	for _, part := range t.scanned {
		t.file.Advise(t.data, part[0], part[1], vfs.AdviseNormal)
	}
}

// adviseTexts gives advice for the part before the index: texts, or only the header.
func (t *Table) adviseTexts(a vfs.Advice) {
	if t.index >= loadStep {
		t.file.Advise(t.data, 0, t.index, a)
	}
}

// reserve subtracts the index's size from the budget, and reports whether enough was left.
func (t *Table) reserve() bool {
	if loaded.Add(t.size) > t.limits.Budget {
		loaded.Add(-t.size)
		return false
	}
	t.reserved = t.size
	return true
}

// Fetch says that data[from:to] is about to be read: the system starts reading it from storage.
func (t *Table) Fetch(from, to int64) {
	if t.IsRemote() {
		t.src.want(from, to)
		return
	}
	if t != nil && !t.resident.Load() {
		t.file.Advise(t.data, from, to, vfs.AdviseFetch)
	}
}

// Load brings data[from:to] into memory. It waits in a system call, so that other goroutines run
// meanwhile; a page that is read on access would stop one of the processors that Go uses.
func (t *Table) Load(from, to int64) {
	if t.IsRemote() {
		t.Need(from, to)
		return
	}
	if t != nil {
		t.file.Advise(t.data, from, to, vfs.AdviseLoad)
	}
}

// Touched counts n bytes that are read for the first time. When enough have been read, loading
// starts.
func (t *Table) Touched(n int) {
	if t == nil || t.src != nil || t.settled.Load() || t.touched.Add(int64(n)) < t.size/loadShare || t.settled.Swap(true) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reserve() {
		t.loader.Go(t.load)
	}
}

// load reads the index. It first drops pages that are already in memory: a large page cannot
// replace a small one.
func (t *Table) load() {
	end := int64(len(t.data))
	for at, dropped := t.index, t.index; at < end; at += loadStep {
		if t.stop.Load() {
			return
		}
		to := min(at+loadStep, end)
		if ahead := min(to+dropAhead, end); dropped < ahead {
			t.file.Advise(t.data, dropped, ahead, vfs.AdviseDrop)
			dropped = ahead
		}
		t.file.Advise(t.data, at, to, vfs.AdviseIndex)
		if !t.file.Advise(t.data, at, to, vfs.AdviseLoad) { // an older system: the rest is read on access
			t.file.Advise(t.data, at, end, vfs.AdviseIndex)
			break
		}
	}
	t.file.Advise(t.data, t.index, end, vfs.AdviseRemap)
	t.resident.Store(true)
}

// Sequential starts a job that reads large parts of the table in order; the system reads ahead
// until end is called.
func (t *Table) Sequential() (end func()) {
	if t == nil || t.src != nil || t.small() {
		return func() {}
	}
	t.jobs(1)
	return sync.OnceFunc(func() { t.jobs(-1) })
}

func (t *Table) jobs(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sequential += n
	switch {
	case t.sequential == 0:
		t.random()
	case n < 0 || t.sequential > 1:
	case t.reserved > 0:
		t.adviseTexts(vfs.AdviseNormal)
	default:
		t.file.Advise(t.data, 0, int64(len(t.data)), vfs.AdviseNormal)
	}
}

// Close stops loading and returns the reserved budget. It must be called before the file is
// unmapped.
func (t *Table) Close() {
	if t == nil {
		return
	}
	t.stop.Store(true)
	t.loader.Wait()
	loaded.Add(-t.reserved)
	t.reserved = 0
}
