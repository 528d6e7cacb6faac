//go:build unix

package hamming

import (
	"testing"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// BenchmarkSearchCosts measures the constants of cost for the current kernel. It reports the
// minimum processor time of several rounds, since disturbances only add to a measurement.
func BenchmarkSearchCosts(b *testing.B) {
	fps, queries := benchData(*benchN, 200)
	two, _ := mapRuns(b, Layout{2, 1}, fps)
	four, _ := mapRuns(b, Layout{4, 1}, fps)
	five, _ := mapRuns(b, Layout{5, 1}, fps)
	c := &costBench{b: b, fps: fps, queries: queries, two: two, four: four, five: five, run: four.tables[0].run}
	steps := []struct {
		name    string
		measure func() float64
	}{
		{"probe", c.probe}, {"lookup", c.lookUp}, {"range-key", c.key}, {"scan-key", c.scan}, {"decode-key", c.decode}, {"confirm", c.confirm},
		{"hit", c.hit}, {"resolve", c.resolve}, {"walk", c.walk},
	}
	least := make([]float64, len(steps))
	for first := true; b.Loop(); first = false {
		for i, step := range steps {
			if ns := step.measure(); first || ns < least[i] {
				least[i] = ns
			}
		}
	}
	for i, step := range steps {
		b.ReportMetric(least[i], "ns/"+step.name)
	}
}

// costBench measures the time of each step, in nanoseconds.
type costBench struct {
	b            *testing.B
	fps, queries []uint64
	two, four    *Index
	five         *Index
	run          *keyrun.Run // run 0 of four
	s            Searcher
	dst          []Hit
}

// timed returns the processor time of f, divided by n.
func timed(n int, f func()) float64 {
	start := cpuTime()
	f()
	return float64(cpuTime()-start) / float64(n)
}

func (c *costBench) near(x *Index, k int) (ns float64) {
	c.s.stats = Stats{}
	return timed(1, func() {
		for _, q := range c.queries {
			var err error
			if c.dst, err = c.s.Near(x, q, k, c.dst[:0]); err != nil {
				c.b.Fatal(err)
			}
		}
	})
}

// probe uses the 2:1 layout, whose ranges are nearly empty.
func (c *costBench) probe() float64 {
	ns := c.near(c.two, 3)
	return ns / float64(c.s.stats.Probes)
}

func (c *costBench) lookUp() float64 {
	looked := 0
	ns := timed(1, func() {
		for _, q := range c.queries {
			c.s.probes = c.s.probes[:0]
			p := &searchPlan{q: q, k: 5}
			c.two.permute(&c.s, p)
			c.two.addShell(1, 2, p, &c.s)
			c.two.lookUpShell(1, p, c.s.probes)
			looked += len(c.s.probes)
		}
	})
	return ns / float64(looked)
}

// key is the time that the 5:1 layout, whose ranges are long, needs in addition to its probes.
func (c *costBench) key() float64 {
	probe := c.probe()
	ns := c.near(c.five, 9)
	return (ns - probe*float64(c.s.stats.Probes)) / float64(max(1, c.s.stats.Candidates))
}

func (c *costBench) scanAll(k int) float64 {
	const queries = 10
	return timed(queries*len(c.fps), func() {
		for _, q := range c.queries[:queries] {
			c.s.dst = c.dst[:0]
			if err := c.four.scanAll(q, k, &c.s); err != nil {
				c.b.Fatal(err)
			}
			c.dst, c.s.dst = c.s.dst, nil
		}
	})
}

func (c *costBench) scan() float64 { return c.scanAll(10) }

func (c *costBench) decode() float64 {
	return timed(c.run.Len(), func() {
		for blk := range c.run.NumBlocks() {
			keys := c.run.Decode(blk, c.run.Info(blk), 0, c.run.Count(blk), &c.s.decoded)
			c.s.pos = kernel.ScanFlat(c.s.pos[:0], keys, c.queries[0], 3)
		}
	})
}

// confirm decodes four keys of a block.
func (c *costBench) confirm() float64 {
	f := scanFor{permuted: &c.four.tables[0], k: -1}
	return timed(4*c.run.NumBlocks(), func() {
		for blk := range c.run.NumBlocks() {
			n := uint32(c.run.Count(blk))
			c.s.pos = append(c.s.pos[:0], n/9, n/3, n/2, n*8/9)
			c.four.confirm(&f, blk, c.run.Info(blk), 0, int(n), 0, &c.s)
		}
	})
}

// hit is the time that a scan that finds everything needs in addition to decoding.
func (c *costBench) hit() float64 { return c.scanAll(maxDistance) - c.decode() }

func (c *costBench) resolve() float64 {
	const hits = 10_000
	c.s.dst, c.s.pending, c.s.settled = c.dst[:0], c.s.pending[:0], 0
	for i := range hits {
		fp := c.fps[i*7919%len(c.fps)]
		c.s.pending = append(c.s.pending, pendingHit{hit: Hit{Fingerprint: fp}})
	}
	return timed(hits, func() {
		c.four.locate(c.s.pending)
		if err := c.four.resolvePending(hits, &c.s); err != nil {
			c.b.Fatal(err)
		}
	})
}

func (c *costBench) walk() float64 {
	const rounds = 100
	far := 0
	return timed(rounds*c.run.NumBlocks(), func() {
		for i := range rounds {
			for blk := range c.run.NumBlocks() {
				if _, off := c.run.Shared(blk, blk+1, c.queries[i]); off > 3 {
					far++
				}
			}
		}
	})
}
