package format

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
)

// Magic is the first and the last 8 bytes of a table. The high bit, the line ends and the
// end-of-file mark reveal a file that went through a text-mode transfer.
const Magic = "\x89SDB\r\n\x1a\n"

// FormatVersion is the format version that is written. versions.go has the versions that are read.
const FormatVersion = 2

// IsTable reports whether a file that starts with prefix, at least 8 bytes, looks like a table.
func IsTable(prefix []byte) bool {
	return len(prefix) >= len(Magic) && string(prefix[:len(Magic)]) == Magic
}

// AppendHeader appends the first HeaderSize bytes of a table, which are the same in every version:
//
//	+-------+---------+-------------+
//	| magic | version | zero bytes  |
//	|   8   |    4    |     52      |
//	+-------+---------+-------------+
func AppendHeader(b []byte, version uint32) []byte {
	b = append(b, Magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	return append(b, make([]byte, HeaderSize-12)...)
}

// AppendFooter appends the directory and the trailer to a table whose directory starts at offset, a
// multiple of Alignment. The format of the directory depends on info.Version (see versions.go); the
// trailer is the same in every version:
//
//	+------------------+------------------+---------------+---------+-----------------+-------+
//	| directory offset | directory length | CRC32C of the | version | CRC32C of these | magic |
//	|                  |                  | directory     |         | so far          |       |
//	|        8         |        4         |       4       |    4    |        4        |   8   |
//	+------------------+------------------+---------------+---------+-----------------+-------+
//
// Directory and trailer have at least 96 bytes, so that 64 bytes can be loaded from the last byte
// of any section on.
func AppendFooter(b []byte, offset int64, p Params, info *Info) []byte {
	start := len(b)
	b = Versions[info.Version].AppendDirectory(b, p, info)
	info.Checksum = kernel.CRC32C(0, b[start:])
	le := binary.LittleEndian
	length := len(b) - start
	start = len(b)
	b = le.AppendUint64(b, uint64(offset))
	b = le.AppendUint32(b, uint32(length))
	b = le.AppendUint32(b, info.Checksum)
	b = le.AppendUint32(b, info.Version)
	b = le.AppendUint32(b, kernel.CRC32C(0, b[start:]))
	return append(b, Magic...)
}

// ParseFooter checks header, trailer and directory of a table and returns their contents. It
// verifies that sections are inside the file, in order and without gaps; it does not read their
// contents. With headless set, it does not read the header, which only repeats the trailer.
func ParseFooter(data []byte, file string, headless bool) (Params, Info, error) {
	dir, offset, number, err := findDirectory(data, file, headless)
	if err != nil {
		return Params{}, Info{}, err
	}
	version := Versions[number]
	p, info, at, err := version.ParseDirectory(dir)
	if errors.Is(err, ErrUnsupported) {
		return Params{}, Info{}, fmt.Errorf("%s: %w", file, err)
	}
	if err != nil {
		return Params{}, Info{}, base.Corruptf(file, "directory", offset+int64(at), "%w", err)
	}
	info.Version, info.Size, info.Checksum = number, int64(len(data)), kernel.CRC32C(0, dir)
	end := int64(HeaderSize)
	for i, s := range info.Sections {
		if s.Offset != Align(end) || s.Length > offset-s.Offset {
			return Params{}, Info{}, base.Corruptf(file, "directory", offset+int64(version.EntryAt(i)),
				"section %d: %s at %d with %d bytes, after one that ends at %d", i, s.Name(), s.Offset, s.Length, end)
		}
		if s.Kind&^DirFlag >= version.Unknown && !s.Optional {
			return Params{}, Info{}, fmt.Errorf("%s: section %s is required but unknown: %w", file, s.Name(), ErrUnsupported)
		}
		end = s.Offset + s.Length
	}
	if Align(end) != offset {
		return Params{}, Info{}, base.Corruptf(file, "directory", offset, "the directory starts at %d, the sections end at %d", offset, end)
	}
	return p, info, nil
}

// findDirectory checks header and trailer and returns the directory, its offset and the version of
// the format, which is one of Versions.
func findDirectory(data []byte, file string, headless bool) (dir []byte, offset int64, version uint32, err error) {
	size := int64(len(data))
	starts := headless || IsTable(data)
	if size < HeaderSize+TailSize {
		if !starts {
			return nil, 0, 0, base.Corruptf(file, "header", 0, "%w", ErrNotTable)
		}
		return nil, 0, 0, base.Corruptf(file, "trailer", size, "the file ends after %d bytes", size)
	}
	t := data[size-TailSize:]
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
	case le.Uint32(t[20:]) != kernel.CRC32C(0, t[:20]):
		return nil, 0, 0, base.Corruptf(file, "trailer", size-TailSize, "wrong checksum")
	case !headless && le.Uint32(data[8:]) != version:
		return nil, 0, 0, base.Corruptf(file, "header", 8, "version %d, but the trailer says %d", le.Uint32(data[8:]), version)
	case version == 1:
		return nil, 0, 0, fmt.Errorf("%s: table format version 1, from before the first release: "+
			"export the documents with the program that wrote it, and load them again: %w", file, ErrUnsupported)
	case Versions[version] == nil:
		return nil, 0, 0, fmt.Errorf("%s: table format version %d; this program reads %s: %w", file, version, readable(), ErrUnsupported)
	}
	off, length := le.Uint64(t), uint64(le.Uint32(t[8:]))
	if off%Alignment != 0 || off < HeaderSize || length < uint64(Versions[version].Least) || off > uint64(size) ||
		off+length != uint64(size-TailSize) {
		return nil, 0, 0, base.Corruptf(file, "trailer", size-TailSize, "directory of %d bytes at %d in a file of %d", length, off, size)
	}
	dir = data[off : off+length]
	if le.Uint32(t[12:]) != kernel.CRC32C(0, dir) {
		return nil, 0, 0, base.Corruptf(file, "directory", int64(off), "wrong checksum")
	}
	return dir, int64(off), version, nil
}

// Align returns n rounded up to a multiple of Alignment.
func Align(n int64) int64 { return (n + Alignment - 1) &^ (Alignment - 1) }
