package query

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// A survey is what documents have in their fields. What it says does not depend on the order in
// which it has seen the documents.
type survey struct {
	hold      func(bytes int) error
	documents int64
	texts     bool // one has a text
	top       surveyed
}

// surveyed is a field in a survey: a key of the fields, or of an object in them.
type surveyed struct {
	key       string
	in        map[string]*surveyed // the keys of objects
	documents int64                // that have it, and not null
	last      int64                // the number of the last one
	kinds     [len(fieldKinds)]bool
	example   string
	rank      uint64 // of the example: the lowest of all values'
}

// fieldKinds are the kinds of values.
var fieldKinds = [...]string{"string", "number", "boolean", "list", "object"}

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

// surveyBytes is what a survey holds of a field, other than its key and example.
const surveyBytes = 512

// look takes what a document has into the survey, before given counts it.
func (s *survey) look(text, fields []byte) error {
	s.texts = s.texts || len(text) > 0
	return s.walk(&s.top, fields)
}

func (s *survey) given() { s.documents++ }

// walk takes the members of an object, which is a value of f.
func (s *survey) walk(f *surveyed, object []byte) error {
	for quoted, v := range value.Members(object) {
		key := value.Unquoted(quoted)
		member := f.in[string(key)]
		if member == nil {
			if err := s.hold(surveyBytes + len(key)); err != nil {
				return err
			}
			if f.in == nil {
				f.in = make(map[string]*surveyed)
			}
			member = &surveyed{key: string(key)}
			f.in[member.key] = member
		}
		if v[0] == 'n' {
			continue // null is as good as nothing
		}
		member.take(s.documents+1, v)
		if err := s.walk(member, v); err != nil {
			return err
		}
	}
	return nil
}

// take notes a value of the field in a document.
func (f *surveyed) take(document int64, v []byte) {
	if f.last != document {
		f.documents, f.last = f.documents+1, document
	}
	f.kinds[kindOf(v)] = true
	h := fnv.New64a()
	h.Write(v)
	if rank := h.Sum64(); f.documents == 1 || rank < f.rank {
		f.example, f.rank = example(value.JSONText(v)), rank
	}
}

// kind says of what kinds the values are.
func (f *surveyed) kind() string {
	var kinds []string
	for i, kind := range fieldKinds {
		if f.kinds[i] {
			kinds = append(kinds, kind)
		}
	}
	return cmp.Or(strings.Join(kinds, ", "), "null")
}

// sorted returns the members of f, those that most documents have first.
func (f *surveyed) sorted() []*surveyed {
	return slices.SortedFunc(maps.Values(f.in), func(a, b *surveyed) int {
		return cmp.Or(cmp.Compare(b.documents, a.documents), strings.Compare(a.key, b.key))
	})
}

// each calls fn for the fields below f: in place of an object for those in it.
func (f *surveyed) each(path []string, fn func(path []string, f *surveyed)) {
	for _, member := range f.sorted() {
		below := append(path[:len(path):len(path)], member.key)
		if len(member.in) == 0 || member.kind() != "object" {
			fn(below, member)
		}
		member.each(below, fn)
	}
}

// fieldName writes the path of a field as statements do.
func fieldName(path []string) string {
	name := syntax.JoinPath(path)
	if t, ok := language.Word(name); ok && !slices.Contains(predicate.Columns, strings.ToLower(name)) {
		if back, err := predicate.FieldPath(t); err == nil && slices.Equal(back, path) {
			return name
		}
	}
	return "fields." + name
}

// survey returns the survey of all documents; of at most most of them, if that is not 0.
func (x *run) survey(most int64) (*survey, error) {
	s := &survey{hold: x.Hold}
	if !x.DB.Params().Text {
		return s, nil
	}
	tested := x.Counting("list")
	r := engine.Range{Unordered: true, OnlyIDs: true, Where: func(text, fields []byte) (bool, error) {
		return true, cmp.Or(s.look(text, fields), x.Ctx.Err())
	}}
	for _, err := range x.Snap.Range(x.Ctx, r) {
		if err != nil {
			return nil, err
		}
		tested()
		if s.given(); s.documents == most {
			break
		}
	}
	return s, nil
}

// fields runs FIELDS.
func (x *run) fields(s *syntax.Statement) error {
	if err := x.NeedTexts(*s.Bare); err != nil {
		return err
	}
	x.answer([]string{"name", "type", "documents", "share", "example"}, func(yield func(Row, error) bool) {
		of, err := x.survey(0)
		if err != nil {
			yield(nil, err)
			return
		}
		switch {
		case of.documents == 0:
			x.Doubt("the database has no documents")
		case len(of.top.in) == 0:
			x.Doubt("no document has fields")
		}
		more := true
		of.top.each(nil, func(path []string, f *surveyed) {
			more = more && yield(Row{fieldName(path), f.kind(), f.documents, float64(f.documents) / float64(of.documents), f.example}, nil)
		})
	})
	return nil
}

// example cuts an example to what shows what a field has.
func example(s string) string {
	const longest = 40
	if utf8.RuneCountInString(s) > longest {
		s = string([]rune(s)[:longest-1]) + "…"
	}
	return s
}

// fieldsAtHand is how many documents STATS reads for the names of fields.
const fieldsAtHand = 1000

// fieldNames returns what STATS says of the fields of documents; nothing if they have none.
func (x *run) fieldNames() ([]Row, error) {
	of, err := x.survey(fieldsAtHand)
	if err != nil || len(of.top.in) == 0 {
		return nil, err
	}
	var names []string
	of.top.each(nil, func(path []string, _ *surveyed) { names = append(names, fieldName(path)) })
	all := strings.Join(names, ", ")
	if float64(of.documents) < x.Documents() {
		all += " (of " + quantity.Count(of.documents, "document") + "; FIELDS reads all)"
	}
	return []Row{{"fields", all}}, nil
}
