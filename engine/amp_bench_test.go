//go:build unix

package engine

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// diskBytes returns how much of the disk the files of a folder occupy, which is more than their
// sizes if space was reserved. It counts a file that is removed meanwhile as empty.
func diskBytes(dir string) (bytes int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil {
				bytes += info.Sys().(*syscall.Stat_t).Blocks * 512
			}
		}
		return nil
	})
	return bytes
}

// watchDisk polls diskBytes until the result is called, which returns the maximum.
func watchDisk(dir string) (peak func() int64) {
	var stop atomic.Bool
	var most int64
	var wg sync.WaitGroup
	wg.Go(func() {
		for ; !stop.Load(); time.Sleep(2 * time.Millisecond) {
			most = max(most, diskBytes(dir))
		}
	})
	return func() int64 {
		stop.Store(true)
		wg.Wait()
		return max(most, diskBytes(dir))
	}
}

// BenchmarkAmplification writes documents, overwrites half at random three times, and then all in
// order, in batches of 1,000. For each of these phases it reports processor time and bytes written
// for each document, bytes written per byte of IDs, fingerprints and texts, and the most and the
// final space on the disk as multiples of the floor. The floor is the final database, compacted.
// SIMDB_BENCH_N is the number of fingerprints, a million by default; of texts there are 3/10.
func BenchmarkAmplification(b *testing.B) {
	for _, kind := range []struct {
		name string
		n    int
		doc  func(r *rand.Rand, i int) Doc
	}{
		{"fingerprints", benchSize(), func(r *rand.Rand, i int) Doc {
			return Doc{ID: fmt.Sprintf("%012d", i), Fingerprints: []Fingerprint{{r.Uint64()}}}
		}},
		{"texts", benchSize() * 3 / 10, func(r *rand.Rand, i int) Doc {
			var text strings.Builder
			for text.Len() < 110 {
				fmt.Fprintf(&text, "w%d ", r.IntN(20_000))
			}
			return Doc{ID: fmt.Sprintf("%012d", i), Text: text.String()}
		}},
	} {
		b.Run(kind.name, func(b *testing.B) { amplification(b, kind.n, kind.doc) })
	}
}

func amplification(b *testing.B, n int, doc func(r *rand.Rand, i int) Doc) {
	ctx := context.Background()
	dir := filepath.Join(b.TempDir(), "db")
	db := open4test(b, dir, &Options{NoSync: true})
	r := rand.New(rand.NewPCG(8, 8))
	written := func() int64 {
		m := db.Metrics()
		return m.WALBytes + m.BytesFlushed + m.BytesCompacted + m.CatalogBytes
	}
	var peaks, finals []int64
	most, phases := 0, []string{"write", "over1", "over2", "over3", "order"}
	for _, phase := range phases {
		count, id := n, func(i int) int { return i }
		if strings.HasPrefix(phase, "over") {
			count, id = n/2, func(int) int { return r.IntN(n) }
		}
		before, in, cpu, peak := written(), 0, cpuTime(b), watchDisk(dir)
		for i := 0; i < count; {
			var batch Batch
			for ; batch.Len() < 1000 && i < count; i++ {
				d := doc(r, id(i))
				in += len(d.ID) + len(d.Text) + 8*len(d.Fingerprints)
				batch.Put(d)
			}
			must.Do(b, db.Apply(ctx, &batch))
			most = max(most, tables(b, db))
		}
		peaks, finals = append(peaks, peak()), append(finals, diskBytes(dir))
		reportMicros(b, (cpuTime(b)-cpu)/time.Duration(count), phase)
		b.ReportMetric(float64(written()-before)/float64(in), phase+"-written/in")
	}
	must.Do(b, db.Compact(ctx, nil))
	floor := float64(diskBytes(dir))
	for i, phase := range phases {
		b.ReportMetric(float64(peaks[i])/floor, phase+"-peak/floor")
		b.ReportMetric(float64(finals[i])/floor, phase+"-disk/floor")
	}
	b.ReportMetric(floor/1e6, "floor-MB")
	b.ReportMetric(float64(most), "tables")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkCloseWait closes a database while four tables are merged in the background, and reports
// the processor time of Close, the size of the tables, the share of the merge that was done when
// Close was called, and whether Close finished it. SIMDB_BENCH_N is the number of fingerprints,
// eight million by default.
func BenchmarkCloseWait(b *testing.B) {
	n := benchDocs(8_000_000)
	path := filepath.Join(b.TempDir(), "db")
	db := open4test(b, path, &Options{NoText: true, NoSketch: true, DisableAutoCompaction: true})
	for i := range 4 {
		loadTable(b, db, n/4*i, n/4*(i+1))
	}
	must.Do(b, db.Close())
	size := diskBytes(path)
	db = open4test(b, path, nil)
	var m Metrics
	var start time.Duration
	until(b, "a merge", func() bool {
		start, m = cpuTime(b), db.Metrics()
		return m.Compactions > 0 || m.Merging > 0 && m.Running[0].Done > 0.05
	})
	if m.Compactions > 0 {
		b.Fatal("the merge has ended: increase SIMDB_BENCH_N")
	}
	must.Do(b, db.Close())
	b.ReportMetric((cpuTime(b) - start).Seconds(), "close-s")
	b.ReportMetric(float64(db.Metrics().Compactions), "finished")
	b.ReportMetric(m.Running[0].Done, "done-before")
	b.ReportMetric(float64(size)/1e6, "MB")
	b.ReportMetric(0, "ns/op")
}
