package engine

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// BenchmarkShared measures what sharing costs a process that is alone: writes with and without fsync,
// look-ups and searches.
func BenchmarkShared(b *testing.B) {
	for _, shared := range []bool{false, true} {
		name := fmt.Sprintf("shared=%t", shared)
		rng := rand.New(rand.NewPCG(1, 1))
		open := func(b *testing.B, noSync bool) *DB {
			db := must.Get(Open(filepath.Join(b.TempDir(), "db"), &Options{Shared: shared, NoSync: noSync}))(b)
			b.Cleanup(func() { db.Close() })
			return db
		}
		for _, noSync := range []bool{true, false} {
			b.Run(fmt.Sprintf("Put/%s/sync=%t", name, !noSync), func(b *testing.B) {
				db, n := open(b, noSync), 0
				for b.Loop() {
					n++
					put(b, db, fmt.Sprint("d", n), rng.Uint64())
				}
			})
		}
		b.Run("PutNovel/"+name, func(b *testing.B) {
			db, n := open(b, true), 0
			for b.Loop() {
				n++
				if _, _, err := db.PutNovel(b.Context(), Doc{ID: fmt.Sprint("d", n), Fingerprints: []Fingerprint{{rng.Uint64()}}}, Near(3)); err != nil {
					b.Fatal(err)
				}
			}
		})
		db := open(b, true)
		for n := range 20_000 {
			put(b, db, fmt.Sprint("d", n), rng.Uint64())
		}
		must.Do(b, db.Compact(b.Context(), nil))
		b.Run("Get/"+name, func(b *testing.B) {
			for b.Loop() {
				must.Get(db.Get(b.Context(), fmt.Sprint("d", rng.IntN(20_000))))(b)
			}
		})
		b.Run("Near/"+name, func(b *testing.B) {
			for b.Loop() {
				for _, err := range db.Near(b.Context(), rng.Uint64(), 3) {
					must.Do(b, err)
				}
			}
		})
	}
}
