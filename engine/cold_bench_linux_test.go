package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkColdPuts replaces documents of twelve tables that are not in memory, with 1, 4 and 16
// writers, and by batches: it shows whether writers wait for each other's reads. The device decides
// how much reads can overlap, so compare the cases with each other.
func BenchmarkColdPuts(b *testing.B) {
	const tables, perTable, puts = 12, 250_000, 800
	ctx := context.Background()
	path := b.TempDir() + "/db"
	opts := &Options{NoSync: true, NoText: true, NoSketch: true, DisableAutoCompaction: true}
	db, err := Create(path, opts)
	if err != nil {
		b.Fatal(err)
	}
	for t := range tables {
		loadTable(b, db, t*perTable, (t+1)*perTable)
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ writers, batch int }{{1, 1}, {4, 1}, {16, 1}, {1, 400}} {
		b.Run(fmt.Sprintf("writers=%d/batch=%d", c.writers, c.batch), func(b *testing.B) {
			var wall, cpu time.Duration
			for b.Loop() {
				b.StopTimer()
				copied := b.TempDir()
				if err := os.CopyFS(copied, os.DirFS(path)); err != nil {
					b.Fatal(err)
				}
				dropCache(b, copied)
				db, err := Open(copied, opts)
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				start, used := time.Now(), cpuTime(b)
				var all sync.WaitGroup
				for w := range c.writers {
					all.Go(func() {
						r := rand.New(rand.NewPCG(uint64(b.N), uint64(w)))
						for range puts / c.writers / c.batch {
							var batch Batch
							for range c.batch {
								batch.Put(Doc{ID: strconv.Itoa(r.IntN(tables * perTable)), Fingerprints: []Fingerprint{{r.Uint64()}}})
							}
							if err := db.Apply(ctx, &batch); err != nil {
								b.Error(err)
							}
						}
					})
				}
				all.Wait()
				wall, cpu = wall+time.Since(start), cpu+cpuTime(b)-used
				b.StopTimer()
				if err := errors.Join(db.Close(), os.RemoveAll(copied)); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.N)*puts/wall.Seconds(), "puts/s")
			b.ReportMetric(float64(cpu.Microseconds())/float64(b.N)/puts, "cpu-us/put")
		})
	}
}

// dropCache removes the tables of a database from the system's cache.
func dropCache(b *testing.B, path string) {
	b.Helper()
	names, err := filepath.Glob(filepath.Join(path, "*.sst"))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close()); err != nil {
			b.Fatal(err)
		}
	}
}
