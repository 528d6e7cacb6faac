package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// BenchmarkContainment searches texts of 1.4 KB, 20,000 or SIMDB_TEXTS, with the index of
// containment and without. Every second text contains half of the previous one. Queries are halves
// of texts.
func BenchmarkContainment(b *testing.B) {
	n, _ := strconv.Atoi(os.Getenv("SIMDB_TEXTS"))
	if n == 0 {
		n = 20000
	}
	for _, index := range []bool{true, false} {
		source := &titles{rng: rand.New(rand.NewPCG(1, 1))}
		db, err := Open(b.TempDir()+"/test.simdb", &Options{NoSync: true, Containment: index})
		must.Do(b, err)
		l, err := db.NewLoader(b.Context(), &LoadOptions{})
		must.Do(b, err)
		var queries []string
		last, size := "", 0
		for i := range n {
			var text strings.Builder
			if i%2 == 1 {
				text.WriteString(last[len(last)/2:])
			}
			for text.Len() < 1400 {
				text.WriteString(source.next() + ". ")
			}
			last = text.String()
			size += len(last)
			must.Do(b, l.Add(Doc{ID: fmt.Sprint(i), Text: last}))
			if i%(n/500+1) == 0 {
				queries = append(queries, last[len(last)/2:])
			}
		}
		_, err = l.Close()
		must.Do(b, err)
		must.Do(b, db.Compact(b.Context(), nil))
		s, err := db.Snapshot()
		must.Do(b, err)
		stats, err := db.Stats()
		must.Do(b, err)
		for _, by := range []Criterion{Contains(0.8), Within(0.4)} {
			b.Run(fmt.Sprintf("%v/index=%v", by, index), func(b *testing.B) {
				var times []float64
				found := 0
				for b.Loop() {
					start := time.Now()
					for _, err := range s.Search(b.Context(), Doc{Text: queries[len(times)%len(queries)]}, by, nil) {
						must.Do(b, err)
						found++
					}
					times = append(times, float64(time.Since(start).Nanoseconds())/1e3)
				}
				slices.Sort(times)
				b.ReportMetric(times[len(times)/2], "p50-us")
				b.ReportMetric(float64(found)/float64(len(times)), "matches/op")
				b.ReportMetric(float64(stats.DiskBytes)/float64(size), "disk/text")
			})
		}
		s.Close()
		must.Do(b, db.Close())
	}
}
