package dedup

import (
	"testing"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// TestNeed: if some content of a file was not a record, every pass reads the file with its texts.
// A record that is too large or cannot be decoded has an ID like all others, so a pass over IDs
// would count it. A database is always read in the order of its texts.
func TestNeed(t *testing.T) {
	document, paragraph := &Job{Level: units.Document}, &Job{Level: units.Paragraph}
	files, database := &inputs.Sources{}, &inputs.Sources{Stored: &inputs.Stored{}}
	for _, test := range []struct {
		c     *Job
		stage string
		file  int
		want  records.Need
		of    *inputs.Sources
	}{
		{document, readStage, 0, records.NeedText, files},
		{document, writeStage, 0, records.NeedID, files},
		{document, writeStage, 1, records.NeedText, files},
		{paragraph, writeStage, 0, records.NeedText, files},
		{document, readStage, 0, records.NeedText, database},
		{document, "choose documents to keep", 0, records.NeedText, database},
		{document, writeStage, 0, records.NeedAll, database},
		{paragraph, readStage, 0, records.NeedAll, database},
	} {
		d := &job{c: test.c, Sources: test.of, flawed: []bool{false, true}, keep: newRankings(test.c.Rules())}
		if got := d.need(test.stage, test.file); got != test.want {
			t.Errorf("level %v, %s, file %d: %v, not %v", test.c.Level, test.stage, test.file, got, test.want)
		}
	}
}
