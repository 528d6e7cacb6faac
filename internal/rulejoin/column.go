package rulejoin

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/docfield"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/pairrule"
)

// A field is a field of documents that the rule names.
type field struct {
	name   string
	path   jsonfield.Path
	isText bool // it is the text of the document
	of     docfield.Field
	found  bool // a document has it
}

// field returns the field with a path.
func (c *Corpus) field(path string) *field {
	for _, f := range c.fields {
		if f.name == path {
			return f
		}
	}
	f := &field{
		name: path, path: jsonfield.Parse(path), of: docfield.NewField(path),
		isText: len(c.o.TextFields) == 1 && c.o.TextFields[0] == path,
	}
	c.fields = append(c.fields, f)
	return f
}

// Text says which fields make up the texts of the documents that are added next.
func (c *Corpus) Text(fields []string) {
	c.o.TextFields = fields
	for _, f := range c.fields {
		f.isText = len(fields) == 1 && fields[0] == f.name
	}
}

// text returns the text of a document in the field; that of a list is its texts as lines.
func (f *field) text(d *Doc) string {
	if f.isText {
		f.found = true
		return d.Text
	}
	if len(d.Fields) > 0 {
		if text, ok := f.path.Text(d.Fields); ok && text != "" {
			f.found = true
			return text
		}
	}
	v := f.of.Of(&d.Doc)
	f.found = f.found || v.Kind != docfield.Absent
	return v.Text
}

// value returns the value of a document in the field.
func (f *field) value(d *Doc) docfield.Value {
	if f.isText {
		f.found = true
		return docfield.Value{Kind: docfield.Text, Text: d.Text}
	}
	v := f.of.Of(&d.Doc)
	f.found = f.found || v.Kind != docfield.Absent
	return v
}

// textOf joins the texts of fields as lines.
func textOf(fields []*field, d *Doc) (text string) {
	for _, f := range fields {
		if t := f.text(d); text == "" {
			text = t
		} else if t != "" {
			text += "\n" + t
		}
	}
	return text
}

// A column numbers the values that an equality compares: classes with the same number are equal in it.
type column struct {
	keys    []uint32 // by class; unknown where a document lacks the value
	numbers map[xxh3.Uint128]uint32
	append  func(dst []byte, d *Doc) ([]byte, bool) // appends what is compared; false if there is nothing
	key     []byte
}

// unknown is the key of documents that lack the value.
const unknown = 0

// add adds the key of a document.
func (x *column) add(d *Doc) { x.keys = append(x.keys, x.number(d)) }

// number returns the key of a document, a new one for a value that no document had.
func (x *column) number(d *Doc) uint32 {
	hash, ok := x.hash(d)
	if !ok {
		return unknown
	}
	number := x.numbers[hash]
	if number == unknown {
		number = uint32(len(x.numbers)) + 1
		x.numbers[hash] = number
	}
	return number
}

// known returns the key of a document, unknown for a value that no document had.
func (x *column) known(d *Doc) uint32 {
	if hash, ok := x.hash(d); ok {
		return x.numbers[hash]
	}
	return unknown
}

// hash returns the hash of the value that is compared; false if there is none.
func (x *column) hash(d *Doc) (hash xxh3.Uint128, ok bool) {
	x.key, ok = x.append(x.key[:0], d)
	return xxh3.Hash128(x.key), ok
}

// newColumn returns the column of an equality.
func (c *Corpus) newColumn(a *pairrule.Atom) (*column, error) {
	x := &column{numbers: map[xxh3.Uint128]uint32{}}
	var fields []*field
	for _, name := range a.Fields {
		fields = append(fields, c.field(name))
	}
	text := func(d *Doc) string {
		if fields == nil {
			return d.Text
		}
		return textOf(fields, d)
	}
	switch a.Of {
	case pairrule.Value:
		x.append = appendValue(fields[0], a.Distinct)
	case pairrule.File:
		x.append = func(dst []byte, d *Doc) ([]byte, bool) { return append(dst, d.File...), true }
	case pairrule.Folder:
		x.append = func(dst []byte, d *Doc) ([]byte, bool) {
			return append(dst, filepath.Dir(d.File)...), true
		}
	case pairrule.Words:
		rules := c.o.Params.Features.Rules()
		x.append = appendSet(func(d *Doc, found func(string)) {
			for w := range rules.Split(text(d)) {
				if _, listed := slices.BinarySearch(a.Words, w); listed {
					found(w)
				}
			}
		})
	default:
		pattern := map[pairrule.Of]string{pairrule.Numbers: features.MaskNumbers, pairrule.Dates: features.MaskDates, pairrule.Matches: a.Pattern}[a.Of]
		if a.Of == pairrule.Matches {
			pattern = "(?:" + pattern + ")" // not the name of a mask
		}
		find, err := features.Finder(pattern)
		if err != nil {
			return nil, err
		}
		x.append = appendSet(func(d *Doc, found func(string)) {
			find([]byte(text(d)), func(match []byte) { found(string(match)) })
		})
	}
	return x, nil
}

// appendValue returns a function that appends the value of a field. With missing, having no value is
// a value.
func appendValue(f *field, missing bool) func(dst []byte, d *Doc) ([]byte, bool) {
	return func(dst []byte, d *Doc) ([]byte, bool) {
		v := f.value(d)
		switch dst = append(dst, byte(v.Kind)); v.Kind {
		case docfield.Absent:
			return dst, missing
		case docfield.Text:
			return append(dst, v.Text...), missing || strings.TrimSpace(v.Text) != ""
		}
		return v.Number.AppendOrdered(dst), true
	}
}

// appendSet returns a function that appends a set of strings in a canonical form.
func appendSet(each func(d *Doc, found func(string))) func(dst []byte, d *Doc) ([]byte, bool) {
	var all []string
	return func(dst []byte, d *Doc) ([]byte, bool) {
		all = all[:0]
		each(d, func(s string) { all = append(all, s) })
		slices.Sort(all)
		for _, s := range slices.Compact(all) {
			dst = append(append(dst, s...), 0)
		}
		return dst, true
	}
}
