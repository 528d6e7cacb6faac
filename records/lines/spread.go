package lines

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/jsontext"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// JSON that does not have one object per line: an array of objects, or concatenated objects that
// span several lines. The values of the top level, and the elements of an array there, are the
// records:
//
//	[            the splitter cuts after each value, so a record begins
//	  {...},     with the separators before it; bare removes them:
//	  {...}      "[\n  {...}"  ",\n  {...}"  "\n]"
//	]
//
// In a map, the members of an object are the records, "a.png": "9f3c5a0011223344", and their names
// are the IDs.
//
// A record may begin on the line on which the previous one ends, so line numbers are not positions
// to resume from. Instead, the end of a record is its number.

// objects is the cutter of JSON. It counts brackets outside strings; the parser validates the
// values.
type objects struct {
	members bool // the members of a top-level object are records
	object  bool // within that object
	named   bool // after the name of a member
	array   bool // within a top-level array, whose elements are records
	depth   int  // nesting depth in the record
	quoted  bool // within a string
	escaped bool // after a backslash in a string
	scalar  bool // within a record that is a number or a word
}

func (c *objects) end(p []byte) int {
	quote := -1 // the next quote at or after i, if it has been looked up
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

// plain processes p[i], which is outside strings. It returns the end of the record if ch completes
// it, otherwise -1.
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

// ends reports whether a completed top-level value completes a record. The name of a member does
// not.
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

// bare removes the separators before a record of objects, and returns the number of newlines in
// them.
func bare(raw []byte, members bool) (value []byte, newlines records.Position) {
	i, separators := 0, blank+",[]"
	if members {
		separators = blank + ",{}"
	}
	for i < len(raw) && strings.IndexByte(separators, raw[i]) >= 0 {
		i++
	}
	if !members && i > 0 && i < len(raw) && raw[len(raw)-1] == ']' { // the record is an array
		i = max(bytes.LastIndexByte(raw[:i], '['), 0)
	}
	return raw[i:], records.Position(bytes.Count(raw[:i], newline))
}

// beginsJSON reports whether the first line of a file looks like the beginning of JSON.
func beginsJSON(line []byte) bool {
	line = bytes.TrimLeft(line, lead)
	return len(line) > 0 && (line[0] == '{' || beginsArray(line))
}

// beginsArray reports whether a line begins an array of objects.
func beginsArray(line []byte) bool {
	line = bytes.Trim(line, blank)
	if line[0] != '[' {
		return false
	}
	next := bytes.TrimLeft(line[1:], blank)
	return len(next) == 0 || next[0] == '{' || next[0] == ']' && len(next) == 1
}

// isSpread reports whether a JSON file does not have one object per line. A damaged first line
// alone is no evidence, because valid lines follow it.
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
		return !slices.ContainsFunc(lines[1:max(len(lines)-1, 1)], isObject) // the last element may have no comma
	}
	return len(lines) > 1 && !slices.ContainsFunc(lines[1:], isObject) &&
		slices.ContainsFunc(lines[1:], func(line []byte) bool { return line[0] != '{' })
}

// followed reports whether a line has an object that is followed by a comma or another object.
func followed(line []byte) bool {
	end := jsontext.SkipValue(line, 0)
	rest := bytes.Trim(line[end:], blank)
	return len(rest) > 0 && (rest[0] == ',' || rest[0] == '{') && isJSON(line[:end])
}

// errSpread returns the error for a file that the user declared as JSON lines.
func errSpread() error {
	return fmt.Errorf("it is JSON, but not one object per line: %s reads it", option.Set("Format", JSON))
}

// isObject reports whether a line is a JSON object.
func isObject(line []byte) bool {
	line = trim(line)
	return len(line) > 0 && line[0] == '{' && isJSON(line)
}

// copyJSON writes records as the elements of an array, the members of an object, or concatenated
// values.
type copyJSON struct {
	w                   io.Writer
	begin, between, end string
	begun               bool
}

// newCopyJSON makes a copyJSON for records of this Shape.
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
