package format

import (
	"math"
	"slices"
)

// OrderedTime maps times to unsigned numbers in the same order, the form that a column stores.
func OrderedTime(t int64) uint64 { return uint64(t) ^ 1<<63 }

// TimeOf is the inverse of OrderedTime.
func TimeOf(v uint64) int64 { return int64(v ^ 1<<63) }

// Expiries is the Section.Index of the column of expiries and of their time sketch.
const Expiries = 1

// OrderedExpiry is OrderedTime for the time when a document expires. 0, for never, is the last.
func OrderedExpiry(t int64) uint64 {
	if t == 0 {
		return math.MaxUint64
	}
	return OrderedTime(t)
}

// A time sketch has TimeQuantiles times, or as many as there are documents, ascending, with a
// checksum: the minimum, the maximum, and between them quantiles of a sample of every stride-th
// document in the order of writing. It shows which share of a table a retention will drop, without
// reading the table.
//
//	+------------+ ... +-------------+----------+
//	| quantile 0 |     | quantile 64 | CRC32C 4 |    8 bytes each, in the form of OrderedTime
//	+------------+ ... +-------------+----------+
const (
	// TimeQuantiles is the maximum number of quantiles in a time sketch.
	TimeQuantiles = 65
	// TimeSampled is about how many times are sampled.
	TimeSampled = 1 << 14
)

// TimeSample samples every Stride-th of the times added, and records the extremes.
type TimeSample struct {
	Stride, At int
	Least      uint64
	Greatest   uint64
	Times      []uint64
}

// NewTimeSample returns an empty sample for n values.
func NewTimeSample(n int) TimeSample {
	return TimeSample{Stride: max(n/TimeSampled, 1), Least: ^uint64(0)}
}

// Add adds the next time.
func (s *TimeSample) Add(v uint64) {
	if s.At%s.Stride == 0 {
		s.Times = append(s.Times, v)
	}
	s.At++
	s.Least, s.Greatest = min(s.Least, v), max(s.Greatest, v)
}

// Quantiles returns the quantiles of the times, nil if there are none.
func (s *TimeSample) Quantiles() []uint64 {
	if len(s.Times) == 0 {
		return nil
	}
	slices.Sort(s.Times)
	q := make([]uint64, min(len(s.Times), TimeQuantiles))
	for i := range q {
		q[i] = s.Times[i*(len(s.Times)-1)/max(len(q)-1, 1)]
	}
	q[0] = s.Least
	if last := len(q) - 1; last > 0 {
		q[last] = s.Greatest
	}
	return q
}
