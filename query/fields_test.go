package query

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/simdb/simdb/engine"
)

// TestTakeText: PUT makes texts of the fields that a database compares, and of no others.
func TestTakeText(t *testing.T) {
	weighted := engine.Features{Fields: []engine.Field{{Name: "title", Weight: 3}, {Name: "body", Weight: 1}}}
	set := engine.Features{Unit: engine.UnitSet, SetField: "tags"}
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
		err := takeText(c.f, &doc)
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
