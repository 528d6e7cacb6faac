package sstable

import (
	"encoding/binary"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// Names and sketches have no numbers of their own: the position of an entry in the directory says
// which documents its block is of. Where a directory is damaged, and an entry may have got into the
// place of another by a write that went astray, each name is looked up by its hash, and each sketch
// compared with the bitmap of its document.

// doubts is what is known of the damage of these directories.
type doubts struct {
	names, sketches bool // the directory is damaged
	ids             *keyrun.Run
}

// findDoubts looks at the directories of names and sketches.
func (s *Salvaged) findDoubts() {
	damaged := func(kind Kind) bool {
		sec := s.r.section(kind, 0)
		return sec != nil && crc.Sum(s.r.bytes(sec)) != sec.Checksum
	}
	s.doubt.names, s.doubt.sketches = damaged(KindNames), damaged(KindSketches)
	if s.doubt.names {
		s.doubt.ids = s.openRun(KindIDs, 0, uint64(s.r.info.Docs))
	}
}

// checkID returns an error unless an ID is that of a document, as far as its directory is in doubt.
func (s *Salvaged) checkID(doc uint32, id []byte) error {
	if !s.doubt.names {
		return nil
	}
	if run := s.doubt.ids; run != nil {
		lo, hi, err := run.Find(idHashes[s.r.info.Version](&s.r.info).key(id))
		for ; lo < hi && err == nil; lo++ {
			if v, e := run.Value(lo); e == nil && v == uint64(doc) {
				return nil
			}
		}
	}
	b, _ := s.r.names.First(doc)
	return s.r.names.Corrupt(doc, "block %d is not certain to be that of its documents", b)
}

// checkSketch is checkID for a sketch.
func (s *Salvaged) checkSketch(doc uint32, sketch minhash.Sketch) error {
	if !s.doubt.sketches {
		return nil
	}
	first := uint64(0)
	for i := uint16(0); ; i++ {
		sec := s.r.section(KindBitmaps, i)
		if sec == nil || sec.Count > uint64(s.r.info.Docs) {
			break
		}
		if at := uint64(doc) - first; at < sec.Count {
			if s.hasBitmap(sec, at, sketch.Bitmap()) {
				return nil
			}
			break
		}
		first += sec.Count
	}
	b, _ := s.list.First(doc)
	return base.Corruptf(s.r.file, KindSketches.String(), -1, "block %d is not certain to be that of its documents", b)
}

// hasBitmap reports whether a section of bitmaps has this one at a position.
func (s *Salvaged) hasBitmap(sec *Section, at uint64, want minhash.Bitmap) bool {
	const size, block = 8 * uint64(len(want)), 64
	if sec.Length == 0 { // all are zero
		return want == minhash.Bitmap{}
	}
	blocks := (sec.Count + block - 1) / block
	if uint64(sec.Length) != sec.Count*size+4*blocks {
		return false
	}
	data := s.r.bytes(sec)
	first := at / block
	rows := data[first*block*size : min((first+1)*block, sec.Count)*size]
	if crc.Sum(rows) != binary.LittleEndian.Uint32(data[sec.Count*size+4*first:]) {
		return false
	}
	row := data[at*size:]
	for i, w := range want {
		if binary.LittleEndian.Uint64(row[8*i:]) != w {
			return false
		}
	}
	return true
}
