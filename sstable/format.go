package sstable

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/crc"
)

// Magic is the first and the last 8 bytes of a table. The high bit, the line ends and the end-of-file mark show a
// file that went through a text-mode transfer.
const Magic = "\x89SDB\r\n\x1a\n"

// FormatVersion is the version of the format that is written, and the only one that is read so far:
//
//	1  the first
const FormatVersion = 1

// Errors that a caller may want to tell from damage.
var (
	// ErrNotTable is in the error for a file that neither starts nor ends as a table does.
	ErrNotTable = errors.New("not an .sst table")
	// ErrUnsupported is in the error for an intact table of a newer format.
	ErrUnsupported = errors.New("unsupported table format")
)

const (
	alignment    = 64      // sections start at multiples of this
	headerSize   = 64      // bytes of the header
	tailSize     = 32      // bytes of the trailer
	infoSize     = 48      // bytes of the encoded Info
	entrySize    = 40      // bytes of a section's entry in the directory
	maxSections  = 1 << 14 // sections a table: three a segment, and a few
	optionalFlag = 1       // flag of a section that a reader which does not know its kind may ignore
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
	kindUnknown  Kind = 14 // first kind that this version does not know
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
	Kind     Kind
	Index    uint16 // number of the permuted table for KindRun; for KindBlocks, KindBitmaps, KindPostings of the segment; else 0
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
	Docs             uint32 // documents
	Fingerprints     uint32 // documents with a fingerprint: numbers 0..Fingerprints-1
	Distinct         uint32 // different fingerprints
	MinTime, MaxTime int64  // of all documents, microseconds since the Unix epoch; 0 if there are none
	MinSeq, MaxSeq   uint64 // of all documents; 0 if there are none
	Size             int64  // bytes of the file
	Checksum         uint32 // CRC32C of the table's directory, which holds checksums of all sections: a digest of the table
	Sections         []Section
}

// IsTable reports whether a file that starts with prefix, 8 bytes or more, looks like a table.
func IsTable(prefix []byte) bool {
	return len(prefix) >= len(Magic) && string(prefix[:len(Magic)]) == Magic
}

// appendHeader appends the first headerSize bytes of a table:
//
//	+-------+---------+-------------+
//	| magic | version | zero bytes  |
//	|   8   |    4    |     52      |
//	+-------+---------+-------------+
func appendHeader(b []byte) []byte {
	b = append(b, Magic...)
	b = binary.LittleEndian.AppendUint32(b, FormatVersion)
	return append(b, make([]byte, headerSize-12)...)
}

// appendFooter appends the directory and the trailer to a table whose directory starts at offset, a multiple of
// alignment:
//
//	directory   +--------+------+--------------------------------+
//	            | params | info | entries, in order of offsets   |
//	            |   40   |  48  | 40 each                        |
//	            +--------+------+--------------------------------+
//	info        +------+--------------+----------+----------+---------+---------+--------+--------+
//	            | docs | fingerprints | distinct | sections | minTime | maxTime | minSeq | maxSeq |
//	            |  4   |      4       |    4     |    4     |    8    |    8    |   8    |   8    |
//	            +------+--------------+----------+----------+---------+---------+--------+--------+
//	entry       +------+-------+-------+--------+--------+-------+----------+---+
//	            | kind | index | flags | offset | length | count | checksum | 0 |
//	            |  2   |   2   |   4   |   8    |   8    |   8   |    4     | 4 |
//	            +------+-------+-------+--------+--------+-------+----------+---+
//	trailer     +------------------+------------------+------------------------+---------+------------------------+-------+
//	            | directory offset | directory length | CRC32C of the directory| version | CRC32C of these so far | magic |
//	            |        8         |        4         |           4            |    4    |           4            |   8   |
//	            +------------------+------------------+------------------------+---------+------------------------+-------+
//
// Flag 1 of an entry marks a section that readers may ignore if they do not know its kind.
// Directory and trailer are at least 120 bytes, so that 64 bytes can be loaded at the last byte of any section.
func appendFooter(b []byte, offset int64, p Params, info *Info) []byte {
	start := len(b)
	b, _ = p.AppendBinary(b)
	le := binary.LittleEndian
	for _, n := range []uint32{info.Docs, info.Fingerprints, info.Distinct, uint32(len(info.Sections))} {
		b = le.AppendUint32(b, n)
	}
	for _, n := range []uint64{uint64(info.MinTime), uint64(info.MaxTime), info.MinSeq, info.MaxSeq} {
		b = le.AppendUint64(b, n)
	}
	for _, s := range info.Sections {
		b = s.append(b)
	}
	info.Checksum = crc.Sum(b[start:])
	return appendTrailer(b, offset, len(b)-start, info.Checksum)
}

// appendTrailer appends the trailer of a table.
func appendTrailer(b []byte, offset int64, length int, sum uint32) []byte {
	le := binary.LittleEndian
	start := len(b)
	b = le.AppendUint64(b, uint64(offset))
	b = le.AppendUint32(b, uint32(length))
	b = le.AppendUint32(b, sum)
	b = le.AppendUint32(b, FormatVersion)
	b = le.AppendUint32(b, crc.Sum(b[start:]))
	return append(b, Magic...)
}

// append appends the section's entry in the directory.
func (s Section) append(b []byte) []byte {
	le := binary.LittleEndian
	var flags uint32
	if s.Optional {
		flags = optionalFlag
	}
	b = le.AppendUint16(b, uint16(s.Kind))
	b = le.AppendUint16(b, s.Index)
	b = le.AppendUint32(b, flags)
	b = le.AppendUint64(b, uint64(s.Offset))
	b = le.AppendUint64(b, uint64(s.Length))
	b = le.AppendUint64(b, s.Count)
	b = le.AppendUint32(b, s.Checksum)
	return le.AppendUint32(b, 0)
}

// align returns n rounded up to a multiple of alignment.
func align(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// parseFooter checks header, trailer and directory of a table and returns what they say. The sections are inside
// the file, in order and apart; their contents are not looked at.
func parseFooter(data []byte, file string) (Params, Info, error) {
	dir, offset, err := findDirectory(data, file)
	if err != nil {
		return Params{}, Info{}, err
	}
	bad := func(at int, format string, args ...any) (Params, Info, error) {
		return Params{}, Info{}, base.Corruptf(file, "directory", offset+int64(at), format, args...)
	}
	var p Params
	if err := p.UnmarshalBinary(dir[:ParamsSize]); err != nil {
		return bad(0, "%w", err)
	}
	info, n := parseInfo(dir[ParamsSize:])
	info.Size, info.Checksum = int64(len(data)), crc.Sum(dir)
	entries := dir[ParamsSize+infoSize:]
	switch {
	case n > maxSections || int(n)*entrySize != len(entries):
		return bad(ParamsSize+12, "%d sections in %d bytes", n, len(entries))
	case info.Fingerprints > info.Docs || info.Distinct > info.Fingerprints || info.Docs > MaxDocs ||
		info.Fingerprints > 0 && info.Distinct == 0:
		return bad(ParamsSize, "%d documents, %d fingerprints, %d distinct", info.Docs, info.Fingerprints, info.Distinct)
	case info.MinTime > info.MaxTime || info.MinSeq > info.MaxSeq:
		return bad(ParamsSize+16, "least time or sequence number above the greatest")
	}
	end := int64(headerSize)
	for i := range int(n) {
		at := ParamsSize + infoSize + i*entrySize
		s, err := parseSection(entries[i*entrySize:][:entrySize])
		if err == nil && (s.Offset != align(end) || s.Length > offset-s.Offset) {
			err = fmt.Errorf("%s at %d with %d bytes, after one that ends at %d", s.Name(), s.Offset, s.Length, end)
		}
		if err != nil {
			return bad(at, "section %d: %w", i, err)
		}
		if s.Kind >= kindUnknown && !s.Optional {
			return Params{}, Info{}, fmt.Errorf("%s: section %s is needed and unknown: %w", file, s.Name(), ErrUnsupported)
		}
		end = s.Offset + s.Length
		info.Sections = append(info.Sections, s)
	}
	if align(end) != offset {
		return bad(0, "the directory starts at %d, the sections end at %d", offset, end)
	}
	return p, info, nil
}

// findDirectory checks header and trailer and returns the directory and its offset.
func findDirectory(data []byte, file string) (dir []byte, offset int64, err error) {
	size := int64(len(data))
	starts := IsTable(data)
	if size < headerSize+tailSize {
		if !starts {
			return nil, 0, base.Corruptf(file, "header", 0, "%w", ErrNotTable)
		}
		return nil, 0, base.Corruptf(file, "trailer", size, "the file ends after %d bytes", size)
	}
	t := data[size-tailSize:]
	ends := string(t[24:]) == Magic
	le := binary.LittleEndian
	version := le.Uint32(t[16:])
	switch {
	case !starts && !ends:
		return nil, 0, base.Corruptf(file, "header", 0, "%w", ErrNotTable)
	case !starts:
		return nil, 0, base.Corruptf(file, "header", 0, "wrong magic %x", data[:8])
	case !ends:
		return nil, 0, base.Corruptf(file, "trailer", size-8, "wrong magic %x; the file may be cut short", t[24:])
	case le.Uint32(t[20:]) != crc.Sum(t[:20]):
		return nil, 0, base.Corruptf(file, "trailer", size-tailSize, "wrong checksum")
	case le.Uint32(data[8:]) != version:
		return nil, 0, base.Corruptf(file, "header", 8, "version %d, but the trailer says %d", le.Uint32(data[8:]), version)
	case version != FormatVersion:
		return nil, 0, fmt.Errorf("%s: version %d, this program reads %d: %w", file, version, FormatVersion, ErrUnsupported)
	}
	off, length := le.Uint64(t), uint64(le.Uint32(t[8:]))
	if off%alignment != 0 || off < headerSize || length < ParamsSize+infoSize || off > uint64(size) ||
		off+length != uint64(size-tailSize) {
		return nil, 0, base.Corruptf(file, "trailer", size-tailSize, "directory of %d bytes at %d in a file of %d", length, off, size)
	}
	dir = data[off : off+length]
	if le.Uint32(t[12:]) != crc.Sum(dir) {
		return nil, 0, base.Corruptf(file, "directory", int64(off), "wrong checksum")
	}
	return dir, int64(off), nil
}

// parseInfo decodes the info at the start of b, and the number of sections.
func parseInfo(b []byte) (info Info, sections uint32) {
	le := binary.LittleEndian
	return Info{
		Docs:         le.Uint32(b),
		Fingerprints: le.Uint32(b[4:]),
		Distinct:     le.Uint32(b[8:]),
		MinTime:      int64(le.Uint64(b[16:])),
		MaxTime:      int64(le.Uint64(b[24:])),
		MinSeq:       le.Uint64(b[32:]),
		MaxSeq:       le.Uint64(b[40:]),
	}, le.Uint32(b[12:])
}

// parseSection decodes an entry of the directory.
func parseSection(b []byte) (Section, error) {
	le := binary.LittleEndian
	flags := le.Uint32(b[4:])
	s := Section{
		Kind:     Kind(le.Uint16(b)),
		Index:    le.Uint16(b[2:]),
		Optional: flags&optionalFlag != 0,
		Offset:   int64(le.Uint64(b[8:])),
		Length:   int64(le.Uint64(b[16:])),
		Count:    le.Uint64(b[24:]),
		Checksum: le.Uint32(b[32:]),
	}
	if flags&^optionalFlag != 0 || le.Uint32(b[36:]) != 0 || s.Kind == 0 || s.Offset < 0 || s.Length < 0 {
		return s, fmt.Errorf("malformed entry %x", b)
	}
	return s, nil
}
