package sstable

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sort"
	"testing"

	"github.com/simdb/simdb/internal/base"
)

// TestLeadIndex compares the positions that the lead index has with a search in the keys: before any block is checked, when some are, and when
// all are. Then it has to know all leads but those that lie too far from where their part of the guide begins.
func TestLeadIndex(t *testing.T) {
	for _, shape := range keyShapes {
		for _, n := range []int{1, 17, 512, 5000, 200_000} {
			for _, leadBits := range []int{1, 8, 16, 32, 63} {
				t.Run(fmt.Sprintf("%s/%d/%d", shape.name, n, leadBits), func(t *testing.T) {
					r := testRand(shape.name, n+leadBits)
					keys := shape.make(r, n)
					slices.Sort(keys)
					c := &leadCheck{t: t, keys: keys}
					c.table = permuted{run: openRuns(t, [][]byte{appendKeyRun(nil, keys)})[0], rest: ^uint64(0) >> uint(leadBits), most: 1 << 31}
					run := c.table.run
					if run.indexLeads(leadBits); len(run.leads.words) == 0 {
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
						c.probes = append(c.probes, leadProbe{first: key &^ c.table.rest})
					}
					c.probes = append(c.probes, leadProbe{}, leadProbe{first: ^c.table.rest})
					if known, _ := c.check(); known > 0 {
						t.Fatalf("%d leads are known of blocks that have not been checked", known)
					}
					for b := range run.blocks {
						if r.IntN(2) == 0 {
							if err := run.check(b); err != nil {
								t.Fatal(err)
							}
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

type leadCheck struct {
	t      *testing.T
	keys   []uint64
	table  permuted
	probes []leadProbe
}

// check compares the probes that are spanned with the keys, and returns how many these are, and how many an entry can't hold.
func (c *leadCheck) check() (known, far int) {
	c.t.Helper()
	l := &c.table.run.leads
	c.table.look(c.probes)
	for i := range c.probes {
		p := &c.probes[i]
		u := p.first >> uint(l.shift)
		from, to := c.below(u<<uint(l.shift)), len(c.keys)
		if u+1 < 1<<uint(64-l.shift) {
			to = c.below((u + 1) << uint(l.shift))
		}
		tooFar := from-int(l.bases[u>>uint(l.part)]+1) >= 1<<16-1 || to-int(l.bases[(u+1)>>uint(l.part)]+1) >= 1<<16-1
		switch {
		case p.spanned && (int(p.from) != from || int(p.to) != to || tooFar):
			c.t.Fatalf("lead %016x: [%d, %d), want [%d, %d), too far: %v", p.first, p.from, p.to, from, to, tooFar)
		case p.spanned:
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

// TestSpanOfUncheckedBlock has a lead whose first and last keys lie in good blocks that have been checked, and others in one that is damaged.
func TestSpanOfUncheckedBlock(t *testing.T) {
	defer func(before costModel) { cost = before }(cost)
	cost = searchCosts["avx512"] // whatever the kernel, the search begins with the lead in table 0
	r := testRand("unchecked", 0)
	fps := keyShapes[0].make(r, 60_000)
	for i := range 1800 {
		fps[i] = 0xabcd<<48 | r.Uint64()>>16
	}
	slices.Sort(fps)
	fps = slices.Compact(fps)
	sections := buildRuns(DefaultLayout, fps)
	inside := sort.Search(len(fps), func(i int) bool { return fps[i] >= 0xabcd<<48 })>>blockShift + 2
	probe := openRuns(t, sections)[0]
	sections[0] = slices.Clone(sections[0])
	sections[0][probe.info(inside).off+probe.blockSize(inside)-9] ^= 1
	x := newIndex(DefaultLayout, openRuns(t, sections))
	run := x.tables[0].run
	for b := range run.blocks {
		if b != inside {
			if err := run.check(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	p := []leadProbe{{first: 0xabcd << 48}}
	if x.tables[0].look(p); !p[0].spanned || bits.Len32(p[0].to-p[0].from) < 11 {
		t.Fatalf("the lead is not one that the index has: %+v", p[0])
	}
	var corrupt *base.CorruptionError
	if _, err := x.Near(0xabcd<<48|12345, 3, new(Scratch), nil); !errors.As(err, &corrupt) {
		t.Fatalf("a search across a damaged block ends with %v", err)
	}
}
