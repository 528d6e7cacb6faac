package table

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/merge"
)

// TestSegmentsWithoutSketches has tables with all combinations of parts with and without sketches.
// Segments without sketches store no bitmaps; those at the front form one segment of any size;
// everything else is unchanged.
func TestSegmentsWithoutSketches(t *testing.T) {
	const n, parts = 300, 3
	for mask := range 1 << parts { // bit i: part i has sketches
		docs := testDocs(rand.New(rand.NewPCG(71, 72)), n)
		for i := range docs {
			if mask>>(i*parts/n)&1 == 0 {
				docs[i].Sketch = nil
			}
		}
		data, _ := buildTable(t, testParams, WriterOptions{Hot: hotOf(docs), SegmentDocs: n / parts}, docs)
		r := openTable(t, data)
		checkSegments(t, r, docs, n/parts)
		checkReader(t, r, testParams, docs)
		if err := r.Verify(t.Context(), nil); err != nil {
			t.Errorf("mask %b: %v", mask, err)
		}
		var s JaccardSearcher
		for _, d := range testDocs(rand.New(rand.NewPCG(71, 72)), n)[:5] {
			checkJaccard(t, r, docs, d.Sketch, &s)
		}
	}
}

// checkSegments compares the segments of a table with the expected ones. Each has size documents,
// but the first extends to the first sketch if that comes later.
func checkSegments(t *testing.T, r *Reader, docs []Document, size int) {
	t.Helper()
	has := func(d Document) bool { return len(d.Sketch) > 0 }
	first := slices.IndexFunc(docs, has)
	if first < 0 {
		for _, s := range r.t.Info.Sections {
			switch s.Kind &^ format.DirFlag {
			case format.KindSketches, format.KindHot, format.KindBitmaps, format.KindPostings:
				t.Errorf("section %s, and no document has a sketch", s.Name())
			}
		}
		return
	}
	var want []int
	rest := len(docs)
	if first >= size {
		want, rest = append(want, first), rest-first
	}
	for ; rest > 0; rest -= size {
		want = append(want, min(rest, size))
	}
	var got []int
	at := 0
	for i := range r.t.NumSegments() {
		s := r.t.Section(format.KindBitmaps, uint16(i))
		got = append(got, int(s.Count))
		part := docs[at:][:s.Count]
		if stored := s.Length > 0; stored != slices.ContainsFunc(part, has) {
			t.Errorf("documents %d to %d: bitmaps stored: %v", at, at+len(part), stored)
		}
		at += len(part)
	}
	if !slices.Equal(got, want) {
		t.Errorf("segments of %d documents, want %d", got, want)
	}
}

// TestLateSketches has tables whose first documents have no sketch. Their number varies around the
// borders of segments and of blocks of sketches.
func TestLateSketches(t *testing.T) {
	const n, size = 300, 64
	for _, first := range []int{0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 192, 256, 298, 299, 300} {
		docs := testDocs(rand.New(rand.NewPCG(73, 74)), n)
		for i := range docs {
			docs[i].Sketch = nil
			if i >= first {
				docs[i].Sketch = []uint32{uint32(i / 2), 1 << 20, 1<<20 + 1 + uint32(i)}
			}
		}
		data, _ := buildTable(t, testParams, WriterOptions{Hot: hotOf(docs), SegmentDocs: size}, docs)
		r := openTable(t, data)
		checkSegments(t, r, docs, size)
		checkReader(t, r, testParams, docs)
		if err := r.Verify(t.Context(), nil); err != nil {
			t.Errorf("first sketch %d: %v", first, err)
		}
		var s JaccardSearcher
		for _, i := range []int{0, first / 2, max(first, 1) - 1, min(first, n-1), n - 1} {
			checkJaccard(t, r, docs, docs[i].Sketch, &s)
		}
		again := mergedAlone(t, r, size)
		checkSegments(t, again, docs, size)
		checkReader(t, again, testParams, docs)
		if err := again.Verify(t.Context(), nil); err != nil {
			t.Errorf("first sketch %d, merged: %v", first, err)
		}
	}
}

// mergedAlone returns the merge of a single table, with segments of size documents.
func mergedAlone(t *testing.T, r *Reader, size int) *Reader {
	t.Helper()
	var out bytes.Buffer
	o := MergeOptions{WriterOptions: WriterOptions{SegmentDocs: size}}
	if _, _, err := Merge(t.Context(), &out, r.Params(), []MergeInput{{Reader: r}}, o); err != nil {
		t.Fatal(err)
	}
	return openTable(t, out.Bytes())
}

// TestNoSketches compares a table that may have sketches, but whose documents have none, with a
// table without sketches: it must have no additional section, and searches must find nothing.
func TestNoSketches(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(75, 76)), 700)
	for i := range docs {
		docs[i].Sketch = nil
	}
	without := testParams
	without.Sketch, without.MinJaccard = 0, 0
	data, info := buildTable(t, testParams, WriterOptions{Hot: []hot.Hash{{Hash: 5, Documents: 9}}, SegmentDocs: 100}, docs)
	plain, plainInfo := buildTable(t, without, WriterOptions{}, docs)
	if len(data) != len(plain) || len(info.Sections) != len(plainInfo.Sections) {
		t.Errorf("%d bytes in %d sections, without sketches %d in %d", len(data), len(info.Sections), len(plain), len(plainInfo.Sections))
	}
	r := openTable(t, data)
	for _, r := range []*Reader{r, mergedAlone(t, r, 100)} {
		checkSegments(t, r, docs, 100)
		checkReader(t, r, testParams, docs)
		if err := r.Verify(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	var s JaccardSearcher
	checkJaccard(t, r, docs, []uint32{5, 6, 7}, &s)
	if hot, err := merge.MergedHot(context.Background(), tablesOf([]*Reader{r})); err != nil || len(hot) > 0 {
		t.Errorf("hot hashes %v, %v", hot, err)
	}
	if err := r.EachSketch(func(doc uint32, _ []uint32) error { t.Errorf("document %d has a sketch", doc); return nil }); err != nil {
		t.Error(err)
	}
	var out strings.Builder
	if err := r.Describe(&out); err != nil || strings.Contains(out.String(), "sketches") {
		t.Errorf("it is described as %s, %v", out.String(), err)
	}
}

// TestPostingsWithoutBitmaps empties the bitmaps of a segment with postings.
func TestPostingsWithoutBitmaps(t *testing.T) {
	data, _ := sketchTable(t, 300)
	hostile := withSections(t, bytes.Clone(data), func(sections []Section, _ int64) []Section {
		for i := range sections {
			if s := &sections[i]; s.Kind == format.KindBitmaps && s.Index == 1 {
				s.Length = 0
			}
		}
		return sections
	})
	if _, err := OpenBytes(hostile, "test.sst"); !errors.Is(err, base.ErrCorruption) {
		t.Error(err)
	}
}
