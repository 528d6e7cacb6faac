package features

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Named masks.
const (
	MaskNumbers = "numbers"
	MaskDates   = "dates"
)

// placeholder is the word that replaces a match of a mask. It is the letter U+02CD, which no
// language uses as a word.
const placeholder = " \u02cd "

// A mask returns the first match in text that starts at or after from: text[start:end]. start is
// negative if there is no match.
type mask func(text []byte, from int) (start, end int)

// compileMasks returns the masks of a Spec in the order of their application: first dates, then
// expressions in their given order. Numbers are last, because they are parts of other matches.
func compileMasks(patterns []string) (all []mask, err error) {
	if len(patterns) > MaxMasks {
		return nil, fmt.Errorf("%d masks; the limit is %d", len(patterns), MaxMasks)
	}
	if slices.Contains(patterns, MaskDates) {
		all = append(all, nextDate)
	}
	for _, p := range patterns {
		if p == MaskDates || p == MaskNumbers {
			continue
		}
		re, err := regexp.Compile(p)
		switch {
		case p == "":
			return nil, errors.New("a mask is numbers, dates or a regular expression, not empty")
		case err != nil:
			return nil, fmt.Errorf("mask %q is neither numbers, nor dates, nor a regular expression (RE2) such as [0-9]+: %w", p, err)
		case strings.Contains(p, "\n") || !utf8.ValidString(p):
			return nil, fmt.Errorf(`mask %q: an expression is one line of UTF-8, with \n for a line end`, p)
		}
		all = append(all, matches(re))
	}
	if slices.Contains(patterns, MaskNumbers) {
		all = append(all, nextNumber)
	}
	return all, nil
}

// Finder returns a function that calls found with each match of a mask in a text, in the order of
// the text: numbers, dates or a regular expression. Numbers and dates may have the digits of any script,
// and are found with ASCII digits. The function is not safe for concurrent use.
func Finder(pattern string) (func(text []byte, found func(match []byte)), error) {
	masks, err := compileMasks([]string{pattern})
	if err != nil {
		return nil, err
	}
	return func(text []byte, found func(match []byte)) {
		if pattern == MaskNumbers || pattern == MaskDates {
			text = withASCIIDigits(text)
		}
		for at := 0; ; {
			start, end := masks[0](text, at)
			if start < 0 {
				return
			}
			found(text[start:end])
			at = end
		}
	}, nil
}

// withASCIIDigits returns a text with ASCII digits in place of those of other scripts.
func withASCIIDigits(text []byte) []byte {
	if !hasOtherDigits(text) {
		return text
	}
	return bytes.Map(func(r rune) rune {
		for _, ten := range unicode.Nd.R16 {
			if rune(ten.Lo) <= r && r <= rune(ten.Hi) {
				return '0' + r - rune(ten.Lo)
			}
		}
		for _, ten := range unicode.Nd.R32 { // or several times ten
			if rune(ten.Lo) <= r && r <= rune(ten.Hi) {
				return '0' + (r-rune(ten.Lo))%10
			}
		}
		return r
	}, text)
}

func hasOtherDigits(text []byte) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf { // nearly always
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if unicode.Is(unicode.Nd, r) {
			return true
		}
		i += n
	}
	return false
}

// appendMasked appends text to dst, which is empty, with each match replaced.
func (m mask) appendMasked(dst, text []byte, with string, t *trace) []byte {
	t.begin()
	for at := 0; ; {
		start, end := m(text, at)
		t.note(len(dst), at, true)
		if start < 0 {
			dst = append(dst, text[at:]...)
			t.note(len(dst), len(text), false)
			return dst
		}
		dst = append(dst, text[at:start]...)
		t.note(len(dst), start, false)
		dst = append(dst, with...)
		at = end
	}
}

// matches returns a mask for the nonempty matches of an expression.
func matches(re *regexp.Regexp) mask {
	var all [][]int // in the text
	return func(text []byte, from int) (start, end int) {
		if from == 0 {
			all = re.FindAllIndex(text, -1)
		}
		for len(all) > 0 {
			at := all[0]
			if all = all[1:]; at[0] < at[1] {
				return at[0], at[1]
			}
		}
		return -1, -1
	}
}

// nextNumber finds a run of digits, which may be part of a word, with single points, commas and
// colons between digits; or 0x and hexadecimal digits.
func nextNumber(text []byte, from int) (start, end int) {
	start = bytes.IndexAny(text[from:], "0123456789")
	if start < 0 {
		return -1, -1
	}
	start += from
	if hex := hexDigits(text[start:]); hex > 0 {
		return start, start + hex
	}
	for end = start; ; end++ {
		end += digits(text[end:])
		if end+1 >= len(text) || strings.IndexByte(".,:", text[end]) < 0 || !isDigit(text[end+1]) {
			return start, end
		}
	}
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// digits returns the number of digits at the start of text.
func digits(text []byte) (n int) {
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

// hexDigits returns the length of 0x and hexadecimal digits at the start of text, or 0.
func hexDigits(text []byte) int {
	if len(text) < 3 || text[0] != '0' || text[1]|0x20 != 'x' {
		return 0
	}
	n := 2
	for n < len(text) && (isDigit(text[n]) || text[n]|0x20 >= 'a' && text[n]|0x20 <= 'f') {
		n++
	}
	if n == 2 {
		return 0
	}
	return n
}

// Definition of dates. A date has year, month and day, or day, month and year, in digits; or digits
// and the English name of the month. A day of the week may precede it, and a time of day may
// follow. A time of day alone is also a date.
const (
	months  = `(?i:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|January|February|March|April|June|July|August|September|October|November|December)`
	day     = `[0-9]{1,2}(?:st|nd|rd|th)?`
	clock   = `(?:[01]?[0-9]|2[0-4]):[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]{1,9})?)?(?: ?[AaPp]\.?[Mm]\b\.?)?(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?`
	atClock = `(?:(?:[T:,]| |, )` + clock + `)?(?:\b|$)`
	longest = 160 // largest length of a date, from its first digit on, in bytes
)

var (
	// fromDigit matches a date that starts with a digit.
	fromDigit = compileLongest(`^(?:(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4}|[0-9]{1,2}/[0-9]{1,2}/[0-9]{2}|` +
		`(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?:T[0-9]{6})?|` +
		day + `[-/. ]{1,2}` + months + `\b\.?(?:[-/., ]{1,2}[0-9]{4})?)` + atClock + `|` + clock + `(?:\b|$))`)
	// fromMonth matches a date that starts with the name of a month.
	fromMonth = compileLongest(`^` + months + `[.,]?(?:[ -]{1,2}` + day + `\b(?:,? ` + clock + `)?(?:,? [0-9]{4})?|[ -][0-9]{4})` + atClock)
)

func compileLongest(expression string) *regexp.Regexp {
	re := regexp.MustCompile(expression)
	re.Longest()
	return re
}

var (
	monthNames = names("jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september october november december")
	dayNames   = names("mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday")
)

func names(list string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		set[name] = true
	}
	return set
}

// nextDate finds a date. It searches for digits, and then examines the text before them.
func nextDate(text []byte, from int) (start, end int) {
	for at := from; at < len(text); at += digits(text[at:]) {
		n := bytes.IndexAny(text[at:], "0123456789")
		if n < 0 {
			break
		}
		if at += n; !startsWord(text, at) {
			continue
		}
		if start, end := dateAt(text[:min(len(text), at+longest)], from, at); start < end {
			return nameBefore(text, from, start, dayNames), end
		}
	}
	return -1, -1
}

// startsWord reports whether text[at] does not continue a word.
func startsWord(text []byte, at int) bool {
	return at == 0 || !isLetter(text[at-1]) && !isDigit(text[at-1]) && text[at-1] != '_'
}

// dateAt returns the bounds of the date whose first digit is text[at], which must start at or after
// from. The bounds are equal if there is none.
func dateAt(text []byte, from, at int) (start, end int) {
	if start = nameBefore(text, from, at, monthNames); start < at {
		if n := len(fromMonth.Find(text[start:])); n > 0 {
			return start, start + n
		}
	}
	if n := at + digits(text[at:]); n-at == 8 || n < len(text) && n-at <= 4 && strings.IndexByte("-/.: snrt", text[n]) >= 0 {
		return at, at + len(fromDigit.Find(text[at:]))
	}
	return at, at
}

// nameBefore returns the start of a name that ends before at, possibly separated by a point or a
// comma and one or two spaces or hyphens. It returns at if there is no such name at or after from.
func nameBefore(text []byte, from, at int, of map[string]bool) int {
	end := at
	for end > from && at-end < 2 && (text[end-1] == ' ' || text[end-1] == '-') {
		end--
	}
	if end == at {
		return at
	}
	if end > from && (text[end-1] == '.' || text[end-1] == ',') {
		end--
	}
	start := end
	for start > from && isLetter(text[start-1]) {
		start--
	}
	const longestName = len("wednesday")
	if end-start <= longestName && startsWord(text, start) && of[strings.ToLower(string(text[start:end]))] {
		return start
	}
	return at
}
