package lines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
	"unicode/utf8"

	"github.com/simdb/simdb/records"
)

// FuzzJSONLine compares the parser of JSON lines with encoding/json.
func FuzzJSONLine(f *testing.F) {
	for _, s := range []string{`{"id":"a","text":"x"}`, `{"id":1e400,"text":"\ud83d\ude00\u00e9\n"}`, `{"id":"a","text":"\ud800","b":[{"c":"]}"}]}`,
		`{"id":"a","id":2,"text":null}`, "{\"id\":\"\xff\",\"text\":\"\xed\xa0\x80\"}", ` { "\u0069d" : "q" , "text" : "" } `, `{}`, `[1]`, `{"id":`,
		`{"id":"a\\","text":"\\\"","x":"\\"}`, "{\"id\":1,\"text\":\"\"}\v", "\u00a0{\"id\":1,\"text\":\"\"}"} {
		f.Add([]byte(s))
	}
	o := newObject(records.Options{}, false)
	f.Fuzz(func(t *testing.T, line []byte) {
		var rec record
		rec.BadUTF8 = !utf8.Valid(line)
		reason := o.parse(bytes.Clone(line), &rec)
		var want map[string]any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		valid := json.Valid(line) && d.Decode(&want) == nil && want != nil
		if reason != "" {
			if id, _ := want["id"].(string); valid && id != "" && len(id) < 1000 {
				if text, ok := want["text"].(string); ok && want["fingerprint"] == nil {
					t.Fatalf("%q refused: %s (text %q)", line, reason, text)
				}
			}
			return
		}
		if !valid && json.Valid(standard(bytes.TrimSpace(line))) {
			return
		}
		if !valid {
			t.Fatalf("%q accepted, which encoding/json refuses", line)
		}
		switch id := want["id"].(type) {
		case string:
			if rec.Doc.ID != id {
				t.Fatalf("%q: id %q, want %q", line, rec.Doc.ID, id)
			}
		case json.Number:
			if rec.Doc.ID != id.String() {
				t.Fatalf("%q: id %q, want %s", line, rec.Doc.ID, id)
			}
		default:
			t.Fatalf("%q: id %q, want %v", line, rec.Doc.ID, id)
		}
		text, _ := want["text"].(string)
		switch v := want["text"].(type) {
		case json.Number:
			text = v.String()
		case bool:
			text = fmt.Sprint(v)
		}
		if rec.Doc.Text != text {
			t.Fatalf("%q: text %q, want %q", line, rec.Doc.Text, text)
		}
		if rec.Doc.Fields == nil {
			return
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(rec.Doc.Fields, &fields); err != nil {
			t.Fatalf("%q: fields %q: %v", line, rec.Doc.Fields, err)
		}
		for k := range fields {
			v, ok := want[k]
			_, list := v.([]any)
			if _, object := v.(map[string]any); !ok || !list && !object && (k == "id" || k == "text" || k == "fingerprint") {
				t.Fatalf("%q: field %q", line, k)
			}
		}
	})
}

// FuzzFile reads arbitrary bytes as a file. Nothing panics, and line numbers increase; in JSON,
// several records may share a line, and their ends count records. Every byte of an uncompressed
// file in UTF-8 is in the header, a record, an issue or a blank line.
func FuzzFile(f *testing.F) {
	f.Add("a.csv", []byte("id,text\n1,\"a\nb\"\n2,5\" x\n\"3\n"))
	f.Add("a.jsonl", []byte("\xef\xbb\xbf{\"id\":1,\"text\":\"x\"}\r\n\n{\"id\":2}\n"))
	f.Add("x", []byte("ffc0989cb8988081\ta\nffc0989cb89880811\tb\n"))
	f.Add("x", []byte(gz("a\nb\n")))
	f.Add("a.txt", []byte("\xff\xfea\x00\n\x00\x10}\n\x00"))
	f.Add("a.json", []byte("[{\"id\":1,\"text\":\"x\"}, 5 {\"id\":\n2}]\n{\"id\":3}"))
	f.Add("0", []byte("\ufeff{\"id\":1,\"text\":\"x\"}\rh\x92\xb8\b\x93i\n\nS2}\n"))
	f.Add("x", []byte("\x28\xb5\x2f\xfd\x04\x00\x19\x00\x00abc\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		in, err := newFile(name, io.NopCloser(bytes.NewReader(content)), -1, records.Options{Workers: 1})
		if err != nil {
			return
		}
		var line, end records.Position
		var size int64
		shared := records.Position(0) // 1 if a record may begin on the line of the previous one
		if in.info.Format.EndUnit() != in.info.Format.Unit() {
			shared = 1
		}
		for r, err := range in.Records(context.Background()) {
			if is, ok := errors.AsType[*records.Issue](err); ok {
				if is.Pos+shared <= line || is.Reason == "" {
					t.Fatalf("issue %v after line %d", is, line)
				}
				line, size = is.Pos, size+is.Size
			} else if err != nil {
				break
			} else {
				if r.Pos+shared <= line || r.End <= end || shared == 0 && r.End < r.Pos || r.Doc.ID == "" {
					t.Fatalf("record %d to %d, id %q, after line %d", r.Pos, r.End, r.Doc.ID, line)
				}
				line, end, size = r.End, r.End, size+int64(len(r.Raw))
				if shared == 1 {
					line = r.Pos
				}
			}
		}
		if in.info.Encoding == records.UTF8 && !in.in.Packed() && size+int64(len(in.info.Columns)) > int64(len(content)) {
			t.Fatalf("%d bytes in records of a file of %d", size, len(content))
		}
	})
}
