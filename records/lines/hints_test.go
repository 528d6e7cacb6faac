package lines

import (
	"strings"
	"testing"

	"github.com/simdb/simdb/records"
)

// Files that can't be read are refused as a whole, with one message that gives advice.
func TestHelpfulRefusals(t *testing.T) {
	const noHeader = ", NoHeader reads the first line as data"
	for _, c := range []struct {
		name, content string
		opt           records.Options
		want          string
	}{
		{"a.csv", "id,text,id\n1,x,2\n", records.Options{}, `columns 1 and 3 are both called "id": choose one with IDField: "1" or "3"`},
		{"a.tsv", "id\ttext\tx\tx\n", records.Options{TextField: "x"}, `columns 3 and 4 are both called "x": choose one with TextField: "3" or "4"`},
		{"a.jsonl", `{"id":1,"body":"x"}`, records.Options{}, `in every line: no "text" and no "fingerprint" (its fields are "id", "body"; did you mean "body"?)`},
		{"a.jsonl", strings.Repeat("{\"id\":1,\"text\":[{\"n\":1}]}\n", 40<<10), records.Options{}, `lines: "text" is a list`},
		{"a.json", "[{\"_id\":{\"$oid\":\"5f\"},\"text\":\"x\"}]", records.Options{IDField: "_id", MakeID: true}, `in every line: "_id" is an object: IDField: "_id.$oid" reads its contents`},
		{"a.csv", "id;text\n1;x\n", records.Options{}, `its columns are separated by ';': Delimiter: ';'`},
		{"a.csv", "\"id\"\t\"text\"\n1\tx\n", records.Options{}, `Delimiter: '\t'`},
		{"a.csv", "id|text\n", records.Options{MakeID: true}, `Delimiter: '|'`},
		{"a.tsv", "id,text\n1,x\n", records.Options{}, `Delimiter: ','`},
		{"a.csv", "1,some words\n2,others\n", records.Options{}, noHeader},
		{"a.csv", "ids,txt\n", records.Options{IDField: "idz"}, `there is no column "idz" (there are "ids", "txt"; did you mean "ids"?); IDField names another`},
		{"a.csv", "id,txt\n", records.Options{}, `there is no column "text" (there are "id", "txt"; did you mean "txt"?); TextField names another`},
		{"a.csv", "id,text\n", records.Options{FingerprintField: "fp"}, `there is no column "fp" (there are "id", "text"); FingerprintField names another`},
		{"a.csv", "path,phash\n1.png,9f3c5a0011223344\n", records.Options{MakeID: true}, `FingerprintField one with fingerprints`},
		{"a.csv", "# made on 3 March\nid,text\n1,x\n", records.Options{MakeID: true}, `one with fingerprints, NoHeader reads the first line as data, Comment: '#' leaves out lines that begin with it`},
		{"a.tsv", "%x\nid\ttext\n1\tx\n", records.Options{MakeID: true}, `Comment: '%'`},
		{"a.tsv", "some words\t0a1b2c3d4\nothers\t1a1b2c3d5\n", records.Options{MakeID: true}, `NoHeader reads the first line as data (with FingerprintField: "2", Fingerprints: hex, if column 2 has fingerprints)`},
		{"a.csv", "f8f8f0cee0f4a84f06370a22038f63f0,100,a.jpg\n", records.Options{MakeID: true}, `NoHeader reads the first line as data (with FingerprintField: "1", if column 1 has fingerprints)`},
		{"a.csv", "0x0f8f8f0cee0f4a84,100\n", records.Options{MakeID: true}, `(with FingerprintField: "1", if column 1 has fingerprints)`},
		{"a.jsonl", `{"uid":1,"data":{"text":"x"}}`, records.Options{MakeID: true}, `did you mean "data.text"?`},
		{"a.jsonl", `{"uid":1,"a":{"b":{"c":[{"d":{"content":"x"}}]}}}`, records.Options{MakeID: true}, `did you mean "a.b.c[].d.content"?`},
		{"a.json", `{"id":[1,2],"text":["x","y"]}`, records.Options{}, "a list for each column: in pandas"},
		{"a.json", `{"id":{"0":1,"1":2},"text":{"0":"x","1":"y"}}`, records.Options{}, "a list for each column: in pandas"},
		{"a.json", `{"columns":["id","text"],"index":[0],"data":[["x","y"]]}`, records.Options{}, "a list for each column: in pandas"},
		{"a.yaml", "- id: 1\n  text: x\n", records.Options{}, "it is YAML: yq -o json converts it to JSON; Format: \"txt\""},
		{"a.TOML", "a = 1\n", records.Options{}, "it is TOML"},
		{"a.yml.zst", "a: 1\n", records.Options{}, "it is YAML"},
		{"a.json5", "{a: 1}\n", records.Options{}, "it is JSON5"},
		{"dump.sql", "INSERT\n", records.Options{}, "it is SQL"},
		{"a.jsonl.gz", "", records.Options{}, "it is empty, which a .gz file never is: was it cut off?"},
		{"a.csv.ZST", "", records.Options{}, "it is empty, which a .zst file never is: was it cut off?"},
		{"a.jsonl", "{}\n", records.Options{Format: JSONL, Delimiter: ';'}, "a delimiter is for csv, not for jsonl"},
		{"a.jsonl", "{}\n", records.Options{Comment: '#'}, "comments are for csv and tsv, not for jsonl"},
		{"a.csv", "id;text\n1;x\n", records.Options{Delimiter: ';', Comment: ';'}, `comments cannot begin with ';', which separates the columns`},
		{"a.csv", "id,text\n1,x\n", records.Options{Comment: ','}, `comments cannot begin with ','`},
	} {
		got, _, err := read(t, c.name, c.content, c.opt)
		if err == nil || len(got) > 0 || !strings.HasPrefix(err.Error(), c.name+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %q, %v; want %s", c.name, c.content, got, err, c.want)
		}
	}
	// Files that only resemble the ones above are still read.
	for _, c := range []struct {
		name, content string
		opt           records.Options
		want          string
	}{
		{"a.jsonl", "{\"id\":1,\n{\"id\":2,\"text\":\"x\"}\n", records.Options{}, "1! not JSON"},
		{"a.jsonl", "{\"id\":1,", records.Options{}, "1! not JSON: unexpected end"},
		{"a.jsonl", "{'id':1}\n{'id':2}\n", records.Options{}, "1! a Python object, not JSON"},
		{"a.jsonl", "[1,2]\n{\"id\":2,\"text\":\"x\"}\n", records.Options{}, "1! not a JSON object but an array"},
		{"a.txt", "[1] a note\n{a set}\n", records.Options{}, "1 a.txt:1|[1] a note||"},
		{"-", "[1] a note\n", records.Options{}, "1 -:1|[1] a note||"},
		{"a.csv", "id;text;n\n1;\"a;b\";2\n", records.Options{Delimiter: ';'}, `2 1|a;b|{"n":"2"}|`},
		{"a.txt", "id\ttext\n1\t\"a\tb\"\n", records.Options{Delimiter: '\t'}, "2 1|a\tb||"},
		{"a.csv", "1;x\n", records.Options{Delimiter: ';', NoHeader: true}, "1 1|x||"},
		{"a.csv", "#,\"open\n\n#\nid,text\n1,\"a\n#b\"\n#,\"\n2,#c\n#", records.Options{Comment: '#'}, "5 1|a\n#b||\n8 2|#c||"},
		{"-", "% x\nid\ttext\n%\n1\ta\n", records.Options{Comment: '%'}, "4 1|a||"},
		{"a.csv", "#1,x\n2,y\n", records.Options{Comment: '#', NoHeader: true}, "2 2|y||"},
		{"a.jsonl", "", records.Options{}, ""},
	} {
		got, _, err := read(t, c.name, c.content, c.opt)
		if err != nil || !strings.HasPrefix(strings.Join(got, "\n"), c.want) {
			t.Errorf("%s %q: %q, %v; want %s", c.name, c.content, got, err, c.want)
		}
	}
}

// The fields of an object are listed even if it is cut off anywhere in the first block.
func TestFieldsOfTheBeginning(t *testing.T) {
	const content = `{"r":[{"q":1}],"a\nb":{"c":[ {"d":{"e":[],"f":"g\\"}}, 1 ]}}`
	for pad := range len(content) {
		text := strings.Repeat(" ", records.HeadBytes-pad) + content
		if _, _, err := read(t, "a.json", text, records.Options{MakeID: true}); err == nil {
			t.Errorf("%d: no error", pad)
		}
		fieldsOf([]byte(content)[:pad], "text")
	}
}

func TestParseDelimiter(t *testing.T) {
	for s, want := range map[string]byte{";": ';', "tab": '\t', `\t`: '\t', "\t": '\t', "|": '|', " ": ' '} {
		if got, err := records.ParseDelimiter(s); err != nil || got != want {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"", ";;", "é", "\n", "\r", `"`, "\x00"} {
		if got, err := records.ParseDelimiter(s); err == nil {
			t.Errorf("%q: %q", s, got)
		}
	}
}
