package records

import (
	"context"
	"errors"
	"iter"
)

// Source is an open input: documents in the order of the file. It is read once, by one goroutine at
// a time.
type Source interface {
	// Info describes the source. Columns, Bits and Notice are complete once Records has yielded
	// something.
	Info() Info

	// Records yields the records in order. An error that is an *Issue concerns one record, and
	// reading continues; any other error is the last thing that is yielded: a *ReadError, or the
	// cause of the context's end.
	Records(ctx context.Context) iter.Seq2[*Record, error]

	// Progress returns how many bytes of the file have been read, and its size, or -1 if that is
	// not known; both are before decompression. It may be called at any time.
	Progress() (done, size int64)

	// Close closes the file. It does not wait for a read that is under way.
	Close() error
}

// ErrStop is what a function of Each returns to read no further.
var ErrStop = errors.New("stop")

// Each calls record for every record of a source, and issue for what is no record, in order, until
// one of them returns an error. A record about which record returns an *Issue is one. Each returns
// the error, except for ErrStop, or what has ended the reading.
func Each(ctx context.Context, src Source, record func(*Record) error, issue func(*Issue) error) error {
	for rec, err := range src.Records(ctx) {
		if err == nil {
			err = record(rec)
		}
		if is, ok := err.(*Issue); ok {
			err = issue(is)
		}
		if err == ErrStop {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Info describes a source.
type Info struct {
	Name   string // of the file, as in messages
	Format Format

	// Shape says how the records are written, in words for a message: "CSV". Records of two sources
	// may go into one output if their Shape is equal, and their Columns are, except for blanks
	// around them.
	Shape   string
	Columns []byte // the header of a file of columns, as it is written; nil for other files

	// Encoding is that of a text, and ByteOrderMark says whether it begins with one. Copies are
	// encoded so, with the same line ends.
	Encoding      Encoding
	ByteOrderMark bool
	OldLineEnds   bool // lines end in CR, as those of the first Macs; it is LF in Record.Raw, and LF CR

	// Notice says what the content was taken for, where that could surprise. Users should be shown
	// it.
	Notice string

	Empty            bool // there is nothing in it, and neither its name nor the options say its format
	Bits             int  // of fingerprints, 0 if there are none at the beginning
	Several          bool // documents at the beginning have several
	FingerprintsOnly bool // the records have fingerprints and no texts
	PositionIDs      bool // the IDs are the positions, so two such files have the same IDs
}
