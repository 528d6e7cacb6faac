package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// TestCountByHolds counts by equal numbers, of which the bytewise least is long: it counts as held
// memory.
func TestCountByHolds(t *testing.T) {
	const digits = 900_000
	db := openTest(t, &engine.Options{Memory: digits / 2})
	for i, number := range []string{"1e0", "1." + strings.Repeat("0", digits)} {
		doc := engine.Doc{ID: fmt.Sprint(i), Text: "words", Fields: json.RawMessage(`{"v":` + number + `}`)}
		must.Do(t, db.Put(t.Context(), doc))
	}
	rows, err := Run(t.Context(), db, "COUNT BY v")
	if err == nil {
		for _, err = range rows.All() {
			break
		}
	}
	if !errors.Is(err, engine.ErrTooLarge) {
		t.Errorf("%d digits are held: %v", digits, err)
	}
}
