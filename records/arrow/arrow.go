// Package arrow reads tables through the Arrow C data interface: structures that another library in
// the same process has filled. It reads their buffers without copying.
//
//	arrow.go   the structures, and the types of columns
//	column.go  values of a column
//	table.go   a table as an input of documents
//
// It does not call the other library. The caller, who got the structures from that library, must
// release them only when nothing that was read from them is in use, including strings.
package arrow

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"
)

// Schema is struct ArrowSchema: the type of a column.
type Schema struct {
	Format, Name, Metadata *byte
	Flags, NChildren       int64
	Children               **Schema
	Dictionary             *Schema
	Release, Private       unsafe.Pointer
}

// Array is struct ArrowArray: the values of a column.
type Array struct {
	Length, NullCount, Offset, NBuffers, NChildren int64
	Buffers                                        *unsafe.Pointer
	Children                                       **Array
	Dictionary                                     *Array
	Release, Private                               unsafe.Pointer
}

// kind says how the values of a type are stored.
type kind uint8

const (
	null kind = iota
	boolean
	signed // numbers of size bytes
	unsigned
	float
	decimal
	text   // with offsets of size bytes
	binary // with offsets of size bytes
	textView
	binaryView
	fixed // size bytes each
	date  // in days or milliseconds
	clock
	timestamp
	duration
	list // with offsets of size bytes
	listView
	fixedList // of size elements each
	structure
	dictionary // indexes of size bytes
	mapping
)

// dataType is the type of a column.
type dataType struct {
	name     string
	format   string
	kind     kind
	size     int
	unit     int64 // units per second, for times
	scale    int   // for decimals
	zone     bool  // a timestamp is in UTC
	json     bool  // strings are JSON
	sign     bool  // the indexes of a dictionary are signed
	children []*dataType
	values   *dataType // values of a dictionary
}

// goString converts a C string.
func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return strings.Clone(unsafe.String(p, n))
}

// flat are the types without parameters.
var flat = map[string]dataType{
	"n": {kind: null}, "b": {kind: boolean},
	"c": {kind: signed, size: 1}, "s": {kind: signed, size: 2}, "i": {kind: signed, size: 4}, "l": {kind: signed, size: 8},
	"C": {kind: unsigned, size: 1}, "S": {kind: unsigned, size: 2}, "I": {kind: unsigned, size: 4}, "L": {kind: unsigned, size: 8},
	"f": {kind: float, size: 4}, "g": {kind: float, size: 8},
	"u": {kind: text, size: 4}, "U": {kind: text, size: 8}, "vu": {kind: textView, size: 16},
	"z": {kind: binary, size: 4}, "Z": {kind: binary, size: 8}, "vz": {kind: binaryView, size: 16},
	"tdD": {kind: date, size: 4, unit: 0}, "tdm": {kind: date, size: 8, unit: 1000},
	"tts": {kind: clock, size: 4, unit: 1}, "ttm": {kind: clock, size: 4, unit: 1e3},
	"ttu": {kind: clock, size: 8, unit: 1e6}, "ttn": {kind: clock, size: 8, unit: 1e9},
	"tDs": {kind: duration, size: 8}, "tDm": {kind: duration, size: 8}, "tDu": {kind: duration, size: 8}, "tDn": {kind: duration, size: 8},
	"+l": {kind: list, size: 4}, "+L": {kind: list, size: 8}, "+vl": {kind: listView, size: 4}, "+vL": {kind: listView, size: 8},
	"+s": {kind: structure}, "+m": {kind: mapping, size: 4},
}

// typeOf parses a type. It returns an error for an unknown one.
func typeOf(s *Schema) (*dataType, error) {
	t := &dataType{name: goString(s.Name), format: goString(s.Format)}
	known, ok := flat[t.format]
	if ok {
		t.kind, t.size, t.unit = known.kind, known.size, known.unit
	} else if err := t.parametric(); err != nil {
		return nil, err
	}
	for _, child := range unsafe.Slice(s.Children, s.NChildren) {
		c, err := typeOf(child)
		if err != nil {
			return nil, err
		}
		t.children = append(t.children, c)
	}
	if s.Dictionary != nil {
		values, err := typeOf(s.Dictionary)
		if err != nil {
			return nil, err
		}
		t.sign, t.kind, t.values = t.kind == signed, dictionary, values
	}
	t.json = strings.Contains(metadata(s.Metadata), "arrow.json")
	return t, nil
}

// parametric parses a type with parameters.
func (t *dataType) parametric() (err error) {
	name, rest, _ := strings.Cut(t.format, ":")
	switch {
	case name == "w":
		t.kind = fixed
		t.size, err = strconv.Atoi(rest)
	case name == "+w":
		t.kind = fixedList
		t.size, err = strconv.Atoi(rest)
	case name == "d":
		parts, bits := strings.Split(rest, ","), 128
		if len(parts) == 3 {
			bits, err = strconv.Atoi(parts[2])
		}
		if t.kind, t.size = decimal, bits/8; err == nil && len(parts) > 1 {
			t.scale, err = strconv.Atoi(parts[1])
		}
	case strings.HasPrefix(t.format, "ts") && len(t.format) > 3 && t.format[3] == ':':
		t.kind, t.size, t.zone = timestamp, 8, rest != ""
		t.unit = map[byte]int64{'s': 1, 'm': 1e3, 'u': 1e6, 'n': 1e9}[t.format[2]]
	default:
		err = fmt.Errorf("the column %q has the Arrow type %q, which is not supported: leave it out, or cast it", t.name, t.format)
	}
	return err
}

// metadata returns the encoded keys and values of a schema: a count, and the length and the bytes
// of each.
func metadata(p *byte) string {
	if p == nil {
		return ""
	}
	at := unsafe.Pointer(p)
	number := func() int {
		n := *(*int32)(at)
		at = unsafe.Add(at, 4)
		return int(n)
	}
	for range 2 * number() {
		n := number()
		at = unsafe.Add(at, n)
	}
	return strings.Clone(unsafe.String(p, int(uintptr(at)-uintptr(unsafe.Pointer(p)))))
}
