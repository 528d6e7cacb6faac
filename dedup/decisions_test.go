package dedup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
		{`{"a":"x","b":"y","decision":"dorp"}`, `d.jsonl:1: "decision" is "dorp", not keep, drop, allow or none`},
		{`{"a":"x","b":"y"}`, `d.jsonl:1: "decision" is ""`},
		{`{"a":"x","b":"y","decision":"drop"}` + "\n" + `{"a":"y","b":"x","decision":"allow"}`, `d.jsonl:2: allow contradicts drop in line 1, about the same two documents`},
		{`{"a":"x","b":"y","decision":"drop"}` + "\n" + `{"a":"x","b":"z","decision":"keep"}`, `d.jsonl:2: keep contradicts drop in line 1, about "x"`},
		{`{"a":"x","b":"y","decision":"drop"}` + "\n" + `{"a":"y","b":"z","decision":"drop"}`, ""},
		{`{"a":"x","b":"y","decision":"drop"}` + "\n" + `{"a":"y","b":"x","decision":"drop"}`, `d.jsonl:2: "y" is dropped for "x", which line 1 drops`},
		{`{"a":"w","b":"x","decision":"drop"}` + "\n" + `{"a":"x","b":"y","decision":"drop"}` + "\n" + `{"a":"y","b":"x","decision":"drop"}`, `d.jsonl:1: "w" is dropped for "x", which line 2 drops, and none of its copies stays`},
		{`{"a":"x","b":"y","decision":"drop"}` + "\n" + `{"a":"y","b":"x","decision":"drop"}` + "\n" + `{"a":"y","b":"z","decision":"drop"}`, ""},
		{`{"a":"x","b":"y","decision":"drop","at":"yesterday"}`, `d.jsonl:1: "at" is "yesterday", not a time such as`},
		{`{"a":"x","b":"y","decision":"drop","at":7}`, `d.jsonl:1: "at" must be a string`},
		{`{"a":"x","b":"y","decision":"drop","by":[]}`, `d.jsonl:1: "by" must be a string`},
		{strings.Repeat("x\n", 15), "and 5 more"},
		{`{"a":"` + strings.Repeat("x", maxLine) + `"}`, "d.jsonl:1: "},
	} {
		path := filepath.Join(t.TempDir(), "d.jsonl")
		if err := os.WriteFile(path, []byte(c.file), 0o666); err != nil {
			t.Fatal(err)
		}
		all, err := ReadDecisions(t.Context(), path, nil)
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

// TestIncompleteDecision has a last line that a power cut has left: it is ignored with a warning.
func TestIncompleteDecision(t *testing.T) {
	const whole = `{"a":"x","b":"y","decision":"drop"}`
	for file, want := range map[string]int{
		whole + "\n" + whole[:20]: 1,
		whole[:20]:                0,
		"\ufeff" + whole[:20]:     0,
		whole + "\n" + strings.ReplaceAll(whole, "x", "z"): -2, // complete
		whole + "\n" + whole[:20] + "\n":                   -1, // wrong
		whole[:20] + "\n" + whole:                          -1,
		"id,a,b":                                           -1,
	} {
		path := filepath.Join(t.TempDir(), "d.jsonl")
		if err := os.WriteFile(path, []byte(file), 0o666); err != nil {
			t.Fatal(err)
		}
		var told []string
		all, err := ReadDecisions(t.Context(), path, func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) })
		switch last := fmt.Sprintf("warning: %s:%d: the last line is incomplete and is ignored", path, want+1); {
		case want == -1 && err == nil, want != -1 && err != nil:
			t.Errorf("%q: %v", file, err)
		case want < 0 && told != nil, want >= 0 && !slices.Equal(told, []string{last}):
			t.Errorf("%q: told %q", file, told)
		case want != -1 && len(all) != max(want, -want):
			t.Errorf("%q: %d decisions", file, len(all))
		}
	}
}

// Of the decisions about a pair with times, the latest holds, in any order of the lines.
func TestLatestDecisions(t *testing.T) {
	const drop, allow, keep = `{"a":"x","b":"y","decision":"drop"`, `{"a":"y","b":"x","decision":"allow"`, `{"a":"x","b":"y","decision":"keep"`
	const none, one, two, other = `{"a":"x","b":"y","decision":"none"`, `,"by":"ann","at":"2026-12-01T10:00:00+01:00"}`, `,"by":"bob","at":"2026-12-01T09:30:00.5Z"}`, `{"a":"u","b":"v","decision":"keep"}`
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{drop + one, allow + two}, "y x allow bob 2"},
		{[]string{allow + two, drop + one}, "y x allow bob 1"},
		{[]string{drop + one, keep + one}, "x y keep ann 2"}, // equal times: the later line
		{[]string{other, drop + one, none + two}, "u v keep  1"},
		{[]string{none + one, drop + two, other}, "x y drop bob 2, u v keep  3"},
		{[]string{drop + "}", allow + one}, "y x allow ann 2"}, // a line without a time is older than any with one
		{[]string{allow + one, drop + "}"}, "y x allow ann 1"},
		{[]string{drop + "}", none + "}"}, "x y drop  1"}, // without a time nothing is withdrawn
	} {
		path := filepath.Join(t.TempDir(), "d.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(c.lines, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
		all, err := ReadDecisions(t.Context(), path, nil)
		if err != nil {
			t.Errorf("%v: %v", c.lines, err)
		}
		var got []string
		for _, d := range all {
			got = append(got, fmt.Sprint(d.A, " ", d.B, " ", d.Kind, " ", d.By, " ", d.Line))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v: %v, want %s", c.lines, got, c.want)
		}
	}
}
