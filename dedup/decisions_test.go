package dedup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", ""},
		{"\n" + `{"a":"x","b":"y","decision":"drop","score":0.9}` + "\r\n" + `{"a":"x","b":"y","decision":"drop"}`, ""},
		{`{"a":"x","b":"y","decision":"allow"}` + "\n" + `{"a":"y","b":"x","decision":"allow"}`, ""},
		{`{"a":"x","b":"y","decision":"drop"}` + "\n" + `{"a":"x","b":"z","decision":"allow"}`, ""},
		{`x`, "d.jsonl:1: not JSON"},
		{"\n\n[]", "d.jsonl:3: "},
		{`[]`, `d.jsonl:1: array; a line must be an object with "a", "b" and "decision"`},
		{`{"a":1,"b":"y","decision":"drop"}`, `d.jsonl:1: "a" must be a string`},
		{`{"a":"x","decision":"drop"}`, `d.jsonl:1: a decision needs the ids of two documents`},
		{`{"a":"x","b":"x","decision":"drop"}`, `d.jsonl:1: "x" is paired with itself`},
		{`{"a":"x","b":"y","decision":"dorp"}`, `d.jsonl:1: "decision" is "dorp", not keep, drop or allow`},
		{`{"a":"x","b":"y"}`, `d.jsonl:1: "decision" is ""`},
		{`{"a":"x","b":"y","decision":"drop"}` + "\n" + `{"a":"y","b":"x","decision":"allow"}`, `d.jsonl:2: allow contradicts drop in line 1, about the same two documents`},
		{`{"a":"x","b":"y","decision":"drop"}` + "\n" + `{"a":"x","b":"z","decision":"keep"}`, `d.jsonl:2: keep contradicts drop in line 1, about "x"`},
		{`{"a":"x","b":"y","decision":"drop"}` + "\n" + `{"a":"y","b":"z","decision":"drop"}`, `d.jsonl:1: "x" is dropped for "y", which line 2 drops`},
		{`{"a":"x","b":"y","decision":"drop"}` + "\n" + `{"a":"y","b":"x","decision":"drop"}`, `d.jsonl:2: "y" is dropped for "x", which line 1 drops`},
		{strings.Repeat("x\n", 15), "and 5 more"},
		{`{"a":"` + strings.Repeat("x", maxLine) + `"}`, "d.jsonl:1: "},
	} {
		path := filepath.Join(t.TempDir(), "d.jsonl")
		if err := os.WriteFile(path, []byte(c.file), 0o666); err != nil {
			t.Fatal(err)
		}
		all, err := ReadDecisions(t.Context(), path)
		switch {
		case err == nil && c.want != "":
			t.Errorf("%.80s: no error, want %s", c.file, c.want)
		case err == nil && len(all) != strings.Count(c.file, "decision"):
			t.Errorf("%.80s: %d decisions", c.file, len(all))
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%.80s: %v, want %s", c.file, err, c.want)
		}
	}
}
