package table

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keytest"
	"github.com/simdb/simdb/internal/table/internal/merge"
	"github.com/simdb/simdb/internal/table/internal/sketchidx"
	"github.com/simdb/simdb/minhash"
)

// sketchTable returns a table of three segments.
func sketchTable(t *testing.T, n int) ([]byte, []Document) {
	docs := testDocs(rand.New(rand.NewPCG(63, 64)), n)
	data, _ := buildTable(t, testParams, WriterOptions{Hot: hotOf(docs), SegmentDocs: (n + 2) / 3}, docs)
	return data, docs
}

// TestVerifyComparesSketches changes bitmaps, postings and hot hashes, and makes all checksums
// right.
func TestVerifyComparesSketches(t *testing.T) {
	data, _ := sketchTable(t, 900)
	r := openTable(t, bytes.Clone(data))
	if err := r.Verify(t.Context(), nil); err != nil || r.t.NumSegments() != 3 {
		t.Fatalf("%d segments, %v", r.t.NumSegments(), err)
	}
	hot := r.t.Section(format.KindHot, 0)
	cases := map[string]struct {
		section string
		at      int64
		mask    byte
	}{
		"a bit of a bitmap":       {"bitmaps 1", r.t.Section(format.KindBitmaps, 1).Offset + 777, 4},
		"a posting":               {"postings 2", firstKey(r, format.KindPostings, 2), 1},
		"how hot hashes are":      {"postings 0", hot.Offset + 4, 0x80},
		"which hash is the least": {"postings", hot.Offset, 1},
		"no document is hot":      {"hot", hot.Offset + 4, data[hot.Offset+4]},
		"order of hot hashes":     {"hot", hot.Offset + 3, 0xff},
	}
	for name, c := range cases {
		damaged := bytes.Clone(data)
		damaged[c.at] ^= c.mask
		reseal(r, damaged)
		spoiled, err := OpenBytes(damaged, "test.sst")
		if err == nil {
			err = spoiled.Verify(t.Context(), nil)
		}
		var corrupt *base.CorruptionError
		if !errors.As(err, &corrupt) || !strings.HasPrefix(corrupt.Section, c.section) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// firstKey returns the offset of the first packed key of a key run, or value of a column.
func firstKey(r *Reader, kind Kind, index uint16) int64 {
	return r.t.Section(kind, index).Offset + keytest.FirstKey(r.t.Bytes(r.t.Section(kind|format.DirFlag, index)))
}

// firstValue returns the offset of the first value of a key run with values.
func firstValue(r *Reader, kind Kind, index uint16) int64 {
	return r.t.Section(kind, index).Offset + keytest.FirstValue(r.t.Bytes(r.t.Section(kind|format.DirFlag, index)))
}

// TestSketchSections has tables whose directory is inconsistent about sketches.
func TestSketchSections(t *testing.T) {
	data, _ := sketchTable(t, 300)
	change := func(kind Kind, index uint16, f func(*Section)) func([]Section, int64) []Section {
		return func(s []Section, _ int64) []Section {
			for i := range s {
				if s[i].Kind == kind && s[i].Index == index {
					f(&s[i])
				}
			}
			return s
		}
	}
	for name, edit := range map[string]func([]Section, int64) []Section{
		"one more document in a segment":   change(format.KindBitmaps, 1, func(s *Section) { s.Count++ }),
		"one document less in a segment":   change(format.KindBitmaps, 2, func(s *Section) { s.Count-- }),
		"a segment of 2^64-1 documents":    change(format.KindBitmaps, 0, func(s *Section) { s.Count = 1<<64 - 1 }),
		"one posting more":                 change(format.KindPostings, 1, func(s *Section) { s.Count++ }),
		"one hot hash more":                change(format.KindHot, 0, func(s *Section) { s.Count++ }),
		"hot hashes that overflow":         change(format.KindHot, 0, func(s *Section) { s.Count += 1 << 61 }),
		"a segment that does not follow":   change(format.KindBitmaps, 1, func(s *Section) { s.Index = 7 }),
		"postings without bitmaps":         change(format.KindBitmaps, 2, func(s *Section) { s.Kind, s.Optional = format.KindUnknown, true }),
		"bitmaps without postings":         change(format.KindPostings, 2, func(s *Section) { s.Kind, s.Optional = format.KindUnknown, true }),
		"a directory of sketches too many": change(format.KindHot, 0, func(s *Section) { s.Kind = format.KindSketches }),
	} {
		if _, err := OpenBytes(withSections(t, data, edit), "test.sst"); !errors.Is(err, base.ErrCorruption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p, info, err := format.ParseFooter(data, "test.sst", false)
	if err != nil {
		t.Fatal(err)
	}
	p.Sketch = 0
	last := info.Sections[len(info.Sections)-1]
	end := format.Align(last.Offset + last.Length)
	without := format.AppendFooter(slices.Clone(data[:end]), end, p, &info)
	if _, err := OpenBytes(without, "test.sst"); !errors.Is(err, base.ErrCorruption) {
		t.Errorf("sections of sketches in a table without: %v", err)
	}
}

// TestUnalignedBitmaps opens a table whose bitmaps cannot be read in place.
func TestUnalignedBitmaps(t *testing.T) {
	data, docs := sketchTable(t, 400)
	r := openTable(t, append(make([]byte, 1, len(data)+1), data...)[1:])
	var s JaccardSearcher
	for _, d := range docs[:20] {
		checkJaccard(t, r, docs, d.Sketch, &s)
	}
}

// TestSegmentByPostings has sketches so large that the number of postings ends a segment.
func TestSegmentByPostings(t *testing.T) {
	exhaustive.Sequential(t)
	p := testParams
	p.Sketch, p.MinJaccard = MaxSketch, 0
	rng := rand.New(rand.NewPCG(65, 66))
	docs := make([]Document, 4)
	for i := range docs {
		s := make([]uint32, MaxSketch-i)
		for j := range s {
			s[j] = uint32(j*40000) + rng.Uint32N(20000)
		}
		docs[i] = Document{ID: []byte{byte('a' + i)}, HasFingerprint: true, Fingerprint: uint64(i), Sketch: s}
	}
	var buf bytes.Buffer
	w, err := NewWriter(&buf, p, WriterOptions{SegmentPostings: 3 * MaxSketch})
	if err != nil {
		t.Fatal(err)
	}
	for i := range docs {
		if err := w.Add(&docs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := openTable(t, buf.Bytes())
	if first := r.t.Section(format.KindBitmaps, 0).Count; r.t.NumSegments() != 2 || first != 3 {
		t.Errorf("%d segments, the first of %d documents", r.t.NumSegments(), first)
	}
	checkReader(t, r, p, docs)
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
	var s JaccardSearcher
	checkJaccard(t, r, docs, docs[2].Sketch, &s)
}

func TestEachSketch(t *testing.T) {
	data, docs := sketchTable(t, 500)
	r := openTable(t, data)
	next := 0
	err := r.EachSketch(func(doc uint32, sketch []uint32) error {
		for len(docs[next].Sketch) == 0 {
			next++
		}
		if int(doc) != next || !slices.Equal(sketch, docs[next].Sketch) {
			t.Fatalf("document %d: %v, want %d: %v", doc, sketch, next, docs[next].Sketch)
		}
		next++
		return nil
	})
	if err != nil || len(slices.DeleteFunc(docs[next:], func(d Document) bool { return len(d.Sketch) == 0 })) > 0 {
		t.Errorf("ended at %d of %d: %v", next, len(docs), err)
	}
	stop := errors.New("stop")
	if err := r.EachSketch(func(uint32, []uint32) error { return stop }); err != stop {
		t.Errorf("%v, want what the function returned", err)
	}
}

// TestConcurrentJaccard serves the race detector: many goroutines read blocks, and need the order
// of hashes, for the first time.
func TestConcurrentJaccard(t *testing.T) {
	data, docs := sketchTable(t, 2000)
	r := openTable(t, data)
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(67, g))
			s := JaccardSearcher{s: sketchidx.Searcher{ForcePostings: true}}
			for range 200 {
				q := minhash.Sketch(docs[rng.IntN(len(docs))].Sketch)
				hits, err := s.Jaccard(r, JaccardQuery{Sketch: q, T: 0.7}, nil)
				if want := len(bruteJaccard(docs, q, 128, 0.7)); err != nil || len(hits) != want {
					t.Errorf("%d hits, want %d, %v", len(hits), want, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestSketchesCutWhileOpen truncates a mapped file.
func TestSketchesCutWhileOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file can't be cut there")
	}
	data, docs := sketchTable(t, 3000)
	path := filepath.Join(t.TempDir(), "a.sst")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	r := openPath(t, path)
	defer r.Close()
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	s := JaccardSearcher{s: sketchidx.Searcher{ForcePostings: true}}
	last := len(docs) - 1
	for len(docs[last].Sketch) == 0 {
		last--
	}
	_, postings := s.Jaccard(r, JaccardQuery{Sketch: docs[last].Sketch, T: 0.8}, nil)
	_, scan := s.Jaccard(r, JaccardQuery{Sketch: docs[last].Sketch, T: 0.3}, nil)
	_, sketch := r.Sketch(uint32(last), nil)
	_, plan := s.JaccardPlan(r, JaccardQuery{Sketch: docs[last].Sketch, T: 0.8})
	_, hot := merge.MergedHot(context.Background(), tablesOf([]*Reader{r}))
	for op, err := range map[string]error{
		"Jaccard": postings, "scan": scan, "Sketch": sketch, "JaccardPlan": plan, "MergedHot": hot,
		"EachSketch": r.EachSketch(func(uint32, []uint32) error { return nil }),
	} {
		var c *base.CorruptionError
		if !errors.As(err, &c) || c.Offset < 4096 {
			t.Errorf("%s of a file that was cut: %v", op, err)
		}
	}
}

// TestDamagedSketch has sketches with invalid encodings and counts, in blocks with good checksums.
func TestDamagedSketch(t *testing.T) {
	docs := []Document{{ID: []byte("a"), HasFingerprint: true, Sketch: []uint32{1, 2, 3}}}
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	r := openTable(t, bytes.Clone(data))
	off, length := r.t.Sketches.List().Extent(0)
	at := r.t.Blocks().Offset + int64(off)
	for name, change := range map[string]func(block []byte){
		"low bits": func(b []byte) { b[1] = 40 },
		"count":    func(b []byte) { b[0] = 2 },
		"no hash":  func(b []byte) { b[0] = 0 },
	} {
		damaged := bytes.Clone(data)
		change(damaged[at:][:length])
		reseal(r, damaged)
		spoiled := openTable(t, damaged)
		var corrupt *base.CorruptionError
		if s, err := spoiled.Sketch(0, nil); !errors.As(err, &corrupt) || corrupt.Section != "sketches" || len(s) > 0 {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}
