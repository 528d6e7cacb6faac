package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/simdb/simdb/internal/fptext"
)

// A list of fingerprints has a number a line, beside an id or alone:
//
//	18446744073709551615          number
//	9f3c5a0011223344 TAB doc-1    number TAB id
//	doc-1 TAB 231231231231231     id TAB number
//
// Under any name but .jsonl and .csv a file is taken for one if every line of its first block is of one of these forms, but for
// a first line without a number, which is a header; or if at least half of the lines have a number that is surely a
// fingerprint, of 16 hexadecimal digits with a letter or with 0x, or with any number where the user says how fingerprints are
// written or the header is "id TAB hash": the others are mistakes to report then, not texts.

// list parses lists of fingerprints.
type list struct {
	fp, id   int             // columns; id is -1 for a number alone, whose ID is the line's number
	notation fptext.Notation // of all numbers
	exact    bool            // the columns were asked for by number; others may stand beside them
	header   bool            // the first line is none of the list
}

// sample is what the first block of a file has in its columns.
type sample struct {
	lines   int // without the header
	header  []string
	title   string // the header as it is written, cut
	columns int    // most columns that a line has
	ragged  bool   // lines differ in that
	numbers int    // lines with a number, alone or beside a tab
	sure    int    // lines of at most two columns with a number that is surely a fingerprint, by a letter among its digits
	other   string // the first line that has none, cut
	column  [2]numbers

	declared bool // the user says how fingerprints are written, so that there are some
}

// numbers is what a sample has in one column.
type numbers struct {
	n        int // lines that have a number in it
	hex      int // of them, of 16 hexadecimal digits or with 0x
	letters  int // of them, with a letter
	large    int // above 2^32
	blanks   int // lines that have blanks within it
	gaps     int // numbers that are not the one before plus one
	previous uint64
}

// newSample looks at the first lines of a file.
func newSample(lines [][]byte, notation fptext.Notation) *sample {
	s := &sample{declared: notation != fptext.Auto}
	for i, line := range lines {
		cols := columns(line)
		found, sure := slices.ContainsFunc(cols, func(cell []byte) bool {
			_, _, err := fptext.Parse(bytes.TrimSpace(cell), notation)
			return err == nil
		}), false
		if i == 0 && !found && !slices.ContainsFunc(cols, beginsWithDigit) {
			for _, c := range cols {
				s.header = append(s.header, strings.ToLower(string(bytes.TrimSpace(c))))
			}
			s.title = short(string(line))
			continue
		}
		s.lines++
		s.ragged = s.ragged || s.columns > 0 && len(cols) != s.columns
		s.columns = max(s.columns, len(cols))
		for c := range min(2, len(cols)) {
			cell := bytes.TrimSpace(cols[c])
			hex := s.column[c].add(cell, notation)
			// 0x1 before words is no fingerprint, but 0x1 alone or beside a tab is.
			sure = sure || hex && (len(cell) >= 16 || len(cols) == 1 || bytes.IndexByte(line, '\t') >= 0)
		}
		if found && (len(cols) == 1 || bytes.IndexByte(line, '\t') >= 0) {
			s.numbers++
		} else if s.other == "" {
			s.other = short(string(line))
		}
		if sure && len(cols) <= 2 {
			s.sure++
		}
	}
	if s.columns == 1 && !strings.Contains(s.title, "\t") && len(s.header) > 0 {
		s.header = []string{strings.ToLower(s.title)} // words over one column
	}
	return s
}

// add notes what a line has in the column, and says whether it is surely a fingerprint.
func (c *numbers) add(cell []byte, notation fptext.Notation) (sure bool) {
	if bytes.ContainsAny(cell, " \t") {
		c.blanks++
	}
	v, as, err := fptext.Parse(cell, notation)
	if err != nil {
		return false
	}
	if c.n > 0 && v != c.previous+1 {
		c.gaps++
	}
	c.n, c.previous = c.n+1, v
	if v > 1<<32 {
		c.large++
	}
	if as != fptext.Hex || len(cell) < 16 && !isPrefixed(cell) {
		return false
	}
	c.hex++
	if !hasLetter(cell) {
		return false
	}
	c.letters++
	return true
}

// beginsWithDigit says whether a cell is a number, if perhaps a wrong one, rather than the name of a column.
func beginsWithDigit(cell []byte) bool {
	cell = bytes.TrimLeft(cell, " +-")
	return len(cell) > 0 && cell[0] >= '0' && cell[0] <= '9'
}

// isPrefixed says whether a fingerprint begins with 0x.
func isPrefixed(cell []byte) bool { return len(cell) > 2 && cell[1]|0x20 == 'x' }

// hasLetter says whether a fingerprint is hexadecimal beyond doubt.
func hasLetter(cell []byte) bool { return bytes.ContainsAny(cell, "abcdefABCDEFxX") }

// isList says whether the file is a list of fingerprints.
func (s *sample) isList() bool {
	if slices.Contains(s.header, "text") {
		return false
	}
	if s.sure > 0 && 2*s.sure >= s.lines || s.saysSo() && s.numbers > 0 && 2*s.numbers >= s.lines {
		return true
	}
	if s.lines == 0 || s.ragged || s.columns > 2 || s.numbers < s.lines || len(s.header) > 0 && len(s.header) != s.columns {
		return false
	}
	for i, c := range s.column {
		// A small number before words is rather the id of a text.
		if c.n == s.lines && !s.named(i, "id") && (s.columns == 1 || s.column[1-i].blanks == 0 || c.large > 0) {
			return true
		}
	}
	return false
}

// saysSo says whether the user or the header calls the numbers fingerprints.
func (s *sample) saysSo() bool { return s.declared || slices.Equal(s.header, []string{"id", "hash"}) }

// named says whether the header gives a column one of these names.
func (s *sample) named(column int, names ...string) bool {
	return column < len(s.header) && slices.Contains(names, s.header[column])
}

// ListOf says how a file's content would be read as a list of fingerprints, "" if it is none.
func ListOf(name, content string) string {
	f, err := NewFile(name, io.NopCloser(strings.NewReader(content)), int64(len(content)), Options{})
	if err != nil {
		return ""
	}
	defer f.done()
	if _, ok := f.parse.(*list); !ok {
		return ""
	}
	return f.notice
}

// fingerprintNames are names that a column of fingerprints may have in a header.
var fingerprintNames = []string{"fingerprint", "hash", "simhash", "fp", "ahash", "dhash", "phash", "whash"}

var errWhichColumn = errors.New("both columns could be the fingerprints; --fingerprint-field 1 or 2 says which")

// fingerprintColumn returns the column with the fingerprints.
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
		case i == 2 && !a: // no column has numbers: every line will be reported
			return 0, nil
		}
	}
	return 0, errWhichColumn
}

// newList finds out how a list is written.
func newList(s *sample, opt Options) (*list, error) {
	l := &list{notation: opt.Fingerprints, header: len(s.header) > 0 && !opt.NoHeader, id: 1}
	if opt.FingerprintField != "" || opt.IDField != "" {
		if err := l.numbered(s, opt); err != nil {
			return nil, err
		}
		return l, nil
	}
	var err error
	switch {
	case s.columns == 1:
		l.id = -1
	case opt.Format == Hashes:
		l.fp, l.id = 1, 0
	default:
		l.fp, err = s.fingerprintColumn()
		l.id = 1 - l.fp
	}
	if opt.Format == Hashes && l.notation == fptext.Auto {
		l.notation = fptext.Decimal
	}
	return l, err
}

// numbered takes the columns that the options number.
func (l *list) numbered(s *sample, opt Options) error {
	l.exact = true
	for _, c := range []struct {
		name string
		s    string
		to   *int
	}{{"--fingerprint-field", opt.FingerprintField, &l.fp}, {"--id-field", opt.IDField, &l.id}} {
		if c.s == "" {
			continue
		}
		n, err := strconv.Atoi(c.s)
		if err != nil || n < 1 {
			return fmt.Errorf("%s %s: the columns of a list of fingerprints have numbers, from 1", c.name, c.s)
		}
		*c.to = n - 1
	}
	switch {
	case l.fp != l.id:
	case opt.FingerprintField == "":
		l.fp = 1 - min(1, l.id)
	default:
		l.id = 1 - min(1, l.fp)
	}
	if s.columns == 1 && opt.IDField == "" {
		l.id = -1
	}
	return nil
}

func (l *list) parse(raw []byte, rec *Record) string {
	var space [2][]byte
	cols := appendColumns(space[:0], trimEOL(raw))
	switch {
	case l.exact:
	case l.id < 0 && len(cols) > 1:
		return fmt.Sprintf("%d columns where one number is expected (--fingerprint-field and --id-field give the numbers of columns)", len(cols))
	case len(cols) > 2:
		return fmt.Sprintf("%d columns where a fingerprint and an id are expected (--fingerprint-field and --id-field give their numbers)", len(cols))
	}
	if l.fp >= len(cols) {
		return fmt.Sprintf("no fingerprint: %d columns", len(cols))
	}
	if reason := rec.setFingerprint(bytes.TrimSpace(cols[l.fp]), l.notation); reason != "" {
		return reason
	}
	switch {
	case l.id < 0:
		rec.Doc.ID = strconv.FormatInt(rec.Line, 10)
	case l.id < len(cols):
		rec.Doc.ID = string(cols[l.id])
	default:
		return "no id beside the fingerprint"
	}
	return checkID(rec, false)
}

// describe says how the list is written; decimal says that its numbers are.
func (l *list) describe(decimal bool) string {
	number := "hexadecimal number"
	if decimal {
		number = "decimal number"
	}
	text := "fingerprints, one " + number + " a line (the id is the line's number)"
	switch {
	case l.exact && l.id >= 0:
		text = fmt.Sprintf("fingerprints, %ss in column %d and ids in column %d", number, l.fp+1, l.id+1)
	case l.id > l.fp:
		text = "fingerprints, " + number + " TAB id a line"
	case l.id >= 0:
		text = "fingerprints, id TAB " + number + " a line"
	}
	if l.header {
		text += ", after a header"
	}
	return text
}

// columns cuts a line at its tabs or, where it has none, at its first run of blanks.
func columns(line []byte) [][]byte { return appendColumns(nil, line) }

// appendColumns appends the columns of a line to dst.
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
