package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// Statements that may run long report their progress, also while their rows are read.
func TestProgress(t *testing.T) {
	db := openTest(t, nil)
	docs := map[string]uint64{}
	for i := range 3000 {
		docs[fmt.Sprint("document-", i)] = uint64(i / 3)
	}
	for range 2 {
		putAll(t, db, docs)
		must.Do(t, db.Flush(t.Context()))
	}
	for text, want := range map[string]string{
		"PAIRS NEAR 2": "join", "PAIRS NEAR 2 LIMIT 3": "join", "COUNT PAIRS NEAR 2": "join", "CLUSTERS NEAR 2": "join", "COUNT CLUSTERS NEAR 2": "join",
		"ID LIKE '%9%'": "list", "NEAR('document-1', 64)": "test",
	} {
		var stages []string
		session := Session{Progress: func(p engine.Progress) { stages = append(stages, p.Stage) }}
		rows := must.Get(session.Run(t.Context(), db, text))(t)
		for _, err := range rows.All() {
			must.Do(t, err)
		}
		if !strings.Contains(strings.Join(stages, " "), want) {
			t.Errorf("%s reports %q, want %s", text, stages, want)
		}
	}
}
