package query

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
)

// ORDER BY and COUNT BY of a field return the same as sorting and counting all documents, whatever
// finds the documents, with LIMIT and OFFSET, from tables and a memtable.
func TestByField(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	db := openTest(t, nil)
	values := []string{`1`, `1.0`, `"1"`, `-2`, `"-2.5"`, `30`, `1e1`, `"x"`, `"X"`, `"é"`, `"\u00e9"`, `""`, `true`, `[1,2]`, `{"a":1}`, `null`, ``}
	of := map[string]string{}
	var ids []string
	for i := range 500 {
		id, raw := fmt.Sprintf("d%03d", i), values[rng.IntN(len(values))]
		doc := engine.Doc{ID: id, Text: fmt.Sprint("words that are ", i%7)}
		if raw != "" {
			doc.Fields = json.RawMessage(`{"m":{"v":` + raw + `}}`)
		}
		if err := db.Put(t.Context(), doc); err != nil {
			t.Fatal(err)
		}
		if i == 300 {
			if err := db.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if raw != "null" {
			of[id] = raw
		}
		ids = append(ids, id)
	}
	// The rank and the text or number of a value, as the reference defines them.
	class := func(raw string) (rank int, number *big.Rat, text string) {
		if raw == "" {
			return 2, nil, ""
		}
		text = raw
		var s string
		if json.Unmarshal([]byte(raw), &s) == nil && raw[0] == '"' {
			text = s
		}
		if n, ok := new(big.Rat).SetString(text); ok {
			return 0, n, text
		}
		return 1, nil, text
	}
	compare := func(a, b string, desc bool) int {
		r, n, x := class(a)
		s, m, y := class(b)
		c := cmp.Compare(r, s)
		if r == 2 || s == 2 {
			return c
		}
		if c == 0 && r == 0 {
			c = n.Cmp(m)
		} else if c == 0 {
			c = strings.Compare(x, y)
		}
		if desc {
			return -c
		}
		return c
	}
	for range 60 {
		where, some := "", ids
		switch rng.IntN(4) {
		case 0:
			where, some = "NEAR('d000', 64) ", slices.Clone(ids)[1:]
		case 1:
			where, some = "ID < 'd250' ", ids[:250]
		case 2:
			where = "m.v IS NOT NULL "
			some = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return of[id] == "" })
		}
		some = slices.Clone(some)
		desc, limit, offset := rng.IntN(2) == 0, rng.IntN(len(ids)+9), rng.IntN(20)
		slices.SortFunc(some, func(a, b string) int { return cmp.Or(compare(of[a], of[b], desc), strings.Compare(a, b)) })
		text := where + "ORDER BY m.v" + map[bool]string{true: " DESC"}[desc] + fmt.Sprintf(", id LIMIT %d OFFSET %d SHOW id", limit, offset)
		want := some[min(offset, len(some)):min(offset+limit, len(some))]
		var got []string
		for _, row := range rowsOfStatement(t, db, text) {
			got = append(got, row[0].(string))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got %v\nwant %v", text, got, want)
		}
		count := map[string]int64{}
		for _, id := range some {
			count[cmp.Or(map[string]string{"1.0": "1", "1e1": "1e1", `"\u00e9"`: `"é"`}[of[id]], of[id])]++
		}
		keys := []string{}
		for k := range count {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, func(a, b string) int {
			return cmp.Or(cmp.Compare(count[b], count[a]), compare(a, b, false), strings.Compare(a, b))
		})
		text = "COUNT " + where + "BY m.v"
		var wantRows, gotRows []string
		for _, raw := range keys {
			_, _, value := class(raw)
			wantRows = append(wantRows, fmt.Sprintf("%q %t %d", value, raw == "", count[raw]))
		}
		for _, row := range rowsOfStatement(t, db, text) {
			value, ok := row[0].(string)
			if raw, err := json.Marshal(row[0]); !ok && row[0] != nil && err == nil {
				value = string(raw)
			}
			gotRows = append(gotRows, fmt.Sprintf("%q %t %d", value, row[0] == nil, row[1]))
		}
		if !slices.Equal(gotRows, wantRows) {
			t.Errorf("%s\n got %v\nwant %v", text, gotRows, wantRows)
		}
	}
}

func rowsOfStatement(t *testing.T, db *engine.DB, text string) []Row {
	t.Helper()
	rows, err := Run(t.Context(), db, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return read(t, rows)
}

// TestCountByHolds counts by equal numbers, of which the bytewise least is long: it counts as held
// memory.
func TestCountByHolds(t *testing.T) {
	const digits = 900_000
	db := openTest(t, &engine.Options{Memory: digits / 2})
	for i, number := range []string{"1e0", "1." + strings.Repeat("0", digits)} {
		doc := engine.Doc{ID: fmt.Sprint(i), Text: "words", Fields: json.RawMessage(`{"v":` + number + `}`)}
		if err := db.Put(t.Context(), doc); err != nil {
			t.Fatal(err)
		}
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
