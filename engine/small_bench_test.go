//go:build unix

package engine

import (
	"fmt"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// BenchmarkSmallTables searches 100,000 documents in several tables, with and without the index and
// the filters: NEAR, a look-up of an ID that is not there, and PutNovel, which does both.
func BenchmarkSmallTables(b *testing.B) {
	const docs = 100_000
	for _, tables := range []int{1, 3, 12, 20} {
		for _, memory := range []int64{0, 1} {
			o := &Options{NoSync: true, NoSketch: true, NoText: true, DisableAutoCompaction: true, MemtableBytes: 1 << 30, indexMemory: memory}
			db, _ := create4test(b, o)
			for i := range docs {
				put(b, db, fmt.Sprint("n", i), nthDoc(i).Fingerprints[0][0])
				if (i+1)%(docs/tables) == 0 {
					must.Do(b, db.Flush(b.Context()))
				}
			}
			run := func(name string, fn func(i int)) {
				b.Run(fmt.Sprintf("%s/tables=%d/index=%t", name, tables, memory == 0), func(b *testing.B) {
					from := cpuTime(b)
					i := 0
					for ; b.Loop(); i++ {
						fn(i)
					}
					b.ReportMetric(float64(cpuTime(b)-from)/float64(i), "cpu-ns/op")
					b.ReportMetric(float64(db.Metrics().IndexMemory), "bytes")
				})
			}
			var fps [1 << 10]uint64
			for i := range fps {
				fps[i] = nthDoc(i * (docs / len(fps))).Fingerprints[0][0] ^ 1<<(i%64)
			}
			run("near3", func(i int) {
				for range db.Near(b.Context(), fps[i%len(fps)], 3) {
				}
			})
			run("none", func(i int) { db.Get(b.Context(), fmt.Sprint("none", i)) })
			run("novel", func(i int) {
				db.PutNovel(b.Context(), Doc{ID: "new", Fingerprints: []Fingerprint{{fps[i%len(fps)]}}}, Near(3))
			})
		}
	}
}
