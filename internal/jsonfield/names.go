package jsonfield

import (
	"cmp"
	"slices"
	"strings"
)

// Names returns the paths of the values in an object, for messages. Elements of a list, and values
// of an object whose keys are data, have one path: messages[].content, mapping.*.message.
func Names(object []byte) (all []string) {
	seen := map[string]bool{}
	for quoted, v := range Members(object) {
		names(v, Text(quoted), 1, func(name string) {
			if !seen[name] {
				seen[name], all = true, append(all, name)
			}
		})
	}
	return all
}

func names(value []byte, path string, depth int, add func(string)) {
	const deepest = 7
	each, alike := alike(value)
	switch {
	case depth == deepest || value[0] != '{' && alike == nil:
		add(path)
	case alike != nil:
		for _, v := range alike {
			names(v, path+each, depth+1, add)
		}
	default:
		for quoted, v := range Members(value) {
			names(v, path+"."+Text(quoted), depth+1, add)
		}
	}
}

// alike returns the objects in a list, or in an object whose keys are data, as all values are
// objects that begin with the same key; and what the path of a value in them continues with.
func alike(value []byte) (each string, objects [][]byte) {
	if value[0] == '[' {
		for e := range elements(value) {
			if e[0] == '{' {
				objects = append(objects, e)
			}
		}
		return "[]", objects
	}
	first := ""
	for _, v := range Members(value) {
		for quoted := range Members(v) {
			if first = cmp.Or(first, string(quoted)); first != string(quoted) {
				return "", nil
			}
			objects = append(objects, v)
			break
		}
		if len(objects) == 0 || &objects[len(objects)-1][0] != &v[0] {
			return "", nil
		}
	}
	if len(objects) < 2 {
		return "", nil
	}
	return ".*", objects
}

// usual are common names of members that hold texts, for example in lists of messages.
var usual = []string{"content", "text", "value", "body", "parts"}

// PathOfText returns a path of a text in a JSON value, given the path of that value. It returns ""
// if there is no text.
func PathOfText(value []byte, path string) (found string) {
	each, in := alike(value)
	switch {
	case value[0] == '"':
		return path
	case value[0] == '[':
		in = slices.Collect(elements(value))
	case in == nil:
		rank := 0
		for quoted, v := range Members(value) {
			key := Text(quoted)
			below := PathOfText(v, path+"."+key)
			r := slices.Index(usual, key)
			if r < 0 {
				if r = len(usual); !isUsual(below) {
					r++
				}
			}
			if below != "" && (found == "" || cmp.Or(cmp.Compare(r, rank), cmp.Compare(below, found)) < 0) {
				found, rank = below, r
			}
		}
		return found
	}
	for _, v := range in {
		if below := PathOfText(v, path+each); strings.HasPrefix(below, found) || isUsual(below) && !isUsual(found) {
			found = below
		}
	}
	return found
}

// isUsual reports whether a path ends with a usual name.
func isUsual(path string) bool {
	path = strings.TrimSuffix(path, "[]")
	return slices.Contains(usual, path[strings.LastIndexByte(path, '.')+1:])
}
