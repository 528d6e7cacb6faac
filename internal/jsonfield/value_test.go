package jsonfield

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// Of finds the same values as encoding/json, in random objects with white space, escapes, nesting
// and repeated keys.
func TestOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := []string{"a", "b", "meta", "é", "a\"b", "\\", "", "lang"}
	space := func() string { return []string{"", "", " ", "\n\t", "\r "}[rng.IntN(5)] }
	quote := func(s string) string {
		b, _ := json.Marshal(s)
		if rng.IntN(2) == 0 {
			return strings.ReplaceAll(string(b), "a", `\u0061`)
		}
		return string(b)
	}
	var value func(depth int) string
	value = func(depth int) string {
		switch n := rng.IntN(9); {
		case n < 4 && depth > 0:
			var parts []string
			for range rng.IntN(4) {
				parts = append(parts, space()+quote(keys[rng.IntN(len(keys))])+space()+":"+space()+value(depth-1)+space())
			}
			return "{" + space() + strings.Join(parts, ",") + "}"
		case n == 4 && depth > 0:
			return "[" + value(depth-1) + space() + "," + value(depth-1) + "]"
		}
		return []string{"null", "true", "-1.5e3", "0", `"x"`, `"}\\"`, `"\",{"`, `""`}[rng.IntN(8)]
	}
	found := 0
	for range 20000 {
		object := "{" + space() + quote("a") + ":" + value(3) + space() + "," + quote(keys[rng.IntN(3)]) + " : " + value(3) + "}"
		path := make([]string, 1+rng.IntN(3))
		for i := range path {
			path[i] = keys[rng.IntN(len(keys))]
		}
		path[0] = keys[rng.IntN(3)]
		var want any
		if err := json.Unmarshal([]byte(object), &want); err != nil {
			t.Fatal(object, err)
		}
		for _, key := range path {
			m, _ := want.(map[string]any)
			want = m[key]
		}
		got := Of([]byte(object), path)
		if want == nil {
			if got != nil {
				t.Fatalf("%s at %q: %s, want nothing", object, path, got)
			}
			continue
		}
		found++
		var v any
		if err := json.Unmarshal(got, &v); err != nil {
			t.Fatalf("%s at %q: %q: %v", object, path, got, err)
		}
		// If keys repeat in nested objects, both readers use the last one, so the whole values
		// agree.
		if a, b := asJSON(v), asJSON(want); a != b {
			t.Fatalf("%s at %q: %s, want %s", object, path, a, b)
		}
		if s, ok := want.(string); ok && Text(got) != s {
			t.Fatalf("%s: %q, want %q", got, Text(got), s)
		}
	}
	if found < 2000 {
		t.Errorf("only %d values were found", found)
	}
}

func asJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// Of terminates on any input, and returns nil or a part of the input.
func FuzzOf(f *testing.F) {
	f.Add(`{"a":{"b":1}}`)
	f.Add(`{"a`)
	f.Add(`{"a":`)
	f.Add(`{"a\`)
	f.Fuzz(func(t *testing.T, object string) {
		got := Of([]byte(object), []string{"a"})
		if !strings.Contains(object, string(got)) {
			t.Errorf("%q has no %q", object, got)
		}
		Text(got)
	})
}
