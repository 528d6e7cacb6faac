package format

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// A table that is cut short has no directory at its end. Everything that Salvage needs is stored a
// second time:
//
//	early section   copies of the directories so far, then a directory of the sections so far
//	                and of the copies, and a trailer. It follows run 0, seqs, times, ranks and
//	                places
//	spare           copies of entries of names or sketches, before the corresponding blocks,
//	                after the early section
//
//	early    +--------+-----+--------+-----+-----------+---------+
//	         |  copy  | pad |  copy  | ... | directory | trailer |
//	         +--------+-----+--------+-----+-----------+---------+
//	spare    +-------+------+------+-------------+---------+---------+----------+
//	         | magic | kind | zero | first block | entries | entries | CRC32C of|
//	         |   8   |  2   |  2   |      4      |    4    | 16 each | these 4  |
//	         +-------+------+------+-------------+---------+---------+----------+
//
// The checksum of a spare continues the checksum of the early directory, which is not known yet
// when a document is stored: so no ID can contain a valid spare. No text can contain an early
// section either, because that lists all sections before it without a gap, with the checksum of all
// blocks.
const (
	EarlyMagic = "\x89SDE\r\n\x1a\n" // ends an early section
	SpareMagic = "\x89SDS\r\n\x1a\n" // starts a spare

	spareHead = 20 // bytes of a spare before its entries
	SpareSize = spareHead + 4
)

// IsCopied reports whether an early section has a copy of section s.
func (s Section) IsCopied() bool {
	switch s.Kind {
	case KindRecords, KindTimes | DirFlag, KindSeqs | DirFlag, KindRanks | DirFlag, KindPlaces | DirFlag, KindWords | DirFlag:
		return true
	}
	return s.Kind == KindRun|DirFlag && s.Index == 0
}

// AppendSpare appends a spare with entries of a list; the first is the entry of block first.
func AppendSpare(b []byte, salt uint32, kind Kind, first int, entries []byte) []byte {
	start := len(b)
	le := binary.LittleEndian
	b = append(b, SpareMagic...)
	b = le.AppendUint32(b, uint32(kind))
	b = le.AppendUint32(b, uint32(first))
	b = le.AppendUint32(b, uint32(len(entries)/blobs.ListEntry))
	b = append(b, entries...)
	return le.AppendUint32(b, kernel.CRC32C(salt, b[start:]))
}

// A Spare is a decoded spare.
type Spare struct {
	Kind    Kind
	First   int // first block
	Entries []byte
	Size    int // size of the spare in bytes
}

// ParseSpare parses the spare at the start of data; ok is false if there is none.
func ParseSpare(data []byte, salt uint32) (s Spare, ok bool) {
	if len(data) < SpareSize || string(data[:len(SpareMagic)]) != SpareMagic {
		return s, false
	}
	le := binary.LittleEndian
	first, n := uint64(le.Uint32(data[12:])), uint64(le.Uint32(data[16:]))
	if n > uint64(len(data)-SpareSize)/blobs.ListEntry || (first+n)*blobs.ListEntry > math.MaxInt {
		return s, false
	}
	end := spareHead + int(n)*blobs.ListEntry
	if kernel.CRC32C(salt, data[:end]) != le.Uint32(data[end:]) {
		return s, false
	}
	s = Spare{Kind: Kind(le.Uint32(data[8:])), First: int(first), Entries: data[spareHead:end], Size: end + 4}
	return s, le.Uint32(data[8:]) <= 1<<16-1
}

// Early is a decoded early directory.
type Early struct {
	Params Params
	Info   Info
	Start  int64 // start of its section
	End    int64
}

// ParseEarly returns the early directory of the section that ends at end.
func ParseEarly(data []byte, end int64) (e Early, ok bool) {
	if end < HeaderSize+TailSize || end > int64(len(data)) || string(data[end-8:end]) != EarlyMagic {
		return e, false
	}
	le := binary.LittleEndian
	t := data[end-TailSize : end]
	off, length, v := le.Uint64(t), uint64(le.Uint32(t[8:])), Versions[le.Uint32(t[16:])]
	if kernel.CRC32C(0, t[:20]) != le.Uint32(t[20:]) || v == nil || length < uint64(v.Least) || off < HeaderSize || off > uint64(end) ||
		off+length != uint64(end-TailSize) {
		return e, false
	}
	dir := data[off : off+length]
	var err error
	if kernel.CRC32C(0, dir) != le.Uint32(t[12:]) {
		return e, false
	}
	if e.Params, e.Info, _, err = v.ParseDirectory(dir); err != nil {
		return e, false
	}
	e.Info.Version, e.Info.Checksum, e.Info.Size = le.Uint32(t[16:]), kernel.CRC32C(0, dir), int64(len(data))
	e.End, e.Start = end, int64(off)
	return e, e.placeCopies() && e.countsDocs()
}

// countsDocs reports whether the directory of the sequence numbers has the right size for the
// number of documents, so that a forged number cannot cause a large allocation.
func (e *Early) countsDocs() bool {
	i := slices.IndexFunc(e.Info.Sections, func(s Section) bool { return s.Kind == KindSeqs|DirFlag })
	return i >= 0 && e.Info.Sections[i].Length == keyrun.DirSize(uint64(e.Info.Docs))
}

// placeCopies reports whether the sections of an early directory are in order, up to the directory,
// and sets Start to the start of the first copy.
func (e *Early) placeCopies() bool {
	dir, end, copies := e.Start, int64(HeaderSize), false
	e.Start = -1
	for _, s := range e.Info.Sections {
		if s.IsCopied() && !copies {
			copies, e.Start = true, s.Offset
		}
		if s.Offset != Align(end) || s.Length > dir-s.Offset || copies != s.IsCopied() {
			return false
		}
		end = s.Offset + s.Length
	}
	return copies && Align(end) == dir
}

// FindEarly finds the early directory of a table whose own directory is lost.
func FindEarly(data []byte) (e Early, ok bool) {
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte(EarlyMagic))
		if i < 0 {
			return e, false
		}
		at += i + len(EarlyMagic)
		if e, ok := ParseEarly(data, int64(at)); ok && e.isSound(data) {
			return e, true
		}
	}
}

// isSound reports whether the blocks listed in an early directory have the checksum stored there.
func (e *Early) isSound(data []byte) bool {
	for _, s := range e.Info.Sections {
		if s.Kind == KindBlocks && kernel.CRC32C(0, data[s.Offset:][:s.Length]) != s.Checksum {
			return false
		}
	}
	return true
}

// SpareList is a directory of names or sketches that was assembled from spares. Missing entries are
// zero, which is never a valid entry.
type SpareList struct {
	Entries []byte
	Found   int
}

// Spares has the contents of all spares of a table.
type Spares struct {
	Dirs map[Kind]SpareList
	Bare bool // no document has a sketch
}

// SpareLists reads the spares after an early section.
func SpareLists(data []byte, e Early) (s Spares) {
	s.Dirs = map[Kind]SpareList{}
	for kind, k := range map[Kind]*blobs.Kind{KindNames: blobs.IDs, KindSketches: blobs.Sketches} {
		blocks := (int64(e.Info.Docs) + 1<<k.Shift - 1) >> k.Shift
		s.Dirs[kind] = SpareList{Entries: make([]byte, blocks*blobs.ListEntry)}
	}
	for at := int(e.End); ; {
		i := bytes.Index(data[at:], []byte(SpareMagic))
		if i < 0 {
			return s
		}
		at += i
		p, ok := ParseSpare(data[at:], e.Info.Checksum)
		if !ok {
			at++
			continue
		}
		at += p.Size
		s.Bare = s.Bare || p.Kind == KindSketches && len(p.Entries) == 0
		if d, ok := s.Dirs[p.Kind]; ok && p.First < len(d.Entries)/blobs.ListEntry {
			d.Found += copy(d.Entries[p.First*blobs.ListEntry:], p.Entries) / blobs.ListEntry
			s.Dirs[p.Kind] = d
		}
	}
}
