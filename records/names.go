package records

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ShownName is the path of a file as ids, audits and messages have it. It is the path, unless that
// is not UTF-8 or has \x in it: then a byte that is not UTF-8 is \xff, with its number, and a
// backslash two of them.
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

// PathOf is the path that ShownName shows.
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
