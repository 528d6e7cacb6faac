package table_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/simdb/simdb/internal/table"
)

// Sizes and kinds, as specified in docs/format/sstable.md.
const (
	tableTail    = 32  // trailer of the file
	tableHead    = 120 // parameters and info
	tableEntry   = 40  // entry of a section
	frameTail    = 64  // trailer of the directory of a key run or column
	namesEntry   = 16
	recordsEntry = 24
	kindBlocks   = 1
	kindNames    = 2
	kindRecords  = 3
	kindSketches = 9
	kindQuantile = 15     // quantiles of times
	dirFlag      = 0x8000 // directory of a key run or column
	tagParts     = 'K' | 'R'<<8 | 'P'<<16 | 'T'<<24
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// within returns length bytes of b from offset, nil if b is too short.
func within(b []byte, offset, length uint64) []byte {
	if offset > uint64(len(b)) || length > uint64(len(b))-offset {
		return nil
	}
	return b[offset : offset+length]
}

func seal(at, b []byte) { le.PutUint32(at, crc32.Checksum(b, castagnoli)) }

// resealTable copies a possibly damaged table and makes every checksum that it can find right.
// Otherwise a fuzzer would not get past the checksums.
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
	sections := map[uint32][]byte{} // key: kind<<16 | index
	from, to := uint64(len(data)), uint64(0)
	id := func(e []byte) uint32 { return uint32(le.Uint16(e))<<16 | uint32(le.Uint16(e[2:])) }
	for e := dir[tableHead:]; len(e) >= tableEntry; e = e[tableEntry:] {
		sections[id(e)] = within(data, le.Uint64(e[8:]), le.Uint64(e[16:]))
		if le.Uint16(e) == kindBlocks { // they form one area, together with what lies between
			from, to = min(from, le.Uint64(e[8:])), max(to, le.Uint64(e[8:])+le.Uint64(e[16:]))
		}
	}
	area := within(data, from, to-from)
	for e := dir[tableHead:]; len(e) >= tableEntry; e = e[tableEntry:] {
		section := sections[id(e)]
		switch kind := le.Uint16(e); {
		case kind == kindNames, kind == kindSketches:
			resealEntries(section, area, namesEntry)
		case kind == kindRecords:
			resealEntries(section, area, recordsEntry)
		case kind == kindQuantile && len(section) > 4:
			seal(section[len(section)-4:], section[:len(section)-4])
		case kind&dirFlag != 0:
			resealFrame(sections[id(e)&^(dirFlag<<16)], section)
		}
	}
	for e := dir[tableHead:]; len(e) >= tableEntry; e = e[tableEntry:] {
		seal(e[32:], sections[id(e)])
	}
	seal(tail[12:], dir)
	seal(tail[20:], tail[:20])
	return data
}

// TestReseal reseals an intact table, which must not change, and one with a changed time, whose
// checksums must become right.
func TestReseal(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "v2.sst"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(resealTable(golden), golden) {
		t.Error("an intact table is changed")
	}
	r, err := table.OpenBytes(golden, "fuzz.sst")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Info().Sections {
		if s.Kind != table.KindTimes {
			continue
		}
		damaged := bytes.Clone(golden)
		damaged[s.Offset+100] ^= 1
		r, err := table.OpenBytes(resealTable(damaged), "fuzz.sst")
		if err != nil {
			t.Fatal(err)
		}
		for doc := range r.NumDocs() {
			if _, err := r.Time(doc); err != nil {
				t.Error(err)
			}
		}
	}
}

// resealEntries reseals the entries of blocks of names or records.
func resealEntries(section, blocks []byte, size int) {
	for ; len(section) >= size; section = section[size:] {
		e := section[:size]
		block := within(blocks, le.Uint64(e)&(1<<48-1), uint64(le.Uint32(e[8:])))
		seal(e[size-4:], append(bytes.Clone(block), e[:size-4]...))
	}
}

// resealFrame reseals a key run or a column, whose blocks lie one after the other.
func resealFrame(body, section []byte) {
	if len(section) < frameTail {
		return
	}
	end := len(section) - frameTail
	dir, tail := section[:end], section[end:]
	blocks := len(dir) / 20
	start := func(b int) uint64 {
		if b == blocks {
			return uint64(len(body))
		}
		return min(le.Uint64(dir[20*b+8:])>>16<<3, uint64(len(body)))
	}
	for b := range blocks {
		if from, to := start(b), start(b+1); from <= to {
			block := body[from:to]
			if le.Uint32(tail) == tagParts {
				block = resealParts(block, le.Uint64(dir[20*b+8:]))
			}
			seal(dir[20*b+16:], block)
		}
	}
	seal(tail[48:], dir)
	seal(tail[60:], tail[:60])
}

// resealParts reseals the parts of a block, which its info word describes. It returns the head of
// the block, whose checksum is in the directory.
func resealParts(block []byte, info uint64) (head []byte) {
	const parts, sums = 4, 16
	n := min(sums+8*(info>>8&0x7f), uint64(len(block)))
	head, packed := block[:n], block[n:]
	if len(head) < sums {
		return head
	}
	end := func(p int) int { return min(p*int(info&0x7f)*16, len(packed)) }
	for p := range parts {
		seal(head[4*p:], packed[end(p):end(p+1)])
	}
	return head
}
