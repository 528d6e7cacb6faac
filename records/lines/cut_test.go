package lines

import (
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// written are characters encoded in JSON and CSV, and decoded.
var written = []struct{ json, csv, text string }{
	{`a`, `a`, "a"}, {`\n`, "\n", "\n"}, {`\u000A`, "\n", "\n"}, {`\r\n`, "\r\n", "\r\n"}, {`é`, `é`, "é"}, {`\u00e9`, `é`, "é"},
	{`\"`, `""`, `"`}, {`\\`, `\`, `\`}, {`\/`, `/`, "/"}, {`\u0000`, "\x00", "\x00"}, {`😀`, `😀`, "😀"}, {`\uD83D\uDe00`, `😀`, "😀"}, {`\t`, "\t", "\t"},
	{`,`, `,`, ","}, {`一`, `一`, "一"}, {`}{`, `}{`, "}{"}, {`�`, `�`, "\ufffd"}, {`\n`, "\n", "\n"},
}

// TestCutText cuts random texts at random line ends. The bytes of the remaining parts and all other
// bytes of the record must be the original ones.
func TestCutText(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		var whole strings.Builder
		var json, csv, cutJSON, cutCSV strings.Builder
		var keep []records.Span
		for range 1 + r.IntN(5) {
			stays, from := r.IntN(2) == 0, whole.Len()
			for range 1 + r.IntN(6) {
				c := written[r.IntN(len(written))]
				whole.WriteString(c.text)
				json.WriteString(c.json)
				csv.WriteString(c.csv)
				if stays {
					cutJSON.WriteString(c.json)
					cutCSV.WriteString(c.csv)
				}
			}
			if stays {
				keep = append(keep, records.Span{From: from, To: whole.Len()})
			}
		}
		object := ` { "text" : "x", "n":[1,{"text":"y"}],"m":{"text":"%s" ,"é":1.50}, "z":"\n" }` + "\r\n"
		for _, c := range []struct{ name, head, row, text, cut, field string }{
			{"in.jsonl", "", strings.ReplaceAll(object, `"text" : "x"`, `"text" : "%s"`), json.String(), cutJSON.String(), ""},
			{"in.jsonl", "", object, json.String(), cutJSON.String(), "m.text"},
			{"in.csv", "id,text,more\n", "17,\"%s\",\"q \"\"\"\r\n", csv.String(), cutCSV.String(), ""},
		} {
			row := strings.Replace(c.row, "%s", c.text, 1)
			want := strings.Replace(c.row, "%s", c.cut, 1)
			if c.field == "" && c.head == "" {
				row, want = strings.Replace(row, "%s", "w", 1), strings.Replace(want, "%s", "w", 1)
			}
			src, err := records.New(c.name, io.NopCloser(strings.NewReader(c.head+row)), -1, records.Options{TextField: c.field, MakeID: true})
			must.Do(t, err)
			must.Do(t, records.CanCut(src))
			n := 0
			for rec, err := range src.Records(context.Background()) {
				if err != nil {
					t.Fatalf("%q: %v", row, err)
				}
				n++
				if rec.Doc.Text != whole.String() {
					t.Fatalf("%q has the text %q, want %q", row, rec.Doc.Text, whole.String())
				}
				if got := string(records.CutText(src, rec, keep)); got != want {
					t.Fatalf("%q cut to %v is\n%q, want\n%q", row, keep, got, want)
				}
			}
			if n != 1 {
				t.Fatalf("%q: %d records", row, n)
			}
			src.Close()
		}
	}
}

// TestCutWithinLines cuts plain lines and unquoted cells at any character.
func TestCutWithinLines(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		var text, cut strings.Builder
		var keep []records.Span
		for range 1 + r.IntN(5) {
			from := text.Len()
			for range 1 + r.IntN(6) {
				text.WriteString([]string{"a", " ", "ä", "\"", "界", "'", "\\"}[r.IntN(7)])
			}
			if r.IntN(2) == 0 {
				keep = append(keep, records.Span{From: from, To: text.Len()})
				cut.WriteString(text.String()[from:])
			}
		}
		if keep == nil {
			continue
		}
		for _, c := range []struct{ name, head, before, after string }{
			{"in.txt", "", "", "\r\n"}, {"in.txt", "", "", ""},
			{"in.tsv", "id\ttext\tmore\n", "\"1\t", "\t\"\n"}, {"in.tsv", "id\ttext\n", "1\t", "\n"},
			{"in.csv", "id,more,text\n", "1,\" \"\",\",", "\n"},
		} {
			if c.name == "in.csv" && strings.HasPrefix(text.String(), `"`) {
				continue
			}
			in := c.head + c.before + text.String() + c.after
			src, err := records.New(c.name, io.NopCloser(strings.NewReader(in)), -1, records.Options{MakeID: true})
			if err == nil {
				err = records.CanCut(src)
			}
			must.Do(t, err)
			for rec, err := range src.Records(context.Background()) {
				if err != nil || rec.Doc.Text != text.String() {
					t.Fatalf("%q: %v, %q", in, err, rec.Doc.Text)
				}
				want := c.before + cut.String() + c.after
				if c.name == "in.csv" && strings.HasPrefix(cut.String(), `"`) {
					want = c.before + `"` + strings.ReplaceAll(cut.String(), `"`, `""`) + `"` + c.after
				}
				if got := string(records.CutText(src, rec, keep)); got != want {
					t.Fatalf("%q cut to %v is %q, want %q", in, keep, got, want)
				}
			}
			src.Close()
		}
	}
}

// TestCutOdd cuts records whose text cannot be cut byte for byte. Their text is encoded again; all
// other bytes stay the same.
func TestCutOdd(t *testing.T) {
	for _, c := range []struct{ name, in, text, want string }{
		{"x.jsonl", "{\"text\":\"a\\n\xff\\nb\",\"z\":\"\xff\"}", "a\n\ufffd\nb", "{\"text\":\"a\\nb\",\"z\":\"\xff\"}"},
		{"x.jsonl", `{"text":"a\n\ud800\nb"}`, "a\n\ufffd\nb", `{"text":"a\nb"}`},
		{"x.csv", "id,text,n\n1,\"a\n\n\"\"b\"c,3", "a\n\n\"bc", "1,\"a\n\"\"bc\",3"},
		{"x.csv", "id,text,n\n1,\"a\n\n\"b\"c\",3", "a\n\nb\"c\"", "1,\"a\nb\"\"c\"\"\",3"},
		{"x.csv", "id;text\n1;\"a\n\n;b\"\n", "a\n\n;b", "1;\"a\n;b\"\n"},
	} {
		opt := records.Options{MakeID: true}
		if strings.HasPrefix(c.in, "id;") {
			opt.Delimiter = ';'
		}
		src := must.Get(records.New(c.name, io.NopCloser(strings.NewReader(c.in)), -1, opt))(t)
		for rec, err := range src.Records(context.Background()) {
			if err != nil || rec.Doc.Text != c.text {
				t.Fatalf("%q: %v", c.in, err)
			}
			text := rec.Doc.Text
			keep := []records.Span{{From: 0, To: 2}, {From: strings.LastIndexByte(text, '\n') + 1, To: len(text)}}
			if got := string(records.CutText(src, rec, keep)); got != c.want {
				t.Errorf("%q is %q, want %q", c.in, got, c.want)
			}
		}
		src.Close()
	}
}

func TestCanCut(t *testing.T) {
	for _, opt := range []records.Options{{TextField: "a,b"}, {SetField: "set"}, {Fields: []string{"a"}}} {
		src, err := records.New("in.jsonl", io.NopCloser(strings.NewReader(`{"a":"x","b":"y","set":[]}`)), -1, opt)
		must.Do(t, err)
		if records.CanCut(src) == nil {
			t.Errorf("%+v can be cut", opt)
		}
		src.Close()
	}
}
