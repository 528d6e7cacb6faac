package verbs

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/stopwatch"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable"
)

const (
	jaccardTexts   = 20_000 // of which every second is an edited copy of the one before it
	jaccardSize    = 1400   // bytes of a text
	jaccardQueries = 2000
	jaccardLeast   = 0.8 // the threshold
)

// jaccard measures searches by sketch, in the table of a database of its own.
func (b *bench) jaccard(dir string) error {
	path := filepath.Join(dir, "texts.simdb")
	queries, err := b.loadTexts(path)
	if err != nil {
		return err
	}
	x, err := openBounds(b.machine, path)
	if err != nil {
		return err
	}
	defer x.close()
	size := int64(0)
	for _, r := range x.tables {
		size += r.Info().Size
	}
	x.machine = measureMachine(size)
	var s sstable.JaccardSearcher
	var hits []sstable.JaccardHit
	var took []time.Duration
	for round := range 1 + benchRounds {
		for _, q := range queries {
			start := stopwatch.Start()
			for _, r := range x.tables {
				if hits, err = s.Jaccard(r, q, jaccardLeast, hits[:0]); err != nil {
					return err
				}
			}
			if round > 0 {
				took = append(took, start.Elapsed())
			}
		}
		if b.a.Interrupted() {
			return app.ErrInterrupted
		}
	}
	bound, err := x.jaccard(queries)
	if err != nil {
		return err
	}
	slices.Sort(took)
	work, p50 := fmt.Sprintf("jaccard %g", jaccardLeast), micros(took[len(took)/2])
	return b.rows(
		benchRow{work, "p50", p50, "us"}, benchRow{work, "p99", micros(took[len(took)*99/100]), "us"}, benchRow{work, "mean", mean(took), "us"},
		benchRow{work, "bound", bound / 1e3, "us"}, benchRow{work, "multiple", p50 / (bound / 1e3), "times"},
	)
}

// loadTexts makes a database of sketches, in one table, and returns sketches to search for: those
// of edited copies of texts.
func (b *bench) loadTexts(path string) (queries []minhash.Sketch, err error) {
	db, err := engine.Create(path, &engine.Options{NoText: true, Sync: engine.SyncNever, DisableAutoCompaction: true})
	if err != nil {
		return nil, err
	}
	defer app.Closing(db, &err)
	l, err := db.NewLoader(b.a.Context(), engine.LoadOptions{})
	if err != nil {
		return nil, err
	}
	text := ""
	for i := range jaccardTexts {
		if i%2 == 0 {
			text = b.text(jaccardSize)
		} else {
			text = b.edit(text)
		}
		if i%(jaccardTexts/jaccardQueries) == 0 {
			queries = append(queries, db.Sketch(b.edit(text)))
		}
		if err := l.Add(engine.Doc{ID: fmt.Sprintf("%08x", i), Text: text}); err != nil {
			l.Abort()
			return nil, err
		}
		if i%256 == 0 {
			b.meter.Report(engine.Progress{Stage: "jaccard", Done: int64(i), Total: jaccardTexts, Unit: "documents"})
		}
	}
	if _, err := l.Close(); err != nil {
		return nil, err
	}
	return queries, db.Compact(b.a.Context(), b.meter.Report)
}

// edit returns a text with one word in a hundred replaced.
func (b *bench) edit(text string) string {
	words := strings.Fields(text)
	for range 1 + len(words)/100 {
		words[b.rng.next()%uint64(len(words))] = b.text(5)
	}
	return strings.Join(words, " ")
}

// jaccard returns the mean bound of a search by sketch, in nanoseconds: the directory, the
// postings, the bitmap and the sketch, each after a cache miss; for each hash of the prefix a line
// of the directory, and lines in spans, one and what its postings fill; a line for each bitmap and
// eight comparisons; and lines in spans for each sketch that is scored, and a comparison for each
// of its hashes. A scan reads all bitmaps in order.
func (b *bounds) jaccard(queries []minhash.Sketch) (float64, error) {
	var s sstable.JaccardSearcher
	var hits []sstable.JaccardHit
	ns := 0.0
	for _, q := range queries {
		ns += 4 * b.latency
		for _, r := range b.tables {
			plan, err := s.JaccardPlan(r, q, jaccardLeast)
			if err == nil {
				s.TakeStats()
				hits, err = s.Jaccard(r, q, jaccardLeast, hits[:0])
			}
			if err != nil {
				return 0, err
			}
			work := s.TakeStats()
			if work.Scans > 0 {
				ns += float64(r.NumDocs()) * (cacheLine*b.byte + 8*b.compare)
			} else {
				postings, bytes := float64(work.Postings), postingBytes(r)
				ns += float64(plan.Prefix)*(b.line+b.span) + postings*bytes/cacheLine*b.span
				ns += float64(work.Candidates) * (b.line + 8*b.compare)
			}
			hashes := float64(len(q))
			ns += float64(work.Scored) * ((1+hashes*4/cacheLine)*b.span + hashes*b.compare)
		}
	}
	return ns / float64(len(queries)), nil
}

// postingBytes returns what one posting of a table takes.
func postingBytes(r *sstable.Reader) float64 {
	bytes, count := int64(0), uint64(0)
	for _, s := range r.Info().Sections {
		if s.Kind == sstable.KindPostings {
			bytes, count = bytes+s.Length, count+s.Count
		}
	}
	return float64(bytes) / float64(max(count, 1))
}
