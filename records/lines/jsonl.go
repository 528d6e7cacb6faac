package lines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/jsontext"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// object parses JSON lines. It walks the members of the top level instead of decoding them: numbers
// keep all their digits, and the other members go into Fields byte for byte. If a name repeats, the
// last member wins. The walk also validates the line, except for lines with rare constructs, which
// the decoder checks first.
type object struct {
	id, fp   jsonfield.Path   // no ID is read if id is empty
	fps      string           // name of the list of further fingerprints; "" if the user named fp, which may itself be a list
	texts    []jsonfield.Path // joined to the text
	weighted bool             // joined as engine.JoinFields does
	set      bool             // the document is a set
	pairs    bool             // of features with weights
	members  bool             // the records are members of an object, whose names are the IDs
	makeID   bool
	option   string // selects the fields of the text; like idOption as messages name it
	idOption string
	orMake   string // additional advice in errors about a missing ID
	bulk     bool   // an action precedes each document
	idsOnly  bool   // a record may have neither text nor fingerprint
	prints
}

func newObject(opt records.Options, members bool) *object {
	o := &object{
		id:       jsonfield.Parse(orDefault(opt.IDField, "id")),
		fp:       jsonfield.Parse(orDefault(opt.FingerprintField, "fingerprint")),
		weighted: opt.Fields != nil, set: opt.SetField != "", pairs: opt.Weighted,
		option: opt.TextOption(), idOption: opt.Call("IDField"),
		members: members, makeID: opt.MakeID, idsOnly: opt.IDsOnly || opt.NoText, prints: prints{notation: opt.Fingerprints},
	}
	for _, name := range opt.TextFields() {
		o.texts = append(o.texts, jsonfield.Parse(name))
	}
	if opt.IDFrom != "" {
		o.id = jsonfield.Path{}
	}
	if opt.FingerprintField == "" {
		o.fps = "fingerprints"
	}
	if opt.IDField == "" {
		o.orMake = ", " + madeIDs()
	}
	return o
}

// found is the value of a field, or nil if there is none.
type found struct {
	value []byte
	path  jsonfield.Path // within a value that is a list, or an object with any keys
	exact bool           // a member has exactly this name, so paths into other members are ignored
}

// take records the value of a member if path is its key or leads into it. It reports whether the
// member itself is the field.
func (f *found) take(path *jsonfield.Path, key string, value []byte) bool {
	if path.Is(key) {
		f.value, f.path, f.exact = value, jsonfield.Path{}, true
		return true
	}
	if f.exact || !path.Enters(key) {
		return false
	}
	if rest, ok := path.Step(key); ok && rest.Continues(value) {
		if v, rest := rest.Down(value); v != nil && rest.Continues(v) {
			f.value, f.path = v, rest
		}
	}
	return false
}

// lead are characters that may precede a JSON text: white space, the byte order mark of a file that
// was appended to another one, or the record separator of RFC 7464.
const lead = blank + "\ufeff\x1e"

// trim removes white space, and the other characters of lead, around a JSON text.
func trim(s []byte) []byte {
	if len(s) > 0 && s[0] != '{' { // otherwise avoid the slow TrimLeft, which builds a table of runes
		s = bytes.TrimLeft(s, lead)
	}
	for len(s) > 0 && strings.IndexByte(blank, s[len(s)-1]) >= 0 {
		s = s[:len(s)-1]
	}
	return s
}

func (o *object) parse(raw []byte, rec *record) string {
	if o.bulk {
		return o.parseBulk(raw, rec)
	}
	s := trim(raw)
	if tooDeep(s) {
		return fmt.Sprintf("not JSON: nested deeper than %d", jsontext.MaxDepth)
	}
	var name []byte
	if o.members {
		if name, s = cutMember(s); s == nil || !jsontext.Valid(s) || !jsontext.Valid(name) {
			return "not a member of a JSON object"
		} else if s[0] != '{' {
			return o.fillMember(rec, name, s)
		}
	}
	var id, fp found
	var list []byte // list of fingerprints
	var few [4]found
	texts := append(few[:0], make([]found, len(o.texts))...)
	var fields []byte
	take := func(key string, member, value []byte) {
		known := id.take(&o.id, key, value)
		for i := range o.texts {
			known = texts[i].take(&o.texts[i], key, value) || known
		}
		if value[0] == '[' && (o.fp.Is(key) || key == o.fps) {
			list = value
			return
		}
		known = fp.take(&o.fp, key, value) || known
		if known && (o.set || value[0] != '{' && value[0] != '[') {
			return // a list or an object is not a text, and stays a field
		}
		if fields == nil {
			fields = append(fields, '{')
		} else {
			fields = append(fields, ',')
		}
		fields = append(fields, member...)
	}
	if rec.BadUTF8 || !checkedMembers(s, take) {
		id, fp, list, fields = found{}, found{}, nil, nil
		clear(texts)
		s = standard(s)
		if reason := anyMembers(raw, s, take); reason != "" {
			return reason
		}
	}
	for i := range texts {
		if path := &o.texts[i]; texts[i].value == nil && path.Begins(jsonfield.Any) {
			texts[i] = found{value: s, path: *path}
		}
	}
	if fields != nil {
		rec.Doc.Fields = append(fields, '}')
		if rec.BadUTF8 {
			rec.Doc.Fields = []byte(records.ValidText(string(rec.Doc.Fields)))
		}
	}
	if id.value == nil {
		id.value = name
	}
	return o.fill(rec, s, id.value, texts, fp.value, list)
}

// anyMembers is Members for a line that checkedMembers rejects; s is raw without white space around
// it. It returns a reason if the line is not usable, or "".
func anyMembers(raw, s []byte, take func(key string, member, value []byte)) string {
	switch {
	case !jsontext.Valid(s):
		return notJSON(raw)
	case s[0] == '[' && listOfTexts(s):
		return "not a JSON object but an array of strings: jq -c '.[] | {text: .}' FILE makes an object from each"
	case s[0] == '[':
		return "not a JSON object but an array: jq -c '{id: .[0], text: .[1]}' FILE makes objects from them"
	case s[0] == '"':
		return "not a JSON object but a string: jq -c '{text: (.[]? // .)}' FILE makes objects from them"
	case s[0] != '{':
		return "not a JSON object"
	}
	if err := Members(s, take); err != nil {
		return notJSON(raw)
	}
	return ""
}

// listOfTexts reports whether an array has only strings, and is not a pair of an ID and a text.
func listOfTexts(s []byte) bool {
	var all []string
	return json.Unmarshal(s, &all) == nil && len(all) > 0 && len(all) != 2
}

// fill sets ID, Text and fingerprints from their JSON values in the object s. A missing value is
// nil.
func (o *object) fill(rec *record, s, id []byte, texts []found, fp, list []byte) string {
	if reason := o.setID(rec, s, id); reason != "" {
		return reason
	}
	o.setText(rec, texts)
	if fp != nil && fp[0] != 'n' {
		if flaw := setJSONFingerprint(rec, fp, o.prints); flaw != "" {
			rec.Flaw = flaw
		}
	}
	if flaw := setJSONFingerprints(rec, list, o.prints); flaw != "" {
		rec.Flaw = flaw
		rec.Doc.Fingerprints = nil
	}
	switch {
	case fp != nil || list != nil || o.idsOnly || slices.ContainsFunc(texts, func(f found) bool { return f.value != nil }):
	case !o.set && hasSet(s):
		rec.Flaw = "a set, not a text: " + option.Set("SetField", "set") + " compares its members"
	default:
		var names []string
		for _, path := range o.texts {
			names = append(names, path.String())
		}
		rec.Flaw = fmt.Sprintf("no %s and no %q%s; %s and %s name others",
			quotedNames(names), o.fp.String(), fieldsOf(s, o.texts[0].String()), option.Name(o.option), option.Name("FingerprintField"))
	}
	return ""
}

// setID sets the ID from its JSON value, nil if it is missing. It returns a reason if the record
// needs an ID and has no valid one.
func (o *object) setID(rec *record, s, id []byte) string {
	reason := ""
	switch {
	case id == nil && !o.makeID:
		reason = fmt.Sprintf("no %q%s; %s names another%s", o.id.String(), fieldsOf(s, o.id.String()), option.Name(o.idOption), o.orMake)
	case id == nil:
	case id[0] == '"':
		rec.Doc.ID = rec.unquote(id)
	case id[0] == '-' || id[0] >= '0' && id[0] <= '9':
		rec.Doc.ID = string(id)
	case o.id.Several():
		reason = fmt.Sprintf("%q leads to several values, and an id is one", o.id.String())
		rec.Flaw = reason
	case id[0] == '{' || id[0] == '[':
		reason = fmt.Sprintf("%q is %s", o.id.String(), within(id, o.id.String(), "", o.idOption))
		rec.Flaw = reason
	default:
		reason = fmt.Sprintf("%q is %s, which is not an id%s", o.id.String(), id, o.orMake)
	}
	if reason != "" && !o.makeID {
		return reason
	}
	return rec.checkID(o.makeID)
}

// within explains that the value of a field is a list or an object, and names the option that
// selects a member; typed is the path that has led to the value, or several in it, if any.
func within(value []byte, name, typed, field string) string {
	what := map[byte]string{'[': "a list", '{': "an object"}[value[0]]
	if path := jsonfield.PathOfText(value, name); path != "" && !strings.Contains(field, "ID") {
		if path == typed || strings.Contains(typed, "*") { // it leads to texts and objects
			path = typed + ".text"
		}
		return what + ": " + option.Set(field, path) + " reads its contents"
	}
	Members(value, func(key string, _, v []byte) {
		if value[0] == '{' && what == "an object" && v[0] != '{' && v[0] != '[' {
			what += ": " + option.Set(field, name+"."+key) + " reads its contents"
		}
	})
	return what
}

// unquote decodes a valid JSON string of the record.
func (r *record) unquote(quoted []byte) string {
	if !r.BadUTF8 {
		return jsontext.Unquote(quoted)
	}
	return records.ValidText(jsontext.Unquote(quoted))
}

// hasSet reports whether an object has an array called "set".
func hasSet(s []byte) bool {
	value := jsonfield.Of(s, []string{"set"})
	return value != nil && value[0] == '['
}

// setText joins the texts of a document as lines, or as fields of JoinFields.
func (o *object) setText(rec *record, texts []found) {
	d := &rec.Doc
	if v := texts[0].value; o.set && v != nil && (v[0] == '[' || v[0] == '{' && (o.pairs || !texts[0].path.Arrived())) {
		if !texts[0].path.Arrived() {
			v = texts[0].path.All(v)
		}
		d.Text = string(v)
		if rec.BadUTF8 {
			d.Text = records.ValidText(d.Text)
		}
		return
	}
	if !o.weighted {
		for i := range texts {
			d.Text = joinText(d.Text, o.textOf(rec, i, texts[i]))
		}
		return
	}
	if !slices.ContainsFunc(texts, func(f found) bool { return f.value != nil }) {
		return
	}
	values := make([]string, len(texts))
	for i := range texts {
		values[i] = o.textOf(rec, i, texts[i])
	}
	d.Text = engine.JoinFields(values...)
}

// textOf returns the text of field i. Numbers, true and false are copied as written; the texts in a
// list become lines. An object is a flaw of the record.
func (o *object) textOf(rec *record, i int, f found) (text string) {
	value, ok := f.value, false
	switch {
	case value == nil || value[0] == 'n': // null is a text without words
	case value[0] == '"':
		text = rec.unquote(value)
	case !o.set && (value[0] == '[' || value[0] == '{' && !f.path.Arrived()):
		if text, ok = f.path.Text(value); !ok {
			to := strings.TrimSuffix(strings.TrimSuffix(o.texts[i].String(), f.path.String()), ".")
			rec.Flaw = fmt.Sprintf("%q is %s", o.texts[i].String(), within(value, to, o.texts[i].String(), o.option))
		}
		text, rec.listed = records.ValidText(text), true
	case value[0] == '{' || value[0] == '[':
		rec.Flaw = fmt.Sprintf("%q is %s", o.texts[i].String(), within(value, o.texts[i].String(), "", o.option))
	default:
		text = string(value)
	}
	return text
}

// setJSONFingerprint reads a fingerprint from a JSON value. A string may have any notation; a
// number is decimal.
func setJSONFingerprint(rec *record, value []byte, p prints) string {
	if value[0] == '"' {
		return rec.setFingerprint([]byte(strings.TrimSpace(records.ValidText(jsontext.Unquote(value)))), p)
	}
	if reason := rec.setFingerprint(value, prints{base.Decimal, p.bits}); reason != "" {
		return "the fingerprint is neither a string nor a whole number of 64 bits"
	}
	return ""
}

// setJSONFingerprints reads a list of fingerprints, each like setJSONFingerprint. If the document
// has no fingerprint yet, the first one becomes its fingerprint; the others are its further ones.
// All must have the same length and notation.
func setJSONFingerprints(rec *record, list []byte, p prints) (flaw string) {
	if list == nil {
		return ""
	}
	for i := jsontext.SkipBlank(list, 1); i < len(list) && list[i] != ']'; {
		from := i
		i = jsontext.SkipValue(list, i)
		value := list[from:i]
		if i = jsontext.SkipBlank(list, i); i < len(list) && list[i] == ',' {
			i = jsontext.SkipBlank(list, i+1)
		}
		if rec.Doc.Fingerprints == nil {
			if flaw = setJSONFingerprint(rec, value, p); flaw != "" {
				return flaw
			}
			continue
		}
		p.bits = base.FingerprintBits * len(rec.Doc.Fingerprints[0])
		other := record{}
		if flaw = setJSONFingerprint(&other, value, p); flaw != "" {
			return flaw
		}
		if other.notation != rec.notation {
			return "its fingerprints are written in two notations; " + option.Set("Fingerprints", base.Hex, base.Decimal) + " says how to read them"
		}
		rec.Doc.Fingerprints = append(rec.Doc.Fingerprints, other.fp)
	}
	return ""
}

// fieldsOf lists the fields of a JSON object, or of its beginning, for a message, nested ones by
// their paths, and suggests the one that the user may have meant by wanted.
func fieldsOf(s []byte, wanted string) string {
	return records.Among("its fields are", jsonfield.Names(s), wanted)
}

// cutMember returns the undecoded name and the value of a member, or nil if s is not a member.
func cutMember(s []byte) (name, value []byte) {
	if len(s) == 0 || s[0] != '"' {
		return nil, nil
	}
	i := jsontext.SkipString(s, 0)
	colon := jsontext.SkipBlank(s, i)
	if from := jsontext.SkipBlank(s, colon+1); from < len(s) && s[colon] == ':' {
		return s[:i], s[from:]
	}
	return nil, nil
}

// fillMember makes a document of a member whose value is not an object: a fingerprint if it looks
// like one, else a text.
func (o *object) fillMember(rec *record, name, value []byte) string {
	if isPrint(value) || o.notation != base.Auto {
		return o.fill(rec, value, name, make([]found, len(o.texts)), value, nil)
	}
	texts := append([]found{{value: value}}, make([]found, len(o.texts)-1)...)
	return o.fill(rec, value, name, texts, nil, nil)
}

// isPrint reports whether a JSON value is almost certainly a fingerprint.
func isPrint(value []byte) bool {
	const fewest = 12 // digits; shorter numbers may be counts
	if value[0] != '"' {
		_, _, err := base.ParseFingerprint(value, base.Decimal)
		return err == nil && len(value) >= fewest
	}
	text := bytes.Trim(value, `"`)
	_, as, err := base.ParseCell(text, base.Auto)
	return isWide(text, base.Auto) || err == nil && (as == base.Hex && len(text) >= fewestShort || len(text) >= fewest)
}
