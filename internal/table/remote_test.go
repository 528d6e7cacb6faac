package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/vfs"
)

var errServer = errors.New("the server is away")

// server is a file that counts reads, and fails while it is told to.
type server struct {
	data  []byte
	reads atomic.Int64
	bytes atomic.Int64
	fails atomic.Int64 // reads that succeed before all others fail; negative: none fails
}

func (s *server) ReadAt(p []byte, off int64) (int, error) {
	s.reads.Add(1)
	if left := s.fails.Add(-1); left == -1 {
		s.fails.Store(0)
		return 0, errServer
	}
	s.bytes.Add(int64(len(p)))
	return bytes.NewReader(s.data).ReadAt(p, off)
}

// serve opens a table that a server has.
func serve(t *testing.T, data []byte) (*Reader, *server) {
	t.Helper()
	s := &server{data: data}
	s.fails.Store(-1 << 40)
	r, err := OpenReaderAt(s, int64(len(data)), "test.sst")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, s
}

// reading is a use of a table, with a result that can be compared.
type reading struct {
	name string
	do   func(r *Reader) (string, error)
}

// readings are uses of a table with the given documents, each of which reads other parts.
func readings(t *testing.T, docs []Document) (all []reading) {
	rng := rand.New(rand.NewPCG(91, 92))
	add := func(name string, do func(r *Reader) (string, error)) { all = append(all, reading{name, do}) }
	some := func() uint32 { return rng.Uint32N(uint32(len(docs))) }
	for range 2 {
		doc, id := some(), docs[some()].ID
		add("Document", func(r *Reader) (string, error) {
			var d Document
			err := r.Document(doc, &d)
			return fmt.Sprintf("%+v", d), err
		})
		add("Lookup", func(r *Reader) (string, error) {
			doc, found, err := r.Lookup(id)
			return fmt.Sprint(doc, found), err
		})
		q := docs[some()].Fingerprint ^ 1<<rng.UintN(64)
		for _, k := range []int{0, 3, 9, 40} {
			add(fmt.Sprint("Near ", k), func(r *Reader) (string, error) {
				hits, err := r.Near(q, k, nil)
				slices.SortFunc(hits, func(a, b Hit) int { return int(a.Doc) - int(b.Doc) })
				return fmt.Sprint(hits), err
			})
		}
		add("NearFirst", func(r *Reader) (string, error) {
			found, err := new(NearSearcher).NearFirst([]*Reader{r}, []Fingerprint{q}, 2, func(int, Hit) (bool, error) { return true, nil })
			return fmt.Sprint(found), err
		})
	}
	queries := make([]Fingerprint, 400)
	for i := range queries {
		queries[i] = docs[some()].Fingerprint ^ 1<<rng.UintN(64)
	}
	add("NearBatch", func(r *Reader) (string, error) {
		n := 0
		err := new(NearSearcher).NearBatch(t.Context(), r, [][]Fingerprint{queries}, 3, func(q int, h Hit) error { n += (q + 1) * (int(h.Doc) + 1); return nil })
		return fmt.Sprint(n), err
	})
	ids := []uint32{some(), some(), some(), 5, 6, 7}
	slices.Sort(ids)
	add("AppendIDs", func(r *Reader) (string, error) {
		b, ends, err := r.AppendIDs(nil, nil, ids)
		return fmt.Sprintf("%s %v", b, ends), err
	})
	add("IDOrder", func(r *Reader) (string, error) {
		o, err := r.IDOrder()
		if err != nil {
			return "", err
		}
		from, end, err := o.Range([]byte("doc-1"), []byte("doc-1999"))
		if err != nil {
			return "", err
		}
		var b strings.Builder
		err = o.EachID(t.Context(), from, min(end, from+50), func(doc uint32, id []byte) error { fmt.Fprintf(&b, "%d %s ", doc, id); return nil })
		return b.String(), err
	})
	add("Written", func(r *Reader) (string, error) {
		n, err := r.CountWritten(t.Context(), Written{From: docs[9].Time, To: docs[9].Time + 1<<38, Now: 1, MaxSeq: 1 << 50})
		if err != nil {
			return "", err
		}
		up, err := r.WrittenUpTo(docs[3].Seq)
		return fmt.Sprint(n, up), err
	})
	sum := func(what string, each func(r *Reader, add func(v any)) error) {
		add(what, func(r *Reader) (string, error) {
			h := new(strings.Builder)
			err := each(r, func(v any) { fmt.Fprint(h, v) })
			return h.String(), err
		})
	}
	sum("FingerprintBlocks", func(r *Reader, add func(any)) error {
		return r.FingerprintBlocks(func(_ uint32, fps []uint64) error { add(fps[0]); return nil })
	})
	sum("IDHashBlocks", func(r *Reader, add func(any)) error {
		return r.IDHashBlocks(func(h []uint64) error { add(h[0]); return nil })
	})
	sum("Iter", func(r *Reader, add func(any)) error {
		it := r.Iter()
		for i := 0; it.Next(); i++ {
			if i%500 == 0 {
				add(string(it.Document().ID) + string(it.Document().Text))
			}
		}
		return it.Err()
	})
	sum("details", func(r *Reader, add func(any)) error {
		times, err1 := r.TimeSketch()
		note, err2 := r.Note()
		dead, err3 := r.HasDeadRecords()
		add([]any{times, note, dead, r.Info(), r.FirstExpiry()})
		return errors.Join(err1, err2, err3)
	})
	sum("WriteTo", func(r *Reader, add func(any)) error {
		var b bytes.Buffer
		_, err := r.WriteTo(&b)
		add(b.String())
		return err
	})
	sum("Verify", func(r *Reader, _ func(any)) error { return r.Verify(t.Context(), nil) })
	sum("VerifySums", func(r *Reader, _ func(any)) error { return r.VerifySums(t.Context(), nil) })
	sum("Merge", func(r *Reader, add func(any)) error {
		var b bytes.Buffer
		_, _, err := Merge(t.Context(), &b, r.Params(), []MergeInput{{Reader: r}}, MergeOptions{})
		add(b.String())
		return err
	})
	return append(all, sketchReadings(t, docs)...)
}

// sketchReadings are the readings by sketches and features.
func sketchReadings(t *testing.T, docs []Document) (all []reading) {
	at := slices.IndexFunc(docs, func(d Document) bool { return len(d.Sketch) > 60 })
	if at < 0 {
		return nil
	}
	for _, at := range []int{at, at + 1, len(docs) / 2} {
		for _, th := range []float64{0.9, 0.65, 0.2} {
			all = append(all, reading{fmt.Sprint("Jaccard ", th), func(r *Reader) (string, error) {
				hits, err := r.Jaccard(docs[at].Sketch, th, nil)
				slices.SortFunc(hits, func(a, b JaccardHit) int { return int(a.Doc) - int(b.Doc) })
				return fmt.Sprint(hits), err
			}})
		}
	}
	set := testParams.NewSetHasher().Set([]byte("word7 word7 word7 word8"))
	return append(all, reading{"SetCandidates", func(r *Reader) (string, error) {
		docs, _, ok, err := r.SetCandidates(nil, SetQuery{Set: set, T: 0.1, Most: 1000})
		return fmt.Sprint(docs, ok), err
	}}, reading{"EachSketch", func(r *Reader) (string, error) {
		n := 0
		err := r.EachSketch(func(doc uint32, sketch []uint32) error { n += int(doc) * len(sketch); return nil })
		return fmt.Sprint(n), err
	}}, reading{"EachInTextOrder", func(r *Reader) (string, error) {
		n, texts := 0, r.Texts()
		err := r.EachInTextOrder(t.Context(), func(doc uint32) error {
			text, fields, err := texts.Get(doc)
			n += int(doc) * (len(text) + len(fields))
			return err
		})
		return fmt.Sprint(n), err
	}}, reading{"Text", func(r *Reader) (string, error) {
		text, err := r.AppendText(nil, uint32(at))
		return string(text), err
	}})
}

// servedTables returns tables that are read in pages: one has several pages of every directory, the
// other one of postings.
func servedTables(t *testing.T) map[string][]Document {
	rng := rand.New(rand.NewPCG(93, 94))
	numbers := make([]Document, 135_000)
	for i := range numbers {
		numbers[i] = Document{ID: fmt.Appendf(nil, "doc-%d", i), HasFingerprint: true, Fingerprint: rng.Uint64(), Time: int64(i), Seq: uint64(i)}
		if i%5 == 4 {
			numbers[i].Fingerprint = numbers[i-1].Fingerprint ^ 1<<rng.UintN(64)
		}
	}
	texts := testDocs(rng, 3500)
	for i := range texts {
		texts[i].Text = texts[i].Text[:min(len(texts[i].Text), 300)]
		if len(texts[i].Sketch) > 0 { // so that there are many postings
			for range 50 {
				texts[i].Sketch = append(texts[i].Sketch, rng.Uint32())
			}
			slices.Sort(texts[i].Sketch)
			texts[i].Sketch = slices.Compact(texts[i].Sketch)
			texts[i].Sketch = texts[i].Sketch[:min(len(texts[i].Sketch), int(testParams.Sketch))]
		}
	}
	return map[string][]Document{"numbers": sortedDocs(numbers), "texts": texts}
}

// servedParams are the parameters of servedTables.
func servedParams(name string) Params {
	p := testParams
	p.MinJaccard = 0.2 // long prefixes, so many postings
	if p.Sets = name == "texts"; !p.Sets {
		p.StoreText, p.Sketch, p.MinJaccard = false, 0, 0
	}
	return p
}

// TestServed uses a table on a server, each time with nothing in memory, and compares results with
// those of the same table on this machine. Then the server fails at any read.
func TestServed(t *testing.T) {
	for name, docs := range servedTables(t) {
		data, info := buildTable(t, servedParams(name), WriterOptions{Hot: hotOf(docs[:1000]), Note: []byte("note"), SegmentDocs: 10000}, docs)
		if !slices.ContainsFunc(info.Sections, func(s format.Section) bool { return s.Kind == format.KindSummaries }) {
			t.Fatal(name, "has no summaries")
		}
		local, rng := openTable(t, data), rand.New(rand.NewPCG(95, 96))
		for _, x := range readings(t, docs) {
			want, err := x.do(local)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, x.name, err)
			}
			r, s := serve(t, data)
			if got, err := x.do(r); err != nil || got != want {
				t.Fatalf("%s, %s: %.300s, %v; locally %.300s", name, x.name, got, err, want)
			}
			reads := s.reads.Load()
			if s.bytes.Load() > int64(len(data))+reads*16<<10 {
				t.Errorf("%s, %s: %d bytes of %d were read", name, x.name, s.bytes.Load(), len(data))
			}
			if reads < 2 { // the end is enough
				continue
			}
			r, s = serve(t, data)
			s.fails.Store(rng.Int64N(reads - 1))
			if got, err := x.do(r); !errors.Is(err, errServer) && (err != nil || got != want) {
				t.Fatalf("%s, %s, with failures: %.300s, %v", name, x.name, got, err)
			}
			s.fails.Store(-1 << 40)
			if got, err := x.do(r); err != nil || got != want {
				t.Fatalf("%s, %s, after failures: %.300s, %v", name, x.name, got, err)
			}
			r.Close()
		}
	}
}

// TestServedTogether uses one table from several goroutines.
func TestServedTogether(t *testing.T) {
	docs := servedTables(t)["texts"]
	data, _ := buildTable(t, servedParams("texts"), WriterOptions{}, docs)
	local := openTable(t, data)
	r, s := serve(t, data)
	all := readings(t, docs)
	var wait sync.WaitGroup
	for n := range 4 {
		wait.Go(func() {
			for i := range all {
				x := all[(i+n*len(all)/4)%len(all)]
				want, err1 := x.do(local)
				if got, err := x.do(r); err != nil || err1 != nil || got != want {
					t.Errorf("%s: %.300s, %v; locally %.300s, %v", x.name, got, err, want, err1)
				}
			}
		})
	}
	wait.Wait()
	if most := int64(2 * len(data)); s.bytes.Load() > most {
		t.Errorf("%d bytes of %d were read", s.bytes.Load(), len(data))
	}
}

// TestServedFew checks how little a search reads: two parts of the directory and of the keys of each
// permuted table, and of the IDs of a hit.
func TestServedFew(t *testing.T) {
	docs := servedTables(t)["numbers"]
	data, _ := buildTable(t, servedParams("numbers"), WriterOptions{}, docs)
	for _, doc := range []uint32{7, 60_000, 133_000} {
		r, s := serve(t, data)
		if hits, err := r.Near(docs[doc].Fingerprint, 3, nil); err != nil || len(hits) == 0 {
			t.Fatal(hits, err)
		}
		if _, _, err := r.AppendIDs(nil, nil, []uint32{doc}); err != nil || s.reads.Load() > 7 || s.bytes.Load() > 120<<10 {
			t.Errorf("document %d: %d reads, %d bytes: %v", doc, s.reads.Load(), s.bytes.Load(), err)
		}
	}
}

// TestServedDamage damages bytes of a table on a server. Every answer must be right, or an error that
// names the place.
func TestServedDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(97, 98))
	for name, docs := range servedTables(t) {
		good, info := buildTable(t, servedParams(name), WriterOptions{SegmentDocs: 10000}, docs)
		all, local := readings(t, docs), openTable(t, good)
		all = slices.DeleteFunc(all, func(x reading) bool {
			return slices.Contains([]string{"WriteTo", "Merge", "Verify", "VerifySums", "Iter"}, x.name) // they do not promise it, or take long
		})
		for range 30 {
			data := slices.Clone(good)
			s := info.Sections[rng.IntN(len(info.Sections))]
			if s.Length == 0 {
				continue
			}
			at := s.Offset + rng.Int64N(s.Length)
			data[at] ^= 1 << rng.UintN(8)
			r, err := OpenReaderAt(bytes.NewReader(data), int64(len(data)), "test.sst")
			if err != nil {
				if !typed(err) {
					t.Errorf("byte %d of %s: %v", at, s.Name(), err)
				}
				continue
			}
			x := all[rng.IntN(len(all))]
			want, _ := x.do(local)
			if got, err := x.do(r); err != nil && !typed(err) || err == nil && got != want {
				t.Errorf("byte %d of %s, %s: %.200s, %v", at, s.Name(), x.name, got, err)
			}
			r.Close()
		}
	}
}

// TestVerifySummaries changes a summary and makes the checksums right. Verify must notice.
func TestVerifySummaries(t *testing.T) {
	data, _ := buildTable(t, servedParams("numbers"), WriterOptions{}, servedTables(t)["numbers"])
	r := openTable(t, data)
	data[r.t.Section(format.KindSummaries, 0).Offset+3] ^= 1
	reseal(r, data)
	var damage *CorruptionError
	if err := openTable(t, data).Verify(t.Context(), nil); !errors.As(err, &damage) || damage.Section != "summaries" {
		t.Error(err)
	}
}

// TestServedVictims does all that can be done with small tables of every kind, on a server.
func TestServedVictims(t *testing.T) {
	for _, make := range victims {
		v := make(t, 200, WriterOptions{BlockSize: 300})
		r, _ := serve(t, v.data)
		for _, a := range exercise(r, v.ids, v.queries) {
			if a.err != nil || !v.want[a.op+a.result] {
				t.Fatalf("%s gave %.200s, %v", a.op, a.result, a.err)
			}
		}
	}
	for _, data := range [][]byte{nil, []byte("<html>"), make([]byte, 5000)} {
		if _, err := OpenReaderAt(bytes.NewReader(data), int64(len(data)), "test.sst"); !errors.Is(err, ErrNotTable) {
			t.Errorf("%d bytes that are no table: %v", len(data), err)
		}
	}
	if _, err := OpenReaderAt(iotestReader{}, 5000, "test.sst"); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for size := int64(1) << 30; size > 0; size <<= 1 { // a server may claim any size
		if _, err := OpenReaderAt(iotestReader{}, size, "test.sst"); err == nil || !strings.Contains(err.Error(), "test.sst: ") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > uint64(max(vfs.Memory(), 1<<32)/4) {
		t.Errorf("%d bytes of memory for tables that cannot be read", after.TotalAlloc-before.TotalAlloc)
	}
}

// iotestReader fails.
type iotestReader struct{}

func (iotestReader) ReadAt([]byte, int64) (int, error) { return 0, io.ErrNoProgress }

// TestServedAgain has a server that is away when the first call reads what later calls keep: the error
// is returned, and is forgotten once the server is back.
func TestServedAgain(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(99, 100)), 8000)
	for i := range docs {
		docs[i].Text = docs[i].Text[:min(len(docs[i].Text), 40)]
	}
	data, _ := buildTable(t, testParams, WriterOptions{BlockSize: 50, OrderDocs: len(docs) + 1}, docs)
	local := openTable(t, data)
	for _, x := range []reading{
		{"Describe", func(r *Reader) (string, error) {
			var b bytes.Buffer
			err := r.Describe(&b)
			return b.String(), err
		}},
		{"IDOrder", func(r *Reader) (string, error) {
			o, err := r.IDOrder()
			if err != nil {
				return "", err
			}
			from, end, err := o.Range([]byte("b"), []byte("m"))
			return fmt.Sprint(from, end), err
		}},
	} {
		want, err := x.do(local)
		if err != nil {
			t.Fatal(err)
		}
		r, s := serve(t, data)
		s.fails.Store(0)
		if _, err := x.do(r); !errors.Is(err, errServer) {
			t.Errorf("%s without the server: %v", x.name, err)
		}
		s.fails.Store(-1 << 40)
		if got, err := x.do(r); err != nil || got != want {
			t.Errorf("%s with the server again: %.300s, %v; locally %.300s", x.name, got, err, want)
		}
	}
}

// TestServedWide has a server that is away when a search by fingerprints of two words first samples their
// directories.
func TestServedWide(t *testing.T) {
	p, docs := servedParams("numbers"), servedTables(t)["numbers"]
	p.Words = 2
	for i := range docs {
		docs[i].Rest = []Fingerprint{docs[i].Fingerprint * 0x9e3779b97f4a7c15}
	}
	data, _ := buildTable(t, p, WriterOptions{}, docs)
	near := func(r *Reader) (hits int, err error) {
		q := [][]Fingerprint{{docs[7].Fingerprint}, {docs[7].Rest[0]}}
		err = new(NearSearcher).NearBatch(t.Context(), r, q, 20, func(int, Hit) error { hits++; return nil })
		return hits, err
	}
	want, err := near(openTable(t, data))
	if err != nil || want == 0 {
		t.Fatal(want, err)
	}
	r, s := serve(t, data)
	for _, fails := range []int64{0, 1} {
		s.fails.Store(fails)
		if _, err := near(r); !errors.Is(err, errServer) {
			t.Errorf("without the server: %v", err)
		}
	}
	s.fails.Store(-1 << 40)
	if hits, err := near(r); err != nil || hits != want {
		t.Errorf("with the server again: %d hits, not %d, %v", hits, want, err)
	}
}
