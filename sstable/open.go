package sstable

import (
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// section returns the section of a kind, nil if there is none.
func (r *Reader) section(kind Kind, index uint16) *Section {
	for i := range r.info.Sections {
		if s := &r.info.Sections[i]; s.Kind == kind && s.Index == index {
			return s
		}
	}
	return nil
}

// bytes returns the contents of a section.
func (r *Reader) bytes(s *Section) []byte { return r.data[s.Offset:][:s.Length:s.Length] }

// part returns the contents of a section and where they are.
func (r *Reader) part(s *Section) blobs.Bytes { return blobs.Bytes{Data: r.bytes(s), Offset: s.Offset} }

// openSections opens every section that the format requires and refuses those that there should not
// be.
func (r *Reader) openSections() error {
	tables, segments := r.params.Layout.Tables(), r.numSegments()
	seen := make(map[[2]uint16]bool)
	for i := range r.info.Sections {
		s := &r.info.Sections[i]
		id := [2]uint16{uint16(s.Kind), s.Index}
		if seen[id] || s.Kind < kindUnknown && int(s.Index) > r.maxIndex(s.Kind, segments) {
			return base.Corruptf(r.file, "directory", s.Offset, "section %s with index %d should not be there", s.Name(), s.Index)
		}
		seen[id] = true
	}
	if err := r.openRecords(); err != nil {
		return err
	}
	if err := r.openSketches(segments); err != nil {
		return err
	}
	docs := uint64(r.info.Docs)
	var err error
	if r.times, err = r.column(KindTimes, docs); err != nil {
		return err
	}
	if r.seqs, err = r.column(KindSeqs, docs); err != nil {
		return err
	}
	if r.ids, err = r.run(KindIDs, 0, docs); err != nil {
		return err
	}
	if r.idDocs, err = r.column(KindIDDocs, docs); err != nil {
		return err
	}
	r.runs = make([]*keyrun.Run, tables)
	for i := range r.runs {
		keys := uint64(r.info.Distinct)
		if i == 0 {
			keys = uint64(r.info.Fingerprints)
		}
		if r.runs[i], err = r.run(KindRun, uint16(i), keys); err != nil {
			return err
		}
	}
	return nil
}

// required returns a section that must be there.
func (r *Reader) required(kind Kind, index uint16) (*Section, error) {
	s := r.section(kind, index)
	if s == nil {
		name := Section{Kind: kind, Index: index}.Name()
		return nil, base.Corruptf(r.file, "directory", r.info.Size, "no section %s", name)
	}
	return s, nil
}

// openRecords opens the directories of the blocks of names and of documents.
func (r *Reader) openRecords() error {
	if _, err := r.required(KindBlocks, 0); err != nil {
		return err
	}
	dir, err := r.required(KindNames, 0)
	if err != nil {
		return err
	}
	area := r.blocks()
	if r.names, err = blobs.OpenList(blobs.IDs, r.file, r.info.Docs, r.part(dir), area); err != nil {
		return err
	}
	if dir, err = r.required(KindDocs, 0); err != nil {
		return err
	}
	r.docs, err = blobs.OpenRecords(r.file, r.info.Docs, r.part(dir), area)
	return err
}

// column opens a column that must have n values.
func (r *Reader) column(kind Kind, n uint64) (*keyrun.Column, error) {
	s, err := r.required(kind, 0)
	if err != nil {
		return nil, err
	}
	c, err := keyrun.OpenColumn(r.bytes(s), r.file, s.Name(), s.Offset)
	if err != nil {
		return nil, err
	}
	return c, r.checkCount(s, c.Len(), n)
}

// run opens a key run that must have n keys.
func (r *Reader) run(kind Kind, index uint16, n uint64) (*keyrun.Run, error) {
	s, err := r.required(kind, index)
	if err != nil {
		return nil, err
	}
	k, err := keyrun.Open(r.bytes(s), r.file, s.Name(), s.Offset)
	if err != nil {
		return nil, err
	}
	return k, r.checkCount(s, k.Len(), n)
}

// checkCount compares the number of things in a section with what the directory and the info say.
func (r *Reader) checkCount(s *Section, got int, want uint64) error {
	if uint64(got) != want || s.Count != want {
		return base.Corruptf(r.file, s.Name(), s.Offset, "%d values, the directory says %d, there should be %d", got, s.Count, want)
	}
	return nil
}
