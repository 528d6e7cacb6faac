package write

import (
	"encoding/binary"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// Documents are numbered by fingerprint, but their times and sequence numbers ascend in the order
// of writing. So a table stores the rank of each document in that order, and stores times and
// sequence numbers by rank, where they need very little space: as a sorted run, the sequence
// numbers of a load need 2 bits per document, and times hardly more.
//
//	ranks   column     document -> rank: its position in the order of sequence numbers; absent if
//	                   rank = number
//	seqs    key run    rank -> sequence number
//	times   column     rank -> OrderedTime
//	times 1 column     rank -> OrderedExpiry; absent if no document expires by itself

// timesWriter writes the times or the expiries, by rank.
type timesWriter struct {
	t      *File
	index  uint16
	column *keyrun.ColumnWriter
	Sample format.TimeSample
}

// NewTimesWriter starts the section of n times, or expiries if index is format.Expiries.
func (t *File) NewTimesWriter(n int, index uint16) *timesWriter {
	t.Out.Begin(format.KindTimes, index)
	return &timesWriter{t: t, index: index, Sample: format.NewTimeSample(n), column: keyrun.NewColumnWriter(&t.Out)}
}

// add adds the next time, in the form of OrderedTime or OrderedExpiry.
func (w *timesWriter) add(v uint64) {
	w.Sample.Add(v)
	w.column.Add(v) // Finish returns its error
}

// EncodedTimes are some of the times: a part of the column, with the times that are sampled.
type EncodedTimes struct {
	Part            *keyrun.ColumnWriter
	least, greatest uint64
	sampled         []uint64
	n               int
}

// SampleOf returns the EncodedTimes for times, which start at position first and have been encoded
// in part. Several goroutines may call it.
func (w *timesWriter) SampleOf(first int, times []uint64, part *keyrun.ColumnWriter) EncodedTimes {
	e := EncodedTimes{Part: part, least: slices.Min(times), greatest: slices.Max(times), n: len(times)}
	for i := (w.Sample.Stride - first%w.Sample.Stride) % w.Sample.Stride; i < len(times); i += w.Sample.Stride {
		e.sampled = append(e.sampled, times[i])
	}
	return e
}

// Append adds encoded times; the times so far must fill whole blocks.
func (w *timesWriter) Append(e EncodedTimes) error {
	s := &w.Sample
	s.Times, s.At = append(s.Times, e.sampled...), s.At+e.n
	s.Least, s.Greatest = min(s.Least, e.least), max(s.Greatest, e.greatest)
	return w.column.Append(e.Part)
}

// Finish ends the section, and writes the time sketch.
func (w *timesWriter) Finish() {
	dir, err := w.column.Finish()
	w.t.Out.EndWithDir(w.column.Len(), dir, err)
	w.t.writeTimeSketch(w.index, w.Sample.Quantiles())
}

func (t *File) writeTimeSketch(index uint16, quantiles []uint64) {
	if quantiles == nil {
		return
	}
	t.Out.Begin(format.KindTimeSketch, index)
	t.Out.MakeOptional()
	var b []byte
	for _, v := range quantiles {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	t.Out.write(binary.LittleEndian.AppendUint32(b, kernel.CRC32C(0, b)))
	t.Out.end(uint64(len(quantiles)))
}
