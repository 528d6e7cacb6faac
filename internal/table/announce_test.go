package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// partsServer is a server that sends several parts by one request. reads counts requests.
type partsServer struct{ *server }

func (s partsServer) ReadParts(parts [][]byte, offs []int64) (ok bool, err error) {
	s.reads.Add(1)
	for i, part := range parts {
		s.bytes.Add(int64(copy(part, s.data[offs[i]:])))
	}
	return true, nil
}

// families returns documents in families with similar sketches, whose texts are in many blocks.
func families() []Document {
	rng := rand.New(rand.NewPCG(11, 71))
	docs := make([]Document, 6000)
	var sketch []uint32
	for i := range docs {
		if i%30 == 0 {
			sketch = make([]uint32, 128)
			for j := range sketch {
				sketch[j] = rng.Uint32()
			}
		}
		mine := slices.Clone(sketch)
		for range 4 {
			mine[rng.IntN(len(mine))] = rng.Uint32()
		}
		slices.Sort(mine)
		text := make([]byte, 40+rng.IntN(400))
		for j := range text {
			text[j] = byte(rng.Uint32())
		}
		docs[i] = Document{ID: fmt.Appendf(nil, "doc-%d", i), Text: text, Fingerprint: rng.Uint64(), HasFingerprint: true, Time: int64(i), Seq: uint64(i), Sketch: slices.Compact(mine)}
	}
	return sortedDocs(docs)
}

// TestServedRequests counts the requests of searches that announce what they read, and compares their
// results with those of the same table on this machine.
func TestServedRequests(t *testing.T) {
	docs := families()
	p := testParams
	p.Sets = true
	data, _ := buildTable(t, p, WriterOptions{BlockSize: 400, SegmentDocs: 4000}, docs)
	local := openTable(t, data)
	all := make([]uint32, 200)
	for i := range all {
		all[i] = uint32(i*7919) % uint32(len(docs))
	}
	texts := func(r *Reader, found []uint32) (string, error) {
		if err := r.Announce(found, PartID|PartText|PartSketch); err != nil {
			return "", err
		}
		ids, _, err := r.AppendIDs(nil, nil, found)
		for _, doc := range found {
			var d Document
			if text, e := r.AppendText(nil, doc); err == nil {
				ids, err = append(ids, text...), e
			}
			if d.Sketch, err = r.Sketch(doc, nil); err != nil {
				break
			}
			ids = fmt.Append(ids, d.Sketch)
		}
		return string(ids), err
	}
	for _, x := range []struct {
		name string
		most int64
		do   func(r *Reader, doc uint32) (string, error)
	}{
		{"lookup and document", 5, func(r *Reader, doc uint32) (string, error) {
			found, _, err := r.Lookup(docs[doc].ID)
			var d Document
			if err == nil {
				err = r.Unnamed(found, &d)
			}
			return fmt.Sprint(d), err
		}},
		{"texts", 6, func(r *Reader, doc uint32) (string, error) { return texts(r, all) }},
		{"EachUnnamed", 12, func(r *Reader, doc uint32) (s string, err error) {
			some := slices.Clone(all)
			if err = r.SortInTextOrder(some); err == nil {
				err = r.EachUnnamed(some, r.TextsInOrder(false), func(_ int, d *Document) error { s += string(d.Text); return nil })
			}
			return s, err
		}},
		{"Jaccard", 10, func(r *Reader, doc uint32) (string, error) { return jaccardTexts(r, docs[doc].Sketch, 0.7, texts) }},
		{"Jaccard by a scan", 9, func(r *Reader, doc uint32) (string, error) { return jaccardTexts(r, docs[doc].Sketch, 0.5, texts) }},
		{"JaccardFirst", 10, func(r *Reader, doc uint32) (string, error) {
			n := 0
			found, err := new(JaccardSearcher).JaccardFirst(r, JaccardQuery{Sketch: docs[doc].Sketch, T: 0.7}, nil, func(JaccardHit) (bool, error) { n++; return n == 20, nil })
			return fmt.Sprint(found, n), err
		}},
	} {
		for _, doc := range []uint32{17, 2500, uint32(len(docs)) - 1} {
			want, err := x.do(local, doc)
			if err != nil {
				t.Fatal(x.name, err)
			}
			s := partsServer{&server{data: data}}
			s.fails.Store(-1 << 40)
			r, err := OpenReaderAt(s, int64(len(data)), "test.sst")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := x.do(r, doc); err != nil || got != want {
				t.Errorf("%s of %d: %.200s, %v; locally %.200s", x.name, doc, got, err, want)
			}
			if n := s.reads.Load(); n > x.most {
				t.Errorf("%s of %d: %d requests, more than %d", x.name, doc, n, x.most)
			}
			if n := s.bytes.Load(); n > int64(len(data)) {
				t.Errorf("%s of %d: %d bytes of %d were read", x.name, doc, n, len(data))
			}
			r.Close()
		}
	}
}

// jaccardTexts returns the results of a search by sketch, with their texts.
func jaccardTexts(r *Reader, q []uint32, threshold float64, texts func(*Reader, []uint32) (string, error)) (string, error) {
	hits, err := r.Jaccard(q, threshold, nil)
	slices.SortFunc(hits, func(a, b JaccardHit) int { return int(a.Doc) - int(b.Doc) })
	var found []uint32
	for _, h := range hits {
		found = append(found, h.Doc)
	}
	if err != nil || len(found) < 10 {
		return "", fmt.Errorf("%d hits: %w", len(found), err)
	}
	s, err := texts(r, found)
	return fmt.Sprint(hits, s), err
}
