//go:build unix

package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// valuesDB is a database of n documents, put in random order and compacted: of about 60 bytes of
// fields, or of texts of about 1.4 KB.
func valuesDB(b *testing.B, n int, texts bool, o Options) *DB {
	b.Helper()
	kind := map[bool]string{false: "fields", true: "texts"}[texts]
	path := filepath.Join(os.TempDir(), fmt.Sprintf("simdb-bench-%s-%d.simdb", kind, n))
	o.NoSync, o.MustExist = true, true
	db, err := Open(path, &o)
	if err != nil {
		db, err = Create(path, &Options{NoSync: true, NoSketch: true})
		must.Do(b, err)
		rng := rand.New(rand.NewPCG(1, 2))
		words := make([]string, 2000)
		for i := range words {
			words[i] = fmt.Sprintf("%x ", rng.Uint32N(1<<(4+rng.IntN(28))))
		}
		cpu := cpuTime(b)
		var batch Batch
		for i := range n {
			d := Doc{ID: valueID(i * 7919 % n)}
			if texts {
				var text strings.Builder
				for text.Len() < 1400 {
					text.WriteString(words[rng.IntN(len(words))])
				}
				d.Text = text.String()
			} else {
				d.Fields = fmt.Appendf(nil, `{"name":"user %d","score":%d,"at":"%x"}`, i*7919%n, rng.IntN(1000), rng.Uint64())
			}
			batch.Put(d)
			if i%1000 == 999 || i == n-1 {
				must.Do(b, db.Apply(context.Background(), &batch))
				batch = Batch{}
			}
		}
		must.Do(b, db.Compact(context.Background(), nil))
		st, _ := db.Stats()
		b.Logf("%d %s: %v of processor time, %.2f bytes each", n, kind, cpuTime(b)-cpu, float64(st.DiskBytes)/float64(n))
		db.Close()
		if db, err = Open(path, &o); err != nil {
			b.Fatal(err)
		}
	}
	b.Cleanup(func() { db.Close() })
	return db
}

// BenchmarkGet reads documents of 60 bytes of fields, and of texts of 1.4 KB, at random, in databases
// that fit into the cache, and that are ten times as large.
func BenchmarkGet(b *testing.B) {
	for _, c := range []struct {
		name  string
		n     int
		texts bool
		cache int64
	}{
		{"fields/cached", 300_000, false, 256 << 20},
		{"fields/tenth", 300_000, false, 300_000 * 65 / 10},
		{"texts/cached", 30_000, true, 256 << 20},
		{"texts/tenth", 30_000, true, 30_000 * 1400 / 10},
	} {
		b.Run(c.name, func(b *testing.B) {
			db, ctx := valuesDB(b, c.n, c.texts, Options{Cache: c.cache}), context.Background()
			ids := make([]string, 1<<16)
			rng := rand.New(rand.NewPCG(3, 4))
			for i := range ids {
				ids[i] = valueID(rng.IntN(c.n))
			}
			get := func(id string) {
				must.Get(db.Get(ctx, id))(b)
			}
			for i := range c.n {
				get(valueID(i))
			}
			cpu, i := cpuTime(b), 0
			b.ReportAllocs()
			for b.Loop() {
				get(ids[i%len(ids)])
				i++
			}
			b.ReportMetric(float64((cpuTime(b)-cpu).Nanoseconds())/float64(i), "cpu-ns/op")
		})
	}
}
