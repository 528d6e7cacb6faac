package sstable

import (
	"errors"

	"github.com/simdb/simdb/internal/base"
)

// CorruptionError says where a table is damaged:
//
//	type CorruptionError struct {
//		File    string // the file's name, as it was opened
//		Section string // a Section.Name, or "header", "directory", "trailer" or "padding"
//		Offset  int64  // byte offset in the file of the damaged part
//		Err     error  // what is wrong with it
//	}
//
// Every error about the contents of a table is one. It unwraps to ErrCorruption and to Err.
type CorruptionError = base.CorruptionError

// ErrCorruption is what errors.Is finds in every error about damaged data.
var ErrCorruption = base.ErrCorruption

// Errors that a caller may want to tell from damage.
var (
	// ErrNotTable is in the error for a file that neither starts nor ends as a table does.
	ErrNotTable = errors.New("not an .sst table")
	// ErrUnsupported is in the error for an intact table of a newer format.
	ErrUnsupported = errors.New("unsupported table format")
)

// ErrTooLarge is in the error of a document that exceeds a limit of the format.
var ErrTooLarge = errors.New("too large for a table")

// Fingerprint is the SimHash of a document (package simhash): FingerprintBits bits, of which
// near-duplicates differ in few.
type Fingerprint = base.Fingerprint

// FingerprintBits is the number of bits of a fingerprint, and so the greatest distance of two.
const FingerprintBits = base.FingerprintBits

// ErrNoSketches is in the error of a search by sketch in a table that keeps none.
var ErrNoSketches = errors.New("the table keeps no sketches")
