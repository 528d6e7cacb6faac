package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// BenchmarkBeside compacts four tables while a writer writes batches of 1,000 at full speed. It
// reports the time of Near meanwhile and before, and the largest number of tables. An operation is
// one Compact.
func BenchmarkBeside(b *testing.B) {
	ctx := context.Background()
	n := benchSize()
	for b.Loop() {
		b.StopTimer()
		db, _ := create4test(b, &Options{NoText: true, NoSketch: true, NoSync: true})
		for i := range 4 {
			loadTable(b, db, n/4*i, n/4*(i+1))
		}
		near := func(stop *atomic.Bool) (times []time.Duration) {
			r := rand.New(rand.NewPCG(1, 1))
			for !stop.Load() {
				start := time.Now()
				for _, err := range db.Near(ctx, r.Uint64(), 3) {
					if err != nil {
						b.Error(err)
					}
				}
				times = append(times, time.Since(start))
			}
			slices.Sort(times)
			return times
		}
		var stop atomic.Bool
		time.AfterFunc(time.Second, func() { stop.Store(true) })
		near(&stop) // loads the needed parts of the tables into memory
		stop.Store(false)
		time.AfterFunc(2*time.Second, func() { stop.Store(true) })
		idle := near(&stop)
		stop.Store(false)
		var busy []time.Duration
		most, written := 0, 0
		var wg sync.WaitGroup
		wg.Go(func() { busy = near(&stop) })
		wg.Go(func() {
			for ; !stop.Load(); time.Sleep(time.Millisecond) {
				most = max(most, tables(b, db))
			}
		})
		wg.Go(func() {
			for !stop.Load() {
				var batch Batch
				for range 1000 {
					batch.Put(Doc{ID: fmt.Sprint("w", written), Fingerprints: []Fingerprint{{uint64(written) * 0xd1b54a32d192ed03}}})
					written++
				}
				if err := db.Apply(ctx, &batch); err != nil {
					b.Error(err)
				}
			}
		})
		b.StartTimer()
		start := time.Now()
		must.Do(b, db.Compact(ctx, nil))
		took := time.Since(start)
		b.StopTimer()
		stop.Store(true)
		wg.Wait()
		for name, times := range map[string][]time.Duration{"idle": idle, "busy": busy} {
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), name+"-p50-ns")
			b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), name+"-p99-ns")
		}
		b.ReportMetric(float64(most), "tables")
		b.ReportMetric(float64(written)/took.Seconds(), "written/s")
		must.Do(b, db.Close())
		b.StartTimer()
	}
}
