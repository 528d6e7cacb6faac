package pages

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/vfs"
)

const page = 4096

// cache simulates a mapping: it has a state and the last advice for each page.
type cache struct {
	mu      sync.Mutex
	advice  []vfs.Advice
	in      []bool
	fetched int           // number of pages
	drops   int           // of pages that had not been dropped before
	block   chan struct{} // closed when loading may continue; nil if it always may
	waiting atomic.Bool   // loading has started, and waits for block
	old     bool          // simulates a system that cannot load
	closed  bool
	late    bool // advice was given after Close
}

func newCache(pages int, in bool) *cache {
	c := &cache{advice: make([]vfs.Advice, pages), in: make([]bool, pages)}
	for i := range c.in {
		c.in[i] = in
	}
	return c
}

func (c *cache) Advise(_ []byte, from, to int64, a vfs.Advice) bool {
	if a == vfs.AdviseLoad && c.block != nil {
		c.waiting.Store(true)
		<-c.block
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late = c.late || c.closed
	if a == vfs.AdviseLoad && c.old {
		return false
	}
	for i := from / page; i < (to+page-1)/page; i++ {
		switch a {
		case vfs.AdviseFetch:
			if !c.in[i] {
				c.fetched++
			}
			c.in[i] = true
		case vfs.AdviseLoad:
			c.in[i] = true
		case vfs.AdviseDrop:
			c.in[i] = false
			c.drops++
		default:
			c.advice[i] = a
		}
	}
	return true
}

func (c *cache) Cached(_ []byte, at int64) bool { return c.in[at/page] }

// count returns how many pages have an advice.
func (c *cache) count(a vfs.Advice) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, have := range c.advice {
		if have == a {
			n++
		}
	}
	return n
}

const filePages = 8192 // 32 MiB, so that loading needs several steps

var data = make([]byte, filePages*page)

// open makes a Table over c whose index starts at a page.
func open(c *cache, l Limits, index int) *Table {
	t := New(c, data, l)
	t.SetIndex(int64(index)*page, nil)
	return t
}

var roomy = Limits{Small: page, Budget: 1 << 40}

func TestSmall(t *testing.T) {
	c := newCache(filePages, false)
	p := open(c, Limits{Small: 1 << 40, Budget: 1 << 40}, 2048)
	if p.Random() != nil || c.count(vfs.AdviseIndex) != filePages-2048 || c.count(vfs.AdviseRandom) > 0 {
		t.Fatal("a small table is read page by page")
	}
	p.Fetch(0, 8*page)
	p.Touched(len(data))
	p.Sequential()()
	if c.fetched > 0 || c.count(vfs.AdviseNormal) != 2048 {
		t.Fatal("a small table is not left to the system")
	}
	p.Close()
	if loaded.Load() != 0 {
		t.Fatal("the budget is not given back")
	}
}

func TestCached(t *testing.T) {
	c := newCache(filePages, true)
	p := open(c, roomy, 2048)
	if p.Random() != nil || c.count(vfs.AdviseIndex) != filePages-2048 || c.count(vfs.AdviseRandom) != 2048 {
		t.Fatal("a table in memory is not taken for loaded, or its texts are read ahead")
	}
	end := p.Sequential()
	if c.count(vfs.AdviseNormal) != 2048 {
		t.Fatal("texts are not read ahead in a job")
	}
	end()
	end()
	if c.count(vfs.AdviseRandom) != 2048 || loaded.Load() != (filePages-2048)*page {
		t.Fatal("the end of a job is not the end of its advice")
	}
	p.Close()
	if loaded.Load() != 0 {
		t.Fatal("the budget is not given back")
	}
}

func TestRandom(t *testing.T) {
	c := newCache(filePages, false)
	p := New(c, data, roomy)
	p.SetIndex(0, [][2]int64{{page * 100, page * 200}})
	if p.Random() != p || c.count(vfs.AdviseRandom) != filePages-100 || c.count(vfs.AdviseNormal) != 100 {
		t.Fatal("a large table is read ahead")
	}
	p.Fetch(10*page, 12*page)
	p.Fetch(11*page, 13*page)
	if c.fetched != 3 {
		t.Fatalf("%d pages fetched, not 3", c.fetched)
	}
	one, two := p.Sequential(), p.Sequential()
	one()
	if c.count(vfs.AdviseNormal) != filePages {
		t.Fatal("a job reads page by page")
	}
	two()
	if c.count(vfs.AdviseRandom) != filePages-100 {
		t.Fatal("after the last job the table is read ahead")
	}
	p.Close()
}

// TestLoad reads from a table until it is loaded, while a job and searches run.
func TestLoad(t *testing.T) {
	for _, old := range []bool{false, true} {
		c := newCache(filePages, false)
		c.old = old
		c.block = make(chan struct{})
		p := open(c, roomy, 2048)
		size := (filePages - 2048) * page
		p.Touched(size/loadShare - 1)
		if p.settled.Load() {
			t.Fatal("loading begins too early")
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { p.Touched(1) })
		}
		all.Wait()
		end := p.Sequential()
		p.Fetch(0, page)
		if c.fetched != 1 {
			t.Fatal("nothing is fetched while the table is being loaded")
		}
		close(c.block)
		p.loader.Wait()
		end()
		if p.Random() != nil || c.count(vfs.AdviseRandom) != 2048 {
			t.Fatal("the table is not loaded")
		}
		for i, in := range c.in[2048:] {
			if !in && !old {
				t.Fatalf("page %d is not in memory", 2048+i)
			}
		}
		if c.drops > filePages-2048 {
			t.Fatalf("%d pages dropped of %d: some after they were loaded", c.drops, filePages-2048)
		}
		p.Close()
		if loaded.Load() != 0 {
			t.Fatal("the budget is not given back")
		}
	}
}

// TestBudget opens tables until the budget allows no more to be loaded.
func TestBudget(t *testing.T) {
	l := Limits{Small: page, Budget: int64(len(data)) * 5 / 2}
	var tables []*Table
	for range 4 {
		p := open(newCache(filePages, true), l, 0)
		tables = append(tables, p)
	}
	random := 0
	for _, p := range tables {
		if p.Random() != nil {
			random++
			p.Touched(len(data)) // too late: nothing is left
		}
	}
	if random != 2 || loaded.Load() != 2*int64(len(data)) {
		t.Fatalf("%d tables of 4 beyond a budget of 2.5, %d bytes taken", random, loaded.Load())
	}
	for _, p := range tables {
		p.Close()
	}
	if loaded.Load() != 0 {
		t.Fatal("the budget is not given back")
	}
}

// TestClose closes a table that is being loaded: no advice may be given after that, because the
// address range may then belong to something else.
func TestClose(t *testing.T) {
	c := newCache(filePages, false)
	c.block = make(chan struct{})
	p := open(c, roomy, 0)
	p.Touched(len(data))
	for !c.waiting.Load() { // otherwise Close may come before loading starts, and need not wait
		runtime.Gosched()
	}
	var returned atomic.Bool
	done := make(chan struct{})
	go func() {
		p.Close()
		returned.Store(true)
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
		close(done)
	}()
	for !p.stop.Load() {
	}
	time.Sleep(20 * time.Millisecond)
	if returned.Load() {
		t.Fatal("Close does not wait")
	}
	close(c.block)
	<-done
	p.loader.Wait()
	if c.late {
		t.Fatal("advice after Close")
	}
	for i, in := range c.in[2*loadStep/page:] {
		if in {
			t.Fatalf("page %d was loaded after Close", 2*loadStep/page+i)
		}
	}
}

// TestNil uses the nil Table of a system that does not accept advice.
func TestNil(t *testing.T) {
	p := New(newCache(filePages, true), data, Limits{})
	p.SetIndex(0, nil)
	p.Fetch(0, 1)
	p.Touched(1)
	p.Sequential()()
	if p.Random() != nil {
		t.Fatal("advice for a system that takes none")
	}
	p.Close()
}
