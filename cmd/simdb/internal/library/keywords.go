package library

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/spelling"
)

// keywords maps keywords to pointers to the variables that they set.
type keywords map[string]any

// fields adds the fields of structs, under the names that messages use for them.
func (k keywords) fields(structs ...any) keywords {
	for _, s := range structs {
		v := reflect.ValueOf(s).Elem()
		for _, f := range reflect.VisibleFields(v.Type()) {
			if f.IsExported() && !f.Anonymous {
				k[keyword(f.Name)] = v.FieldByIndex(f.Index).Addr().Interface()
			}
		}
	}
	return k
}

var errKeyword = errors.New("unknown keyword")

// elsewhere maps keywords of other programs to keywords.
var elsewhere = spelling.Elsewhere(`threshold similarity jaccard_threshold sim | jaccard
k distance hamming max_distance | near
ngram ngram_size n_gram shingle_size | shingle
column text_column text_key text_field content text_field_name | text
column_id id_column id_field idx_column id_key | id
min_length min_ngram_size | min_words
memory_limit max_memory | memory`)

// written lists keywords that would make the command write files.
var written = []string{"output", "audit", "clusters", "rejects", "columns", "all", "html"}

// criteria lists keywords that exclude each other.
var criteria = []string{"near", "jaccard", "levenshtein", "cosine", "within", "seen", "rule"}

// set sets the values that a request gives. None and False count as not given.
func (k keywords) set(given map[string]json.RawMessage) error {
	criterion := ""
	for _, name := range slices.Sorted(maps.Keys(given)) {
		texts := textsOf(given[name])
		if texts == nil {
			continue
		}
		to, ok := k[name]
		switch closest, near := spelling.Closest(name, slices.Sorted(maps.Keys(k))); {
		case ok:
		case slices.Contains(written, name):
			return fmt.Errorf("%s: a run on a table writes no files; the result has the mask and the audit", name)
		case k[elsewhere[name]] != nil:
			return fmt.Errorf("%w %s, did you mean %s?", errKeyword, name, elsewhere[name])
		case near:
			return fmt.Errorf("%w %s, did you mean %s?", errKeyword, name, closest)
		default:
			return fmt.Errorf("%w %s", errKeyword, name)
		}
		if slices.Contains(criteria, name) {
			if criterion != "" {
				return fmt.Errorf("%s and %s contradict each other", criterion, name)
			}
			criterion = name
		}
		if list, several := to.(*[]string); several {
			*list = texts
		} else if err := setText(to, strings.Join(texts, ",")); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// textsOf returns a value, or the values of a list, as texts; none for None and False.
func textsOf(raw []byte) (texts []string) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || v == nil || v == false {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, v := range list {
		texts = append(texts, fmt.Sprint(v))
	}
	return texts
}

// setText sets a variable to the value of a text.
func setText(to any, text string) error {
	quoted, _ := json.Marshal(text)
	err := json.Unmarshal(quoted, to) // also a value with UnmarshalText
	if other, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if err = nil; json.Unmarshal([]byte(text), to) != nil {
			err = fmt.Errorf("%q is not a valid %s", text, other.Type.Kind())
		}
	}
	return err
}
