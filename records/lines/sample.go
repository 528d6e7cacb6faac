package lines

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// sample summarises the columns in the first block of a file.
type sample struct {
	lines   int // without the header
	header  []string
	title   string // the header as written, truncated
	columns int    // the largest number of columns of a line
	ragged  bool   // lines differ in their number of columns
	numbers int    // lines with a number, alone or next to a tab
	sure    int    // lines of at most two columns, one of them certainly a fingerprint
	base64  int    // lines with a fingerprint in padded base64
	other   string // the first line without a number, truncated
	column  [2]numbers

	declared bool // the user set the notation, so the file must have fingerprints
}

// numbers describes one column of a sample.
type numbers struct {
	n        int // lines with a number in the column
	wide     int // numbers of more than 64 bits
	hex      int // hexadecimal numbers: 64 binary or 16 hexadecimal digits, 0x, fewer digits with a letter, or wide
	letters  int // numbers in hex with a letter, except for numbers with fewer digits
	large    int // numbers above 2^32
	blanks   int // lines with blanks in the column
	gaps     int // numbers that are not the previous one plus one
	previous uint64
}

// newSample examines the first lines of a file.
func newSample(lines [][]byte, notation base.Notation) *sample {
	s := &sample{declared: notation != base.Auto}
	for i, line := range lines {
		cols := columns(line)
		lone := isLone(line, cols)
		found, sure := slices.ContainsFunc(cols, func(cell []byte) bool {
			cell = bytes.TrimSpace(cell)
			_, _, err := base.ParseFingerprint(cell, notation)
			return err == nil || lone && isWide(cell, notation)
		}), false
		if i == 0 && !found && !slices.ContainsFunc(cols, beginsWithDigit) {
			for _, c := range cols {
				s.header = append(s.header, strings.ToLower(string(bytes.TrimSpace(c))))
			}
			s.title = records.Short(string(line))
			continue
		}
		s.lines++
		s.ragged = s.ragged || s.columns > 0 && len(cols) != s.columns
		s.columns = max(s.columns, len(cols))
		for c := range min(2, len(cols)) {
			cell := bytes.TrimSpace(cols[c])
			hex := s.column[c].add(cell, notation, lone)
			// 0x1 before words is not a fingerprint, but 0x1 alone or next to a tab is.
			sure = sure || hex && (len(cell) >= 16 || len(cols) == 1 || bytes.IndexByte(line, '\t') >= 0)
		}
		if found && (len(cols) == 1 || bytes.IndexByte(line, '\t') >= 0 || isLong(cols)) {
			s.numbers++
		} else if s.other == "" {
			s.other = records.Short(string(line))
		}
		if slices.ContainsFunc(cols, isBase64) {
			s.base64++
		}
		if sure && len(cols) <= 2 {
			s.sure++
		}
	}
	if s.columns == 1 && !strings.Contains(s.title, "\t") && len(s.header) > 0 {
		s.header = []string{strings.ToLower(s.title)} // several words are a header of one column
	}
	return s
}

// fewestShort is the minimum number of hexadecimal digits of a number without its leading zeros. A
// cell with fewer digits is more likely a word.
const fewestShort = 8

// isLone reports whether a line has only a fingerprint, or a fingerprint and a tab beside a cell
// that is not a text. Other lines with hashes are the output of checksum programs, or have the IDs
// of texts.
func isLone(line []byte, cols [][]byte) bool {
	return len(cols) == 1 || len(cols) == 2 && bytes.IndexByte(line, '\t') >= 0 && !slices.ContainsFunc(cols, func(c []byte) bool { return len(bytes.Fields(c)) > 1 })
}

// add counts the cell of a line, and reports whether it is certainly a fingerprint. A cell of more
// than 64 bits counts only if it is lone.
func (c *numbers) add(cell []byte, notation base.Notation, lone bool) (sure bool) {
	if bytes.ContainsAny(cell, " \t") {
		c.blanks++
	}
	parse := base.ParseFingerprint[[]byte]
	if len(cell) >= fewestShort {
		parse = base.ParseCell
	}
	v, as, err := parse(cell, notation)
	wide := err != nil && lone && isWide(cell, notation)
	if err != nil && !wide {
		return false
	}
	if c.n > 0 && v != c.previous+1 {
		c.gaps++
	}
	c.n, c.previous = c.n+1, v
	if v > 1<<32 || wide {
		c.large++
	}
	if wide {
		c.wide++
	}
	if as == base.Binary || wide {
		c.hex, c.letters = c.hex+1, c.letters+1
		return true
	}
	short := notation == base.Auto && base.IsShort(cell)
	if as != base.Hex || len(cell) < 16 && !isPrefixed(cell) && !short {
		return false
	}
	c.hex++
	if hasLetter(cell) && !short {
		c.letters++
	}
	return hasLetter(cell)
}

// isLong reports whether two columns separated by a blank consist of a number too long to be part
// of a text, and a single word.
func isLong(cols [][]byte) bool {
	long := func(cell []byte) bool { return numberDigest.form.Match(cell) }
	return len(cols) == 2 && bytes.IndexByte(cols[1], ' ') < 0 && (long(cols[0]) || long(cols[1]))
}

// beginsWithDigit reports whether a cell is a number, possibly an invalid one, rather than the name
// of a column.
func beginsWithDigit(cell []byte) bool {
	cell = bytes.TrimLeft(cell, " +-")
	return len(cell) > 0 && cell[0] >= '0' && cell[0] <= '9'
}

// isPrefixed reports whether a fingerprint begins with 0x.
func isPrefixed(cell []byte) bool { return len(cell) > 2 && cell[1]|0x20 == 'x' }

// isList reports whether the file is a list of fingerprints.
func (s *sample) isList() bool {
	if slices.Contains(s.header, "text") {
		return false
	}
	if s.column[0].letters+s.column[1].letters > 0 && 2*s.sure >= s.lines || s.saysSo() && s.numbers > 0 && 2*s.numbers >= s.lines {
		return true
	}
	if s.lines == 0 || s.ragged || s.columns > 2 || s.numbers < s.lines || len(s.header) > 0 && len(s.header) != s.columns {
		return false
	}
	for i, c := range s.column {
		// A small number before words is more likely the ID of a text.
		if c.n == s.lines && !s.named(i, "id") && (s.columns == 1 || s.column[1-i].blanks == 0 || c.large > 0) {
			return true
		}
	}
	return false
}

// saysSo reports whether the options or the header say that the numbers are fingerprints.
func (s *sample) saysSo() bool { return s.declared || slices.Equal(s.header, []string{"id", "hash"}) }

// named reports whether the header gives a column one of these names.
func (s *sample) named(column int, names ...string) bool {
	return column < len(s.header) && slices.Contains(names, s.header[column])
}

// checksums matches usual names of columns of checksums.
var checksums = regexp.MustCompile(`^(md|sha|crc|xxh|blake|b2sum|b3sum|checksum|digest|etag|whirlpool|tiger)[-_0-9a-z]*$`)

// fingerprintNames are usual names of columns of fingerprints.
var fingerprintNames = []string{"fingerprint", "hash", "simhash", "fp", "ahash", "dhash", "phash", "whash", "pdq"}

func (s *sample) fingerprintColumn() (int, error) {
	if s.columns < 2 {
		return 0, nil
	}
	named := func(c int) bool { return s.named(c, fingerprintNames...) || s.named(1-c, "id") }
	tests := []func(c int) bool{
		func(c int) bool { return named(c) && 2*s.column[c].n >= s.lines },
		func(c int) bool { return 2*s.column[c].hex >= s.lines && s.column[c].letters > 0 },
		func(c int) bool { return 2*s.column[c].n >= s.lines },
		func(c int) bool { return 2*s.column[c].letters >= s.lines },
		func(c int) bool { return s.column[c].large > 0 },
		func(c int) bool { return s.column[c].gaps > 0 },
	}
	for i, test := range tests {
		switch a, b := test(0), test(1); {
		case a && !b:
			return 0, nil
		case b && !a:
			return 1, nil
		case i == 2 && !a: // no column has numbers: every line will be reported as an error
			return 0, nil
		}
	}
	return 0, fmt.Errorf("both columns could be the fingerprints; choose one with %s", option.Set("FingerprintField", "1", "2"))
}

// columns splits a line at its tabs or, if it has none, at its first run of blanks.
func columns(line []byte) [][]byte { return appendColumns(nil, line) }

func appendColumns(dst [][]byte, line []byte) [][]byte {
	if i := bytes.IndexByte(line, '\t'); i >= 0 {
		for ; i >= 0; i = bytes.IndexByte(line, '\t') {
			dst, line = append(dst, line[:i]), line[i+1:]
		}
		return append(dst, line)
	}
	line = bytes.TrimSpace(line)
	if i := bytes.IndexByte(line, ' '); i >= 0 {
		return append(dst, line[:i], bytes.TrimLeft(line[i:], " "))
	}
	return append(dst, line)
}

// hasLetter reports whether a number is certainly hexadecimal.
func hasLetter(cell []byte) bool { return bytes.ContainsAny(cell, "abcdefABCDEFxX") }
