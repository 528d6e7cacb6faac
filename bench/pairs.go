package main

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/kernel"
)

// A self-join counts the pairs of documents within k bits.
type selfJoin struct {
	name string
	// build returns the join, ready to run, and what closes it.
	build func(dir string, fps []uint64, k int) (join func() (int, error), closer func() error, err error)
}

// selfJoins are the contestants of `pairs`. The quadratic ones are left out above 200,000
// fingerprints.
func selfJoins(layout string, n int) []selfJoin {
	js := []selfJoin{
		{"simdb", simdbPairs(layout)},
		{"sorted tables", sortedPairs},
		{"buckets searched", askedPairs},
	}
	if n <= 200_000 {
		js = append(js, selfJoin{"flat scan", flatPairs})
	}
	return js
}

// runPairs has every contestant find all pairs, on one processor.
func runPairs(f nearFlags) error {
	runtime.GOMAXPROCS(1)
	fps, _ := fingerprints(f.n, 0, f.seed)
	fmt.Printf("%d fingerprints: %d uniform, %d copies of them with 1 to 3 bits flipped.\n", len(fps), f.n, len(fps)-f.n)
	for _, k := range f.ks {
		fmt.Printf("\nAll pairs within %d:\n\n", k)
		t := newTable(os.Stdout, "", "CPU s", "x simdb", "pairs")
		var base time.Duration
		pairs := -1
		for _, j := range selfJoins(f.layout, f.n) {
			if f.only != "" && !slices.Contains(strings.Split(f.only, ","), j.name) {
				continue
			}
			n, cpu, err := j.run(fps, k)
			if err == nil && pairs >= 0 && n != pairs {
				err = fmt.Errorf("%d pairs, the others have %d", n, pairs)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", j.name, err)
			}
			if base == 0 {
				base = cpu
			}
			pairs = n
			t.add(j.name, fmt.Sprintf("%.2f", cpu.Seconds()), fmt.Sprintf("%.1f", float64(cpu)/float64(base)), fmt.Sprint(n))
			fmt.Fprintf(os.Stderr, "%s done\n", j.name)
		}
		if err := t.print(); err != nil {
			return err
		}
	}
	return nil
}

func (j selfJoin) run(fps []uint64, k int) (n int, cpu time.Duration, err error) {
	dir, err := os.MkdirTemp("", "simdb-bench-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	join, closer, err := j.build(dir, fps, k)
	if err != nil {
		return 0, 0, err
	}
	runtime.GC()
	start := cpuTime()
	n, err = join()
	cpu = cpuTime() - start
	if cerr := closer(); err == nil {
		err = cerr
	}
	return n, cpu, err
}

func nothing() error { return nil }

// simdbPairs reads the fingerprints from the database, finds the pairs, and yields them by ID,
// nearest first.
func simdbPairs(layout string) func(string, []uint64, int) (func() (int, error), func() error, error) {
	return func(dir string, fps []uint64, k int) (func() (int, error), func() error, error) {
		path := filepath.Join(dir, "bench.simdb")
		if err := loadDatabase(path, layout, fps); err != nil {
			return nil, nil, err
		}
		db, err := engine.Open(path, &engine.Options{ReadOnly: true})
		if err != nil {
			return nil, nil, err
		}
		return func() (n int, err error) {
			for _, err := range db.Pairs(ctx, engine.Near(k), nil) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		}, db.Close, nil
	}
}

// sortedPairs sorts a permuted table after the other and compares the keys that agree in its
// leading blocks: m-k of m blocks, with m chosen so that few fingerprints agree by chance.
func sortedPairs(_ string, fps []uint64, k int) (func() (int, error), func() error, error) {
	return func() (n int, err error) {
		lead := 1 + min(2, bits.Len(uint(len(fps)))/(64/(k+1)))
		for _, blocks := range combinations(k+lead, lead) {
			n += sortedPass(fps, k, k+lead, blocks)
		}
		return n, nil
	}, nothing, nil
}

// combinations returns the ways to choose c of m, each ascending.
func combinations(m, c int) (all [][]int) {
	if c == 0 {
		return [][]int{nil}
	}
	for _, head := range combinations(m, c-1) {
		from := 0
		if len(head) > 0 {
			from = head[len(head)-1] + 1
		}
		for b := from; b < m; b++ {
			all = append(all, append(slices.Clone(head), b))
		}
	}
	return all
}

// blockMask is block b of m.
func blockMask(b, m int) uint64 {
	from, to := b*64/m, (b+1)*64/m
	return ^uint64(0) >> from &^ (^uint64(0) >> 1 >> (to - 1))
}

// sortedPass counts the pairs that agree in the given blocks of m, and in no earlier choice of
// them.
func sortedPass(fps []uint64, k, m int, blocks []int) (n int) {
	var lead uint64
	for _, b := range blocks {
		lead |= blockMask(b, m)
	}
	es := make([]entry, len(fps))
	for i, fp := range fps {
		es[i] = entry{fp & lead, uint32(i)}
	}
	es = radixSort(es)
	for lo, hi := 0, 0; lo < len(es); lo = hi {
		for hi = lo; hi < len(es) && es[hi].key == es[lo].key; hi++ {
			for _, e := range es[lo:hi] {
				x := fps[e.doc] ^ fps[es[hi].doc]
				if bits.OnesCount64(x) <= k && firstChoice(x, m, blocks) {
					n++
				}
			}
		}
	}
	return n
}

// firstChoice reports whether blocks are the first of the blocks of m in which x is zero.
func firstChoice(x uint64, m int, blocks []int) bool {
	for b := range blocks[len(blocks)-1] {
		if x&blockMask(b, m) == 0 && !slices.Contains(blocks, b) {
			return false
		}
	}
	return true
}

// askedPairs asks an index for the neighbours of every fingerprint.
func askedPairs(dir string, fps []uint64, k int) (func() (int, error), func() error, error) {
	return func() (n int, err error) {
		x, err := buildBuckets(dir, fps, k)
		if err != nil {
			return 0, err
		}
		for i, fp := range fps {
			if _, err := x.Near(fp, k, func(doc uint32) {
				if doc > uint32(i) {
					n++
				}
			}); err != nil {
				return n, err
			}
		}
		return n, nil
	}, nothing, nil
}

// flatPairs compares every fingerprint with all that follow.
func flatPairs(_ string, fps []uint64, k int) (func() (int, error), func() error, error) {
	return func() (n int, err error) {
		var hits []uint32
		for i, fp := range fps {
			hits = kernel.ScanFlat(hits[:0], fps[i+1:], fp, k)
			n += len(hits)
		}
		return n, nil
	}, nothing, nil
}
