package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/simdb/simdb/internal/must"
)

// BenchmarkCold puts new documents into a database of SIMDB_BENCH_N IDs, three million by default,
// in twelve tables of which nothing is in memory. "disk" reports the bytes that each of the first
// 200 Puts reads from the disk, after the page cache has been dropped (the temporary folder must
// not be in memory). "slow" reads tables from a slowDisk of 5 ms, and reports the time of a Put by
// one writer and the rates of 1, 4 and 16 writers, each with tables that nothing has read before.
func BenchmarkCold(b *testing.B) {
	n, ctx := benchDocs(3_000_000), context.Background()
	path := filepath.Join(b.TempDir(), "db")
	o := Options{NoText: true, NoSketch: true, NoSync: true, DisableAutoCompaction: true}
	db := open4test(b, path, &o)
	for i := range 12 {
		loadTable(b, db, n/12*i, n/12*(i+1))
	}
	must.Do(b, db.Close())
	put := func(db *DB, i int) {
		if err := db.Put(ctx, Doc{ID: fmt.Sprint(i*7919%n, "-new"), Fingerprints: []Fingerprint{{uint64(i)}}}); err != nil {
			b.Error(err)
		}
	}
	b.Run("disk", func(b *testing.B) {
		const puts = 200
		db := open4test(b, path, &o) // may read small tables as a whole
		must.Do(b, dropFolder(path))
		before := diskReads(b)
		for i := range puts {
			put(db, i)
		}
		b.ReportMetric(float64(diskReads(b)-before)/puts/1024, "KiB/put")
		b.ReportMetric(0, "ns/op")
		must.Do(b, db.Flush(ctx)) // otherwise Open looks up the documents of the log
		must.Do(b, db.Close())
	})
	b.Run("slow", func(b *testing.B) {
		const puts, delay = 96, 5 * time.Millisecond
		disk := newSlowDisk(b)
		one := 0.0
		for _, writers := range []int{1, 4, 16} {
			o.fs = disk
			disk.command("delay 0")
			db := open4test(b, path, &o)
			disk.command("delay %d", delay)
			var next atomic.Int64
			var wg sync.WaitGroup
			start := time.Now()
			for range writers {
				wg.Go(func() {
					for i := next.Add(1); i <= puts; i = next.Add(1) {
						put(db, 1000*writers+int(i))
					}
				})
			}
			wg.Wait()
			rate := puts / time.Since(start).Seconds()
			if writers == 1 {
				one = rate
				b.ReportMetric(float64(disk.command("count"))/puts, "pages/put")
			} else {
				b.ReportMetric(rate/one, fmt.Sprintf("%d-writers/1", writers))
			}
			b.ReportMetric(rate, fmt.Sprintf("%d-puts/s", writers))
			disk.command("delay 0")
			must.Do(b, db.Flush(ctx))
			must.Do(b, db.Close())
		}
		b.ReportMetric(0, "ns/op")
	})
}

// dropFolder writes the files of a folder to the disk and drops their pages.
func dropFolder(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		f, err := os.Open(name)
		if err == nil {
			if err = unix.Fsync(int(f.Fd())); err == nil {
				err = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
			}
			f.Close()
		}
		if err != nil {
			return err
		}
	}
	return err
}

// diskReads returns how many bytes this process has read from storage.
func diskReads(b *testing.B) (n int64) {
	b.Helper()
	data, err := os.ReadFile("/proc/self/io")
	must.Do(b, err)
	_, after, _ := strings.Cut(string(data), "\nread_bytes:")
	_, err = fmt.Sscan(after, &n)
	must.Do(b, err)
	return n
}
