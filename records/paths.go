package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Paths name values within a field: meta.id is the member id of the object meta, and
// messages[].content, or messages.content, is the member content of all objects in the list
// messages. A member whose name is the whole path has precedence. A string where the path expects a
// list, or an object in a list of objects, is itself a text: in messages[].content[].text, for
// example, only some messages have parts.

// TextAt returns the texts at a path of a JSON list or object, joined as lines; "" is the path of
// the texts in a list of texts. Missing values and null are left out; ok is false if the path leads
// to an object, or continues after a text.
func TextAt(value []byte, path string) (text string, ok bool) {
	var v any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return "", false
	}
	var lines []string
	ok = walk(v, path, func(s string) {
		if s != "" {
			lines = append(lines, s)
		}
	})
	if !ok {
		return "", false
	}
	return strings.Join(lines, "\n"), true
}

// walk calls add with each text at a path.
func walk(v any, path string, add func(string)) bool {
	switch v := v.(type) {
	case []any:
		path = strings.TrimPrefix(path, "[]")
		objects := slices.ContainsFunc(v, func(element any) bool { _, ok := element.(map[string]any); return ok })
		for _, element := range v {
			if text, ok := element.(string); ok && objects {
				add(text)
			} else if !walk(element, path, add) {
				return false
			}
		}
		return true
	case string:
		if strings.HasPrefix(path, "[]") {
			path = ""
		}
	case map[string]any:
		path = strings.TrimPrefix(path, ".")
		member, rest := step(v, path)
		return path != "" && walk(member, rest, add)
	case nil:
		return true
	}
	add(fmt.Sprint(v)) // a string, a json.Number, true or false
	return path == ""
}

// step returns the member of an object that a path begins with, nil if there is none, and the rest
// of the path.
func step(object map[string]any, path string) (member any, rest string) {
	if member, ok := object[path]; ok {
		return member, ""
	}
	for i, c := range path {
		if c == '.' || c == '[' {
			if member, ok := object[path[:i]]; ok {
				return member, path[i:]
			}
		}
	}
	return nil, ""
}

// usual are common names of members that hold texts, for example in lists of messages.
var usual = []string{"content", "text", "value", "body"}

// PathOfText returns a path of a text in a JSON list or object, given the path of that list or
// object. It returns "" if there is no text.
func PathOfText(value []byte, path string) string {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return ""
	}
	return pathOfText(v, path)
}

func pathOfText(v any, path string) string {
	switch v := v.(type) {
	case string:
		return path
	case []any:
		found := ""
		for _, element := range v {
			if longer := pathOfText(element, path+"[]"); strings.HasPrefix(longer, found) {
				found = longer
			}
		}
		return found
	case map[string]any:
		for _, name := range usual {
			if found := pathOfText(v[name], path+"."+name); found != "" {
				return found
			}
		}
		first := ""
		for name, member := range v {
			if found := pathOfText(member, path+"."+name); found != "" && (first == "" || found < first) {
				first = found
			}
		}
		return first
	}
	return ""
}
