package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// mergeShape is a kind of documents to test merges with.
type mergeShape struct {
	name        string
	fingerprint func(r *rand.Rand) uint64
	bare        int // one document in this many has no fingerprint; 0: all have one
	seqs        func(r *rand.Rand, input, i int) uint64
	times       func(r *rand.Rand, seq uint64) int64
	text        func(r *rand.Rand, id string) string
	sketches    int                              // one document in this many has a sketch; 0: none
	rest        func(r *rand.Rand, i int) uint64 // word i of fingerprints after the first
	words       uint32
}

var mergeShapes = []mergeShape{
	{
		name: "uniform", fingerprint: func(r *rand.Rand) uint64 { return r.Uint64() },
		seqs:  func(r *rand.Rand, input, i int) uint64 { return uint64(100000*input + i) },
		times: func(r *rand.Rand, seq uint64) int64 { return int64(1e15 + 3*seq) },
		text:  func(r *rand.Rand, id string) string { return strings.Repeat("text of "+id+". ", r.IntN(20)) },
	},
	{
		name: "few fingerprints", fingerprint: func(r *rand.Rand) uint64 { return r.Uint64N(50) << 40 }, bare: 10,
		seqs:  func(r *rand.Rand, input, i int) uint64 { return r.Uint64N(1e6) },
		times: func(r *rand.Rand, seq uint64) int64 { return r.Int64() - 1<<62 },
		text: func(r *rand.Rand, id string) string {
			return strings.Repeat(fmt.Sprint(id, r.Uint64()), r.IntN(9))
		},
		sketches: 2,
	},
	{
		name: "one fingerprint", fingerprint: func(r *rand.Rand) uint64 { return ^uint64(0) },
		seqs:     func(r *rand.Rand, input, i int) uint64 { return 7 },
		times:    func(r *rand.Rand, seq uint64) int64 { return 9 },
		text:     func(r *rand.Rand, id string) string { return "" },
		sketches: 1,
	},
	{
		name: "hot", fingerprint: func(r *rand.Rand) uint64 {
			if r.IntN(3) == 0 {
				return r.Uint64()
			}
			return 1<<63 | r.Uint64N(1<<14)
		}, bare: 100,
		seqs:  func(r *rand.Rand, input, i int) uint64 { return uint64(10*i + input) },
		times: func(r *rand.Rand, seq uint64) int64 { return -int64(seq) },
		text:  func(r *rand.Rand, id string) string { return "text" },
	},
	{
		name: "wide", fingerprint: func(r *rand.Rand) uint64 { return r.Uint64N(500) << 40 }, bare: 100,
		words: 4, rest: func(r *rand.Rand, i int) uint64 { return []uint64{r.Uint64(), 7, r.Uint64N(9) << 50}[i] },
		seqs:  func(r *rand.Rand, input, i int) uint64 { return uint64(10*i + input) },
		times: func(r *rand.Rand, seq uint64) int64 { return -int64(seq) },
		text:  func(r *rand.Rand, id string) string { return "text" },
	},
}

// params returns the parameters of tables of the shape.
func (s *mergeShape) params() Params {
	p := mergeParams
	p.Words = s.words
	return p
}

// docs returns n documents of one input, in the order of a table.
func (s *mergeShape) docs(r *rand.Rand, input, n int) []Document {
	docs := make([]Document, n)
	for i := range docs {
		d := &docs[i]
		d.ID = fmt.Appendf(nil, "%d-%d", input, i)
		if s.bare == 0 || r.IntN(s.bare) > 0 {
			d.HasFingerprint, d.Fingerprint = true, s.fingerprint(r)
			for i := 1; i < int(s.words); i++ {
				d.Rest = append(d.Rest, s.rest(r, i-1))
			}
		}
		d.Seq = s.seqs(r, input, i)
		if d.Time = s.times(r, d.Seq); input%3 == 1 && i%2 == 0 {
			d.Expires = d.Time/2 + 7
		}
		if text := s.text(r, string(d.ID)); text != "" {
			d.Text, d.Fields = []byte(text), []byte(`{"a":1}`)
		}
		if s.sketches > 0 && r.IntN(s.sketches) == 0 {
			for range 1 + r.IntN(8) {
				d.Sketch = append(d.Sketch, r.Uint32N(5000))
			}
			slices.Sort(d.Sketch)
			d.Sketch = slices.Compact(d.Sketch)
		}
	}
	return sortedDocs(docs)
}

var mergeParams = Params{Tokenizer: 1, Shingle: 3, Hash: 1, Sketch: 8, MinJaccard: 0.65, Layout: DefaultLayout, StoreText: true}

// drops are ways to choose the documents to leave out.
var drops = map[string]func(r *rand.Rand, d *Document) bool{
	"none":    nil,
	"few":     func(r *rand.Rand, d *Document) bool { return r.IntN(20) == 0 },
	"most":    func(r *rand.Rand, d *Document) bool { return r.IntN(20) > 0 },
	"all":     func(r *rand.Rand, d *Document) bool { return true },
	"odd":     func(r *rand.Rand, d *Document) bool { return d.Fingerprint>>40&1 == 1 },
	"in runs": func(r *rand.Rand, d *Document) bool { return d.Seq/500%2 == 1 },
}

// TestMerge merges tables of all shapes and checks every document of the result, and again after
// merging the result with more tables.
func TestMerge(t *testing.T) {
	layouts := []Layout{{Blocks: 4, Lead: 1}, {Blocks: 2, Lead: 1}, {Blocks: 3, Lead: 1}, {Blocks: 5, Lead: 2}, {Blocks: 4, Lead: 0}}
	options, names := []MergeOptions{{Workers: 1}, {Workers: 4, Piece: 1024, Sorted: 2048}, {Workers: 2, Piece: 1}}, slices.Sorted(maps.Keys(drops))
	for c := range exhaustive.Some(t, 2, len(mergeShapes)*len(names)*len(options)) {
		si, name, o := c/len(options)/len(names), names[c/len(options)%len(names)], options[c%len(options)]
		shape, drop := &mergeShapes[si], drops[name]
		t.Run(fmt.Sprintf("%s/%s/%d", shape.name, name, o.Piece), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(si), uint64(len(name)+o.Piece)))
			m := merging{t: t, r: r, drop: drop, o: o}
			for i := range 1 + r.IntN(5) {
				docs := shape.docs(r, i, []int{0, 1, 1500, 300, 511 + r.IntN(3)}[r.IntN(5)])
				p := shape.params()
				p.Layout = layouts[r.IntN(len(layouts))]
				if r.IntN(3) > 0 {
					p.Layout = DefaultLayout
				}
				m.add(p, docs, uint64(r.IntN(2))*uint64(r.Int64N(1e6)))
			}
			p := shape.params()
			p.Layout = layouts[r.IntN(len(layouts))]
			merged := m.merge(p)
			again := merging{t: t, r: r, drop: drops["few"], o: o}
			again.addMerged(merged, m.want())
			again.add(shape.params(), shape.docs(r, 99, 400), 0)
			again.merge(p)
		})
	}
}

// merging is a merge under test.
type merging struct {
	t      *testing.T
	r      *rand.Rand
	drop   func(r *rand.Rand, d *Document) bool
	o      MergeOptions
	inputs []MergeInput
	docs   [][]Document
	left   []map[uint32]bool
}

func (m *merging) add(p Params, docs []Document, shift uint64) {
	data, _ := buildTable(m.t, p, WriterOptions{BlockSize: 1 + m.r.IntN(4000), SegmentDocs: 300}, docs)
	m.addTable(openTable(m.t, data), docs, shift)
}

func (m *merging) addMerged(r *Reader, docs []Document) { m.addTable(r, docs, 0) }

func (m *merging) addTable(r *Reader, docs []Document, shift uint64) {
	left := map[uint32]bool{}
	in := MergeInput{Reader: r, SeqShift: shift}
	if m.drop != nil {
		for doc := range docs {
			if m.drop(m.r, &docs[doc]) {
				left[uint32(doc)] = true
			}
		}
		in.Keep = func(doc uint32) (bool, error) { return !left[doc], nil }
	}
	m.inputs, m.docs, m.left = append(m.inputs, in), append(m.docs, docs), append(m.left, left)
}

// want returns the expected documents of the result, in its order.
func (m *merging) want() []Document {
	var want []Document
	for i, docs := range m.docs {
		for doc, d := range docs {
			if !m.left[i][uint32(doc)] {
				d.Seq += m.inputs[i].SeqShift
				want = append(want, d)
			}
		}
	}
	return sortedDocs(want)
}

// merge merges the inputs and checks the result.
func (m *merging) merge(p Params) *Reader {
	m.t.Helper()
	var buf bytes.Buffer
	m.o.SegmentDocs = 256
	info, renumber, err := Merge(m.t.Context(), &buf, p, m.inputs, m.o)
	if err != nil {
		m.t.Fatal(err)
	}
	r := openTable(m.t, buf.Bytes())
	if err := r.Verify(m.t.Context(), nil); err != nil {
		m.t.Fatal(err)
	}
	want := m.want()
	checkReader(m.t, r, p, want)
	if info.Docs != uint32(len(want)) {
		m.t.Fatalf("%d documents, not %d", info.Docs, len(want))
	}
	var got Document
	for i := range m.inputs {
		for doc := range m.docs[i] {
			number, kept := renumber.New(i, uint32(doc))
			if kept == m.left[i][uint32(doc)] {
				m.t.Fatalf("document %d of input %d is kept: %t", doc, i, kept)
			}
			if kept {
				if err := r.Document(number, &got); err != nil || !bytes.Equal(got.ID, m.docs[i][doc].ID) {
					m.t.Fatalf("document %d of input %d is %d, which is %q, %v; not %q", doc, i, number, got.ID, err, m.docs[i][doc].ID)
				}
			}
		}
	}
	return r
}

// TestMergeBytes merges with several numbers of goroutines and sizes of pieces: the result must be
// the same to the byte.
func TestMergeBytes(t *testing.T) {
	for si := range mergeShapes {
		var first []byte
		for _, o := range []MergeOptions{{Workers: 1}, {Workers: 2}, {Workers: 3, Piece: 1000, Sorted: 1024}, {Workers: 8, Piece: 1}} {
			m := merging{t: t, r: rand.New(rand.NewPCG(5, 6)), drop: drops["few"], o: o}
			for i := range 4 {
				m.add(mergeShapes[si].params(), mergeShapes[si].docs(m.r, i, 2000), 0)
			}
			var buf bytes.Buffer
			if _, _, err := Merge(t.Context(), &buf, mergeShapes[si].params(), m.inputs, m.o); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = buf.Bytes()
			} else if !bytes.Equal(first, buf.Bytes()) {
				t.Errorf("%s: other bytes with %+v", mergeShapes[si].name, o)
			}
		}
	}
}

// TestMergeStops ends merges early: by the context, by an error of Keep, and by damage.
func TestMergeStops(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	m := merging{t: t, r: r}
	m.add(mergeParams, mergeShapes[0].docs(r, 0, 3000), 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Merge(ctx, &bytes.Buffer{}, mergeParams, m.inputs, MergeOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := errors.New("broken")
	in := m.inputs[0]
	in.Keep = func(doc uint32) (bool, error) { return doc < 2000, map[bool]error{true: broken}[doc == 2500] }
	if _, _, err := Merge(t.Context(), &bytes.Buffer{}, mergeParams, []MergeInput{in}, MergeOptions{}); !errors.Is(err, broken) {
		t.Errorf("broken: %v", err)
	}
	other := mergeParams
	other.Shingle++
	if _, _, err := Merge(t.Context(), &bytes.Buffer{}, other, m.inputs, MergeOptions{}); err == nil || !strings.Contains(err.Error(), "shingle 3, not 4") {
		t.Errorf("other parameters: %v", err)
	}
}

// TestMergeNoticesDamage flips bytes of a table: a merge must fail, or give the same result as with
// the intact table.
func TestMergeNoticesDamage(t *testing.T) {
	for _, shape := range []*mergeShape{&mergeShapes[1], &mergeShapes[len(mergeShapes)-1]} {
		t.Run(shape.name, func(t *testing.T) { mergeDamaged(t, shape) })
	}
}

// mergeDamaged is TestMergeNoticesDamage for one shape.
func mergeDamaged(t *testing.T, shape *mergeShape) {
	r := rand.New(rand.NewPCG(4, 2))
	docs := shape.docs(r, 0, 700)
	data, _ := buildTable(t, shape.params(), WriterOptions{BlockSize: 500, SegmentDocs: 300}, docs)
	more, _ := buildTable(t, shape.params(), WriterOptions{}, shape.docs(r, 1, 100))
	merged := func(data []byte) ([]byte, error) {
		table, err := OpenBytes(data, "damaged.sst")
		if err != nil {
			return nil, err
		}
		var buf bytes.Buffer
		keep := func(doc uint32) (bool, error) { return doc%50 > 0, nil }
		_, _, err = Merge(t.Context(), &buf, shape.params(), []MergeInput{{Reader: table, Keep: keep}, {Reader: openTable(t, more)}}, MergeOptions{Workers: 1})
		return buf.Bytes(), err
	}
	want, err := merged(data)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for at := range exhaustive.Every(t, 200).Of(len(data)) {
		damaged := bytes.Clone(data)
		damaged[at] ^= 1 << rand.New(rand.NewPCG(4, uint64(at))).IntN(8)
		got, err := merged(damaged)
		if err != nil {
			failed++
			if !errors.Is(err, ErrCorruption) && !errors.Is(err, ErrUnsupported) {
				t.Fatalf("byte %d: %v", at, err)
			}
			continue
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("byte %d of %d is flipped, and the result is another", at, len(data))
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}
