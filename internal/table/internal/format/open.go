package format

import (
	"bytes"
	"cmp"
	"math"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/contain"
	"github.com/simdb/simdb/internal/table/internal/fieldidx"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/sketchidx"
)

// Open opens the table in Data, the contents of the file File. It reads only the directories.
func (r *Table) Open() (err error) {
	defer r.Unguard(Guard(), &err)
	if err := kernel.Err(); err != nil {
		return err
	}
	if r.Params, r.Info, err = ParseFooter(r.Data, r.File, r.needFooter()); err != nil {
		return err
	}
	r.Pages.SetIndex(r.indexOffset(), r.scanned())
	if r.Pages.IsRemote() {
		if err := r.openSummaries(); err != nil {
			return err
		}
	}
	for _, s := range r.Info.Sections { // without summaries they are read now, otherwise when they are first needed
		if s.Kind&DirFlag != 0 && (r.tops == nil || !keyrun.HasPages(s.Length)) {
			r.Pages.Fetch(s.Offset, s.Offset+s.Length)
		}
	}
	return r.openSections()
}

// indexOffset returns the start of the part of the file that searches read: 0 if there are no
// texts.
func (r *Table) indexOffset() int64 {
	s := r.Section(KindBlocks, 0)
	if !r.Params.StoreText || s == nil {
		return 0
	}
	return s.Offset + s.Length
}

// scanned returns the parts of the file that searches read in order: the bitmaps of sketches.
func (r *Table) scanned() (parts [][2]int64) {
	for _, s := range r.Info.Sections {
		if s.Kind == KindBitmaps {
			parts = append(parts, [2]int64{s.Offset, s.Offset + s.Length})
		}
	}
	return parts
}

// Part returns the contents of a section with their offset.
func (r *Table) Part(s *Section) blobs.Bytes {
	return blobs.Bytes{Data: r.Bytes(s), Offset: s.Offset, Pages: r.Pages}
}

// openSections opens every section that the format requires and refuses sections that must not
// exist.
func (r *Table) openSections() error {
	segments := r.NumSegments()
	seen := make(map[[2]uint16]bool)
	for i := range r.Info.Sections {
		s := &r.Info.Sections[i]
		id := [2]uint16{uint16(s.Kind), s.Index}
		kind := s.Kind &^ DirFlag
		if seen[id] || kind < KindUnknown && (int(s.Index) > r.maxIndex(kind, segments) || kind != s.Kind && !kind.HasDir()) {
			return base.Corruptf(r.File, "directory", s.Offset, "section %s with index %d should not be there", s.Name(), s.Index)
		}
		seen[id] = true
	}
	for i := range r.Info.Sections {
		s := &r.Info.Sections[i]
		if kind := s.Kind &^ DirFlag; kind != s.Kind && kind < KindUnknown && !seen[[2]uint16{uint16(kind), s.Index}] {
			return base.Corruptf(r.File, "directory", s.Offset, "section %s without the section that it describes", s.Name())
		}
	}
	if _, err := r.Required(KindEarly, 0); err != nil {
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
	docs := uint64(r.Info.Docs)
	var err error
	if r.IDs, err = r.Run(KindIDs, 0, docs); err != nil {
		return err
	}
	r.IDs.LoadBlocks(r.Pages)
	if docs > 1 && !r.IDs.HasValues() {
		return r.IDs.Corrupt(0, "hashes of IDs without documents")
	}
	if r.Runs, err = r.openRuns(0, uint64(r.Info.Distinct)); err != nil {
		return err
	}
	for word := 1; word < r.Params.NumWords(); word++ {
		w := Word{}
		if w.Column, err = r.Column(KindWords, uint16(word), docs); err != nil {
			return err
		}
		s, err := r.Required(KindRun, RunIndex(word, r.Params.Layout.Tables()-1))
		if err != nil {
			return err
		}
		if w.Runs, err = r.openRuns(word, s.Count); err != nil {
			return err
		}
		if w.Runs[0].Len() > 1 && !w.Runs[0].HasValues() {
			return w.Runs[0].Corrupt(0, "words without documents")
		}
		r.Words = append(r.Words, w)
	}
	return cmp.Or(r.openSets(), r.openFields())
}

func (r *Table) openSets() (err error) {
	if !r.Params.Sets {
		return nil
	}
	s, err := r.Required(KindSets, 0)
	if err != nil {
		return err
	}
	if s.Count > 0 && r.Info.Docs == 0 {
		return base.Corruptf(r.File, s.Name(), s.Offset, "%d features of no documents", s.Count)
	}
	r.Sets = &contain.Index{}
	if r.Sets.Keys, err = r.Run(KindSets, 0, s.Count); err != nil {
		return err
	}
	r.Sets.Sizes, err = r.Column(KindSetSizes, 0, uint64(r.Info.Docs))
	return err
}

// openFields opens the lists of indexed fields.
func (r *Table) openFields() error {
	for i := range uint16(fieldidx.Lists * r.Params.NumIndexed()) {
		s, err := r.Required(KindValues, i)
		if err != nil {
			return err
		}
		dir, err := r.Required(KindValues|DirFlag, i)
		if err != nil {
			return err
		}
		if s.Count > uint64(r.Info.Docs) || dir.Count != s.Count {
			return base.Corruptf(r.File, s.Name(), s.Offset, "%d values of %d documents, the directory has %d", s.Count, r.Info.Docs, dir.Count)
		}
		var l fieldidx.List
		if l.Keys, err = blobs.OpenList(blobs.Values, r.File, uint32(s.Count), r.Part(dir), r.Part(s)); err != nil {
			return err
		}
		l.Keys.SetPages(r.Pages.Random())
		if l.Docs, err = r.Column(KindValueDocs, i, s.Count); err != nil {
			return err
		}
		if s.Count > 0 && l.Docs.Max() >= uint64(r.Info.Docs) {
			return l.Docs.Corrupt(0, "document %d of %d", l.Docs.Max(), r.Info.Docs)
		}
		r.Fields = append(r.Fields, l)
	}
	return nil
}

func (r *Table) openRuns(word int, distinct uint64) ([]*keyrun.Run, error) {
	runs := make([]*keyrun.Run, r.Params.Layout.Tables())
	for i := range runs {
		keys, err := distinct, error(nil)
		if i == 0 {
			keys = uint64(r.Info.Fingerprints)
		}
		if runs[i], err = r.Run(KindRun, RunIndex(word, i), keys); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// openOrder opens the sections with the order of writing.
func (r *Table) openOrder() (err error) {
	docs := uint64(r.Info.Docs)
	if r.Section(KindRanks, 0) != nil {
		if r.Ranks, err = r.Column(KindRanks, 0, docs); err != nil {
			return err
		}
		if docs > 0 && r.Ranks.Max() >= docs {
			return r.Ranks.Corrupt(0, "rank %d of %d", r.Ranks.Max(), docs)
		}
	}
	if r.Seqs, err = r.Run(KindSeqs, 0, docs); err != nil {
		return err
	}
	if r.FirstExpiry = OrderedExpiry(0); r.Section(KindTimes, Expiries) != nil {
		if r.Expiries, err = r.Column(KindTimes, Expiries, docs); err != nil {
			return err
		}
		for b := range r.Expiries.NumBlocks() {
			least, _ := r.Expiries.Bounds(b)
			r.FirstExpiry = min(r.FirstExpiry, least)
		}
	}
	r.Times, err = r.Column(KindTimes, 0, docs)
	return err
}

// Required returns a section that must exist.
func (r *Table) Required(kind Kind, index uint16) (*Section, error) {
	s := r.Section(kind, index)
	if s == nil {
		name := Section{Kind: kind, Index: index}.Name()
		return nil, base.Corruptf(r.File, "directory", r.Info.Size, "no section %s", name)
	}
	return s, nil
}

// openRecords opens the directories of the blocks of names and of records.
func (r *Table) openRecords() error {
	if _, err := r.Required(KindBlocks, 0); err != nil {
		return err
	}
	dir, err := r.Required(KindNames, 0)
	if err != nil {
		return err
	}
	area := r.Blocks()
	if r.Names, err = blobs.OpenList(blobs.IDs, r.File, r.Info.Docs, r.Part(dir), area); err != nil {
		return err
	}
	r.Names.SetPages(r.Pages.Random())
	s := r.Section(KindRecords, 0)
	if s == nil {
		if s = r.Section(KindPlaces, 0); s != nil {
			return base.Corruptf(r.File, s.Name(), s.Offset, "places of records without records")
		}
		return nil
	}
	if r.Records, err = r.OpenRecordBlocks(s, area); err != nil || r.Section(KindPlaces, 0) == nil {
		return err
	}
	r.Places, err = r.Column(KindPlaces, 0, uint64(r.Info.Docs))
	if err == nil && r.Info.Docs > 0 && r.Places.Max() > uint64(r.Records.Len()) {
		return r.Places.Corrupt(0, "record %d of %d", r.Places.Max(), r.Records.Len())
	}
	return err
}

// OpenRecordBlocks opens the directory of the blocks of records.
func (r *Table) OpenRecordBlocks(s *Section, area blobs.Bytes) (*blobs.Records, error) {
	if s.Count == 0 || s.Count > math.MaxUint32 || s.Length == 0 {
		return nil, base.Corruptf(r.File, s.Name(), s.Offset, "%d records in a directory of %d bytes", s.Count, s.Length)
	}
	if r.Section(KindPlaces, 0) == nil && s.Count != uint64(r.Info.Docs) {
		return nil, base.Corruptf(r.File, s.Name(), s.Offset, "%d records for %d documents", s.Count, r.Info.Docs)
	}
	return blobs.OpenRecords(r.File, uint32(s.Count), r.Part(s), area)
}

// source returns a key run or a column as stored in the file.
func (r *Table) source(kind Kind, index uint16) (src keyrun.Section, err error) {
	s, err := r.Required(kind, index)
	if err != nil {
		return src, err
	}
	dir, err := r.Required(kind|DirFlag, index)
	if err != nil {
		return src, err
	}
	if dir.Count != s.Count {
		return src, base.Corruptf(r.File, dir.Name(), dir.Offset, "%d values, not %d", dir.Count, s.Count)
	}
	end := s.Offset + s.Length
	top := r.tops[[2]uint16{uint16(kind), index}]
	if top == nil {
		r.Pages.Need(dir.Offset, dir.Offset+dir.Length)
	}
	return keyrun.Section{
		File: r.File, Name: s.Name(), Body: r.Data[s.Offset:end:min(end+kernel.Slack, int64(len(r.Data)))], Offset: s.Offset,
		Dir: r.Bytes(dir), DirOffset: dir.Offset, Top: top, Pages: r.Pages.Random(),
	}, nil
}

// Column opens a column that must have n values.
func (r *Table) Column(kind Kind, index uint16, n uint64) (*keyrun.Column, error) {
	src, err := r.source(kind, index)
	if err != nil {
		return nil, err
	}
	c, err := keyrun.OpenColumn(src)
	if err != nil {
		return nil, err
	}
	return c, r.checkCount(r.Section(kind, index), c.Len(), n)
}

// Run opens a key run that must have n keys.
func (r *Table) Run(kind Kind, index uint16, n uint64) (*keyrun.Run, error) {
	src, err := r.source(kind, index)
	if err != nil {
		return nil, err
	}
	k, err := keyrun.Open(src)
	if err != nil {
		return nil, err
	}
	return k, r.checkCount(r.Section(kind, index), k.Len(), n)
}

// checkCount compares the number of values in a section with the directory and with the expected
// number.
func (r *Table) checkCount(s *Section, got int, want uint64) error {
	if uint64(got) != want || s.Count != want {
		return base.Corruptf(r.File, s.Name(), s.Offset, "%d values, the directory says %d, there should be %d", got, s.Count, want)
	}
	return nil
}

// NumSegments returns the number of segments, which is the number of sections of bitmaps.
func (r *Table) NumSegments() (n int) {
	for i := range r.Info.Sections {
		if r.Info.Sections[i].Kind == KindBitmaps {
			n++
		}
	}
	return n
}

// maxIndex returns the greatest Section.Index that sections of kind k may have in this table, which
// has the given number of segments; -1 if there must be no such section.
func (r *Table) maxIndex(k Kind, segments int) int {
	switch k {
	case KindRun:
		return int(RunIndex(r.Params.NumWords()-1, r.Params.Layout.Tables()-1))
	case KindWords:
		return r.Params.NumWords() - 1
	case KindTimes, KindTimeSketch:
		return Expiries
	case KindBlocks, KindIDParts:
		return MaxSections
	case KindSetSizes, KindSets:
		if !r.Params.Sets {
			return -1
		}
	case KindValues, KindValueDocs:
		return fieldidx.Lists*r.Params.NumIndexed() - 1
	case KindSketches, KindHot:
		return min(int(r.Params.Sketch), 1) - 1
	case KindBitmaps, KindPostings:
		return segments*min(int(r.Params.Sketch), 1) - 1
	}
	return 0
}

// Blocks returns the area of blocks, from the start of the first section of blocks to the end of
// the last. There must be at least one.
func (r *Table) Blocks() blobs.Bytes {
	first := r.Section(KindBlocks, 0)
	end := first.Offset + first.Length
	for i := range r.Info.Sections {
		if s := &r.Info.Sections[i]; s.Kind == KindBlocks {
			end = max(end, s.Offset+s.Length)
		}
	}
	return blobs.Bytes{Data: r.Data[first.Offset:end:end], Offset: first.Offset, Pages: r.Pages}
}

func (r *Table) openSketches(segments int) error {
	if r.Params.Sketch == 0 {
		return nil
	}
	if segments == 0 && r.Section(KindSketches, 0) == nil && r.Section(KindHot, 0) == nil {
		r.Sketches = sketchidx.OpenEmpty(r.File, r.Params.Sketches())
		return nil
	}
	dir, err := r.Required(KindSketches, 0)
	if err != nil {
		return err
	}
	list, err := blobs.OpenList(blobs.Sketches, r.File, r.Info.Docs, r.Part(dir), r.Blocks())
	if err != nil {
		return err
	}
	list.SetPages(r.Pages.Random())
	hot, err := r.Required(KindHot, 0)
	if err != nil {
		return err
	}
	x, err := sketchidx.Open(r.File, r.Params.Sketches(), list, r.Part(hot), hot.Count)
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
	if first != uint64(r.Info.Docs) {
		return base.Corruptf(r.File, "directory", dir.Offset, "segments with %d of %d documents", first, r.Info.Docs)
	}
	r.Sketches = x
	return nil
}

// openSegment opens the sections of segment i, whose documents start at first, and returns the
// number of its documents.
func (r *Table) openSegment(x *sketchidx.Index, i uint16, first uint32) (n uint32, err error) {
	s, err := r.Required(KindBitmaps, i)
	if err != nil {
		return 0, err
	}
	if s.Count > uint64(r.Info.Docs-first) {
		return 0, base.Corruptf(r.File, s.Name(), s.Offset, "%d documents from %d of %d", s.Count, first, r.Info.Docs)
	}
	postings, err := r.Required(KindPostings, i)
	if err != nil {
		return 0, err
	}
	run, err := r.Run(KindPostings, i, postings.Count)
	if err != nil {
		return 0, err
	}
	n = uint32(s.Count)
	return n, x.AddSegment(n, s.Name(), r.Part(s), run)
}

// Note returns a copy of the note that the table's owner stored in it (WriterOptions.Note), nil if
// there is none.
func (r *Table) Note() (note []byte, err error) {
	defer r.Unguard(Guard(), &err)
	s := r.Section(KindNote, 0)
	if s == nil {
		return nil, nil
	}
	r.Pages.Need(s.Offset, s.Offset+s.Length)
	note = bytes.Clone(r.Bytes(s))
	if kernel.CRC32C(0, note) != s.Checksum {
		return nil, base.Corruptf(r.File, s.Name(), s.Offset, "wrong checksum of the section")
	}
	return note, nil
}
