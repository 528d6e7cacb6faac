package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Version describes how a version of the format encodes its directory. Header and trailer are the
// same in all versions, so that any program can tell a table's version. A new version gets an entry
// in Versions and an AppendDirectory of its own; the functions that open sections look at
// Info.Version where the contents of sections differ.
type Version struct {
	Least   int  // minimum size of a directory in bytes
	Unknown Kind // first kind of section that the version does not know

	// AppendDirectory appends the directory.
	AppendDirectory func(b []byte, p Params, info *Info) []byte
	// ParseDirectory is the inverse of AppendDirectory, for a directory of at least Least bytes
	// with a valid checksum. It checks the parameters, the numbers of info, and each entry by
	// itself. at is the offset in dir of the part to which err refers.
	ParseDirectory func(dir []byte) (p Params, info Info, at int, err error)
	// EntryAt returns the offset in a directory of the entry of section i.
	EntryAt func(i int) int
}

// Versions are the versions that this program reads:
//
//	2  the first released version
//
// Version 1 is refused by name (see findDirectory): no release wrote it. A version stays here as
// long as tables with it may exist.
var Versions = map[uint32]*Version{
	2: {
		Least: ParamsSize + InfoSize, Unknown: KindSummaries + 1,
		AppendDirectory: AppendDirectory2, ParseDirectory: ParseDirectory2, EntryAt: EntryAt2,
	},
}

// readable lists the versions that this program reads, as "1", "1 and 2" or "1, 2 and 3".
func readable() string {
	var all []string
	for _, v := range slices.Sorted(maps.Keys(Versions)) {
		all = append(all, fmt.Sprint(v))
	}
	last := len(all) - 1
	if last == 0 {
		return all[0]
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

const (
	InfoSize  = 80 // bytes of the encoded Info, version 2
	EntrySize = 40 // bytes of a section's entry, version 2
)

// AppendDirectory2 appends a directory of version 2:
//
//	directory   +--------+------+--------------------------------+----------------+
//	            | params | info | entries, in order of offsets   | description of |
//	            |   40   |  80  | 40 each                        | params         |
//	            +--------+------+--------------------------------+----------------+
//	info        +------+--------------+----------+----------+
//	            | docs | fingerprints | distinct | sections |
//	            |  4   |      4       |    4     |    4     |
//	            +------+--+---------+-+------+---+----+-----+
//	            | minTime | maxTime | minSeq | maxSeq |
//	            |    8    |    8    |   8    |   8    |
//	            +---------++--------+--+-----+---+----+
//	            | database | number | created |
//	            |    16    |   8    |    8    |
//	            +----------+--------+---------+
//	entry       +------+-------+-------+--------+--------+-------+----------+---+
//	            | kind | index | flags | offset | length | count | checksum | 0 |
//	            |  2   |   2   |   4   |   8    |   8    |   8   |    4     | 4 |
//	            +------+-------+-------+--------+--------+-------+----------+---+
//
// Flag 1 of an entry marks a section that readers may ignore if they do not know its kind.
func AppendDirectory2(b []byte, p Params, info *Info) []byte {
	b, _ = p.AppendBinary(b)
	le := binary.LittleEndian
	for _, n := range []uint32{info.Docs, info.Fingerprints, info.Distinct, uint32(len(info.Sections))} {
		b = le.AppendUint32(b, n)
	}
	for _, n := range []uint64{uint64(info.MinTime), uint64(info.MaxTime), info.MinSeq, info.MaxSeq} {
		b = le.AppendUint64(b, n)
	}
	b = append(b, info.Identity.Database[:]...)
	b = le.AppendUint64(b, info.Identity.Number)
	b = le.AppendUint64(b, uint64(info.Identity.Created))
	for _, s := range info.Sections {
		b = s.append(b)
	}
	return append(b, p.Description()...)
}

// EntryAt2 is Version.EntryAt of version 2.
func EntryAt2(i int) int { return ParamsSize + InfoSize + i*EntrySize }

// ParseDirectory2 is Version.ParseDirectory of version 2.
func ParseDirectory2(dir []byte) (p Params, info Info, at int, err error) {
	end := max(len(dir)-descriptionSize(dir), ParamsSize+InfoSize)
	if err := p.UnmarshalBinary(append(bytes.Clone(dir[:ParamsSize]), dir[end:]...)); err != nil {
		return p, info, 0, err
	}
	info, n := parseInfo(dir[ParamsSize:])
	entries := dir[ParamsSize+InfoSize : end]
	if n > MaxSections || int(n)*EntrySize != len(entries) {
		return p, info, ParamsSize + 12, fmt.Errorf("%d sections in a directory of %d bytes", n, len(entries))
	}
	if at, err := info.check(); err != nil {
		return p, info, ParamsSize + at, err
	}
	for i := range int(n) {
		s, err := parseSection(entries[i*EntrySize:][:EntrySize])
		if err != nil {
			return p, info, EntryAt2(i), fmt.Errorf("section %d: %w", i, err)
		}
		info.Sections = append(info.Sections, s)
	}
	return p, info, 0, nil
}

// check returns an error if the numbers of i are not valid for a table; at is the offset of the
// wrong number in the info of version 2.
func (i *Info) check() (at int, err error) {
	switch {
	case i.Fingerprints > i.Docs || i.Distinct > i.Fingerprints || i.Docs > MaxDocs || i.Fingerprints > 0 && i.Distinct == 0:
		return 0, fmt.Errorf("%d documents, %d fingerprints, %d distinct", i.Docs, i.Fingerprints, i.Distinct)
	case i.MinTime > i.MaxTime || i.MinSeq > i.MaxSeq:
		return 16, errors.New("the minimum time or sequence number is above the maximum")
	}
	return 0, nil
}

// append appends the section's entry in the directory.
func (s Section) append(b []byte) []byte {
	le := binary.LittleEndian
	var flags uint32
	if s.Optional {
		flags = optionalFlag
	}
	b = le.AppendUint16(b, uint16(s.Kind))
	b = le.AppendUint16(b, s.Index)
	b = le.AppendUint32(b, flags)
	b = le.AppendUint64(b, uint64(s.Offset))
	b = le.AppendUint64(b, uint64(s.Length))
	b = le.AppendUint64(b, s.Count)
	b = le.AppendUint32(b, s.Checksum)
	return le.AppendUint32(b, 0)
}

// parseInfo decodes the info at the start of b, and the number of sections.
func parseInfo(b []byte) (info Info, sections uint32) {
	le := binary.LittleEndian
	return Info{
		Docs:         le.Uint32(b),
		Fingerprints: le.Uint32(b[4:]),
		Distinct:     le.Uint32(b[8:]),
		MinTime:      int64(le.Uint64(b[16:])),
		MaxTime:      int64(le.Uint64(b[24:])),
		MinSeq:       le.Uint64(b[32:]),
		MaxSeq:       le.Uint64(b[40:]),
		Identity: Identity{
			Database: [16]byte(b[48:64]), Number: le.Uint64(b[64:]), Created: int64(le.Uint64(b[72:])),
		},
	}, le.Uint32(b[12:])
}

// parseSection decodes an entry of the directory.
func parseSection(b []byte) (Section, error) {
	le := binary.LittleEndian
	flags := le.Uint32(b[4:])
	s := Section{
		Kind:     Kind(le.Uint16(b)),
		Index:    le.Uint16(b[2:]),
		Optional: flags&optionalFlag != 0,
		Offset:   int64(le.Uint64(b[8:])),
		Length:   int64(le.Uint64(b[16:])),
		Count:    le.Uint64(b[24:]),
		Checksum: le.Uint32(b[32:]),
	}
	if flags&^optionalFlag != 0 || le.Uint32(b[36:]) != 0 || s.Kind == 0 || s.Offset < 0 || s.Length < 0 {
		return s, fmt.Errorf("malformed entry %x", b)
	}
	return s, nil
}
