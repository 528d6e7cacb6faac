package query

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
)

// BenchmarkLimit finds the best 20 of 20,000 documents that all match, as with boilerplate, and all
// 20,000.
func BenchmarkLimit(b *testing.B) {
	db := openTest(b, nil)
	l := must(db.NewLoader(b.Context(), &engine.LoadOptions{}))(b)
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 60)
	for i := range words {
		words[i] = fmt.Sprintf("word%d", i)
	}
	for i := range 20000 {
		own := append([]string(nil), words...)
		own[r.IntN(len(own))] = "other"
		noErr(b, l.Add(engine.Doc{ID: fmt.Sprintf("d%05d", i), Text: strings.Join(own, " ")}))
	}
	must(l.Close())(b)
	for _, statement := range []string{
		"JACCARD('d00000', 0.7) LIMIT 20", "JACCARD('d00000', 0.7)", "COUNT JACCARD('d00000', 0.7)",
		"NEAR('d00000', 40) LIMIT 20", "NEAR('d00000', 40)", "COUNT NEAR('d00000', 40)",
	} {
		b.Run(strings.ReplaceAll(strings.ReplaceAll(statement, " ", "_"), "'", ""), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rows := must(Run(b.Context(), db, statement))(b)
				for _, err := range rows.All() {
					noErr(b, err)
				}
			}
		})
	}
}
