package lines

import (
	"io"
	"strings"
	"testing"

	"github.com/simdb/simdb/records"
)

// Fields may be nested, several fields may form a text, and IDs can be made.
func TestFieldOptions(t *testing.T) {
	for _, c := range []struct {
		file, content string
		opt           records.Options
		want          string
	}{
		{"a.jsonl", `{"meta":{"id":"m","n":1},"text":"x"}`, records.Options{IDField: "meta.id"}, `1 m|x|{"meta":{"id":"m","n":1}}|`},
		{"a.jsonl", `{"meta":{"id":"m"},"meta.id":"whole","text":"x"}`, records.Options{IDField: "meta.id"}, `1 whole|x|{"meta":{"id":"m"}}|`},
		{"a.jsonl", `{"meta.id":"whole","meta":{"id":"m"},"text":"x"}`, records.Options{IDField: "meta.id"}, `1 whole|x|{"meta":{"id":"m"}}|`},
		{"a.jsonl", `{"a":{"b.c":{"d":7}},"text":"x"}`, records.Options{IDField: "a.b.c.d"}, `1 7|x|{"a":{"b.c":{"d":7}}}|`},
		{"a.jsonl", `{"meta":"id","id":"i","text":"x"}`, records.Options{IDField: "meta.id"}, `1! no "meta.id" (its fields are "meta", "id", "text"); IDField names another`},
		{"a.jsonl", `{"id":"i","doc":{"body":"x"}}`, records.Options{TextField: "doc.body"}, `1 i|x|{"doc":{"body":"x"}}|`},
		{"a.jsonl", `{"id":"i","hash":{"fp":"9f3c5a0011223344"}}`, records.Options{FingerprintField: "hash.fp"}, `1 i||{"hash":{"fp":"9f3c5a0011223344"}}|9f3c5a0011223344`},
		{"a.jsonl", `{"body":"second","id":"i","title":"first","n":1}`, records.Options{TextField: "title,body"}, "1 i|first\nsecond|{\"n\":1}|"},
		{"a.jsonl", `{"body":"second","id":"i","title":null}`, records.Options{TextField: "title,body"}, "1 i|second||"},
		{"a.jsonl", `{"id":"i","n":1}`, records.Options{TextField: "title,body"},
			`in every line: no "title", "body" and no "fingerprint" (its fields are "id", "n"); TextField and FingerprintField name others`},
		{"a.jsonl", `{"id":"i","title":"x","body":7}`, records.Options{TextField: "title,body"}, "1 i|x\n7||"},
		{"a.jsonl", `{"_id":{"$oid":"5f"},"text":"x"}`, records.Options{IDField: "_id.$oid"}, `1 5f|x|{"_id":{"$oid":"5f"}}|`},
		{"a.jsonl", `{"a":"1","b":"2","c":"3","d":"4","e":"5","id":"i"}`, records.Options{TextField: "e,d,c,b,a"}, "1 i|5\n4\n3\n2\n1||"},
		{"a.csv", "id,title,body,n\ni,first,second,1\n", records.Options{TextField: "title,body"}, "2 i|first\nsecond|{\"n\":\"1\"}|"},
		{"a.csv", "id,title,body\ni,,second\n", records.Options{TextField: "body,title"}, "2 i|second||"},
		{"a.csv", "id,\"title,body\",body\ni,x,y\n", records.Options{TextField: "title,body"}, `2 i|x|{"body":"y"}|`},
		{"a.tsv", "id\ta\tb\ni\tx\ty\n", records.Options{TextField: "3,2"}, "2 i|y\nx||"},

		{"a.jsonl", `{"text":"x"}`, records.Options{IDFrom: records.IDFromLine}, "1 a.jsonl:1|x||"},
		{"a.jsonl", `{"id":17,"text":"x"}`, records.Options{IDFrom: records.IDFromLine}, `1 a.jsonl:1|x|{"id":17}|`},
		{"a.jsonl", `{"id":17,"text":"x"}`, records.Options{IDFrom: records.IDFromHash}, `1 5c7401c0ec22eeeeeaf06c6480b2cd11|x|{"id":17}|`},
		{"a.jsonl", `{"fingerprint":"9f3c5a0011223344"}`, records.Options{IDFrom: records.IDFromHash}, `1 a.jsonl:1|||9f3c5a0011223344~there is no text to make an id from`},
		{"a.csv", "id,text\n17,x\n", records.Options{IDFrom: records.IDFromLine}, `2 a.csv:2|x|{"id":"17"}|`},
		{"a.csv", "17,x\n", records.Options{IDFrom: records.IDFromLine, NoHeader: true}, `1 a.csv:1|x|{"1":"17"}|`},
		{"a.txt", "x\n", records.Options{IDFrom: records.IDFromLine}, "1 a.txt:1|x||"},
		{"a.txt", "9f3c5a0011223344\n9f3c5a0011223345\n", records.Options{IDFrom: records.IDFromLine}, "1 a.txt:1||"},
	} {
		src, err := records.New(c.file, io.NopCloser(strings.NewReader(c.content)), int64(len(c.content)), c.opt)
		if err != nil && strings.HasSuffix(err.Error(), ": "+c.want) {
			continue
		}
		if err != nil {
			t.Error(c.file, c.content, err)
			continue
		}
		got, err := collect(src)
		if all := strings.Join(got, " "); err != nil || !strings.HasPrefix(all, c.want) {
			t.Errorf("%s %q: %q, %v; want %q", c.file, c.content, all, err, c.want)
		}
	}
	if _, _, err := read(t, "a.csv", "id,title\n", records.Options{TextField: "title,body"}); err == nil || !strings.Contains(err.Error(), `there is no column "body"`) {
		t.Error("a column that is not there:", err)
	}
	src, err := records.New("a.txt", io.NopCloser(strings.NewReader("1234\n5678\n")), 10, records.Options{IDFrom: records.IDFromLine})
	if err != nil || src.Info().PositionIDs {
		t.Error("IDs that are made with the file's name are said to be positions", err)
	}
}
