package predicate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/spelling"
	"github.com/simdb/simdb/query/internal/value"
)

// A NamedField is a field that a statement names. It notes whether any document has it.
type NamedField struct {
	name  string // as the user wrote it
	path  []string
	found bool
	read  int64               // documents read without finding the field
	keys  map[string]struct{} // fields that some of these have beside it
	meant string              // a field of one of these that the name may mean
}

// Field returns the field that a statement names. name is "" for a field that * stands for.
func (x *Scope) Field(name string, path []string) *NamedField {
	f := &NamedField{name: name, path: path, keys: map[string]struct{}{}}
	if name != "" {
		x.fields = append(x.fields, f)
	}
	return f
}

// Of returns the value of the field in the fields of a document, or a list if the path leads to
// several; nil if it is missing or null.
func (f *NamedField) Of(fields []byte) json.RawMessage {
	raw := jsonfield.Exact(f.path).All(fields)
	if f.found = f.found || raw != nil; !f.found {
		f.miss(fields)
	}
	return raw
}

// miss notes a document without the field.
func (f *NamedField) miss(fields []byte) {
	const looked = 100 // documents whose keys are noted
	if f.read++; f.read > looked || len(fields) == 0 {
		return
	}
	last := len(f.path) - 1
	if last > 0 && jsonfield.Of(fields, []string{f.name}) != nil { // a key with points
		f.meant = jsonfield.Name([]string{f.name})
	}
	for _, name := range jsonfield.Names(fields) {
		if _, rest := jsonfield.Cut(name); f.meant == "" && rest == "" && strings.HasSuffix(name, "."+f.name) {
			f.meant = name
		}
	}
	object := fields
	if last > 0 {
		object = jsonfield.Of(fields, f.path[:last])
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(object, &keys) != nil {
		return
	}
	for key := range keys {
		f.keys[jsonfield.JoinPath(append(f.path[:last:last], key))] = struct{}{}
	}
	_, f.found = keys[f.path[last]] // true for a null value
}

// Doubt adds a warning about a statement to Doubts.
func (x *Scope) Doubt(format string, args ...any) {
	x.doubts = append(x.doubts, fmt.Sprintf(format, args...))
}

// doubtPattern makes Doubts warn, if there are no rows, about a pattern without wildcards.
func (x *Scope) doubtPattern(p *value.Pattern) {
	if !strings.ContainsAny(p.Source, "%_") {
		x.ifEmpty = append(x.ifEmpty, fmt.Sprintf("LIKE %s has no %% or _ and matches only this exact value: LIKE %s finds it anywhere",
			value.Label(p.Source), value.Label("%"+p.Source+"%")))
	}
}

// noTexts makes Doubts check whether a search by text found nothing because documents have no
// texts: the document with an ID or, if the ID is "", some documents.
func (x *Scope) noTexts(id, instead string) { x.textless = append(x.textless, textless{id, instead}) }

// textless is a search by text.
type textless struct{ id, instead string }

// Doubts returns warnings about a statement that has yielded rows rows. search says whether the
// statement searches.
func (x *Scope) Doubts(rows int64, search bool) []string {
	said := x.doubts
	for _, t := range x.textless {
		if rows > 0 || x.DB.Options().NoText {
			break
		}
		what, has, n := "the documents have", false, 0
		look := func(id string) {
			n++
			d, err := x.Snap.Get(x.Ctx, id)
			has = err != nil || d.Text != "" || d.Fingerprints == nil
		}
		if t.id != "" {
			what = "the document " + value.Label(t.id) + " has"
			look(t.id)
		} else {
			for e, err := range x.Snap.Range(x.Ctx, engine.Range{Unordered: true, OnlyIDs: true}) {
				if err != nil || n == lookedAt {
					break
				}
				if look(e.ID); has {
					break
				}
			}
		}
		if n > 0 && !has {
			said = append(said, what+" fingerprints but no texts: "+t.instead+" compares fingerprints")
		}
	}
	if search && rows == 0 && x.Documents() == 0 {
		return append(said, "the database has no documents")
	}
	if rows == 0 {
		x.lookForFields()
		said = append(said, x.ifEmpty...)
	}
	return append(said, x.Unknown()...)
}

// lookedAt is how many documents are checked if a statement has read none.
const lookedAt = 100

// lookForFields looks for the fields of a statement in some documents if the statement read none.
func (x *Scope) lookForFields() {
	var unread []*NamedField
	for _, f := range x.fields {
		if f.read == 0 && !f.found {
			unread = append(unread, f)
		}
	}
	if len(unread) == 0 || x.DB.Options().NoText {
		return
	}
	n := 0
	for e, err := range x.Snap.Range(x.Ctx, engine.Range{Unordered: true, OnlyIDs: true}) {
		if err != nil || n == lookedAt {
			return
		}
		d, err := x.Snap.Get(x.Ctx, e.ID)
		if n++; err != nil {
			return
		}
		for _, f := range unread {
			f.Of(d.Fields)
		}
	}
}

// mostUnknown is how many fields Unknown names.
const mostUnknown = 20

// Unknown warns about fields that no document has, or none of the documents that were read.
func (x *Scope) Unknown() (said []string) {
	for _, f := range x.fields {
		if f.found || f.read == 0 {
			continue
		}
		hint := spelling.Suggest(jsonfield.JoinPath(f.path), slices.Sorted(maps.Keys(f.keys)))
		if f.meant != "" {
			hint = fmt.Sprintf("did you mean %s?", f.meant)
		}
		warning := "no document has a field " + f.name
		switch all := float64(f.read) >= x.Documents(); {
		case all && hint == "":
			warning += ", .fields lists the fields"
		case !all:
			warning = fmt.Sprintf("no field %s in the %s read", f.name, quantity.Count(f.read, "document"))
		}
		if hint != "" {
			warning += ", " + hint
		}
		if warning = value.Brief(warning); !slices.Contains(said, warning) {
			said = append(said, warning)
		}
		if len(said) == mostUnknown {
			break
		}
	}
	return said
}
