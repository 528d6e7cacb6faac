package verbs

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/fingerprint"
	"github.com/simdb/simdb/internal/stopwatch"
)

// texts measures fingerprinting.
func (b *bench) texts() error {
	for _, size := range []int{2300, 48_000} {
		texts := make([]string, max(4, 500_000/size))
		for i := range texts {
			texts[i] = b.text(size)
		}
		for _, sketch := range []int{0, 128} {
			work := fmt.Sprintf("text %.1f KB", float64(size)/1e3)
			measure := "fingerprint"
			if sketch > 0 {
				measure = "fingerprint, sketch"
			}
			b.meter.Report(engine.Progress{Stage: work})
			state := fingerprint.New(fingerprint.Params{Shingle: 3, Sketch: sketch})
			best := 0.0
			for begin := stopwatch.Start(); begin.Elapsed() < 300*time.Millisecond && !b.a.Interrupted(); {
				start, total := stopwatch.Start(), 0
				for _, t := range texts {
					state.Text(t)
					total += len(t)
				}
				best = max(best, float64(total)/start.Elapsed().Seconds()/1e6)
			}
			if b.a.Interrupted() {
				return app.ErrInterrupted
			}
			if err := b.figure(work, measure, best, "MB/s"); err != nil {
				return err
			}
		}
	}
	return nil
}

// text returns size bytes of words, of which few are frequent and many are not, with commas and
// full stops.
func (b *bench) text(size int) string {
	var s strings.Builder
	s.Grow(size + 16)
	for s.Len() < size {
		rank := b.rng.next() % 20_000
		// The product of two uniform numbers is small more often than large.
		rank = rank * (b.rng.next() % 20_000) / 20_000
		letters := splitMix(rank)
		for range 2 + cmp.Compare(rank, 100) + int(letters.next()%7) {
			s.WriteByte('a' + byte(letters.next()%26))
		}
		switch b.rng.next() % 12 {
		case 0:
			s.WriteString(". ")
		case 1:
			s.WriteString(", ")
		default:
			s.WriteByte(' ')
		}
	}
	return s.String()
}
