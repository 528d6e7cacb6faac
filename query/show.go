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
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/worddiff"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/record"
	"github.com/simdb/simdb/query/internal/syntax"
)

// shown is a bound SHOW.
type shown struct {
	columns []shownColumn
	ids     []int // indexes of the ids in a plain row
	texts   bool  // it reads texts and fields of documents
	words   bool  // it compares the words of both documents of a row
	entries bool  // it reads index entries of documents
}

// A shownColumn shows a cell of the plain row or, for the document that the row names, a value from
// its text and fields, which the function must not retain, or from its index entry.
type shownColumn struct {
	name  string
	at    int // index in a plain row; -1 for a value of a document
	doc   int // index in shown.ids
	of    func(c engine.Content) any
	entry func(e *engine.Doc) any
	words int // 1: the words that only the first document of the row has; 2: only the second; else 0
}

// wordColumns are the columns that compare the texts of both documents of a row.
var wordColumns = map[string]int{"lacks": 1, "adds": 2}

// documentColumns are the columns of a document in addition to its id and its fields.
var documentColumns = map[string]shownColumn{
	"text":         {of: func(c engine.Content) any { return string(c.Text) }},
	"fields":       {of: func(c engine.Content) any { return record.Raw(c.Fields) }},
	"time":         {entry: func(e *engine.Doc) any { return e.Time }},
	"expires":      {entry: func(e *engine.Doc) any { return e.Expires }},
	"seq":          {entry: func(e *engine.Doc) any { return json.RawMessage(strconv.FormatUint(e.Seq, 10)) }},
	"fingerprint":  {entry: func(e *engine.Doc) any { return record.Fingerprint(e.Fingerprints) }},
	"fingerprints": {entry: func(e *engine.Doc) any { return record.Fingerprints(e.Fingerprints) }},
}

// bindShow resolves SHOW for rows with the plain columns. ids names the columns that are ids of
// documents: "id", or "a" and "b"; with two, statements write fields as b.url. It returns nil if s
// is nil.
func (x *run) bindShow(s *syntax.Show, plain []string, ids ...string) (*shown, error) {
	if s == nil {
		return nil, nil
	}
	sh := &shown{}
	for _, id := range ids {
		sh.ids = append(sh.ids, slices.Index(plain, id))
	}
	for _, c := range s.Columns {
		if c.Name.Value == "*" {
			sh.columns = append(sh.columns, shownColumn{name: "*"}) // expand replaces it
			continue
		}
		col, err := x.bindColumn(sh, c.Name, plain, ids)
		if err != nil {
			return nil, err
		}
		sh.add(col)
	}
	return sh, nil
}

func (sh *shown) add(c shownColumn) {
	sh.texts = sh.texts || c.of != nil || c.words > 0
	sh.words = sh.words || c.words > 0
	sh.entries = sh.entries || c.entry != nil
	sh.columns = append(sh.columns, c)
}

// fewRows is the largest LIMIT + OFFSET for which SHOW * finds its columns in the documents of the
// rows. Otherwise it surveys all documents first, which reads them a second time.
const fewRows = 1000

// expand replaces each * by the columns of the plain rows, the fields of the documents, the text or
// fingerprint that documents are compared by, and their times. It returns the rows to show: if it
// had to read them, from memory.
func (sh *shown) expand(x *run, plain, ids []string, w window, rows iter.Seq2[Row, error]) (iter.Seq2[Row, error], error) {
	of := &jsonfield.Survey{Hold: x.Hold}
	var err error
	if first := w.First(); first >= 0 && first <= fewRows {
		var some []Row
		var named []string
		for row, err := range rows {
			if err != nil {
				return nil, err
			}
			some = append(some, row)
			for _, at := range sh.ids {
				named = append(named, row[at].(string))
			}
		}
		rows = fixed(some...)
		for d, failed := range x.Snap.Contents(x.Ctx, named) {
			if err = failed; err == nil {
				err = of.Look(d.Text, d.Fields)
			}
			if of.Given(); err != nil {
				break
			}
		}
	} else {
		of, err = x.survey()
	}
	if err != nil {
		return nil, err
	}
	columns := sh.columns
	sh.columns = nil
	for _, c := range columns {
		if c.isStar() {
			sh.addAll(x, of, plain, ids)
		} else {
			sh.columns = append(sh.columns, c)
		}
	}
	return rows, nil
}

func (c shownColumn) isStar() bool { return c.name == "*" }

// addAll adds the columns that * stands for, given a survey of the documents.
func (sh *shown) addAll(x *run, of *jsonfield.Survey, plain, ids []string) {
	for at, name := range plain {
		if name != "fields" { // its keys are columns of their own
			sh.add(shownColumn{name: name, at: at})
		}
	}
	for doc, id := range ids {
		prefix := ""
		if len(ids) > 1 {
			prefix = id + "."
		}
		for _, f := range of.Top.Sorted() {
			name, path := prefix+fieldName([]string{f.Key}), []string{f.Key}
			if prefix != "" {
				name = prefix + jsonfield.JoinPath(path)
			}
			sh.add(shownColumn{name: name, at: -1, doc: doc, of: x.ofField("", path)}) // no statement names it
		}
		by := "fingerprint"
		if of.Texts {
			by = "text"
		}
		for _, name := range []string{by, "time"} {
			if c := documentColumns[name]; !slices.Contains(plain, name) {
				sh.add(shownColumn{name: prefix + name, at: -1, doc: doc, of: c.of, entry: c.entry})
			}
		}
	}
}

// bindColumn resolves a column of SHOW.
func (x *run) bindColumn(sh *shown, t syntax.Token, plain, ids []string) (shownColumn, error) {
	path := syntax.Path(t)
	name := strings.ToLower(path[0])
	c := shownColumn{name: t.Value, at: -1}
	if len(path) == 1 && slices.Contains(plain, name) {
		return shownColumn{name: name, at: slices.Index(plain, name)}, nil
	}
	if c.words = wordColumns[name]; len(ids) > 1 && len(path) == 1 && c.words > 0 {
		return shownColumn{name: name, at: -1, words: c.words}, x.NeedTexts(t)
	}
	if c.words = 0; len(ids) > 1 {
		if c.doc = slices.Index(ids, name); c.doc < 0 || len(path) == 1 {
			hint := fmt.Sprintf("a row has %s, lacks, adds; write fields of a document as %s.text, %s.url", strings.Join(plain, ", "), ids[0], ids[1])
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
			c.of, c.entry = of.of, of.entry
			if c.of != nil {
				return c, x.NeedTexts(t)
			}
			return c, nil
		}
		if slices.Contains(jsonfield.Columns, name) {
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
	c.of = x.ofField(c.name, path)
	return c, x.NeedTexts(t)
}

// ofField returns a function that reads the value of a field.
func (x *run) ofField(name string, path []string) func(c engine.Content) any {
	field := x.Field(name, path)
	return func(c engine.Content) any { return record.Field(field.Of(c.Fields)) }
}

// missingColumn is the error for a column that only other kinds of rows have.
func missingColumn(t syntax.Token, name string) error {
	from := predicate.ComesFrom(name)
	if from != "" {
		from += "; "
	}
	return syntax.Errorf(t.Pos.Offset, from+"a field of that name is written fields."+name, "there is no %s to show", name)
}

// show sets the rows that a statement returns, with the columns of sh, which may be nil.
func (x *run) show(sh *shown, plain []string, w window, rows iter.Seq2[Row, error], ids ...string) error {
	if sh != nil && slices.ContainsFunc(sh.columns, shownColumn.isStar) {
		all, err := sh.expand(x, plain, ids, w, rows)
		if err != nil {
			return err
		}
		rows = all
	}
	x.answer(sh.names(plain), sh.rows(x, rows))
	return nil
}

// names returns the names of the columns.
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

// describe returns the step for EXPLAIN.
func (sh *shown) describe() string {
	l := "show " + strings.Join(sh.names(nil), ", ")
	switch {
	case sh.texts, slices.ContainsFunc(sh.columns, shownColumn.isStar):
		l += ": read the documents of the rows"
	case sh.entries:
		l += ": look up the rows"
	}
	return l
}

// Documents are read for many rows at a time, in storage order, so that each block is
// decoded once. The first batches are small, so that the first rows come soon. Once a batch would
// be no faster than reading all documents, batches grow to what memory allows: of the memory of a
// statement, one share for the rows and one for the values that they show.
const (
	firstShown  = 8
	shownGrowth = 8
	shownBlock  = 32  // at least this many documents are decoded together
	shownShare  = 4   // of the memory: 1/shownShare, for rows and for shown values each
	shownRow    = 512 // estimated bytes of a row without the values it shows
)

// A showing converts the plain rows of a statement to the rows of SHOW.
type showing struct {
	*shown
	x     *run
	some  []Row // rows whose documents have not been read
	next  int   // size of the next batch, in rows
	most  int   // upper bound of next
	room  int   // upper bound for the bytes of shown values in a batch
	given int64
	yield func(Row, error) bool
}

// rows converts plain rows to the rows of SHOW. A nil sh returns them unchanged.
func (sh *shown) rows(x *run, plain iter.Seq2[Row, error]) iter.Seq2[Row, error] {
	if sh == nil {
		return plain
	}
	return func(yield func(Row, error) bool) {
		room := int(x.DB.Metrics().Memory / shownShare)
		w := showing{shown: sh, x: x, next: firstShown, most: max(room/shownRow, 1), room: room, yield: yield}
		for row, err := range plain {
			if err != nil {
				if w.give() {
					yield(nil, err)
				}
				return
			}
			if w.some = append(w.some, row); len(w.some) >= w.wanted() && !w.give() {
				return
			}
		}
		w.give()
	}
}

// wanted returns the size of the next batch in rows: 1 if no documents are read.
func (w *showing) wanted() int {
	first := w.x.rows.showFirst
	switch {
	case !w.reads():
		return 1
	case first > 0:
		return int(min(int64(w.next), first-w.given))
	}
	return w.next
}

// reads reports whether the documents of the next row are read.
func (w *showing) reads() bool {
	first := w.x.rows.showFirst
	return (w.texts || w.entries) && (first == 0 || w.given < first)
}

// give yields the rows of a batch. If their shown values exceed the memory, it splits the batch.
func (w *showing) give() (more bool) {
	for rest := w.some; len(rest) > 0; {
		some := rest[:min(len(rest), w.most)]
		out, fit, err := w.fill(some)
		if errors.Is(err, errEnough) {
			w.most = max(min(fit, len(some)/2), 1)
			continue
		}
		if err != nil {
			w.yield(nil, err)
			return false
		}
		for _, row := range out {
			if err := w.x.Ctx.Err(); err != nil { // fill has read the documents of many rows before the first is yielded
				w.yield(nil, err)
				return false
			}
			if !w.yield(row, nil) {
				return false
			}
		}
		rest = rest[len(some):]
		w.given += int64(len(some))
	}
	w.some, w.next = w.some[:0], shownGrowth*w.next
	if float64(w.next)*shownBlock > w.x.Documents() {
		w.next = w.most
	}
	w.next = min(w.next, w.most)
	return true
}

// errEnough says that the shown values of a batch exceed the memory.
var errEnough = errors.New("enough documents")

// fill converts plain rows. It returns errEnough if the shown values exceed the memory; fit is how
// many documents were read up to there.
func (w *showing) fill(plain []Row) (out []Row, fit int, err error) {
	ids := make([]string, 0, len(plain)*len(w.ids))
	all := make(Row, len(plain)*len(w.columns))
	out = make([]Row, len(plain))
	for i, row := range plain {
		n := len(w.columns)
		out[i] = all[i*n : (i+1)*n : (i+1)*n]
		for j, c := range w.columns {
			if c.at >= 0 {
				out[i][j] = row[c.at]
			}
		}
		for _, at := range w.ids {
			id, _ := row[at].(string)
			ids = append(ids, id)
		}
	}
	if !w.reads() {
		return out, 0, nil
	}
	size := 0
	cell := func(i, j int, v any) {
		out[i/len(w.ids)][j] = v
		size += record.Size(v)
	}
	if w.entries {
		if err := w.lookUp(ids, cell); err != nil {
			return nil, 0, err
		}
	}
	if w.texts {
		compare := w.comparer(len(plain), cell)
		for content, failed := range w.x.Snap.Contents(w.x.Ctx, ids) {
			if failed != nil {
				return out, fit, failed
			}
			i := content.Index
			size += compare(content)
			for j, c := range w.columns {
				if c.of != nil && c.doc == i%len(w.ids) {
					cell(i, j, c.of(content))
				}
			}
			if fit++; size > w.room && len(plain) > 1 {
				return out, fit, errEnough
			}
		}
	}
	return out, fit, err
}

// comparer returns a function that fills the cells of wordColumns once it has received the texts of
// both documents of a row. It returns the memory for a text in bytes.
func (w *showing) comparer(rows int, cell func(i, j int, v any)) func(c engine.Content) int {
	if !w.words {
		return func(engine.Content) int { return 0 }
	}
	of, _ := features.Spec(w.x.DB.Options().Features).Canonical() // a database has valid features only
	texts := make([][2]string, rows)
	return func(c engine.Content) int {
		pair := &texts[c.Index/2]
		pair[c.Index%2] = string(c.Text)
		if pair[0] == "" || pair[1] == "" || len(pair[0]) > mostDiffed || len(pair[1]) > mostDiffed {
			return len(c.Text)
		}
		lacks, adds := worddiff.Words(of.Words(pair[0]), of.Words(pair[1]))
		for j, column := range w.columns {
			if column.words > 0 {
				cell(c.Index, j, []string{lacks, adds}[column.words-1])
			}
		}
		return len(c.Text)
	}
}

// lookUp fills the cells that show index entries of the documents.
func (w *showing) lookUp(ids []string, cell func(i, j int, v any)) error {
	for i, id := range ids {
		e, err := w.x.Snap.Lookup(w.x.Ctx, id)
		if errors.Is(err, engine.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		for j, c := range w.columns {
			if c.entry != nil && c.doc == i%len(w.ids) {
				cell(i, j, c.entry(&e))
			}
		}
	}
	return nil
}
