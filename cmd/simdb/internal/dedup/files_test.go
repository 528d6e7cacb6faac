package dedup

import (
	"testing"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/units"
)

// A file of which something was no record is read with its texts every time: what is too large to
// be a record, or cannot be decoded, has an ID as all others have, and would be taken for one.
func TestNeed(t *testing.T) {
	document, paragraph := &Command{Level: units.Document}, &Command{Level: units.Paragraph}
	for _, test := range []struct {
		c     *Command
		stage string
		file  int
		want  input.Need
	}{
		{document, readStage, 0, input.NeedText},
		{document, "write", 0, input.NeedID},
		{document, "write", 1, input.NeedText},
		{paragraph, "write", 0, input.NeedText},
	} {
		d := &job{c: test.c, flawed: []bool{false, true}, keep: newRankings(test.c.Keep)}
		if got := d.need(test.stage, test.file); got != test.want {
			t.Errorf("level %v, %s, file %d: %v, not %v", test.c.Level, test.stage, test.file, got, test.want)
		}
	}
}
