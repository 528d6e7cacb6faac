package lines

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/simdb/simdb/internal/option"
)

// Records of several lines: a record begins with a line that a rule recognises, and ends before the
// next such line. Lines before the first one are a record, too.
//
//	# made on 3 March     a record
//	>seq1                 a record begins
//	ACGT
//	>seq2                 a record begins
//
// The rule comes from Options.RecordStart, or from a kind of text (kinds.go).

// longestLine is the number of bytes of a line that a rule sees. The buffer of a batch is larger.
const longestLine = 64 << 10

// A rule reports whether a line, without its line end, begins a record. It is called for every line
// in order, and may have state.
type rule func(line []byte) bool

// grouping says how the lines of a file form records.
type grouping struct {
	rule func() rule // makes the rule for one pass
	none error       // for a file in which no line begins a record

	// between is a line that separates records; nil if there is none. A copy needs it between two
	// records that come from different files, if neither has it.
	between []byte
}

// separates reports whether the first or last line of a record separates it from others.
func (g *grouping) separates(line []byte) bool {
	return g.between == nil || bytes.Equal(trimEOL(line), trimEOL(g.between))
}

// starts is the cutter of a grouping.
type starts struct {
	begins  rule
	none    error
	again   int  // bytes at the end of the last argument of end, which the next call must repeat
	within  bool // a line of the current record has been passed
	decided bool // the rule has seen the current line
	last    bool // the file ends after the next argument of end
	found   bool // a line began a record
}

func (c *starts) end(p []byte) int {
	c.again = 0
	for at := 0; at < len(p); {
		line, _, whole := bytes.Cut(p[at:], newline)
		if !c.decided {
			if !whole && len(line) < longestLine && !c.last {
				c.again = len(line)
				return -1
			}
			begins := c.begins(bytes.TrimSuffix(line[:min(len(line), longestLine)], []byte("\r")))
			c.decided, c.found = true, c.found || begins
			if begins && c.within {
				c.within = false
				return at
			}
		}
		c.within, c.decided = true, !whole
		at += len(line) + 1
	}
	return -1
}

func (c *starts) open() string { return "" }

// byPattern returns the grouping of Options.RecordStart, given the beginning of the file.
func byPattern(pattern string, head []byte) (*grouping, error) {
	what := option.Set("RecordStart", pattern)
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if re.MatchString("") && re.MatchString("\x01") {
		return nil, fmt.Errorf("%s matches every line, and each line is a record without it: write a pattern of the first lines only, such as '^%%'", what)
	}
	g := &grouping{rule: func() rule { return re.Match },
		none: fmt.Errorf("no line matches %s, so the whole file would be one record; use another pattern, or %s for one text per file", what, option.Name("Files"))}
	for line := range bytes.Lines(head) {
		if line = trimEOL(line); re.Match(line) && (dividers.Match(line) || len(line) == 0) {
			g.between = append(bytes.Clone(line), newline...)
			break
		}
	}
	return g, nil
}
