package library

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// A Column is a column of a result. Its format is one of the Arrow C data interface. The format
// decides which field has the values: "b" Bools, "l" and "tsu:UTC" Ints, "L" Uints, "g" Floats, "U"
// Data and Ends.
type Column struct {
	Name   string
	Format string
	Nulls  int64
	Valid  []bool // false for null, indexed by row
	Bools  []bool
	Ints   []int64
	Uints  []uint64
	Floats []float64
	Data   []byte
	Ends   []int64 // end of each string in Data
}

// The formats of columns.
const (
	Bool   = "b"
	Int    = "l"
	Uint   = "L"
	Float  = "g"
	String = "U"
	Time   = "tsu:UTC"
)

func newColumn(name, format string) *Column { return &Column{Name: name, Format: format} }

// add appends a value, or nil for null. It returns an error for a value of another type.
func (c *Column) add(v any) error {
	c.Valid = append(c.Valid, v != nil)
	if v == nil {
		c.Nulls++
	}
	ok := false
	switch c.Format {
	case Bool:
		var b bool
		b, ok = v.(bool)
		c.Bools = append(c.Bools, b)
	case Int, Time:
		var n int64
		switch v := v.(type) {
		case int:
			n, ok = int64(v), true
		case int64:
			n, ok = v, true
		case uint16:
			n, ok = int64(v), true
		case uint32:
			n, ok = int64(v), true
		case time.Time:
			n, ok = v.UnixMicro(), true
		}
		c.Ints = append(c.Ints, n)
	case Uint:
		var n uint64
		n, ok = v.(uint64)
		c.Uints = append(c.Uints, n)
	case Float:
		var f float64
		switch v := v.(type) {
		case float64:
			f, ok = v, true
		case int:
			f, ok = float64(v), true
		case int64:
			f, ok = float64(v), true
		case json.RawMessage:
			f, ok = fraction(v)
		}
		c.Floats = append(c.Floats, f)
	case String:
		switch v := v.(type) {
		case string:
			c.Data, ok = append(c.Data, v...), true
		case json.RawMessage:
			c.Data, ok = append(c.Data, v...), true
		}
		c.Ends = append(c.Ends, int64(len(c.Data)))
	}
	if !ok && v != nil {
		return fmt.Errorf("column %s: %T is not a %s", c.Name, v, c.Format)
	}
	return nil
}

// addOf appends *p, or null if p is nil.
func addOf[T any](c *Column, p *T) {
	if p == nil {
		c.add(nil)
		return
	}
	c.add(any(*p))
}

// rowsOf gathers rows and derives the types of the columns from their values. Integers mixed with
// other numbers become floating-point numbers, and any other mix becomes strings of JSON.
type rowsOf struct {
	names []string
	rows  [][]any
}

// columns returns the columns.
func (r *rowsOf) columns() ([]*Column, error) {
	var all []*Column
	for i, name := range r.names {
		format := ""
		for _, row := range r.rows {
			if row[i] != nil {
				format = widest(format, formatOf(row[i]))
			}
		}
		if format == "" {
			format = String
		}
		c := newColumn(name, format)
		for _, row := range r.rows {
			v := row[i]
			if format == String && v != nil && formatOf(v) != String {
				v = mustJSON(v)
			}
			if err := c.add(v); err != nil {
				return nil, err
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// formatOf returns the format of a column for a value. JSON numbers with a fraction or an exponent
// are floats; other JSON is a string, even integers, which may have any number of digits.
func formatOf(v any) string {
	switch v := v.(type) {
	case bool:
		return Bool
	case int, int64:
		return Int
	case uint64:
		return Uint
	case float64:
		return Float
	case time.Time:
		return Time
	case json.RawMessage:
		if _, ok := fraction(v); ok {
			return Float
		}
	}
	return String
}

// fraction returns a number with a fraction or an exponent; ok is false for other JSON.
func fraction(v json.RawMessage) (f float64, ok bool) {
	if !bytes.ContainsAny(v, ".eE") {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil
}

// widest returns the format of a column with values of both formats.
func widest(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case a == Int && b == Float, a == Float && b == Int:
		return Float
	}
	return String
}

// mustJSON returns a value as JSON.
func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
