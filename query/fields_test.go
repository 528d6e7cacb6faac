package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/value"
)

// TestTakeText checks that PUT moves the fields that the database compares to texts, and no others.
func TestTakeText(t *testing.T) {
	weighted := engine.Features{Fields: []engine.Field{{Name: "title", Weight: 3}, {Name: "body", Weight: 1}}}
	set := engine.Features{Unit: "set", SetField: "tags"}
	for _, c := range []struct {
		f                    engine.Features
		text, fields         string
		wantText, wantFields string
		fails                bool
	}{
		{f: engine.Features{}, fields: `{"title":"a"}`, wantFields: `{"title":"a"}`},
		{f: weighted, fields: `{"title":"a","body":"b","n":1}`, wantText: "a\x1fb", wantFields: `{"n":1}`},
		{f: weighted, fields: `{"body":"b"}`, wantText: "\x1fb"},
		{f: weighted, fields: `{"title":null,"body":"b"}`, wantText: "\x1fb"},
		{f: weighted, text: "t", fields: `{"body":"b"}`, wantText: "t", wantFields: `{"body":"b"}`},
		{f: weighted, fields: `{"n":1}`, wantFields: `{"n":1}`},
		{f: weighted, fields: `{"body":["b"]}`, fails: true},
		{f: set, fields: `{"tags":["b", 1],"n":1}`, wantText: `["b", 1]`, wantFields: `{"n":1}`},
		{f: set, fields: `{"tags":"x y"}`, wantText: `x y`},
		{f: set, fields: `{"tags":{"x":1}}`, fails: true},
		{f: set, fields: `[1]`, wantFields: `[1]`},
		{f: set},
	} {
		doc := engine.Doc{Text: c.text}
		if c.fields != "" {
			doc.Fields = json.RawMessage(c.fields)
		}
		err := value.TakeText(c.f, &doc)
		if c.fails {
			if !errors.Is(err, engine.ErrInvalid) {
				t.Errorf("%s: %v", c.fields, err)
			}
			continue
		}
		if err != nil || doc.Text != c.wantText || string(doc.Fields) != c.wantFields {
			t.Errorf("%s: %q, %s, %v; want %q, %s", c.fields, doc.Text, doc.Fields, err, c.wantText, c.wantFields)
		}
	}
}

// DB.Fields reports the same about each field as a model, however the documents are stored, and
// SHOW * has a column for each field.
func TestFields(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	values := []string{`"x"`, `"\u00e4 'quoted'"`, `-1.5`, `7`, `true`, `false`, `null`, `[1,2]`, `[]`, `{}`, `{"in":1}`, `{"in":null,"a b":{"deep":"x"}}`}
	keys := []string{"lang", "Time", "text", "near", "meta", "content-type", "9lives", "fields", "a.b", "é", "distanse", "deadbeefdeadbeef"}
	type seen struct {
		documents int
		kinds     map[string]bool
	}
	model := map[string]*seen{} // by path; the fields that Fields should list
	var note func(path []string, v any)
	note = func(path []string, v any) {
		key := strings.Join(path, "\x00")
		kind := map[reflect.Kind]string{
			reflect.String: "string", reflect.Float64: "number", reflect.Bool: "boolean", reflect.Slice: "list", reflect.Map: "object",
		}[reflect.ValueOf(v).Kind()]
		if len(path) > 0 {
			if model[key] == nil {
				model[key] = &seen{kinds: map[string]bool{}}
			}
			if v != nil {
				model[key].documents++
				model[key].kinds[kind] = true
			}
		}
		object, _ := v.(map[string]any)
		for k, v := range object {
			note(append(slices.Clone(path), k), v)
		}
	}
	db := openTest(t, nil)
	for i := range 300 {
		members := map[string]json.RawMessage{}
		for range rng.IntN(4) {
			members[keys[rng.IntN(len(keys))]] = json.RawMessage(values[rng.IntN(len(values))])
		}
		raw := must.Get(json.Marshal(members))(t)
		if len(members) == 0 {
			raw = nil
		}
		must.Do(t, db.Put(t.Context(), engine.Doc{ID: fmt.Sprint(i), Text: "text", Fields: raw}))
		var v map[string]any
		if raw != nil {
			must.Do(t, json.Unmarshal(raw, &v))
		}
		note(nil, v)
		if i == 150 {
			must.Do(t, db.Flush(t.Context()))
		}
	}
	want := map[string]string{}
	for key, s := range model {
		var kinds []string
		for _, k := range jsonfield.FieldKinds {
			if s.kinds[k] {
				kinds = append(kinds, k)
			}
		}
		below := false
		for other := range model {
			below = below || strings.HasPrefix(other, key+"\x00")
		}
		if below && len(kinds) == 1 && kinds[0] == "object" {
			continue
		}
		if len(kinds) == 0 {
			kinds = []string{"null"}
		}
		want[key] = fmt.Sprint(strings.Join(kinds, ", "), " ", s.documents)
	}
	run := func(statement string) ([]Row, []string) {
		rows, err := Run(t.Context(), db, statement)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		return read(t, rows), rows.Columns()
	}
	var before []engine.FieldStats
	for range 2 { // in a memtable and a table, then in one table
		fields, documents, err := db.Fields(t.Context(), engine.Range{}, nil)
		if err != nil || documents != 300 {
			t.Fatal(documents, err)
		}
		got := map[string]string{}
		for _, f := range fields {
			name := Field(f.Path...).String()
			tok, ok := language.Word(name)
			if !ok {
				t.Fatalf("%q is no name of a field", name)
			}
			if path, err := predicate.FieldPath(tok); err != nil || !slices.Equal(path, f.Path) {
				t.Errorf("%s is %q, want %q, %v", name, path, f.Path, err)
			}
			got[strings.Join(f.Path, "\x00")] = fmt.Sprint(f.Kinds, " ", f.Documents)
			if n, _ := run("COUNT " + name + " IS NOT NULL"); n[0][0] != f.Documents {
				t.Errorf("%s IS NOT NULL holds for %v documents, Fields says %v", name, n[0][0], f.Documents)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
		if before != nil && !reflect.DeepEqual(fields, before) {
			t.Errorf("after Compact\n%v, before\n%v", fields, before)
		}
		before = fields
		_, columns := run("SHOW *")
		for key := range want {
			top, _, _ := strings.Cut(key, "\x00")
			if !slices.Contains(columns, fieldName([]string{top})) {
				t.Errorf("SHOW * has no column for %q: %q", top, columns)
			}
		}
		if n := len(columns); columns[0] != "id" || columns[n-2] != "text" || columns[n-1] != "time" {
			t.Errorf("SHOW * has the columns %q", columns)
		}
		must.Do(t, db.Compact(t.Context(), nil))
	}
	rows, columns := run("ID = '1' SHOW * LIMIT 1")
	if d, _ := run("GET '1'"); len(rows) != 1 || rows[0][len(columns)-2] != d[0][1] {
		t.Errorf("SHOW * of one document: %v of %v", rows, d)
	}
}
