package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/textsim"
)

// BenchmarkSimilar searches titles, 20,000 or SIMDB_TITLES, by each criterion; half of the queries
// are titles with two edits. Build is the additional time of the first search.
func BenchmarkSimilar(b *testing.B) {
	n, _ := strconv.Atoi(os.Getenv("SIMDB_TITLES"))
	if n == 0 {
		n = 20000
	}
	source := &titles{rng: rand.New(rand.NewPCG(1, 1))}
	db := must.Get(Open(b.TempDir()+"/test.simdb", &Options{NoSync: true}))(b)
	defer db.Close()
	var batch Batch
	var queries []string
	for i := range n {
		text := source.next()
		if i%(n/200) == 0 && len(text) > 20 {
			queries = append(queries, text[:7]+text[8:12]+"x"+text[12:])
		}
		if batch.Put(Doc{ID: fmt.Sprint(i), Text: text}); batch.Len() == 1000 {
			must.Do(b, db.Apply(b.Context(), &batch))
			batch = Batch{}
		}
	}
	must.Do(b, db.Compact(b.Context(), nil))
	b.Run("sign", func(b *testing.B) {
		signer := textsim.NewSigner(features.Spec{})
		for b.Loop() {
			for _, q := range queries {
				signer.Sign([]byte(q))
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(queries)), "ns/text")
	})
	for _, by := range []Criterion{Levenshtein(0.95), Levenshtein(0.85), Cosine(0.9)} {
		b.Run(by.String(), func(b *testing.B) {
			stats := &QueryStats{}
			ctx, found := context.Background(), 0
			for i := 0; b.Loop(); i++ {
				for _, err := range db.Search(ctx, Doc{Text: queries[i%len(queries)]}, by, &SearchOptions{Stats: stats}) {
					must.Do(b, err)
					found++
				}
			}
			b.ReportMetric(float64(found)/float64(b.N), "matches/op")
			b.ReportMetric(float64(stats.Candidates)/float64(b.N), "texts/op")
		})
	}
}
