package lines

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/simdb/simdb/internal/jsontext"
	"github.com/simdb/simdb/records"
)

// blank are the white space characters of JSON, fewer than those of bytes.TrimSpace.
const blank = " \t\r\n"

// checkedMembers validates a line and walks its members in one pass. It returns false if s, which
// must be UTF-8, is not a JSON object, or if a name has an escape, which other functions handle; f
// may already have been called then. Names are slices of s.
func checkedMembers(s []byte, f func(key string, member, value []byte)) bool {
	if len(s) == 0 || s[0] != '{' {
		return false
	}
	i := jsontext.SkipBlank(s, 1)
	if i < len(s) && s[i] == '}' {
		return i+1 == len(s)
	}
	for {
		from := i
		end, escaped := jsontext.CheckString(s, i)
		if end < 0 || escaped {
			return false
		}
		key := s[from+1 : end-1]
		if i = jsontext.SkipBlank(s, end); i >= len(s) || s[i] != ':' {
			return false
		}
		value := jsontext.SkipBlank(s, i+1)
		if i = checkedValue(s, value); i < 0 {
			return false
		}
		f(unsafe.String(unsafe.SliceData(key), len(key)), s[from:i], s[value:i])
		if i = jsontext.SkipBlank(s, i); i >= len(s) {
			return false
		}
		switch s[i] {
		case '}':
			return i+1 == len(s)
		case ',':
			i = jsontext.SkipBlank(s, i+1)
		default:
			return false
		}
	}
}

// checkedValue returns the index after the value that begins at s[i], or -1 if there is none.
func checkedValue(s []byte, i int) int {
	if i >= len(s) {
		return -1
	}
	if s[i] == '"' {
		end, _ := jsontext.CheckString(s, i)
		return end
	}
	end := jsontext.SkipValue(s, i)
	if !jsontext.Valid(s[i:end]) {
		return -1
	}
	return end
}

var errMember = errors.New("not an object")

// Members calls f for every member of the top level of s, a valid JSON object, with its name, the
// text of the whole member, and the text of its value.
func Members(s []byte, f func(key string, member, value []byte)) error {
	i := jsontext.SkipBlank(s, 1)
	for i < len(s) && s[i] == '"' {
		from := i
		i = jsontext.SkipString(s, i)
		quoted := s[from:i]
		key := string(quoted[1 : len(quoted)-1])
		if bytes.IndexByte(quoted, '\\') >= 0 || !utf8.Valid(quoted) {
			key = records.ValidText(jsontext.Unquote(quoted))
		}
		i = jsontext.SkipBlank(s, i)
		if i >= len(s) || s[i] != ':' {
			return errMember
		}
		i = jsontext.SkipBlank(s, i+1)
		v := i
		i = jsontext.SkipValue(s, i)
		f(key, s[from:i], s[v:i])
		if i = jsontext.SkipBlank(s, i); i < len(s) && s[i] == ',' {
			i = jsontext.SkipBlank(s, i+1)
		}
	}
	if i >= len(s) || s[i] != '}' {
		return errMember
	}
	return nil
}

// standard replaces numbers that JSON lacks, but Python and JavaScript write: NaN by null, and
// Infinity by 1e999.
func standard(s []byte) []byte {
	if !bytes.Contains(s, []byte("NaN")) && !bytes.Contains(s, []byte("Infinity")) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		from := i
		switch {
		case s[i] == '"':
			i = jsontext.SkipString(s, i)
			out = append(out, s[from:i]...)
		case bytes.HasPrefix(s[i:], []byte("NaN")):
			out, i = append(out, "null"...), i+len("NaN")
		case bytes.HasPrefix(s[i:], []byte("Infinity")):
			out, i = append(out, "1e999"...), i+len("Infinity")
		default:
			out, i = append(out, s[i]), i+1
		}
	}
	return out
}

// isJSON reports whether a line is JSON, possibly with the numbers that standard replaces.
func isJSON(s []byte) bool { return jsontext.Valid(s) || jsontext.Valid(standard(s)) }

// tooDeep reports whether s may be nested more deeply than the decoder allows. It first counts
// brackets, including those in strings; only a line with more than MaxDepth brackets is parsed.
func tooDeep(s []byte) bool {
	if len(s) <= jsontext.MaxDepth || bytes.Count(s, []byte("["))+bytes.Count(s, []byte("{")) <= jsontext.MaxDepth {
		return false
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i = jsontext.SkipString(s, i) - 1
		case '[', '{':
			if depth++; depth > jsontext.MaxDepth {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return false
}

// notJSON returns the syntax error of s, in the words of encoding/json, and the byte at which it
// occurs.
func notJSON(s []byte) string {
	if bytes.HasPrefix(s, []byte("{'")) {
		return "a Python object, not JSON: json.dumps writes JSON"
	}
	var v json.RawMessage
	err := json.Unmarshal(bytes.TrimRight(s, blank), &v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("not JSON: %v (byte %d)", err, syntax.Offset)
	}
	return "not JSON"
}
