package library

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query"
)

// keywords are where the values of keywords go: pointers.
type keywords map[string]any

// fields adds the fields of structs, by the names that messages have for them.
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

// written are keywords that the command would write files for.
var written = []string{"output", "audit", "clusters", "rejects", "columns", "all", "html"}

// set sets what a request gives. None and False are not given.
func (k keywords) set(given map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		raw := bytes.TrimSpace(given[name])
		if s := string(raw); s == "null" || s == "false" {
			continue
		}
		to, ok := k[name]
		switch closest, near := query.Closest(name, slices.Sorted(maps.Keys(k))); {
		case ok:
		case slices.Contains(written, name):
			return fmt.Errorf("%s: a table has no files to write: the result has the mask and the audit", name)
		case near:
			return fmt.Errorf("unknown keyword %s, did you mean %s?", name, closest)
		default:
			return fmt.Errorf("unknown keyword %s", name)
		}
		texts, err := textsOf(raw)
		if list, several := to.(*[]string); several {
			*list = append(*list, texts...)
		} else if err == nil {
			err = setText(reflect.ValueOf(to).Elem(), strings.Join(texts, ","))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// textsOf returns a value, or the values of a list, as texts.
func textsOf(raw []byte) (texts []string, err error) {
	switch raw[0] {
	case '{':
		err = fmt.Errorf("%s is no value: %w", raw, engine.ErrInvalid)
	case '"':
		texts = []string{""}
		err = json.Unmarshal(raw, &texts[0])
	case '[':
		var list []json.RawMessage
		err = json.Unmarshal(raw, &list)
		for i := 0; i < len(list) && err == nil; i++ {
			var some []string
			some, err = textsOf(list[i])
			texts = append(texts, some...)
		}
	default:
		texts = []string{string(raw)}
	}
	return texts, err
}

// setText sets a variable to what a text says.
func setText(v reflect.Value, text string) (err error) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		if text != "true" {
			return fmt.Errorf("%q is neither True nor False", text)
		}
		v.SetBool(true)
	case reflect.Uint64:
		err = whole(text, strconv.ParseUint, v.SetUint)
	default:
		err = whole(text, strconv.ParseInt, v.SetInt)
	}
	return err
}

func whole[T any](text string, parse func(string, int, int) (T, error), set func(T)) error {
	n, err := parse(text, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is no whole number of this kind", text)
	}
	set(n)
	return nil
}
