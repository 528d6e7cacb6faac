package arrow

import (
	"cmp"
	"context"
	bin "encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// Table is a set of rows in memory.
type Table struct {
	Rows    int64
	name    string
	t       *dataType // a structure that has all columns
	batches []batch
}

type batch struct {
	rows int64
	column
}

// NewTable returns a table without rows. Messages show its name.
func NewTable(name string, s *Schema) (*Table, error) {
	t, err := typeOf(s)
	if err == nil && t.kind != structure {
		err = fmt.Errorf("%s is not a table but an Arrow array of the type %q", name, t.format)
	}
	return &Table{name: name, t: t}, err
}

// Add adds rows. The array must have the type of the schema.
func (t *Table) Add(a *Array) {
	t.batches = append(t.batches, batch{a.Length, newColumn(t.t, a, 0)})
	t.Rows += a.Length
}

// Reset removes the rows.
func (t *Table) Reset() { t.batches, t.Rows = nil, 0 }

// WriteLines writes the rows as JSON lines, from which the same documents are read as from the table. The
// binary values of the column print, which are fingerprints, are written in hexadecimal.
func (t *Table) WriteLines(w io.Writer, print string) error {
	var line []byte
	for i := range t.batches {
		b := &t.batches[i]
		for row := range b.rows {
			line = append(line[:0], '{')
			for at := range b.children {
				c := &b.children[at]
				if c.isNull(row) && !c.t.isText() && c.t.kind != null {
					continue
				}
				if len(line) > 1 {
					line = append(line, ',')
				}
				line = append(records.AppendString(line, c.t.name), ':')
				if c.t.name == print && c.t.kind == fixed && !c.isNull(row) {
					line = fmt.Appendf(line, `"0x%x"`, c.bytes(row))
				} else {
					line = c.appendOrNull(line, row)
				}
			}
			if _, err := w.Write(append(line, '}', '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}

// Bytes returns the size of the strings in a column, as far as it is known without reading each
// string.
func (t *Table) Bytes(name string) (n int64) {
	at := t.index(name)
	for i := range t.batches {
		if at < 0 || t.batches[i].rows == 0 {
			continue
		}
		switch c := &t.batches[i].children[at]; c.t.kind {
		case text, binary:
			from, _ := c.span(0)
			_, to := c.span(t.batches[i].rows - 1)
			n += to - from
		case textView, binaryView:
			for row := range t.batches[i].rows {
				n += int64(len(c.bytes(row)))
			}
		}
	}
	return n
}

// Has reports whether there is a column with this name.
func (t *Table) Has(name string) bool { return t.index(name) >= 0 }

// index returns the number of the first column with this name, or -1.
func (t *Table) index(name string) int {
	return slices.IndexFunc(t.t.children, func(c *dataType) bool { return c.name == name })
}

// names returns the names of the columns.
func (t *Table) names() (names []string) {
	for _, c := range t.t.children {
		names = append(names, c.name)
	}
	return names
}

// Open starts reading the rows as documents. The position of a row is its number, counted from 1.
// Without an ID column, the ID of a row is its number, counted from 0.
func (t *Table) Open(opt records.Options) (records.Source, error) {
	s := &source{Table: t, opt: opt, id: -1, print: -1}
	err := s.findText()
	if err == nil {
		err = s.findID()
	}
	if err == nil {
		err = s.findPrint()
	}
	for _, at := range append([]int{s.id, s.print}, s.text...) {
		if err != nil || at < 0 {
			continue
		}
		name := s.t.children[at].name
		if slices.ContainsFunc(s.t.children[at+1:], func(c *dataType) bool { return c.name == name }) {
			err = fmt.Errorf("several columns are named %q", s.t.children[at].name)
		}
	}
	if err != nil {
		return nil, &records.ReadError{File: t.name, Pos: records.NoPosition, Err: err}
	}
	for i := range t.t.children {
		if i != s.id && i != s.print && !slices.Contains(s.text, i) {
			s.fields = append(s.fields, i)
		}
	}
	return s, nil
}

// source reads a table once. Columns are given by number, -1 if there is none.
type source struct {
	*Table
	opt       records.Options
	text      []int
	id, print int
	fields    []int
	bits      int // of fingerprints that are strings
	done      int64
}

// findText finds the columns with the text. If there are several, some may be missing.
func (s *source) findText() error {
	names, required := s.opt.TextFields(), s.opt.TextField != "" || s.opt.SetField != ""
	for _, name := range names {
		at := s.index(name)
		switch {
		case at < 0 && required:
			return fmt.Errorf("there is no column %q%s; %s names another", name, records.Among("its columns are", s.names(), name), option.Name(s.opt.TextOption()))
		case at < 0 && s.opt.Fields == nil:
			continue
		case at >= 0 && !s.readable(s.t.children[at]):
			return fmt.Errorf("the column %q has the Arrow type %q, which holds no texts", name, s.t.children[at].format)
		}
		s.text = append(s.text, at)
	}
	return nil
}

// readable reports whether the values of a column can be a text, or the set of a document.
func (s *source) readable(t *dataType) bool {
	return t.isText() || t.isInteger() || t.kind == null || s.opt.SetField != "" && t.isList() || s.opt.Weighted && (t.kind == structure || t.kind == mapping)
}

func (s *source) findID() error {
	name := cmp.Or(s.opt.IDField, "id")
	s.id = s.index(name)
	switch {
	case s.opt.IDFrom != records.IDFromField:
		return errors.New("ids of a table come from a column, or are the row numbers")
	case s.id >= 0:
		if t := s.t.children[s.id]; !t.isText() && !t.isInteger() {
			return fmt.Errorf("the column %q has the Arrow type %q: an id is a string or a whole number", name, t.format)
		}
	case s.opt.IDField != "" || !s.opt.MakeID:
		return fmt.Errorf("there is no column %q with ids%s; %s names another", name, records.Among("its columns are", s.names(), name), option.Name(s.opt.Call("IDField")))
	}
	return nil
}

func (s *source) findPrint() error {
	name := cmp.Or(s.opt.FingerprintField, "fingerprint")
	s.print = s.index(name)
	if s.print < 0 {
		if s.opt.FingerprintField != "" || len(s.text) == 0 && !s.opt.NoText {
			return fmt.Errorf("there is no column %q with texts and none %q%s; %s names another", strings.Join(s.opt.TextFields(), ","), name,
				records.Among("its columns are", s.names(), name), option.Name(s.opt.TextOption()))
		}
		return nil
	}
	switch t := s.t.children[s.print]; {
	case t.isInteger() && t.size == 8:
	case t.kind == fixed && t.size%base.FingerprintBytes == 0:
	case t.isText():
		if s.bits = s.printBits(); s.bits != base.FingerprintBits || s.opt.Fingerprints != base.Auto {
			return nil
		}
		return fmt.Errorf("the column %q has strings: fingerprints=\"hex\" or \"decimal\" says how they are written", name)
	case !t.isText():
		return fmt.Errorf("the column %q has the Arrow type %q: a fingerprint is a number of 64 bits, or binary of a fixed size of 8, 16, ... bytes", name, t.format)
	}
	return nil
}

// printBits returns the length of the fingerprints in a column of strings, of which the first decides; 0 if
// there is none.
func (s *source) printBits() int {
	for i := range s.batches {
		b := &s.batches[i]
		c := &b.children[s.print]
		for row := range b.rows {
			if c.isNull(row) {
				continue
			}
			if text := strings.TrimSpace(string(c.bytes(row))); text != "" {
				return cmp.Or(base.Widths(text, s.opt.Fingerprints)[0], base.FingerprintBits)
			}
		}
	}
	return 0
}

// Info implements records.Source.
func (s *source) Info() records.Info {
	info := records.Info{Name: s.name, PositionIDs: s.id < 0, FingerprintsOnly: s.print >= 0 && len(s.text) == 0}
	if s.print >= 0 {
		info.Bits = cmp.Or(s.bits, base.FingerprintBits)
		if t := s.t.children[s.print]; t.kind == fixed {
			info.Bits = 8 * t.size
		}
	}
	return info
}

// CanCut implements records.Cutter.
func (s *source) CanCut() error {
	if len(s.text) > 1 {
		return errors.New("a text of several columns cannot be cut")
	}
	return nil
}

// CutText implements records.Cutter: rows have no copies.
func (s *source) CutText(*records.Record, []records.Span) []byte { return nil }

// Progress implements records.Source, by rows.
func (s *source) Progress() (done, size int64) { return s.done, s.Rows }

// Close implements records.Source. It does not free the table.
func (s *source) Close() error { return nil }

// Records implements records.Source.
func (s *source) Records(ctx context.Context) iter.Seq2[*records.Record, error] {
	return func(yield func(*records.Record, error) bool) {
		rec := &records.Record{}
		for i := range s.batches {
			b := &s.batches[i]
			for row := range b.rows {
				if s.done++; s.done%1024 == 0 && ctx.Err() != nil {
					yield(nil, context.Cause(ctx))
					return
				}
				if s.done <= int64(s.opt.After) {
					continue
				}
				*rec = records.Record{File: s.name, Pos: records.Position(s.done), End: records.Position(s.done)}
				if err := s.document(rec, b, row); err != nil {
					err = &records.ReadError{File: s.name, Pos: records.Position(s.done), Unit: "row", Err: err}
					yield(nil, err)
					return
				}
				if !yield(rec, nil) {
					return
				}
			}
		}
	}
}

// document reads a row.
func (s *source) document(rec *records.Record, b *batch, row int64) (err error) {
	d := &rec.Doc
	if d.ID, err = s.idOf(rec, b, row); err != nil || s.opt.Need == records.NeedID {
		return err
	}
	if d.Text, err = s.textOf(rec, b, row); err != nil {
		return err
	}
	if s.print >= 0 && !b.children[s.print].isNull(row) {
		var words []uint64
		words, rec.Flaw = s.fingerprint(&b.children[s.print], row)
		if words != nil {
			d.Fingerprints = []engine.Fingerprint{words}
		}
	}
	if s.opt.Need <= records.NeedDoc {
		d.Fields = s.appendFields(nil, b, row)
	}
	if size := len(d.Text) + len(d.Fields); size > base.MaxTextBytes {
		return fmt.Errorf("the document has %d bytes; the limit is %d", size, base.MaxTextBytes)
	}
	return nil
}

// idOf returns the ID of a row.
func (s *source) idOf(rec *records.Record, b *batch, row int64) (string, error) {
	if s.id < 0 {
		return strconv.FormatInt(int64(rec.Pos)-1, 10), nil
	}
	c := &b.children[s.id]
	id := ""
	if !c.isNull(row) {
		id = stringOf(c, row, rec)
	}
	switch {
	case id == "" && s.opt.MakeID:
		return strconv.FormatInt(int64(rec.Pos)-1, 10), nil
	case id == "":
		return "", errors.New("it has no id")
	case len(id) > base.MaxIDBytes:
		return "", fmt.Errorf("the id has %d bytes; the limit is %d", len(id), base.MaxIDBytes)
	}
	return id, nil
}

// stringOf returns a string, or the digits of a number.
func stringOf(c *column, row int64, rec *records.Record) string {
	if !c.t.isText() {
		return string(c.append(nil, row))
	}
	p := c.bytes(row)
	if !utf8.Valid(p) {
		rec.BadUTF8 = true
		return records.ValidText(string(p))
	}
	return stringAt(p)
}

// textOf returns the text of a row.
func (s *source) textOf(rec *records.Record, b *batch, row int64) (string, error) {
	part := func(at int) string {
		if at < 0 || b.children[at].isNull(row) {
			return ""
		}
		c := &b.children[at]
		if c.t.isList() {
			return string(c.append(nil, row))
		}
		return stringOf(c, row, rec)
	}
	switch {
	case len(s.text) == 0:
		return "", nil
	case s.opt.Fields == nil && len(s.text) == 1:
		return part(s.text[0]), nil
	}
	parts := make([]string, len(s.text))
	for i, at := range s.text {
		parts[i] = part(at)
	}
	if s.opt.Fields == nil {
		return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n"), nil
	}
	return engine.JoinFields(parts...), nil
}

// fingerprint reads a fingerprint.
func (s *source) fingerprint(c *column, row int64) (words []uint64, flaw string) {
	switch {
	case c.t.isInteger():
		return []uint64{uint64(c.integer(row))}, ""
	case c.t.kind == fixed:
		for p := c.bytes(row); len(p) > 0; p = p[base.FingerprintBytes:] {
			words = append(words, bin.BigEndian.Uint64(p))
		}
		return words, ""
	}
	text := strings.TrimSpace(string(c.bytes(row)))
	if text == "" {
		return nil, ""
	}
	words = make([]uint64, s.bits/base.FingerprintBits)
	_, err := base.ParseWords(words, text, s.opt.Fingerprints)
	if err != nil && len(words) == 1 {
		words[0], _, err = base.ParseCell(text, s.opt.Fingerprints)
	}
	if err != nil {
		return nil, err.Error()
	}
	return words, ""
}

// appendFields appends the columns that are not text, ID or fingerprint, as a JSON object. It
// appends nothing if there are none, or if all are null.
func (s *source) appendFields(b []byte, of *batch, row int64) []byte {
	for _, at := range s.fields {
		c := &of.children[at]
		if c.isNull(row) {
			continue
		}
		if b == nil {
			b = append(b, '{')
		} else {
			b = append(b, ',')
		}
		b = append(records.AppendString(b, c.t.name), ':')
		b = c.append(b, row)
	}
	if b != nil {
		b = append(b, '}')
	}
	return b
}
