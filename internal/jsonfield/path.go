// Package jsonfield reads fields of documents. The fields of a document are a JSON object, and a
// path selects a value, for the query language and the indexes of tables.
package jsonfield

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Columns are the names of columns in rows of documents. A field with one of these names is written
// as fields.name.
var Columns = []string{"id", "text", "fields", "fingerprint", "time", "distance", "score", "error", "exact"}

// IsWord reports whether a rune may be part of a word, which needs no quotes in a path.
func IsWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// word returns the length of the word at the start of s, in bytes.
func word(s string) (n int) {
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !IsWord(r) || r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// Any and Elements are the parts of a path that stand for every key of an object, written *, and for
// every element of a list, written []. No key equals them, because keys are valid UTF-8.
const (
	Any      = "\xff*"
	Elements = "\xff[]"
)

// Several reports whether a path leads to any number of values.
func Several(parts []string) bool {
	return slices.Contains(parts, Any) || slices.Contains(parts, Elements)
}

// Cut reads a path of a statement at the start of s. It returns the unquoted parts of the path, and
// the rest of s. A single word is a path of one part; parts is nil if s does not begin with a path.
func Cut(s string) (parts []string, rest string) {
	n := word(s)
	if n == 0 {
		return nil, s
	}
	parts, s = append(parts, s[:n]), s[n:]
	for strings.HasPrefix(s, ".") || strings.HasPrefix(s, "[]") {
		if s[0] == '[' || strings.HasPrefix(s, ".*") {
			parts, s = append(parts, map[byte]string{'[': Elements, '.': Any}[s[0]]), s[2:]
			continue
		}
		n := word(s[1:])
		part := s[1 : 1+n]
		if n == 0 {
			if part, n = quoted(s[1:]); n == 0 {
				break
			}
		}
		parts, s = append(parts, part), s[1+n:]
	}
	return parts, s
}

// quoted returns the key in quotes at the start of s, and its length there; 0 if there is none.
func quoted(s string) (key string, n int) {
	if !strings.HasPrefix(s, "'") {
		return "", 0
	}
	for n = 1; strings.HasPrefix(s[n:], "''") || n < len(s) && s[n] != '\''; {
		n += 1 + strings.Count(s[n:min(n+2, len(s))], "''")
	}
	if n == len(s) {
		return "", 0 // the quote is not closed
	}
	return strings.ReplaceAll(s[1:n], "''", "'"), n + 1
}

// JoinPath writes the parts of a path in the notation of statements.
func JoinPath(parts []string) string {
	var b strings.Builder
	for i, part := range parts {
		switch {
		case part == Elements:
			b.WriteString("[]")
			continue
		case part == Any:
			part = "*"
		case part == "" || word(part) < len(part):
			part = "'" + strings.ReplaceAll(part, "'", "''") + "'"
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(part)
	}
	return b.String()
}

// Limits of a list of paths.
const (
	MostPaths = 16
	mostList  = 4 << 10 // bytes
)

// Paths parses a comma-separated list of paths, such as Canonical returns. It returns the keys that
// lead to each field in the fields of a document.
func Paths(list string) (paths [][]string, err error) {
	for rest := list; list != ""; {
		var path []string
		if path, rest = Cut(strings.TrimSpace(rest)); len(path) > 1 && path[0] == "fields" {
			path = path[1:]
		} else if len(path) == 1 && slices.Contains(Columns, strings.ToLower(path[0])) {
			return nil, fmt.Errorf("%s is a column: a field of that name is written fields.%s", path[0], path[0])
		}
		rest = strings.TrimSpace(rest)
		switch {
		case path == nil || rest != "" && rest[0] != ',':
			return nil, fmt.Errorf("%q is not a list of fields such as lang,meta.url,fields.'content-type'", list)
		case Several(path):
			return nil, fmt.Errorf("%s leads to several values of a document: name a field that has one", JoinPath(path))
		case len(paths) == MostPaths || len(list) > mostList:
			return nil, fmt.Errorf("more than %d fields, or %d bytes of names", MostPaths, mostList)
		case slices.ContainsFunc(paths, func(p []string) bool { return slices.Equal(p, path) }):
			return nil, fmt.Errorf("the field %s is named twice", JoinPath(path))
		}
		if paths = append(paths, path); rest == "" {
			break
		}
		rest = rest[1:]
	}
	return paths, nil
}

// Name writes the path of a field in the notation of lists and statements.
func Name(path []string) string {
	name := JoinPath(path)
	if word(path[0]) < len(path[0]) || path[0] == "" || path[0] == "fields" && len(path) > 1 ||
		len(path) == 1 && slices.Contains(Columns, strings.ToLower(name)) {
		return "fields." + name
	}
	return name
}

// Canonical writes a list of paths in its canonical notation.
func Canonical(list string) (string, error) {
	paths, err := Paths(list)
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = Name(path)
	}
	return strings.Join(names, ","), err
}
