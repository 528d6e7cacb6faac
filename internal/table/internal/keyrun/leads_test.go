package keyrun

import (
	"fmt"
	"slices"
	"sort"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/keytest"
)

// TestLeadIndex compares the positions in the lead index with a search in the keys: before any
// block is verified, when some are, and when all are. Then the index must have all leads except
// those too far from the start of their part of the guide.
func TestLeadIndex(t *testing.T) {
	for _, shape := range keytest.Shapes {
		for _, n := range []int{1, 17, 512, 5000, 200_000} {
			for _, leadBits := range []int{1, 8, 16, 32, 63} {
				t.Run(fmt.Sprintf("%s/%d/%d", shape.Name, n, leadBits), func(t *testing.T) {
					r := keytest.Rand(shape.Name, n+leadBits)
					keys := shape.Make(r, n)
					slices.Sort(keys)
					c := &leadCheck{t: t, keys: keys}
					c.run, c.rest = mustOpenRun(t, keys), ^uint64(0)>>uint(leadBits)
					run := c.run
					if run.IndexLeads(leadBits); len(run.leads.words) == 0 {
						if n >= 16 && n <= 5000 {
							t.Fatal("no lead index")
						}
						return
					}
					for range 300 {
						key := r.Uint64()
						if r.IntN(2) == 0 {
							key = keys[r.IntN(n)]
						}
						c.probes = append(c.probes, Probe{First: key &^ c.rest})
					}
					c.probes = append(c.probes, Probe{}, Probe{First: ^c.rest})
					if known, _ := c.check(); known > 0 {
						t.Fatalf("%d leads are known of blocks that have not been checked", known)
					}
					for b := range run.blocks {
						check := []func(int) error{func(int) error { return nil }, run.Check, checkAllPlaces(run), checkSomePlaces(run)}[r.IntN(4)]
						if err := check(b); err != nil {
							t.Fatal(err)
						}
					}
					c.check()
					if err := run.Verify(); err != nil {
						t.Fatal(err)
					}
					if known, far := c.check(); known+far < len(c.probes) || far > 0 && n < 1<<16 {
						t.Fatalf("%d of %d leads are known, %d are too far away", known, len(c.probes), far)
					}
				})
			}
		}
	}
}

// checkAllPlaces returns a function that verifies the positions of all keys of a block.
func checkAllPlaces(r *Run) func(b int) error {
	return func(b int) error {
		_, _, err := checkPlaces(r, b, 0, ^uint64(0))
		return err
	}
}

// checkSomePlaces returns a function that verifies the positions of a few keys of a block.
func checkSomePlaces(r *Run) func(b int) error {
	return func(b int) error {
		_, _, err := checkPlaces(r, b, uint64(b%100), uint64(b%100)+1)
		return err
	}
}

type leadCheck struct {
	t      *testing.T
	keys   []uint64
	run    *Run
	rest   uint64 // the bits after the lead
	probes []Probe
}

// check compares exact probes with the keys. It returns the number of exact probes, and the number
// of leads whose position does not fit in an entry.
func (c *leadCheck) check() (known, far int) {
	c.t.Helper()
	l := &c.run.leads
	c.run.LocateAll(c.probes, c.rest, 1<<31)
	for i := range c.probes {
		p := &c.probes[i]
		u := p.First >> uint(l.shift)
		from, to := c.below(u<<uint(l.shift)), len(c.keys)
		if u+1 < 1<<uint(64-l.shift) {
			to = c.below((u + 1) << uint(l.shift))
		}
		tooFar := from-int(l.bases[u>>uint(l.part)]+1) >= 1<<16-1 || to-int(l.bases[(u+1)>>uint(l.part)]+1) >= 1<<16-1
		switch {
		case p.Exact && (int(p.From) != from || int(p.To) != to || tooFar):
			c.t.Fatalf("lead %016x: [%d, %d), want [%d, %d), too far: %v", p.First, p.From, p.To, from, to, tooFar)
		case p.Exact:
			known++
		case tooFar:
			far++
		}
	}
	return known, far
}

// below returns how many keys are less than key.
func (c *leadCheck) below(key uint64) int {
	return sort.Search(len(c.keys), func(i int) bool { return c.keys[i] >= key })
}
