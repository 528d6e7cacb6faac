package lines

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/jsontext"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// CanCut implements records.Cutter.
func (f *file) CanCut() error {
	switch {
	case f.info.FingerprintsOnly:
		return fmt.Errorf("%s has fingerprints but no texts", f.info.Name)
	case f.opt.Fields != nil || f.opt.SetField != "" || strings.Contains(f.opt.TextField, ","):
		return fmt.Errorf("one field of a record can be cut: %s names it", option.Name("TextField"))
	case f.group != nil:
		return fmt.Errorf("%s has records of several lines, and cutting them could join them", f.info.Name)
	case f.listed || f.members:
		return errors.New("the text is in a list or a map and cannot be cut")
	}
	return nil
}

// CutText implements records.Cutter.
func (f *file) CutText(rec *records.Record, keep []records.Span) []byte {
	switch p := f.parse.(type) {
	case *object:
		if from, to, ok := p.textIn(rec.Raw); ok {
			return cut(rec, from+1, to-1, keep, jsonChar, inJSON)
		}
	case *table:
		if from, to, ok := p.textIn(rec.Raw, f.separator(), f.info.Format == CSV); ok {
			return cutCell(rec, from, to, f.info.Format == CSV, keep)
		}
	case text:
		return cut(rec, 0, len(trimEOL(rec.Raw)), keep, plainChar, asIs)
	}
	return rec.Raw
}

// cut returns rec.Raw with its text, encoded in raw[from:to], reduced to the parts keep. It copies
// their encoded bytes; if it cannot find them, it encodes the parts with again.
func cut(rec *records.Record, from, to int, keep []records.Span, char func(s []byte) (size, n int), again func(string) []byte) []byte {
	out := append(make([]byte, 0, len(rec.Raw)), rec.Raw[:from]...)
	parts, ok := spans(rec.Raw[from:to], rec.Doc.Text, keep, char)
	if !ok {
		out = append(out, again(records.Parts(rec.Doc.Text, keep))...)
	}
	for _, p := range parts {
		out = append(out, rec.Raw[from+p.From:from+p.To]...)
		if p.From == p.To {
			out = append(out, ' ')
		}
	}
	return append(out, rec.Raw[to:]...)
}

func asIs(s string) []byte { return []byte(s) }

func inJSON(s string) []byte {
	b := records.AppendString(nil, s)
	return b[1 : len(b)-1]
}

func doubled(s string) []byte { return []byte(strings.ReplaceAll(s, `"`, `""`)) }

// textIn returns the position of the encoded text in a record, including its quotes.
func (o *object) textIn(raw []byte) (from, to int, ok bool) {
	s := trim(raw)
	var text found
	err := Members(s, func(key string, _, value []byte) { text.take(&o.texts[0], key, value) })
	if err != nil || len(text.value) < 2 || text.value[0] != '"' {
		return 0, 0, false
	}
	from = cap(raw) - cap(text.value) // both slices end at the end of raw's array
	return from, from + len(text.value), true
}

// spans returns the positions of parts of a text in its encoded bytes. char returns the length of
// the first character, encoded and decoded. spans reports false if it cannot find the parts.
func spans(written []byte, text string, keep []records.Span, char func(s []byte) (size, n int)) ([]records.Span, bool) {
	marks := make([]int, 0, 2*len(keep)) // offsets in the text, replaced by offsets in written
	for _, k := range keep {
		marks = append(marks, k.From, k.To)
	}
	next, at := 0, 0 // index of the next mark; offset in the text
	for i := 0; ; {
		for next < len(marks) && marks[next] == at {
			marks[next] = i
			next++
		}
		if i >= len(written) {
			break
		}
		size, n := char(written[i:])
		i, at = i+size, at+n
	}
	if next < len(marks) || at != len(text) {
		return nil, false
	}
	var out []records.Span
	for m := range slices.Chunk(marks, 2) {
		out = append(out, records.Span{From: m[0], To: m[1]})
	}
	return out, true
}

// jsonChar returns the length in bytes of the first character of a JSON string, encoded and
// decoded.
func jsonChar(s []byte) (size, n int) {
	if s[0] != '\\' || len(s) < 2 {
		return plainChar(s)
	}
	if s[1] != 'u' {
		return 2, 1
	}
	r := jsontext.Hex4(s)
	if r >= 0xd800 && r < 0xe000 {
		if low := jsontext.Hex4(s[min(6, len(s)):]); r < 0xdc00 && low >= 0xdc00 && low < 0xe000 {
			return 12, 4
		}
		r = utf8.RuneError
	}
	return 6, utf8.RuneLen(r)
}

// plainChar is jsonChar for an unescaped character. An invalid byte is U+FFFD in the text.
func plainChar(s []byte) (size, n int) {
	if s[0] < utf8.RuneSelf {
		return 1, 1
	}
	r, size := utf8.DecodeRune(s)
	if r == utf8.RuneError && size == 1 {
		return 1, utf8.RuneLen(utf8.RuneError)
	}
	return size, size
}

// cellChar is jsonChar for a quoted cell of CSV.
func cellChar(s []byte) (size, n int) {
	if s[0] == '"' {
		return min(2, len(s)), 1
	}
	return plainChar(s)
}

// textIn returns the position of the text in a row: the whole cell, including quotes.
func (t *table) textIn(raw []byte, sep byte, quotes bool) (from, to int, ok bool) {
	if len(t.texts) == 0 {
		return 0, 0, false
	}
	c := rows{sep: sep}
	s := trimEOL(raw)
	for col := 0; ; col++ {
		to = from
		for c.state = fieldStart; to < len(s) && (quotes && c.state == inQuotes || s[to] != sep); to++ {
			c.end(s[to : to+1])
		}
		if col == t.texts[0] {
			return from, to, true
		}
		if to >= len(s) {
			return 0, 0, false
		}
		from = to + 1
	}
}

// isSpace reports whether a part stands for a space. A space may be the separator of cells.
func isSpace(part records.Span) bool { return part.From == part.To }

// cutCell returns rec.Raw with its text, the cell raw[from:to], reduced to the parts keep.
func cutCell(rec *records.Record, from, to int, quotes bool, keep []records.Span) []byte {
	cell := rec.Raw[from:to]
	quoted := quotes && len(cell) > 0 && cell[0] == '"'
	switch {
	case quoted && len(cell) > 1 && cell[len(cell)-1] == '"':
		return cut(rec, from+1, to-1, keep, cellChar, doubled)
	case !quotes, !quoted && len(keep) > 0 && rec.Doc.Text[keep[0].From] != '"' && !slices.ContainsFunc(keep, isSpace):
		return cut(rec, from, to, keep, plainChar, asIs)
	}
	quote := []byte{'"'}
	return slices.Concat(rec.Raw[:from], quote, doubled(records.Parts(rec.Doc.Text, keep)), quote, rec.Raw[to:])
}
