package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// longDB returns a database of documents whose field n has values of many kinds.
func longDB(t *testing.T) *engine.DB {
	db := must.Get(engine.Open(t.TempDir()+"/test.simdb", nil))(t)
	t.Cleanup(func() { db.Close() })
	for i, n := range []string{`1`, `1.0`, `"1"`, `"1.0"`, `"01"`, `1e0`, `10e-1`, `0`, `-0`, `-1`, `"-1"`, `true`, `"true"`, `"TRUE"`, `null`, `""`, `" 1"`,
		`"a"`, `"\u0061"`, `[1]`, `{"a":1}`, `123456789012345678901234567890`, `1.23456789012345678901234567890e29`, `"NaN"`} {
		must.Do(t, db.Put(t.Context(), engine.Doc{ID: fmt.Sprintf("d%02d", i), Text: "some words", Fields: []byte(`{"n":` + n + `}`)}))
	}
	return db
}

func idsOf(t *testing.T, db *engine.DB, statement string) string {
	rows, err := Run(t.Context(), db, statement)
	if err != nil {
		t.Fatalf("%.200s: %v", statement, err)
	}
	var ids []string
	for row, err := range rows.All() {
		if err != nil {
			t.Fatalf("%.200s: %v", statement, err)
		}
		ids = append(ids, fmt.Sprint(row[0]))
	}
	return strings.Join(ids, " ")
}

// TestInIsEqual checks that IN holds if and only if the value equals a value of the list.
func TestInIsEqual(t *testing.T) {
	db := longDB(t)
	values := []string{"1", "1.0", "'1'", "'1.0'", "'01'", "0", "-1", "TRUE", "'true'", "''", "'a'", "'[1]'", "1e0", "123456789012345678901234567890", "7", "'zz'"}
	for i, a := range values {
		for _, b := range values[i:] {
			either := idsOf(t, db, fmt.Sprintf("(n = %s OR n = %s) AND ID LIKE 'd%%' SHOW id ORDER BY id", a, b))
			if in := idsOf(t, db, fmt.Sprintf("n IN (%s, %s) AND ID LIKE 'd%%' SHOW id ORDER BY id", a, b)); in != either {
				t.Errorf("IN (%s, %s): %s, but by =: %s", a, b, in, either)
			}
			if a == b && either == "" && a != "7" && a != "'zz'" {
				t.Errorf("nothing is equal to %s", a)
			}
			neither := idsOf(t, db, fmt.Sprintf("NOT (n = %s OR n = %s) AND n IS NOT NULL AND ID LIKE 'd%%' SHOW id ORDER BY id", a, b))
			if not := idsOf(t, db, fmt.Sprintf("n NOT IN (%s, %s) AND ID LIKE 'd%%' SHOW id ORDER BY id", a, b)); not != neither {
				t.Errorf("NOT IN (%s, %s): %s, but by !=: %s", a, b, not, neither)
			}
		}
	}
}

// TestLongWords checks that messages cut the text that they quote from a statement, and limit the
// number of fields that they name.
func TestLongWords(t *testing.T) {
	db := longDB(t)
	const longest = 2000
	long := strings.Repeat("a", 1<<20)
	for _, statement := range []string{
		long, long + " = 1", long + "(1)", "NEAR('" + long + "', 3)", "NEAR(" + long + ", 3)", "NEAR($" + long + ", 3)", "LIMIT 1 SHOW " + long,
		strings.Repeat("a.", 100_000) + "a = 1", "ID LIKE 'd%' ORDER BY " + long, "NEAR('d01', " + strings.Repeat("9", 1<<20) + ")", "SINCE " + long,
		"PAIRS " + long, "PAIRS NEAR 3 AND a." + long + " = b." + long, "n BETWEEN 1 AND " + long, `PUT {"id":"x"} UNLESS ` + long, "WHY '" + long + "' 'd01'",
		strings.Repeat("x AND ", 1000) + "x", "ID LIKE 'd%'" + manyFields(1000),
	} {
		rows, err := Run(t.Context(), db, statement)
		if err == nil {
			for _, e := range rows.All() {
				err = errors.Join(err, e)
			}
			if said := strings.Join(rows.Warnings(), "\n"); said == "" || len(said) > longest || !strings.HasPrefix(said, "no ") {
				t.Errorf("%.40s: %d bytes of warnings: %.100s", statement, len(said), said)
			}
		}
		if err != nil && len(detail(err)) > longest {
			t.Errorf("%.40s: a message of %d bytes: %.100s", statement, len(detail(err)), err)
		}
	}
}

func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " AND f%d IS NULL", i)
	}
	return b.String()
}

// TestNearestToNothing checks that an empty text is similar to nothing, and is not read as an ID.
func TestNearestToNothing(t *testing.T) {
	db := longDB(t)
	for _, text := range []string{"", " "} {
		for _, by := range []string{"", " BY JACCARD"} {
			if ids := idsOf(t, db, "NEAREST(TEXT '"+text+"', 2)"+by); ids != "" {
				t.Errorf("%q%s: %s", text, by, ids)
			}
		}
	}
}
