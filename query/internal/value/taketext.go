package value

import (
	"encoding/json"
	"fmt"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/jsonfield"
)

// TakeText makes the text of a document that PUT stores without one. It moves the fields that the
// database compares from the fields to the text, as a load does.
func TakeText(f engine.Features, doc *engine.Doc) error {
	names := []string{f.SetField}
	given := features.IsGiven(f.Unit)
	if !given {
		names = nil
		for _, field := range f.Fields {
			names = append(names, field.Name)
		}
	}
	if doc.Text != "" || doc.Fields == nil || names == nil {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(doc.Fields, &fields); err != nil {
		return nil // not an object: the engine reports it
	}
	texts, found := make([]string, len(names)), false
	for i, name := range names {
		value, ok := fields[name]
		if path := jsonfield.Parse(name); !ok && given { // an object with the field stays whole
			if value = path.Of(doc.Fields); value == nil {
				value = path.All(doc.Fields)
			}
		} else if !ok {
			texts[i], _ = path.Text(doc.Fields)
			found = found || texts[i] != ""
		}
		if value == nil {
			continue
		}
		found = true
		delete(fields, name)
		if given && (value[0] == '[' || value[0] == '{' && f.Unit == features.Given) {
			texts[i] = string(value)
		} else if err := json.Unmarshal(value, &texts[i]); err != nil {
			what := "a string"
			if given {
				what = "an array or a string"
			}
			return fmt.Errorf("the field %q should be %s: %w", name, what, engine.ErrInvalid)
		}
	}
	if !found {
		return nil
	}
	doc.Text, doc.Fields = texts[0], nil
	if !given {
		doc.Text = engine.JoinFields(texts...)
	}
	if len(fields) == 0 {
		return nil
	}
	var err error
	doc.Fields, err = json.Marshal(fields)
	return err
}
