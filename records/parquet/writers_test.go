package parquet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/simdb/simdb/records"
)

// copyPart returns a copy of two out of three rows, without the second, the fifth and so on.
func copyPart(t *testing.T, data []byte) []byte {
	t.Helper()
	src, err := source(data, records.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var out bytes.Buffer
	c := must(Parquet.NewCopier(&out, records.CopyOptions{Like: src}))
	for rec, err := range src.Records(context.Background()) {
		if err == nil && rec.Pos%3 != 2 {
			err = c.Copy(src, rec.Raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Other programs can read copies of files that they wrote, with the values, types and metadata of
// the copied rows. testdata/writers.py makes the files and compares.
func TestWriters(t *testing.T) {
	python := cmp.Or(os.Getenv("PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import pyarrow, duckdb, pandas").Run(); err != nil {
		t.Skipf("%s has no pyarrow, duckdb and pandas: %v", python, err)
	}
	folder := t.TempDir()
	run := func(verb string) {
		t.Helper()
		if out, err := exec.Command(python, filepath.Join("testdata", "writers.py"), verb, folder).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	run("make")
	files := must(filepath.Glob(filepath.Join(folder, "*.parquet")))
	if len(files) < 30 {
		t.Fatalf("%d files", len(files))
	}
	if err := os.Mkdir(filepath.Join(folder, "copies"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			out := copyPart(t, must(os.ReadFile(file)))
			if err := os.WriteFile(filepath.Join(folder, "copies", filepath.Base(file)), out, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	run("check")
}

func footerOf(t *testing.T, data []byte) *format.FileMetaData {
	t.Helper()
	return must(pq.OpenFile(bytes.NewReader(data), int64(len(data)))).Metadata()
}

// withFooter returns a file whose footer f has changed.
func withFooter(t *testing.T, data []byte, f func(*metadata)) []byte {
	t.Helper()
	meta := must(readFooter(bytes.NewReader(data), int64(len(data))))
	f(meta)
	return withFooterBytes(data, must(thrift.Marshal(new(thrift.CompactProtocol), meta)))
}

// withFooterBytes returns a file with another footer.
func withFooterBytes(data, footer []byte) []byte {
	end := len(data) - 8
	data = append(slices.Clone(data[:end-int(binary.LittleEndian.Uint32(data[end:]))]), footer...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(footer)))
	return append(data, magic...)
}

// A copy of a pyarrow file with columns of every type has encodings that the format allows for
// these types, the schema and metadata of the file, and only correct bounds.
func TestCopyOfEveryType(t *testing.T) {
	for _, name := range []string{"plain", "dictionary"} {
		data := must(os.ReadFile(filepath.Join("testdata", name+".parquet")))
		in := must(readFooter(bytes.NewReader(data), int64(len(data))))
		copied := copyPart(t, data)
		out := footerOf(t, copied)
		if out.NumRows != 20 || len(out.Schema) != len(in.Schema) || len(out.KeyValueMetadata) != len(in.KeyValueMetadata) {
			t.Fatalf("%s: %d rows, %d columns, %d keys", name, out.NumRows, len(out.Schema), len(out.KeyValueMetadata))
		}
		for i := range in.Schema[1:] {
			a, b := in.Schema[i+1], out.Schema[i+1]
			if a.LogicalType.String() != b.LogicalType.String() || a.ConvertedType != b.ConvertedType || a.Type != b.Type || a.Name != b.Name ||
				a.Precision != b.Precision || a.RepetitionType != b.RepetitionType || a.TypeLength != b.TypeLength {
				t.Errorf("%s: %+v is %+v", name, a, b)
			}
		}
		for _, kv := range in.KeyValueMetadata {
			if !slices.Contains(out.KeyValueMetadata, format.KeyValue(kv)) {
				t.Errorf("%s: the key %q is not copied", name, kv.Key)
			}
		}
		for i, col := range out.RowGroups[0].Columns {
			m, was := col.MetaData, in.RowGroups[0].Columns[i].MetaData
			path := strings.Join(m.PathInSchema, ".")
			for _, st := range m.EncodingStats {
				if !fits(st.Encoding, m.Type) {
					t.Errorf("%s: the column %s of type %v is encoded as %v", name, path, m.Type, st.Encoding)
				}
			}
			if m.Codec != was.Codec || m.Statistics.NullCount > m.NumValues || m.NumValues == 0 {
				t.Errorf("%s: the column %s was %+v and is %+v", name, path, was, m)
			}
			switch path {
			case "text", "f16", "decimal30", "null": // long values, or values with an order that the writer does not support
				if m.Statistics.MinValue != nil {
					t.Errorf("%s: the column %s has bounds", name, path)
				}
			case "f64":
				if s := m.Statistics; isNaN(s.MinValue) || isNaN(s.MaxValue) || s.MinValue == nil {
					t.Errorf("%s: the bounds of %s are %x and %x", name, path, s.MinValue, s.MaxValue)
				}
			}
			if col.ColumnIndexOffset != 0 || col.OffsetIndexOffset != 0 {
				t.Errorf("%s: the column %s has an index of pages", name, path)
			}
		}
		again, _, err := readAll(must(source(copied, records.Options{})))
		if err != nil || len(again) != 20 {
			t.Fatal(name, len(again), err)
		}
		for i, rec := range must2(readAll(must(source(data, records.Options{})))) {
			if i%3 != 1 && string(again[i-(i+1)/3].Doc.Fields) != string(rec.Doc.Fields) {
				t.Errorf("%s: the fields %s are %s", name, rec.Doc.Fields, again[i-(i+1)/3].Doc.Fields)
			}
		}
	}
}

// must2 returns the records of a file that must have no errors.
func must2(recs []records.Record, issues []string, err error) []records.Record {
	if err != nil || len(issues) > 0 {
		panic(err)
	}
	return recs
}

// fits reports whether the format has an encoding for values of a type that other programs read.
func fits(e format.Encoding, t format.Type) bool {
	switch e {
	case format.Plain:
		return true
	case format.RLEDictionary:
		return t != format.Boolean
	case format.DeltaBinaryPacked:
		return t == format.Int32 || t == format.Int64
	case format.DeltaLengthByteArray, format.DeltaByteArray:
		return t == format.ByteArray
	case format.ByteStreamSplit:
		return t == format.Float || t == format.Double
	}
	return false
}

// The encoding of an output column supports its type, whatever the list of the input is.
func TestOutEncoding(t *testing.T) {
	types := []pq.Type{pq.BooleanType, pq.Int32Type, pq.Int64Type, pq.Int96Type, pq.FloatType, pq.DoubleType, pq.ByteArrayType, pq.FixedLenByteArrayType(5)}
	for first := format.Plain; first <= format.ByteStreamSplit; first++ {
		for second := format.Plain; second <= format.ByteStreamSplit; second++ {
			for _, typ := range types {
				got := outEncoding(typ, []format.Encoding{first, second}).Encoding()
				if !fits(got, format.Type(typ.Kind())) && got != format.DeltaByteArray {
					t.Errorf("%v with %v and %v is encoded as %v", typ, first, second, got)
				}
			}
		}
	}
	//lint:ignore SA1019 old files have it
	if got := outEncoding(pq.ByteArrayType, []format.Encoding{format.RLE, format.PlainDictionary, format.Plain}).Encoding(); got != format.RLEDictionary {
		t.Errorf("strings in a dictionary are encoded as %v", got)
	}
}

// Unusual but unambiguous footers are read: a key without a value, annotations that do not fit,
// compressions that differ between row groups.
func TestOddFooters(t *testing.T) {
	data := write(t, samples(30), 10, pq.Compression(&pq.Snappy), pq.KeyValueMetadata("a", "b"))
	want := must2(readAll(must(source(data, records.Options{}))))
	same := func(name string, data []byte) {
		t.Helper()
		src, err := source(data, records.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, rec := range must2(readAll(src)) {
			if rec.Doc.Text != want[i].Doc.Text || rec.Doc.ID != want[i].Doc.ID {
				t.Fatalf("%s: row %d is %+v, want %+v", name, i, rec.Doc, want[i].Doc)
			}
		}
		if out := footerOf(t, copyPart(t, data)); out.NumRows != 20 {
			t.Errorf("%s: %d rows", name, out.NumRows)
		}
	}
	same("no value", withFooter(t, data, func(m *metadata) {
		m.KeyValueMetadata = append(m.KeyValueMetadata, keyValue{Key: "none"}, keyValue{Key: "a", Value: "c"})
	}))
	full := footerOf(t, data)
	for i := range full.RowGroups {
		full.RowGroups[i].Columns[1].MetaData.KeyValueMetadata = []format.KeyValue{{Key: "none"}}
	}
	same("no value of a column", withFooterBytes(data, bytes.ReplaceAll(must(thrift.Marshal(new(thrift.CompactProtocol), full)),
		[]byte("\x18\x04none\x18\x00"), []byte("\x18\x04none"))))
	same("annotation", withFooter(t, data, func(m *metadata) {
		for i := range m.Schema {
			if m.Schema[i].Name == "hash" {
				m.Schema[i].LogicalType.Value = &format.UUIDType{}
			}
		}
	}))
	other := write(t, samples(30), 10, pq.Compression(&pq.Zstd))
	shift := int64(len(data))
	same("compressions", withFooter(t, append(slices.Clone(data), other...), func(m *metadata) {
		theirs := *m
		*m = *must(readFooter(bytes.NewReader(data), int64(len(data))))
		for i := range theirs.RowGroups[1].Columns {
			c := &theirs.RowGroups[1].Columns[i].MetaData
			c.DataPageOffset += shift
			if c.DictionaryPageOffset > 0 {
				c.DictionaryPageOffset += shift
			}
		}
		m.RowGroups[1] = theirs.RowGroups[1]
	}))
	for want, change := range map[string]func(*columnChunk){
		"lists the rows of \"part-0\" and other files": func(c *columnChunk) { c.FilePath = "part-0" },
		"encrypted":                func(c *columnChunk) { c.CryptoMetadata.Value = &format.EncryptionWithFooterKey{} },
		"the encoding Encoding(?)": func(c *columnChunk) { c.MetaData.Encoding = []format.Encoding{100} },
	} {
		bad := withFooter(t, data, func(m *metadata) { change(&m.RowGroups[2].Columns[0]) })
		if _, err := source(bad, records.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// LZ4 is read as Hadoop writes it, in blocks with their sizes, and also without sizes.
func TestHadoopLZ4(t *testing.T) {
	text := bytes.Repeat([]byte("a text that is compressed "), 100)
	block := func(b []byte) []byte { return must(writeCodec(format.Lz4Raw).Encode(nil, b)) }
	frame := func(b []byte) []byte {
		packed := block(b)
		to := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
		return append(binary.BigEndian.AppendUint32(to, uint32(len(packed))), packed...)
	}
	for name, packed := range map[string][]byte{"block": block(text), "frame": frame(text), "frames": append(frame(text[:1000]), frame(text[1000:])...)} {
		got, err := decompress([]byte("before "), packed, format.Lz4, len(text))
		if err != nil || string(got) != "before "+string(text) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		for n := range packed {
			if got, err := decompress(nil, packed[:n], format.Lz4, len(text)); err == nil && len(got) == len(text) {
				t.Errorf("%s cut to %d bytes is read", name, n)
			}
		}
	}
}

// DuckDB stores differences of 32-bit numbers in more bits. They are decoded correctly.
func TestWideDeltas(t *testing.T) {
	data := must(os.ReadFile(filepath.Join("testdata", "wide-delta.parquet")))
	for name, data := range map[string][]byte{"the file": data, "a copy": copyPart(t, data)} {
		recs := must2(readAll(must(source(data, records.Options{}))))
		if len(recs) != 40 && len(recs) != 27 {
			t.Fatalf("%s: %d rows", name, len(recs))
		}
		for _, rec := range recs {
			i := must(strconv.Atoi(rec.Doc.ID[1:]))
			want := fmt.Sprintf(`{"u32":%d}`, []uint32{math.MaxUint32 - uint32(i), uint32(i), 1<<31 + uint32(i)}[i%3])
			if i%7 == 0 {
				want = ""
			}
			if string(rec.Doc.Fields) != want {
				t.Errorf("%s: row %d has the fields %s, want %s", name, i, rec.Doc.Fields, want)
			}
		}
	}
}

// Runs of booleans that pyarrow stores in any length are decoded correctly.
func TestRuns(t *testing.T) {
	for _, name := range []string{"runs-1", "runs-2"} {
		data := must(os.ReadFile(filepath.Join("testdata", name+".parquet")))
		for name, data := range map[string][]byte{name: data, "a copy of " + name: copyPart(t, data)} {
			recs := must2(readAll(must(source(data, records.Options{}))))
			if len(recs) != 300 && len(recs) != 200 {
				t.Fatalf("%s: %d rows", name, len(recs))
			}
			for _, rec := range recs {
				i := must(strconv.Atoi(rec.Doc.ID[1:]))
				want := fmt.Sprintf(`{"some":%[1]v,"all":%[1]v}`, i*i/500%3 == 1)
				if i%7 == 3 {
					want = fmt.Sprintf(`{"all":%v}`, i*i/500%3 == 1)
				}
				if string(rec.Doc.Fields) != want {
					t.Errorf("%s: row %d has the fields %s, want %s", name, i, rec.Doc.Fields, want)
				}
			}
		}
	}
}

// A page without values, as pyarrow writes for lists, is skipped.
func TestEmptyPage(t *testing.T) {
	data := must(os.ReadFile(filepath.Join("testdata", "empty-page.parquet")))
	for i, rec := range must2(readAll(must(source(data, records.Options{})))) {
		list := []int{0, 1, 2, 3, 4, 5, 6, 7}[:i%2*6+i%3]
		want := string(must(json.Marshal(map[string]any{"list": list})))
		if i%3 == 1 {
			want = ""
		}
		if got := string(rec.Doc.Fields); got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
}

// A text may be a number, a boolean or null, and an ID a whole number of any type. Numbers of half
// precision are numbers in fields.
func TestNumbersAsText(t *testing.T) {
	type row struct {
		ID    float64
		Float float32
		Int   int64
		Small float64
		Bool  bool
	}
	rows := []row{{1, 1e6, -7, 0.25, true}, {1234567, 0.1, 1 << 60, 1e-7, false}, {1.5, 0, 0, 0, false}, {1 << 53, 0, 0, 0, false}}
	data := write(t, rows, 10)
	for column, want := range map[string][]string{
		"Float": {"1000000", "0.1"}, "Int": {"-7", "1152921504606846976"}, "Small": {"0.25", "1e-07"}, "Bool": {"true", "false"},
	} {
		recs, issues, err := readAll(must(source(data, records.Options{IDField: "ID", TextField: column})))
		if err != nil || len(recs) != 2 || len(issues) != 2 || recs[0].Doc.ID != "1" || recs[1].Doc.ID != "1234567" ||
			recs[0].Doc.Text != want[0] || recs[1].Doc.Text != want[1] {
			t.Errorf("%s: %+v, %q, %v", column, recs, issues, err)
		}
	}
	data = must(os.ReadFile(filepath.Join("testdata", "plain.parquet")))
	recs := must2(readAll(must(source(data, records.Options{TextField: "null"}))))
	if len(recs) != 30 || recs[0].Doc.Text != "" || !strings.Contains(string(recs[0].Doc.Fields), `"f16":-20,`) {
		t.Errorf("%s", recs[0].Doc.Fields)
	}
	if _, err := source(data, records.Options{IDField: "date"}); err == nil || !strings.Contains(err.Error(), `the column "date" is of type DATE: an id is`) {
		t.Error(err)
	}
	for bits, want := range map[uint16]float64{0: 0, 1: 0x1p-24, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0xfc00: math.Inf(-1), 0x3555: 0.333251953125} {
		if got := half(binary.LittleEndian.AppendUint16(nil, bits)); got != want {
			t.Errorf("%x is %v, want %v", bits, got, want)
		}
	}
}

// fastparquet writes pages with surplus bytes. Reading them prints no warning of parquet-go.
func TestFastparquet(t *testing.T) {
	if os.Getenv("FASTPARQUET") == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestFastparquet$")
		again.Env = append(os.Environ(), "FASTPARQUET=1")
		if out, err := again.CombinedOutput(); err != nil || bytes.Contains(out, []byte("warning")) {
			t.Errorf("%v, %s", err, out)
		}
		return
	}
	recs, issues, err := readAll(must(source(must(os.ReadFile("testdata/fastparquet.parquet")), records.Options{})))
	if err != nil || len(issues) > 0 || len(recs) != 6 {
		t.Fatal(recs, issues, err)
	}
	for i, rec := range recs {
		if want := fmt.Sprintf("alpha beta %d", i); rec.Doc.Text != want && (i%3 != 0 || rec.Doc.Text != "") || string(rec.Doc.Fields) != `{"sure":"x"}` {
			t.Errorf("row %d: %q, %s", i, rec.Doc.Text, rec.Doc.Fields)
		}
	}
}

// A fingerprint may be 8 bytes, most significant first, and a text a decimal number. The message
// for a text in a list of objects gives its path.
func TestPlainTypes(t *testing.T) {
	type message struct {
		Role    string `parquet:"role"`
		Content string `parquet:"content"`
	}
	type row struct {
		ID       string    `parquet:"id"`
		Fixed    [8]byte   `parquet:"fixed"`
		Bytes    []byte    `parquet:"bytes"`
		Price    int64     `parquet:"price,decimal(2:9)"`
		Messages []message `parquet:"messages,list"`
	}
	hash := [8]byte{0x9f, 0x3c, 0x5a, 0, 0x11, 0x22, 0x33, 0x44}
	data := write(t, []row{{"a", hash, hash[:], 1234, []message{{"user", "one two"}}}}, 1)
	for _, field := range []string{"fixed", "bytes"} {
		recs, issues, err := readAll(must(source(data, records.Options{FingerprintField: field})))
		if err != nil || len(issues) > 0 || len(recs) != 1 || recs[0].Flaw != "" || recs[0].Doc.Fingerprints[0][0] != 0x9f3c5a0011223344 {
			t.Errorf("%s: %+v, %v, %v", field, recs, issues, err)
		}
	}
	if recs, _, err := readAll(must(source(data, records.Options{TextField: "price"}))); err != nil || len(recs) != 1 || recs[0].Doc.Text != "12.34" {
		t.Errorf("%+v, %v", recs, err)
	}
	_, err := source(data, records.Options{})
	if want := `"messages[].content"; did you mean "messages[].content"?); TextField names another, FingerprintField one with fingerprints`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
