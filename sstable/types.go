package sstable

import (
	"fmt"
	"time"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/minhash"
)

// Limits of the format.
const (
	MaxDocs        = table.MaxDocs       // 2^32-2 documents in a table
	MaxIDBytes     = table.MaxIDBytes    // 65,535 bytes of an ID
	MaxRecordBytes = table.MaxRecordSize // 64 MiB of the text and the fields of a document together
	MaxBits        = 64 * table.MaxWords // 1024 bits of a fingerprint
	MaxSketch      = table.MaxSketch     // 65,536 hashes of a sketch
)

// Errors that a caller may want to distinguish. They are wrapped.
var (
	ErrCorruption  = base.ErrCorruption   // damaged data: every *CorruptionError
	ErrNotTable    = table.ErrNotTable    // the file neither starts nor ends like a table
	ErrUnsupported = table.ErrUnsupported // an intact table of a newer version of the format
	ErrTooLarge    = table.ErrTooLarge    // a document, or a table, exceeds a limit of the format
	ErrNoSketches  = table.ErrNoSketches  // a search by sketch in a table without sketches
)

// CorruptionError says where a table is damaged:
//
//	type CorruptionError struct {
//		File    string // the file's name, as it was opened
//		Section string // a Section.Name, or "header", "directory", "trailer" or "padding"
//		Offset  int64  // byte offset in the file of the damaged part
//		Err     error  // describes the damage
//	}
//
// It unwraps to ErrCorruption and to Err.
type CorruptionError = base.CorruptionError

// A Document is a document as a table stores it.
type Document struct {
	ID          string         // 1 to MaxIDBytes arbitrary bytes, unique in the table
	Fingerprint []uint64       // Params.Bits/64 words; nil for none, which matches nothing
	Sketch      minhash.Sketch // ascending, at most Params.Sketch hashes; nil for none
	Text        string         // stored if Params.StoreText
	Fields      []byte         // a JSON object, or nil; stored if Params.StoreText
	Time        time.Time      // to the microsecond; the zero Time is stored as the Unix epoch
	Expires     time.Time      // to the microsecond; the zero Time is never
	Seq         uint64         // number of the write: a database numbers its writes in ascending order
}

// Params are the parameters of a table, with which it was written. The zero value is a table of
// 64-bit fingerprints without texts and sketches.
type Params struct {
	Bits       int     // of a fingerprint: a multiple of 64, at most MaxBits; 0 means 64
	Layout     Layout  // of the permuted tables; the zero Layout means the result of ChooseLayout
	Sketch     int     // limit of the hashes of a MinHash sketch, N; 0 for no sketches
	MinJaccard float64 // searches by sketch are fastest from this threshold up, 0 to 1
	StoreText  bool    // whether texts and fields are stored

	// Containment adds an index of the features of texts, and Index an index of some fields, such as
	// "lang,meta.url". Both need StoreText. Only a database searches by them.
	Containment bool
	Index       string

	// How fingerprints and sketches were made. The table stores these values and does not interpret
	// them, except to index Containment. A database adds a table to its own only if they are equal.
	Tokenizer uint32 // version of the rules that split a text into words
	Shingle   uint32 // words, or characters, in a shingle
	Hash      uint32 // version of the shingle hash
	Seed      uint64 // seed of the shingle hash
	Features  string // kind of features; "" for shingles of words
}

// internal returns the parameters as package table has them.
func (p Params) internal() (table.Params, error) {
	q := table.Params{
		Tokenizer: p.Tokenizer, Shingle: p.Shingle, Hash: p.Hash, Seed: p.Seed, Features: p.Features,
		Sketch: uint32(p.Sketch), MinJaccard: p.MinJaccard, Layout: table.Layout(p.Layout), StoreText: p.StoreText,
		Sets: p.Containment, Index: p.Index,
	}
	switch {
	case p.Bits < 0 || p.Bits > MaxBits || p.Bits%64 != 0:
		return q, fmt.Errorf("sstable: fingerprints of %d bits: want a multiple of 64 up to %d", p.Bits, MaxBits)
	case p.Sketch < 0 || p.Sketch > MaxSketch:
		return q, fmt.Errorf("sstable: sketches of %d hashes: want 0 to %d", p.Sketch, MaxSketch)
	case p.Bits > 64:
		q.Words = uint32(p.Bits / 64)
	}
	return q, nil
}

func paramsOf(p table.Params) Params {
	return Params{
		Bits: 64 * p.NumWords(), Layout: Layout(p.Layout), Sketch: int(p.Sketch), MinJaccard: p.MinJaccard, StoreText: p.StoreText,
		Containment: p.Sets, Index: p.Index,
		Tokenizer: p.Tokenizer, Shingle: p.Shingle, Hash: p.Hash, Seed: p.Seed, Features: p.Features,
	}
}

// A Layout says how the 64 bits of a word of fingerprints are split into blocks, and which blocks
// lead each permuted table (Manku, Jain, Das Sarma: Detecting Near-Duplicates for Web Crawling, WWW
// 2007, section 3). Every layout answers every distance; it is a trade of space for time.
//
//	4:1   4 tables, led by 16 bits each                    2:1   2 tables, 32 bits
//	5:2  10 tables, 25 to 26 bits                          6:3  20 tables, 31 to 33 bits
//	8:2  28 tables, 16 bits                                4x4  16 tables, 16 + 12 bits
type Layout struct {
	Blocks int // number of blocks into which the bits are split, 1 to 16
	Lead   int // blocks that lead a table, 1 to Blocks; 0: one block and a part of the others
}

// ChooseLayout returns the layout for a table of n fingerprints:
//
//	to 24 Mi   4:1      to 2 Gi   3:1      above   2:1
func ChooseLayout(n int64) Layout { return Layout(table.ChooseLayout(n)) }

// ParseLayout parses a layout such as "4:1" or "4x4". "4" means the same as "4:1".
func ParseLayout(s string) (Layout, error) {
	l, err := table.ParseLayout(s)
	return Layout(l), err
}

// String returns the layout in the notation of ParseLayout.
func (l Layout) String() string { return table.Layout(l).String() }

// Tables returns the number of permuted tables.
func (l Layout) Tables() int { return table.Layout(l).Tables() }

// Info describes a table.
type Info struct {
	Version          uint32    // of the format
	Docs             uint32    // documents
	Fingerprints     uint32    // documents with a fingerprint: numbers 0 to Fingerprints-1
	Distinct         uint32    // different first words of fingerprints
	MinTime, MaxTime time.Time // of all documents
	MinSeq, MaxSeq   uint64    // of all documents
	Size             int64     // bytes of the file
	Checksum         uint32    // CRC32C of the directory: a digest of the table
	Sections         []Section // in the order of the file
}

// A Section is a part of a file. The package documentation and docs/format/sstable.md list the kinds.
type Section struct {
	Name     string // kind and number, such as "run 0" or "times"
	Offset   int64  // of its first byte in the file
	Length   int64  // in bytes
	Count    uint64 // blocks, keys or values in it
	Checksum uint32 // CRC32C of its bytes
}

func infoOf(i table.Info) Info {
	info := Info{
		Version: i.Version, Docs: i.Docs, Fingerprints: i.Fingerprints, Distinct: i.Distinct,
		MinTime: time.UnixMicro(i.MinTime), MaxTime: time.UnixMicro(i.MaxTime), MinSeq: i.MinSeq, MaxSeq: i.MaxSeq,
		Size: i.Size, Checksum: i.Checksum, Sections: make([]Section, len(i.Sections)),
	}
	for n, s := range i.Sections {
		info.Sections[n] = Section{Name: s.Name(), Offset: s.Offset, Length: s.Length, Count: s.Count, Checksum: s.Checksum}
	}
	return info
}

// A Hit is a document found by its fingerprint.
type Hit struct {
	Doc      uint32 // number of the document
	Distance int    // number of bits that differ from the query
}

// A BatchHit is a Hit of one of many queries.
type BatchHit struct {
	Query int // index of the query
	Hit
}

// A SketchHit is a document found by its sketch.
type SketchHit struct {
	Doc   uint32  // number of the document
	Score float64 // estimate of the Jaccard similarity
	Error float64 // standard error of Score; 0 if Exact
	Exact bool    // Score is the similarity itself: neither sketch is full
}
