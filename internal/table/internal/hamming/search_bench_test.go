//go:build unix

package hamming

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/vfs"
)

var benchN = flag.Int("fps", 1_000_000, "uniform fingerprints of the search benchmarks, before near copies; 10000000 for the published figures")

var benchLayouts = flag.String("layouts", "4:1,2:1", "layouts of BenchmarkNear")

// splitMix is SplitMix64, so that other programs can make the same fingerprints from the same seed.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (s *splitMix) flip(x uint64, k int) uint64 {
	for seen := uint64(0); k > 0; {
		if b := uint64(1) << (s.next() % 64); seen&b == 0 {
			seen |= b
			x ^= b
			k--
		}
	}
	return x
}

// benchData returns n uniform fingerprints and a copy of every tenth with 1 to 3 bits flipped,
// sorted; and queries. Half of the queries are stored fingerprints with 1 to 3 bits flipped.
func benchData(n, queries int) (fps, qs []uint64) {
	s := splitMix(42)
	for range n {
		fps = append(fps, s.next())
	}
	for i := 0; i < n; i += 10 {
		fps = append(fps, s.flip(fps[i], 1+int(s.next()%3)))
	}
	for i := range queries {
		q := s.next()
		if i%2 == 0 {
			q = s.flip(fps[q%uint64(len(fps))], 1+int(s.next()%3))
		}
		qs = append(qs, q)
	}
	slices.Sort(fps)
	return fps, qs
}

// mapRuns writes the runs to a file and opens them from a mapping of it, as a database does: the
// file is written in aligned pieces the size of a large page, and mapped with advice to use large
// pages.
func mapRuns(b *testing.B, l Layout, fps []uint64) (*Index, int) {
	path := filepath.Join(b.TempDir(), "runs")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 2<<20)
	var sections []keyrun.Section
	size := 0
	for t := range l.Tables() {
		s := keyrun.InMemory(fmt.Sprint("run ", t), permutedKeys(l, t, fps))
		s.Offset, s.DirOffset = int64(size), int64(size+len(s.Body))
		part := append(slices.Clone(s.Body), s.Dir...)
		part = append(part, make([]byte, -len(part)&63)...)
		sections, size = append(sections, s), size+len(part)
		for piece := range slices.Chunk(part, 64<<10) { // larger chunks would bypass the buffer
			if _, err := w.Write(piece); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	data := mapFile(b, path)
	var runs []*keyrun.Run
	for _, s := range sections {
		s.Body, s.Dir = data[s.Offset:][:len(s.Body)], data[s.DirOffset:][:len(s.Dir)]
		run, err := keyrun.Open(s)
		if err != nil {
			b.Fatal(err)
		}
		runs = append(runs, run)
	}
	x := New(l, runs, nil)
	for _, run := range runs {
		if err := run.Verify(); err != nil {
			b.Fatal(err)
		}
	}
	return x, size
}

// permutedKeys returns sorted fingerprints as the keys of run t of a layout.
func permutedKeys(l Layout, t int, fps []uint64) []uint64 {
	if t == 0 {
		return fps
	}
	keys := slices.Compact(slices.Clone(fps))
	for i, fp := range keys {
		keys[i] = l.Permute(t, fp)
	}
	slices.Sort(keys)
	return keys
}

// mapFile maps a file with the same advice as for tables.
func mapFile(b *testing.B, path string) []byte {
	f, err := vfs.Disk.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	data, unmap, err := f.Mmap()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if unmap != nil {
			unmap()
		}
		f.Close()
	})
	if a, ok := f.(vfs.Adviser); ok {
		a.Advise(data, 0, int64(len(data)), vfs.AdviseIndex)
	}
	return data
}

// BenchmarkNear reports, for some layouts and distances, the median and the 99th percentile of one
// search from a warm mapped file, and the mean of the quietest 50 searches in a row, which is the
// time on an otherwise idle machine. Run it pinned to one core.
func BenchmarkNear(b *testing.B) {
	fps, queries := benchData(*benchN, 10_000)
	for name := range strings.SplitSeq(*benchLayouts, ",") {
		l, err := ParseLayout(name)
		if err != nil {
			b.Fatal(err)
		}
		x, size := mapRuns(b, l, fps)
		for _, k := range []int{0, 3, 6, 8, 10} {
			if x.standardPlan(k, new(Searcher)).ns > 5e6 {
				continue
			}
			b.Run(fmt.Sprintf("layout=%v/n=%d/k=%d/%s", l, len(fps), k, kernel.Name()), func(b *testing.B) {
				benchNear(b, x, queries, k)
				b.ReportMetric(float64(size)/float64(len(fps)), "bytes/fp")
			})
		}
	}
}

func benchNear(b *testing.B, x *Index, queries []uint64, k int) {
	s := new(Searcher)
	var dst []Hit
	var err error
	search := func(q uint64) {
		if dst, err = s.Near(x, q, k, dst[:0]); err != nil {
			b.Fatal(err)
		}
	}
	if k > 6 {
		queries = queries[:1000]
	}
	for _, q := range queries { // warm-up
		search(q)
	}
	const chunk = 50
	times := make([]time.Duration, 0, 1<<20)
	quiet, sum := time.Hour, time.Duration(0)
	s.stats = Stats{}
	for b.Loop() {
		start := time.Now()
		search(queries[len(times)%len(queries)])
		d := time.Since(start)
		sum += d
		if times = append(times, d); len(times)%chunk == 0 {
			quiet, sum = min(quiet, sum), 0
		}
	}
	n := float64(len(times))
	slices.SortFunc(times, func(a, b time.Duration) int { return cmp.Compare(a, b) })
	b.ReportMetric(float64(quiet)/chunk, "quiet-ns")
	b.ReportMetric(float64(times[len(times)/2]), "p50-ns")
	b.ReportMetric(float64(times[len(times)*99/100]), "p99-ns")
	b.ReportMetric(float64(s.stats.Candidates)/n, "candidates/query")
	b.ReportMetric(float64(s.stats.Probes)/n, "probes/query")
}

// BenchmarkScan compares every fingerprint of table 0.
func BenchmarkScan(b *testing.B) {
	fps, queries := benchData(*benchN, 1000)
	x, _ := mapRuns(b, Layout{1, 1}, fps)
	s := new(Searcher)
	for _, k := range []int{3, 10, 24} {
		b.Run(fmt.Sprintf("n=%d/k=%d/%s", len(fps), k, kernel.Name()), func(b *testing.B) {
			var dst []Hit
			n := 0
			for b.Loop() {
				s.dst = dst[:0]
				if err := x.scanAll(queries[n%len(queries)], k, s); err != nil {
					b.Fatal(err)
				}
				dst, s.dst = s.dst, nil
				n++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/float64(len(fps)), "ns/key")
		})
	}
}

// cpuTime is the processor time of the process, which other processes disturb less than the clock.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
