package lines

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// dividers matches lines that separate records, and end tags of elements. key matches the first
// line of a paragraph of fields, or of a section.
var (
	dividers = regexp.MustCompile(`^(%%?|-{3,}|={3,}|\*{3,}|(\* ){2,}\*|_{3,}|~{3,}|\+{3,}|@{2,}|&{2,}|\${2,}|//+|</[\w:.-]+>)$`)
	key      = regexp.MustCompile(`^([A-Za-z][\w .-]{0,30}:|\[)([^:/\n].*)?\n.`)
)

// refuseRecords returns an error if the lines at the beginning of a text are parts of records. It
// looks for repeated separators: lines without words, or keys that begin paragraphs. Repeated lines
// with words are no evidence, because names and short messages repeat, too.
func refuseRecords(head []byte, all bool) error {
	if sep := separator(head); sep != "" {
		pattern := "^" + regexp.QuoteMeta(sep) + "$"
		if tag, ok := strings.CutPrefix(sep, "</"); ok {
			pattern = `^\s*<` + regexp.QuoteMeta(tag[:len(tag)-1]) + `\b`
		}
		return fmt.Errorf("lines like %s seem to separate its records: %s reads each as a text; %s", sep, option.Set("RecordStart", pattern), records.AsText())
	}
	parts := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(head), "\r\n", "\n")), "\n\n")
	if !all {
		parts = parts[:len(parts)-1]
	}
	keys := map[string]int{}
	for _, part := range parts {
		if m := key.FindStringSubmatch(strings.TrimSpace(part)); m != nil {
			if keys[m[1]]++; keys[m[1]] >= max(3, (9*len(parts)+9)/10) {
				return fmt.Errorf("its paragraphs seem to be records, which begin with %q: %s reads each as a text; %s",
					m[1], option.Set("RecordStart", "^"+regexp.QuoteMeta(m[1])), records.AsText())
			}
		}
	}
	return nil
}

// separator returns the line that separates records, or "" if there is none. A separator makes up
// at least 1 % of the lines, occurs in the second half of head, and on average has nearly one other
// line between two occurrences. A line that is as long as the previous line underlines a heading
// and does not count.
func separator(head []byte) (most string) {
	seen, i := map[string][]int{}, 0
	var before []byte
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		underlines := len(line) > 2 && line[0] != '<' && len(line) == utf8.RuneCount(before) && !bytes.Equal(line, before)
		if i++; dividers.Match(line) && !underlines {
			seen[string(line)] = append(seen[string(line)], i)
		}
		before = line
	}
	for line, at := range seen {
		n, last := len(at), at[len(at)-1]
		if (n >= 3 || n == 2 && line == "%") && 100*n >= i && 2*last > i && 10*(last-at[0]) >= 19*(n-1) && (n > len(seen[most]) || n == len(seen[most]) && line < most) {
			most = line
		}
	}
	return most
}
