package sstable

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/crc"
)

// Magic is the first and the last 8 bytes of a table. The high bit, the line ends and the
// end-of-file mark show a file that went through a text-mode transfer.
const Magic = "\x89SDB\r\n\x1a\n"

// FormatVersion is the version of the format that is written. Those that are read are in
// versions.go.
const FormatVersion = 1

// Errors that a caller may want to tell from damage.
var (
	// ErrNotTable is in the error for a file that neither starts nor ends as a table does.
	ErrNotTable = errors.New("not an .sst table")
	// ErrUnsupported is in the error for an intact table of a newer format.
	ErrUnsupported = errors.New("unsupported table format")
)

const (
	alignment   = 64      // sections start at multiples of this
	headerSize  = 64      // bytes of the header
	tailSize    = 32      // bytes of the trailer
	maxSections = 1 << 14 // sections a table: three a segment, and a few
	// flag of a section that a reader which does not know its kind may ignore
	optionalFlag = 1
)

// Kind is what a section holds. Its value is part of the format and must not change.
type Kind uint16

// Kinds of sections.
const (
	KindBlocks   Kind = 1  // blocks of names, documents and sketches, in the order of writing
	KindNames    Kind = 2  // where the blocks of names are
	KindDocs     Kind = 3  // where the blocks of documents are
	KindTimes    Kind = 4  // column of times by document number
	KindSeqs     Kind = 5  // column of sequence numbers by document number
	KindRun      Kind = 6  // key run of the permuted table that Section.Index says
	KindIDs      Kind = 7  // key run of the hashes of IDs
	KindIDDocs   Kind = 8  // column of document numbers by position in KindIDs
	KindSketches Kind = 9  // where the blocks of sketches are
	KindHot      Kind = 10 // list of hot hashes
	KindBitmaps  Kind = 11 // bitmaps of the sketches of a segment
	KindPostings Kind = 12 // key run of the hashes in prefixes of the sketches of a segment
	KindNote     Kind = 13 // what the owner of the table keeps with it; opaque here, optional
	kindUnknown  Kind = 14 // first kind that no version knows
)

// String names the kind as errors and the layout dump do.
func (k Kind) String() string {
	names := [...]string{"", "blocks", "names", "docs", "times", "seqs", "run", "ids", "id-docs",
		"sketches", "hot", "bitmaps", "postings", "note"}
	if k > 0 && k < kindUnknown {
		return names[k]
	}
	return fmt.Sprintf("kind-%d", uint16(k))
}

// Section is a part of the file.
type Section struct {
	Kind Kind
	// number of the permuted table for KindRun; for KindBlocks, KindBitmaps, KindPostings of the
	// segment; else 0
	Index    uint16
	Optional bool   // a reader that does not know the kind may ignore the section
	Offset   int64  // of its first byte in the file, a multiple of 64
	Length   int64  // in bytes
	Count    uint64 // how many things it holds: blocks, keys or values
	Checksum uint32 // CRC32C of all its bytes
}

// Name is what errors call the section: its kind, and the number of a run or a segment.
func (s Section) Name() string {
	if s.Kind == KindRun || s.Kind == KindBitmaps || s.Kind == KindPostings || s.Index > 0 {
		return fmt.Sprintf("%s %d", s.Kind, s.Index)
	}
	return s.Kind.String()
}

// Info is what a table says of itself.
type Info struct {
	Version      uint32 // of the format
	Docs         uint32 // documents
	Fingerprints uint32 // documents with a fingerprint: numbers 0..Fingerprints-1
	Distinct     uint32 // different fingerprints
	// of all documents, microseconds since the Unix epoch; 0 if there are none
	MinTime, MaxTime int64
	MinSeq, MaxSeq   uint64 // of all documents; 0 if there are none
	Size             int64  // bytes of the file
	// CRC32C of the table's directory, which holds checksums of all sections: a digest of the table
	Checksum uint32
	Sections []Section
}

// IsTable reports whether a file that starts with prefix, 8 bytes or more, looks like a table.
func IsTable(prefix []byte) bool {
	return len(prefix) >= len(Magic) && string(prefix[:len(Magic)]) == Magic
}

// appendHeader appends the first headerSize bytes of a table, which every version has:
//
//	+-------+---------+-------------+
//	| magic | version | zero bytes  |
//	|   8   |    4    |     52      |
//	+-------+---------+-------------+
func appendHeader(b []byte, version uint32) []byte {
	b = append(b, Magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	return append(b, make([]byte, headerSize-12)...)
}

// appendFooter appends the directory and the trailer to a table whose directory starts at offset, a
// multiple of alignment. info.Version says how the directory is laid out (see versions.go); the
// trailer is that of every version:
//
//	trailer     +------------------+------------------+------------------------+---------+------------------------+-------+
//	            | directory offset | directory length | CRC32C of the directory| version | CRC32C of these so far | magic |
//	            |        8         |        4         |           4            |    4    |           4            |   8   |
//	            +------------------+------------------+------------------------+---------+------------------------+-------+
//
// Directory and trailer are at least 96 bytes, so that 64 bytes can be loaded at the last byte of
// any section.
func appendFooter(b []byte, offset int64, p Params, info *Info) []byte {
	start := len(b)
	b = versions[info.Version].appendDirectory(b, p, info)
	info.Checksum = crc.Sum(b[start:])
	le := binary.LittleEndian
	length := len(b) - start
	start = len(b)
	b = le.AppendUint64(b, uint64(offset))
	b = le.AppendUint32(b, uint32(length))
	b = le.AppendUint32(b, info.Checksum)
	b = le.AppendUint32(b, info.Version)
	b = le.AppendUint32(b, crc.Sum(b[start:]))
	return append(b, Magic...)
}

// align returns n rounded up to a multiple of alignment.
func align(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// parseFooter checks header, trailer and directory of a table and returns what they say. The
// sections are inside the file, in order and apart; their contents are not looked at.
func parseFooter(data []byte, file string) (Params, Info, error) {
	dir, offset, number, err := findDirectory(data, file)
	if err != nil {
		return Params{}, Info{}, err
	}
	version := versions[number]
	p, info, at, err := version.parseDirectory(dir)
	if err != nil {
		return Params{}, Info{}, base.Corruptf(file, "directory", offset+int64(at), "%w", err)
	}
	info.Version, info.Size, info.Checksum = number, int64(len(data)), crc.Sum(dir)
	end := int64(headerSize)
	for i, s := range info.Sections {
		if s.Offset != align(end) || s.Length > offset-s.Offset {
			return Params{}, Info{}, base.Corruptf(file, "directory", offset+int64(version.entryAt(i)),
				"section %d: %s at %d with %d bytes, after one that ends at %d", i, s.Name(), s.Offset, s.Length, end)
		}
		if s.Kind >= version.unknown && !s.Optional {
			return Params{}, Info{}, fmt.Errorf("%s: section %s is needed and unknown: %w", file, s.Name(), ErrUnsupported)
		}
		end = s.Offset + s.Length
	}
	if align(end) != offset {
		return Params{}, Info{}, base.Corruptf(file, "directory", offset, "the directory starts at %d, the sections end at %d", offset, end)
	}
	return p, info, nil
}

// findDirectory checks header and trailer and returns the directory, its offset and the version of
// the format, which is one of versions.
func findDirectory(data []byte, file string) (dir []byte, offset int64, version uint32, err error) {
	size := int64(len(data))
	starts := IsTable(data)
	if size < headerSize+tailSize {
		if !starts {
			return nil, 0, 0, base.Corruptf(file, "header", 0, "%w", ErrNotTable)
		}
		return nil, 0, 0, base.Corruptf(file, "trailer", size, "the file ends after %d bytes", size)
	}
	t := data[size-tailSize:]
	ends := string(t[24:]) == Magic
	le := binary.LittleEndian
	version = le.Uint32(t[16:])
	switch {
	case !starts && !ends:
		return nil, 0, 0, base.Corruptf(file, "header", 0, "%w", ErrNotTable)
	case !starts:
		return nil, 0, 0, base.Corruptf(file, "header", 0, "wrong magic %x", data[:8])
	case !ends:
		return nil, 0, 0, base.Corruptf(file, "trailer", size-8, "wrong magic %x; the file may be cut short", t[24:])
	case le.Uint32(t[20:]) != crc.Sum(t[:20]):
		return nil, 0, 0, base.Corruptf(file, "trailer", size-tailSize, "wrong checksum")
	case le.Uint32(data[8:]) != version:
		return nil, 0, 0, base.Corruptf(file, "header", 8, "version %d, but the trailer says %d", le.Uint32(data[8:]), version)
	case versions[version] == nil:
		return nil, 0, 0, fmt.Errorf("%s: table format version %d; this program reads %s: %w", file, version, readable(), ErrUnsupported)
	}
	off, length := le.Uint64(t), uint64(le.Uint32(t[8:]))
	if off%alignment != 0 || off < headerSize || length < uint64(versions[version].least) || off > uint64(size) ||
		off+length != uint64(size-tailSize) {
		return nil, 0, 0, base.Corruptf(file, "trailer", size-tailSize, "directory of %d bytes at %d in a file of %d", length, off, size)
	}
	dir = data[off : off+length]
	if le.Uint32(t[12:]) != crc.Sum(dir) {
		return nil, 0, 0, base.Corruptf(file, "directory", int64(off), "wrong checksum")
	}
	return dir, int64(off), version, nil
}
