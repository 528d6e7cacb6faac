// Package jsontext scans JSON text: it validates values, and finds the ends of strings and values.
package jsontext

// MaxDepth is the largest nesting depth of objects and arrays, as in encoding/json.
const MaxDepth = 10000

// Valid reports whether s is a JSON value, possibly with white space around it. Like encoding/json,
// it accepts bytes that are not UTF-8, but only in strings.
func Valid(s []byte) bool {
	i := validValue(s, SkipBlank(s, 0), 0)
	return i >= 0 && SkipBlank(s, i) == len(s)
}

// validValue returns the index after the value that begins at s[i], within depth brackets, or -1 if
// there is none.
func validValue(s []byte, i, depth int) int {
	if i < 0 || i >= len(s) || depth > MaxDepth {
		return -1
	}
	switch c := s[i]; c {
	case '"':
		end, _ := CheckString(s, i)
		return end
	case '{', '[':
		return validList(s, i, depth+1)
	case 't':
		return validWord(s, i, "true")
	case 'f':
		return validWord(s, i, "false")
	case 'n':
		return validWord(s, i, "null")
	}
	return validNumber(s, i)
}

// validList is validValue for an object or an array.
func validList(s []byte, i, depth int) int {
	object, end := s[i] == '{', s[i]+2 // in ASCII, ']' is '['+2 and '}' is '{'+2
	if i = SkipBlank(s, i+1); i < len(s) && s[i] == end {
		if depth > MaxDepth {
			return -1
		}
		return i + 1
	}
	for {
		if object {
			if i, _ = CheckString(s, i); i < 0 {
				return -1
			}
			if i = SkipBlank(s, i); i >= len(s) || s[i] != ':' {
				return -1
			}
			i = SkipBlank(s, i+1)
		}
		if i = validValue(s, i, depth); i < 0 {
			return -1
		}
		if i = SkipBlank(s, i); i >= len(s) {
			return -1
		}
		switch s[i] {
		case end:
			return i + 1
		case ',':
			i = SkipBlank(s, i+1)
		default:
			return -1
		}
	}
}

// validWord is validValue for a word.
func validWord(s []byte, i int, word string) int {
	if end := i + len(word); end <= len(s) && string(s[i:end]) == word {
		return end
	}
	return -1
}

// validNumber is validValue for a number.
func validNumber(s []byte, i int) int {
	if s[i] == '-' {
		i++
	}
	from := i
	if i = digits(s, i); i == from || s[from] == '0' && i > from+1 {
		return -1
	}
	if i < len(s) && s[i] == '.' {
		from = i + 1
		if i = digits(s, from); i == from {
			return -1
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		from = i
		if i = digits(s, i); i == from {
			return -1
		}
	}
	return i
}

// digits returns the index after the digits from s[i] on.
func digits(s []byte, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}
