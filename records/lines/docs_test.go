package lines

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// The examples in docs/formats.md are recognised as the formats in their headings, and each of
// their lines is a valid record.
func TestDocumentedFormats(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/formats.md"))(t)
	seen := map[records.Format]bool{}
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		want, err := records.ParseFormat(m[1])
		must.Do(t, err)
		seen[want] = true
		opt := records.Options{}
		if want == Hashes {
			opt.Format = Hashes
		}
		got, f, err := read(t, "-", m[2], opt)
		if err != nil || f.info.Format != want || len(got) < 2 || strings.Contains(strings.Join(got, "\n"), "! ") {
			t.Errorf("%s: %q, %v", want, got, err)
		}
	}
	for _, name := range records.Formats() {
		if !seen[records.Format(name)] {
			t.Errorf("%s has no example", name)
		}
	}
}
