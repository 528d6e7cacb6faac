package inputs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestPlacesWithinPartition(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "y=1")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	got := Places([]string{"a", "m=1/b", "m=2/b"})
	if want := map[string]string{"a": "a", "m=1/b": filepath.Join("m=1", "b"), "m=2/b": filepath.Join("m=2", "b")}; !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct{ names, want []string }{
		{[]string{"a.jsonl", "sub/b.jsonl", "/tmp/c.jsonl"}, []string{"a.jsonl", "b.jsonl", "c.jsonl"}},
		{[]string{"d/y=1/a", "d/y=2/b"}, []string{"y=1/a", "y=2/b"}},
		{[]string{"d/y=1/m=2/a"}, []string{"a"}},
		{[]string{"d/y=1/a", "d/y=1/b"}, []string{"a", "b"}},
		{[]string{"d/y=1/m=2/a", "d/y=1/m=3/a"}, []string{"y=1/m=2/a", "y=1/m=3/a"}},
		{[]string{"d/y=1/x/a", "d/y=2/b"}, []string{"y=1/x/a", "y=2/b"}},
		{[]string{"d/en/a", "d/de/A", "d/b"}, []string{"en/a", "de/A", "b"}},
		{[]string{"./d/../d/a", "e/../../inputs/d/e/a"}, []string{"a", "e/a"}},
		{[]string{"a", "../other/a"}, []string{"inputs/a", "other/a"}},
	} {
		places, got := Places(c.names), []string(nil)
		for _, name := range c.names {
			got = append(got, filepath.ToSlash(places[name]))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}
