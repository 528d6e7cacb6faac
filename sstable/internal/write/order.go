package write

import (
	"encoding/binary"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/table"
)

// Documents are numbered by fingerprint; their times and sequence numbers ascend in the order of
// writing. So a table gives each document its rank in that order, and keeps both by rank, where
// they are next to nothing: a sorted run of a load's sequence numbers takes 2 bits a document, and
// times hardly more.
//
//	ranks   column     document -> rank: its position in the order of sequence numbers; absent if
//	                   rank = number
//	seqs    key run    rank -> sequence number
//	times   column     rank -> OrderedTime

// timesWriter writes the times, by rank.
type timesWriter struct {
	t      *File
	column *keyrun.ColumnWriter
	Sample table.TimeSample
}

// NewTimesWriter begins the section of n times.
func (t *File) NewTimesWriter(n int) *timesWriter {
	t.Out.Begin(table.KindTimes, 0)
	return &timesWriter{t: t, Sample: table.NewTimeSample(n), column: keyrun.NewColumnWriter(&t.Out)}
}

// add adds the next time, as OrderedTime gives it.
func (w *timesWriter) add(v uint64) {
	w.Sample.Add(v)
	w.column.Add(v) // its error comes back from Finish
}

// EncodedTimes is some of the times: a part of the column, with what the sample takes of it.
type EncodedTimes struct {
	Part            *keyrun.ColumnWriter
	least, greatest uint64
	sampled         []uint64
	n               int
}

// SampleOf returns what the sample takes of times that are those from position first on, with part,
// which has encoded them. It may be called from several goroutines.
func (w *timesWriter) SampleOf(first int, times []uint64, part *keyrun.ColumnWriter) EncodedTimes {
	e := EncodedTimes{Part: part, least: slices.Min(times), greatest: slices.Max(times), n: len(times)}
	for i := (w.Sample.Stride - first%w.Sample.Stride) % w.Sample.Stride; i < len(times); i += w.Sample.Stride {
		e.sampled = append(e.sampled, times[i])
	}
	return e
}

// Append adds times that a part has encoded; those so far fill whole blocks.
func (w *timesWriter) Append(e EncodedTimes) error {
	s := &w.Sample
	s.Times, s.At = append(s.Times, e.sampled...), s.At+e.n
	s.Least, s.Greatest = min(s.Least, e.least), max(s.Greatest, e.greatest)
	return w.column.Append(e.Part)
}

// Finish ends the section, and writes the sketch of the times.
func (w *timesWriter) Finish() {
	dir, err := w.column.Finish()
	w.t.Out.EndWithDir(w.column.Len(), dir, err)
	w.t.writeTimeSketch(w.Sample.Quantiles())
}

func (t *File) writeTimeSketch(quantiles []uint64) {
	if quantiles == nil {
		return
	}
	t.Out.Begin(table.KindTimeSketch, 0)
	t.Out.sections[len(t.Out.sections)-1].Optional = true
	var b []byte
	for _, v := range quantiles {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	t.Out.write(binary.LittleEndian.AppendUint32(b, kernel.CRC32C(0, b)))
	t.Out.end(uint64(len(quantiles)))
}
