//go:build unix

package hamming

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

var (
	skewQueries = flag.Int("queries", 500, "queries a set and distance of BenchmarkNearSkewed")
	skewRepeats = flag.Int("repeats", 5, "times each one is searched for; the fastest counts")
	skewN       = flag.Int("skewed", 100_000, "fingerprints of the sets that BenchmarkNearSkewed makes")
	skewK       = flag.String("k", "0,1,2,3,4,5,6,7,8,9,10,11,12,16,20,24,32", "distances of BenchmarkNearSkewed")
)

// readFingerprints reads the first field of each line of a file, as hexadecimal digits.
func readFingerprints(tb testing.TB, path string) (fps []uint64) {
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	for lines := bufio.NewScanner(strings.NewReader(string(data))); lines.Scan(); {
		field, _, _ := strings.Cut(lines.Text(), "\t")
		fp, err := strconv.ParseUint(field, 16, 64)
		if err != nil {
			tb.Fatal(err)
		}
		fps = append(fps, fp)
	}
	slices.Sort(fps)
	return fps
}

// realSets returns the files of fingerprints listed, separated by commas, in the environment
// variable SIMDB_FINGERPRINTS, by name.
func realSets() map[string]string {
	sets := map[string]string{}
	for path := range strings.SplitSeq(os.Getenv("SIMDB_FINGERPRINTS"), ",") {
		if path != "" {
			name, _, _ := strings.Cut(filepath.Base(path), ".")
			sets[name] = path
		}
	}
	return sets
}

// TestNearReal compares searches in realSets with brute force.
func TestNearReal(t *testing.T) {
	for name, path := range realSets() {
		t.Run(name, func(t *testing.T) {
			fps := readFingerprints(t, path)
			x, s := New(DefaultLayout, openRuns(t, buildRuns(DefaultLayout, fps)), nil), new(Searcher)
			r := keytest.Rand(name, len(fps))
			for k := range maxDistance + 1 {
				for _, q := range skewedQueries(r, fps, k, 10) {
					checkNear(t, x, fps, q, k, s)
				}
			}
		})
	}
}

// BenchmarkNearSkewed reports the cost of searches, and of scans of the whole table, in realSets
// and skewedSets.
func BenchmarkNearSkewed(b *testing.B) {
	sets := realSets()
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		b.Run(name, func(b *testing.B) { benchSkewed(b, readFingerprints(b, sets[name])) })
	}
	for _, set := range skewedSets {
		b.Run(set.name, func(b *testing.B) { benchSkewed(b, makeSkewed(set.name, *skewN)) })
	}
}

func benchSkewed(b *testing.B, fps []uint64) {
	x, _ := mapRuns(b, DefaultLayout, fps)
	bucket := largestBucket(fps)
	for field := range strings.SplitSeq(*skewK, ",") {
		k, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		queries := skewedQueries(keytest.Rand("skewed", k), fps, k, *skewQueries)
		b.Run(fmt.Sprintf("n=%d/k=%d/%s", len(fps), k, kernel.Name()), func(b *testing.B) {
			for b.Loop() {
				c := &comparison{b: b, x: x, fps: fps, k: k, queries: queries}
				c.latencies()
				c.excess()
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(bucket), "bucket-max")
		})
	}
}

// largestBucket returns the largest number of fingerprints with the same value of one of four leads
// of 16 bits.
func largestBucket(fps []uint64) (most int) {
	for shift := 0; shift < 64; shift += 16 {
		count := make([]int, 1<<16)
		for _, fp := range fps {
			count[fp>>shift&0xffff]++
		}
		most = max(most, slices.Max(count))
	}
	return most
}

// comparison compares searches within k with scans.
type comparison struct {
	b       *testing.B
	x       *Index
	fps     []uint64 // sorted
	k       int
	queries []uint64
	s       Searcher
	dst     []Hit
	pos     []uint32
}

func (c *comparison) near(q uint64) {
	var err error
	if c.dst, err = c.s.Near(c.x, q, c.k, c.dst[:0]); err != nil {
		c.b.Fatal(err)
	}
}

// scan is a search whose plan is forced to be a scan.
func (c *comparison) scan(q uint64) {
	c.s.dst = c.dst[:0]
	if err := c.x.scanAll(q, c.k, &c.s); err != nil {
		c.b.Fatal(err)
	}
	c.dst, c.s.dst = c.s.dst, nil
}

// flat compares all fingerprints in memory, and only finds their positions.
func (c *comparison) flat(q uint64) { c.pos = kernel.ScanFlat(c.pos[:0], c.fps, q, c.k) }

// latencies reports the time of a query after other queries: the minimum of several rounds of all.
func (c *comparison) latencies() {
	c.s.stats = Stats{}
	for _, f := range []struct {
		name string
		run  func(q uint64)
	}{{"near", c.near}, {"scan", c.scan}, {"flat", c.flat}} {
		least, hits := make([]time.Duration, len(c.queries)), 0
		for pass := range *skewRepeats + 1 { // the first pass warms up
			for i, q := range c.queries {
				start := time.Now()
				f.run(q)
				d := time.Since(start)
				if pass <= 1 || d < least[i] {
					least[i] = d
				}
				hits = max(hits, len(c.dst))
			}
		}
		if f.name == "near" {
			c.b.ReportMetric(float64(c.s.stats.Scans)/float64((*skewRepeats+1)*len(c.queries)), "scans")
			c.b.ReportMetric(float64(hits), "hits-max")
		}
		slices.Sort(least)
		c.b.ReportMetric(float64(least[len(least)/2]), f.name+"-p50-ns")
		if f.name != "flat" {
			c.b.ReportMetric(float64(least[len(least)*99/100]), f.name+"-p99-ns")
			c.b.ReportMetric(float64(least[len(least)-1]), f.name+"-max-ns")
		}
	}
}

// excess reports how much longer queries take than scans for them, by the minimum of several
// repeats of each in a row: how many queries take a tenth and a microsecond more, and the greatest
// excess. If all searches within k are scans, there is nothing to compare.
func (c *comparison) excess() {
	slower, worst := 0, time.Duration(0)
	queries := c.queries
	if c.x.standardPlan(c.k, &c.s).scan {
		queries = nil // all searches are scans
	}
	for _, q := range queries {
		near, scan := time.Hour, time.Hour
		for range 2 {
			near = min(near, leastOf(*skewRepeats, c.near, q))
			scan = min(scan, leastOf(*skewRepeats, c.scan, q))
		}
		if near > scan+scan/10+time.Microsecond {
			slower++
		}
		if near-scan > worst {
			worst = near - scan
			if worst > time.Microsecond+scan/10 {
				c.b.Logf("%016x: %v, %d hits, %v; a scan %v", q, near, len(c.dst), c.s.Plan(c.x, q, c.k), scan)
			}
		}
	}
	c.b.ReportMetric(float64(slower), "slower")
	c.b.ReportMetric(float64(worst), "excess-max-ns")
}

func leastOf(calls int, run func(q uint64), q uint64) time.Duration {
	least := time.Hour
	for range calls {
		start := time.Now()
		run(q)
		least = min(least, time.Since(start))
	}
	return least
}
