package sstable

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/crc"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// open opens every part of the table that can be opened.
func (s *Salvaged) open() (err error) {
	r := s.r
	defer r.unguard(guard(), &err)
	r.params, r.info, err = parseFooter(r.data, r.file)
	if s.whole = err == nil; !s.whole {
		if errors.Is(err, ErrUnsupported) {
			return err
		}
		s.found(err)
		if !s.openFooter() {
			return err
		}
	}
	if s.whole {
		s.restore()
	}
	s.openParts()
	return nil
}

// openFooter reads the directory of a table whose directory, header or trailer is damaged. It
// reports whether one was found.
func (s *Salvaged) openFooter() bool {
	data, r := s.r.data, s.r
	at, length, want, version, ok := findTrailer(data)
	if ok && versions[version] != nil {
		_, ok = crc.Correct(data[at:at+length], *want)
	}
	if !ok && s.openEarly() {
		return true
	}
	at, length, want, version, ok = findTrailer(data)
	if !ok {
		if at, length, ok = findLostDirectory(data); !ok {
			at, length, ok = s.findByParams(data)
		}
		version = FormatVersion
	}
	if !ok {
		return false
	}
	v := versions[version]
	if v == nil || length < int64(v.least) {
		return false
	}
	dir := data[at : at+length]
	fixed, certain := dir, false
	if want != nil {
		if fixed, certain = crc.Correct(dir, *want); !certain {
			fixed = dir
		}
	}
	p, info, _, err := v.parseDirectory(fixed)
	if err == nil && certain {
		r.params, r.info, s.whole = p, info, true
	} else if !s.parseParts(fixed) {
		return false
	}
	r.info.Version, r.info.Size, r.info.Checksum = version, int64(len(data)), crc.Sum(fixed)
	kept := r.info.Sections[:0]
	for _, sec := range r.info.Sections {
		if sec.Offset%alignment == 0 && sec.Offset >= headerSize && sec.Offset <= at && sec.Length <= at-sec.Offset {
			kept = append(kept, sec)
		}
	}
	s.whole = s.whole && len(kept) == len(r.info.Sections)
	r.info.Sections = kept
	return true
}

// openEarly takes the early directory for that of the table, and puts those of names and sketches
// together from spares. It reports whether there is one.
func (s *Salvaged) openEarly() bool {
	e, ok := findEarly(s.r.data)
	if !ok {
		return false
	}
	r := s.r
	r.params, r.info, s.early = e.params, e.info, true
	if s.bare = r.section(KindNames, 0) != nil; !s.bare {
		s.readSpares(e)
	}
	return true
}

// readSpares makes the directories of names and of sketches that the early directory does not have.
func (s *Salvaged) readSpares(e earlyDirectory) {
	r := s.r
	lists := spareLists(r.data, e)
	s.bare = lists.bare
	r.made = map[[2]uint16][]byte{}
	for kind, dir := range lists.dirs {
		if dir.found > 0 {
			r.made[[2]uint16{uint16(kind), 0}] = dir.entries
			r.info.Sections = append(r.info.Sections, Section{
				Kind: kind, Offset: e.end, Length: int64(len(dir.entries)), Count: uint64(len(dir.entries) / blobs.ListEntry), Checksum: crc.Sum(dir.entries),
			})
		}
	}
}

// restore finds the directories that are damaged, and have a copy elsewhere in the file.
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
	var lists map[Kind]spareList
	for i := range r.info.Sections {
		sec := &r.info.Sections[i]
		if !sec.isCopied() || crc.Sum(r.bytes(sec)) == sec.Checksum {
			continue
		}
		var made []byte
		if at := slices.IndexFunc(e.info.Sections, func(c Section) bool { return c.Kind == sec.Kind && c.Index == sec.Index }); at >= 0 {
			made = r.bytes(&e.info.Sections[at])
		} else {
			if lists == nil {
				lists = spareLists(r.data, e).dirs
			}
			made = lists[sec.Kind].entries
		}
		if int64(len(made)) != sec.Length || crc.Sum(made) != sec.Checksum {
			continue
		}
		s.found(base.Corruptf(r.file, sec.Name(), sec.Offset, "wrong checksum of the section; there is a copy"))
		if r.made == nil {
			r.made = map[[2]uint16][]byte{}
		}
		r.made[[2]uint16{uint16(sec.Kind), sec.Index}] = made
	}
}

// certain reports whether it is known what the table says of itself and where its parts are, as far
// as they are there.
func (s *Salvaged) certain() bool { return s.whole || s.early }

// findTrailer returns what the trailer says, which may have a damaged byte, or be followed by what
// is not of the table.
func findTrailer(data []byte) (offset, length int64, dirSum *uint32, version uint32, ok bool) {
	le := binary.LittleEndian
	for size := int64(len(data)); size >= headerSize+tailSize; size-- {
		t := data[size-tailSize : size]
		if size < int64(len(data)) && string(t[24:]) != Magic {
			continue
		}
		fixed, ok := crc.Correct(t[:20], le.Uint32(t[20:]))
		if !ok {
			continue
		}
		off, length := le.Uint64(fixed), uint64(le.Uint32(fixed[8:]))
		if off%alignment == 0 && off >= headerSize && off <= uint64(size) && off+length == uint64(size-tailSize) {
			sum := le.Uint32(fixed[12:])
			return int64(off), int64(length), &sum, le.Uint32(fixed[16:]), true
		}
	}
	return 0, 0, nil, 0, false
}

// findLostDirectory returns where a directory is whose trailer at the end of the file is damaged:
// it says how many sections it has, and so where it ends.
func findLostDirectory(data []byte) (offset, length int64, ok bool) {
	end := int64(len(data)) - tailSize
	for off := (end - ParamsSize - infoSize) / alignment * alignment; off >= headerSize; off -= alignment {
		n := int64(binary.LittleEndian.Uint32(data[off+ParamsSize+12:]))
		length := ParamsSize + infoSize + n*entrySize + int64(featuresSize(data[off:]))
		if n > 0 && n <= maxSections && off+length == end {
			return off, length, true
		}
	}
	return 0, 0, false
}

// findByParams returns where a directory is that starts with the parameters of the database, all
// but the layout, in a file whose end is lost.
func (s *Salvaged) findByParams(data []byte) (offset, length int64, ok bool) {
	if s.o.Params == nil {
		return 0, 0, false
	}
	want, _ := s.o.Params.AppendBinary(nil)
	const layout = ParamsSize - 8 // where it is
	least := int64(ParamsSize + infoSize)
	for off := (int64(len(data)) - least) / alignment * alignment; off >= headerSize; off -= alignment {
		p := data[off:][:ParamsSize]
		if string(p[:layout]) != string(want[:layout]) || string(p[layout+2:]) != string(want[layout+2:]) {
			continue
		}
		if n := int64(binary.LittleEndian.Uint32(data[off+ParamsSize+12:])); n > 0 && n <= maxSections {
			length := min(least+n*entrySize+int64(len(s.o.Params.Features)), int64(len(data))-off)
			return off, length, true
		}
	}
	return 0, 0, false
}

// parseParts takes of a damaged directory what can be right. It reports whether the parameters are
// known.
func (s *Salvaged) parseParts(dir []byte) bool {
	r := s.r
	if s.o.Params == nil {
		return false // those in the file, which may be damaged, say how all else is read
	}
	r.params = s.o.Params.ForTable(0)
	var sections uint32
	r.info, sections = parseInfo(dir[ParamsSize:])
	if _, err := r.info.check(); err != nil {
		r.info = Info{Identity: r.info.Identity}
	}
	seen := map[[2]uint16]bool{}
	end := len(dir)
	if r.params.Features != "" && sections <= maxSections { // their text may follow
		end = min(end, entryAt2(int(sections)))
	}
	for at := entryAt2(0); at+entrySize <= end; at += entrySize {
		sec, err := parseSection(dir[at:][:entrySize])
		id := [2]uint16{uint16(sec.Kind), sec.Index}
		if kind := sec.Kind &^ dirFlag; err != nil || kind >= kindUnknown || kind != sec.Kind && !kind.hasDir() || seen[id] {
			continue
		}
		seen[id] = true
		r.info.Sections = append(r.info.Sections, sec)
	}
	s.countDocs()
	return true
}

// countDocs finds how many documents a table has whose directory is damaged, as most of its parts
// say.
func (s *Salvaged) countDocs() {
	r := s.r
	votes := map[uint64]int{uint64(r.info.Docs): 1}
	for i := range r.info.Sections {
		switch sec := &r.info.Sections[i]; sec.Kind {
		case KindTimes, KindSeqs, KindIDs, KindRanks, KindTimes | dirFlag, KindSeqs | dirFlag, KindIDs | dirFlag, KindRanks | dirFlag:
			votes[sec.Count]++
		}
	}
	best := uint64(r.info.Docs)
	for _, n := range slices.Sorted(maps.Keys(votes)) { // of several, the least
		if n <= MaxDocs && (votes[n] > votes[best] || best > MaxDocs) {
			best = n
		}
	}
	r.info.Docs = uint32(best)
}

// missing reports whether a table has, or may have, a part of a kind that could not be opened. An
// uncertain directory may have lost its entry.
func (s *Salvaged) missing(kind Kind) bool {
	if s.early && s.r.section(kind, 0) == nil {
		return kind == KindNames || kind == KindSketches && !s.bare
	}
	if s.failed[kind] || s.whole || s.r.section(kind, 0) != nil {
		return s.failed[kind]
	}
	names := s.r.section(KindNames, 0)
	if (kind == KindPlaces || kind == KindRanks) && names != nil {
		return s.hasHole(names.Offset) // directories come last
	}
	return true
}

// hasHole reports whether the sections that are known leave some of the file before an offset out.
func (s *Salvaged) hasHole(before int64) bool {
	end := int64(headerSize)
	for _, sec := range s.r.info.Sections {
		if sec.Offset > before {
			break
		}
		if sec.Offset != align(end) {
			return true
		}
		end = sec.Offset + sec.Length
	}
	return end < before && align(end) != before
}

// fail notes that a part could not be opened.
func (s *Salvaged) fail(kind Kind, err error) {
	s.found(err)
	s.failed[kind] = true
}

// openParts opens the parts that documents are put together from.
func (s *Salvaged) openParts() {
	s.openBlocks()
	docs := uint64(s.r.info.Docs)
	s.r.places = s.openColumn(KindPlaces, docs)
	s.r.ranks = s.openColumn(KindRanks, docs)
	s.r.times = s.openColumn(KindTimes, docs)
	s.r.seqs = s.openRun(KindSeqs, 0, docs)
	s.setExtremes()
	tables := 1
	if s.certain() { // else the layout is not certain, and with another one permuted runs mean nothing
		tables = s.r.params.Layout.Tables()
	}
	s.r.runs = make([]*keyrun.Run, tables)
	for i := range s.r.runs {
		keys := uint64(math.MaxUint64)
		if i == 0 && s.certain() {
			keys = uint64(s.r.info.Fingerprints)
		}
		s.r.runs[i] = s.openRun(KindRun, uint16(i), keys)
	}
	if !s.certain() {
		s.countFingerprints()
	}
}

// countFingerprints finds how many documents of a table whose directory is damaged have a
// fingerprint. If that is not known all do, so that what has none is lost, and what has lost its
// own does not seem to have none.
func (s *Salvaged) countFingerprints() {
	r := s.r
	if run := r.runs[0]; run != nil && uint64(run.Len()) <= uint64(r.info.Docs) {
		r.info.Fingerprints = uint32(run.Len())
		return
	}
	r.runs[0], r.info.Fingerprints = nil, r.info.Docs
}

// setExtremes corrects what an uncertain info says of sequence numbers and times.
func (s *Salvaged) setExtremes() {
	r := s.r
	if s.certain() || r.info.Docs == 0 {
		return
	}
	if r.seqs != nil {
		r.info.MinSeq, r.info.MaxSeq = r.seqs.Base(0), r.seqs.Greatest()
	}
	if r.times != nil {
		r.info.MaxTime = timeOf(r.times.Greatest())
		r.info.MinTime = min(r.info.MinTime, r.info.MaxTime)
	}
}

// openBlocks opens the directories of names, records and sketches.
func (s *Salvaged) openBlocks() {
	r := s.r
	area := blobs.Bytes{Data: r.data[min(headerSize, len(r.data)):], Offset: headerSize} // the first section is one of blocks
	if sec := r.section(KindBlocks, 0); sec != nil {
		area = r.blocks()
		if s.early { // the sections of blocks behind the early one are not listed
			area.Data = r.data[area.Offset:]
		}
	}
	var err error
	if sec := s.listDir(KindNames); sec != nil {
		if r.names, err = blobs.OpenList(blobs.IDs, r.file, r.info.Docs, r.part(sec), area); err != nil {
			s.fail(KindNames, err)
		}
	}
	if sec := r.section(KindRecords, 0); sec != nil {
		if sec.Length == 0 || sec.Count == 0 { // no records would be no section
			s.fail(KindRecords, base.Corruptf(r.file, sec.Name(), sec.Offset, "%d records in a directory of %d bytes", sec.Count, sec.Length))
		} else if r.records, err = blobs.OpenRecords(r.file, uint32(min(sec.Count, math.MaxUint32)), r.part(sec), area); err != nil {
			s.fail(KindRecords, err)
		}
	}
	if sec := s.listDir(KindSketches); sec != nil && (s.certain() || sec.Length > 0) {
		if s.list, err = blobs.OpenList(blobs.Sketches, r.file, r.info.Docs, r.part(sec), area); err != nil {
			s.fail(KindSketches, err)
		}
	} else if sec != nil {
		s.fail(KindSketches, base.Corruptf(r.file, sec.Name(), sec.Offset, "a directory without entries"))
	}
}

// listDir returns the directory of a list, nil if there is none. Its entries do not say what their
// numbers are, so that at a wrong offset they would be taken for others.
func (s *Salvaged) listDir(kind Kind) *Section {
	sec := s.r.section(kind, 0)
	if sec != nil && !s.isPlaced(sec) {
		s.fail(kind, base.Corruptf(s.r.file, sec.Name(), sec.Offset, "the directory can't be at this offset"))
		return nil
	}
	return sec
}

// isPlaced reports whether a section is where the directory says: that is whole, or the section is,
// or it begins where the one before it ends and ends where the next one begins.
func (s *Salvaged) isPlaced(sec *Section) bool {
	if s.certain() || crc.Sum(s.r.bytes(sec)) == sec.Checksum {
		return true
	}
	before, after := int64(-1), int64(-1)
	for _, other := range s.r.info.Sections {
		if end := align(other.Offset + other.Length); other.Offset < sec.Offset {
			before = max(before, end)
		} else if other.Offset > sec.Offset && (after < 0 || other.Offset < after) {
			after = other.Offset
		}
	}
	return before == sec.Offset && after == align(sec.Offset+sec.Length)
}

// source returns a key run or column with its directory corrected. ok is false if there is none.
func (s *Salvaged) source(kind Kind, index uint16) (src keyrun.Section, ok bool) {
	if s.r.section(kind, index) == nil && s.r.section(kind|dirFlag, index) == nil {
		return src, false
	}
	if !s.certain() {
		s.findDir(kind, index)
		s.recount(kind, index)
	}
	src, err := s.r.source(kind, index)
	if err != nil {
		s.fail(kind, err)
		return src, false
	}
	src.Dir = keyrun.Repair(src.Dir)
	return src, true
}

// findDir finds the directory of a key run or column whose entry is lost: it says how many values
// and bytes it is of.
func (s *Salvaged) findDir(kind Kind, index uint16) {
	r := s.r
	body := r.section(kind, index)
	if body == nil || body.Count == 0 || body.Count > MaxDocs || r.section(kind|dirFlag, index) != nil {
		return
	}
	length := keyrun.DirSize(body.Count)
	for off := align(body.Offset + body.Length); length <= int64(len(r.data))-off; off += alignment {
		if !keyrun.IsDir(r.data[off:off+length], body.Count, body.Length) {
			continue
		}
		known := r.info.Sections
		r.info.Sections = append(known, Section{
			Kind: kind | dirFlag, Index: index, Offset: off, Length: length, Count: body.Count, Checksum: crc.Sum(r.data[off : off+length]),
		})
		if s.fits(kind, index) {
			return
		}
		r.info.Sections = known // of another section of that size
	}
}

// recount corrects the entries of a key run or column by its directory, which says how many values
// there are, and has a checksum of its own.
func (s *Salvaged) recount(kind Kind, index uint16) {
	body, dir := s.r.section(kind, index), s.r.section(kind|dirFlag, index)
	if body == nil || dir == nil {
		return
	}
	if count, size, ok := keyrun.CountOf(keyrun.Repair(s.r.bytes(dir))); ok && size == body.Length {
		body.Count, dir.Count = count, count
	}
}

// fits reports whether the directory of a key run or column is of its body: whether one of the
// first blocks has the checksum that it should have.
func (s *Salvaged) fits(kind Kind, index uint16) bool {
	src, err := s.r.source(kind, index)
	if err != nil {
		return false
	}
	if c, err := keyrun.OpenColumn(src); err == nil {
		for b := range min(c.NumBlocks(), 4) {
			if _, err := c.Get(b << keyrun.BlockShift); err == nil {
				return true
			}
		}
	}
	if k, err := keyrun.Open(src); err == nil {
		for b := range min(k.NumBlocks(), 4) {
			if k.Check(b) == nil {
				return true
			}
		}
	}
	return false
}

// openColumn opens a column of n values; nil if it can't be opened or there is none.
func (s *Salvaged) openColumn(kind Kind, n uint64) *keyrun.Column {
	src, ok := s.source(kind, 0)
	if !ok {
		return nil
	}
	c, err := keyrun.OpenColumn(src)
	if err == nil && uint64(c.Len()) != n {
		err = base.Corruptf(s.r.file, kind.String(), src.Offset, "%d values for %d documents", c.Len(), n)
	}
	if err == nil && kind == KindRanks && n > 0 && c.Max() >= n {
		err = c.Corrupt(0, "rank %d of %d", c.Max(), n)
	}
	if err != nil {
		s.fail(kind, err)
		return nil
	}
	return c
}

// openRun opens a key run of n keys, or of any number if n is the greatest there is; nil if it
// can't be opened.
func (s *Salvaged) openRun(kind Kind, index uint16, n uint64) *keyrun.Run {
	src, ok := s.source(kind, index)
	if !ok {
		return nil
	}
	k, err := keyrun.Open(src)
	if err == nil && n != math.MaxUint64 && uint64(k.Len()) != n {
		err = base.Corruptf(s.r.file, src.Name, src.Offset, "%d keys, there should be %d", k.Len(), n)
	}
	if err != nil {
		if s.found(err); kind != KindRun {
			s.failed[kind] = true
		}
		return nil
	}
	return k
}
