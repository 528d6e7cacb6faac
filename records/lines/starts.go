package lines

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/simdb/simdb/internal/option"
)

// Records of several lines. A record begins with a line that a rule recognises, and ends before the
// next such line; lines before the first one are a record, too. The splitter copies them unchanged:
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

	// between is a line that separates records, "" for none. A copy needs it between a record
	// without a first line and the record before it, which may come from different files.
	between string
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
		switch {
		case c.decided:
		case !whole && len(line) < longestLine && !c.last:
			c.again = len(line)
			return -1
		default:
			c.decided = true
			begins := c.begins(bytes.TrimSuffix(line[:min(len(line), longestLine)], []byte("\r")))
			c.found = c.found || begins
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
	g := &grouping{
		rule: func() rule { return re.Match },
		none: fmt.Errorf("no line matches %s, so the whole file would be one record; use another pattern, or %s for one text per file", what, option.Name("Files")),
	}
	for line := range bytes.Lines(head) {
		if line = trimEOL(line); re.Match(line) && (dividers.Match(line) || len(line) == 0) {
			g.between = string(line) + "\n"
			break
		}
	}
	return g, nil
}

// separates reports whether a line, the first or last one of a record, separates it from others.
func (g *grouping) separates(line []byte) bool {
	return string(bytes.TrimSpace(line)) == strings.TrimSpace(g.between)
}

// apart reports whether a copy of raw needs g.between before it. closed says that the record before
// it ends with a separator.
func (g *grouping) apart(raw []byte, closed bool) bool {
	first, _, _ := bytes.Cut(raw, newline)
	return g.between != "" && !closed && !g.separates(first)
}

// closes reports whether a record ends with a separator.
func (g *grouping) closes(raw []byte) bool {
	body, ok := bytes.CutSuffix(raw, newline)
	return ok && g.separates(body[bytes.LastIndexByte(body, '\n')+1:])
}
