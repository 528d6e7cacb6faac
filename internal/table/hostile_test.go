package table

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/hamming"
	"github.com/simdb/simdb/internal/table/internal/keytest"
)

// answer is the result of one operation.
type answer struct {
	op, result string
	err        error
}

// exercise calls everything that reads a table. It looks up ids and searches for queries.
func exercise(r *Reader, ids []string, queries []uint64) []answer {
	var all []answer
	add := func(op string, err error, result string) { all = append(all, answer{op, result, err}) }
	var d Document
	for i := range min(r.NumDocs(), 2000) {
		err := r.Document(i, &d)
		add("Document", err, show(i, &d))
		id, err1 := r.ID(i)
		fp, ok, err2 := r.Fingerprint(i)
		at, err3 := r.Time(i)
		seq, err4 := r.Seq(i)
		sketch, err5 := r.Sketch(i, nil)
		rest, err6 := r.AppendRest(nil, i)
		single := Document{Sketch: sketch, ID: id, HasFingerprint: ok, Fingerprint: fp, Rest: rest, Time: at, Seq: seq}
		add("fields", cmp.Or(err6, err1, err2, err3, err4, err5), show(i, &single))
	}
	for _, id := range ids {
		doc, found, err := r.Lookup([]byte(id))
		add("Lookup", err, fmt.Sprint(id, doc, found))
	}
	var s NearSearcher
	for _, q := range queries {
		for _, k := range []int{0, 3, 7, 64} {
			var hits []Hit
			err := s.NearGroup([]*Reader{r}, wideOf(q, r.Params().NumWords()), k, func(_ int, found []Hit, _ NearStats) error {
				hits = slices.Clone(found)
				return nil
			})
			slices.SortFunc(hits, func(a, b hamming.Hit) int { return cmp.Compare(a.Doc, b.Doc) })
			result := strconv.AppendUint(strconv.AppendInt(nil, int64(k), 10), q, 16)
			for _, h := range hits {
				result = binary.LittleEndian.AppendUint32(result, h.Doc)
				result = binary.LittleEndian.AppendUint64(append(result, byte(h.Distance)), h.Fingerprint)
			}
			add("Near", err, string(result))
			s.Plan(r, wideOf(q, r.Params().NumWords()), k)
		}
	}
	err := r.FingerprintBlocks(func(first uint32, fps []uint64) error {
		add("FingerprintBlocks", nil, fmt.Sprint(first, fps))
		return nil
	})
	add("fingerprints", err, strconv.Itoa(int(r.NumFingerprints())))
	common := 0
	err = EachCommonID(r, r, func(uint32, uint32) error { common++; return nil })
	add("EachCommonID", err, strconv.Itoa(common))
	var hashes []uint64
	err = r.IDHashBlocks(func(block []uint64) error { hashes = append(hashes, block...); return nil })
	if err != nil {
		hashes = nil
	}
	add("IDHashBlocks", err, fmt.Sprint(hashes))
	times, err := r.TimeSketch()
	add("TimeSketch", err, fmt.Sprint(times))
	note, err := r.Note()
	add("Note", err, string(note))
	add("Info", nil, fmt.Sprint(r.Info().Identity, r.Info().MinTime, r.Info().MaxTime, r.Info().MinSeq, r.Info().MaxSeq))
	exerciseSketches(r, add)
	set := testParams.NewSetHasher().Set([]byte("word7 word7 word7 word8"))
	for _, q := range []SetQuery{{Set: set, T: 0.1, Most: 1000}, {Set: set, T: 0.5, Within: true, Most: 1000}} {
		docs, _, ok, err := r.SetCandidates(nil, q)
		if err != nil {
			docs = nil
		}
		add("SetCandidates", err, fmt.Sprint(docs, ok))
	}
	for _, it := range []*Iter{r.Iter(), r.Entries()} {
		for range 2000 {
			if !it.Next() {
				break
			}
			add("Next", nil, show(it.Doc(), it.Document()))
		}
		add("iteration", it.Err(), strconv.Itoa(int(it.Doc())))
	}
	var out strings.Builder
	err = r.Describe(&out)
	add("Describe", err, out.String())
	return all
}

// exerciseSketches calls everything that reads sketches. Its queries do not depend on the table.
func exerciseSketches(r *Reader, add func(op string, err error, result string)) {
	var s JaccardSearcher
	rng := rand.New(rand.NewPCG(61, 62))
	for i := range 3 {
		q := testSketch(rng, []Document{{Sketch: []uint32{12345, 1 << 31}}})
		if i == 0 {
			q = []uint32{12345}
		}
		q = q[:min(len(q), int(r.Params().Sketch))] // damage may have changed Sketch
		for _, t := range []float64{0.02, 0.65} {
			hits, err := s.Jaccard(r, JaccardQuery{Sketch: q, T: t}, nil)
			slices.SortFunc(hits, func(a, b JaccardHit) int { return cmp.Compare(a.Doc, b.Doc) })
			add("Jaccard", err, fmt.Sprint(q, t, hits))
			s.JaccardPlan(r, JaccardQuery{Sketch: q, T: t})
		}
	}
	n := 0
	err := r.EachSketch(func(doc uint32, sketch []uint32) error {
		if n++; n < 2000 {
			add("EachSketch", nil, show(doc, &Document{Sketch: sketch}))
		}
		return nil
	})
	add("sketches", err, strconv.Itoa(n))
}

// show formats a document so that different documents look different.
func show(i uint32, d *Document) string {
	b := binary.LittleEndian.AppendUint32(nil, i)
	for _, n := range []uint64{uint64(len(d.ID)), uint64(len(d.Text)), uint64(len(d.Fields)), d.Fingerprint, uint64(d.Time), d.Seq} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(append(append(b, d.ID...), d.Text...), d.Fields...)
	for _, h := range d.Sketch {
		b = binary.LittleEndian.AppendUint32(b, h)
	}
	if d.HasFingerprint {
		b = fmt.Append(b, d.Rest)
	}
	return string(strconv.AppendBool(b, d.HasFingerprint))
}

// victim is a table to be damaged, with its correct answers.
type victim struct {
	data    []byte
	ids     []string
	queries []uint64
	want    map[string]bool // answers of the undamaged table
	more    *Reader         // a small table to merge with
}

func newVictim(t *testing.T, n int, o WriterOptions) *victim {
	t.Helper()
	docs := testDocs(rand.New(rand.NewPCG(13, uint64(n))), n)
	data, _ := buildTable(t, testParams, hostileOptions(o, docs), docs)
	return victimOf(t, data, docs)
}

// newMergedVictim returns a table of n documents that was merged from two, with some documents of
// the second left out. It has places of records, and copied blocks of records between others.
func newMergedVictim(t *testing.T, n int, o WriterOptions) *victim {
	t.Helper()
	data, docs := mergedTable(t, testParams, testDocs(rand.New(rand.NewPCG(17, uint64(n))), n+n/10), n/10, o)
	return victimOf(t, data, docs)
}

// newWideVictim is newMergedVictim with fingerprints of four words.
func newWideVictim(t *testing.T, n int, o WriterOptions) *victim {
	t.Helper()
	data, docs := mergedTable(t, wideParams, wideDocs(testDocs(rand.New(rand.NewPCG(17, uint64(n))), n+n/10)), n/10, o)
	return victimOf(t, data, docs)
}

// victims are the constructors of victims.
var victims = []func(*testing.T, int, WriterOptions) *victim{newVictim, newMergedVictim, newWideVictim}

// hostileOptions returns o with everything that a table may contain, so that all of that is
// damaged.
func hostileOptions(o WriterOptions, docs []Document) WriterOptions {
	o.Hot, o.SegmentDocs = hotOf(docs), len(docs)/2+1
	o.Note, o.Identity = []byte("what the owner keeps"), Identity{Database: [16]byte{1, 2, 3}, Number: 9, Created: 1 << 50}
	return o
}

// mergedTable deals docs to two tables in turn and merges these without the last dead documents of
// the second. It returns the merged table and its documents.
func mergedTable(t *testing.T, p Params, docs []Document, dead int, o WriterOptions) ([]byte, []Document) {
	t.Helper()
	var parts [2][]Document
	for i, d := range docs {
		parts[i%2] = append(parts[i%2], d)
	}
	var inputs []MergeInput
	var kept []Document
	for i, part := range parts {
		data, _ := buildTable(t, p, hostileOptions(o, part), part)
		in := MergeInput{Reader: openTable(t, data)}
		if i == 1 {
			part = part[:len(part)-dead]
			in.Keep = func(doc uint32) (bool, error) { return int(doc) < len(part), nil }
		}
		inputs, kept = append(inputs, in), append(kept, part...)
	}
	var out bytes.Buffer
	if _, _, err := Merge(t.Context(), &out, p, inputs, MergeOptions{WriterOptions: hostileOptions(o, kept)}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), sortedDocs(kept)
}

func victimOf(t *testing.T, data []byte, docs []Document) *victim {
	t.Helper()
	rng := rand.New(rand.NewPCG(13, uint64(len(docs))))
	v := &victim{data: data, ids: []string{"missing"}, want: map[string]bool{}}
	for _, d := range docs[:min(len(docs), 20)] {
		v.ids = append(v.ids, string(d.ID))
		v.queries = append(v.queries, d.Fingerprint^1<<rng.UintN(64))
	}
	r, others := openTable(t, v.data), testDocs(rand.New(rand.NewPCG(33, 34)), 5)
	if r.Params().Words > 0 {
		others = wideDocs(others)
	}
	other, _ := buildTable(t, r.Params(), WriterOptions{}, others)
	v.more = openTable(t, other)
	for _, a := range exercise(r, v.ids, v.queries) {
		if a.err != nil {
			t.Fatalf("undamaged: %s: %v", a.op, a.err)
		}
		v.want[a.op+a.result] = true
	}
	return v
}

// typed reports whether err is an error that damage may cause.
func typed(err error) bool {
	var c *base.CorruptionError
	return errors.As(err, &c) && c.File == "test.sst" && c.Section != "" || errors.Is(err, ErrUnsupported)
}

// try opens and exercises data; the format describes the damage. If honest is set, Verify must
// notice the damage, and every answer must be right or an error. Describe is exempt: it prints what
// the directories say, right or wrong.
func (v *victim) try(t *testing.T, data []byte, honest bool, format string, args ...any) {
	t.Helper()
	fail := func(f string, a ...any) {
		t.Helper()
		t.Fatalf("%s: %s", fmt.Sprintf(format, args...), fmt.Sprintf(f, a...))
	}
	defer func() {
		if p := recover(); p != nil {
			fail("panic: %v", p)
		}
	}()
	r, err := OpenBytes(data, "test.sst")
	if err != nil {
		if !typed(err) {
			fail("OpenBytes: %v", err)
		}
		return
	}
	defer r.Close()
	for _, a := range exercise(r, v.ids, v.queries) {
		if a.err != nil && !typed(a.err) {
			fail("%s: %v", a.op, a.err)
		}
		if a.err == nil && honest && a.op != "Describe" && !v.want[a.op+a.result] {
			fail("%s gave %.200s", a.op, a.result)
		}
	}
	err = r.Verify(t.Context(), nil)
	if err != nil && !typed(err) || err == nil && honest {
		fail("Verify: %v", err)
	}
}

func TestFlippedBytes(t *testing.T) {
	cases, masks := exhaustive.Every(t, 100), []byte{1, 2, 4, 8, 16, 32, 64, 128, 255, 0x55}
	for _, make := range victims {
		v := make(t, 12, WriterOptions{BlockSize: 300})
		for c := range cases.Of(len(v.data) * len(masks)) {
			i, m := c/len(masks), masks[c%len(masks)]
			v.data[i] ^= m
			v.try(t, v.data, true, "byte %d of %d flipped by %#x", i, len(v.data), m)
			v.data[i] ^= m
		}
	}
}

func TestFlippedBytesOfLargerTable(t *testing.T) {
	exhaustive.Sequential(t)
	for _, make := range victims {
		v := make(t, 1500, WriterOptions{BlockSize: 2000})
		for c := range exhaustive.Every(t, 4).Of(60) {
			rng := rand.New(rand.NewPCG(15, uint64(c)))
			i, m := rng.IntN(len(v.data)), byte(1+rng.UintN(255))
			v.data[i] ^= m
			v.try(t, v.data, true, "byte %d of %d flipped by %#x", i, len(v.data), m)
			v.data[i] ^= m
		}
	}
}

func TestTruncated(t *testing.T) {
	v := newVictim(t, 12, WriterOptions{BlockSize: 300})
	for n := range len(v.data) {
		if _, err := OpenBytes(v.data[:n:n], "test.sst"); !typed(err) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(v.data), err)
		}
	}
	for _, tail := range []string{"\x00", Magic, strings.Repeat("x", 64)} {
		if _, err := OpenBytes(append(slices.Clone(v.data), tail...), "test.sst"); !typed(err) {
			t.Fatalf("%q appended: %v", tail, err)
		}
	}
}

// forgedWords replace words of tables.
var forgedWords = []uint64{^uint64(0), 0, 1<<63 - 1, 1 << 32, 0x8080808080808080}

// TestForged changes words and makes every checksum right, as an attacker would: nothing may panic,
// and the memory allocated must be bounded by the size of the file.
func TestForged(t *testing.T) {
	for i := range 2 * len(victims) {
		n := []int{12, 600}[i%2]
		v := victims[i/2](t, n, WriterOptions{BlockSize: 300})
		r := openTable(t, slices.Clone(v.data))
		for c := range exhaustive.Every(t, 6*n).Of(len(v.data) / 8 * len(forgedWords)) {
			at, value := c/len(forgedWords)*8, forgedWords[c%len(forgedWords)]
			data := slices.Clone(v.data)
			binary.LittleEndian.PutUint64(data[at:], value)
			reseal(r, data)
			v.try(t, data, false, "word at %d of %d set to %#x", at, len(data), value)
		}
	}
}

// mergeOf merges a possibly damaged table, without some of its documents, with an intact one, and
// returns the merged table.
func mergeOf(t *testing.T, data []byte, more *Reader) (merged []byte, err error) {
	t.Helper()
	r, err := OpenBytes(data, "test.sst")
	if err != nil {
		return nil, err
	}
	if !r.Params().Compatible(more.Params()) {
		return nil, ErrUnsupported // Merge names the parameter that was changed
	}
	var out bytes.Buffer
	keep := func(doc uint32) (bool, error) { return doc%7 != 3, nil }
	o := MergeOptions{Workers: 1, WriterOptions: WriterOptions{SegmentDocs: 20}}
	_, _, err = Merge(t.Context(), &out, more.Params(), []MergeInput{{Reader: r, Keep: keep}, {Reader: more}}, o)
	return out.Bytes(), err
}

// TestMergeOfFlippedBytes flips every byte of tables in turn and merges them: a merge must fail, or
// give the same result as with the undamaged table.
func TestMergeOfFlippedBytes(t *testing.T) {
	for _, make := range victims {
		v := make(t, 12, WriterOptions{BlockSize: 300})
		want, err := mergeOf(t, v.data, v.more)
		if err != nil {
			t.Fatal(err)
		}
		for i := range exhaustive.Every(t, 12).Of(len(v.data)) {
			mask := byte(1) << (i % 8)
			v.data[i] ^= mask
			got, err := mergeOf(t, v.data, v.more)
			if err != nil && !typed(err) || err == nil && !bytes.Equal(got, want) {
				t.Fatalf("byte %d of %d flipped by %#x: another result, or %v", i, len(v.data), mask, err)
			}
			v.data[i] ^= mask
		}
	}
}

// TestMergeOfForged changes words of tables, makes every checksum right, and merges the tables: the
// result may be wrong, but must be a table, or an error that says what is damaged.
func TestMergeOfForged(t *testing.T) {
	for i := range 2 * len(victims) {
		n := []int{12, 600}[i%2]
		v := victims[i/2](t, n, WriterOptions{BlockSize: 300})
		r := openTable(t, slices.Clone(v.data))
		for c := range exhaustive.Every(t, 4*n).Of(len(v.data) / 8 * len(forgedWords)) {
			at, value := c/len(forgedWords)*8, forgedWords[c%len(forgedWords)]
			data := slices.Clone(v.data)
			binary.LittleEndian.PutUint64(data[at:], value)
			reseal(r, data)
			got, err := mergeOf(t, data, v.more)
			if err == nil {
				_, err = OpenBytes(got, "test.sst")
			}
			if err != nil && !typed(err) {
				t.Errorf("word at %d of %d set to %#x: %v", at, len(data), value, err)
			}
		}
	}
}

// TestOverlappingBlocks moves a block of records, and one of names, to the place of the block
// before it. If that were allowed, a small file could cause an unlimited amount of work.
func TestOverlappingBlocks(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(13, 600)), 600)
	for _, equal := range []bool{false, true} { // all blocks have equal sizes
		if equal {
			for i := range docs {
				docs[i].Text, docs[i].Fields = fmt.Appendf(nil, "%04d", i*7919%10000), nil
			}
		}
		good, _ := buildTable(t, testParams, WriterOptions{BlockSize: 300}, docs)
		for _, kind := range []Kind{KindRecords, format.KindNames} {
			data := slices.Clone(good)
			r := openTable(t, good)
			size := int64(blobs.RecordsEntry)
			if kind == format.KindNames {
				size = blobs.ListEntry
			}
			first := r.t.Section(kind, 0).Offset
			copy(data[first+size:], data[first:][:6])     // offset
			copy(data[first+size+8:], data[first+8:][:8]) // sizes
			if kind == format.KindNames {
				copy(data[first+size:], data[first:][:size])
			}
			reseal(r, data)
			r = openTable(t, data)
			it := r.Iter()
			for it.Next() {
			}
			var d Document
			err := r.Document(it.Doc(), &d)
			if e := r.Verify(t.Context(), nil); !typed(it.Err()) || it.Doc() > 1<<blobs.IDs.Shift || !typed(err) || !typed(e) {
				t.Errorf("%s: Iter gave %v at document %d, Document %v, Verify %v", kind, it.Err(), it.Doc(), err, e)
			}
		}
	}
}

// TestForgedDocument puts a document that does not exist under the hash of an ID.
func TestForgedDocument(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(31, 32)), 900) // 10-bit numbers: some name no document
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	r := openTable(t, bytes.Clone(data))
	values := data[firstValue(r, KindIDs, 0):]
	binary.LittleEndian.PutUint64(values, binary.LittleEndian.Uint64(values)|(1<<60-1)) // the first six numbers
	reseal(r, data)
	r = openTable(t, data)
	wrong := 0
	for _, d := range docs {
		if _, found, err := r.Lookup(d.ID); !found {
			var corrupt *base.CorruptionError
			if wrong++; !errors.As(err, &corrupt) || corrupt.Section != "ids" {
				t.Errorf("Lookup(%q): %v", d.ID, err)
			}
		}
	}
	err := EachCommonID(r, r, func(uint32, uint32) error { return nil })
	if e := r.Verify(t.Context(), nil); wrong != 6 || !typed(err) || !typed(e) {
		t.Errorf("%d lookups failed, EachCommonID gave %v, Verify %v", wrong, err, e)
	}
}

// reseal makes all checksums of data right. data is a damaged copy of the table of r.
func reseal(r *Reader, data []byte) {
	le := binary.LittleEndian
	area := r.t.Blocks()
	for kind, entry := range map[Kind]int{format.KindNames: blobs.ListEntry, format.KindSketches: blobs.ListEntry, KindRecords: blobs.RecordsEntry} {
		if s := r.t.Section(kind, 0); s != nil {
			keytest.ResealBlocks(data[s.Offset:][:s.Length], entry, data[area.Offset:][:len(area.Data)])
		}
	}
	if r.t.Sketches != nil && r.t.Sketches.List() != nil {
		resealSketches(r, data)
	}
	for _, s := range r.t.Info.Sections {
		if s.Kind.HasDir() {
			dir := r.t.Section(s.Kind|format.DirFlag, s.Index)
			if s.Kind == format.KindValues {
				keytest.ResealBlocks(data[dir.Offset:][:dir.Length], blobs.ListEntry, data[s.Offset:][:s.Length])
				continue
			}
			keytest.Reseal(data[s.Offset:][:s.Length], data[dir.Offset:][:dir.Length], r.t.Bytes(dir))
		}
		if s.Kind == format.KindTimeSketch {
			quantiles := data[s.Offset:][:s.Length-4]
			le.PutUint32(data[s.Offset+s.Length-4:], kernel.CRC32C(0, quantiles))
		}
	}
	dir := format.Align(r.t.Info.Sections[len(r.t.Info.Sections)-1].Offset + r.t.Info.Sections[len(r.t.Info.Sections)-1].Length)
	for i, s := range r.t.Info.Sections {
		le.PutUint32(data[dir+format.ParamsSize+format.InfoSize+int64(i)*format.EntrySize+32:], kernel.CRC32C(0, data[s.Offset:][:s.Length]))
	}
	tail := data[len(data)-format.TailSize:]
	le.PutUint32(tail[12:], kernel.CRC32C(0, data[dir:len(data)-format.TailSize]))
	le.PutUint32(tail[20:], kernel.CRC32C(0, tail[:20]))
}

// resealSketches makes the checksums of bitmaps and hot hashes right.
func resealSketches(r *Reader, data []byte) {
	le := binary.LittleEndian
	for _, s := range r.t.Info.Sections {
		if s.Kind != format.KindBitmaps || s.Length == 0 {
			continue
		}
		stored, sums := data[s.Offset:][:32*s.Count], data[s.Offset:][32*s.Count:]
		for i := 0; len(stored) > 0; i++ {
			n := min(len(stored), 64*32)
			le.PutUint32(sums[4*i:], kernel.CRC32C(0, stored[:n]))
			stored = stored[n:]
		}
	}
	hot := r.t.Section(format.KindHot, 0)
	list := data[hot.Offset:][:hot.Length-4]
	le.PutUint32(data[hot.Offset+hot.Length-4:], kernel.CRC32C(0, list))
}
