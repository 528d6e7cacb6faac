package sstable

import (
	"errors"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/hamming"
	"github.com/simdb/simdb/sstable/internal/table"
)

// Params are the parameters with which the fingerprints and sketches of a table were made. They are
// fixed when a database is created and recorded in every table, because fingerprints made with
// different parameters must never be compared. The layout is an exception: each table has its own,
// and a database may leave it open (LayoutBySize):
//
//	type Params struct {
//		Tokenizer  uint32  // version of the rules that split text into words
//		Shingle    uint32  // K: words, or characters, in a shingle
//		Hash       uint32  // version of the shingle hash
//		Seed       uint64  // seed of the shingle hash
//		Sketch     uint32  // N: entries of a MinHash sketch, 0 for none
//		MinJaccard float64 // least threshold that the sketch index answers, 0..1
//		Layout     Layout  // how permuted tables lead with the fingerprint's blocks
//		StoreText  bool    // whether texts and fields are stored
//		Words      uint32  // 64-bit words of a fingerprint, 2..MaxWords; 0 for one
//		Features   string  // how features are made; "" for shingles of words
//		Sets       bool    // whether the features of texts are indexed
//	}
type Params = table.Params

// Limits of the parameters, and of the number of documents in a table.
const (
	MaxShingle = table.MaxShingle // words in a shingle
	MaxSketch  = table.MaxSketch  // entries in a sketch
	MaxWords   = table.MaxWords   // words in a fingerprint
	MaxDocs    = table.MaxDocs
)

// Info describes a table:
//
//	type Info struct {
//		Version          uint32 // of the format
//		Docs             uint32 // documents
//		Fingerprints     uint32 // documents with a fingerprint: numbers 0..Fingerprints-1
//		Distinct         uint32 // different fingerprints
//		MinTime, MaxTime int64  // of all documents, microseconds since the Unix epoch
//		MinSeq, MaxSeq   uint64 // of all documents
//		Size             int64  // bytes of the file
//		Identity         Identity
//		Checksum         uint32 // of the directory, which has the checksums of all sections
//		Sections         []Section
//	}
type Info = table.Info

// Identity identifies a table within its database, so that a lost catalog can be rebuilt. It is all
// zero in a file that belongs to no database, such as a packed one:
//
//	type Identity struct {
//		Database [16]byte // UUID of the database that the table was written for
//		Number   uint64   // of the table in the database
//		Created  int64    // when the table was written, microseconds since the Unix epoch
//	}
type Identity = table.Identity

// Section is a part of the file, and Kind says what it contains.
type (
	Section = table.Section
	Kind    = table.Kind
)

// Some kinds of sections.
const (
	KindRecords = table.KindRecords // directory of the blocks of records: texts with their fields
	KindTimes   = table.KindTimes   // column of times
	KindRun     = table.KindRun     // key run of permuted table Section.Index
	KindIDs     = table.KindIDs     // key run of the hashes of IDs
	KindWords   = table.KindWords   // column of one word of the fingerprints
)

// Magic is the first and the last 8 bytes of a table.
const Magic = table.Magic

// FormatVersion is the format version that is written.
const FormatVersion = table.FormatVersion

// IsTable reports whether a file that starts with prefix, at least 8 bytes, looks like a table.
func IsTable(prefix []byte) bool { return table.IsTable(prefix) }

// HashID returns the hash of an ID by which tables sort IDs: the upper 38 bits of xxh3-64, seed 0;
// the other bits are zero. It is part of the format.
func HashID(id []byte) uint64 { return table.HashID(id) }

// Errors that a caller may want to distinguish from damage.
var (
	// ErrNotTable is wrapped by the error for a file that neither starts nor ends like a table.
	ErrNotTable = table.ErrNotTable
	// ErrUnsupported is wrapped by the error for an intact table of a newer format.
	ErrUnsupported = table.ErrUnsupported
)

// Layout says how the 64 bits of a fingerprint are split into blocks and which blocks lead each
// permuted table (Manku, Jain, Das Sarma: Detecting Near-Duplicates for Web Crawling, WWW 2007,
// section 3):
//
//	type Layout struct {
//		Blocks int // number of blocks into which the bits are split, 1..16
//		Lead   int // blocks that lead a table, 1..Blocks; 0: one block and a part of the others
//	}
//
//	4:1   4 tables, led by 16 bits each                    2:1   2 tables, 32 bits
//	5:2  10 tables, 25 to 26 bits                          6:3  20 tables, 31 to 33 bits
//	8:2  28 tables, 16 bits                                4x4  16 tables, 16 + 12 bits
type Layout = hamming.Layout

// DefaultLayout has four tables led by 16 bits each.
var DefaultLayout = hamming.DefaultLayout

// LayoutBySize is the zero Layout. It leaves the layout to the writer of each table:
// Params.ForTable replaces it by the result of ChooseLayout. The parameters of a database may have
// it, those of a table never do.
var LayoutBySize = hamming.LayoutBySize

// ChooseLayout returns the layout for a table of n fingerprints. It depends on n alone:
//
//	to 24 Mi   4:1      to 2 Gi   3:1      above   2:1
func ChooseLayout(n int64) Layout { return hamming.ChooseLayout(n) }

// ParseLayout parses a layout such as "4:1" or "4x4". "4" means the same as "4:1".
func ParseLayout(s string) (Layout, error) { return hamming.ParseLayout(s) }

// Layouts returns layouts that are worth comparing: some with few tables, which need radii, the
// classic choices of Manku et al., and a nested one.
func Layouts() []Layout { return hamming.Layouts() }

// Estimate gives the costs of a layout: its space, and the work and the time of a search:
//
//	type Estimate struct {
//		Layout     Layout
//		Tables     int
//		Bytes      float64 // of the permuted tables, per fingerprint
//		Method     string  // of most searches: "probe" or "scan"
//		Probes     float64 // ranges looked up per search, on average
//		Candidates float64 // keys compared per search, on average
//		Cost       float64 // nanoseconds on one core, by the cost model of searches
//	}
type Estimate = hamming.Estimate

// EstimateNear returns the estimated cost of searches within k bits among n uniformly distributed
// fingerprints with layout l.
func EstimateNear(l Layout, n int64, k int) (Estimate, error) {
	return hamming.EstimateUniform(l, n, k)
}

// CorruptionError says where a table is damaged:
//
//	type CorruptionError struct {
//		File    string // the file's name, as it was opened
//		Section string // a Section.Name, or "header", "directory", "trailer" or "padding"
//		Offset  int64  // byte offset in the file of the damaged part
//		Err     error  // describes the damage
//	}
//
// Every error about the contents of a table is a CorruptionError. It unwraps to ErrCorruption and
// to Err.
type CorruptionError = base.CorruptionError

// ErrCorruption is wrapped by every error about damaged data.
var ErrCorruption = base.ErrCorruption

// ErrTooLarge is wrapped by the error for a document that exceeds a limit of the format.
var ErrTooLarge = table.ErrTooLarge

// Fingerprint is the SimHash of a document (package simhash), or one word of a wider fingerprint.
// Its 64 bits differ in few places between near-duplicates.
type Fingerprint = base.Fingerprint

// FingerprintBits is the number of bits of a Fingerprint.
const FingerprintBits = base.FingerprintBits

// ErrNoSketches is wrapped by the error of a search by sketch in a table without sketches.
var ErrNoSketches = errors.New("the table has no sketches")
