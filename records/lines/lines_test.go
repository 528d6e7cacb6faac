package lines

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// newFile opens a file with this content.
func newFile(name string, src io.ReadCloser, size int64, opt records.Options) (*file, error) {
	s, err := records.New(name, src, size, opt)
	if err != nil {
		return nil, err
	}
	return s.(*file), nil
}

// read returns the records of a file with this name and content as lines: "3
// id|text|fields|fingerprint", followed by "~flaw" if there is one, or "3! reason".
func read(t testing.TB, name, content string, opt records.Options) (got []string, f *file, err error) {
	t.Helper()
	f, err = newFile(name, io.NopCloser(strings.NewReader(content)), int64(len(content)), opt)
	if err != nil {
		return nil, nil, err
	}
	got, err = collect(f)
	return got, f, err
}

// collect returns the records of a Source in the format of read.
func collect(src records.Source) (got []string, err error) {
	for r, e := range src.Records(context.Background()) {
		if is, ok := errors.AsType[*records.Issue](e); ok {
			got = append(got, fmt.Sprintf("%d! %s", is.Pos, is.Reason))
			continue
		} else if e != nil {
			return got, e
		}
		fp := base.AppendHexWords(nil, firstOf(r.Doc.Fingerprints))
		line := fmt.Sprintf("%d %s|%s|%s|%s", r.Pos, r.Doc.ID, r.Doc.Text, r.Doc.Fields, fp)
		if r.Flaw != "" {
			line += "~" + r.Flaw
		}
		got = append(got, line)
	}
	return got, nil
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		name, file, content string
		opt                 records.Options
		want                []string
	}{
		{"jsonl", "a.jsonl", `{"id":"a","text":"x y"}` + "\n\n" + `{"text":"q\n\"\u00e9", "n":1.50, "id":12345678901234567890,"l":[1, {"a":"}"}]}`, records.Options{},
			[]string{`1 a|x y||`, "3 12345678901234567890|q\n\"é|" + `{"n":1.50,"l":[1, {"a":"}"}]}|`}},
		{"jsonl fields", "a.jsonl", `{"key":1e5,"body":"x","fp":"0xFF"}` + "\r\n" + `{"key":-0,"body":null,"fp":18446744073709551615}`,
			records.Options{IDField: "key", TextField: "body", FingerprintField: "fp"},
			[]string{`1 1e5|x||00000000000000ff`, `2 -0|||ffffffffffffffff`}},
		{"last of equal names", "-", `{"id":"a","text":"x","id":"b","\u0074ext":"y"}`, records.Options{}, []string{`1 b|y||`}},
		{"bom", "a.jsonl", "\xef\xbb\xbf" + `{"id":"a","text":"x"}`, records.Options{}, []string{`1 a|x||`}},
		{"bad utf8", "a.jsonl", `{"id":"a","text":"x` + "\xff\xfe" + `"}`, records.Options{}, []string{"1 a|x\ufffd\ufffd||"}},
		{"csv", "a.csv", "id,text,note\r\n1,\"a \"\"b\"\",\nc\",5\" disk\r\n2,x,\"\"", records.Options{},
			[]string{"2 1|a \"b\",\nc|" + `{"note":"5\" disk"}|`, `4 2|x|{"note":""}|`}},
		{"csv by number", "a.csv", "k,v\n1,2\n", records.Options{IDField: "2", TextField: "1"}, []string{"2 2|1||"}},
		{"csv no header", "a.csv", "k,v\n1,2\n", records.Options{NoHeader: true}, []string{"1 k|v||", "2 1|2||"}},
		{"tsv", "a.tsv.gz", "text\tid\t<b>\na\\t\"b\t7\t<é>\n", records.Options{}, []string{`2 7|a\t"b|{"<b>":"<é>"}|`}},
		{"txt", "a.txt", "one\n\ntwo words", records.Options{}, []string{"1 a.txt:1|one||", "3 a.txt:3|two words||"}},
		{"hex id", "-", "9f3c5a0011223344\t17\n00000000000000ff\t18\n", records.Options{}, []string{"1 17|||9f3c5a0011223344", "2 18|||00000000000000ff"}},
		{"id hex", "f.tsv", "17\t9f3c5a0011223344\nab\t0xff\n", records.Options{}, []string{"1 17|||9f3c5a0011223344", "2 ab|||00000000000000ff"}},
		{"hex", "f.txt", "9f3c5a0011223344\n\n00000000000000ff", records.Options{}, []string{"1 1|||9f3c5a0011223344", "3 3|||00000000000000ff"}},
		{"columns", "f", "id\t64x64\t0xff\n", records.Options{Format: Fingerprints, IDField: "1", FingerprintField: "3"}, []string{"1 id|||00000000000000ff"}},
		{"hashes", "f", "id\thash\nx\t18446744073709551615\ny\t18446744073709551616\n", records.Options{},
			[]string{"2 x|||ffffffffffffffff", "3 y|||~the fingerprint 18446744073709551616 does not fit into 64 bits"}},
		{"empty", "f", "", records.Options{}, nil},
		{"skip", "a.jsonl", "{\"id\":1,\"text\":\"\"}\n!\n{\"id\":3,\"text\":\"\"}", records.Options{After: 2}, []string{"3 3|||"}},
		{"skip csv", "a.csv", "id,text\n1,\"\n\"\n2,x\n", records.Options{After: 3}, []string{"4 2|x||"}},
		{"made ids", "a.jsonl", `{"text":"x"}`, records.Options{MakeID: true}, []string{"1 a.jsonl:1|x||"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := read(t, c.file, c.content, c.opt)
			if err != nil || strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got %q, %v\nwant %q", got, err, c.want)
			}
		})
	}
}

func TestBadLines(t *testing.T) {
	good := `{"id":"ok","text":"x"}`
	for _, c := range []struct{ file, content, want string }{
		{"a.jsonl", `{"id":"a","text":"x"`, "not JSON: unexpected end of JSON input (byte 20)"},
		{"a.jsonl", `hello`, "not JSON: invalid character 'h' looking for beginning of value (byte 1)"},
		{"a.jsonl", `{"id":"a","text":"x"} x`, "not JSON: invalid character 'x' after top-level value (byte 23)"},
		{"a.jsonl", `[1]`, "not a JSON object but an array: jq -c '{id: .[0], text: .[1]}' FILE makes objects from them"},
		{"a.jsonl", `["1","x"]`, "not a JSON object but an array: jq -c '{id: .[0], text: .[1]}' FILE makes objects from them"},
		{"a.jsonl", `["x","y","z"]`, "not a JSON object but an array of strings: jq -c '.[] | {text: .}' FILE makes an object from each"},
		{"a.jsonl", `"x"`, "not a JSON object but a string: jq -c '{text: (.[]? // .)}' FILE makes objects from them"},
		{"a.jsonl", `7`, "not a JSON object"},
		{"a.jsonl", `{"text":"x"}`, `no "id" (its fields are "text"); IDField names another, IDFrom: "line" makes ids`},
		{"a.jsonl", `{"text":"x","ids":1,"url":"u"}`, `no "id" (its fields are "text", "ids", "url"; did you mean "ids"?); IDField names another, IDFrom: "line" makes ids`},
		{"a.jsonl", `{"id":"","text":"x"}`, `the id is empty`},
		{"a.jsonl", `{"id":null,"text":"x"}`, `"id" is null, which is not an id, IDFrom: "line" makes ids`},
		{"a.jsonl", `{"id":"` + strings.Repeat("i", 65536) + `","text":"x"}`, `the id has 65536 bytes; the limit is 65535`},
		{"a.jsonl", `{"id":true,"text":"x"}`, `"id" is true, which is not an id, IDFrom: "line" makes ids`},
		{"a.jsonl", `{"id":{"$oid":"5f"},"text":"x"}`, `"id" is an object: IDField: "id.$oid" reads its contents`},
		{"a.jsonl", `{"id":["a"],"text":"x"}`, `"id" is a list`},
		{"a.jsonl", `{"id":1,"text":"x","n":NAN}`, `not JSON: invalid character 'N' looking for beginning of value (byte 24)`},
		{"a.jsonl", `{"id":1,"page":{"body":{"t":"x","l":{"m":{"n":1}}},"e":{}}}`, `1||{"page":{"body":{"t":"x","l":{"m":{"n":1}}},"e":{}}}|~no "text" and no "fingerprint" (its fields are "id", "page.body.t", "page.body.l.m.n"); TextField and FingerprintField name others`},
		{"a.jsonl", `{"id":1}`, `1|||~no "text" and no "fingerprint" (its fields are "id"); TextField and FingerprintField name others`},
		{"a.jsonl", `{"id":1,"text":2}`, `1|2||`},
		{"a.jsonl", `{"id":1,"text":-1.50}`, `1|-1.50||`},
		{"a.jsonl", `{"id":1,"text":false}`, `1|false||`},
		{"a.jsonl", `{"id":1,"text":NaN}`, `1|||`},
		{"a.jsonl", `{"id":1,"text":"NaN","n":NaN,"m":[-Infinity,{"k":Infinity}]}`, `1|NaN|{"n":null,"m":[-1e999,{"k":1e999}]}|`},
		{"a.jsonl", `{"id":1,"text":[{"a":1}]}`, `1||{"text":[{"a":1}]}|~"text" is a list`},
		{"a.jsonl", `{"id":1,"text":{"en":"a"}}`, `1||{"text":{"en":"a"}}|~"text" is an object: TextField: "text.en" reads its contents`},
		{"a.jsonl", `{"id":1,"fingerprint":"0123456789abcdef0"}`, `1|||~the fingerprint has 17 hexadecimal digits; 64 bits have at most 16`},
		{"a.jsonl", `{"id":1,"fingerprint":1.5}`, `1|||~the fingerprint is neither a string nor a whole number of 64 bits`},
		{"a.jsonl", strings.Repeat("[", 20000), `not JSON: nested deeper than 10000`},
	} {
		got, _, err := read(t, c.file, good+"\n"+c.content+"\n"+good+"\n", records.Options{})
		if err != nil || len(got) != 3 || got[1] != "2! "+c.want && got[1] != "2 "+c.want {
			t.Errorf("%.60s: got %q, %v; want %q", c.content, got, err, c.want)
		}
	}
	for content, want := range map[string]string{
		"ffc0989cb89880811\tb": "b|||~the fingerprint has 17 hexadecimal digits; 64 bits have at most 16",
		"ffc0989cb898808g\tb":  `b|||~not a fingerprint: "ffc0989cb898808g" is neither 16 hexadecimal digits nor a decimal number`,
		"ffc0989cb8988081":     "no id beside the fingerprint",
		"nzxaABEiM0Q=\tb":      `b|||~not a fingerprint: "nzxaABEiM0Q=" is neither 16 hexadecimal digits nor a decimal number; Fingerprints: base64 reads it`,
		"ffc0989cb8988081\t":   "the id is empty",
		"ff\ta\tb":             "3 columns where a fingerprint and an id are expected (FingerprintField and IDField name the columns by number)",
	} {
		got, _, err := read(t, "f", "ffc0989cb8988081\ta\n"+content+"\n", records.Options{Format: Fingerprints})
		if err != nil || len(got) != 2 || got[1] != "2! "+want && got[1] != "2 "+want {
			t.Errorf("%q: got %q, %v; want %q", content, got, err, want)
		}
	}
	got, _, err := read(t, "a.csv", "id,text\n1,x\n2\n3,\"x\n4,y\n", records.Options{})
	want := []string{"2 1|x||", "3 2|||", "4! a quoted field is not closed"}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestRefusedFiles(t *testing.T) {
	for _, c := range []struct{ file, content, want string }{
		{"a.csv", "key,body\n1,x\n", `a.csv: there is no column "id" (there are "key", "body"; did you mean "key"?); IDField names another, IDFrom: "line" makes ids, NoHeader reads the first line as data`},
		{"a.csv", "id;body\n1;x\n", `a.csv: there is no column "id" (there are "id;body"; did you mean "id;body"?); IDField names another, IDFrom: "line" makes ids, NoHeader reads the first line as data; use Delimiter: ';' if that separates columns`},
		{"a.csv", "id,body\n1,x\n", `a.csv: there is no column "text" (there are "id", "body"; did you mean "body"?); TextField names another, FingerprintField one with fingerprints, NoHeader reads the first line as data`},
		{"a.jsonl.xz", "\xfd7zXZ\x00abc", "a.jsonl.xz: it is xz-compressed: xz -dk FILE decompresses it"},
		{"a.bin", "\x01\x02\x00\n", "a.bin: it has NUL bytes, so it is not text; Format: \"txt\" reads it anyway"},
		{"a.gz", "\x1f\x8b\x08", "a.gz: the gzip data end too early, is the file truncated? (unexpected EOF)"},
	} {
		_, _, err := read(t, c.file, c.content, records.Options{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v; want %s", c.file, err, c.want)
		}
	}
	if _, err := records.Open(t.TempDir(), records.Options{}); err == nil || !strings.HasSuffix(err.Error(), "it is a folder") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := records.Open(filepath.Join(t.TempDir(), "x"), records.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func gz(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.String()
}

func zst(t testing.TB, s string) string {
	e := must.Get(zstd.NewWriter(nil))(t)
	return string(e.EncodeAll([]byte(s), nil))
}

func TestCompressed(t *testing.T) {
	a, b := "{\"id\":1,\"text\":\"a\"}\n", "{\"id\":2,\"text\":\"b\"}\n"
	for name, content := range map[string]string{"gzip": gz(a) + gz(b), "zstd": zst(t, a) + zst(t, b)} {
		got, f, err := read(t, "x", content, records.Options{})
		if err != nil || len(got) != 2 || got[1] != "2 2|b||" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if done, size := f.Progress(); done != size || size != int64(len(content)) {
			t.Errorf("%s: progress %d of %d", name, done, size)
		}
	}
}

// manyLines returns n documents, and the lines that read returns for them.
func manyLines(n int) (content string, want []string) {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range n {
		text := strings.Repeat("w", r.IntN(40)*r.IntN(40))
		fmt.Fprintf(&b, "{\"id\":%d,\"text\":\"%s\"}\n", i, text)
		want = append(want, fmt.Sprintf("%d %d|%s||", i+1, i, text))
	}
	return b.String(), want
}

func TestOrderIsKept(t *testing.T) {
	content, want := manyLines(20000)
	for _, c := range []string{content, gz(content)} {
		got, _, err := read(t, "a.jsonl", c, records.Options{Workers: 4})
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("%d lines, want %d: %v", len(got), len(want), err)
		}
	}
}

// A truncated gzip file yields every complete line, and then an error that gives the last line
// read.
func TestTruncated(t *testing.T) {
	content, want := manyLines(3000)
	for name, z := range map[string]string{"gzip": gz(content), "zstd": zst(t, content)} {
		for _, cut := range []int{len(z) / 3, len(z) / 2, len(z) - 9, len(z) - 1} {
			got, _, err := read(t, "a.jsonl", z[:cut], records.Options{})
			re, ok := errors.AsType[*records.ReadError](err)
			if !ok || !errors.Is(err, io.ErrUnexpectedEOF) || int(re.Pos) != max(0, len(got)) && len(got) > 0 {
				t.Fatalf("%s cut at %d of %d: %d lines, %v", name, cut, len(z), len(got), err)
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("%s cut at %d: line %d is %.60q", name, cut, i+1, got[i])
				}
			}
		}
		bad := []byte(z)
		bad[len(bad)/2] ^= 0x40
		if _, _, err := read(t, "a.jsonl", string(bad), records.Options{}); err == nil {
			t.Errorf("%s: a flipped bit was not noticed", name)
		}
	}
}

// endless yields head, then n bytes of filling, then tail.
func endless(head string, n int64, tail string) io.Reader {
	return io.MultiReader(strings.NewReader(head), io.LimitReader(filling{}, n), strings.NewReader(tail))
}

type filling struct{}

func (filling) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// A line over the limit is copied without being held in memory, and the next line is read.
func TestHugeLine(t *testing.T) {
	for _, size := range []int64{records.MaxRecord, 300 << 20} {
		r := endless("{\"id\":1,\"text\":\"x\"}\n{\"id\":2,\"text\":\"", size, "\"}\n{\"id\":3,\"text\":\"y\"}")
		f := must.Get(newFile("a.jsonl", io.NopCloser(r), -1, records.Options{}))(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var got []string
		for r, err := range f.Records(context.Background()) {
			if err != nil {
				got = append(got, err.Error())
				is, _ := errors.AsType[*records.Issue](err)
				raw, done, err := is.Bytes()
				if begin, end := []byte("{\"id\":2,\"text\":\"aaa"), []byte("aaa\"}\n"); err != nil || int64(len(raw)) != size+int64(len(`{"id":2,"text":""}`))+1 ||
					!bytes.HasPrefix(raw, begin) || !bytes.HasSuffix(raw, end) || bytes.Count(raw, []byte("a")) != int(size) {
					t.Errorf("the issue has %d bytes, %v", len(raw), err)
				}
				done()
				continue
			}
			got = append(got, fmt.Sprintf("%d %s", r.Pos, r.Doc.ID))
		}
		runtime.ReadMemStats(&after)
		want := fmt.Sprintf("[1 1 a.jsonl:2: too large: %d bytes; the limit of a document is %d 3 3]", size+19, records.MaxRecord)
		if fmt.Sprint(got) != want {
			t.Errorf("got %v\nwant %v", got, want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 {
			t.Errorf("%d MiB were allocated", used>>20)
		}
	}
}

func TestLargestLine(t *testing.T) {
	const n = 40 << 20
	f := must.Get(newFile("a.txt", io.NopCloser(endless("x\n", n, "\ny\n")), -1, records.Options{}))(t)
	var sizes []int
	for r, err := range f.Records(context.Background()) {
		must.Do(t, err)
		sizes = append(sizes, len(r.Doc.Text))
	}
	if fmt.Sprint(sizes) != fmt.Sprint([]int{1, n, 1}) {
		t.Errorf("texts of %v bytes", sizes)
	}
}

// A pipe's data is delivered before more is written.
func TestPipeIsLive(t *testing.T) {
	pr, pw := io.Pipe()
	ready := make(chan *file)
	go func() {
		f, err := newFile("-", pr, -1, records.Options{})
		if err != nil {
			t.Error(err)
		}
		ready <- f
	}()
	io.WriteString(pw, "first\n")
	f := <-ready
	n := 0
	for r, err := range f.Records(context.Background()) {
		must.Do(t, err)
		if n++; n < 4 {
			go fmt.Fprintf(pw, "after %s\n", r.Doc.Text)
		} else {
			pw.Close()
		}
	}
	if n != 4 {
		t.Errorf("%d records", n)
	}
}

func TestCancel(t *testing.T) {
	content, _ := manyLines(5000)
	f := must.Get(newFile("a.jsonl", io.NopCloser(strings.NewReader(content)), -1, records.Options{}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	n := 0
	for _, err := range f.Records(ctx) {
		if n++; n == 10 {
			cancel()
		}
		last = err
	}
	if n < 10 || !errors.Is(last, context.Canceled) && last != nil {
		t.Errorf("%d records, then %v", n, last)
	}
}

// The header and the Raw of all records, concatenated, are the file.
func TestRawIsVerbatim(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		content := randomCSV(r)
		f := must.Get(newFile("a.csv", io.NopCloser(strings.NewReader(content)), -1, records.Options{}))(t)
		var raw []byte
		var got [][]string
		for rec, err := range f.Records(context.Background()) {
			if err != nil {
				t.Fatalf("%v in %q", err, content)
			}
			raw = append(raw, rec.Raw...)
			got = append(got, []string{rec.Doc.ID, rec.Doc.Text})
		}
		if s := string(f.info.Columns) + string(raw); s != content {
			t.Fatalf("raw %q of %q", s, content)
		}
		want := must.Get(csv.NewReader(strings.NewReader(content)).ReadAll())(t)
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want[1:]) {
			t.Fatalf("%q\ngot  %q\nwant %q", content, got, want[1:])
		}
	}
}

// randomCSV returns a well-formed CSV file.
func randomCSV(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("id,text\n")
	parts := []string{"a", "\"\"", ",", "\n", "é", " ", "b\"\"c"}
	for i := range r.IntN(20) {
		fmt.Fprintf(&b, "%d,\"", i)
		for range r.IntN(8) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		b.WriteString("\"")
		if r.IntN(3) == 0 {
			b.WriteString("\r")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestFormatOf(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       records.Format
	}{
		{"x", `{"id":1}`, JSONL}, {"x.ndjson.gz", "", JSONL}, {"stdin", "id,text\n", CSV}, {"stdin", "Text\tID\n", TSV},
		{"stdin", "some words, and more\n", TXT}, {"fps.tsv", "ffc0989cb8988081\t1\n", Fingerprints}, {"x.tsv", "id\ttext\n", TSV},
		{"stdin", "ffc0989cb8988081\nffc0989cb8988082\n", Fingerprints}, {"stdin", "deadbeef\nbeadface\n", TXT},
		{"ids.csv", "ffc0989cb8988081\n", CSV}, {"x.zst", "id\thash\n1\t2\n", Fingerprints}, {"x.TXT", "", TXT},
	} {
		lines := sampleLines([]byte(c.head), true)
		if got := formatOf(c.name, lines, newSample(lines, 0), records.Options{}); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.name, c.head, got, c.want)
		}
	}
}

func BenchmarkJSONL(b *testing.B) {
	var sb strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&sb, `{"id":"doc-%d","text":"%s","url":"https://example.org/%d"}`+"\n", i,
			strings.Repeat(`Words of a \"document\" in lines,\nof the usual kind. `, 40), i)
	}
	b.SetBytes(int64(sb.Len()))
	for b.Loop() {
		f := must.Get(newFile("a.jsonl", io.NopCloser(strings.NewReader(sb.String())), -1, records.Options{}))(b)
		for _, err := range f.Records(b.Context()) {
			must.Do(b, err)
		}
	}
}

func BenchmarkFingerprints(b *testing.B) {
	var sb strings.Builder
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 200000 {
		fmt.Fprintf(&sb, "%016x\t%d\n", r.Uint64(), i)
	}
	b.SetBytes(int64(sb.Len()))
	for b.Loop() {
		f := must.Get(newFile("fps.tsv", io.NopCloser(strings.NewReader(sb.String())), -1, records.Options{}))(b)
		n := 0
		for _, err := range f.Records(b.Context()) {
			must.Do(b, err)
			n++
		}
		if n != 200000 {
			b.Fatal(n)
		}
	}
}

// firstOf returns the first fingerprint, or nil if there is none.
func firstOf(fps []engine.Fingerprint) []uint64 {
	if fps == nil {
		return nil
	}
	return fps[0]
}
