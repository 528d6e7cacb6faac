package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// shown is what SHOW makes of the rows of a statement.
type shown struct {
	columns []shownColumn
	ids     []int // cells of a plain row that name documents
	read    bool  // documents are read
	texts   bool  // with text and fields
}

// A shownColumn is a cell of a plain row, or what of is in a document that the row names.
type shownColumn struct {
	name string
	at   int // in a plain row; -1 for what is in a document
	doc  int // of shown.ids
	of   func(d *engine.Doc) any
}

// documentColumns are the columns that a document has in addition to its id and its fields.
var documentColumns = map[string]func(d *engine.Doc) any{
	"text":   func(d *engine.Doc) any { return d.Text },
	"time":   func(d *engine.Doc) any { return d.Time },
	"fields": func(d *engine.Doc) any { return rawOrNil(d.Fields) },
	"fingerprint": func(d *engine.Doc) any {
		return fingerprintOrNil(d.Words())
	},
	"fingerprints": func(d *engine.Doc) any {
		return fingerprintList(d.Fingerprints)
	},
}

// fingerprintList returns further fingerprints as rows have them: a JSON list of hexadecimal
// digits; nil for none.
func fingerprintList(fps [][]engine.Fingerprint) any {
	if len(fps) == 0 {
		return nil
	}
	list := []byte{'['}
	for i, words := range fps {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(base.AppendHexWords(append(list, '"'), words), '"')
	}
	return json.RawMessage(append(list, ']'))
}

// fingerprintOrNil returns a fingerprint as rows have it: a uint64, or of more than 64 bits a
// []uint64; nil for none.
func fingerprintOrNil(words []engine.Fingerprint) any {
	switch len(words) {
	case 0:
		return nil
	case 1:
		return words[0]
	}
	return words
}

func rawOrNil(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return raw
}

// bindShow resolves SHOW for rows that have the plain columns. ids names those of them that are ids
// of documents: "id", or "a" and "b", whose documents are then named as in b.url. It returns nil if
// s is nil.
func (x *run) bindShow(s *syntax.Show, plain []string, ids ...string) (*shown, error) {
	if s == nil {
		return nil, nil
	}
	sh := &shown{}
	for _, id := range ids {
		sh.ids = append(sh.ids, slices.Index(plain, id))
	}
	for _, c := range s.Columns {
		col, err := x.bindColumn(sh, c.Name, plain, ids)
		if err != nil {
			return nil, err
		}
		sh.read = sh.read || col.at < 0
		sh.columns = append(sh.columns, col)
	}
	return sh, nil
}

// bindColumn resolves a column of SHOW.
func (x *run) bindColumn(sh *shown, t syntax.Token, plain, ids []string) (shownColumn, error) {
	path := syntax.Path(t)
	name := strings.ToLower(path[0])
	c := shownColumn{name: t.Value, at: -1}
	if len(path) == 1 && slices.Contains(plain, name) {
		return shownColumn{name: name, at: slices.Index(plain, name)}, nil
	}
	if len(ids) > 1 {
		if c.doc = slices.Index(ids, name); c.doc < 0 || len(path) == 1 {
			hint := fmt.Sprintf("a row has %s, and what is in a document is written %s.text, %s.url", strings.Join(plain, ", "), ids[0], ids[1])
			return c, syntax.Errorf(t.Pos.Offset, hint, "unknown column %q", t.Value)
		}
		path = path[1:]
		name = path[0]
	}
	if len(path) == 1 {
		if of, ok := documentColumns[name]; ok {
			if len(ids) == 1 {
				c.name = name
			}
			c.of = of
			if name == "text" || name == "fields" {
				sh.texts = true
				return c, x.NeedTexts(t)
			}
			return c, nil
		}
		if slices.Contains(predicate.Columns, name) {
			return c, missingColumn(t, name)
		}
		if t.Type != syntax.Ident {
			return c, syntax.Errorf(t.Pos.Offset, "a field of that name is written fields."+name, "unknown column %q", name)
		}
	}
	if len(ids) == 1 {
		var err error
		if path, err = predicate.FieldPath(t); err != nil {
			return c, err
		}
	}
	sh.texts = true
	field := x.Field(c.name, path)
	c.of = func(d *engine.Doc) any { return fieldCell(field.Of(d.Fields)) }
	return c, x.NeedTexts(t)
}

// missingColumn is the error for a column that other rows have.
func missingColumn(t syntax.Token, name string) error {
	from := ""
	switch name {
	case "distance":
		from = "it comes from " + predicate.Measuring(predicate.Distance, predicate.Distance, "and") + "; "
	case "score", "error", "exact":
		from = "it comes from " + predicate.Measuring(predicate.Score, predicate.ExactScore, "and") + "; "
	}
	return syntax.Errorf(t.Pos.Offset, from+"a field of that name is written fields."+name, "there is no %s to show", name)
}

// fieldCell returns a value of a field as a value of a row: a string, a bool, an int64 for a whole
// number that fits, other values as they are written, and nil for nothing.
func fieldCell(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		return value.JSONText(raw)
	case 't', 'f':
		return raw[0] == 't'
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n
	}
	return slices.Clone(raw)
}

// names returns the columns of the rows.
func (sh *shown) names(plain []string) []string {
	if sh == nil {
		return plain
	}
	names := make([]string, len(sh.columns))
	for i, c := range sh.columns {
		names[i] = c.name
	}
	return names
}

// describe returns the step of EXPLAIN.
func (sh *shown) describe() string {
	l := "show " + strings.Join(sh.names(nil), ", ")
	switch {
	case sh.texts:
		l += ": read the documents of the rows"
	case sh.read:
		l += ": look up the rows"
	}
	return l
}

// Documents are read for some rows at a time, in the order in which they are stored: of few rows at
// first, so that the first come soon, and of no more than a number of bytes.
const (
	firstShown = 8
	mostShown  = 256
	shownBytes = 4 << 20
)

// rows yields plain rows as SHOW wants them. A nil sh leaves them as they are.
func (sh *shown) rows(x *run, plain iter.Seq2[Row, error]) iter.Seq2[Row, error] {
	if sh == nil {
		return plain
	}
	return func(yield func(Row, error) bool) {
		var some []Row
		most := firstShown
		if !sh.read {
			most = 1
		}
		give := func() (more bool) {
			more = sh.give(x, some, yield)
			some = some[:0]
			if sh.read {
				most = min(2*most, mostShown)
			}
			return more
		}
		for row, err := range plain {
			if err != nil {
				if give() {
					yield(nil, err)
				}
				return
			}
			if some = append(some, row); len(some) == most && !give() {
				return
			}
		}
		give()
	}
}

// give reads the documents of some plain rows and yields the rows. Where the documents are large it
// reads them one by one.
func (sh *shown) give(x *run, some []Row, yield func(Row, error) bool) (more bool) {
	out, err := sh.fill(x, some)
	if errors.Is(err, errEnough) {
		for i := range some {
			if !sh.give(x, some[i:i+1], yield) {
				return false
			}
		}
		return true
	}
	if err != nil {
		yield(nil, err)
		return false
	}
	for _, row := range out {
		if !yield(row, nil) {
			return false
		}
	}
	return true
}

// errEnough says that documents take more than shownBytes.
var errEnough = errors.New("enough documents")

// fill returns the rows that plain rows become, or errEnough.
func (sh *shown) fill(x *run, plain []Row) (out []Row, err error) {
	var ids []string
	for _, row := range plain {
		cells := make(Row, len(sh.columns))
		for j, c := range sh.columns {
			if c.at >= 0 {
				cells[j] = row[c.at]
			}
		}
		out = append(out, cells)
		for _, at := range sh.ids {
			id, _ := row[at].(string)
			ids = append(ids, id)
		}
	}
	cells := func(i int, d *engine.Doc) {
		for j, c := range sh.columns {
			if c.at < 0 && c.doc == i%len(sh.ids) {
				out[i/len(sh.ids)][j] = c.of(d)
			}
		}
	}
	switch {
	case !sh.read:
		return out, nil
	case !sh.texts:
		return out, lookUpEach(x, ids, cells)
	}
	size := 0
	return out, x.Snap.GetEach(x.Ctx, ids, func(i int, d engine.Doc) error {
		cells(i, &d)
		if size += len(d.Text) + len(d.Fields); size > shownBytes && len(plain) > 1 {
			return errEnough
		}
		return nil
	})
}

// lookUpEach calls fn for each of the documents that ids name, with neither text nor fields.
func lookUpEach(x *run, ids []string, fn func(i int, d *engine.Doc)) error {
	for i, id := range ids {
		e, err := x.Snap.Lookup(x.Ctx, id)
		if errors.Is(err, engine.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		d := engine.Doc{ID: id, Time: e.Time}
		d.SetFingerprint(e.Words()...)
		d.Fingerprints = e.Fingerprints
		fn(i, &d)
	}
	return nil
}
