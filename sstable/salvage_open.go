package sstable

import (
	"errors"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// open opens every part of the table that documents are put together from, as far as its directory
// is right, or a copy of it.
func (s *Salvaged) open() (err error) {
	r := s.r
	defer r.unguard(guard(), &err)
	r.made = map[[2]uint16][]byte{}
	r.params, r.info, err = parseFooter(r.data, r.file)
	if s.whole = err == nil; s.whole {
		s.restore()
	} else if errors.Is(err, ErrUnsupported) || !s.openEarly() {
		return err
	} else {
		s.found(err)
	}
	if _, err := r.required(KindBlocks, 0); err != nil {
		return err
	}
	s.openLists()
	s.openColumns()
	return nil
}

// openEarly takes the early directory for that of the table, with spares for the directories of
// names and sketches. It reports whether there is one.
func (s *Salvaged) openEarly() bool {
	e, ok := findEarly(s.r.data)
	if !ok {
		return false
	}
	r := s.r
	r.params, r.info = e.params, e.info
	lists := spareLists(r.data, e)
	s.bare = lists.bare
	for kind, dir := range lists.dirs {
		if dir.found > 0 {
			r.made[[2]uint16{uint16(kind), 0}] = dir.entries
			r.info.Sections = append(r.info.Sections, Section{
				Kind: kind, Offset: e.end, Length: int64(len(dir.entries)), Count: uint64(len(dir.entries) / blobs.ListEntry), Checksum: crc.Sum(dir.entries),
			})
		}
	}
	return true
}

// restore replaces the directories that are damaged, and have a copy elsewhere in the file.
func (s *Salvaged) restore() {
	r := s.r
	sec := r.section(KindEarly, 0)
	if sec == nil {
		return
	}
	e, ok := parseEarly(r.data, sec.Offset+sec.Length)
	if !ok {
		return
	}
	for i := range r.info.Sections {
		sec := &r.info.Sections[i]
		isList := sec.Kind == KindNames || sec.Kind == KindSketches
		if !isList && !sec.isCopied() || crc.Sum(r.bytes(sec)) == sec.Checksum {
			continue
		}
		var made []byte
		if isList {
			made = spareLists(r.data, e).dirs[sec.Kind].entries
		} else if at := slices.IndexFunc(e.info.Sections, func(c Section) bool { return c.Kind == sec.Kind && c.Index == sec.Index }); at >= 0 {
			made = r.bytes(&e.info.Sections[at])
		}
		if int64(len(made)) == sec.Length && crc.Sum(made) == sec.Checksum {
			s.found(base.Corruptf(r.file, sec.Name(), sec.Offset, "wrong checksum of the section; there is a copy"))
			r.made[[2]uint16{uint16(sec.Kind), sec.Index}] = made
		}
	}
}

// fail notes that a part could not be opened, or is not there.
func (s *Salvaged) fail(kind Kind, err error) {
	s.failed[kind] = err
	s.found(err)
}

// listDir returns the directory of a list or of records, nil if there is none that is right.
func (s *Salvaged) listDir(kind Kind) *Section {
	r := s.r
	sec := r.section(kind, 0)
	switch {
	case sec == nil && !s.whole && (kind == KindNames || kind == KindSketches && r.params.Sketch > 0 && !s.bare):
		s.fail(kind, base.Corruptf(r.file, kind.String(), -1, "the directory is lost"))
	case sec != nil && crc.Sum(r.bytes(sec)) != sec.Checksum:
		s.fail(kind, base.Corruptf(r.file, sec.Name(), sec.Offset, "wrong checksum of the section"))
		return nil
	}
	return sec
}

// openLists opens names, records and sketches.
func (s *Salvaged) openLists() {
	r := s.r
	area := r.blocks()
	if !s.whole { // the sections of blocks after the early one are not listed
		area.Data = r.data[area.Offset:]
	}
	var err error
	if dir := s.listDir(KindNames); dir != nil {
		if r.names, err = blobs.OpenList(blobs.IDs, r.file, r.info.Docs, r.part(dir), area); err != nil {
			s.fail(KindNames, err)
		}
	}
	if dir := s.listDir(KindSketches); dir != nil {
		if s.sketches, err = blobs.OpenList(blobs.Sketches, r.file, r.info.Docs, r.part(dir), area); err != nil {
			s.fail(KindSketches, err)
		}
	}
	if dir := s.listDir(KindRecords); dir != nil {
		if r.records, err = r.openRecordBlocks(dir, area); err != nil {
			s.fail(KindRecords, err)
		}
	}
}

// openColumns opens the key runs and columns.
func (s *Salvaged) openColumns() {
	r := s.r
	docs := uint64(r.info.Docs)
	column := func(c **keyrun.Column, kind Kind, values uint64) {
		got, err := r.column(kind, docs)
		if err == nil && docs > 0 && values > 0 && got.Max() >= values {
			err = got.Corrupt(0, "%d of %d", got.Max(), values)
		}
		if *c = got; err != nil {
			*c = nil
			s.fail(kind, err)
		}
	}
	if r.section(KindRanks, 0) != nil {
		column(&r.ranks, KindRanks, docs)
	}
	if r.section(KindPlaces, 0) != nil && r.records != nil {
		column(&r.places, KindPlaces, uint64(r.records.Len())+1)
	}
	column(&r.times, KindTimes, 0)
	var err error
	if r.seqs, err = r.run(KindSeqs, 0, docs); err != nil {
		r.seqs = nil
		s.fail(KindSeqs, err)
	}
	r.runs = make([]*keyrun.Run, min(r.params.Layout.Tables(), 2))
	for i, keys := range []uint32{r.info.Fingerprints, r.info.Distinct}[:len(r.runs)] {
		if r.runs[i], err = r.run(KindRun, uint16(i), uint64(keys)); err == nil {
			continue
		}
		if r.runs[i] = nil; i == 0 {
			s.fail(KindRun, err)
		} else if s.whole { // it follows from run 0; the early directory does not list it
			s.found(err)
		}
	}
}
