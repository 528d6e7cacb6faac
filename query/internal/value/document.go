package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/spelling"
	"github.com/simdb/simdb/query/internal/syntax"
)

// Document returns the document that PUT stores, from JSON or from a parameter that is an
// engine.Doc or JSON.
func (v *Values) Document(t syntax.Token) (engine.Doc, error) {
	a, err := v.Get(t)
	if err != nil {
		return engine.Doc{}, err
	}
	switch a := a.(type) {
	case engine.Doc:
		return a, nil
	case string:
		return decode(t, []byte(a))
	case json.RawMessage:
		return decode(t, a)
	}
	return engine.Doc{}, v.Wrong(t, "a document")
}

// decode reads a document from JSON. An error in a JSON literal points into the statement.
func decode(t syntax.Token, raw []byte) (engine.Doc, error) {
	doc, at, err := decodeDoc(raw)
	if err == nil {
		return doc, nil
	}
	e := syntax.Errorf(t.Pos.Offset, "", "%v", err)
	fixed := singleQuoted.ReplaceAll(bareKey.ReplaceAll(raw, []byte(`$1"$2":`)), []byte(`"$1"`))
	if fixed = lastComma.ReplaceAll(fixed, []byte("}")); !json.Valid(raw) && json.Valid(fixed) {
		e.Msg, e.Hint = "the JSON is not well-formed: keys and strings have double quotes, and no comma stands before }", "write PUT "+string(fixed)
	}
	if t.Type == syntax.JSON {
		e.Within = min(at, len(raw)-1)
	}
	return engine.Doc{}, e
}

// What people write in JSON of other languages: keys and strings in single quotes or none.
var (
	bareKey      = regexp.MustCompile(`([{,]\s*)'?([A-Za-z_]\w*)'?\s*:`)
	singleQuoted = regexp.MustCompile(`'([^'"]*)'`)
	lastComma    = regexp.MustCompile(`,\s*}`)
)

// decodeDoc reads a document in the JSON form that PUT reads and GET writes:
//
//	{"id": "a", "text": "...", "fields": {...}, "fingerprint": "9f3c5a0011223344",
//	 "time": "2026-01-02T03:04:05Z", "expires": "2026-02-01T00:00:00Z"}
//
// Only the id is required. Without "fields", all other keys make up the fields. On an error, at is
// its offset in raw.
func decodeDoc(raw []byte) (doc engine.Doc, at int, err error) {
	keys, err := objectKeys(raw)
	if err != nil {
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			return doc, max(0, int(e.Offset)-1), fmt.Errorf(`the JSON is not well-formed: %s, write {"id": "a", "text": "..."}`, e.Error())
		}
		return doc, 0, err
	}
	var rest []jsonKey
	for _, k := range keys {
		read, ok := docKeys[k.name]
		if !ok {
			rest = append(rest, k)
			continue
		}
		if string(k.value) == "null" && k.name != "id" {
			continue
		}
		if err := read(&doc, k.value); err != nil {
			return doc, k.at, err
		}
	}
	if doc.ID == "" {
		hint, at := misnamed(rest, "id")
		return doc, at, errors.New(`the document has no "id", as in {"id": "a", "text": "..."}` + hint)
	}
	if len(rest) == 0 {
		return doc, 0, nil
	}
	if doc.Fields != nil {
		return doc, rest[0].at, errors.New(`the document has "fields" and other keys beside it: put them into "fields"`)
	}
	if doc.Text == "" && doc.Fingerprints == nil {
		for _, name := range []string{"text", "fingerprint"} {
			if hint, at := misnamed(rest, name); hint != "" {
				return doc, at, errors.New(`the document has neither "text" nor "fingerprint"` + hint + ` (a field of another name goes into "fields")`)
			}
		}
	}
	fields := make(map[string]json.RawMessage, len(rest))
	for _, k := range rest {
		fields[k.name] = k.value
	}
	doc.Fields, err = json.Marshal(fields)
	return doc, 0, err
}

// docKeys has a reader for each key of a document that is not a field.
var docKeys = map[string]func(*engine.Doc, json.RawMessage) error{
	"id": readID, "text": readText, "fields": readFields, "fingerprint": readFingerprint, "fingerprints": readFingerprints, "time": readTime("time", func(d *engine.Doc) *time.Time { return &d.Time }),
	"expires": readTime("expires", func(d *engine.Doc) *time.Time { return &d.Expires }),
}

// jsonKey is a key of an object with its offset and its value.
type jsonKey struct {
	name  string
	at    int
	value json.RawMessage
}

// objectKeys returns the keys of a JSON object in the order of the text. If a key occurs twice, the
// last value counts, as in other JSON decoders.
func objectKeys(raw []byte) ([]jsonKey, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		if _, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, err
		}
		return nil, errors.New("the JSON should be an object")
	}
	keys := make([]jsonKey, 0, len(object))
	number := make(map[string]int, len(object))
	d := json.NewDecoder(bytes.NewReader(raw))
	d.Token() // the object is well-formed
	for d.More() {
		at := int(d.InputOffset())
		at += bytes.IndexByte(raw[at:], '"')
		name, _ := d.Token()
		k := jsonKey{name: name.(string), at: at}
		if err := d.Decode(&k.value); err != nil {
			return nil, err
		}
		if old, again := number[k.name]; again {
			keys[old] = k
			continue
		}
		number[k.name] = len(keys)
		keys = append(keys, k)
	}
	return keys, nil
}

// misnamed looks for a key whose name is close to name. It returns ", did you mean ..." and the
// offset of the key, or "" if there is none. A key is close to "text" only if its value is a
// string.
func misnamed(keys []jsonKey, name string) (hint string, at int) {
	for _, k := range keys {
		if _, ok := spelling.Closest(k.name, []string{name}); ok && (k.value[0] == '"' || name != "text") {
			return fmt.Sprintf(", did you mean %q where it says %q?", name, k.name), k.at
		}
	}
	return "", 0
}

// readID reads a string, or a number, whose spelling becomes the id.
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

func readFingerprint(doc *engine.Doc, value json.RawMessage) error {
	words, err := fingerprintOf(value)
	if err != nil {
		return fmt.Errorf(`"fingerprint": %w`, err)
	}
	doc.Fingerprints = append([]engine.Fingerprint{words}, doc.Fingerprints...) // "fingerprints" may come first
	return nil
}

func readFingerprints(doc *engine.Doc, value json.RawMessage) error {
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil {
		return fmt.Errorf(`"fingerprints" should be a list, not %s`, brief(value))
	}
	for i, v := range list {
		words, err := fingerprintOf(v)
		if err != nil {
			return fmt.Errorf(`"fingerprints", number %d: %w`, i+1, err)
		}
		doc.Fingerprints = append(doc.Fingerprints, words)
	}
	return nil
}

// fingerprintOf reads a string by the rules of package base, or a decimal number.
func fingerprintOf(value json.RawMessage) ([]uint64, error) {
	text, notation := string(value), base.Decimal
	if value[0] == '"' {
		notation = base.Auto
		if err := json.Unmarshal(value, &text); err != nil {
			return nil, err
		}
	}
	return parseWords(text, notation)
}

func readTime(key string, of func(*engine.Doc) *time.Time) func(*engine.Doc, json.RawMessage) error {
	return func(doc *engine.Doc, value json.RawMessage) error {
		var s string
		if json.Unmarshal(value, &s) == nil {
			if t, ok := quantity.ParseTime(s); ok && t.IsZero() { // the zero time would mean now, or never
				return fmt.Errorf(`%q is %s, which means no time: leave it out`, key, brief(value))
			} else if ok {
				*of(doc) = t
				return nil
			}
		}
		return fmt.Errorf(`%q should be written as in %q, not %s`, key, time.Unix(1767323045, 0).UTC().Format(time.RFC3339), brief(value))
	}
}

// brief returns the start of a JSON value, for messages.
func brief(value json.RawMessage) string {
	const longest = 40
	if len(value) <= longest {
		return string(value)
	}
	return strings.ToValidUTF8(string(value[:longest]), "") + "…"
}
