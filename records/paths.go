package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Paths name what is within a field: meta.id is the member id of the object meta, and
// messages[].content, or messages.content, are those of all objects in the list messages. A member
// that has a whole path for its name comes first. A string in place of a list, or of an object in
// one of objects, is a text itself, as where some messages have parts:
// messages[].content[].text.

// TextAt returns the texts that a path leads to from a list or an object in JSON, joined as lines;
// "" is the path of the texts in a list of them. What a path does not lead to, and null, is left
// out; ok is false if it leads to an object, or past a text.
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

// walk calls add with the texts that a path leads to.
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

// step returns the member of an object that a path leads to, nil for none, and the rest of it.
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

// usual are names of members that hold texts, in lists of messages and the like.
var usual = []string{"content", "text", "value", "body"}

// PathOfText returns a path to a text in a list or an object in JSON, given the path of that; ""
// if there is none.
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
