package query

import (
	"testing"

	"github.com/simdb/simdb/engine"
)

// TestStatsSequence keeps a sequence number above the signed ones what it is.
func TestStatsSequence(t *testing.T) {
	const seq = 1<<63 + 5
	for _, row := range statsRows(engine.Stats{Seq: seq}) {
		if row[0] == "seq" {
			if row[1] != Sequence(seq) || row[1].(Sequence).Unsigned() != seq {
				t.Errorf("seq is %v", row[1])
			}
			return
		}
	}
	t.Error("no row seq")
}
