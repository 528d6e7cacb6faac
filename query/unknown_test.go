package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/query/internal/value"
)

// TestUnknownFields checks that a statement that read documents warns about a field that no
// document has, but not about a field that is rare, null, or not named in the statement.
func TestUnknownFields(t *testing.T) {
	ctx := t.Context()
	db := must.Get(engine.Open(t.TempDir()+"/test.simdb", nil))(t)
	defer db.Close()
	for i := range 20 {
		fields := fmt.Sprintf(`{"family":"MIT","name":"n%d","meta":{"lang":"en"},"gone":null}`, i)
		if i == 19 {
			fields = `{"rare":1}`
		}
		must.Do(t, db.Put(ctx, engine.Doc{ID: fmt.Sprintf("d%02d", i), Text: "some words", Fields: []byte(fields)}))
	}
	const unknown = "no document has a field famly, did you mean family?"
	for statement, want := range map[string][]string{
		"famly = 'MIT'":                            {unknown},
		"COUNT famly IS NULL":                      {unknown},
		"NOT famly = 'MIT'":                        {unknown},
		"famly = 'MIT' OR famly = 'BSD'":           {unknown},
		"DELETE WHERE famly = 'MIT'":               {unknown},
		"ID LIKE '%' SHOW id, famly":               {unknown},
		"ID LIKE '%' SHOW id, nme LIMIT 3":         {"no field nme in the 3 documents read, did you mean name?"},
		"NEAR('d01', 0) SHOW id, nme LIMIT 1":      {"no field nme in the 1 document read, did you mean name?"},
		"meta.lng = 'en'":                          {"no document has a field meta.lng, did you mean meta.lang?"},
		strings.Repeat("aé", 1e6) + " = 1":         {value.Brief("no document has a field " + strings.Repeat("aé", 1e6) + ", .fields lists the fields")},
		"something = 1":                            {"no document has a field something, .fields lists the fields"},
		"ID LIKE '%' SHOW id, something LIMIT 3":   {"no field something in the 3 documents read"},
		"rare = 2":                                 nil,
		"family = 'mit'":                           {"family = 'mit' distinguishes upper and lower case: it misses 'MIT'"},
		"name LIKE 'N1%'":                          {"name LIKE 'N1%' distinguishes upper and lower case: it misses 'n1'"},
		"family = 'mit' OR family = 'MIT'":         nil,
		"NEAR(TEXT 'not these words', 3)":          {"NEAR compares whole texts, and seldom finds one of so few words: write JACCARD(TEXT '...', 0.5), CONTAINS(TEXT '...', 0.8) or TEXT LIKE '%words%'"},
		"gone = 2":                                 nil,
		"family = 'BSD'":                           nil,
		"ID LIKE 'none%' AND famly = 'MIT'":        {unknown},
		"ID LIKE 'none%' SHOW id, nme":             {"no document has a field nme, did you mean name?"},
		"ID LIKE 'none%' AND family = 'MIT'":       nil,
		"ID LIKE 'none'":                           {"LIKE 'none' has no % or _ and matches only this exact value: LIKE '%none%' finds it anywhere"},
		"name LIKE '3'":                            {"LIKE '3' has no % or _ and matches only this exact value: LIKE '%3%' finds it anywhere"},
		"name LIKE 'n3'":                           nil,
		"ID LIKE '%' SHOW id, family, text":        nil,
		"ID LIKE '%' SHOW id, fields.rare":         nil,
		"PAIRS NEAR 0 SHOW a, b.nme LIMIT 1":       {"no field b.nme in the 1 document read, did you mean name?"},
		"family LIKE 'M%' AND name = 'n3'":         nil,
		"NEAR('d01', 0) AND famly = 'MIT' LIMIT 1": {unknown},
	} {
		rows, err := Run(ctx, db, statement)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		for _, err := range rows.All() {
			if err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		if got := rows.Warnings(); !slices.Equal(got, want) && statement[0] != 'N' || (len(got) > 0) != (len(want) > 0) {
			t.Errorf("%s: %q, want %q", statement, got, want)
		}
	}
}

// TestCaseOfIDs checks that the error for an unknown id mentions a stored id that differs only in
// case.
func TestCaseOfIDs(t *testing.T) {
	ctx := t.Context()
	db := must.Get(engine.Open(t.TempDir()+"/test.simdb", nil))(t)
	defer db.Close()
	must.Do(t, db.Put(ctx, engine.Doc{ID: "MIT", Text: "some words"}))
	for statement, hint := range map[string]bool{
		"GET 'mit'": true, "GET 'Mit'": true, "DELETE 'mit'": true, "NEAR('mit', 3)": true, "GET 'mitt'": false, "GET ''": false,
	} {
		_, err := Run(ctx, db, statement)
		if got := err != nil && strings.Contains(err.Error(), "did you mean 'MIT'?"); got != hint {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
