package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// nearFlags are the flags of `near`.
type nearFlags struct {
	n, queries, check, rounds int
	seed                      uint64
	ks                        []int
	only                      string
	layout                    string
	limit                     time.Duration
}

// runNear makes every contestant answer the same queries, one by one, on one processor.
func runNear(f nearFlags) error {
	runtime.GOMAXPROCS(1)
	fps, queries := fingerprints(f.n, f.queries, f.seed)
	fmt.Printf("%d fingerprints: %d uniform, %d copies of them with 1 to 3 bits flipped. %d queries, every other one planted.\n",
		len(fps), f.n, len(fps)-f.n, len(queries))
	dir, err := os.MkdirTemp("", "simdb-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &database{path: filepath.Join(dir, "bench.simdb"), layout: f.layout}
	for _, k := range f.ks {
		if err := f.compare(contestants(d), fps, queries, k); err != nil {
			return err
		}
	}
	return nil
}

// compare prints the table for one k.
func (f nearFlags) compare(cs []contestant, fps, queries []uint64, k int) error {
	fmt.Printf("\nNEAR within %d:\n\n", k)
	t := newTable(os.Stdout, "", "bytes/fp", "build ns/fp", "p50", "p99", "mean", "p50 x simdb", "queries", "exact")
	var base float64
	for _, c := range cs {
		if f.only != "" && !slices.Contains(strings.Split(f.only, ","), c.name) {
			continue
		}
		r, err := f.run(c, fps, queries, k)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		p50 := r.all.percentile(50)
		if base == 0 {
			base = float64(p50)
		}
		t.add(c.name,
			fmt.Sprintf("%.1f", float64(r.bytes)/float64(len(fps))),
			fmt.Sprintf("%.0f", float64(r.build.Nanoseconds())/float64(len(fps))),
			microseconds(p50), microseconds(r.all.percentile(99)), microseconds(r.all.mean()),
			fmt.Sprintf("%.1f", float64(p50)/base),
			strconv.Itoa(len(r.all)), fmt.Sprintf("%d of %d", r.checked, r.checked))
		fmt.Fprintf(os.Stderr, "%s done\n", c.name)
	}
	return t.print()
}

// nearResult is the result of one contestant.
type nearResult struct {
	bytes   int64
	build   time.Duration // processor time
	all     latencies
	checked int // answers that equal brute force; a wrong one ends the run
}

func (f nearFlags) run(c contestant, fps, queries []uint64, k int) (r nearResult, err error) {
	dir, err := os.MkdirTemp("", "simdb-bench-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	runtime.GC()
	start := cpuTime()
	x, err := c.build(dir, fps, k)
	if err != nil {
		return r, err
	}
	defer func() {
		if cerr := x.Close(); err == nil {
			err = cerr
		}
	}()
	r.build = cpuTime() - start
	if x, ok := x.(interface{ buildTime() time.Duration }); ok {
		r.build = x.buildTime()
	}
	if r.bytes, err = x.Bytes(); err != nil {
		return r, err
	}
	sample := queries[:min(len(queries), f.check)]
	if err := checkAnswers(x, fps, sample, k); err != nil {
		return r, err
	}
	r.checked = len(sample)
	r.all, err = measure(len(queries), f.rounds, f.limit, func(i int) error {
		_, err := x.Near(queries[i], k, nil)
		return err
	})
	return r, err
}
