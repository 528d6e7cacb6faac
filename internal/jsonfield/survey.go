package jsonfield

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Survey is what documents have in their fields. What it says does not depend on the order in
// which it has seen the documents.
type Survey struct {
	Hold      func(bytes int) error
	Documents int64
	Texts     bool // one has a text
	Top       Surveyed
}

// Surveyed is a field in a survey: a key of the fields, or of an object in them.
type Surveyed struct {
	Key       string
	In        map[string]*Surveyed // the keys of objects
	Documents int64                // that have it, and not null
	last      int64                // the number of the last one
	kinds     [len(FieldKinds)]bool
	Example   string
	rank      uint64 // of the example: the lowest of all values'
}

// FieldKinds are the kinds of values.
var FieldKinds = [...]string{"string", "number", "boolean", "list", "object"}

// kindOf returns the kind of a JSON value that is not null.
func kindOf(v []byte) int {
	switch v[0] {
	case '"':
		return 0
	case 't', 'f':
		return 2
	case '[':
		return 3
	case '{':
		return 4
	}
	return 1
}

// surveyBytes is the memory of a field in a survey, apart from its key and example.
const surveyBytes = 512

// Look adds the fields of a document to the survey, before Given counts them.
func (s *Survey) Look(text, fields []byte) error {
	s.Texts = s.Texts || len(text) > 0
	return s.walk(&s.Top, fields)
}

// Given counts a document.
func (s *Survey) Given() { s.Documents++ }

// walk takes the members of an object, which is a value of f.
func (s *Survey) walk(f *Surveyed, object []byte) error {
	for quoted, v := range Members(object) {
		key := Unquoted(quoted)
		member := f.In[string(key)]
		if member == nil {
			if err := s.Hold(surveyBytes + len(key)); err != nil {
				return err
			}
			if f.In == nil {
				f.In = make(map[string]*Surveyed)
			}
			member = &Surveyed{Key: string(key)}
			f.In[member.Key] = member
		}
		if v[0] == 'n' {
			continue // null is as good as nothing
		}
		member.take(s.Documents+1, v)
		if err := s.walk(member, v); err != nil {
			return err
		}
	}
	return nil
}

// take notes a value of the field in a document.
func (f *Surveyed) take(document int64, v []byte) {
	if f.last != document {
		f.Documents, f.last = f.Documents+1, document
	}
	f.kinds[kindOf(v)] = true
	h := fnv.New64a()
	h.Write(v)
	if rank := h.Sum64(); f.Documents == 1 || rank < f.rank {
		f.Example, f.rank = example(Text(v)), rank
	}
}

// Kind says of what kinds the values are.
func (f *Surveyed) Kind() string {
	var kinds []string
	for i, kind := range FieldKinds {
		if f.kinds[i] {
			kinds = append(kinds, kind)
		}
	}
	return cmp.Or(strings.Join(kinds, ", "), "null")
}

// Sorted returns the members of f, those that most documents have first.
func (f *Surveyed) Sorted() []*Surveyed {
	return slices.SortedFunc(maps.Values(f.In), func(a, b *Surveyed) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), strings.Compare(a.Key, b.Key))
	})
}

// Each calls fn for the fields below f: in place of an object for those in it.
func (f *Surveyed) Each(path []string, fn func(path []string, f *Surveyed)) {
	for _, member := range f.Sorted() {
		below := append(path[:len(path):len(path)], member.Key)
		if len(member.In) == 0 || member.Kind() != "object" {
			fn(below, member)
		}
		member.Each(below, fn)
	}
}

// example cuts an example to a length at which it still shows the kind of value.
func example(s string) string {
	const longest = 40
	if utf8.RuneCountInString(s) > longest {
		s = string([]rune(s)[:longest-1]) + "…"
	}
	return s
}
