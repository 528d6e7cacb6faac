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
		names(v, Text(quoted), 1, func(name string, _ []byte) {
			if !seen[name] {
				seen[name], all = true, append(all, name)
			}
		})
	}
	return all
}

func names(value []byte, path string, depth int, add func(path string, value []byte)) {
	const deepest = 7
	each, alike := alike(value)
	switch {
	case depth == deepest || value[0] != '{' && alike == nil:
		add(path, value)
	case alike != nil:
		for _, v := range alike {
			names(v, path+each, depth+1, add)
		}
	default:
		for quoted, v := range Members(value) {
			if v[0] != 'n' { // others may have more than null
				names(v, path+"."+Text(quoted), depth+1, add)
			}
		}
	}
}

// alike returns the objects in a list, or in an object whose keys are data, as all values are
// objects that begin with the same key; and what the path of a value in them continues with.
func alike(value []byte) (each string, objects [][]byte) {
	if value[0] == '[' {
		for e := range ElementsOf(value) {
			if e[0] == '{' {
				objects = append(objects, e)
			}
		}
		return "[]", objects
	}
	n, first := 0, ""
	for _, v := range Members(value) {
		n++
		for quoted := range Members(v) {
			if first = cmp.Or(first, string(quoted)); first == string(quoted) {
				objects = append(objects, v)
			}
			break
		}
	}
	if n < 2 || len(objects) < n {
		return "", nil
	}
	return ".*", objects
}

// usual are common names of members that hold texts, for example in lists of messages.
var usual = []string{"content", "text", "value", "body", "parts"}

// PathOfText returns a path of a text in a JSON value, given the path of that value: preferably one
// with a usual name, and within the value of one. It returns "" if there is no text.
func PathOfText(value []byte, path string) (found string) {
	best := len(usual) + 1
	names(value, path, 0, func(path string, v []byte) {
		rank := slices.Index(usual, path[strings.LastIndexByte(path, '.')+1:])
		if rank < 0 {
			rank = len(usual)
		}
		for v[0] == '[' {
			path, v = path+"[]", append(slices.Collect(ElementsOf(v)), []byte("null"))[0]
		}
		if v[0] == '"' && (rank < best || rank < len(usual) && strings.HasPrefix(path, found)) {
			found, best = path, rank
		}
	})
	return found
}
