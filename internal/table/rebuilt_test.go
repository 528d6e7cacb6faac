package table

import (
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/format"
)

// rebuilt returns table r in another version, with other contents of sections of some kinds, and
// other counts. A section whose length changes moves to the end, so that the blocks stay where they
// are; an optional section of an unknown kind takes its old place. For indexed fields, only the
// first list is changed.
func rebuilt(r *Reader, version uint32, contents map[Kind][]byte, counts map[Kind]uint64) []byte {
	data, info := format.AppendHeader(nil, version), r.Info()
	var sections, moved []Section
	add := func(s Section, content []byte) {
		data = append(data, make([]byte, format.Align(int64(len(data)))-int64(len(data)))...)
		s.Offset, s.Length, s.Checksum = int64(len(data)), int64(len(content)), kernel.CRC32C(0, content)
		data, sections = append(data, content...), append(sections, s)
	}
	for _, s := range info.Sections {
		first := s.Index == 0 || s.Kind&^format.DirFlag != format.KindValueDocs // only the first list
		if count, ok := counts[s.Kind]; ok && first {
			s.Count = count
		}
		content, ok := contents[s.Kind]
		if ok = ok && first; ok && int64(len(content)) != s.Length {
			moved = append(moved, s)
			s.Kind, s.Index, s.Optional, ok = format.KindUnknown+Kind(len(moved)), 0, true, false
		}
		if !ok {
			content = r.t.Data[s.Offset:][:s.Length]
		}
		add(s, content)
	}
	for _, s := range moved {
		add(s, contents[s.Kind])
	}
	data = append(data, make([]byte, format.Align(int64(len(data)))-int64(len(data)))...)
	info.Version, info.Sections = version, sections
	return format.AppendFooter(data, int64(len(data)), r.Params(), &info)
}
