package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/fptext"
)

// decodeDoc reads a document as PUT takes it, and as GET writes it in JSON:
//
//	{"id": "a", "text": "...", "fields": {...}, "fingerprint": "9f3c5a0011223344", "time": "2026-01-02T03:04:05Z"}
//
// Only the id is needed. Keys of other names make up the fields, where there is no "fields". On an error it returns
// the offset in raw as well.
func decodeDoc(raw []byte) (doc engine.Doc, at int, err error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			return doc, max(0, int(e.Offset)-1), fmt.Errorf("the JSON is not well-formed: %s", e.Error())
		}
		return doc, 0, errors.New("the JSON should be an object")
	}
	for key, read := range map[string]func(*engine.Doc, json.RawMessage) error{
		"id": readID, "text": readText, "fields": readFields, "fingerprint": readFingerprint, "time": readTime,
	} {
		value, ok := keys[key]
		delete(keys, key)
		if !ok || string(value) == "null" && key != "id" {
			continue
		}
		if err := read(&doc, value); err != nil {
			return doc, max(0, bytes.Index(raw, []byte(`"`+key+`"`))), err
		}
	}
	if doc.ID == "" {
		return doc, 0, errors.New(`the document has no "id"`)
	}
	if len(keys) > 0 {
		if doc.Fields != nil {
			return doc, 0, errors.New(`the document has "fields" and other keys beside it: put them into "fields"`)
		}
		if doc.Fields, err = json.Marshal(keys); err != nil {
			return doc, 0, err
		}
	}
	return doc, 0, nil
}

// readID reads a string, or a number as it is written.
func readID(doc *engine.Doc, value json.RawMessage) error {
	var n json.Number
	if json.Unmarshal(value, &doc.ID) == nil && string(value) != "null" {
		return nil
	}
	if value[0] != '"' && json.Unmarshal(value, &n) == nil && n != "" {
		doc.ID = n.String()
		return nil
	}
	return fmt.Errorf(`"id" should be a string or a number, not %s`, brief(value))
}

func readText(doc *engine.Doc, value json.RawMessage) error {
	if err := json.Unmarshal(value, &doc.Text); err != nil {
		return fmt.Errorf(`"text" should be a string, not %s`, brief(value))
	}
	return nil
}

func readFields(doc *engine.Doc, value json.RawMessage) error {
	if value[0] != '{' {
		return fmt.Errorf(`"fields" should be an object, not %s`, brief(value))
	}
	doc.Fields = value
	return nil
}

// readFingerprint reads a string by the rule of package fptext, or a number, which is decimal.
func readFingerprint(doc *engine.Doc, value json.RawMessage) error {
	text, notation := string(value), fptext.Decimal
	if value[0] == '"' {
		notation = fptext.Auto
		if err := json.Unmarshal(value, &text); err != nil {
			return err
		}
	}
	fp, _, err := fptext.Parse(text, notation)
	if err != nil {
		return fmt.Errorf(`"fingerprint": %w`, err)
	}
	doc.Fingerprint = &fp
	return nil
}

func readTime(doc *engine.Doc, value json.RawMessage) error {
	var s string
	if json.Unmarshal(value, &s) == nil {
		if t, ok := parseTime(s); ok {
			doc.Time = t
			return nil
		}
	}
	return fmt.Errorf(`"time" should be written as in %q, not %s`, time.Unix(1767323045, 0).UTC().Format(time.RFC3339), brief(value))
}

// brief is the start of a JSON value, for messages.
func brief(value json.RawMessage) string {
	const longest = 40
	if len(value) <= longest {
		return string(value)
	}
	return strings.ToValidUTF8(string(value[:longest]), "") + "…"
}
