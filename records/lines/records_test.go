package lines

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// TestRecords reads records in a JSON object: its members, or the values at a path. A copy of all
// records reads the same.
func TestRecords(t *testing.T) {
	const h1, h2 = `"9f3c5a0011223344"`, `"9f3c5a0011223345"`
	deep := `{"n":1,"r":{"x":[1,{"items":[9]}],"items":[{"id":1,"text":"a"},` + "\n" + `{"id":2,"text":"b"}]},"items":[{"id":3}]}`
	for _, c := range []struct {
		content string
		opt     records.Options
		want    string // records in the format of read, or the error
	}{
		{`{"a.png":` + h1 + `,"b":` + h2 + `}`, records.Options{}, "1 a.png|||9f3c5a0011223344 1 b|||9f3c5a0011223345"},
		{"{\n \"a\\u0041\" : " + h1 + ",\n \"b\":-5727533220473680276\n}\n", records.Options{}, "2 aA|||9f3c5a0011223344 3 b|||b083b6e1ba6ace6c"},
		{`{"a.png":"` + strings.Repeat("9f3c", 16) + `","b":"` + strings.Repeat("9f3c", 16) + `"}`, records.Options{}, "1 a.png|||9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c 1 b|||9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c9f3c"},
		{`{"a.png":"` + strings.Repeat("9f3c5", 8) + `","b":"` + strings.Repeat("9f3c5", 8) + `"}`, records.Options{}, "the members of its object are hexadecimal hashes"},
		{`{"data": [{"id":1,"text":"a"}]}`, records.Options{}, `it is one object without "text" (its fields are "data[].id", "data[].text"; did you mean "data[].text"?): Records: "data" reads the records in it`},
		{deep, records.Options{}, `Records: "r.items" reads`},
		{`{"id":7,"name":"chat","messages":[{"id":1,"text":"a"}]}`, records.Options{}, `Records: "messages" reads`},
		{`{"id":7,"title":"one","messages":[{"role":"user","content":"a"}]}`, records.Options{MakeID: true}, `did you mean "messages[].content"?): Records: "messages" reads`},
		{`{"schema":{"fields":[{"name":"index"},{"name":"text"}]},"data":[{"index":0,"text":"a"}]}`, records.Options{}, `Records: "data" reads`},
		{`{"schema":{"fields":[{"name":"x"}]},"pages":{"n":1,"rows":[{"body":"longer than the other one"}]}}`, records.Options{}, `Records: "pages.rows" reads`},
		{`{"users":[{"id":1,"mail":"a@b.example, which is longer"}],"posts":[{"body":"b"}]}`, records.Options{TextField: "body"}, `Records: "posts" reads`},
		{`{"a":{"text":"t","tags":[{"id":"x"}]},"b":{"text":"u","tags":[{"id":"x"}]}}`, records.Options{}, `Records: "." reads`},
		{deep, records.Options{Records: "r.items"}, "1 1|a|| 2 2|b||"},
		{deep, records.Options{Records: "r.items[]"}, "1 1|a|| 2 2|b||"},
		{`{"v":[7,{"p":1}],"data":[{"t":"x","p":[{"id":1,"text":"a"}]},` + "\n" + `{"p":[{"id":2,"text":"b"},{"id":3,"text":"c"}],"q":[{"id":9}]},[],{"p":[]}]}`, records.Options{Records: "data[].p"}, "1 1|a|| 2 2|b|| 2 3|c||"},
		{`[{"p":{"l":[{"id":1,"text":"a"}]}},{"p":{"l":[{"id":2,"text":"b"}]}}]`, records.Options{Records: "[].p.l"}, "1 1|a|| 1 2|b||"},
		{`{"d":[{"p":[{"q":[{"id":1,"text":"a"}]},{"q":[{"id":2,"text":"b"}]}]}]}`, records.Options{Records: "d[].p[].q"}, "1 1|a|| 1 2|b||"},
		{`{"d":{"p":[{"id":1}]}}`, records.Options{Records: "d[].p"}, "Records: \"d[].p\" leads to neither a list nor an object"},
		{deep + deep, records.Options{Records: "r.items"}, "1 1|a|| 2 2|b|| 2 1|a|| 3 2|b||"},
		{deep, records.Options{Records: "r.nothing"}, "Records: \"r.nothing\" leads to neither a list nor an object"},
		{deep, records.Options{Records: "n"}, "Records: \"n\" leads to neither a list nor an object"},
		{`{"a.b":{"c":{"x":{"text":"t"},"y":"u"}}}`, records.Options{Records: "a.b.c"}, "1 x|t|| 1 y|u||"},
		{`{"s":"} \" ]","l":[{"d":1}],"d":{"x":` + h1 + `}}`, records.Options{Records: "d"}, "1 x|||9f3c5a0011223344"},
		{`{"x":{"text":"t"},"y":{"id":"z","text":"u"}}`, records.Options{}, "Records: \".\" reads"},
		{`{"x":{"text":"t"},"y":{"id":"z","text":"u"},"e":{}}`, records.Options{Records: "."}, "1 x|t|| 1 z|u|| 1 e|||"},
		{`{"id":1,"text":"t","more":[{"x":1}]}`, records.Options{}, `1 1|t|{"more":[{"x":1}]}|`},
		{`{"id":17,"fingerprint":` + h1 + `}`, records.Options{}, "1 17|||9f3c5a0011223344"},
		{"{\"n\":1}\n{\"n\":2}\n", records.Options{MakeID: true}, `no "text" and no "fingerprint"`},
		{"words", records.Options{Records: "x", Format: TXT}, "Records is for JSON, not for plain text"},
	} {
		got, f, err := read(t, "a.json", c.content, c.opt)
		text := fmt.Sprint(err)
		if err == nil {
			for i, r := range got {
				got[i], _, _ = strings.Cut(r, "~")
			}
			text = strings.Join(got, " ")
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%s %+v:\n got %s\nwant %s", c.content, c.opt, text, c.want)
		}
		if err == nil && f.members {
			checkMapCopy(t, c.content, c.opt)
		}
	}
}

// checkMapCopy copies all records of a map and reads the copy.
func checkMapCopy(t *testing.T, content string, opt records.Options) {
	t.Helper()
	src := must.Get(newFile("a.json", io.NopCloser(strings.NewReader(content)), int64(len(content)), opt))(t)
	defer src.Close()
	var b bytes.Buffer
	w := must.Get(newCopier(&b, records.CopyOptions{Like: src}))(t)
	n := 0
	for rec, err := range src.Records(t.Context()) {
		must.Do(t, err)
		must.Do(t, w.Copy(src, rec.Raw))
		n++
	}
	must.Do(t, w.Close())
	opt.Records = "."
	if got, _, err := read(t, "b.json", b.String(), opt); err != nil || len(got) != n || src.CanExtend(nil) == nil || src.CanCut() == nil {
		t.Errorf("%s copied is %s: %q, %v", content, b.String(), got, err)
	}
}

// TestPartReader checks that parts do not depend on the sizes of reads.
func TestPartReader(t *testing.T) {
	content := "{\"a\\\"b\":[1,\"x]\"],\n\"data\":{\"v\":[{\"k\":\"}\\\\\"}\n,2]}} [{\"data\":{\"v\":[3]}}] {\"data\":{\"v\":{\"data\":{\"v\":4}}}}"
	want := "\n[{\"k\":\"}\\\\\"}\n,2]{\"data\":{\"v\":4}}"
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(content), "bytes": iotest.OneByteReader(strings.NewReader(content)), "data and end": iotest.DataErrReader(strings.NewReader(content))} {
		if got, err := io.ReadAll(newPartReader(r, "data.v")); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}
