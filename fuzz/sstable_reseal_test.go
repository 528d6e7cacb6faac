package fuzz

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// Sizes of docs/format/sstable.md.
const (
	tableTail   = 32 // trailer of the file
	tableHead   = 88 // parameters and info
	tableEntry  = 40 // entry of a section
	frameTail   = 64 // trailer of a key run or column
	namesEntry  = 16
	docsEntry   = 28
	kindBlocks  = 1
	kindNames   = 2
	kindDocs    = 3
	kindUnknown = 9
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// within returns length bytes of b from offset, nil if it has not got them.
func within(b []byte, offset, length uint64) []byte {
	if offset > uint64(len(b)) || length > uint64(len(b))-offset {
		return nil
	}
	return b[offset : offset+length]
}

// seal writes the checksum of b to at.
func seal(at, b []byte) { le.PutUint32(at, crc32.Checksum(b, castagnoli)) }

// resealTable returns a copy of a table that may be damaged, with every checksum that can be found
// made right. A fuzzer would not get past them otherwise.
func resealTable(data []byte) []byte {
	data = bytes.Clone(data)
	if len(data) < tableTail {
		return data
	}
	tail := data[len(data)-tableTail:]
	dir := within(data, le.Uint64(tail), uint64(le.Uint32(tail[8:])))
	if len(dir) < tableHead {
		return data
	}
	var blocks []byte
	for e := dir[tableHead:]; len(e) >= tableEntry; e = e[tableEntry:] {
		section := within(data, le.Uint64(e[8:]), le.Uint64(e[16:]))
		switch kind := le.Uint16(e); {
		case kind == kindBlocks:
			blocks = section
		case kind == kindNames:
			resealEntries(section, blocks, namesEntry)
		case kind == kindDocs:
			resealEntries(section, blocks, docsEntry)
		case kind < kindUnknown:
			resealFrame(section)
		}
		seal(e[32:], section)
	}
	seal(tail[12:], dir)
	seal(tail[20:], tail[:20])
	return data
}

// resealEntries reseals blocks of names or records, and their entries.
func resealEntries(section, blocks []byte, size int) {
	for ; len(section) >= size; section = section[size:] {
		e := section[:size]
		block := within(blocks, le.Uint64(e), uint64(le.Uint32(e[8:])))
		if size == docsEntry {
			block = append(bytes.Clone(e[:size-4]), block...)
		}
		seal(e[size-4:], block)
	}
}

// resealFrame reseals a key run or a column.
func resealFrame(section []byte) {
	if len(section) < frameTail {
		return
	}
	end := len(section) - frameTail
	tail := section[end:]
	dirOff := le.Uint64(tail[16:])
	if dirOff > uint64(end) {
		return
	}
	dir := section[dirOff:end]
	blocks := len(dir) / 20
	starts := func(b int) uint64 { return min(le.Uint64(dir[8*blocks+8*b:])>>16<<3, dirOff) }
	used := uint64(0)
	for b := range blocks {
		values := min(512, le.Uint64(tail[8:])-uint64(b)*512)
		info := le.Uint64(dir[8*blocks+8*b:])
		used = min(starts(b)+8*(info>>8&0xff)+(values*(info&0xff)+63)/64*8, dirOff)
		if used >= starts(b) {
			seal(dir[16*blocks+4*b:], section[starts(b):used])
		}
	}
	seal(tail[48:], dir)
	seal(tail[52:], section[used:dirOff])
	seal(tail[60:], tail[:60])
}
