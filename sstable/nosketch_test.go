package sstable

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/simdb/simdb/internal/base"
)

// TestSegmentsWithoutSketches has tables where all, some and no segments are of documents without
// sketches: those store no bitmaps, and everything else is as ever.
func TestSegmentsWithoutSketches(t *testing.T) {
	const n, segments = 300, 3
	for mask := range 1 << segments { // bit i: segment i has sketches
		docs := testDocs(rand.New(rand.NewPCG(71, 72)), n)
		for i := range docs {
			if mask>>(i*segments/n)&1 == 0 {
				docs[i].Sketch = nil
			}
		}
		data, _ := buildTable(t, testParams, WriterOptions{Hot: hotOf(docs), segmentDocs: n / segments}, docs)
		r := openTable(t, data)
		for i := range r.numSegments() {
			seg := r.section(KindBitmaps, uint16(i))
			if stored := seg.Length > 0; stored != (mask>>i&1 == 1) || seg.Count != n/segments {
				t.Errorf("mask %b, segment %d: bitmaps of %d documents, stored: %v", mask, i, seg.Count, stored)
			}
		}
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

// TestPostingsWithoutBitmaps makes the bitmaps of a segment with postings empty.
func TestPostingsWithoutBitmaps(t *testing.T) {
	data, _ := sketchTable(t, 300)
	hostile := withSections(t, bytes.Clone(data), func(sections []Section, _ int64) []Section {
		for i := range sections {
			if s := &sections[i]; s.Kind == KindBitmaps && s.Index == 1 {
				s.Length = 0
			}
		}
		return sections
	})
	if _, err := OpenBytes(hostile, "test.sst"); !errors.Is(err, base.ErrCorruption) {
		t.Error(err)
	}
}
