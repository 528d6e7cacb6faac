package sstable

import (
	"encoding/binary"
	"slices"

	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// Documents are numbered by fingerprint; their times and sequence numbers ascend in the order of
// writing. So a table gives each document its rank in that order, and keeps both by rank, where
// they are next to nothing: a sorted run of a load's sequence numbers takes 2 bits a document, and
// times hardly more.
//
//	ranks   column     document -> rank: its position in the order of sequence numbers; absent if
//	                   rank = number
//	seqs    key run    rank -> sequence number
//	times   column     rank -> orderedTime

// orderedTime maps times to numbers of the same order, as a column stores them.
func orderedTime(t int64) uint64 { return uint64(t) ^ 1<<63 }

// timeOf is the inverse of orderedTime.
func timeOf(v uint64) int64 { return int64(v ^ 1<<63) }

// timesWriter writes the times, by rank.
type timesWriter struct {
	t      *tableFile
	column *keyrun.ColumnWriter
	sample timeSample
}

// newTimesWriter begins the section of n times.
func (t *tableFile) newTimesWriter(n int) *timesWriter {
	t.out.begin(KindTimes, 0)
	return &timesWriter{t: t, sample: newTimeSample(n), column: keyrun.NewColumnWriter(&t.out)}
}

// add adds the next time, as orderedTime gives it.
func (w *timesWriter) add(v uint64) {
	w.sample.add(v)
	w.column.Add(v) // its error comes back from Finish
}

// encodedTimes is some of the times: a part of the column, with what the sample takes of it.
type encodedTimes struct {
	part            *keyrun.ColumnWriter
	least, greatest uint64
	sampled         []uint64
	n               int
}

// sampleOf returns what the sample takes of times that are those from position first on, with part,
// which has encoded them. It may be called from several goroutines.
func (w *timesWriter) sampleOf(first int, times []uint64, part *keyrun.ColumnWriter) encodedTimes {
	e := encodedTimes{part: part, least: slices.Min(times), greatest: slices.Max(times), n: len(times)}
	for i := (w.sample.stride - first%w.sample.stride) % w.sample.stride; i < len(times); i += w.sample.stride {
		e.sampled = append(e.sampled, times[i])
	}
	return e
}

// append adds times that a part has encoded; those so far fill whole blocks.
func (w *timesWriter) append(e encodedTimes) error {
	s := &w.sample
	s.times, s.at = append(s.times, e.sampled...), s.at+e.n
	s.least, s.greatest = min(s.least, e.least), max(s.greatest, e.greatest)
	return w.column.Append(e.part)
}

// finish ends the section, and writes the sketch of the times.
func (w *timesWriter) finish() {
	dir, err := w.column.Finish()
	w.t.out.endWithDir(w.column.Len(), dir, err)
	w.t.writeTimeSketch(w.sample.quantiles())
}

// A time sketch is TimeQuantiles times, or as many as there are documents, ascending, with a
// checksum: the least, the greatest, and in between those that cut the documents into equal parts,
// of a sample of every stride-th document in the order of writing. It says how much of a table a
// retention will drop, without a look at it.
//
//	+------------+ ... +-------------+----------+
//	| quantile 0 |     | quantile 64 | CRC32C 4 |    each 8 bytes, as orderedTime gives them
//	+------------+ ... +-------------+----------+
const (
	// TimeQuantiles is the most quantiles that a table's sketch of its times has.
	TimeQuantiles = 65
	// timeSampled is about how many times are sampled.
	timeSampled = 1 << 14
)

// timeSample takes every stride-th of the times that it is given, and the extremes.
type timeSample struct {
	stride, at int
	least      uint64
	greatest   uint64
	times      []uint64
}

func newTimeSample(n int) timeSample {
	return timeSample{stride: max(n/timeSampled, 1), least: ^uint64(0)}
}

func (s *timeSample) add(v uint64) {
	if s.at%s.stride == 0 {
		s.times = append(s.times, v)
	}
	s.at++
	s.least, s.greatest = min(s.least, v), max(s.greatest, v)
}

// quantiles returns the quantiles of the times, nil if there are none.
func (s *timeSample) quantiles() []uint64 {
	if len(s.times) == 0 {
		return nil
	}
	slices.Sort(s.times)
	q := make([]uint64, min(len(s.times), TimeQuantiles))
	for i := range q {
		q[i] = s.times[i*(len(s.times)-1)/max(len(q)-1, 1)]
	}
	q[0] = s.least
	if last := len(q) - 1; last > 0 {
		q[last] = s.greatest
	}
	return q
}

// writeTimeSketch writes the section of quantiles.
func (t *tableFile) writeTimeSketch(quantiles []uint64) {
	if quantiles == nil {
		return
	}
	t.out.begin(KindTimeSketch, 0)
	t.out.sections[len(t.out.sections)-1].Optional = true
	var b []byte
	for _, v := range quantiles {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	t.out.write(binary.LittleEndian.AppendUint32(b, crc.Sum(b)))
	t.out.end(uint64(len(quantiles)))
}
