package sstable

import (
	"fmt"
	"math"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/hamming"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/pages"
	"github.com/simdb/simdb/sstable/internal/sketchidx"
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
func (r *Reader) bytes(s *Section) []byte {
	if b, ok := r.made[[2]uint16{uint16(s.Kind), s.Index}]; ok {
		return b
	}
	return r.data[s.Offset:][:s.Length:s.Length]
}

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
		kind := s.Kind &^ dirFlag
		if seen[id] || kind < kindUnknown && (int(s.Index) > r.maxIndex(kind, segments) || kind != s.Kind && !kind.hasDir()) {
			return base.Corruptf(r.file, "directory", s.Offset, "section %s with index %d should not be there", s.Name(), s.Index)
		}
		seen[id] = true
	}
	for i := range r.info.Sections {
		s := &r.info.Sections[i]
		if kind := s.Kind &^ dirFlag; kind != s.Kind && kind < kindUnknown && !seen[[2]uint16{uint16(kind), s.Index}] {
			return base.Corruptf(r.file, "directory", s.Offset, "section %s without what it is of", s.Name())
		}
	}
	if _, err := r.required(KindEarly, 0); err != nil {
		return err
	}
	if err := r.openRecords(); err != nil {
		return err
	}
	if err := r.openSketches(segments); err != nil {
		return err
	}
	if err := r.openOrder(); err != nil {
		return err
	}
	docs := uint64(r.info.Docs)
	var err error
	if r.ids, err = r.run(KindIDs, 0, docs); err != nil {
		return err
	}
	if docs > 1 && !r.ids.HasValues() {
		return r.ids.Corrupt(0, "hashes of IDs without documents")
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

// openOrder opens what a table keeps of the order of writing.
func (r *Reader) openOrder() (err error) {
	docs := uint64(r.info.Docs)
	if r.section(KindRanks, 0) != nil {
		if r.ranks, err = r.column(KindRanks, docs); err != nil {
			return err
		}
		if docs > 0 && r.ranks.Max() >= docs {
			return r.ranks.Corrupt(0, "rank %d of %d", r.ranks.Max(), docs)
		}
	}
	if r.seqs, err = r.run(KindSeqs, 0, docs); err != nil {
		return err
	}
	r.times, err = r.column(KindTimes, docs)
	return err
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

// openRecords opens the directories of the blocks of names and of records.
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
	r.names.SetPages(r.pages.Random())
	s := r.section(KindRecords, 0)
	if s == nil {
		if s = r.section(KindPlaces, 0); s != nil {
			return base.Corruptf(r.file, s.Name(), s.Offset, "places of records, and none are there")
		}
		return nil
	}
	if r.records, err = r.openRecordBlocks(s, area); err != nil || r.section(KindPlaces, 0) == nil {
		return err
	}
	r.places, err = r.column(KindPlaces, uint64(r.info.Docs))
	if err == nil && r.info.Docs > 0 && r.places.Max() > uint64(r.records.Len()) {
		return r.places.Corrupt(0, "record %d of %d", r.places.Max(), r.records.Len())
	}
	return err
}

// openRecordBlocks opens the directory of the blocks of records.
func (r *Reader) openRecordBlocks(s *Section, area blobs.Bytes) (*blobs.Records, error) {
	if s.Count == 0 || s.Count > math.MaxUint32 || s.Length == 0 {
		return nil, base.Corruptf(r.file, s.Name(), s.Offset, "%d records in a directory of %d bytes", s.Count, s.Length)
	}
	if r.section(KindPlaces, 0) == nil && s.Count != uint64(r.info.Docs) {
		return nil, base.Corruptf(r.file, s.Name(), s.Offset, "%d records for %d documents", s.Count, r.info.Docs)
	}
	return blobs.OpenRecords(r.file, uint32(s.Count), r.part(s), area)
}

// source returns a key run or a column as it lies in the file.
func (r *Reader) source(kind Kind, index uint16) (src keyrun.Section, err error) {
	s, err := r.required(kind, index)
	if err != nil {
		return src, err
	}
	dir, err := r.required(kind|dirFlag, index)
	if err != nil {
		return src, err
	}
	if dir.Count != s.Count {
		return src, base.Corruptf(r.file, dir.Name(), dir.Offset, "%d values, not %d", dir.Count, s.Count)
	}
	end := s.Offset + s.Length
	return keyrun.Section{
		File: r.file, Name: s.Name(), Body: r.data[s.Offset:end:min(end+kernel.Slack, int64(len(r.data)))], Offset: s.Offset,
		Dir: r.bytes(dir), DirOffset: dir.Offset, Pages: r.pages.Random(),
	}, nil
}

// column opens a column that must have n values.
func (r *Reader) column(kind Kind, n uint64) (*keyrun.Column, error) {
	src, err := r.source(kind, 0)
	if err != nil {
		return nil, err
	}
	c, err := keyrun.OpenColumn(src)
	if err != nil {
		return nil, err
	}
	return c, r.checkCount(r.section(kind, 0), c.Len(), n)
}

// run opens a key run that must have n keys.
func (r *Reader) run(kind Kind, index uint16, n uint64) (*keyrun.Run, error) {
	src, err := r.source(kind, index)
	if err != nil {
		return nil, err
	}
	k, err := keyrun.Open(src)
	if err != nil {
		return nil, err
	}
	return k, r.checkCount(r.section(kind, index), k.Len(), n)
}

// checkCount compares the number of things in a section with what the directory and the info say.
func (r *Reader) checkCount(s *Section, got int, want uint64) error {
	if uint64(got) != want || s.Count != want {
		return base.Corruptf(r.file, s.Name(), s.Offset, "%d values, the directory says %d, there should be %d", got, s.Count, want)
	}
	return nil
}

// Reader reads a table. Its methods may be called by any number of goroutines, except that Close
// must come after all of them. Errors about the file's contents are *CorruptionError: checksums are
// verified when a block is first touched.
type Reader struct {
	file   string
	data   []byte
	made   map[[2]uint16][]byte // by kind and index: sections that Salvage has from elsewhere
	pages  *pages.Table         // how they come into memory; nil if that is left to the system
	unmap  func() error
	closer func() error
	params Params
	info   Info

	names    *blobs.List
	records  *blobs.Records // nil if there are none
	places   *keyrun.Column // record numbers by document; nil if they are the documents'
	ranks    *keyrun.Column // by document; nil if they are the documents' numbers
	seqs     *keyrun.Run    // by rank
	times    *keyrun.Column // by rank
	ids      *keyrun.Run
	runs     []*keyrun.Run
	index    *hamming.Index
	sketches *sketchidx.Index // nil if Params.Sketch is 0
	order    func() (*IDOrder, error)
}

// numSegments returns the number of sections of bitmaps, which is that of segments.
func (r *Reader) numSegments() (n int) {
	for i := range r.info.Sections {
		if r.info.Sections[i].Kind == KindBitmaps {
			n++
		}
	}
	return n
}

// maxIndex returns the greatest Section.Index that sections of a kind may have in this table, of
// that many segments; -1 if there should be none.
func (r *Reader) maxIndex(k Kind, segments int) int {
	switch k {
	case KindRun:
		return r.params.Layout.Tables() - 1
	case KindBlocks, KindIDParts:
		return maxSections
	case KindSketches, KindHot:
		return min(int(r.params.Sketch), 1) - 1
	case KindBitmaps, KindPostings:
		return segments*min(int(r.params.Sketch), 1) - 1
	}
	return 0
}

// blocks returns the area of blocks: what is between the start of the first section of blocks and
// the end of the last. There is at least one.
func (r *Reader) blocks() blobs.Bytes {
	first := r.section(KindBlocks, 0)
	end := first.Offset + first.Length
	for i := range r.info.Sections {
		if s := &r.info.Sections[i]; s.Kind == KindBlocks {
			end = max(end, s.Offset+s.Length)
		}
	}
	return blobs.Bytes{Data: r.data[first.Offset:end:end], Offset: first.Offset}
}

// openSketches opens the sections that a table with sketches has.
func (r *Reader) openSketches(segments int) error {
	if r.params.Sketch == 0 {
		return nil
	}
	if segments == 0 && r.section(KindSketches, 0) == nil && r.section(KindHot, 0) == nil {
		r.sketches = sketchidx.OpenEmpty(r.file, r.params.sketches())
		return nil
	}
	dir, err := r.required(KindSketches, 0)
	if err != nil {
		return err
	}
	list, err := blobs.OpenList(blobs.Sketches, r.file, r.info.Docs, r.part(dir), r.blocks())
	if err != nil {
		return err
	}
	hot, err := r.required(KindHot, 0)
	if err != nil {
		return err
	}
	x, err := sketchidx.Open(r.file, r.params.sketches(), list, r.part(hot), hot.Count)
	if err != nil {
		return err
	}
	first := uint64(0)
	for i := range max(segments, 1) {
		n, err := r.openSegment(x, uint16(i), uint32(first))
		if err != nil {
			return err
		}
		first += uint64(n)
	}
	if first != uint64(r.info.Docs) {
		return base.Corruptf(r.file, "directory", dir.Offset, "segments with %d of %d documents", first, r.info.Docs)
	}
	r.sketches = x
	return nil
}

// openSegment opens the sections of segment i, whose documents start with first, and returns their
// number.
func (r *Reader) openSegment(x *sketchidx.Index, i uint16, first uint32) (n uint32, err error) {
	s, err := r.required(KindBitmaps, i)
	if err != nil {
		return 0, err
	}
	if s.Count > uint64(r.info.Docs-first) {
		return 0, base.Corruptf(r.file, s.Name(), s.Offset, "%d documents from %d of %d", s.Count, first, r.info.Docs)
	}
	postings, err := r.required(KindPostings, i)
	if err != nil {
		return 0, err
	}
	run, err := r.run(KindPostings, i, postings.Count)
	if err != nil {
		return 0, err
	}
	n = uint32(s.Count)
	return n, x.AddSegment(n, s.Name(), r.part(s), run)
}

// checkDoc reports whether there is such a document.
func (r *Reader) checkDoc(doc uint32) error {
	if doc >= r.info.Docs {
		return fmt.Errorf("%s: document %d of %d does not exist", r.file, doc, r.info.Docs)
	}
	return nil
}
