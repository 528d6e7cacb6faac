package lines

import (
	"bytes"
	"encoding/binary"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/goccy/go-json"
)

// blank are the white space characters of JSON, fewer than those of bytes.TrimSpace.
const blank = " \t\r\n"

// maxDepth is how deep objects and arrays may nest in each other, as in encoding/json.
const maxDepth = 10000

// checkedMembers is members for a line that nothing has checked, in one pass. It returns false if
// s, which must be UTF-8, is not a JSON object, or one with an escape in a name, which it leaves to
// others; f may have been called before. Names are parts of s.
func checkedMembers(s []byte, f func(key string, member, value []byte)) bool {
	if len(s) == 0 || s[0] != '{' {
		return false
	}
	i := skipBlank(s, 1)
	if i < len(s) && s[i] == '}' {
		return i+1 == len(s)
	}
	for {
		from := i
		end, escaped := checkedString(s, i)
		if end < 0 || escaped {
			return false
		}
		key := s[from+1 : end-1]
		if i = skipBlank(s, end); i >= len(s) || s[i] != ':' {
			return false
		}
		value := skipBlank(s, i+1)
		if i = checkedValue(s, value); i < 0 {
			return false
		}
		f(unsafe.String(unsafe.SliceData(key), len(key)), s[from:i], s[value:i])
		if i = skipBlank(s, i); i >= len(s) {
			return false
		}
		switch s[i] {
		case '}':
			return i+1 == len(s)
		case ',':
			i = skipBlank(s, i+1)
		default:
			return false
		}
	}
}

// checkedValue returns the index after the value that begins at s[i], -1 if there is none.
func checkedValue(s []byte, i int) int {
	if i >= len(s) {
		return -1
	}
	if s[i] == '"' {
		end, _ := checkedString(s, i)
		return end
	}
	end := skipValue(s, i)
	if !json.Valid(s[i:end]) {
		return -1
	}
	return end
}

// checkedString returns the index after the string that should begin at s[i], -1 if there is none,
// and whether it has an escape.
func checkedString(s []byte, i int) (end int, escaped bool) {
	if i >= len(s) || s[i] != '"' {
		return -1, false
	}
	for i++; ; {
		if i = plainEnd(s, i); i >= len(s) || s[i] < ' ' {
			return -1, false
		}
		if s[i] == '"' {
			return i + 1, escaped
		}
		if escaped = true; i+1 >= len(s) {
			return -1, false
		}
		switch c := s[i+1]; {
		case c == 'u':
			if !isHex4(s[i+2:]) {
				return -1, false
			}
			i += 6
		case escapes[c] != 0:
			i += 2
		default:
			return -1, false
		}
	}
}

// plainEnd returns the index of the first quote, backslash or control character from s[i] on, the
// length of s if there is none.
func plainEnd(s []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		x := binary.LittleEndian.Uint64(s[i:])
		quote, back := x^'"'*ones, x^'\\'*ones
		// The lowest bit that is set is right: what borrows is a byte that is found.
		if found := ((quote-ones)&^quote | (back-ones)&^back | (x-' '*ones)&^x) & tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && s[i] != '"' && s[i] != '\\' && s[i] >= ' ' {
		i++
	}
	return i
}

// escapes has what an escape stands for by its character; 0 for others, and for u.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// isHex4 reports whether s begins with four hexadecimal digits.
func isHex4(s []byte) bool {
	if len(s) < 4 {
		return false
	}
	for _, c := range s[:4] {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// unquoted returns what a JSON string, which is UTF-8 and has been checked, stands for: with U+FFFD
// for half of a surrogate pair, as encoding/json has it.
func unquoted(quoted []byte) string {
	rest := quoted[1 : len(quoted)-1]
	i := bytes.IndexByte(rest, '\\')
	if i < 0 {
		return string(rest)
	}
	b := make([]byte, 0, len(rest))
	for i >= 0 {
		b = append(b, rest[:i]...)
		if rest = rest[i:]; rest[1] == 'u' {
			b, rest = appendUnicode(b, rest)
		} else {
			b, rest = append(b, escapes[rest[1]]), rest[2:]
		}
		if i = 0; len(rest) == 0 || rest[0] != '\\' { // escapes often follow each other
			i = bytes.IndexByte(rest, '\\')
		}
	}
	b = append(b, rest...)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// appendUnicode appends the character that rest begins with as \uXXXX, and returns what follows it.
func appendUnicode(b, rest []byte) (_, after []byte) {
	r := hex4(rest)
	if rest = rest[6:]; utf16.IsSurrogate(r) {
		if r = utf16.DecodeRune(r, hex4(rest)); r != utf8.RuneError {
			rest = rest[6:]
		}
	}
	return utf8.AppendRune(b, r), rest
}

// hex4 returns the number in an escape such as \u00e9 at the beginning of s, -1 if there is none.
func hex4(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range s[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		}
		r = r<<4 | rune(c&15)
	}
	return r
}

var errMember = errors.New("not an object")

// Members calls f for every member of the top level of s, a valid JSON object: its name, the text
// of the whole member, and that of its value.
func Members(s []byte, f func(key string, member, value []byte)) error {
	i := skipBlank(s, 1)
	for i < len(s) && s[i] == '"' {
		from := i
		i = skipString(s, i)
		quoted := s[from:i]
		key := string(quoted[1 : len(quoted)-1])
		if bytes.IndexByte(quoted, '\\') >= 0 || !utf8.Valid(quoted) {
			if err := json.Unmarshal(quoted, &key); err != nil {
				return err
			}
		}
		i = skipBlank(s, i)
		if i >= len(s) || s[i] != ':' {
			return errMember
		}
		i = skipBlank(s, i+1)
		v := i
		i = skipValue(s, i)
		f(key, s[from:i], s[v:i])
		if i = skipBlank(s, i); i < len(s) && s[i] == ',' {
			i = skipBlank(s, i+1)
		}
	}
	if i >= len(s) || s[i] != '}' {
		return errMember
	}
	return nil
}

func skipBlank(s []byte, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that begins at s[i].
func skipString(s []byte, i int) int {
	for i++; i < len(s); {
		j := bytes.IndexByte(s[i:], '"')
		if j < 0 {
			return len(s)
		}
		i += j
		back := i - 1
		for s[back] == '\\' {
			back--
		}
		i++
		if (i-back)%2 == 0 { // an even number of backslashes before it
			return i
		}
	}
	return len(s)
}

// skipValue returns the index after the value that begins at s[i].
func skipValue(s []byte, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			i = skipString(s, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i < len(s) && bytes.IndexByte([]byte(",:]}{[\" \t\r\n"), s[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// standard returns s with the numbers that JSON does not have, but Python and JavaScript write, as
// it can have them: null in place of NaN, and 1e999 in place of Infinity.
func standard(s []byte) []byte {
	if !bytes.Contains(s, []byte("NaN")) && !bytes.Contains(s, []byte("Infinity")) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		from := i
		switch {
		case s[i] == '"':
			i = skipString(s, i)
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

// isJSON reports whether a line is JSON, perhaps with such numbers.
func isJSON(s []byte) bool { return json.Valid(s) || json.Valid(standard(s)) }

// tooDeep reports whether s may nest deeper than maxDepth. Brackets are counted first, also in
// strings; only a line with more than maxDepth of them is parsed.
func tooDeep(s []byte) bool {
	if len(s) <= maxDepth || bytes.Count(s, []byte("["))+bytes.Count(s, []byte("{")) <= maxDepth {
		return false
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i = skipString(s, i) - 1
		case '[', '{':
			if depth++; depth > maxDepth {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return false
}

// notJSON says what is wrong with s, in the words of encoding/json, and at which byte.
func notJSON(s []byte) string {
	if bytes.HasPrefix(s, []byte("{'")) {
		return "not JSON, but as Python shows an object: json.dumps writes JSON"
	}
	var v stdjson.RawMessage
	err := stdjson.Unmarshal(bytes.TrimRight(s, blank), &v)
	if syntax, ok := errors.AsType[*stdjson.SyntaxError](err); ok {
		return fmt.Sprintf("not JSON: %v (byte %d)", err, syntax.Offset)
	}
	return "not JSON"
}
