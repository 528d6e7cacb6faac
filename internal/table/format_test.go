package table

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/format"
)

// withSections returns a table with the list of sections that edit makes from the real one. extra
// is the offset of 10 more bytes, for a section that edit may add.
func withSections(t *testing.T, data []byte, edit func(s []Section, extra int64) []Section) []byte {
	t.Helper()
	p, info, err := format.ParseFooter(data, "test.sst", false)
	if err != nil {
		t.Fatal(err)
	}
	last := info.Sections[len(info.Sections)-1]
	dir := format.Align(last.Offset + last.Length)
	data = append(slices.Clone(data[:dir]), "some bytes"...)
	info.Sections = edit(info.Sections, dir)
	last = info.Sections[len(info.Sections)-1]
	end := format.Align(last.Offset + last.Length)
	data = append(data, make([]byte, 64)...)[:end]
	return format.AppendFooter(data, end, p, &info)
}

func TestSectionsRefused(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(41, 42)), 100)
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	extra := func(change func(*Section)) func([]Section, int64) []Section {
		return func(s []Section, at int64) []Section {
			more := Section{Kind: format.KindUnknown + 5, Offset: at, Length: 10, Checksum: kernel.CRC32C(0, []byte("some bytes"))}
			change(&more)
			return append(s, more)
		}
	}
	cases := map[string]struct {
		edit func([]Section, int64) []Section
		want error
	}{
		"same":             {func(s []Section, _ int64) []Section { return s }, nil},
		"unknown optional": {extra(func(s *Section) { s.Optional = true }), nil},
		"unknown":          {extra(func(*Section) {}), ErrUnsupported},
		"twice":            {extra(func(s *Section) { s.Kind = KindTimes }), base.ErrCorruption},
		"index":            {extra(func(s *Section) { s.Kind, s.Index = KindTimes, 2 }), base.ErrCorruption},
		"run too many":     {extra(func(s *Section) { s.Kind, s.Index = KindRun, 4 }), base.ErrCorruption},
		"kind 0":           {extra(func(s *Section) { s.Kind = 0 }), base.ErrCorruption},
	}
	for name, c := range cases {
		r, err := OpenBytes(withSections(t, data, c.edit), "test.sst")
		if c.want != nil {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkReader(t, r, testParams, docs)
		if err := r.Verify(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSectionsMissing removes sections, one by one. Only those marked optional may be missing. A
// table without records has no texts; Verify notices the blocks that remain.
func TestSectionsMissing(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(47, 48)), 100)
	data, info := buildTable(t, testParams, WriterOptions{Note: []byte("a note")}, docs)
	for i, section := range info.Sections {
		// Replace the section by one of an unknown kind: removing it would leave a gap.
		without := withSections(t, data, func(s []Section, _ int64) []Section {
			s[i].Kind, s[i].Index, s[i].Optional = format.KindUnknown, 0, true
			return s
		})
		r, err := OpenBytes(without, "test.sst")
		switch {
		case section.Optional:
			if err != nil {
				t.Errorf("without %s: %v", section.Name(), err)
				continue
			}
			checkReader(t, r, testParams, docs)
			err = r.Verify(t.Context(), nil)
			times, e1 := r.TimeSketch()
			note, e2 := r.Note()
			if e := cmp.Or(err, e1, e2); e != nil || (times == nil) != (section.Kind == format.KindTimeSketch && section.Index == 0) || (note == nil) != (section.Kind == format.KindNote) {
				t.Errorf("without %s: %v", section.Name(), e)
			}
			continue
		case (section.Kind == KindRecords || section.Kind == format.KindBlocks) && err == nil:
			err = r.Verify(t.Context(), nil)
		}
		if !errors.Is(err, base.ErrCorruption) {
			t.Errorf("without %s: %v", section.Name(), err)
		}
		moved := withSections(t, data, func(s []Section, _ int64) []Section {
			s[i].Length += 64
			return s
		})
		if _, err := OpenBytes(moved, "test.sst"); !errors.Is(err, base.ErrCorruption) {
			t.Errorf("%s too long: %v", info.Sections[i].Name(), err)
		}
	}
}

// TestSectionsLonger appends bytes to sections, zero and other ones, under good checksums: only a
// note may have arbitrary bytes.
func TestSectionsLonger(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(47, 49)), 100)
	data, _ := buildTable(t, testParams, WriterOptions{Note: []byte("a note")}, docs)
	r := openTable(t, data)
	for _, section := range r.t.Info.Sections {
		for _, more := range [][]byte{make([]byte, 1), make([]byte, 64), []byte("some bytes that are hidden")} {
			content := append(slices.Clone(r.t.Bytes(&section)), more...)
			err := verifyError(t, rebuilt(r, 2, map[Kind][]byte{section.Kind: content}, nil))
			if section.Kind == format.KindNote && err != nil || section.Kind != format.KindNote && !errors.Is(err, base.ErrCorruption) {
				t.Errorf("%d bytes more in %s: %v", len(more), section.Name(), err)
			}
		}
	}
}

func TestVersions(t *testing.T) {
	data, _ := buildTable(t, testParams, WriterOptions{}, testDocs(rand.New(rand.NewPCG(43, 44)), 10))
	tail := data[len(data)-format.TailSize:]
	binary.LittleEndian.PutUint32(data[8:], 3)
	binary.LittleEndian.PutUint32(tail[16:], 3)
	binary.LittleEndian.PutUint32(tail[20:], kernel.CRC32C(0, tail[:20]))
	if _, err := OpenBytes(data, "test.sst"); !errors.Is(err, ErrUnsupported) || errors.Is(err, base.ErrCorruption) {
		t.Errorf("version 3: %v", err)
	}
	if _, err := OpenBytes([]byte("a text file, longer than header and trailer together, which is not a table at all: "+
		"it has no magic at either end of it"), "test.sst"); !errors.Is(err, ErrNotTable) {
		t.Errorf("a text file: %v", err)
	}
	if !IsTable(data) || IsTable(data[1:]) || IsTable(data[:7]) {
		t.Error("IsTable is wrong")
	}
}

// TestDeterminism writes the same documents twice, with other tables written in between.
func TestDeterminism(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 46))
	docs := testDocs(rng, 2000)
	for level := range LevelBetter + 1 {
		first, info := buildTable(t, testParams, WriterOptions{Level: level}, docs)
		for range 3 {
			buildTable(t, testParams, WriterOptions{Level: level}, testDocs(rng, rng.IntN(3000)))
		}
		again, info2 := buildTable(t, testParams, WriterOptions{Level: level}, docs)
		if !slices.Equal(first, again) || info.Checksum != info2.Checksum {
			t.Errorf("level %d: the same documents give different files", level)
		}
	}
}
