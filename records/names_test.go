package records

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// PathOf restores any path from its shown name, also after a round trip through JSON, and different
// paths have different shown names.
func TestShownName(t *testing.T) {
	for path, want := range map[string]string{
		"docs/é.txt": "docs/é.txt", `c:\docs\a`: `c:\docs\a`, "a\xff.txt": `a\xff.txt`, "\x80\\": `\x80\\`, `a\xff.txt`: `a\\xff.txt`, `\\x`: `\\\\x`,
	} {
		if got := ShownName(path); got != want {
			t.Errorf("%q is shown as %q, want %q", path, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]string{}
	for range 20_000 {
		path := ""
		for range r.IntN(6) {
			path += []string{`\`, "x", "f", "0", "\xff", "\xc3", "é", "a", `\xff`}[r.IntN(9)]
		}
		b, err := json.Marshal(ShownName(path))
		var shown string
		if err == nil {
			err = json.Unmarshal(b, &shown)
		}
		if err != nil || PathOf(shown) != path {
			t.Fatalf("%q is shown as %q, which is %q: %v", path, shown, PathOf(shown), err)
		}
		if other, ok := seen[shown]; ok && other != path {
			t.Fatalf("%q and %q are both shown as %q", path, other, shown)
		}
		seen[shown] = path
	}
}
