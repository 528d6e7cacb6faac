package table

import (
	"errors"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// open opens every part of the table that is needed to restore documents, if the part's directory
// or its copy is intact.
func (s *Salvaged) open() (err error) {
	r := s.r
	defer r.Unguard(format.Guard(), &err)
	r.Made = map[[2]uint16][]byte{}
	r.Params, r.Info, err = format.ParseFooter(r.Data, r.File, false)
	if s.whole = err == nil; s.whole {
		s.restore()
	} else if errors.Is(err, format.ErrUnsupported) || !s.openEarly() {
		return err
	} else {
		s.found(err)
	}
	if _, err := r.Required(format.KindBlocks, 0); err != nil {
		return err
	}
	s.openLists()
	s.openColumns()
	return nil
}

// openEarly uses the early directory as the directory of the table, and spares as the directories
// of names and sketches. It reports whether there is an early directory.
func (s *Salvaged) openEarly() bool {
	e, ok := format.FindEarly(s.r.Data)
	if !ok {
		return false
	}
	r := s.r
	r.Params, r.Info = e.Params, e.Info
	lists := format.SpareLists(r.Data, e)
	s.bare = lists.Bare
	for kind, dir := range lists.Dirs {
		if dir.Found > 0 {
			r.Made[[2]uint16{uint16(kind), 0}] = dir.Entries
			r.Info.Sections = append(r.Info.Sections, format.Section{
				Kind: kind, Offset: e.End, Length: int64(len(dir.Entries)), Count: uint64(len(dir.Entries) / blobs.ListEntry), Checksum: kernel.CRC32C(0, dir.Entries),
			})
		}
	}
	return true
}

// restore replaces damaged directories that have a copy elsewhere in the file.
func (s *Salvaged) restore() {
	r := s.r
	sec := r.Section(format.KindEarly, 0)
	if sec == nil {
		return
	}
	e, ok := format.ParseEarly(r.Data, sec.Offset+sec.Length)
	if !ok {
		return
	}
	for i := range r.Info.Sections {
		sec := &r.Info.Sections[i]
		isList := sec.Kind == format.KindNames || sec.Kind == format.KindSketches
		if !isList && !sec.IsCopied() || kernel.CRC32C(0, r.Bytes(sec)) == sec.Checksum {
			continue
		}
		var made []byte
		if isList {
			made = format.SpareLists(r.Data, e).Dirs[sec.Kind].Entries
		} else if at := slices.IndexFunc(e.Info.Sections, func(c format.Section) bool { return c.Kind == sec.Kind && c.Index == sec.Index }); at >= 0 {
			made = r.Bytes(&e.Info.Sections[at])
		}
		if int64(len(made)) == sec.Length && kernel.CRC32C(0, made) == sec.Checksum {
			s.found(base.Corruptf(r.File, sec.Name(), sec.Offset, "wrong checksum of the section; there is a copy"))
			r.Made[[2]uint16{uint16(sec.Kind), sec.Index}] = made
		}
	}
}

// fail records that a part is missing or could not be opened.
func (s *Salvaged) fail(kind format.Kind, err error) {
	s.failed[kind] = err
	s.found(err)
}

// listDir returns the directory of a list or of records, nil if no intact one exists.
func (s *Salvaged) listDir(kind format.Kind) *format.Section {
	r := s.r
	sec := r.Section(kind, 0)
	switch {
	case sec == nil && !s.whole && (kind == format.KindNames || kind == format.KindSketches && r.Params.Sketch > 0 && !s.bare):
		s.fail(kind, base.Corruptf(r.File, kind.String(), -1, "the directory is lost"))
	case sec != nil && kernel.CRC32C(0, r.Bytes(sec)) != sec.Checksum:
		s.fail(kind, base.Corruptf(r.File, sec.Name(), sec.Offset, "wrong checksum of the section"))
		return nil
	}
	return sec
}

// openLists opens names, records and sketches.
func (s *Salvaged) openLists() {
	r := s.r
	area := r.Blocks()
	if !s.whole { // sections of blocks after the early directory are not listed in it
		area.Data = r.Data[area.Offset:]
	}
	var err error
	if dir := s.listDir(format.KindNames); dir != nil {
		if r.Names, err = blobs.OpenList(blobs.IDs, r.File, r.Info.Docs, r.Part(dir), area); err != nil {
			s.fail(format.KindNames, err)
		}
	}
	if dir := s.listDir(format.KindSketches); dir != nil {
		if s.sketches, err = blobs.OpenList(blobs.Sketches, r.File, r.Info.Docs, r.Part(dir), area); err != nil {
			s.fail(format.KindSketches, err)
		}
	}
	if dir := s.listDir(format.KindRecords); dir != nil {
		if r.Records, err = r.OpenRecordBlocks(dir, area); err != nil {
			s.fail(format.KindRecords, err)
		}
	}
}

// openColumns opens the key runs and columns.
func (s *Salvaged) openColumns() {
	r := s.r
	docs := uint64(r.Info.Docs)
	column := func(c **keyrun.Column, kind format.Kind, index uint16, values uint64) {
		got, err := r.Column(kind, index, docs)
		if err == nil && docs > 0 && values > 0 && got.Max() >= values {
			err = got.Corrupt(0, "%d of %d", got.Max(), values)
		}
		if *c = got; err != nil {
			*c = nil
			s.fail(kind, err)
		}
	}
	if r.Section(format.KindRanks, 0) != nil {
		column(&r.Ranks, format.KindRanks, 0, docs)
	}
	if r.Section(format.KindPlaces, 0) != nil && r.Records != nil {
		column(&r.Places, format.KindPlaces, 0, uint64(r.Records.Len())+1)
	}
	column(&r.Times, format.KindTimes, 0, 0)
	if r.Section(format.KindTimes, format.Expiries) != nil {
		column(&r.Expiries, format.KindTimes, format.Expiries, 0)
	}
	r.Words = make([]format.Word, r.Params.NumWords()-1)
	for i := range r.Words {
		column(&r.Words[i].Column, format.KindWords, uint16(i+1), 0)
	}
	var err error
	if r.Seqs, err = r.Run(format.KindSeqs, 0, docs); err != nil {
		r.Seqs = nil
		s.fail(format.KindSeqs, err)
	}
	r.Runs = make([]*keyrun.Run, 1)
	if r.Runs[0], err = r.Run(format.KindRun, 0, uint64(r.Info.Fingerprints)); err != nil {
		r.Runs[0] = nil
		s.fail(format.KindRun, err)
	}
}
