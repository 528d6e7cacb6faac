package input

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// text parses plain text: a line is a document.
type text struct{}

func (text) parse(raw []byte, rec *Record) string {
	rec.Doc.Text = toValid(string(trimEOL(raw)))
	return checkID(rec, true)
}

// fingerprints parses lists of fingerprints.
type fingerprints struct {
	fp, id int // columns; id is -1 if there is none
	parser func([]byte) (uint64, error)
	exact  bool // the columns were asked for by number; others may stand beside them
}

// newFingerprints finds out which column has the fingerprints from the first lines of the file.
func newFingerprints(head []byte, opt Options) (*fingerprints, error) {
	if opt.FingerprintField != "" || opt.IDField != "" {
		return numbered(opt)
	}
	score := [2]int{}
	cols := 1
	for _, line := range sampleLines(head) {
		c := columns(line)
		for i := range min(2, len(c)) {
			score[i] += likeness(c[i])
		}
		cols = max(cols, len(c))
	}
	f := &fingerprints{fp: 0, id: 1, parser: parseHex}
	if score[1] > score[0] {
		f.fp, f.id = 1, 0
	}
	if cols == 1 {
		f.id = -1
	}
	return f, nil
}

func numbered(opt Options) (*fingerprints, error) {
	f := &fingerprints{fp: 0, id: 1, parser: parseHex, exact: true}
	for _, c := range []struct {
		name string
		s    string
		to   *int
	}{{"--fingerprint-field", opt.FingerprintField, &f.fp}, {"--id-field", opt.IDField, &f.id}} {
		if c.s == "" {
			continue
		}
		n, err := strconv.Atoi(c.s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s %s: a list of fingerprints has no header, the column's number is needed, from 1", c.name, c.s)
		}
		*c.to = n - 1
	}
	if f.fp == f.id {
		f.id = 1 - min(1, f.fp)
	}
	return f, nil
}

func (f *fingerprints) parse(raw []byte, rec *Record) string {
	var space [2][]byte
	cols := appendColumns(space[:0], trimEOL(raw))
	if !f.exact && len(cols) > 2 {
		return fmt.Sprintf("%d columns where a fingerprint and an id are expected (--fingerprint-field and --id-field give their numbers)", len(cols))
	}
	if f.fp >= len(cols) {
		return fmt.Sprintf("no fingerprint: %d columns", len(cols))
	}
	fp, err := f.parser(cols[f.fp])
	if err != nil {
		return err.Error()
	}
	rec.Doc.Fingerprint = &fp
	switch {
	case f.id < 0:
		rec.Doc.ID = strconv.FormatInt(rec.Line, 10)
	case f.id < len(cols):
		rec.Doc.ID = string(cols[f.id])
	default:
		return "no id beside the fingerprint"
	}
	return checkID(rec, false)
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

// likeness says how much s looks like a fingerprint: 3 for 16 hexadecimal digits or 0x, 2 for more, 1 for fewer.
func likeness(s []byte) int {
	digits, prefixed := bytes.CutPrefix(bytes.ToLower(s), []byte("0x"))
	if len(digits) == 0 || len(bytes.Trim(digits, "0123456789abcdef")) > 0 {
		return 0
	}
	switch {
	case len(digits) == 16 || prefixed:
		return 3
	case len(digits) > 16:
		return 2
	}
	return 1
}

// ParseHex reads a 64-bit fingerprint: 1 to 16 hexadecimal digits, 0x before them or not.
func ParseHex(s string) (uint64, error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(s), "0x"), "0X")
	if len(digits) > 16 {
		return 0, fmt.Errorf("the fingerprint has %d digits, 64 bits are at most 16 hexadecimal digits", len(digits))
	}
	v, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || strings.HasPrefix(digits, "+") {
		return 0, fmt.Errorf("not a fingerprint: %s is not made of hexadecimal digits", strconv.Quote(short(s)))
	}
	return v, nil
}

// hexDigits are the values of hexadecimal digits; of other bytes they are 16 or more.
var hexDigits = func() (values [256]uint8) {
	for c := range values {
		values[c] = 16
	}
	for v := range uint8(16) {
		values["0123456789abcdef"[v]], values["0123456789ABCDEF"[v]] = v, v
	}
	return values
}()

// parseHex is ParseHex, faster for 16 digits.
func parseHex(s []byte) (uint64, error) {
	if len(s) != 16 {
		return ParseHex(string(s))
	}
	v, all := uint64(0), uint8(0)
	for _, c := range s {
		d := hexDigits[c]
		v, all = v<<4|uint64(d&15), all|d
	}
	if all > 15 {
		return ParseHex(string(s))
	}
	return v, nil
}

// parseDecimal reads a 64-bit fingerprint written as a decimal number.
func parseDecimal(b []byte) (uint64, error) {
	s := string(b)
	v, err := strconv.ParseUint(s, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("the fingerprint %s does not fit into 64 bits", short(s))
	case err != nil:
		return 0, fmt.Errorf("not a fingerprint: %s is not a decimal number", strconv.Quote(short(s)))
	}
	return v, nil
}

// short cuts s for a message.
func short(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
