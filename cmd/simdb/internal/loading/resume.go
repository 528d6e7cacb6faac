package loading

import (
	"bytes"
	"errors"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/records"
)

// errOtherFile says that a file is not the one that an earlier load has read.
var errOtherFile = errors.New("another file")

// A loadMark says how far a file has been loaded: in its lower bits the position at which the last
// record or rejected one ends, and above them a digest of it, 0 if it is not known. A file of the
// same name in which another one ends there has come in its place: to go on in it would leave out
// its beginning.
type loadMark int64

const markPosBits = 40

func markOf(rec *records.Record) loadMark {
	sum := hashRaw(rec.Raw) // of Parquet the number of the row alone
	sum ^= bits.RotateLeft64(xxh3.HashString(rec.Doc.Text), 1)
	if rec.Doc.Fingerprint != nil {
		sum ^= bits.RotateLeft64(uint64(*rec.Doc.Fingerprint), 2)
	}
	for i, word := range rec.Doc.Rest {
		sum ^= bits.RotateLeft64(word, 3+i)
	}
	return newLoadMark(rec.End, sum)
}

func hashRaw(raw []byte) uint64 { return xxh3.Hash(bytes.TrimRight(raw, "\r\n")) }

// newLoadMark makes a mark of where something ends, and of its digest.
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

// after is records.Options.After for reading on: the last record is read again, to be compared.
func (m loadMark) after() records.Position {
	if m.knows() {
		return m.pos() - 1
	}
	return m.pos()
}

// atMark reports whether a record or rejected one with this mark is that which an earlier load has
// read last.
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
