package records

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ShownName returns the form of a path that IDs, audits and messages show. It is the path itself,
// unless the path is invalid UTF-8 or contains \x. In that case each invalid byte becomes \x and
// two hexadecimal digits, and each backslash becomes two.
func ShownName(path string) string {
	if utf8.ValidString(path) && !strings.Contains(path, `\x`) {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(path[i])|0x100, 16)[1:])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(path[i : i+size])
		}
		i += size
	}
	return b.String()
}

// PathOf is the inverse of ShownName.
func PathOf(shown string) string {
	if !strings.Contains(shown, `\x`) {
		return shown
	}
	var b strings.Builder
	for i := 0; i < len(shown); i++ {
		rest := shown[i:]
		if n, err := strconv.ParseUint(rest[min(2, len(rest)):min(4, len(rest))], 16, 8); strings.HasPrefix(rest, `\x`) && err == nil {
			b.WriteByte(byte(n))
			i += len(`\xff`) - 1
			continue
		}
		b.WriteByte(shown[i])
		if strings.HasPrefix(rest, `\\`) {
			i++
		}
	}
	return b.String()
}
