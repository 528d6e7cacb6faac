//go:build unix

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// processorTime returns the time that the process has used, user and system.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchCopy is a copy of a database.
func benchCopy(b *testing.B, src *DB, opts Options) *DB {
	b.Helper()
	path := b.TempDir()
	if err := os.CopyFS(path, os.DirFS(src.Metrics().Path)); err != nil {
		b.Fatal(err)
	}
	db, err := Open(path, &opts)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return db
}

// benchWrites runs write for documents from 0 to n, then flushes, and reports what a document took,
// with the flushes and compactions that it led to.
func benchWrites(b *testing.B, db *DB, n int, write func(from int) (to int, err error)) {
	b.Helper()
	if err := db.Flush(context.Background()); err != nil {
		b.Fatal(err)
	}
	cpu, start := processorTime(b), time.Now()
	for i := 0; i < n; {
		to, err := write(i)
		if err != nil {
			b.Fatal(err)
		}
		i = to
	}
	wall := time.Since(start)
	if err := db.Flush(context.Background()); err != nil {
		b.Fatal(err)
	}
	cpu = processorTime(b) - cpu
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(n)/wall.Seconds(), "docs/s")
	b.ReportMetric(float64(n)/cpu.Seconds(), "docs/cpu-s")
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(n), "cpu-ns/doc")
}

// BenchmarkPutNovel stores fingerprints that are mostly new in the database of benchDB.
func BenchmarkPutNovel(b *testing.B) {
	b.Run("k=3", func(b *testing.B) {
		src, _ := benchDB(b)
		db := benchCopy(b, src, Options{Sync: SyncNever})
		r := rand.New(rand.NewPCG(11, 11))
		ctx := context.Background()
		for i := range 300_000 { // blocks of the table are verified when they are read first
			fp := r.Uint64()
			if _, _, err := anyMatch(ctx, db, Doc{ID: "q", Fingerprint: &fp}, Near(3)); err != nil {
				b.Fatal(err)
			}
			if _, err := db.Get(ctx, "q"+strconv.Itoa(i)); !errors.Is(err, ErrNotFound) {
				b.Fatal(err)
			}
		}
		benchWrites(b, db, 300_000, func(i int) (int, error) {
			fp := r.Uint64()
			_, _, err := db.PutNovel(ctx, Doc{ID: "n" + strconv.Itoa(i), Fingerprint: &fp}, Near(3))
			return i + 1, err
		})
	})
}

// BenchmarkBatches stores batches of 1,000 documents.
func BenchmarkBatches(b *testing.B) {
	text := strings.Repeat("some words of a text that is not long, ", 3)
	for _, sync := range []struct {
		name string
		mode SyncMode
	}{{"durable", SyncAlways}, {"never", SyncNever}} {
		for _, with := range []string{"fingerprint", "text"} {
			b.Run(fmt.Sprintf("%s/%s", sync.name, with), func(b *testing.B) {
				db, err := Create(b.TempDir()+"/db", &Options{Sync: sync.mode})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { db.Close() })
				r := rand.New(rand.NewPCG(12, 12))
				var batch Batch
				ctx := context.Background()
				n := 500_000
				if with == "text" {
					n = 100_000
				}
				benchWrites(b, db, n, func(i int) (int, error) {
					batch.Reset()
					for j := range 1000 {
						d := Doc{ID: "b" + strconv.Itoa(i+j)}
						if with == "text" {
							d.Text = text + d.ID + " " + strconv.FormatUint(r.Uint64(), 36)
						} else {
							d.Fingerprint = new(r.Uint64())
						}
						batch.Put(d)
					}
					return i + 1000, db.Apply(ctx, &batch)
				})
			})
		}
	}
}

// benchReader makes the test binary a reader: it searches the database of this path for what is
// near to some fingerprint, and refreshes, until it is killed.
const benchReader = "SIMDB_BENCH_READER"

// BenchmarkWriterBesideReaders puts documents while nobody else is there, beside processes that
// read the database at full speed (SIMDB_BENCH_READERS of them, 4 without it), and beside as many
// that read another one, which shows what of the difference is due to caches and processors that
// are shared. Each iteration has a slice of time of each kind, while the other processes are
// stopped: it compares what lies within two seconds. The figures are processor time of the writer
// alone, as medians, and as medians of the ratios to the slice alone.
func BenchmarkWriterBesideReaders(b *testing.B) {
	if path := os.Getenv(benchReader); path != "" {
		b.Fatal(readForBench(path))
	}
	kinds := []string{"alone", "its-readers", "readers-of-another"}
	readers := make([][]*exec.Cmd, len(kinds))
	var db *DB
	for kind := range kinds[1:] {
		written, _ := create4test(b, &Options{NoSketch: true, Sync: SyncNever})
		if err := putSome(written, 0, 300_000); err != nil {
			b.Fatal(err)
		}
		db = cmp.Or(db, written)
		readers[kind+1] = startReaders(b, written.Metrics().Path)
	}
	took, ratio := make([][]float64, len(kinds)), make([][]float64, len(kinds))
	at := 0
	for b.Loop() {
		for kind := range kinds {
			signalAll(b, readers[kind], syscall.SIGCONT)
			time.Sleep(20 * time.Millisecond) // until they run
			before, from := processorTime(b), at
			for start := time.Now(); time.Since(start) < 400*time.Millisecond; at++ {
				if err := putSome(db, at%300_000, at%300_000+1); err != nil {
					b.Fatal(err)
				}
			}
			ns := float64(processorTime(b)-before) / float64(at-from)
			signalAll(b, readers[kind], syscall.SIGSTOP)
			took[kind] = append(took[kind], ns)
			ratio[kind] = append(ratio[kind], ns/took[0][len(took[0])-1])
		}
	}
	b.ReportMetric(0, "ns/op")
	for kind, name := range kinds {
		slices.Sort(took[kind])
		slices.Sort(ratio[kind])
		b.ReportMetric(took[kind][len(took[kind])/2], "cpu-ns/put-"+name)
		b.ReportMetric(ratio[kind][len(ratio[kind])/2], "ratio-"+name)
	}
}

// readForBench searches a database, and refreshes it, until it is killed.
func readForBench(path string) error {
	ctx := context.Background()
	r, err := Open(path, &Options{ReadOnly: true})
	for n := uint64(0); err == nil; n++ {
		if err = r.Refresh(ctx); err != nil {
			break
		}
		for _, e := range r.Near(ctx, n*0x9e3779b97f4a7c15, 3) {
			err = cmp.Or(err, e)
		}
	}
	return err
}

// startReaders starts processes that read a database, stopped.
func startReaders(b *testing.B, path string) (readers []*exec.Cmd) {
	n := 4
	if v, err := strconv.Atoi(os.Getenv("SIMDB_BENCH_READERS")); err == nil {
		n = v
	}
	for range n {
		child := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkWriterBesideReaders$")
		child.Env = append(os.Environ(), benchReader+"="+path)
		if err := child.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			child.Process.Kill()
			child.Wait()
		})
		readers = append(readers, child)
	}
	time.Sleep(time.Second) // until they have opened it
	signalAll(b, readers, syscall.SIGSTOP)
	return readers
}

func signalAll(b *testing.B, processes []*exec.Cmd, s syscall.Signal) {
	for _, p := range processes {
		if err := p.Process.Signal(s); err != nil {
			b.Fatal(err)
		}
	}
}
