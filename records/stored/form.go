package stored

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/lines"
)

// Form describes how a document is written so that load can read it back: the names of its ID,
// texts, fingerprints and time. Its fields are written unchanged.
type Form struct {
	Fingerprints bool   // include fingerprints that can be computed from the text
	Expires      string // the name of the time at which a document expires, or ""
	Time         string // the name of the time, or ""

	ID                string
	Texts             []string // several if the text has weighted fields
	FingerprintField  string   // the name of a single fingerprint
	FingerprintsField string   // the name of a list of fingerprints

	set   bool // the text is a set
	pairs bool // or an object of features with weights
}

// NewForm returns the form for the documents of a database, with the names that the options give
// for reading them.
func NewForm(p engine.Options, o records.Options) (*Form, error) {
	f := &Form{ID: cmp.Or(o.IDField, "id"), Texts: []string{cmp.Or(o.TextField, "text")}, FingerprintField: o.FingerprintField, FingerprintsField: o.FingerprintField}
	if o.FingerprintField == "" {
		f.FingerprintField, f.FingerprintsField = "fingerprint", "fingerprints"
	}
	if p.Features.Fields != nil {
		f.Texts = nil
		for _, field := range p.Features.Fields {
			f.Texts = append(f.Texts, field.Name)
		}
	}
	if f.set = features.IsGiven(p.Features.Unit); f.set {
		f.Texts, f.pairs = []string{p.Features.SetField}, p.Features.Unit == features.Given
	}
	if o.TextField != "" && f.Texts[0] != o.TextField {
		return nil, fmt.Errorf("%s names a field, but the documents are compared by %s", option.Name("TextField"), p.Features.Describe())
	}
	return f, nil
}

// Names returns the names of all parts that are not fields.
func (f *Form) Names() []string {
	return append(slices.Clone(f.Texts), f.ID, f.FingerprintField, f.FingerprintsField, f.Time, f.Expires)
}

// CheckNames returns an error if two parts of a document would have the same name.
func (f *Form) CheckNames() error {
	names := append(slices.Clone(f.Texts), f.ID, f.FingerprintField, f.Time, f.Expires)
	slices.Sort(names)
	for i, name := range names[1:] {
		if name != "" && name == names[i] {
			return fmt.Errorf("%q would be the name of two fields: choose other names with %s, %s, %s, %s and %s",
				name, option.Name("IDField"), option.Name("TextField"), option.Name("FingerprintField"), option.Name("TimeField"), option.Name("ExpiresField"))
		}
	}
	return nil
}

// fieldFor returns the option that renames the part with this name.
func (f *Form) fieldFor(name string) string {
	switch {
	case name == f.ID:
		return "IDField"
	case name == f.Time:
		return "TimeField"
	case name == f.Expires:
		return "ExpiresField"
	case slices.Contains(f.Texts, name):
		return "TextField"
	}
	return "FingerprintField"
}

// Clash returns the error for a document with a field whose name is one of Names.
func (f *Form) Clash(id, name string) error {
	return fmt.Errorf("the document %q has a field %q, and export uses this name: choose another with %s, also for load", id, name, option.Name(f.fieldFor(name)))
}

// TextsOf splits the text of a document into its Texts.
func (f *Form) TextsOf(d *engine.Doc) ([]string, error) {
	if len(f.Texts) == 1 || d.Text == "" {
		return []string{d.Text}, nil
	}
	all := strings.Split(d.Text, "\x1f")
	if len(all) != len(f.Texts) {
		return nil, fmt.Errorf("the document %q has a text of %d fields, but the database has %d: it could not be read back", d.ID, len(all), len(f.Texts))
	}
	return all, nil
}

// FingerprintTexts returns the fingerprints of a document as text.
func FingerprintTexts(d *engine.Doc) (all []string) {
	for _, words := range d.Fingerprints {
		all = append(all, string(base.AppendHexWords([]byte("0x"), words)))
	}
	return all
}

// Check returns an error for a document that cannot be written as text.
func (f *Form) Check(d *engine.Doc) error {
	if !utf8.ValidString(d.ID) || !utf8.ValidString(d.Text) || !utf8.Valid(d.Fields) {
		return fmt.Errorf("the document %q has bytes that are not UTF-8 and would change; a backup preserves them", d.ID)
	}
	for _, t := range []time.Time{d.Time, d.Expires} {
		if year := t.UTC().Year(); f.Time != "" && (year < 0 || year > 9999) {
			return fmt.Errorf("the document %q has a time in the year %d, which RFC 3339 cannot express; leave out %s", d.ID, year, option.Name("Times"))
		}
	}
	return nil
}

// Append appends a document as a line of JSON. It returns an error if load would not read the same
// document back.
func (f *Form) Append(b []byte, d *engine.Doc) ([]byte, error) {
	from := len(b)
	b = append(b, '{')
	key := func(name string) { b = append(records.AppendString(b, name), ':') }
	key(f.ID)
	b = records.AppendString(b, d.ID)
	texts, err := f.TextsOf(d)
	if err = cmp.Or(err, f.Check(d)); err != nil {
		return b, err
	}
	prints := FingerprintTexts(d)
	for i, text := range texts {
		if d.Text == "" && (len(f.Texts) > 1 || len(prints) > 0) {
			break
		}
		b = append(b, ',')
		if key(f.Texts[i]); f.set && f.isLine(text) {
			b = append(b, text...)
		} else {
			b = records.AppendString(b, text)
		}
	}
	if b, err = f.appendFields(b, d); err != nil {
		return b, err
	}
	switch {
	case len(prints) == 1:
		b = append(b, ',')
		key(f.FingerprintField)
		b = records.AppendString(b, prints[0])
	case len(prints) > 1:
		b = append(b, ',')
		key(f.FingerprintsField)
		for i, p := range prints {
			b = records.AppendString(append(b, "[,"[min(i, 1)]), p)
		}
		b = append(b, ']')
	}
	if f.Time != "" {
		b = append(b, ',')
		key(f.Time)
		b = records.AppendString(b, d.Time.UTC().Format(time.RFC3339Nano))
	}
	if f.Expires != "" && !d.Expires.IsZero() {
		b = append(b, ',')
		key(f.Expires)
		b = records.AppendString(b, d.Expires.UTC().Format(time.RFC3339Nano))
	}
	b = append(b, '}', '\n')
	if n := len(b) - from; n > records.MaxRecord {
		return b, fmt.Errorf("the document %q makes a line of %d bytes, but at most %d can be read back", d.ID, n, records.MaxRecord)
	}
	return b, nil
}

// isLine reports whether the text of a set or of features is JSON on one line.
func (f *Form) isLine(text string) bool {
	return (strings.HasPrefix(text, "[") || f.pairs && strings.HasPrefix(text, "{")) && !strings.ContainsAny(text, "\r\n") && json.Valid([]byte(text))
}

// appendFields appends the fields of a document as members, each preceded by a comma.
func (f *Form) appendFields(b []byte, d *engine.Doc) ([]byte, error) {
	fields := []byte(d.Fields)
	if len(fields) == 0 {
		return b, nil
	}
	if bytes.ContainsAny(fields, "\r\n") { // not in strings, so between values
		var line bytes.Buffer
		if err := json.Compact(&line, fields); err != nil {
			return b, err
		}
		fields = line.Bytes()
	}
	var clash error
	names := f.Names()
	err := lines.Members(fields, func(name string, member, _ []byte) {
		if name != "" && slices.Contains(names, name) {
			clash = cmp.Or(clash, f.Clash(d.ID, name))
		}
		b = append(append(b, ','), member...)
	})
	return b, cmp.Or(clash, err)
}
