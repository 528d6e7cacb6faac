package lines

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
)

// The examples in docs/formats.md are recognised for what their headings say, and every line of
// them can be used.
func TestDocumentedFormats(t *testing.T) {
	page, err := os.ReadFile("../../../../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[input.Format]bool{}
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		want, err := input.ParseFormat(m[1])
		if err != nil {
			t.Fatal(err)
		}
		seen[want] = true
		opt := input.Options{}
		if want == Hashes {
			opt.Format = Hashes
		}
		got, f, err := read(t, "-", m[2], opt)
		if err != nil || f.info.Format != want || len(got) < 2 || strings.Contains(strings.Join(got, "\n"), "! ") {
			t.Errorf("%s: %q, %v", want, got, err)
		}
	}
	for _, name := range input.Formats() {
		if !seen[input.Format(name)] {
			t.Errorf("%s has no example", name)
		}
	}
}
