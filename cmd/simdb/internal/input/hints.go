package input

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-json"

	"github.com/simdb/simdb/query"
)

// shownNames is how many names of fields a message lists.
const shownNames = 10

// among lists the names that there are, and one that may have been meant: ` (its fields are "a", "b"; did you mean "a"?)`.
func among(what string, names []string, wanted string) string {
	if len(names) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(" (" + what)
	for i, name := range names[:min(len(names), shownNames)] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + strconv.Quote(short(name)))
	}
	if more := len(names) - shownNames; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	if meant, ok := query.Closest(wanted, names); ok {
		fmt.Fprintf(&b, "; did you mean %q?", meant)
	}
	b.WriteByte(')')
	return b.String()
}

// short cuts s for a message.
func short(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// separators are what files in columns have between them, and how a user writes them.
var separators = []struct {
	sep     byte
	written string
}{{';', "';'"}, {'\t', "tab"}, {'|', "'|'"}, {',', "','"}, {':', "':'"}}

// hintSeparator returns the error that explains err, which is about a header: perhaps it has the columns when it is cut elsewhere.
func hintSeparator(err error, raw []byte, sep byte, opt Options) error {
	opt.NoHeader = false
	for _, s := range separators {
		if s.sep == sep {
			continue
		}
		cut := func(fields []string, raw []byte) []string { return cutRow(fields, raw, s.sep) }
		if _, e := newTable(raw, cut, opt); e == nil {
			return fmt.Errorf("its columns are separated by %s: --delimiter %s", s.written, s.written)
		}
	}
	return err
}

// ParseDelimiter reads what separates columns: one character of ASCII, or the word tab.
func ParseDelimiter(s string) (byte, error) {
	if s == "tab" || s == `\t` {
		return '\t', nil
	}
	if len(s) != 1 || s[0] >= 0x80 || s[0] < ' ' && s[0] != '\t' || s[0] == '"' {
		return 0, fmt.Errorf("%q is no delimiter: it is one character such as ; or | or the word tab, no quote and no line end", s)
	}
	return s[0], nil
}

// beginsJSON says whether the first line of a file is JSON by its beginning.
func beginsJSON(line []byte) bool {
	line = bytes.Trim(line, blank)
	if line[0] == '[' {
		next := bytes.TrimLeft(line[1:], blank)
		return len(next) == 0 || next[0] == '{'
	}
	return line[0] == '{'
}

// Errors for JSON that is not written an object a line.
var (
	errArray  = errors.New("it is one JSON array, not an object a line: jq -c '.[]' FILE | simdb ... -")
	errSpread = errors.New("its JSON objects go over several lines: jq -c . FILE | simdb ... -")
)

// refuseSpread returns an error if the file is JSON, but not an object a line: then no line is good for anything. A first line
// that is damaged is another matter: there are good ones behind it.
func refuseSpread(lines [][]byte) error {
	if len(lines) == 0 {
		return nil
	}
	first := bytes.Trim(lines[0], blank)
	if len(first) == 0 || json.Valid(first) || first[0] != '[' && first[0] != '{' {
		return nil
	}
	if slices.ContainsFunc(lines[1:], func(line []byte) bool { return isObject(line) }) && first[0] == '{' && len(first) > 1 {
		return nil
	}
	switch {
	case first[0] == '[' && (len(lines) > 1 || len(first) == 1):
		return errArray
	case first[0] == '{' && (len(lines) > 1 || len(first) == 1):
		return errSpread
	}
	return nil
}

// isObject says whether a line is a JSON object.
func isObject(line []byte) bool {
	line = bytes.Trim(line, blank)
	return len(line) > 0 && line[0] == '{' && json.Valid(line)
}
