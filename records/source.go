package records

import (
	"context"
	"errors"
	"iter"
)

// Source is an open input, which yields its documents in file order. It can be read once, by one
// goroutine at a time.
type Source interface {
	// Info describes the source. Columns, Bits and Notice are complete once Records has yielded
	// something.
	Info() Info

	// Records yields the records in order. An *Issue concerns one record, and reading continues.
	// Any other error ends the reading: a *ReadError, or the cause of the context's cancellation.
	Records(ctx context.Context) iter.Seq2[*Record, error]

	// Progress returns the number of bytes read from the file, and its size, or -1 if unknown; both
	// count compressed bytes. It may be called at any time.
	Progress() (done, size int64)

	// Close closes the file. It does not wait for a read in progress.
	Close() error
}

// ErrStop is returned by a callback of Each to stop the reading without an error.
var ErrStop = errors.New("stop")

// Each calls record for every record of a source and issue for every *Issue, in order, until one of
// them returns an error. An *Issue that record returns is passed to issue. Each returns nil for
// ErrStop, otherwise the error of a callback or the one that ended the reading.
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
	Name   string // of the file, as messages show it
	Format Format

	// Shape describes the notation of the records in words for a message: "CSV". Records of two
	// sources can be copied to one output if their Shapes are equal, and their Columns, too, except
	// for leading and trailing blanks.
	Shape   string
	Columns []byte // the header of a file of columns, byte for byte; nil for other files

	// Encoding and ByteOrderMark describe a text file. Copies have the same encoding, byte order
	// mark and line ends.
	Encoding      Encoding
	ByteOrderMark bool
	OldLineEnds   bool // lines end in CR, as on early Macs; CR and LF are swapped in Record.Raw

	// Notice says how the content was interpreted, where that could surprise. It should be shown to
	// the user.
	Notice string

	Empty            bool // the file is empty, and neither its name nor the options give its format
	Bits             int  // length of the fingerprints, 0 if the beginning of the file has none
	Several          bool // documents at the beginning have several fingerprints
	FingerprintsOnly bool // the records have fingerprints and no texts
	PositionIDs      bool // the IDs are positions, so two such files have the same IDs
}
