package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// unit is the unit of positions in messages.
const unit = "row"

// maxFields limits the bytes of fields made for a row; no document may have as many.
const maxFields = 2 * records.MaxRecord

// rowReader makes records from the rows of a row group.
type rowReader struct {
	*layout
	cursors []*cursor // by number of the leaf column; nil for columns that are not read
	used    []*cursor // the cursors that are not nil
	size    int       // size in memory of the last row, in bytes
	wide    bool      // the fields of the row were too large, and are incomplete
}

// layout describes the columns of a file.
type layout struct {
	name     string // name of the file
	roles    roles
	formatID formatter // for an ID that is not text
	fields   *node     // the columns that become Doc.Fields, or nil
	peekID   bool      // another role reads the column of the ID after it
	peekFP   bool      // a text has the column of the fingerprint
	makeID   bool
	notation base.Notation
	bits     int // length of fingerprints
}

// share decides which roles leave the value of their column to another one, such as an id that is
// also the text. It returns the numbers of all leaf columns that roles have.
func (l *layout) share() (taken []int, err error) {
	is := func(role *pq.Column, leaf int) bool { return role != nil && role.Index() == leaf }
	for _, t := range l.roles.texts {
		for _, col := range leavesOf(t.col) {
			leaf := col.Index()
			if slices.Contains(taken, leaf) {
				return nil, fmt.Errorf("the column %q is named twice as a text", pathOf(col))
			}
			taken, l.peekID, l.peekFP = append(taken, leaf), l.peekID || is(l.roles.id, leaf), l.peekFP || is(l.roles.fp, leaf)
		}
	}
	if fp := l.roles.fp; fp != nil {
		taken, l.peekID = append(taken, fp.Index()), l.peekID || is(l.roles.id, fp.Index())
	}
	if l.roles.id != nil {
		taken = append(taken, l.roles.id.Index())
	}
	return taken, nil
}

// read returns the row at a position, which must be the next one. An error that is not an Issue
// means that the file is damaged.
func (r *rowReader) read(pos records.Position) (*records.Record, error) {
	rec := &records.Record{File: r.name, Pos: pos, End: pos, Raw: strconv.AppendInt(nil, int64(pos), 10)}
	reason, err := r.document(rec)
	if err != nil {
		return nil, err
	}
	for _, c := range r.used {
		switch v, err := c.peek(); {
		case err != nil:
			return nil, err
		case v != nil && v.RepetitionLevel() != 0:
			return nil, c.fail(fmt.Errorf("damaged: it has more values than the row"))
		}
	}
	d := &rec.Doc
	if r.size = len(d.Text) + len(d.Fields) + len(d.ID); r.wide {
		r.size = maxFields
	}
	if r.size > records.MaxRecord && reason == "" {
		reason = records.TooLarge(int64(r.size))
	}
	if reason != "" {
		return nil, &records.Issue{File: r.name, Pos: pos, Unit: unit, End: pos, Reason: reason, Raw: rec.Raw, Size: int64(len(rec.Raw))}
	}
	return rec, nil
}

// document fills in the document of a record. It returns the reason if it cannot, or "". It
// consumes all values of the row, unless there is an error.
func (r *rowReader) document(rec *records.Record) (reason string, err error) {
	d := &rec.Doc
	r.wide = false
	if r.fields != nil {
		b, err := r.members(nil, r.fields)
		if err != nil {
			return "", err
		}
		if len(b) > len("{}") {
			d.Fields = b
		}
	}
	if d.ID, reason, err = r.id(rec); err != nil {
		return "", err
	}
	if r.roles.fp != nil {
		v, err := r.cell(r.roles.fp, r.peekFP)
		if err != nil {
			return "", err
		}
		if !v.IsNull() && reason == "" {
			var words []uint64
			words, rec.Flaw = fingerprintOf(v, r.roles.fp, r.notation, r.bits)
			if words != nil {
				d.Fingerprints = []engine.Fingerprint{words}
			}
		}
	}
	d.Text, err = r.text(rec)
	return reason, err
}

// cell returns the value of a column in the row. again leaves it for another role.
func (r *rowReader) cell(col *pq.Column, again bool) (pq.Value, error) {
	c := r.cursors[col.Index()]
	if v, err := c.peek(); again && v != nil {
		return *v, err
	}
	return c.next()
}

func (r *rowReader) text(rec *records.Record) (string, error) {
	var few [4]string
	texts := few[:0]
	for i := range r.roles.texts {
		t := &r.roles.texts[i]
		var text string
		var err error
		if t.node == nil {
			text, err = r.textOf(t.col, rec)
		} else if value, failed := r.members(nil, t.node); failed != nil {
			err = failed
		} else if value = jsonfield.Exact(t.col.Path()).Of(value); t.json && value != nil {
			text = r.textIn(value, t, rec)
		} else {
			if !t.path.Arrived() {
				value = t.path.All(value)
			}
			text = jsonfield.Text(value)
		}
		if err != nil {
			return "", err
		}
		if r.roles.weighted || text != "" {
			texts = append(texts, text)
		}
	}
	if r.roles.weighted {
		return engine.JoinFields(texts...), nil
	}
	return strings.Join(texts, "\n"), nil
}

// textIn returns the texts in the JSON of a column.
func (r *rowReader) textIn(value []byte, t *textRole, rec *records.Record) string {
	text, ok := t.path.Text(value)
	if !ok {
		rec.Flaw = fmt.Sprintf("the column %q has lists or objects: %s reads its contents", pathOf(t.col),
			option.Set(r.roles.option, jsonfield.PathOfText(value, pathOf(t.col))))
	}
	return text
}

// textOf returns the text of a column in a row. Numbers are written in digits.
func (r *rowReader) textOf(col *pq.Column, rec *records.Record) (string, error) {
	v, err := r.cursors[col.Index()].next()
	if err != nil || v.IsNull() {
		return "", err
	}
	if !isText(col) {
		return string(unquoted(formatterOf(col.Type()))(nil, v)), nil
	}
	p := v.ByteArray()
	if !utf8.Valid(p) {
		rec.BadUTF8 = true
		return records.ValidText(string(p)), nil
	}
	return string(p), nil
}

// id returns the ID of a row, or the reason why it is unusable.
func (r *rowReader) id(rec *records.Record) (id, reason string, err error) {
	var v pq.Value
	if r.roles.id != nil {
		if v, err = r.cell(r.roles.id, r.peekID); err != nil {
			return "", "", err
		}
	}
	switch {
	case v.IsNull():
	case r.formatID != nil:
		id = string(r.formatID(nil, v))
	default:
		id = records.ValidText(string(v.ByteArray()))
	}
	switch {
	case id == "" && r.makeID:
		return r.name + ":" + strconv.FormatInt(int64(rec.Pos), 10), "", nil
	case v.IsNull():
		return "", fmt.Sprintf("no %q; %s names another", pathOf(r.roles.id), option.Name("IDField")), nil
	case id == "":
		return "", "the id is empty", nil
	case isFloat(r.roles.id) && !exact(v):
		return "", fmt.Sprintf("the id %s is not a whole number that %v represents exactly", id, r.roles.id.Type()), nil
	case len(id) > base.MaxIDBytes:
		return "", fmt.Sprintf("the id has %d bytes; the limit is %d", len(id), base.MaxIDBytes), nil
	}
	return id, "", nil
}

// exact reports whether a floating-point number is whole, and is small enough that no other whole
// number is stored as the same value.
func exact(v pq.Value) bool {
	if v.Kind() == pq.Float {
		f := v.Float()
		return f == float32(math.Trunc(float64(f))) && max(f, -f) < 1<<24
	}
	f := v.Double()
	return f == math.Trunc(f) && math.Abs(f) < 1<<53
}

// fingerprintOf reads a fingerprint of this many bits: a whole number (a negative one stands for
// the unsigned number with the same 64 bits), bytes, or a string in this notation. An empty string
// means no fingerprint.
func fingerprintOf(v pq.Value, col *pq.Column, notation base.Notation, bits int) (words []uint64, flaw string) {
	words = make([]uint64, bits/base.FingerprintBits)
	switch col.Type().Kind() {
	case pq.Int32:
		if words[0] = uint64(v.Uint32()); v.Int32() < 0 && !isUnsigned(col) {
			return nil, "the fingerprint is negative, and too short to have 64 bits"
		}
	case pq.Int64:
		words[0] = v.Uint64()
	case pq.FixedLenByteArray:
		fromBytes(words, v.ByteArray())
	default:
		text := strings.TrimSpace(string(v.ByteArray()))
		if text == "" {
			return nil, ""
		}
		_, err := base.ParseWords(words, text, notation)
		if err != nil && len(words) == 1 {
			words[0], _, err = base.ParseCell(text, notation)
		}
		if err != nil && len(v.ByteArray())*8 == bits && isBits(bits, col) {
			fromBytes(words, v.ByteArray())
		} else if err != nil {
			return nil, err.Error()
		}
	}
	return words, ""
}

// fromBytes sets the words of a fingerprint from its bytes.
func fromBytes(words []uint64, b []byte) {
	for i := range words {
		words[i] = binary.BigEndian.Uint64(b[i*base.FingerprintBytes:])
	}
}

// members appends the columns of a group as a JSON object. Null columns are left out.
func (r *rowReader) members(b []byte, n *node) ([]byte, error) {
	b = append(b, '{')
	empty := true
	for _, c := range n.children {
		if c.skip {
			continue
		}
		mark := len(b)
		if !empty {
			b = append(b, ',')
		}
		b = append(b, c.key...)
		start := len(b)
		var err error
		if b, err = r.value(b, c); err != nil {
			return nil, err
		}
		if len(b) == start { // the value is null
			b = b[:mark]
		} else {
			empty = false
		}
	}
	return append(b, '}'), nil
}

// value appends a column of the row. It appends nothing for null.
func (r *rowReader) value(b []byte, n *node) ([]byte, error) {
	switch {
	case n.repeated:
		return r.elements(b, n, n)
	case n.kind == leafNode:
		v, err := r.cursors[n.leaves[0]].next()
		if err != nil || v.IsNull() {
			return b, err
		}
		return n.format(b, v), nil
	}
	if n.optional {
		present, err := r.present(n)
		if err != nil || !present {
			return b, err
		}
	}
	switch n.kind {
	case listNode, mapNode:
		return r.elements(b, n.children[0], n)
	}
	return r.members(b, n)
}

// present reports whether a column is present in the row. If it is not, present consumes its
// values.
func (r *rowReader) present(n *node) (bool, error) {
	for i, leaf := range n.leaves {
		c := r.cursors[leaf]
		v, err := c.peek()
		if err != nil {
			return false, err
		}
		if i == 0 && v != nil && v.DefinitionLevel() >= n.def {
			return true, nil
		}
		if _, err := c.next(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// elements appends the elements of a repeated column in the row; outer is the list or map that
// contains it.
func (r *rowReader) elements(b []byte, n, outer *node) ([]byte, error) {
	open, end := byte('['), byte(']')
	if outer.kind == mapNode {
		open, end = '{', '}'
	}
	b = append(b, open)
	if present, err := r.present(n); err != nil || !present {
		return append(b, end), err
	}
	for first := true; ; first = false {
		if !first {
			b = append(b, ',')
		}
		var err error
		if b, err = r.element(b, n, outer); err != nil {
			return nil, err
		}
		v, err := r.cursors[n.leaves[0]].peek()
		if err != nil {
			return nil, err
		}
		if v == nil || v.RepetitionLevel() < n.rep {
			return append(b, end), nil
		}
		if len(b) > maxFields {
			b, r.wide = b[:0], true
		}
	}
}

// element appends one element of a repeated column, or one entry of a map.
func (r *rowReader) element(b []byte, n, outer *node) ([]byte, error) {
	one := *n
	one.repeated, one.optional = false, false
	what := &one
	start := len(b)
	var err error
	switch {
	case outer.kind == mapNode:
		if b, err = r.value(b, n.children[0]); err != nil {
			return nil, err
		}
		if len(b) == start || b[start] != '"' { // a key that is null or JSON
			b = records.AppendString(b[:start], string(b[start:]))
		}
		b = append(b, ':')
		start, what = len(b), n.children[1]
	case n.kind == listNode: // the group around an element
		what = n.children[0]
	}
	if b, err = r.value(b, what); err == nil && len(b) == start {
		b = append(b, "null"...)
	}
	return b, err
}

// unquoted formats an ID as a JSON string without quotes.
func unquoted(f formatter) formatter {
	return func(b []byte, v pq.Value) []byte {
		return bytes.Trim(f(b, v), `"`)
	}
}
