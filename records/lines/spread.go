package lines

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/internal/jsontext"
)

// JSON that is not an object a line: an array of objects, or objects over several lines one after
// the other. The values of the top level, and the elements of an array there, are the records:
//
//	[            the splitter cuts after each value, so a record begins
//	  {...},     with the separators before it; bare takes them off:
//	  {...}      "[\n  {...}"  ",\n  {...}"  "\n]"
//	]
//
// Or the members of an object are the records, "a.png": "9f3c5a0011223344", whose names are their
// IDs.
//
// A record may begin on the line on which the one before ends, so that lines are no positions to
// resume from. The end of a record is its number.

// objects is the cutter of JSON. It counts brackets outside strings; whether a value is right is
// found by its parser.
type objects struct {
	members bool // an object of the top level has records for members
	object  bool // within it
	named   bool // after the name of a member
	array   bool // within an array of the top level, whose elements are records
	depth   int  // of brackets in the record
	quoted  bool // within a string
	escaped bool // after a backslash in it
	scalar  bool // within a record that is a number or a word
}

func (c *objects) end(p []byte) int {
	quote := -1 // the next quote at or after i, where that has been looked for
	for i := 0; i < len(p); i++ {
		switch {
		case c.escaped:
			c.escaped = false
			continue
		case c.quoted:
			if quote < i {
				if quote = bytes.IndexByte(p[i:], '"') + i; quote < i {
					quote = len(p)
				}
			}
			if back := bytes.IndexByte(p[i:quote], '\\'); back >= 0 {
				i, c.escaped = i+back, true
				continue
			}
			if i = quote; i == len(p) {
				return -1
			}
			c.quoted = false
			if c.depth == 0 && c.ends() {
				return i + 1
			}
			continue
		}
		if e := c.plain(p[i], i); e >= 0 {
			return e
		}
	}
	return -1
}

// plain takes p[i] outside strings, and returns where the record ends if that shows it, otherwise
// -1.
func (c *objects) plain(ch byte, i int) int {
	if c.depth > 0 {
		switch ch {
		case '"':
			c.quoted = true
		case '{', '[':
			c.depth++
		case '}', ']':
			if c.depth--; c.depth == 0 && c.ends() {
				return i + 1
			}
		}
		return -1
	}
	separates := bytes.IndexByte([]byte(" \t\r\n,[]{\""), ch) >= 0 || c.members && (ch == ':' || ch == '}')
	switch {
	case separates && c.scalar:
		c.scalar = false
		c.ends()
		return i
	case ch == '{' && c.members && !c.object:
		c.object = true
	case ch == '}', ch == ':' && separates:
		c.object = c.object && ch != '}'
	case ch == '[' && !c.array && !c.members:
		c.array = true
	case ch == ']':
		c.array = false
	case ch == '"':
		c.quoted = true
	case ch == '{', ch == '[':
		c.depth = 1
	case !separates:
		c.scalar = true
	}
	return -1
}

// ends reports whether a value of the top level that has ended is a record, or the end of one: the
// name of a member is not.
func (c *objects) ends() bool {
	c.named = c.members && !c.named
	return !c.named
}

func (c *objects) open() string {
	switch {
	case c.quoted || c.depth > 0 || c.object:
		return "the JSON object is not closed"
	case c.array:
		return "the JSON array is not closed"
	}
	return ""
}

// bare returns a record of objects without the separators before it, and how many of their bytes
// are newlines.
func bare(raw []byte, members bool) (value []byte, newlines records.Position) {
	i, separators := 0, blank+",[]"
	if members {
		separators = blank + ",{}"
	}
	for i < len(raw) && strings.IndexByte(separators, raw[i]) >= 0 {
		i++
	}
	if !members && i > 0 && i < len(raw) && raw[len(raw)-1] == ']' { // an array itself
		i = max(bytes.LastIndexByte(raw[:i], '['), 0)
	}
	return raw[i:], records.Position(bytes.Count(raw[:i], newline))
}

// beginsJSON says whether the first line of a file is JSON by its beginning.
func beginsJSON(line []byte) bool {
	line = bytes.TrimLeft(line, lead)
	return len(line) > 0 && (line[0] == '{' || beginsArray(line))
}

// beginsArray says whether a line begins an array of objects.
func beginsArray(line []byte) bool {
	line = bytes.Trim(line, blank)
	if line[0] != '[' {
		return false
	}
	next := bytes.TrimLeft(line[1:], blank)
	return len(next) == 0 || next[0] == '{' || next[0] == ']' && len(next) == 1
}

// isSpread reports whether a file of JSON is not an object a line. A first line that is damaged
// does not make it so: there are good ones after it.
func isSpread(lines [][]byte) bool {
	if len(lines) == 0 {
		return false
	}
	first := trim(lines[0])
	switch {
	case len(first) == 0:
		return false
	case beginsArray(first):
		return true
	case first[0] != '{' || isJSON(first):
		return false
	case len(first) == 1:
		return true
	case followed(first):
		return !slices.ContainsFunc(lines[1:max(len(lines)-1, 1)], isObject) // the last may have no comma
	}
	return len(lines) > 1 && !slices.ContainsFunc(lines[1:], isObject) &&
		slices.ContainsFunc(lines[1:], func(line []byte) bool { return line[0] != '{' })
}

// followed reports whether a line has an object, and after it a comma or another one.
func followed(line []byte) bool {
	end := jsontext.SkipValue(line, 0)
	rest := bytes.Trim(line[end:], blank)
	return len(rest) > 0 && (rest[0] == ',' || rest[0] == '{') && isJSON(line[:end])
}

// errSpread is the refusal of a file that the user calls JSON lines.
func errSpread() error {
	return fmt.Errorf("it is JSON, but not an object a line: %s reads it", option.Set("Format", JSON))
}

// isObject says whether a line is a JSON object.
func isObject(line []byte) bool {
	line = trim(line)
	return len(line) > 0 && line[0] == '{' && isJSON(line)
}

// copyJSON writes the values of an array, the members of an object, or values one after the other.
type copyJSON struct {
	w                   io.Writer
	begin, between, end string
	begun               bool
}

// newCopyJSON makes the copier of records of a shape.
func newCopyJSON(w io.Writer, shape string) *copyJSON {
	switch {
	case strings.HasPrefix(shape, arrayShape):
		return &copyJSON{w: w, begin: "[\n", between: ",\n", end: "\n]\n"}
	case strings.HasPrefix(shape, mapShape):
		return &copyJSON{w: w, begin: "{", between: ", ", end: "}\n"}
	}
	return &copyJSON{w: w, between: "\n", end: "\n"}
}

func (j *copyJSON) value(raw []byte) error {
	before := j.between
	if !j.begun {
		before = j.begin
	}
	j.begun = true
	for _, part := range [][]byte{[]byte(before), raw} {
		if _, err := j.w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// close ends the array or the object.
func (j *copyJSON) close() error {
	end := j.end
	if !j.begun {
		end = strings.ReplaceAll(j.begin+j.end, "\n\n", "") // "[]\n", "{}\n", or nothing
		if j.begin == "" {
			end = ""
		}
	}
	_, err := j.w.Write([]byte(end))
	return err
}

// mapShape is the Shape of a file whose records are the members of an object.
const mapShape = "a JSON object with a record for each member"

// arrayShape is the Shape of a file that begins with an array.
const arrayShape = "a JSON array"
