package table

import (
	"errors"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/hamming"
)

// Params are the parameters with which the fingerprints and sketches of a table were made. They are
// fixed when a database is created and recorded in every table, because fingerprints made with
// different parameters must never be compared. The layout is an exception: each table has its own,
// and a database may leave it open (LayoutBySize).
type Params = format.Params

// Limits of the parameters, and of the number of documents in a table.
const (
	MaxShingle = format.MaxShingle // words in a shingle
	MaxSketch  = format.MaxSketch  // entries in a sketch
	MaxWords   = format.MaxWords   // words in a fingerprint
	MaxDocs    = format.MaxDocs
)

// Info describes a table.
type Info = format.Info

// Identity identifies a table within its database, so that a lost catalog can be rebuilt. It is all
// zero in a file that belongs to no database, such as a packed one.
type Identity = format.Identity

// Section is a part of the file, and Kind says what it contains.
type (
	Section = format.Section
	Kind    = format.Kind
)

// Some kinds of sections.
const (
	KindRecords = format.KindRecords // directory of the blocks of records: texts with their fields
	KindTimes   = format.KindTimes   // column of times
	KindRun     = format.KindRun     // key run of permuted table Section.Index
	KindIDs     = format.KindIDs     // key run of the hashes of IDs
	KindWords   = format.KindWords   // column of one word of the fingerprints
)

// Magic is the first and the last 8 bytes of a table.
const Magic = format.Magic

// FormatVersion is the format version that is written.
const FormatVersion = format.FormatVersion

// IsTable reports whether a file that starts with prefix, at least 8 bytes, looks like a table.
func IsTable(prefix []byte) bool { return format.IsTable(prefix) }

// HashID returns the hash of an ID by which tables sort IDs: the upper 38 bits of xxh3-64, seed 0;
// the other bits are zero. It is part of the format.
func HashID(id []byte) uint64 { return format.HashID(id) }

// Errors that a caller may want to distinguish from damage.
var (
	// ErrNotTable is wrapped by the error for a file that neither starts nor ends like a table.
	ErrNotTable = format.ErrNotTable
	// ErrUnsupported is wrapped by the error for an intact table of a newer format.
	ErrUnsupported = format.ErrUnsupported
)

// Layout says how the 64 bits of a fingerprint are split into blocks and which blocks lead each
// permuted table.
type Layout = hamming.Layout

// DefaultLayout has four tables led by 16 bits each.
var DefaultLayout = hamming.DefaultLayout

// LayoutBySize is the zero Layout. It leaves the layout to the writer of each table:
// Params.ForTable replaces it by the result of ChooseLayout. The parameters of a database may have
// it, those of a table never do.
var LayoutBySize = hamming.LayoutBySize

// ChooseLayout returns the layout for a table of n fingerprints. It depends only on n:
//
//	to 24 Mi   4:1      to 2 Gi   3:1      above   2:1
func ChooseLayout(n int64) Layout { return hamming.ChooseLayout(n) }

// ParseLayout parses a layout such as "4:1" or "4x4". "4" means the same as "4:1".
func ParseLayout(s string) (Layout, error) { return hamming.ParseLayout(s) }

// Layouts returns layouts that are worth comparing: some with few tables, which need radii, the
// classic choices of Manku et al., and a nested one.
func Layouts() []Layout { return hamming.Layouts() }

// Estimate gives the costs of a layout: its space, and the work and the time of a search.
type Estimate = hamming.Estimate

// EstimateNear returns the estimated cost of searches within k bits among n uniformly distributed
// fingerprints with layout l.
func EstimateNear(l Layout, n int64, k int) (Estimate, error) {
	return hamming.EstimateUniform(l, n, k)
}

// CorruptionError says where a table is damaged. Every error about the contents of a table is a
// CorruptionError. It unwraps to ErrCorruption and to Err.
type CorruptionError = base.CorruptionError

// ErrCorruption is wrapped by every error about damaged data.
var ErrCorruption = base.ErrCorruption

// ErrTooLarge is wrapped by the error for a document that exceeds a limit of the format.
var ErrTooLarge = format.ErrTooLarge

// Fingerprint is the SimHash of a document (package simhash), or one word of a wider fingerprint.
// Its 64 bits differ in few places between near-duplicates.
type Fingerprint = base.Fingerprint

// FingerprintBits is the number of bits of a Fingerprint.
const FingerprintBits = base.FingerprintBits

// ErrNoSketches is wrapped by the error of a search by sketch in a table without sketches.
var ErrNoSketches = errors.New("the table stores no sketches")
