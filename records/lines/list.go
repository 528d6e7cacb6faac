package lines

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// A list of fingerprints has one number per line, alone or next to an ID:
//
//	18446744073709551615          number
//	9f3c5a0011223344 TAB doc-1    number TAB id
//	doc-1 TAB 231231231231231     id TAB number
//
// A file with any name but .jsonl and .csv is read as a list if every line of its first block has
// one of these forms, except for a first line without a number, which is a header. It is also a
// list if at least half of the lines have a number that is certainly a fingerprint: 16 hexadecimal
// digits with a letter, or 0x, or any number if the user set the notation or the header is "id TAB
// hash". The other lines are then reported as errors, not read as texts.

// list parses lists of fingerprints.
type list struct {
	fp, id int  // columns; id is -1 if a line has only a number, whose ID is the line number
	prints      // applies to all numbers
	exact  bool // the options give the column numbers; there may be other columns
	header bool // the first line is not an entry of the list
}

// newList determines the notation and the columns of a list.
func newList(s *sample, opt records.Options) (*list, error) {
	l := &list{prints: prints{notation: opt.Fingerprints}, header: len(s.header) > 0 && !opt.NoHeader, id: 1}
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
	if opt.Format == Hashes && l.notation == base.Auto {
		l.notation = base.Decimal
	}
	if err == nil && l.fp < len(s.header) && s.column[l.fp].wide > 0 && checksums.MatchString(s.header[l.fp]) {
		err = fmt.Errorf("its column %q has checksums, which detect only equality; %s reads them as fingerprints", s.header[l.fp], option.Set("FingerprintField", strconv.Itoa(l.fp+1)))
	}
	return l, err
}

// numbered sets the columns from the numbers in the options.
func (l *list) numbered(s *sample, opt records.Options) error {
	l.exact = true
	for _, c := range []struct {
		name string
		s    string
		to   *int
	}{{"FingerprintField", opt.FingerprintField, &l.fp}, {"IDField", opt.IDField, &l.id}} {
		if c.s == "" {
			continue
		}
		n, err := strconv.Atoi(c.s)
		if err != nil || n < 1 {
			return fmt.Errorf("%s: the columns of a list of fingerprints have numbers, from 1", option.Set(c.name, c.s))
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

// columnOptions returns the names of the options that number columns.
func columnOptions() string {
	return option.Name("FingerprintField") + " and " + option.Name("IDField")
}

func (l *list) parse(raw []byte, rec *record) string {
	var space [2][]byte
	cols := appendColumns(space[:0], trimEOL(raw))
	switch {
	case l.exact:
	case l.id < 0 && len(cols) > 1:
		return fmt.Sprintf("%d columns where one number is expected (%s name the columns by number)", len(cols), columnOptions())
	case len(cols) > 2:
		return fmt.Sprintf("%d columns where a fingerprint and an id are expected (%s name the columns by number)", len(cols), columnOptions())
	}
	if l.fp >= len(cols) {
		return fmt.Sprintf("no fingerprint: %d columns", len(cols))
	}
	rec.Flaw = rec.setFingerprint(bytes.TrimSpace(cols[l.fp]), l.prints)
	switch {
	case l.id < 0:
		rec.Doc.ID = strconv.FormatInt(int64(rec.Pos), 10)
	case l.id < len(cols):
		rec.Doc.ID = string(cols[l.id])
	default:
		return "no id beside the fingerprint"
	}
	return rec.checkID(false)
}

// describe describes the notation of the list. base, such as "decimal", is "" if no number has
// shown it.
func (l *list) describe(base string) string {
	number, prints := strings.TrimSpace(base+" number"), "fingerprints"
	if l.bits > 64 {
		prints = fmt.Sprintf("fingerprints of %d bits", l.bits)
	}
	text := prints + ", one " + number + " a line (the id is the line's number)"
	switch {
	case l.exact && l.id >= 0:
		text = fmt.Sprintf("%s, %ss in column %d and ids in column %d", prints, number, l.fp+1, l.id+1)
	case l.id > l.fp:
		text = prints + ", " + number + " TAB id a line"
	case l.id >= 0:
		text = prints + ", id TAB " + number + " a line"
	}
	return text
}
