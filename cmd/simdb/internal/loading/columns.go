package loading

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/simdb/simdb/cmd/simdb/internal/parquet"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/lines"
	"github.com/simdb/simdb/records/stored"
	"github.com/simdb/simdb/repl/output"
)

// kind is a set of types of JSON values.
type kind uint8

const (
	isText kind = 1 << iota
	isBool
	isWhole // an integer of 64 bits
	isReal  // another number that a float64 represents exactly
	isOther // null, a list, an object, another number
)

// realDigits is the largest number of digits of an integer that a float64 is sure to represent.
const realDigits = 15

// kindOf returns the type of a JSON value.
func kindOf(v []byte) kind {
	switch c := v[0]; {
	case c == '"' && bytes.Contains(v, []byte(`\u`)) && strings.ContainsRune(jsonfield.Text(v), utf8.RuneError):
		return isOther // half of a UTF-16 surrogate pair
	case c == '"':
		return isText
	case c == 't' || c == 'f':
		return isBool
	case c != '-' && (c < '0' || c > '9'):
		return isOther
	}
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil && strconv.FormatInt(n, 10) == string(v) {
		return isWhole
	}
	x, err := strconv.ParseFloat(string(v), 64)
	if back := strconv.FormatFloat(x, 'g', -1, 64); err != nil || quantity.ParseDecimal(back).Compare(quantity.ParseDecimal(string(v))) != 0 {
		return isOther
	}
	return isReal
}

// column is a field. All documents that have the field have it in the same column.
type column struct {
	at    int
	kinds kind
	large bool // an integer has more digits than a float64 represents
	n     int64
}

// columns describes the columns of a table of documents.
type columns struct {
	form    *stored.Form
	csv     bool
	names   []string // names of fields
	fields  map[string]*column
	prints  bool // some documents have fingerprints
	expire  bool // some documents expire by themselves, and that is written
	strings bool // all fields are strings, and no document lacks one
}

// findColumns reads all documents to find the columns and their types.
func (x *export) findColumns() error {
	form, err := stored.NewForm(x.db.DB.Options(), x.opt)
	if err != nil {
		return err
	}
	form.Time, form.Expires = x.db.TimeField, x.db.ExpiresField
	t := &columns{form: form, csv: x.format == output.CSV, fields: map[string]*column{}, strings: true}
	n := int64(0)
	err = x.each("find columns", records.NeedDoc, func(_ records.Source, rec *records.Record) error {
		n++
		return t.add(rec)
	})
	for _, f := range t.fields {
		t.strings = t.strings && f.kinds == isText && f.n == n
	}
	x.table = t
	return err
}

// add notes the columns of a document.
func (t *columns) add(rec *records.Record) error {
	d := &rec.Doc
	t.prints = t.prints || d.Fingerprints != nil
	t.expire = t.expire || t.form.Expires != "" && !d.Expires.IsZero()
	texts, err := t.form.TextsOf(d)
	switch {
	case err != nil:
		return err
	case len(d.Fingerprints) > 1:
		return fmt.Errorf("the document %q has several fingerprints: export it as JSON lines", d.ID)
	case len(texts) != len(t.form.Texts):
		return fmt.Errorf("the document %q has none of the fields of the text: export it as JSON lines", d.ID)
	case t.csv && (d.ID == `\N` || slices.Contains(texts, `\N`)):
		return fmt.Errorf(`the document %q has the text or the id \N, which is null in CSV: export it as JSON lines`, d.ID)
	}
	if err := t.form.Check(d); err != nil || len(d.Fields) == 0 {
		return err
	}
	membersErr := lines.Members(d.Fields, func(name string, _, value []byte) {
		f := t.fields[name]
		if f == nil {
			f = &column{at: len(t.names)}
			t.fields[name], t.names = f, append(t.names, name)
			taken := func(n string) bool { return n != "" && strings.EqualFold(strings.TrimSpace(name), n) }
			switch i := slices.IndexFunc(t.form.Names(), taken); {
			case err != nil:
			case i >= 0:
				err = t.form.Clash(d.ID, t.form.Names()[i])
			case name == "":
				err = fmt.Errorf("the document %q has a field without a name: export it as JSON lines", d.ID)
			}
		}
		of := kindOf(value)
		f.kinds |= of
		f.large = f.large || of == isWhole && len(value) > realDigits
		f.n++
	})
	if err == nil {
		err = membersErr
	}
	return err
}

// like returns a value of the type of a field's column.
func (t *columns) like(name string) any {
	switch f := t.fields[name]; {
	case t.csv || f.kinds == isText:
		return ""
	case f.kinds == isBool:
		return false
	case f.kinds == isWhole:
		return int64(0)
	case f.kinds&^(isWhole|isReal) == 0 && !f.large:
		return 0.0
	}
	return json.RawMessage("null")
}

func (x *export) rows(to io.Writer) error {
	t := x.table
	all, like := append([]string{t.form.ID}, t.form.Texts...), []any{""}
	for range t.form.Texts {
		like = append(like, "")
	}
	for _, name := range t.names {
		all, like = append(all, name), append(like, t.like(name))
	}
	if t.prints {
		all, like = append(all, t.form.FingerprintField), append(like, "")
	}
	if t.form.Time != "" {
		all, like = append(all, t.form.Time), append(like, time.Time{})
	}
	if t.expire {
		all, like = append(all, t.form.Expires), append(like, time.Time{})
	}
	w := output.New(to, all, &output.Options{Format: x.format, Parquet: parquet.New, Like: like})
	row := make([]any, len(all))
	err := x.each("export", records.NeedDoc, func(_ records.Source, rec *records.Record) error {
		x.n++
		if err := t.fill(row, like, rec); err != nil {
			return err
		}
		return w.Row(row...)
	})
	if err != nil {
		w.Abandon()
		return err
	}
	return w.Close()
}

// fill sets the values of a row.
func (t *columns) fill(row, like []any, rec *records.Record) error {
	clear(row)
	d := &rec.Doc
	row[0] = d.ID
	texts, err := t.form.TextsOf(d)
	if err != nil {
		return err
	}
	for i, text := range texts {
		row[1+i] = text
	}
	at := 1 + len(t.form.Texts)
	if len(d.Fields) > 0 {
		err = lines.Members(d.Fields, func(name string, _, value []byte) {
			i := at + t.fields[name].at
			row[i] = valueOf(value, like[i], t.csv)
		})
	}
	at += len(t.names)
	if t.prints {
		if prints := stored.FingerprintTexts(d); prints != nil {
			row[at] = prints[0]
		}
		at++
	}
	if t.form.Time != "" {
		row[at] = d.Time
		at++
	}
	if t.expire && !d.Expires.IsZero() {
		row[at] = d.Expires
	}
	return err
}

// valueOf converts a JSON value to the type of its column; for CSV it returns the text of the
// value.
func valueOf(v []byte, like any, csv bool) any {
	switch like.(type) {
	case bool:
		return v[0] == 't'
	case int64:
		n, _ := strconv.ParseInt(string(v), 10, 64)
		return n
	case float64:
		x, _ := strconv.ParseFloat(string(v), 64)
		return x
	case json.RawMessage:
		return json.RawMessage(v)
	}
	if csv && kindOf(v) != isText {
		return string(v)
	}
	return jsonfield.Text(v)
}
