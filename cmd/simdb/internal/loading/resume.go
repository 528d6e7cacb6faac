package loading

import (
	"bytes"
	"errors"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/records"
)

// errOtherFile says that a file is not the file that an earlier load has read.
var errOtherFile = errors.New("another file")

// A loadMark says how far a file has been loaded. Its lower bits are the position where the last
// record or rejected record ends. The bits above are a digest of that record, or 0 if it is
// unknown. If a different record ends there, another file has replaced the file under its name, and
// continuing would skip the beginning of the new file.
type loadMark int64

const markPosBits = 40

func markOf(rec *records.Record) loadMark {
	sum := hashRaw(rec.Raw) // for Parquet, only the number of the row
	sum ^= bits.RotateLeft64(xxh3.HashString(rec.Doc.Text), 1)
	if fps := rec.Doc.Fingerprints; fps != nil {
		for i, word := range fps[0] {
			sum ^= bits.RotateLeft64(word, 2+i)
		}
	}
	return newLoadMark(rec.End, sum)
}

func hashRaw(raw []byte) uint64 { return xxh3.Hash(bytes.TrimRight(raw, "\r\n")) }

// newLoadMark returns the mark of a record that ends at end, with the digest sum.
func newLoadMark(end records.Position, sum uint64) loadMark {
	m := loadMark(end)
	if m>>markPosBits == 0 {
		m |= max(1, loadMark(sum>>(markPosBits+1))) << markPosBits
	}
	return m
}

func (m loadMark) pos() records.Position { return records.Position(m & (1<<markPosBits - 1)) }

// knows reports whether the mark has a digest.
func (m loadMark) knows() bool { return m>>markPosBits != 0 }

// after returns records.Options.After for a resumed load. The last record is read again, to compare
// it.
func (m loadMark) after() records.Position {
	if m.knows() {
		return m.pos() - 1
	}
	return m.pos()
}

// atMark reports whether mark belongs to the last record, valid or rejected, of the earlier load.
func (f *loadFile) atMark(mark loadMark) (bool, error) {
	switch {
	case f.found:
		return false, nil
	case mark != f.mark:
		return false, errOtherFile
	}
	f.found = true
	f.tellResumed()
	return true, nil
}

func (f *loadFile) tellResumed() {
	f.a.TalkTo(f.meter, "%s: continuing after %s %d", f.name, f.unit, f.mark.pos())
}
