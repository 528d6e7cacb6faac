package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
)

// TestMergeGoneRepeated leaves out all documents of one fingerprint, which so many documents have
// that they are spread over several pieces of the merge, while documents to leave out are
// determined for a few pieces at a time.
func TestMergeGoneRepeated(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const hot = 0x0101010101010101
	var docs []Document
	for i := range 9000 {
		d := Document{ID: fmt.Append(nil, i), HasFingerprint: true, Fingerprint: hot}
		if i%9 == 0 {
			d.Fingerprint = hot&^0xff00 | r.Uint64()&0xff00
		}
		docs = append(docs, d)
	}
	p := mergeParams
	p.Layout = Layout{Blocks: 2, Lead: 1}
	for _, sorted := range []int{1, 2, 3, 5, 8, 100} {
		m := merging{t: t, r: r, o: MergeOptions{Workers: 2, Piece: 1, Sorted: sorted}, drop: func(r *rand.Rand, d *Document) bool {
			return d.Fingerprint == hot || d.Fingerprint&0x1100 != 0
		}}
		m.add(p, sortedDocs(docs), 0)
		to := p
		to.Layout = Layout{Blocks: 8, Lead: 1}
		m.merge(to)
		some := merging{t: t, r: r, o: m.o, drop: drops["few"]}
		some.add(p, sortedDocs(docs), 0)
		some.merge(to)
	}
}

// TestMergeRotated merges to a layout that moves the leading bits of fingerprints behind all
// others, with many fingerprints that differ only in those bits, and with a table that already has
// this layout: pieces must be able to start between such fingerprints.
func TestMergeRotated(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	m := merging{t: t, r: r, o: MergeOptions{Workers: 2, Piece: 1}, drop: drops["few"]}
	var low [1000]uint64
	for i := range low {
		low[i] = r.Uint64() >> 8
	}
	p := mergeParams
	p.Layout = Layout{Blocks: 2, Lead: 1}
	for input := range 2 {
		var docs []Document
		for i, v := range low {
			for lead := range uint64(16) {
				docs = append(docs, Document{ID: fmt.Append(nil, input, i, lead), HasFingerprint: true, Fingerprint: lead<<60 | v})
			}
		}
		m.add(p, sortedDocs(docs), 0)
		p.Layout = Layout{Blocks: 8, Lead: 1}
	}
	m.merge(p)
}

// TestMergeDeadRecords deletes the few documents with long texts and merges: the space of their
// records must be freed.
func TestMergeDeadRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	var docs []Document
	alive := 0
	for i := range 600 {
		text := make([]byte, 100)
		if i%10 == 9 {
			text = make([]byte, 30_000)
		}
		for j := 0; j+8 <= len(text); j += 8 {
			binary.LittleEndian.PutUint64(text[j:], r.Uint64())
		}
		if i%10 != 9 {
			alive += len(text)
		}
		docs = append(docs, Document{ID: fmt.Append(nil, i), HasFingerprint: true, Fingerprint: uint64(i), Text: text})
	}
	m := merging{t: t, r: r, drop: func(r *rand.Rand, d *Document) bool { return len(d.Text) > 100 }}
	data, _ := buildTable(t, mergeParams, WriterOptions{}, docs)
	m.addTable(openTable(t, data), docs, 0)
	merged := m.merge(mergeParams)
	if stored, _ := merged.t.Records.Sizes(); stored > int64(alive)*4/3+2*32<<10 {
		t.Errorf("records of %d bytes, of which %d are alive", stored, alive)
	}
}

// TestMergeChain deletes a tenth of the documents and merges, again and again: the dead records
// must stay a fraction of the living ones.
func TestMergeChain(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	p := mergeParams
	p.Sketch, p.MinJaccard = 0, 0
	var docs []Document
	for i := range 3000 {
		d := Document{ID: fmt.Append(nil, i), HasFingerprint: true, Fingerprint: r.Uint64(), Seq: r.Uint64N(1000)}
		if r.IntN(10) > 0 {
			d.Text = make([]byte, r.IntN(200)*r.IntN(20))
			for j := 0; j+8 <= len(d.Text); j += 8 {
				binary.LittleEndian.PutUint64(d.Text[j:], r.Uint64())
			}
		}
		docs = append(docs, d)
	}
	docs = sortedDocs(docs)
	data, _ := buildTable(t, p, WriterOptions{}, docs)
	table := openTable(t, data)
	for generation := range 25 {
		m := merging{t: t, r: r, drop: func(r *rand.Rand, d *Document) bool { return r.IntN(10) == 0 }}
		m.addTable(table, docs, 0)
		if generation%3 == 2 {
			fresh := []Document{{ID: fmt.Append(nil, "g", generation), Text: []byte("text")}, {ID: fmt.Append(nil, "h", generation)}}
			m.add(p, fresh, 0)
		}
		table, docs = m.merge(p), m.want()
		alive := 0
		for _, d := range docs {
			alive += len(d.Text) + 4
		}
		if stored, _ := table.t.Records.Sizes(); stored > int64(alive)*4/3+2*32<<10 {
			t.Errorf("generation %d: records of %d bytes, of which %d are alive", generation, stored, alive)
		}
	}
}

// TestMergeManyTables merges very many tables; some are empty, and of some no document is left.
func TestMergeManyTables(t *testing.T) {
	n := exhaustive.Size(300, 5000)
	r := rand.New(rand.NewPCG(17, 18))
	m := merging{t: t, r: r, drop: drops["few"]}
	for i := range n {
		docs := make([]Document, i%4)
		for j := range docs {
			docs[j] = Document{ID: fmt.Append(nil, i, j), HasFingerprint: i%7 > 0, Seq: r.Uint64N(100), Text: []byte("text")}
			if docs[j].HasFingerprint {
				docs[j].Fingerprint = r.Uint64N(1 << 10)
			}
		}
		p := mergeParams
		p.Layout = []Layout{{Blocks: 2, Lead: 1}, {Blocks: 4, Lead: 1}, {Blocks: 4, Lead: 0}}[i%3]
		m.add(p, sortedDocs(docs), 0)
	}
	m.merge(mergeParams)
}

// TestMergeSpareRecords limits the record numbers that may belong to no document: blocks that would
// otherwise be copied must be rewritten.
func TestMergeSpareRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	docs := mergeShapes[0].docs(r, 0, 2000)
	for i := range docs {
		docs[i].Text = append(docs[i].Text, "word"...)
	}
	for _, spare := range []uint32{1, 10, 60} {
		m := merging{t: t, r: r, drop: drops["few"], o: MergeOptions{Spare: spare}}
		m.add(mergeParams, docs, 0)
		merged := m.merge(mergeParams)
		dead := merged.t.Records.Len() - merged.NumDocs()
		if dead > spare || dead < min(spare, 10)/2 {
			t.Errorf("%d records of no document, at most %d may be", dead, spare)
		}
	}
}

// TestMergeOfCutFile truncates a mapped input while it is merged, at every stage. The merge must
// fail and name the place, whichever goroutine reads the missing part, unless everything has been
// read.
func TestMergeOfCutFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file can't be cut there")
	}
	r := rand.New(rand.NewPCG(21, 22))
	docs := mergeShapes[1].docs(r, 0, 6000)
	data, _ := buildTable(t, mergeParams, WriterOptions{SegmentDocs: 1000}, docs)
	more, _ := buildTable(t, mergeParams, WriterOptions{}, mergeShapes[1].docs(r, 1, 6000))
	failed := map[string]bool{}
	for _, at := range []int64{0, 1, 4, 10, 20, 30, 40, 50, 60, 80} {
		for _, workers := range []int{1, 4} {
			path := filepath.Join(t.TempDir(), "a.sst")
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
			table := openPath(t, path)
			cut := func(done, total int64) {
				if done >= at*total/100 {
					if err := os.Truncate(path, 4096); err != nil {
						t.Error(err)
					}
				}
			}
			if at == 0 {
				cut(0, 0)
			}
			inputs := []MergeInput{
				{Reader: table, Keep: func(doc uint32) (bool, error) { at, err := table.Time(doc); return at%10 != 0, err }},
				{Reader: openTable(t, more)},
			}
			var out bytes.Buffer
			_, _, err := Merge(t.Context(), &out, mergeParams, inputs, MergeOptions{Workers: workers, Progress: cut, Piece: 512})
			var c *CorruptionError
			if err == nil && at > 40 { // everything had been read
				if err := openTable(t, out.Bytes()).Verify(t.Context(), nil); err != nil {
					t.Error(err)
				}
			} else if !errors.As(err, &c) || c.File != path || c.Offset < 4096 {
				t.Errorf("cut at %d %%, %d goroutines: %v", at, workers, err)
			} else {
				failed[c.Section] = true
			}
			if err := table.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if len(failed) < 3 {
		t.Errorf("all merges failed in the sections %v", failed)
	}
}

// TestMergeCancelled cancels merges at random points: none may continue or leave a goroutine
// behind.
func TestMergeCancelled(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	var inputs []MergeInput
	for i := range 3 {
		data, _ := buildTable(t, mergeParams, WriterOptions{SegmentDocs: 200}, mergeShapes[3].docs(r, i, 800))
		inputs = append(inputs, MergeInput{Reader: openTable(t, data), Keep: func(doc uint32) (bool, error) { return doc%5 > 0, nil }})
	}
	p := mergeParams
	p.Layout = Layout{Blocks: 3, Lead: 1}
	before, ended := runtime.NumGoroutine(), 0
	n := 0
	for i := range exhaustive.Every(t, 12).Of(1000) {
		n++
		r := rand.New(rand.NewPCG(23, uint64(i)))
		ctx, cancel := context.WithCancel(t.Context())
		stop := r.Int64N(2000)
		var out bytes.Buffer
		_, _, err := Merge(ctx, &out, p, inputs, MergeOptions{Workers: 1 + r.IntN(4), Piece: 1, Progress: func(done, total int64) {
			if done >= stop {
				cancel()
			}
		}})
		cancel()
		if err == nil {
			if e := openTable(t, out.Bytes()).Verify(t.Context(), nil); e != nil {
				t.Fatal(e)
			}
		} else if ended++; !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled: %v", err)
		}
	}
	after := runtime.NumGoroutine()
	for wait := 0; after > before && wait < 500; wait++ { // exiting takes a moment
		time.Sleep(10 * time.Millisecond)
		after = runtime.NumGoroutine()
	}
	if after > before || ended < n/2 {
		t.Errorf("%d goroutines, %d before; %d of %d merges ended early", after, before, ended, n)
	}
}

// TestMergeLongIDs merges documents with IDs and sketches far longer than the chunk that a merge
// reads at a time: the memory it allocates must depend on the chunk.
func TestMergeLongIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	var inputs []MergeInput
	p := mergeParams
	p.Layout = Layout{Blocks: 2, Lead: 1}
	for i := range 2 {
		docs := make([]Document, 300)
		for j := range docs {
			docs[j] = Document{ID: fmt.Append(make([]byte, 50_000), i, j), HasFingerprint: true, Fingerprint: r.Uint64(), Sketch: []uint32{uint32(j)}}
		}
		data, _ := buildTable(t, p, WriterOptions{}, sortedDocs(docs))
		inputs = append(inputs, MergeInput{Reader: openTable(t, data), Keep: func(doc uint32) (bool, error) { return doc != 7, nil }})
	}
	var tables [2]bytes.Buffer
	var taken [2]uint64
	for i, chunk := range []int{40 << 20, 100_000} { // everything at once, and a little at a time
		tables[i].Grow(40 << 20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, _, err := Merge(t.Context(), &tables[i], p, inputs, MergeOptions{Workers: 2, Chunk: chunk}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		taken[i] = after.TotalAlloc - before.TotalAlloc
	}
	if !bytes.Equal(tables[0].Bytes(), tables[1].Bytes()) {
		t.Error("what is read at a time changes the table")
	}
	if taken[1] > taken[0]-(15<<20) {
		t.Errorf("%d MB for a little at a time, %d MB for all", taken[1]>>20, taken[0]>>20)
	}
}

// cancelWriter cancels when it is first written to, and counts bytes.
type cancelWriter struct {
	cancel func()
	n      int
}

func (w *cancelWriter) Write(p []byte) (int, error) {
	w.cancel()
	w.n += len(p)
	return len(p), nil
}

// TestMergeCancelledInRecords cancels a merge while it copies blocks of records, or rewrites them:
// it must stop within a few blocks.
func TestMergeCancelledInRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	docs := make([]Document, 800)
	for i := range docs {
		docs[i] = Document{ID: fmt.Append(nil, i), Text: make([]byte, 40_000)}
		for j := 0; j < 40_000; j += 8 {
			binary.LittleEndian.PutUint64(docs[i].Text[j:], r.Uint64())
		}
	}
	p := mergeParams
	p.Sketch, p.MinJaccard = 0, 0
	data, _ := buildTable(t, p, WriterOptions{BlockSize: 100_000}, docs) // three records in a block
	for _, every := range []uint32{1000, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		w := &cancelWriter{cancel: cancel}
		in := MergeInput{Reader: openTable(t, data), Keep: func(doc uint32) (bool, error) { return doc%every != 1, nil }}
		_, _, err := Merge(ctx, w, p, []MergeInput{in}, MergeOptions{})
		if !errors.Is(err, context.Canceled) || w.n > 64*130_000 {
			t.Errorf("%d of %d bytes were written after the end of the context: %v", w.n, len(data), err)
		}
	}
}

// TestMergeErases merges tables with records that belong to no document, and leaves out more
// documents. With Erase, the result must have the records of its documents and no others.
func TestMergeErases(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, drop := range []string{"none", "few", "most", "all"} {
		m := merging{t: t, r: r, drop: drops["few"]}
		m.add(mergeParams, mergeShapes[3].docs(r, 0, 2000), 0)
		carrying := m.merge(mergeParams)
		again := merging{t: t, r: r, drop: drops[drop], o: MergeOptions{Erase: true}}
		again.addMerged(carrying, m.want())
		merged := again.merge(mergeParams)
		records := uint32(0)
		if merged.t.Records != nil {
			records = merged.t.Records.Len()
		}
		if carrying.t.Records.Len() == carrying.NumDocs() || records != merged.NumDocs() {
			t.Errorf("%s left out: %d records of %d documents, %d of %d before", drop, records, merged.NumDocs(), carrying.t.Records.Len(), carrying.NumDocs())
		}
	}
}
