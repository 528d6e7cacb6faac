package sstable

import (
	"bytes"
	"encoding/binary"
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
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/minhash"
	"github.com/simdb/simdb/sstable/internal/keyrun"
)

// sketchTable returns a table of three segments.
func sketchTable(t *testing.T, n int) ([]byte, []Document) {
	docs := testDocs(rand.New(rand.NewPCG(63, 64)), n)
	data, _ := buildTable(t, testParams, WriterOptions{Hot: hotOf(docs), segmentDocs: (n + 2) / 3}, docs)
	return data, docs
}

// TestVerifyComparesSketches changes what is made from sketches, and makes all checksums right again.
func TestVerifyComparesSketches(t *testing.T) {
	data, _ := sketchTable(t, 900)
	r := openTable(t, bytes.Clone(data))
	x := r.sketches
	if err := r.Verify(t.Context(), nil); err != nil || len(x.segments) != 3 {
		t.Fatalf("%d segments, %v", len(x.segments), err)
	}
	hot := r.section(KindHot, 0)
	cases := map[string]struct {
		section string
		at      int64
		mask    byte
	}{
		"a bit of a bitmap":       {"bitmaps 1", x.segments[1].bitmaps.off + 777, 4},
		"a posting":               {"postings 2", r.section(KindPostings, 2).Offset + firstValue(&x.segments[2].postings.Dir), 1},
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

// firstValue returns the offset of the first packed value of a key run or a column in its section.
func firstValue(d *keyrun.Dir) int64 {
	in := d.Info(0)
	return int64(in.Off + 8*in.High)
}

// TestSketchSections has tables whose directory disagrees about sketches.
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
		"one more document in a segment":   change(KindBitmaps, 1, func(s *Section) { s.Count++ }),
		"one document less in a segment":   change(KindBitmaps, 2, func(s *Section) { s.Count-- }),
		"a segment of 2^64-1 documents":    change(KindBitmaps, 0, func(s *Section) { s.Count = 1<<64 - 1 }),
		"one posting more":                 change(KindPostings, 1, func(s *Section) { s.Count++ }),
		"one hot hash more":                change(KindHot, 0, func(s *Section) { s.Count++ }),
		"hot hashes that overflow":         change(KindHot, 0, func(s *Section) { s.Count += 1 << 61 }),
		"a segment that does not follow":   change(KindBitmaps, 1, func(s *Section) { s.Index = 7 }),
		"postings without bitmaps":         change(KindBitmaps, 2, func(s *Section) { s.Kind, s.Optional = kindUnknown, true }),
		"bitmaps without postings":         change(KindPostings, 2, func(s *Section) { s.Kind, s.Optional = kindUnknown, true }),
		"a directory of sketches too many": change(KindHot, 0, func(s *Section) { s.Kind = KindSketches }),
	} {
		if _, err := OpenBytes(withSections(t, data, edit), "test.sst"); !errors.Is(err, base.ErrCorruption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p, info, err := parseFooter(data, "test.sst")
	if err != nil {
		t.Fatal(err)
	}
	p.Sketch = 0
	last := info.Sections[len(info.Sections)-1]
	end := align(last.Offset + last.Length)
	without := appendFooter(slices.Clone(data[:end]), end, p, &info)
	if _, err := OpenBytes(without, "test.sst"); !errors.Is(err, base.ErrCorruption) {
		t.Errorf("sections of sketches in a table without: %v", err)
	}
}

// TestUnalignedBitmaps opens a table where bitmaps can't be read in place.
func TestUnalignedBitmaps(t *testing.T) {
	data, docs := sketchTable(t, 400)
	r := openTable(t, append(make([]byte, 1, len(data)+1), data...)[1:])
	if r.sketches.segments[0].bitmaps.direct != nil {
		t.Error("bitmaps at an odd address are read in place")
	}
	var s JaccardScratch
	for _, d := range docs[:20] {
		checkJaccard(t, r, docs, d.Sketch, &s)
	}
}

// TestSegmentByPostings has sketches so large that the number of postings ends a segment.
func TestSegmentByPostings(t *testing.T) {
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
	w, err := NewWriter(&buf, p, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.sketches.most = 3 * MaxSketch
	for i := range docs {
		if err := w.Add(&docs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := openTable(t, buf.Bytes())
	if len(r.sketches.segments) != 2 || r.sketches.segments[0].bitmaps.len() != 3 {
		t.Errorf("%d segments, the first of %d documents", len(r.sketches.segments), r.sketches.segments[0].bitmaps.len())
	}
	checkReader(t, r, p, docs)
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
	var s JaccardScratch
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

// TestConcurrentJaccard is for the race detector: blocks, and the order of hashes, are first needed by many goroutines.
func TestConcurrentJaccard(t *testing.T) {
	data, docs := sketchTable(t, 2000)
	r := openTable(t, data)
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(67, g))
			s := JaccardScratch{eager: true}
			for range 200 {
				q := minhash.Sketch(docs[rng.IntN(len(docs))].Sketch)
				hits, err := r.Jaccard(q, 0.7, &s, nil)
				if want := len(bruteJaccard(docs, q, 128, 0.7)); err != nil || len(hits) != want {
					t.Errorf("%d hits, want %d, %v", len(hits), want, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestSketchesCutWhileOpen takes the end of a mapped file away.
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
	s := JaccardScratch{eager: true}
	last := len(docs) - 1
	for len(docs[last].Sketch) == 0 {
		last--
	}
	_, postings := r.Jaccard(docs[last].Sketch, 0.8, &s, nil)
	_, scan := r.Jaccard(docs[last].Sketch, 0.3, &s, nil)
	_, sketch := r.Sketch(uint32(last), nil)
	_, plan := r.JaccardPlan(docs[last].Sketch, 0.8, &s)
	_, hot := MergedHot(r)
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

// TestDamagedSketch has a sketch of more hashes than there may be, and one that is not one, in intact blocks.
func TestDamagedSketch(t *testing.T) {
	docs := []Document{{ID: []byte("a"), HasFingerprint: true, Sketch: []uint32{1, 2, 3}}}
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	r := openTable(t, bytes.Clone(data))
	off, length := r.sketches.sketches.Extent(0)
	at := r.blocks().Offset + int64(off)
	for name, change := range map[string]func(block []byte){
		"low bits": func(b []byte) { b[3] = 40 },
		"count":    func(b []byte) { b[2] = 2 },
		"end":      func(b []byte) { binary.LittleEndian.PutUint16(b, 1) },
		"no hash":  func(b []byte) { b[2] = 0 },
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

// TestTally compares counting in several portions with a map.
func TestTally(t *testing.T) {
	rng := rand.New(rand.NewPCG(69, 70))
	var all tally
	want := map[uint32]uint32{}
	for i := range 50_000 {
		h := rng.Uint32N(1+rng.Uint32N(20_000)) * 7
		all.add(h)
		want[h]++
		if rng.IntN(5000) == 0 || i == 49_999 {
			all.merge()
		}
	}
	if err := checkHot(all.counts); err != nil || len(all.counts) != len(want) {
		t.Errorf("%d hashes, want %d, %v", len(all.counts), len(want), err)
	}
	for _, h := range all.counts {
		if h.Documents != want[h.Hash] {
			t.Errorf("%v, want %d", h, want[h.Hash])
		}
	}
}

// TestRepeatedPostings has a hash with more postings than there are documents.
func TestRepeatedPostings(t *testing.T) {
	keys := make([]uint64, 3000)
	for i := range keys {
		keys[i] = 5 << 4
	}
	section := keyrun.Append(make([]byte, 0, 1<<16), keys)
	run, err := keyrun.Open(section, "test.sst", "postings 0", 0)
	if err != nil {
		t.Fatal(err)
	}
	p := newPostings(run, 16)
	var room kernel.Keys
	if docs, err := p.documents(p.find(5), &room, nil); !errors.Is(err, base.ErrCorruption) || len(docs) > 0 {
		t.Errorf("%d documents, %v", len(docs), err)
	}
	if docs, err := p.documents(p.find(4), &room, nil); err != nil || len(docs) > 0 {
		t.Errorf("%d documents of a hash without, %v", len(docs), err)
	}
}
