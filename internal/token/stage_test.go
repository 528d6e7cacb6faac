package token

import (
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/kernel"
)

func BenchmarkStages(b *testing.B) {
	text := (*window)([]byte(strings.Repeat("It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light. ", 11)[:2128]))
	s := &scanner{h: NewHasher(0)}
	var words [segmentWords]uint64
	n, _ := s.fast(&words, text, segment)
	per := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/word")
		b.SetBytes(segment)
	}
	b.Run("masks", func(b *testing.B) {
		for b.Loop() {
			kernel.Masks(s.masks[:segment/blockBytes], text[:])
		}
		per(b)
	})
	b.Run("hash", func(b *testing.B) {
		for b.Loop() {
			s.hashWords(&words, text, s.masks[:segment/blockBytes], segment)
		}
		per(b)
	})
	b.Run("shingles", func(b *testing.B) {
		out := make([]uint64, segmentWords)
		for b.Loop() {
			poly.Shingles(out, words[:n], 3)
		}
		per(b)
	})
}
