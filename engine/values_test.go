package engine

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// TestValues stores documents without text and fingerprint: they must come back byte for byte, also
// from tables, and no search may compare them.
func TestValues(t *testing.T) {
	ctx := t.Context()
	db, _ := create4test(t, nil)
	value := func(i int) string { return fmt.Sprintf("{ \"n\" : %d,\n\"s\":\"\\u00e9 one two three four\" }", i) }
	for i := range 100 {
		must.Do(t, db.Put(ctx, Doc{ID: fmt.Sprintf("v/%02d", i), Fields: json.RawMessage(value(i))}))
	}
	must.Do(t, db.Put(ctx, Doc{ID: "text", Text: "one two three four"}))
	for range 2 {
		i := 0
		for d, err := range db.Range(ctx, Range{Prefix: "v/", Load: true}) {
			if err != nil || string(d.Fields) != value(i) || d.Text != "" || d.Fingerprints != nil {
				t.Fatalf("%d: %+v, %v", i, d, err)
			}
			i++
		}
		if i != 100 {
			t.Fatalf("%d values", i)
		}
		for _, by := range []Criterion{Near(64), Jaccard(math.SmallestNonzeroFloat64).Estimated(), Levenshtein(0.01), Cosine(0.01), Contains(0.01), Within(0.01)} {
			for m, err := range db.Search(ctx, Doc{Text: "one two three four"}, by, nil) {
				if m.ID != "text" || err != nil {
					t.Errorf("%v finds %+v, %v", by, m, err)
				}
			}
		}
		must.Do(t, db.Compact(ctx, nil))
	}
}

// TestJSON fixes the JSON names, which a server would use.
func TestJSON(t *testing.T) {
	fp := uint64(7)
	for want, v := range map[string]any{
		`{"id":"a","distance":0}`:                                                                Match{ID: "a"},
		`{"a":"x","b":"y","distance":0,"score":0.5,"error":0.1}`:                                 Pair{"x", "y", Match{Score: 0.5, Error: 0.1}},
		`{"cluster":1,"keep":true,"id":"a","distance":3}`:                                        Member{1, true, Match{ID: "a", Distance: 3}},
		`{"id":"a","fields":{"n":1},"fingerprints":[[7]],"time":"1970-01-01T00:00:01Z","seq":5}`: Doc{ID: "a", Fields: json.RawMessage(`{"n":1}`), Fingerprints: []Fingerprint{{fp}}, Time: time.Unix(1, 0).UTC(), Seq: 5},
		`{"probes":1,"candidates":2,"matches":3,"tables":4}`:                                     QueryStats{1, 2, 3, 4},
		`{"match":{"distance":0},"stored":true,"replaced":false}`:                                Novelty{Stored: true},
	} {
		if got, err := json.Marshal(v); string(got) != want || err != nil {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

// TestCorruptionComment compares the fields of CorruptionError with those in its comment, which is
// all that go doc shows.
func TestCorruptionComment(t *testing.T) {
	f := must.Get(parser.ParseFile(token.NewFileSet(), "types.go", nil, parser.ParseComments))(t)
	var listed []string
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && strings.HasPrefix(g.Doc.Text(), "CorruptionError says") {
			for _, field := range regexp.MustCompile(`(?m)^\t(\w+) +(\w+) +//`).FindAllStringSubmatch(g.Doc.Text(), -1) {
				listed = append(listed, field[1]+" "+field[2])
			}
		}
	}
	var fields []string
	for field := range reflect.TypeFor[CorruptionError]().Fields() {
		fields = append(fields, field.Name+" "+field.Type.String())
	}
	if !slices.Equal(listed, fields) {
		t.Errorf("listed %q, there are %q", listed, fields)
	}
}
