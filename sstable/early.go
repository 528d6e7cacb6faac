package sstable

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// A table that is cut short has no directory at its end. What Salvage needs is there a second time:
//
//	early section   copies of the directories so far, then a directory of the sections so far
//	                and of the copies, and a trailer. It follows run 0, seqs, times, ranks and
//	                places
//	spare           copies of entries of names or sketches, before the blocks that they are of,
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
// The checksum of a spare continues the one of the early directory, which no document knows when it
// is stored: no ID can have a spare in it. Neither can a text have an early section, because that
// lists the sections before it without a gap, with the checksum of all blocks.
const (
	earlyMagic = "\x89SDE\r\n\x1a\n" // ends an early section
	spareMagic = "\x89SDS\r\n\x1a\n" // begins a spare

	spareHead = 20 // bytes of a spare before its entries
	spareSize = spareHead + 4
)

// isCopied reports whether an early section has a copy of the directory in a section.
func (s Section) isCopied() bool {
	switch s.Kind {
	case KindRecords, KindTimes | dirFlag, KindSeqs | dirFlag, KindRanks | dirFlag, KindPlaces | dirFlag:
		return true
	}
	return s.Kind == KindRun|dirFlag && s.Index == 0
}

// writeEarly writes the early section.
func (t *tableFile) writeEarly() {
	t.setExtremes()
	info := t.info
	info.Sections = slices.Clone(t.out.sections)
	t.out.begin(KindEarly, 0)
	start := t.out.off
	var b []byte
	for _, d := range t.out.dirs {
		s := Section{Kind: d.kind, Index: d.index, Offset: start + int64(len(b)), Length: int64(len(d.data)), Count: d.count}
		if !s.isCopied() {
			continue
		}
		s.Checksum = crc.Sum(d.data)
		info.Sections = append(info.Sections, s)
		b = append(b, d.data...)
		b = append(b, make([]byte, align(int64(len(b)))-int64(len(b)))...)
	}
	b = appendFooter(b, start+int64(len(b)), t.params, &info)
	copy(b[len(b)-len(earlyMagic):], earlyMagic)
	t.out.write(b)
	t.out.end(uint64(len(info.Sections)))
	t.earlySum = info.Checksum
}

// writeList writes the blocks of a list that have ended, after a spare with their entries; done is
// how many blocks were written before.
func (t *tableFile) writeList(kind Kind, w *blobs.ListWriter, done *int) {
	first, n := *done, w.NumBlocks()
	*done = n
	if first == n {
		return
	}
	blocks := w.Flush(t.blockOffset() + int64(spareSize+(n-first)*blobs.ListEntry))
	t.out.write(appendSpare(nil, t.earlySum, kind, first, w.Directory()[first*blobs.ListEntry:]))
	t.out.write(blocks)
}

// appendSpare appends the spare of the entries of a list, of which the first is of block first.
func appendSpare(b []byte, salt uint32, kind Kind, first int, entries []byte) []byte {
	start := len(b)
	le := binary.LittleEndian
	b = append(b, spareMagic...)
	b = le.AppendUint32(b, uint32(kind))
	b = le.AppendUint32(b, uint32(first))
	b = le.AppendUint32(b, uint32(len(entries)/blobs.ListEntry))
	b = append(b, entries...)
	return le.AppendUint32(b, crc.Update(salt, b[start:]))
}

// A spare is what a spare says.
type spare struct {
	kind    Kind
	first   int // block
	entries []byte
	size    int // bytes of the spare
}

// parseSpare returns the spare that data begins with; ok is false if there is none.
func parseSpare(data []byte, salt uint32) (s spare, ok bool) {
	if len(data) < spareSize || string(data[:len(spareMagic)]) != spareMagic {
		return s, false
	}
	le := binary.LittleEndian
	first, n := uint64(le.Uint32(data[12:])), uint64(le.Uint32(data[16:]))
	if n > uint64(len(data)-spareSize)/blobs.ListEntry || (first+n)*blobs.ListEntry > math.MaxInt {
		return s, false
	}
	end := spareHead + int(n)*blobs.ListEntry
	if crc.Update(salt, data[:end]) != le.Uint32(data[end:]) {
		return s, false
	}
	s = spare{kind: Kind(le.Uint32(data[8:])), first: int(first), entries: data[spareHead:end], size: end + 4}
	return s, le.Uint32(data[8:]) <= 1<<16-1
}

// earlyDirectory is an early directory that was read.
type earlyDirectory struct {
	params Params
	info   Info
	start  int64 // of its section
	end    int64
}

// parseEarly returns the early directory of the section that ends at end.
func parseEarly(data []byte, end int64) (e earlyDirectory, ok bool) {
	if end < headerSize+tailSize || end > int64(len(data)) || string(data[end-8:end]) != earlyMagic {
		return e, false
	}
	le := binary.LittleEndian
	t := data[end-tailSize : end]
	off, length, v := le.Uint64(t), uint64(le.Uint32(t[8:])), versions[le.Uint32(t[16:])]
	if crc.Sum(t[:20]) != le.Uint32(t[20:]) || v == nil || length < uint64(v.least) || off < headerSize || off > uint64(end) ||
		off+length != uint64(end-tailSize) {
		return e, false
	}
	dir := data[off : off+length]
	var err error
	if crc.Sum(dir) != le.Uint32(t[12:]) {
		return e, false
	}
	if e.params, e.info, _, err = v.parseDirectory(dir); err != nil {
		return e, false
	}
	e.info.Version, e.info.Checksum, e.info.Size = le.Uint32(t[16:]), crc.Sum(dir), int64(len(data))
	e.end, e.start = end, int64(off)
	return e, e.placeCopies() && e.countsDocs()
}

// countsDocs reports whether the directory of the sequence numbers has the size for as many as
// there are documents, so that a forged number of documents takes no memory.
func (e *earlyDirectory) countsDocs() bool {
	i := slices.IndexFunc(e.info.Sections, func(s Section) bool { return s.Kind == KindSeqs|dirFlag })
	return i >= 0 && e.info.Sections[i].Length == keyrun.DirSize(uint64(e.info.Docs))
}

// placeCopies reports whether the sections of an early directory are in order, up to the directory,
// and sets start to the end of those that are no copies.
func (e *earlyDirectory) placeCopies() bool {
	dir, end, copies := e.start, int64(headerSize), false
	e.start = -1
	for _, s := range e.info.Sections {
		if s.isCopied() && !copies {
			copies, e.start = true, s.Offset
		}
		if s.Offset != align(end) || s.Length > dir-s.Offset || copies != s.isCopied() {
			return false
		}
		end = s.Offset + s.Length
	}
	return copies && align(end) == dir
}

// findEarly finds the early directory of a table whose own is lost.
func findEarly(data []byte) (e earlyDirectory, ok bool) {
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte(earlyMagic))
		if i < 0 {
			return e, false
		}
		at += i + len(earlyMagic)
		if e, ok := parseEarly(data, int64(at)); ok && e.isSound(data) {
			return e, true
		}
	}
}

// isSound reports whether the blocks that an early directory lists have the checksum that it says.
func (e *earlyDirectory) isSound(data []byte) bool {
	for _, s := range e.info.Sections {
		if s.Kind == KindBlocks && crc.Sum(data[s.Offset:][:s.Length]) != s.Checksum {
			return false
		}
	}
	return true
}

// checkEarly verifies that the early section has what the directory has.
func (v *verifier) checkEarly() error {
	s := v.section(KindEarly, 0)
	if s == nil {
		return nil
	}
	e, ok := parseEarly(v.data, s.Offset+s.Length)
	if !ok || e.start != s.Offset {
		return v.corrupt(KindEarly, 0, "no directory at the end of the section")
	}
	got, want := e.info, v.info
	got.Sections, want.Sections, got.Checksum, want.Checksum = nil, nil, 0, 0
	if e.params != v.params || !sameInfo(got, want) {
		return v.corrupt(KindEarly, 0, "not the parameters and numbers of the directory")
	}
	for i := range e.info.Sections {
		a := &e.info.Sections[i]
		b := v.section(a.Kind, a.Index)
		if b == nil && a.Optional {
			continue
		}
		if b == nil || !a.isCopied() && *a != *b || a.isCopied() && (a.Count != b.Count || !bytes.Equal(v.bytes(a), v.bytes(b))) {
			return v.corrupt(KindEarly, a.Offset-s.Offset, "section %s is not that of the directory", a.Name())
		}
	}
	return nil
}

// sameInfo reports whether two infos without sections are the same.
func sameInfo(a, b Info) bool {
	return a.Docs == b.Docs && a.Fingerprints == b.Fingerprints && a.Distinct == b.Distinct && a.MinTime == b.MinTime &&
		a.MaxTime == b.MaxTime && a.MinSeq == b.MinSeq && a.MaxSeq == b.MaxSeq && a.Identity == b.Identity
}

// spareSalt returns what the checksums of spares continue: the checksum of the early directory.
func (v *verifier) spareSalt() uint32 {
	if s := v.section(KindEarly, 0); s != nil && s.Length >= tailSize {
		return binary.LittleEndian.Uint32(v.bytes(s)[s.Length-tailSize+12:])
	}
	return 0
}

// spare verifies the spare that starts where the next block does, and returns its size; 0 if there
// is none.
func (w *walk) spare() (size int, err error) {
	first := w.verifier.section(KindBlocks, 0).Offset
	at := int64(w.at)
	s, ok := parseSpare(w.data[first+at:min(first+int64(w.spans[0].end), int64(len(w.data)))], w.salt)
	if !ok {
		return 0, nil
	}
	var dir []byte
	if sec := w.verifier.section(s.kind, 0); sec != nil && (s.kind == KindNames || s.kind == KindSketches) {
		dir = w.verifier.bytes(sec)
	}
	from := s.first * blobs.ListEntry
	if from > len(dir) || len(s.entries) > len(dir)-from || !bytes.Equal(s.entries, dir[from:from+len(s.entries)]) {
		return 0, w.corrupt(KindBlocks, at, "spare entries that are not those of the directory")
	}
	return s.size, nil
}

// spareList is a directory of names or sketches that was put together from spares. Entries that
// they do not have are zero, which the entry of no block is.
type spareList struct {
	entries []byte
	found   int
}

// spareDirs is what the spares of a table say.
type spareDirs struct {
	dirs map[Kind]spareList
	bare bool // no document has a sketch
}

// spareLists reads the spares after an early section.
func spareLists(data []byte, e earlyDirectory) (s spareDirs) {
	s.dirs = map[Kind]spareList{}
	for kind, k := range map[Kind]*blobs.Kind{KindNames: blobs.IDs, KindSketches: blobs.Sketches} {
		blocks := (int64(e.info.Docs) + 1<<k.Shift - 1) >> k.Shift
		s.dirs[kind] = spareList{entries: make([]byte, blocks*blobs.ListEntry)}
	}
	for at := int(e.end); ; {
		i := bytes.Index(data[at:], []byte(spareMagic))
		if i < 0 {
			return s
		}
		at += i
		p, ok := parseSpare(data[at:], e.info.Checksum)
		if !ok {
			at++
			continue
		}
		at += p.size
		s.bare = s.bare || p.kind == KindSketches && len(p.entries) == 0
		if d, ok := s.dirs[p.kind]; ok && p.first < len(d.entries)/blobs.ListEntry {
			d.found += copy(d.entries[p.first*blobs.ListEntry:], p.entries) / blobs.ListEntry
			s.dirs[p.kind] = d
		}
	}
}
