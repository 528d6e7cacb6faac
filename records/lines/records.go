package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/internal/jsontext"
)

// head is the beginning of the content, within Options.Records.
func (f *file) head() (head []byte, all bool, err error) {
	head, all = f.in.Head()
	if f.opt.Records == "" {
		return head, all, nil
	}
	within, err := io.ReadAll(newPartReader(bytes.NewReader(head), f.opt.Records))
	if err != nil && !all {
		err = nil // it may come
	}
	return within, all, err
}

// reader is the content, within Options.Records.
func (f *file) reader() io.Reader {
	if f.opt.Records == "" {
		return f.in.Reader()
	}
	return newPartReader(f.in.Reader(), f.opt.Records)
}

// inJSON decides where the records of JSON are: the lines or values, the elements of an array, or
// the members of an object, and returns its format.
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
			return format, errors.New("it is one object with a list for each column: in pandas to_json(orient='records', lines=True) writes rows")
		case one.path != "" && (all || !f.live):
			names := f.opt.TextFields()
			return format, fmt.Errorf("it is one object without %s%s: %s reads the records in it, %s names a text",
				quotedNames(names), fieldsOf(s, names[0]), option.Set("Records", one.path), option.Name("TextField"))
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

// only is what a file that is one object, and no record, has in it.
type only struct {
	prints bool    // all members are fingerprints
	table  bool    // all members are columns
	digest *digest // that all members are
	path   string  // of records, as Options.Records
}

// surveyObject looks at a file that begins with an object. If that is a record, or not all, it has
// nothing. The file has more than s unless all is set.
func surveyObject(s []byte, all bool, o *object) (one only) {
	end := jsontext.SkipValue(s, 0)
	complete := end < len(s) || all
	if complete && len(bytes.Trim(s[end:], blank)) > 0 {
		return only{}
	}
	var id, fp, text found
	in := recordsIn{object: o}
	columns := 0
	values, prints, objects, digests, members := 0, 0, 0, 0, 0 // members is the rank of these
	partialMembers(s, func(key string, value []byte, whole bool) {
		id.take(o.id, key, value)
		fp.take(o.fp, key, value)
		for _, name := range o.texts {
			text.take(name, key, value)
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
		case !whole: // the end of the head
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

// partialMembers calls f for the members of an object of which s may only be the beginning.
func partialMembers(s []byte, f func(key string, value []byte, whole bool)) {
	for i := jsontext.SkipBlank(s, 1); i < len(s) && s[i] == '"'; {
		name := i
		i = jsontext.SkipString(s, i)
		value := jsontext.SkipBlank(s, jsontext.SkipBlank(s, i)+1)
		if value >= len(s) || s[jsontext.SkipBlank(s, i)] != ':' {
			return
		}
		end := jsontext.SkipValue(s, value)
		if end == value {
			return
		}
		f(string(s[name+1:i-1]), s[value:end], end < len(s))
		if i = jsontext.SkipBlank(s, end); i >= len(s) || s[i] != ',' {
			return
		}
		i = jsontext.SkipBlank(s, i+1)
	}
}

// recordsIn finds where in an object its records are: the list of objects, or object of them, whose
// first one has a text or a fingerprint, or else an ID, or else the longest.
type recordsIn struct {
	object *object // of which the records have fields
	path   string
	rank   int // of what has been found: 0 is nothing
}

// hasContent is the rank of records with a text or a fingerprint; one with an ID has one less.
const hasContent = math.MaxInt

// look looks at a value, and at what is in it.
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

// rankOf is the rank of records, of which the first is given and how many bytes all have.
func (in *recordsIn) rankOf(first []byte, size int) int {
	var id, content found
	partialMembers(first, func(key string, value []byte, _ bool) {
		id.take(in.object.id, key, value)
		for _, name := range append(slices.Clone(in.object.texts), in.object.fp) {
			content.take(name, key, value)
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

// partReader reads the part of JSON that a path leads to, with the newlines before it, so that the
// places of records are those in the file. Each value of the top level may have such a part.
type partReader struct {
	r    io.Reader
	path string // from the top
	need []string
	// need has for each object that the path leads through, from the outside, the path within it,
	// and for each list the path within its elements after []; the innermost of them is at the
	// depth len(need).
	depth    int
	next     string // the path within the value that comes next, if that is on the path
	onPath   bool   // it is
	key      []byte // the string that was read last, with its quotes
	quoted   bool
	escaped  bool
	passing  bool // to the reader
	passFrom int  // the depth at which what is passed began
	found    bool
}

func newPartReader(r io.Reader, path string) *partReader {
	path = strings.TrimSuffix(path, "[]")
	if path == "." {
		path = ""
	}
	return &partReader{r: r, path: path, next: path, onPath: true}
}

// Read reads what the path leads to. It is an error if there is nothing.
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
			return 0, fmt.Errorf("%s leads to no list and no object", option.Set("Records", w.path))
		case err != nil:
			return 0, err
		}
	}
}

func (w *partReader) take(c byte) {
	direct := w.depth == len(w.need) // in the innermost object of the path
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
		w.next, w.onPath = step(w.key, w.need[w.depth-1])
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

// open takes the beginning of an object or an array.
func (w *partReader) open(c byte) {
	on := w.onPath && !w.passing
	w.onPath = false
	switch {
	case on && w.next == "":
		w.passing, w.passFrom, w.found = true, w.depth, true
	case on && c == '{':
		w.need = append(w.need, w.next)
	case on && strings.HasPrefix(w.next, "[]"):
		w.need = append(w.need, w.next)
		w.element()
	}
	w.depth++
}

// inList reports whether the innermost value of the path is a list.
func (w *partReader) inList() bool {
	return len(w.need) > 0 && strings.HasPrefix(w.need[len(w.need)-1], "[]")
}

// element expects an element of the list.
func (w *partReader) element() {
	w.next, w.onPath = strings.TrimPrefix(strings.TrimPrefix(w.need[len(w.need)-1], "[]"), "."), true
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

// step returns the rest of a path after a name, in quotes, and whether it begins with that.
func step(quoted []byte, path string) (rest string, ok bool) {
	name := jsontext.Unquote(quoted)
	if name == path {
		return "", true
	}
	if rest, ok = strings.CutPrefix(path, name+"["); ok {
		return "[" + rest, true
	}
	return strings.CutPrefix(path, name+".")
}
