package query

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// BenchmarkOverhead compares a search by the engine alone with the same search as a statement: with
// another literal each time, with parameters, prepared, and with a large answer, where ns/match is
// the cost per match.
func BenchmarkOverhead(b *testing.B) {
	ctx := b.Context()
	db := openTest(b, &engine.Options{NoText: true, NoSketch: true})
	l := must.Get(db.NewLoader(ctx, &engine.LoadOptions{}))(b)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 100_000 {
		fp := r.Uint64()
		if i%4 == 0 {
			fp &= 0xfff // 25,000 within 12 bits of 0
		}
		must.Do(b, l.Add(engine.Doc{ID: fmt.Sprintf("doc/%06d", i), Fingerprints: []engine.Fingerprint{{fp}}}))
	}
	must.Get(l.Close())(b)
	fp, large := r.Uint64(), uint64(0)
	search := func(fp uint64, k int) int {
		n := 0
		for _, err := range db.Search(ctx, engine.Doc{Fingerprints: []engine.Fingerprint{{fp}}}, engine.Near(k), nil) {
			if n++; err != nil {
				b.Fatal(err)
			}
		}
		return n
	}
	read := func(rows *Rows, err error) int {
		must.Do(b, err)
		n := 0
		for _, err := range rows.All() {
			if n++; err != nil {
				b.Fatal(err)
			}
		}
		return n
	}
	bench := func(name string, do func(i int) int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for i := 0; b.Loop(); i++ {
				n = do(i)
			}
			if n > 1000 {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/match")
			}
		})
	}
	bench("engine", func(int) int { return search(fp, 3) })
	prepared := must.Get(Prepare("NEAR(?, 3)"))(b)
	literals := make([]string, 1024)
	for i := range literals {
		literals[i] = fmt.Sprintf("NEAR(0x%016x, 3)", fp+uint64(i))
	}
	bench("literal", func(i int) int { return read(Run(ctx, db, literals[i%len(literals)])) })
	bench("text", func(int) int { return read(Run(ctx, db, "NEAR(?, 3)", fp)) })
	bench("prepared", func(int) int { return read(prepared.Run(ctx, db, fp)) })
	bench("engine large", func(int) int { return search(large, 12) })
	bench("large", func(int) int { return read(Run(ctx, db, "NEAR(?, 12)", large)) })
}
