package lines

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// asUTF16 encodes a text with a byte order mark.
func asUTF16(text string, big bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

// Files in other encodings yield the same records as in UTF-8, and copies have the bytes of the
// input.
func TestEncodedFiles(t *testing.T) {
	const text = "id,text\n1,caf\u00e9 \U0001f600\n2,na\u00efve\n"
	const plain = "id,text\n1,caf\xe9\n2,na\xefve\n"
	longLine := `{"id":1, "text":"` + strings.Repeat("x", records.HeadBytes-20) + `"}` // its CR is the last byte of the head
	jsonText := "[\n{\"id\":1,\"text\":\"caf\u00e9\"},\n{\"id\":2,\"text\":\"x\"}\n]\n"
	for _, c := range []struct {
		file, content string
		encoding      records.Encoding
		shape, want   string
	}{
		{"a.csv", asUTF16(text, false), records.UTF8, "CSV in utf-16le", "2 1|café 😀|| 3 2|naïve||"},
		{"a.csv", asUTF16(text, true), records.UTF8, "CSV in utf-16be", "2 1|café 😀|| 3 2|naïve||"},
		{"a.csv", asUTF16(text, false)[2:], records.UTF16LE, "CSV in utf-16le", "2 1|café 😀|| 3 2|naïve||"},
		{"a.csv", plain, "latin1", "CSV in latin1", "2 1|café|| 3 2|naïve||"},
		{"a.csv", plain, "windows-1252", "CSV in windows-1252", "2 1|café|| 3 2|naïve||"},
		{"a.csv", plain, records.UTF8, "CSV", "2 1|caf\ufffd|| 3 2|na\ufffdve||"},
		{"-", asUTF16(text, false), records.UTF8, "CSV in utf-16le", "2 1|café 😀|| 3 2|naïve||"},
		{"a.csv", "id,text\r1,\"one\rtwo\"\r2,x\r", records.UTF8, "CSV with lines that end in CR", "2 1|one\ntwo|| 4 2|x||"},
		{"-", strings.ReplaceAll(plain, "\n", "\r"), "latin1", "CSV in latin1 with lines that end in CR", "2 1|café|| 3 2|naïve||"},
		{"a.csv", strings.ReplaceAll(asUTF16(text, false), "\n", "\r"), records.UTF8, "CSV in utf-16le with lines that end in CR", "2 1|café 😀|| 3 2|naïve||"},
		{"a.jsonl", "{\"id\":1,\"text\":\"x\"}\r{\"id\":2,\"text\":\"y\"}", records.UTF8, "JSON lines with lines that end in CR", "1 1|x|| 2 2|y||"},
		{"a.txt", "one\rtwo\r\nthree", records.UTF8, "plain text", "1 a.txt:1|one\rtwo|| 2 a.txt:2|three||"},
		{"a.jsonl", longLine + "\r\n{\"id\":2,\"text\":\"y\"}\r\n", records.UTF8, "JSON lines", "1 1|" + strings.Repeat("x", records.HeadBytes-20) + "|| 2 2|y||"},
		{"-", "\x1e{\"id\":1,\"text\":\"x\"}\n\ufeff{\"id\":2,\"text\":\"y\"}\n", records.UTF8, "JSON lines", "1 1|x|| 2 2|y||"},
		{"a.json", asUTF16(jsonText, true), records.UTF8, "a JSON array in utf-16be", "2 1|café|| 3 2|x||"},
	} {
		var r io.Reader = strings.NewReader(c.content)
		size := int64(len(c.content))
		if c.file == "-" {
			r, size = iotest.OneByteReader(r), -1
		}
		src, err := records.New(c.file, io.NopCloser(r), size, records.Options{Encoding: c.encoding})
		if err != nil {
			t.Error(c.shape, err)
			continue
		}
		var out bytes.Buffer
		var got []string
		to, err := src.Info().Format.NewCopier(&out, records.CopyOptions{Like: src})
		must.Do(t, err)
		for rec, err := range src.Records(context.Background()) {
			if err != nil {
				t.Fatal(c.shape, err)
			}
			got = append(got, strings.TrimSpace(strings.Join([]string{rec.Doc.ID, rec.Doc.Text}, "|")))
			if err := to.Copy(src, rec.Raw); err != nil {
				t.Fatal(c.shape, err)
			}
		}
		if err := to.Close(); err != nil {
			t.Fatal(c.shape, err)
		}
		if out.String() != c.content {
			t.Errorf("%s: %q became %q", c.shape, c.content, out.String())
		}
		if info := src.Info(); info.Shape != c.shape {
			t.Errorf("%q is not %q", info.Shape, c.shape)
		}
		for i, want := range strings.Split(strings.TrimSuffix(c.want, "||"), "|| ") {
			if _, want, _ := strings.Cut(want, " "); i >= len(got) || got[i] != want {
				t.Errorf("%s: record %d of %q is not %q", c.shape, i, got, want)
			}
		}
	}
	if _, _, err := read(t, "a.txt", "\xff\xfe\x00\x00a\x00\x00\x00", records.Options{}); err == nil || !strings.Contains(err.Error(), "it is UTF-32") {
		t.Error(err)
	}
}
