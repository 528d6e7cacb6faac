package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/jsontext"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// head returns the beginning of the content, or of the part that Options.Records selects.
func (f *file) head() (head []byte, all bool, err error) {
	head, all = f.in.Head()
	if f.opt.Records == "" {
		return head, all, nil
	}
	within, err := io.ReadAll(newPartReader(bytes.NewReader(head), f.opt.Records))
	if err != nil && !all {
		err = nil // the part may come later
	}
	return within, all, err
}

// reader returns the content, or the part that Options.Records selects.
func (f *file) reader() io.Reader {
	if f.opt.Records == "" {
		return f.in.Reader()
	}
	return newPartReader(f.in.Reader(), f.opt.Records)
}

// inJSON decides where the records of JSON are: lines or values, the elements of an array, or the
// members of an object. It returns the format.
func (f *file) inJSON(format records.Format, head []byte, all bool) (records.Format, error) {
	s := bytes.TrimLeft(head, blank)
	switch {
	case format != JSON && format != JSONL, len(s) == 0:
		return format, nil
	case f.opt.Records != "":
		f.members, f.info.Shape = s[0] == '{', arrayShape
	case s[0] == '{':
		one := surveyObject(s, all, newObject(f.opt, false))
		switch {
		case one.digest != nil:
			return format, fmt.Errorf("the members of its object are %s: %s", one.digest.what, one.digest.advice())
		case one.table:
			return format, errors.New("it is one object with a list for each column: in pandas, to_json(orient='records', lines=True) writes rows")
		case one.path != "" && (all || !f.live):
			names := f.opt.TextFields()
			return format, fmt.Errorf("it is one object without %s%s: %s reads the records in it, %s names a text",
				quotedNames(names), fieldsOf(s, names[0]), option.Set("Records", one.path), option.Name(f.opt.TextOption()))
		}
		f.members = one.prints
	}
	if f.members {
		f.info.Shape = mapShape
		if f.opt.Records == "" {
			f.info.Notice = "a JSON object, each member an id and its fingerprint"
		}
	}
	if f.members || f.opt.Records != "" {
		return JSON, nil
	}
	return format, nil
}

// only describes a file that is a single object, and not a record.
type only struct {
	prints bool    // all members are fingerprints
	table  bool    // all members are columns
	digest *digest // the kind of digest that all members are
	path   string  // of the records, for Options.Records
}

// surveyObject examines a file that begins with the object s. It returns a zero value if the object
// is a record, or if more values follow it. all says that s is the whole file.
func surveyObject(s []byte, all bool, o *object) (one only) {
	end := jsontext.SkipValue(s, 0)
	complete := end < len(s) || all
	if complete && len(bytes.Trim(s[end:], blank)) > 0 {
		return only{}
	}
	var id, fp, text found
	in := recordsIn{object: o}
	columns := 0
	values, prints, objects, digests, members := 0, 0, 0, 0, 0 // members is the rank of objects as records
	partialMembers(s, func(key string, value []byte, whole bool) {
		id.take(&o.id, key, value)
		fp.take(&o.fp, key, value)
		for i := range o.texts {
			text.take(&o.texts[i], key, value)
		}
		values++
		if isColumn(value) {
			columns++
		}
		switch {
		case isPrint(value):
			prints++
		case value[0] == '{':
			if objects++; objects == 1 {
				members = in.rankOf(value, 0)
			}
		case value[0] == '"' && digestOf(bytes.Trim(value, `"`)) != nil:
			one.digest = digestOf(bytes.Trim(value, `"`))
			digests++
		case !whole: // the value is cut off at the end of the head
			prints, digests = prints+1, digests+1
		}
		in.look(value, key, 3)
	})
	one.path = in.path
	switch {
	case columns == values && values > 1:
		return only{table: true}
	case fp.value != nil || text.value != nil:
		return only{}
	case digests == values && values > 1 && one.digest != nil:
		return only{digest: one.digest}
	case prints == values && (values > 1 || complete && values == 1):
		return only{prints: true}
	case objects == values && values > 1 && members >= in.rank:
		return only{path: "."}
	}
	return only{path: one.path}
}

// isColumn reports whether a value has the cells of a column: a list of plain values, or an object
// whose first member is called 0, as pandas writes it.
func isColumn(value []byte) bool {
	next := jsontext.SkipBlank(value, 1)
	return value[0] == '[' && next < len(value) && value[next] != '{' || bytes.HasPrefix(value[min(next, len(value)):], []byte(`"0"`)) && value[0] == '{'
}

// partialMembers calls f for the members of an object; s may be only the beginning of the object.
func partialMembers(s []byte, f func(key string, value []byte, whole bool)) {
	for quoted, v := range jsonfield.Members(s) {
		f(string(quoted[1:len(quoted)-1]), v, cap(v)-len(v) > cap(s)-len(s))
	}
}

// recordsIn finds the records in an object: the list or object of objects whose first element has a
// text or a fingerprint; else one whose first element has an ID; else the longest.
type recordsIn struct {
	object *object // names the fields of records
	path   string
	rank   int // of the best value so far, 0 for none
}

// hasContent is the rank of records with a text or a fingerprint. Records with only an ID rank one
// lower.
const hasContent = math.MaxInt

// look ranks a value and the values in it.
func (in *recordsIn) look(value []byte, path string, depth int) {
	if depth == 0 {
		return
	}
	var first []byte
	if value[0] == '[' {
		if next := jsontext.SkipBlank(value, 1); next < len(value) && value[next] == '{' {
			first = value[next:]
		}
	}
	if first != nil {
		if rank := in.rankOf(first, len(value)); rank > in.rank {
			in.path, in.rank = path, rank
		}
	} else if value[0] == '{' {
		partialMembers(value, func(key string, v []byte, _ bool) { in.look(v, path+"."+key, depth-1) })
	}
}

// rankOf returns the rank of records, given the first one and the size of all records in bytes.
func (in *recordsIn) rankOf(first []byte, size int) int {
	var id, content found
	partialMembers(first, func(key string, value []byte, _ bool) {
		id.take(&in.object.id, key, value)
		content.take(&in.object.fp, key, value)
		for i := range in.object.texts {
			content.take(&in.object.texts[i], key, value)
		}
	})
	switch {
	case content.value != nil:
		return hasContent
	case id.value != nil:
		return hasContent - 1
	}
	return size
}

// partReader reads the part of JSON that a path selects, and also the newlines before it, so that
// the positions of records are those in the file. Each value of the top level may have such a part.
type partReader struct {
	r    io.Reader
	path jsonfield.Path // from the top level
	// need has the path within each value that the path leads through, outermost first. The
	// innermost of these values is at depth len(need).
	need []jsonfield.Path

	depth    int
	next     jsonfield.Path // path within the next value, if that is on the path
	onPath   bool           // the next value is on the path
	key      []byte         // the last string read, with its quotes
	quoted   bool
	escaped  bool
	passing  bool // the current bytes are passed to the reader
	passFrom int  // depth at which the passed part began
	found    bool
}

func newPartReader(r io.Reader, name string) *partReader {
	var path jsonfield.Path
	if name = strings.TrimSuffix(name, "[]"); name != "." {
		path = jsonfield.Parse(name)
	}
	return &partReader{r: r, path: path, next: path, onPath: true}
}

// Read reads the part. It returns an error if the path leads to none.
func (w *partReader) Read(p []byte) (int, error) {
	for {
		n, err := w.r.Read(p)
		kept := 0
		for _, c := range p[:n] {
			passed := w.passing
			if w.take(c); passed || w.passing || c == '\n' {
				p[kept] = c
				kept++
			}
		}
		switch {
		case kept > 0:
			return kept, nil
		case err == io.EOF && !w.found:
			return 0, fmt.Errorf("%s leads to neither a list nor an object", option.Set("Records", w.path.String()))
		case err != nil:
			return 0, err
		}
	}
}

func (w *partReader) take(c byte) {
	direct := w.depth == len(w.need) // in the innermost value on the path
	switch {
	case w.escaped:
		w.escaped = false
	case w.quoted:
		w.escaped = c == '\\'
		w.quoted = c != '"'
	case c == '"':
		w.quoted = true
		w.key = w.key[:0]
		w.onPath = false
	case c == ':' && direct && w.depth > 0 && !w.passing:
		w.next, w.onPath = w.need[w.depth-1].Step(jsontext.Unquote(w.key))
	case c == '{' || c == '[':
		w.open(c)
	case c == '}' || c == ']':
		w.close()
	case c == ',' && direct && w.inList():
		w.element()
	case c == ',', strings.IndexByte(blank, c) >= 0:
	default:
		w.onPath = false
	}
	if direct && !w.passing && (w.quoted || c == '"') {
		w.key = append(w.key, c)
	}
}

// open handles the beginning of an object or an array.
func (w *partReader) open(c byte) {
	on := w.onPath && !w.passing
	w.onPath = false
	switch {
	case on && w.next.Arrived():
		w.passing, w.passFrom, w.found = true, w.depth, true
	case on && c == '{':
		w.need = append(w.need, w.next)
	case on && w.next.Begins(jsonfield.Elements):
		w.need = append(w.need, w.next)
		w.element()
	}
	w.depth++
}

// inList reports whether the innermost value on the path is a list.
func (w *partReader) inList() bool {
	return len(w.need) > 0 && w.need[len(w.need)-1].Begins(jsonfield.Elements)
}

// element prepares for the next element of the list.
func (w *partReader) element() {
	w.next, w.onPath = w.need[len(w.need)-1].Step(jsonfield.Elements)
}

func (w *partReader) close() {
	w.depth = max(w.depth-1, 0)
	if w.passing && w.depth == w.passFrom {
		w.passing = false
	}
	if len(w.need) > w.depth {
		w.need = w.need[:w.depth]
	}
	if w.depth == 0 {
		w.next, w.onPath = w.path, true
	}
}
