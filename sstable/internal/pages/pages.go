// Package pages decides how the pages of a mapped table come into memory.
//
// A page that is not in memory costs a read from storage, about a hundred microseconds. What the
// system does by itself, to read megabytes around such a page, is right for a table that is read
// as a whole, and for one so small that this is soon done. A search in a large table touches a
// dozen pages of millions, so there it reads a hundred times what is used.
//
// A table that is not small is in one of three states:
//
//	random    nothing is read ahead; searches fetch the ranges that they are going to read, all of
//	          them before they wait for the first
//	loading   so much has been read that the rest will be too: a goroutine reads the index from
//	          its first byte to its last, in large pages, while searches continue as before
//	loaded    the system has the index in memory and may read ahead
//
// A table begins as loaded if a sample of its pages says that it is in memory, and as random
// otherwise. Loaded tables of a process share a budget, a part of memory; those beyond it stay
// random.
//
// All of this is advice. Results do not depend on it, nor on whether the system takes it.
package pages

import (
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/internal/vfs"
)

const (
	// smallShare and budgetShare are parts of memory, as their inverses: the size of a table that
	// the system may load as it likes, and of all tables that are loaded.
	smallShare, budgetShare = 256, 4
	// loadShare is the part of an index, as its inverse, that is touched before the rest is loaded:
	// a table is read 1 + 1/loadShare times at most.
	loadShare = 10

	sampled      = 64 // pages that say whether a table is in memory
	sampledTotal = 48 // of them that must be
	// loadStep is loaded at a time. Pages are dropped dropAhead bytes before they are loaded,
	// because the system may read that much further, in large pages where there are none.
	loadStep, dropAhead = 4 << 20, 16 << 20
)

// Limits are the sizes that decide, in bytes.
type Limits struct {
	Small  int64 // of a file that is left to the system
	Budget int64 // of all indexes that are loaded
}

// Machine returns the limits for this machine, zero if its memory is not known.
func Machine() Limits {
	m := vfs.Memory()
	return Limits{Small: m / smallShare, Budget: m / budgetShare}
}

// loaded is the sum of the sizes of loaded indexes, of all tables of the process.
var loaded atomic.Int64

// Table is how one mapped table is read. Its methods may be called concurrently, Close after all
// others. They may be called on nil, which is a table that is left to the system.
type Table struct {
	file   vfs.Adviser
	data   []byte
	limits Limits

	index, size int64      // the index is data[index:]; its size
	scanned     [][2]int64 // parts of it that the system may read ahead in

	touched  atomic.Int64 // bytes that have been touched for the first time
	settled  atomic.Bool  // loading has begun, or the budget does not allow it
	resident atomic.Bool  // nothing has to be fetched any more

	mu         sync.Mutex
	sequential int   // jobs
	reserved   int64 // of the budget
	stop       atomic.Bool
	loader     sync.WaitGroup
}

// New returns how a mapping is read that is about to be opened: its pages come one by one, as they
// are touched or fetched, unless it is small. It returns nil if the system takes no advice.
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

// small reports whether the table is left to the system.
func (t *Table) small() bool { return int64(len(t.data)) <= t.limits.Small }

// SetIndex says that data[index:] is what searches read. Parts of it that scans read in order,
// scanned, are left to the system. It must be called once, before any other method but Close.
func (t *Table) SetIndex(index int64, scanned [][2]int64) {
	if t == nil {
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

// Random returns t if there is something to be fetched before it is read, else nil.
func (t *Table) Random() *Table {
	if t == nil || t.resident.Load() {
		return nil
	}
	return t
}

// random gives the advice for searches: for all of the table, or if its index is loaded, for the
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

// adviseTexts gives advice for what comes before the index: texts, or nothing but the header.
func (t *Table) adviseTexts(a vfs.Advice) {
	if t.index >= loadStep {
		t.file.Advise(t.data, 0, t.index, a)
	}
}

// reserve takes the index's size from the budget, and reports whether that was left.
func (t *Table) reserve() bool {
	if loaded.Add(t.size) > t.limits.Budget {
		loaded.Add(-t.size)
		return false
	}
	t.reserved = t.size
	return true
}

// Fetch says that data[from:to] is going to be read: reading it from storage begins now.
func (t *Table) Fetch(from, to int64) {
	if t != nil && !t.resident.Load() {
		t.file.Advise(t.data, from, to, vfs.AdviseFetch)
	}
}

// Touched counts n bytes that are read for the first time. Once they are many, loading begins.
func (t *Table) Touched(n int) {
	if t == nil || t.settled.Load() || t.touched.Add(int64(n)) < t.size/loadShare || t.settled.Swap(true) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reserve() {
		t.loader.Go(t.load)
	}
}

// load reads the index. Pages that are there already are dropped first: a large page can't come
// where a small one is.
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
		if !t.file.Advise(t.data, at, to, vfs.AdviseLoad) { // an older system: the rest comes as it is touched
			t.file.Advise(t.data, at, end, vfs.AdviseIndex)
			break
		}
	}
	t.file.Advise(t.data, t.index, end, vfs.AdviseRemap)
	t.resident.Store(true)
}

// Sequential says that a job begins that reads large parts of the table in order, and returns what
// says that it has ended. In between the system reads ahead.
func (t *Table) Sequential() (end func()) {
	if t == nil || t.small() {
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

// Close ends the loading and gives the budget back. It comes before the mapping ends.
func (t *Table) Close() {
	if t == nil {
		return
	}
	t.stop.Store(true)
	t.loader.Wait()
	loaded.Add(-t.reserved)
	t.reserved = 0
}
