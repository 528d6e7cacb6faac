package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/format"
)

// TestMaxDocs writes tables with one document per segment: whatever the layout, a table must hold
// as many segments as MaxDocs assumes, and refuse more than the directory can list.
func TestMaxDocs(t *testing.T) {
	for _, l := range []Layout{{Blocks: 2, Lead: 1}, {Blocks: 8, Lead: 2}} {
		p := testParams
		p.Layout = l
		write := func(n int) ([]byte, error) {
			var buf bytes.Buffer
			w, err := NewWriter(&buf, p, WriterOptions{SegmentDocs: 1})
			for i := 0; i < n && err == nil; i++ {
				err = w.Add(&Document{ID: fmt.Append(nil, i), HasFingerprint: true, Fingerprint: Fingerprint(i), Sketch: []uint32{uint32(i)}})
			}
			if err == nil {
				_, err = w.Close()
			}
			return buf.Bytes(), err
		}
		data, err := write(format.LeastSegments)
		if err != nil {
			t.Fatalf("%v: %d segments: %v", p.Layout, format.LeastSegments, err)
		}
		r, err := OpenBytes(data, "table")
		if err == nil {
			err = r.Verify(context.Background(), nil)
		}
		if err != nil || r.NumDocs() != format.LeastSegments {
			t.Errorf("%v: %v", p.Layout, err)
		}
		if _, err := write(format.MaxSections); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%v: %d segments: %v", p.Layout, format.MaxSections, err)
		}
	}
}

// TestMaxDocsOfParams checks the limit, which comes from document numbers or from segments.
func TestMaxDocsOfParams(t *testing.T) {
	for _, c := range []struct {
		sketch uint32
		min    float64
		want   int64
	}{
		{0, 0, MaxDocs},
		{128, 0.65, format.LeastSegments << 19},                     // 45 postings a document
		{MaxSketch, 0.65, format.LeastSegments * (1 << 26 / 22938)}, // a segment has 2^26 postings
	} {
		p := testParams
		p.Sketch, p.MinJaccard = c.sketch, c.min
		if got := p.MaxDocs(); got != c.want {
			t.Errorf("sketches of %d hashes: %d documents, want %d", c.sketch, got, c.want)
		}
	}
}
