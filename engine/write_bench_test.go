//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

func benchCopy(b *testing.B, src *DB, opts Options) *DB {
	b.Helper()
	path := b.TempDir()
	must.Do(b, os.CopyFS(path, os.DirFS(src.Metrics().Path)))
	db := must.Get(Open(path, &opts))(b)
	b.Cleanup(func() { db.Close() })
	return db
}

// benchWrites runs write for documents from 0 to n, then flushes, and reports the time per
// document, including the flushes and compactions that it caused.
func benchWrites(b *testing.B, db *DB, n int, write func(from int) (to int, err error)) {
	b.Helper()
	must.Do(b, db.Flush(context.Background()))
	cpu, start := cpuTime(b), time.Now()
	for i := 0; i < n; {
		to := must.Get(write(i))(b)
		i = to
	}
	wall := time.Since(start)
	must.Do(b, db.Flush(context.Background()))
	cpu = cpuTime(b) - cpu
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(n)/wall.Seconds(), "docs/s")
	b.ReportMetric(float64(n)/cpu.Seconds(), "docs/cpu-s")
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(n), "cpu-ns/doc")
}

// BenchmarkPutNovel stores fingerprints that are mostly new in the database of benchDB.
func BenchmarkPutNovel(b *testing.B) {
	b.Run("k=3", func(b *testing.B) {
		src, _ := benchDB(b)
		db := benchCopy(b, src, Options{NoSync: true})
		r := rand.New(rand.NewPCG(11, 11))
		ctx := context.Background()
		for i := range 300_000 { // blocks of the table are verified on their first read
			fp := r.Uint64()
			if _, _, err := anyMatch(ctx, db, Doc{ID: "q", Fingerprints: []Fingerprint{{fp}}}, Near(3)); err != nil {
				b.Fatal(err)
			}
			if _, err := db.Get(ctx, "q"+strconv.Itoa(i)); !errors.Is(err, ErrNotFound) {
				b.Fatal(err)
			}
		}
		benchWrites(b, db, 300_000, func(i int) (int, error) {
			fp := r.Uint64()
			_, _, err := db.PutNovel(ctx, Doc{ID: "n" + strconv.Itoa(i), Fingerprints: []Fingerprint{{fp}}}, Near(3))
			return i + 1, err
		})
	})
}

// BenchmarkBatches stores batches of 1,000 documents.
func BenchmarkBatches(b *testing.B) {
	text := strings.Repeat("some words of a text that is not long, ", 3)
	for _, sync := range []struct {
		name   string
		noSync bool
	}{{"durable", false}, {"never", true}} {
		for _, with := range []string{"fingerprint", "text"} {
			b.Run(fmt.Sprintf("%s/%s", sync.name, with), func(b *testing.B) {
				db := must.Get(Create(b.TempDir()+"/db", &Options{NoSync: sync.noSync}))(b)
				b.Cleanup(func() { db.Close() })
				r := rand.New(rand.NewPCG(12, 12))
				var batch Batch
				ctx := context.Background()
				n := 500_000
				if with == "text" {
					n = 100_000
				}
				benchWrites(b, db, n, func(i int) (int, error) {
					batch = Batch{}
					for j := range 1000 {
						d := Doc{ID: "b" + strconv.Itoa(i+j)}
						if with == "text" {
							d.Text = text + d.ID + " " + strconv.FormatUint(r.Uint64(), 36)
						} else {
							d.Fingerprints = []Fingerprint{{r.Uint64()}}
						}
						batch.Put(d)
					}
					return i + 1000, db.Apply(ctx, &batch)
				})
			})
		}
	}
}
