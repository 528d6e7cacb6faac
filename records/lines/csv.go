package lines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// rows is the cutter of CSV: a newline between quotes does not end a record. As in RFC 4180, a
// quote has a meaning only at the beginning of a field, so 5" is ordinary text.
type rows struct {
	sep   byte // separates fields
	state byte
}

const (
	fieldStart = iota
	inField
	inQuotes
	quoteInQuotes // after the closing quote, or the first of a doubled quote
)

func (c *rows) end(p []byte) int {
	for i := 0; i < len(p); i++ {
		switch ch := p[i]; {
		case c.state == inQuotes:
			j := bytes.IndexByte(p[i:], '"')
			if j < 0 {
				return -1
			}
			i += j
			c.state = quoteInQuotes
		case ch == '\n':
			c.state = fieldStart
			return i + 1
		case ch == c.sep:
			c.state = fieldStart
		case ch == '"' && c.state == fieldStart, ch == '"' && c.state == quoteInQuotes:
			c.state = inQuotes
		default:
			c.state = inField
		}
	}
	return -1
}

func (c *rows) open() string {
	if c.state == inQuotes {
		return "a quoted field is not closed"
	}
	return ""
}

// cutRow appends the fields of a CSV record to fields.
func cutRow(fields []string, raw []byte, sep byte) []string {
	s := trimEOL(raw)
	for {
		if len(s) == 0 || s[0] != '"' {
			i := bytes.IndexByte(s, sep)
			if i < 0 {
				return append(fields, string(s))
			}
			fields = append(fields, string(s[:i]))
			s = s[i+1:]
			continue
		}
		field, rest, more := cutQuoted(s[1:], sep)
		fields = append(fields, field)
		if !more {
			return fields
		}
		s = rest
	}
}

// cutQuoted returns the field whose opening quote is before s, and the rest of the row after the
// next separator. Text between the closing quote and the separator belongs to the field.
func cutQuoted(s []byte, sep byte) (field string, rest []byte, more bool) {
	var b []byte
	for {
		i := bytes.IndexByte(s, '"')
		if i < 0 {
			return string(append(b, s...)), nil, false
		}
		b = append(b, s[:i]...)
		s = s[i+1:]
		if len(s) == 0 || s[0] != '"' {
			break
		}
		b = append(b, '"')
		s = s[1:]
	}
	i := bytes.IndexByte(s, sep)
	if i < 0 {
		return string(append(b, s...)), nil, false
	}
	return string(append(b, s[:i]...)), s[i+1:], true
}

// cutTabs appends the fields of a TSV record to fields.
func cutTabs(fields []string, raw []byte) []string {
	for s := range bytes.SplitSeq(trimEOL(raw), []byte("\t")) {
		fields = append(fields, string(s))
	}
	return fields
}

// table parses the rows of CSV and TSV.
type table struct {
	cut      func([]string, []byte) []string
	keys     []string // JSON-encoded keys of Fields, by column; "" for columns that are not in Fields
	id, fp   int      // columns; -1 for none
	texts    []int    // columns that are joined to the text
	weighted bool     // joined as engine.JoinFields does
	makeID   bool
	prints
}

// newTable makes a table with columns of these names, which come from the header; with
// Options.NoHeader they are the cells of the first row.
func newTable(names []string, cut func([]string, []byte) []string, opt records.Options) (*table, error) {
	if opt.NoHeader {
		for i := range names {
			names[i] = strconv.Itoa(i + 1)
		}
		if opt.IDField == "" && opt.IDFrom == "" {
			opt.IDField = "1"
		}
		if opt.TextField == "" && opt.FingerprintField == "" && opt.Fields == nil && opt.SetField == "" {
			opt.TextField = "2"
		}
	}
	t := &table{cut: cut, weighted: opt.Fields != nil, makeID: opt.MakeID, prints: prints{opt.Fingerprints, opt.Bits}}
	t.id, t.fp = column(names, opt.IDField, "id"), column(names, opt.FingerprintField, "fingerprint")
	if opt.IDFrom != "" {
		t.id = -1
	}
	type wanted struct {
		at         int
		want, name string
		field      string
		needed     bool
	}
	all := []wanted{{t.id, opt.IDField, "id", opt.Call("IDField"), !opt.MakeID}}
	for _, name := range textColumns(names, opt) {
		at := column(names, name, "text")
		if at >= 0 {
			t.texts = append(t.texts, at)
		}
		all = append(all, wanted{at, name, "text", opt.TextOption(), t.fp < 0 && !opt.NoText})
	}
	all = append(all, wanted{t.fp, opt.FingerprintField, "fingerprint", "FingerprintField", false})
	for _, c := range all {
		if c.at < 0 && (c.want != "" || c.needed) {
			want, orMake := orDefault(c.want, c.name), ""
			if c.name == "id" && c.want == "" {
				orMake = ", " + madeIDs()
			}
			if c.name == "text" && c.want == "" {
				orMake = ", " + option.Name("FingerprintField") + " one with fingerprints"
			}
			return nil, fmt.Errorf("there is no column %q%s; %s names another%s, %s reads the first line as data%s",
				want, records.Among("there are", names, want), option.Name(c.field), orMake, option.Name("NoHeader"), orRead(names, opt))
		}
		if c.at < 0 {
			continue
		}
		if second := slices.Index(names[c.at+1:], names[c.at]); second >= 0 && names[c.at] != "" {
			return nil, fmt.Errorf("columns %d and %d are both called %q: choose one with %s",
				c.at+1, c.at+second+2, names[c.at], option.Set(c.field, strconv.Itoa(c.at+1), strconv.Itoa(c.at+second+2)))
		}
	}
	t.nameFields(names)
	return t, nil
}

// hexCell matches hexadecimal numbers. With fewer than 16 digits they are not detected as fingerprints.
var hexCell = regexp.MustCompile(`^(?:0[xX])?([0-9A-Fa-f]{6,256})$`)

// orRead advises on a first line without usable names: it may be a comment, or have a fingerprint.
func orRead(names []string, opt records.Options) string {
	at := slices.IndexFunc(names, func(name string) bool { return hexCell.MatchString(name) && strings.ContainsAny(name, "0123456789") })
	first := strings.Join(names[:min(2, len(names))], "") // the first name may be empty: the column of row names
	switch {
	case opt.Comment == 0 && first != "" && strings.IndexByte("#%;", first[0]) >= 0:
		return fmt.Sprintf(", %s leaves out lines that begin with it", option.Set("Comment", first[0]))
	case at >= 0 && opt.FingerprintField == "" && opt.Fingerprints == base.Auto:
		with := []string{option.Set("FingerprintField", strconv.Itoa(at+1))}
		if len(hexCell.FindStringSubmatch(names[at])[1]) < 16 {
			with = append(with, option.Set("Fingerprints", base.Hex))
		}
		return fmt.Sprintf(" (with %s, if column %d has fingerprints)", option.All(with...), at+1)
	}
	return ""
}

// nameFields makes the keys of the columns that become Fields. A column without a name gets its
// number; a repeated name gets a number as suffix.
func (t *table) nameFields(names []string) {
	taken := make(map[string]bool, len(names))
	for _, n := range names {
		taken[n] = true
	}
	seen := make(map[string]bool, len(names))
	for i, n := range names {
		if n == "" {
			n = strconv.Itoa(i + 1)
		}
		key := n
		for again := 2; seen[key] || again > 2 && taken[key]; again++ {
			key = n + "_" + strconv.Itoa(again)
		}
		seen[key] = true
		t.keys = append(t.keys, string(records.AppendString(nil, key)))
	}
	for _, at := range append(slices.Clone(t.texts), t.id, t.fp) {
		if at >= 0 {
			t.keys[at] = ""
		}
	}
}

// textColumns returns the names of the columns that are joined to the text. A column whose name is
// the whole of TextField has precedence over its comma-separated parts. "" stands for the default
// column.
func textColumns(names []string, opt records.Options) []string {
	switch {
	case opt.Fields != nil || opt.SetField != "":
		return opt.TextFields()
	case slices.Contains(names, opt.TextField):
		return []string{opt.TextField}
	}
	return strings.Split(opt.TextField, ",")
}

// madeIDs advises how to have IDs made where a file has none.
func madeIDs() string { return option.Set("IDFrom", records.IDFromLine) + " makes ids" }

// column returns the index of the column that want names, or numbers from 1. An empty want means
// byDefault.
func column(names []string, want, byDefault string) int {
	name := orDefault(want, byDefault)
	for i, n := range names {
		if n == name {
			return i
		}
	}
	for i, n := range names {
		if strings.EqualFold(strings.TrimSpace(n), name) {
			return i
		}
	}
	if n, err := strconv.Atoi(want); err == nil && n >= 1 && n <= len(names) {
		return n - 1
	}
	return -1
}

// parse makes a document of a row. Columns other than the ID, the text and the fingerprint become
// Fields, in their order.
func (t *table) parse(raw []byte, rec *record) string {
	cols := t.cut(make([]string, 0, len(t.keys)), raw)
	if n := len(t.keys); len(cols) > n && slices.ContainsFunc(cols[n:], func(cell string) bool { return cell != "" }) {
		// It is unknown which cell moved to which column.
		if rec.Flaw = fmt.Sprintf("%d columns where the header has %d", len(cols), n); !t.makeID {
			return rec.Flaw
		}
		return rec.checkID(true)
	}
	for len(cols) < len(t.keys) {
		cols = append(cols, "")
	}
	for _, at := range t.texts {
		cols[at] = notNull(cols[at])
	}
	d := &rec.Doc
	if t.id >= 0 {
		d.ID = notNull(cols[t.id])
	}
	t.setText(d, cols)
	if t.fp >= 0 && notNull(cols[t.fp]) != "" {
		rec.Flaw = rec.setFingerprint(bytes.TrimSpace([]byte(cols[t.fp])), t.prints)
	}
	d.Fields = t.fields(cols)
	return rec.checkID(t.makeID)
}

// notNull returns a cell, or "" if it is \N, which databases write for null in text files.
func notNull(cell string) string {
	if cell == `\N` {
		return ""
	}
	return cell
}

func (t *table) setText(d *engine.Doc, cols []string) {
	if t.weighted {
		values := make([]string, len(t.texts))
		for i, c := range t.texts {
			values[i] = records.ValidText(cols[c])
		}
		d.Text = engine.JoinFields(values...)
		return
	}
	for _, c := range t.texts {
		d.Text = joinText(d.Text, records.ValidText(cols[c]))
	}
}

func (t *table) fields(cols []string) json.RawMessage {
	var b []byte
	for i, c := range cols[:len(t.keys)] {
		if t.keys[i] == "" {
			continue
		}
		if b == nil {
			b = append(b, '{')
		} else {
			b = append(b, ',')
		}
		b = append(b, t.keys[i]...)
		b = append(b, ':')
		b = records.AppendString(b, c)
	}
	if b == nil {
		return nil
	}
	return append(b, '}')
}

// separators are the usual separators of columns.
var separators = []byte{';', '\t', '|', ',', ':'}

// hintSeparator explains err, an error in a header: another separator may yield the required
// columns.
func hintSeparator(err error, raw []byte, sep byte, opt records.Options) error {
	opt.NoHeader = false
	whole := len(cutRow(nil, raw, sep)) == 1
	for _, s := range separators {
		if s == sep {
			continue
		}
		cut := func(fields []string, raw []byte) []string { return cutRow(fields, raw, s) }
		if _, e := newTable(cut(nil, raw), cut, opt); e == nil {
			return fmt.Errorf("its columns are separated by %q: %s", s, option.Set("Delimiter", s))
		}
	}
	for _, s := range separators {
		if whole && len(cutRow(nil, raw, s)) > 1 {
			return fmt.Errorf("%w; use %s if that separates columns", err, option.Set("Delimiter", s))
		}
	}
	return err
}
