package jsonfield

import (
	"encoding/json"
	"iter"
	"strings"

	"github.com/simdb/simdb/internal/jsontext"
)

// A Path is a path as options name it, such as metadata.score, messages[].content or a.*.b: * stands
// for every key of an object, and [] for every element of a list. A key that equals more of the
// path, even the whole path, has precedence, so that keys with points need no quotes; a.'b.c' has some.
// The zero Path leads to the value itself.
//
// Texts are also found in lists for which the path has no []. A string in place of a list, or of an
// object in a list, is itself a text: in messages[].content[].text, for example, only some messages
// have parts.
type Path struct {
	parts   []string
	written []string // the path from each part on
	exact   bool     // a path of a statement: keys equal one part, and only [] stands for elements
}

// Exact returns the path of a statement with these parts.
func Exact(parts []string) Path { return Path{parts: parts, written: parts, exact: true} }

// Parse reads a path. Every text is one.
func Parse(text string) (p Path) {
	for more := true; more; {
		part, n := quoted(text)
		if end := text[n:]; n == 0 || end != "" && end[0] != '.' && !strings.HasPrefix(end, "[]") {
			if n = strings.Index(text, "[]"); n < 0 {
				n = len(text)
			}
			if i := strings.IndexByte(text[:n], '.'); i >= 0 {
				n = i
			}
			part = text[:n]
			switch {
			case n == 0 && strings.HasPrefix(text, "[]"):
				part, n = Elements, len("[]")
			case part == "*":
				part = Any
			}
		}
		p.parts, p.written = append(p.parts, part), append(p.written, text)
		text, more = strings.CutPrefix(text[n:], ".")
		more = more || text != ""
	}
	return p
}

// String returns the path as written.
func (p Path) String() string { return strings.Join(p.written[:min(1, len(p.written))], "") }

// Arrived reports whether the path leads to the value itself.
func (p Path) Arrived() bool { return len(p.parts) == 0 }

// Is reports whether all of the path is a key, with or without quotes.
func (p *Path) Is(key string) bool {
	return len(p.parts) > 0 && (p.written[0] == key || len(p.parts) == 1 && p.parts[0] == key)
}

// Enters reports whether the path may continue after a key of an object.
func (p *Path) Enters(key string) bool {
	return len(p.parts) > 1 && (strings.HasPrefix(p.written[0], key) || p.parts[0] == key)
}

// Begins reports whether the path begins with this part.
func (p Path) Begins(part string) bool { return len(p.parts) > 0 && p.parts[0] == part }

// Several reports whether the path leads to any number of values.
func (p Path) Several() bool { return Several(p.parts) }

// after returns the path without its first n parts.
func (p Path) after(n int) Path { return Path{p.parts[n:], p.written[n:], p.exact} }

// Next yields the keys with which the path may continue in an object, the longest first, and the
// rest of the path after each.
func (p Path) Next() iter.Seq2[string, Path] {
	return func(yield func(string, Path) bool) {
		for n := len(p.parts); n > 0 && !p.exact; n-- {
			rest := p.after(n)
			key := p.written[0][:len(p.written[0])-len(rest.String())]
			if n < len(p.parts) {
				key = strings.TrimSuffix(key, ".")
			}
			if !yield(key, rest) {
				return
			}
		}
		if p.exact && len(p.parts) > 0 || strings.HasPrefix(p.String(), "'") {
			yield(p.parts[0], p.after(1))
		}
	}
}

// Step returns the rest of the path after a key, and whether the path may continue with the key.
func (p Path) Step(key string) (rest Path, ok bool) {
	for name, rest := range p.Next() {
		if name == key {
			return rest, true
		}
	}
	if p.Begins(Any) || p.Begins(key) { // Elements
		return p.after(1), true
	}
	return p, false
}

// Down follows the path through objects. It returns the value where the path ends, or where a list,
// or * for the keys of an object, is next, with the rest of the path. It returns nothing if there
// is no such value. value must be valid JSON, or empty.
func (p Path) Down(value []byte) ([]byte, Path) {
	value = value[jsontext.SkipBlank(value, 0):]
next:
	for len(p.parts) > 0 && len(value) > 0 && value[0] == '{' {
		for key, rest := range p.Next() {
			v := member(value, key)
			// A longer key counts only if the path can continue in its value.
			if v != nil && (len(rest.parts) >= len(p.parts)-1 || rest.Continues(v)) {
				value, p = v, rest
				continue next
			}
		}
		if p.Begins(Any) {
			break
		}
		return nil, p
	}
	return value, p
}

// Continues reports whether the path ends at a value, or can continue in it.
func (p Path) Continues(value []byte) bool {
	return len(p.parts) == 0 || value[0] == '{' || value[0] == '[' || value[0] == '"' && p.Begins(Elements)
}

// Of returns the value at the path in an object, as the function Of does. It returns nil if the
// path leads through a list or *.
func (p Path) Of(object []byte) json.RawMessage {
	value, rest := p.Down(object)
	if len(rest.parts) > 0 || len(value) == 0 || value[0] == 'n' {
		return nil
	}
	return value
}

// Each calls fn with each value at the path, except null, in the order of the value. beyond is true
// for a value in which the path cannot continue.
func (p Path) Each(value []byte, fn func(value []byte, beyond bool)) {
	value, p = p.Down(value)
	switch {
	case len(value) == 0 || value[0] == 'n':
	case value[0] == '[' && (p.Begins(Elements) || !p.exact):
		rest, listed := p.Step(Elements)
		_, objects := alike(value)
		for e := range ElementsOf(value) {
			if e[0] == '"' && !p.exact && (listed || objects != nil) {
				fn(e, false)
			} else {
				rest.Each(e, fn)
			}
		}
	case len(p.parts) == 0:
		fn(value, false)
	case value[0] == '{':
		for _, v := range Members(value) {
			p.after(1).Each(v, fn)
		}
	default:
		fn(value, p.exact || !p.Continues(value))
	}
}

// All returns a list of the values at the path, nil for none. A path of a statement without [] and *
// leads to the value itself.
func (p Path) All(object []byte) json.RawMessage {
	if p.exact && !p.Several() {
		return Of(object, p.parts)
	}
	var list []byte
	p.Each(object, func(v []byte, beyond bool) {
		if !beyond {
			list = append(append(list, "[,"[min(len(list), 1)]), v...)
		}
	})
	if list == nil {
		return nil
	}
	return append(list, ']')
}

// Text returns the texts at the path, joined as lines. Missing values and null are left out; ok is
// false if the path leads to an object, or continues after a text.
func (p Path) Text(value []byte) (text string, ok bool) {
	var lines []string
	ok = true
	p.Each(value, func(v []byte, beyond bool) {
		if ok = ok && !beyond && v[0] != '{'; ok && string(v) != `""` {
			lines = append(lines, Text(v))
		}
	})
	if !ok {
		return "", false
	}
	return strings.Join(lines, "\n"), true
}
