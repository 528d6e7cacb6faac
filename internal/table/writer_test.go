package table

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/write"
	"github.com/simdb/simdb/internal/vfs"
)

func TestParams(t *testing.T) {
	p := testParams
	b, err := p.AppendBinary(nil)
	if err != nil || len(b) != format.ParamsSize {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	var q Params
	if err := q.UnmarshalBinary(b); err != nil || q != p || q.Diff(p) != "" {
		t.Errorf("decoded %v (%v), want %v", q, err, p)
	}
	q.Shingle, q.Layout, q.StoreText = 5, Layout{Blocks: 6, Lead: 3}, false
	if got, want := p.Diff(q), "shingle 3, not 5; layout 4:1, not 6:3; store-text true, not false"; got != want {
		t.Errorf("Diff is %q, want %q", got, want)
	}
	for name, change := range map[string]func(*Params){
		"layout":      func(p *Params) { p.Layout = Layout{Blocks: 40, Lead: 1} },
		"shingle":     func(p *Params) { p.Shingle = 1 << 30 },
		"sketch":      func(p *Params) { p.Sketch = 1 << 30 },
		"min-jaccard": func(p *Params) { p.MinJaccard = math.NaN() },
		"threshold":   func(p *Params) { p.MinJaccard = 1.5 },
	} {
		bad := testParams
		change(&bad)
		b, _ := bad.AppendBinary(nil)
		if _, err := NewWriter(io.Discard, bad, WriterOptions{}); err == nil {
			t.Errorf("%s: NewWriter takes it", name)
		}
		if q.UnmarshalBinary(b) == nil {
			t.Errorf("%s: UnmarshalBinary takes it", name)
		}
	}
	bySize := testParams
	bySize.Layout = LayoutBySize
	b, _ = bySize.AppendBinary(nil)
	if err := q.UnmarshalDatabase(b); err != nil || q != bySize {
		t.Errorf("a database: decoded %v (%v), want %v", q, err, bySize)
	}
	if q.UnmarshalBinary(b) == nil {
		t.Error("a table without a layout: no error")
	}
	if got := bySize.ForTable(1 << 30).Layout; got != ChooseLayout(1<<30) || got == ChooseLayout(1) {
		t.Errorf("a large table gets %v", got)
	}
	if got := testParams.ForTable(1 << 40); got != testParams {
		t.Errorf("a layout that is given becomes %v", got.Layout)
	}
	if !bySize.Compatible(testParams) || !testParams.Compatible(bySize) {
		t.Error("parameters that differ in the layout alone are not compatible")
	}
	other := bySize
	if other.Seed++; other.Compatible(testParams) {
		t.Error("parameters with another seed are compatible")
	}
	for i, v := range map[int]byte{34: 2, 35: 1, 39: 1} {
		bad := bytes.Clone(b)
		bad[i] = v
		if q.UnmarshalBinary(bad) == nil || q.UnmarshalDatabase(bad) == nil {
			t.Errorf("byte %d set to %d: no error", i, v)
		}
	}
}

// TestFeatureParams checks that features are recorded, and that unknown ones are refused by name.
func TestFeatureParams(t *testing.T) {
	p := testParams
	p.Features = "unit chars\nmin-words 3\n"
	b, err := p.AppendDatabase(nil)
	if err != nil || len(b) != format.ParamsSize+len(p.Features) || b[format.FeaturesAt] != format.Described {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	var q Params
	if err := q.UnmarshalDatabase(b); err != nil || q != p || !p.Compatible(q) || p.Compatible(testParams) {
		t.Errorf("decoded %v (%v), want %v", q, err, p)
	}
	if got, want := p.Diff(testParams), "features of chars; at least 3 words, not of words"; got != want {
		t.Errorf("Diff is %q, want %q", got, want)
	}
	p.Features = "weights idf\n"
	b, _ = p.AppendDatabase(nil)
	if err := q.UnmarshalDatabase(b); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), `"weights"`) {
		t.Errorf("unknown features: %v", err)
	}
	if _, err := NewWriter(io.Discard, p, WriterOptions{}); err == nil {
		t.Error("NewWriter takes unknown features")
	}
	for name, change := range map[string]func([]byte) []byte{
		"another code":     func(b []byte) []byte { b[format.FeaturesAt] = 2; return b },
		"no code":          func(b []byte) []byte { b[format.FeaturesAt] = 0; return b },
		"no text":          func(b []byte) []byte { return b[:format.ParamsSize] },
		"more than it has": func(b []byte) []byte { return append(b, 'x') },
		"an empty text": func(b []byte) []byte {
			b[format.DescribedAt], b[format.DescribedAt+1] = 0, 0
			return b[:format.ParamsSize]
		},
	} {
		if err := q.UnmarshalDatabase(change(bytes.Clone(b))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	for _, o := range []WriterOptions{{BlockSize: -1}, {BlockSize: 1 << 30}, {Level: 9}} {
		if _, err := NewWriter(io.Discard, testParams, o); err == nil {
			t.Errorf("NewWriter takes %+v", o)
		}
	}
	var buf bytes.Buffer
	w, err := NewWriter(&buf, testParams, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	add := func(d Document, want error) {
		t.Helper()
		if err := w.Add(&d); want == nil && err != nil || want != nil && !errors.Is(err, want) {
			t.Errorf("Add gave %v, want %v", err, want)
		}
	}
	add(Document{ID: []byte("b"), HasFingerprint: true, Fingerprint: 7}, nil)
	add(Document{ID: []byte("a"), HasFingerprint: true, Fingerprint: 7}, nil)
	add(Document{ID: bytes.Repeat([]byte("x"), MaxIDBytes), Fingerprint: 3}, nil)
	add(Document{ID: bytes.Repeat([]byte("x"), MaxIDBytes+1)}, ErrTooLarge)
	add(Document{ID: []byte("e"), Text: make([]byte, MaxRecordSize), Fields: []byte("1")}, ErrTooLarge)
	add(Document{ID: []byte("f"), Text: make([]byte, MaxRecordSize)}, nil)
	if w.Add(&Document{}) == nil {
		t.Error("Add takes a document without an ID")
	}
	info, err := w.Close()
	if err != nil || info.Docs != 4 || info.Fingerprints != 2 || info.Distinct != 1 {
		t.Fatalf("Close = %+v, %v", info, err)
	}
	if again, err := w.Close(); err != nil || again.Size != info.Size {
		t.Errorf("second Close = %+v, %v", again, err)
	}
	if w.Add(&Document{ID: []byte("g")}) == nil {
		t.Error("Add works after Close")
	}
	r := openTable(t, buf.Bytes())
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
	var d Document
	if err := r.Document(2, &d); err != nil || len(d.Text) != MaxRecordSize {
		t.Errorf("the largest text has %d bytes, %v", len(d.Text), err)
	}
}

func TestWithoutText(t *testing.T) {
	p := testParams
	p.StoreText = false
	docs := testDocs(rand.New(rand.NewPCG(17, 18)), 2000)
	data, _ := buildTable(t, p, WriterOptions{}, docs)
	for i := range docs {
		docs[i].Text, docs[i].Fields = nil, nil
	}
	r := openTable(t, data)
	checkReader(t, r, p, docs)
	if r.t.Section(KindRecords, 0) != nil {
		t.Error("a section of texts that are not there")
	}
}

// TestLongIDs has blocks of names whose ends need 4 bytes.
func TestLongIDs(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(19, 20)), 700)
	for i := range docs {
		if i%300 < 150 {
			docs[i].ID = append(docs[i].ID, strings.Repeat("y", i*7%3000)...)
		}
	}
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	r := openTable(t, data)
	checkReader(t, r, testParams, docs)
	if err := r.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// limited fails with ENOSPC once n bytes have been written.
type limited struct{ n int }

func (l *limited) Write(p []byte) (int, error) {
	if l.n < len(p) {
		return l.n, &os.PathError{Op: "write", Path: "full", Err: syscall.ENOSPC}
	}
	l.n -= len(p)
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(21, 22)), 4000)
	for i := range docs {
		docs[i].Text = fmt.Appendf(nil, "%x", rand.Uint64())
	}
	_, info := buildTable(t, testParams, WriterOptions{}, docs)
	for space := 0; space < int(info.Size); space += 33331 {
		w, err := NewWriter(&limited{space}, testParams, WriterOptions{})
		for i := 0; err == nil && i < len(docs); i++ {
			err = w.Add(&docs[i])
		}
		if err != nil && w.Add(&docs[len(docs)-1]) != err {
			t.Errorf("space for %d bytes: Add works after %v", space, err)
		}
		if _, err := w.Close(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("space for %d of %d bytes: Close gave %v", space, info.Size, err)
		}
	}
}

// spoiledTable returns a table of documents whose batch was changed after sorting.
func spoiledTable(t *testing.T, docs []Document, spoil func(*write.BatchOrder)) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, testParams, WriterOptions{})
	for i := range docs {
		err = cmp.Or(err, w.Add(&docs[i]))
	}
	if err = cmp.Or(err, w.writeRecords()); err != nil {
		t.Fatal(err)
	}
	order, err := w.w.Order(&w.batch)
	if err != nil {
		t.Fatal(err)
	}
	if spoil != nil {
		spoil(order)
	}
	if _, err := w.w.WriteOrdered(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// rename gives the first documents of a batch other IDs, which may be equal.
func rename(b *write.BatchOrder, ids []string) {
	for i, id := range ids {
		b.IDs[i] = b.Strings.AddString(id)
	}
	for i := range b.ByID {
		b.ByID[i] = uint64(i)<<format.IDBits | HashID(b.ID(uint32(i)))>>write.OtherBits
	}
	slices.SortFunc(b.ByID, func(x, y uint64) int {
		return cmp.Or(cmp.Compare(x&write.LeadMask, y&write.LeadMask), cmp.Compare(x, y))
	})
}

// TestVerifyFindsBadWriters has tables made by a faulty writer or caller, with good checksums.
func TestVerifyFindsBadWriters(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(23, 24)), 900)
	cases := map[string]struct {
		spoil   func(*write.BatchOrder)
		info    func(*Info)
		section string
	}{
		"same ID twice": {func(b *write.BatchOrder) { rename(b, []string{"a", "b", "a"}) }, nil, "ids"},
		"wrong hash":    {func(b *write.BatchOrder) { b.ByID[7]++ }, nil, "ids"},
		"time too low":  {nil, func(i *Info) { i.MinTime-- }, "times"},
		"seq too high":  {nil, func(i *Info) { i.MaxSeq++ }, "seqs"},
		"distinct":      {nil, func(i *Info) { i.Distinct-- }, "run 1"},
	}
	for name, c := range cases {
		data := spoiledTable(t, docs, c.spoil)
		if c.info != nil {
			_, info, err := format.ParseFooter(data, "test.sst", false)
			if err != nil {
				t.Fatal(err)
			}
			c.info(&info)
			last := info.Sections[len(info.Sections)-1]
			end := format.Align(last.Offset + last.Length)
			data = format.AppendFooter(data[:end:end], end, testParams, &info)
		}
		r, err := OpenBytes(data, "test.sst")
		if err == nil {
			err = r.Verify(t.Context(), nil)
		}
		var corrupt *base.CorruptionError
		if !errors.As(err, &corrupt) || corrupt.Section != c.section {
			t.Errorf("%s: Verify gave %v", name, err)
		}
	}
}

// TestVerifyCompares changes a value of one index and makes all checksums right.
func TestVerifyCompares(t *testing.T) {
	data, _ := buildTable(t, testParams, WriterOptions{}, testDocs(rand.New(rand.NewPCG(29, 30)), 900))
	r := openTable(t, bytes.Clone(data))
	for section, at := range map[string]int64{
		"run 2": firstKey(r, KindRun, 2),
		"ids":   firstValue(r, KindIDs, 0),
		"ranks": firstKey(r, format.KindRanks, 0),

		"time-sketch": r.t.Section(format.KindTimeSketch, 0).Offset + 8*5,
	} {
		damaged := bytes.Clone(data)
		damaged[at] ^= 1 // the lowest bit of the first value
		reseal(r, damaged)
		err := openTable(t, damaged).Verify(t.Context(), nil)
		var corrupt *base.CorruptionError
		if !errors.As(err, &corrupt) || corrupt.Section != section {
			t.Errorf("%s: Verify gave %v", section, err)
		}
	}
}

func TestOpenFile(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(25, 26)), 3000)
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	path := filepath.Join(t.TempDir(), "a.sst")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	r := openPath(t, path)
	checkReader(t, r, testParams, docs)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := vfs.Disk.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(f, path); !errors.Is(err, ErrNotTable) || !errors.Is(err, base.ErrCorruption) {
		t.Errorf("an empty file: %v", err)
	}
}

// openPath opens a table on disk.
func openPath(t testing.TB, path string) *Reader {
	t.Helper()
	f, err := vfs.Disk.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenFile(f, path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFileCutWhileOpen truncates a mapped file: every access to the missing part must be an error.
func TestFileCutWhileOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file can't be cut there")
	}
	docs := testDocs(rand.New(rand.NewPCG(27, 28)), 30000)
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	path := filepath.Join(t.TempDir(), "a.sst")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	r := openPath(t, path)
	defer r.Close()
	if err := os.Truncate(path, 8192); err != nil {
		t.Fatal(err)
	}
	var d Document
	last := r.NumDocs() - 1
	_, _, lookup := r.Lookup(docs[last].ID)
	_, near := r.Near(docs[0].Fingerprint, 64, nil)
	it := r.Iter()
	for it.Next() {
	}
	for op, err := range map[string]error{
		"Document": r.Document(last, &d), "Lookup": lookup, "Near": near, "Iter": it.Err(), "Verify": r.Verify(t.Context(), nil),
	} {
		var c *base.CorruptionError
		if !errors.As(err, &c) || c.Offset < 8192 {
			t.Errorf("%s of a file that was cut: %v", op, err)
		}
	}
}
