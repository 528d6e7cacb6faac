package table

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/golden"
	"github.com/simdb/simdb/internal/table/internal/format"
)

// goldenDocs returns the documents of testdata/v2.sst: with and without text, fields and
// fingerprint, equal and near fingerprints, more than one block of names and of records. A diff in
// the file is a change of the format.
func goldenDocs() []Document {
	docs := make([]Document, 150)
	for i := range docs {
		d := &docs[i]
		d.ID = fmt.Appendf(nil, "doc/%03d", i)
		d.Time = 1_700_000_000_000_000 + int64(i*i)*1_000_003
		d.Seq = uint64(1000 - 3*i)
		if d.HasFingerprint = i < 145; d.HasFingerprint {
			d.Fingerprint = uint64(i/3)<<58&0xff00000000000000 | uint64(i/2)*0x0001_0204_0810_2041
		}
		if i%5 != 0 {
			d.Text = []byte(strings.Repeat(fmt.Sprintf("text number %d of the golden table. ", i), 1+i%4))
		}
		if i%7 == 0 {
			d.Fields = fmt.Appendf(nil, `{"n":%d}`, i)
		}
		if d.HasFingerprint && i%11 != 0 {
			d.Sketch = goldenSketch(i)
		}
	}
	return sortedDocs(docs)
}

// goldenSketch returns a sketch of 1 to 128 hashes. Many documents share some hashes.
func goldenSketch(i int) []uint32 {
	s := []uint32{0x10000000}
	for j := range min(i*i%200, 127) {
		s = append(s, uint32(i/2+j*j)*2654435761>>4)
	}
	slices.Sort(s)
	return slices.Compact(s)
}

// exampleDocs returns the documents of the worked example in docs/format/sstable.md.
func exampleDocs() []Document {
	return []Document{
		{ID: []byte("a"), HasFingerprint: true, Fingerprint: 0x00000000_00000001, Time: 1_700_000_000_000_000, Seq: 2, Text: []byte("one"), Sketch: []uint32{0x11111111}},
		{ID: []byte("b"), HasFingerprint: true, Fingerprint: 0x9f3c5a00_11223344, Time: 1_700_000_000_000_005, Seq: 1, Text: []byte("two"), Fields: []byte("{}"),
			Sketch: []uint32{0x01020304, 0x11111111, 0x22222222}},
		{ID: []byte("cc"), Time: 1_700_000_000_000_001, Seq: 3},
	}
}

// exampleParams are the parameters of the worked example.
var exampleParams = Params{
	Tokenizer: 1, Shingle: 3, Hash: 1, Sketch: 128, MinJaccard: 0.65, Layout: Layout{Blocks: 2, Lead: 1}, StoreText: true,
}

func TestGolden(t *testing.T) {
	path := filepath.Join("testdata", "v2.sst")
	docs := goldenDocs()
	o := WriterOptions{BlockSize: 4096, Hot: hotOf(docs), SegmentDocs: 64, Note: []byte("a note of the owner"), Identity: Identity{
		Database: [16]byte{0x9f, 0x3c, 0x5a, 15: 1}, Number: 7, Created: 1_700_000_000_000_000,
	}}
	data, _ := buildTable(t, testParams, o, docs)
	file := golden.Read(t, path, data)
	r := openTable(t, file)
	checkReader(t, r, testParams, docs)
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if note, err := r.Note(); err != nil || !bytes.Equal(note, o.Note) || r.Info().Identity != o.Identity {
		t.Errorf("the note is %q, %v; the identity %+v", note, err, r.Info().Identity)
	}
	var read []Document
	for it := r.Iter(); it.Next(); {
		d := *it.Document()
		d.ID, d.Text, d.Fields, d.Sketch = bytes.Clone(d.ID), bytes.Clone(d.Text), bytes.Clone(d.Fields), slices.Clone(d.Sketch)
		read = append(read, d)
	}
	again, _ := buildTable(t, r.Params(), o, read)
	if !bytes.Equal(again, file) || !bytes.Equal(data, file) {
		t.Error("writing the documents of v2.sst gives another file")
	}
	var layout strings.Builder
	if err := r.Describe(&layout); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, filepath.Join("testdata", "v2.layout"), layout.String())
}

// goldenMerge merges three tables, each with a third of goldenDocs, and returns the table and its
// documents. The second input has no texts, and some documents of the third are left out.
func goldenMerge(t *testing.T) (data []byte, docs []Document) {
	t.Helper()
	var parts [3][]Document
	for i, d := range goldenDocs() {
		if i%10 > 0 {
			d.Sketch = nil
		}
		if i%3 == 1 {
			d.Text, d.Fields = nil, nil
		}
		parts[i%3] = append(parts[i%3], d)
	}
	var inputs []MergeInput
	for i, part := range parts {
		input, _ := buildTable(t, testParams, WriterOptions{BlockSize: 300}, part)
		in := MergeInput{Reader: openTable(t, input)}
		if i == 2 {
			in.Keep = func(doc uint32) (bool, error) { return doc%4 != 1, nil }
		}
		inputs = append(inputs, in)
		for doc, d := range part {
			if i != 2 || doc%4 != 1 {
				docs = append(docs, d)
			}
		}
	}
	var out bytes.Buffer
	if _, _, err := Merge(t.Context(), &out, testParams, inputs, MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), sortedDocs(docs)
}

// TestGoldenMerged reads a merged table with documents that have no record and records that belong
// to no document. The layout that a merge produces may change; the meaning of its bytes may not.
func TestGoldenMerged(t *testing.T) {
	path := filepath.Join("testdata", "v2-merged.sst")
	data, docs := goldenMerge(t)
	file := golden.Read(t, path, data)
	for _, data := range [][]byte{file, data} {
		r := openTable(t, data)
		checkReader(t, r, testParams, docs)
		if err := r.Verify(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if r.t.Places == nil || r.t.Places.Max() != uint64(r.t.Records.Len()) || r.t.Ranks == nil {
			t.Error("no places of records, or a record for every document, or no ranks")
		}
	}
}

// TestGoldenSets reads a table with an index of sets. As with v2.sst, a diff means a change of the
// format.
func TestGoldenSets(t *testing.T) {
	docs, p := goldenDocs(), testParams
	p.Sketch, p.MinJaccard, p.Sets = 0, 0, true
	for i := range docs {
		docs[i].Sketch = nil
	}
	r := checkGolden(t, "v2-sets.sst", p, docs)
	set := p.NewSetHasher().Set([]byte("text number 17 of the golden table"))
	found, _, ok, err := r.SetCandidates(nil, SetQuery{Set: set, T: 1, Most: 150})
	if err != nil || !ok || len(found) != 1 || !bytes.HasPrefix(docs[found[0]].Text, []byte("text number 17 of")) {
		t.Errorf("found %v, %v, %v", found, ok, err)
	}
}

// TestGoldenFields reads a table with indexed fields. As with v2.sst, a diff means a change of the
// format.
func TestGoldenFields(t *testing.T) {
	docs, p := goldenDocs(), testParams
	p.Sketch, p.MinJaccard, p.Index = 0, 0, "n,meta.'a,b'"
	for i := range docs {
		docs[i].Sketch = nil
		if i%3 == 0 {
			docs[i].Fields = fmt.Appendf(docs[i].Fields[:0], `{"n":-%d.5e1,"meta":{"a,b":"value %d"}}`, i, i/9)
		}
	}
	r := checkGolden(t, "v2-fields.sst", p, docs)
	found, err := r.FieldCandidates([]FieldRange{{Field: 1, From: "value 7", To: "value 7"}, {Field: 0, From: "-35", To: "-5", Numbers: true}})
	if err != nil || !slices.Equal(found, []uint32{0, 3, 63, 66, 69}) {
		t.Errorf("found %v, %v", found, err)
	}
}

// checkGolden reads a golden file, compares it with documents, verifies it, and writes them again.
func checkGolden(t *testing.T, name string, p Params, docs []Document) *Reader {
	t.Helper()
	data, _ := buildTable(t, p, WriterOptions{BlockSize: 4096}, docs)
	file := golden.Read(t, filepath.Join("testdata", name), data)
	r := openTable(t, file)
	checkReader(t, r, p, docs)
	if err := r.Verify(t.Context(), nil); err != nil || !bytes.Equal(data, file) {
		t.Errorf("writing the documents of %s gives another file, or it is damaged: %v", name, err)
	}
	return r
}

// TestGoldenExample compares the worked example of the format's page with a real table.
func TestGoldenExample(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "format", "sstable.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const start, end = "<!-- example: written by go test ./internal/table -run Golden -update -->\n", "<!-- end of example -->\n"
	before, rest, ok := strings.Cut(string(page), start)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no marks around its example", path)
	}
	data, _ := buildTable(t, exampleParams, WriterOptions{}, exampleDocs())
	r := openTable(t, data)
	checkReader(t, r, exampleParams, exampleDocs())
	golden.Compare(t, path, before+start+"```\n"+dumpTable(r)+"```\n"+end+after)
}

// dumpTable writes the file of r in hex, a part at a time.
func dumpTable(r *Reader) string {
	var b strings.Builder
	part := func(name string, from, to int64) {
		fmt.Fprintf(&b, "%s\n", name)
		for ; from < to; from += 16 {
			row := r.t.Data[from:min(from+16, to)]
			fmt.Fprintf(&b, "%04x  %-32s  %s\n", from, hex.EncodeToString(row), printable(row))
		}
	}
	part("header", 0, format.HeaderSize)
	end := int64(format.HeaderSize)
	for i := range r.t.Info.Sections {
		s := &r.t.Info.Sections[i]
		end = s.Offset + s.Length
		part(s.Name(), s.Offset, end)
		if end < format.Align(end) {
			fmt.Fprintf(&b, "%04x  %d zero bytes\n", end, format.Align(end)-end)
		}
	}
	dir := format.Align(end)
	part("directory: parameters", dir, dir+format.ParamsSize)
	part("directory: info", dir+format.ParamsSize, dir+format.ParamsSize+format.InfoSize)
	at := dir + format.ParamsSize + format.InfoSize
	for i := range r.t.Info.Sections {
		part("directory: "+r.t.Info.Sections[i].Name(), at, at+format.EntrySize)
		at += format.EntrySize
	}
	part("trailer", at, r.t.Info.Size)
	return b.String()
}

// printable shows the ASCII letters among bytes.
func printable(row []byte) string {
	shown := bytes.Clone(row)
	for i, c := range shown {
		if c <= ' ' || c >= 0x7f || c == '`' {
			shown[i] = '.'
		}
	}
	return string(shown)
}
