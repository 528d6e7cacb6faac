// Package record builds rows of values, and decodes them into Go values.
package record

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// A Reader decodes rows with given columns into values of a type.
type Reader struct {
	columns []string
	fields  []int // field of the struct, by column; nil if the type is not a struct and rows have one column
}

// New returns the Reader of a type. In a struct, a column belongs to the field that has its name in
// the tag query or else json, or that has the same name, ignoring case.
func New(t reflect.Type, columns []string) (*Reader, error) {
	r := &Reader{columns: columns}
	if t.Kind() != reflect.Struct || len(columns) == 1 && fieldOf(t, columns[0]) < 0 {
		if len(columns) != 1 {
			return nil, fmt.Errorf("rows of %d columns do not fit into a %s", len(columns), t)
		}
		return r, nil
	}
	for _, c := range columns {
		at := fieldOf(t, c)
		if at < 0 {
			return nil, fmt.Errorf("%s has no field for the column %s", t, c)
		}
		r.fields = append(r.fields, at)
	}
	return r, nil
}

// fieldOf returns the field of a struct for a column, -1 if there is none.
func fieldOf(t reflect.Type, column string) int {
	at := -1
	for i := range t.NumField() {
		f := t.Field(i)
		name, tagged := f.Tag.Lookup("query")
		if !tagged {
			name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
		}
		switch {
		case !f.IsExported() || name == "-":
		case name == column:
			return i
		case name == "" && strings.EqualFold(f.Name, column):
			at = i
		}
	}
	return at
}

// Read decodes a row into v.
func (r *Reader) Read(v reflect.Value, row []any) error {
	if r.fields == nil {
		return r.set(0, v, row[0])
	}
	for i, at := range r.fields {
		if err := r.set(i, v.Field(at), row[i]); err != nil {
			return err
		}
	}
	return nil
}

// set decodes a cell into v: null becomes the zero value, and JSON is decoded. If v is of another
// kind, numbers and strings are decoded as JSON, too.
func (r *Reader) set(column int, v reflect.Value, cell any) error {
	if cell == nil {
		v.SetZero()
		return nil
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return r.set(column, v.Elem(), cell)
	}
	have := reflect.ValueOf(cell)
	switch {
	case have.Type().AssignableTo(v.Type()):
		v.Set(have)
		return nil
	case have.Kind() == reflect.String && v.Kind() == reflect.String, have.Kind() == reflect.Bool && v.Kind() == reflect.Bool:
		v.Set(have.Convert(v.Type()))
		return nil
	}
	raw, err := json.Marshal(cell)
	if err == nil {
		err = json.Unmarshal(raw, v.Addr().Interface())
	}
	if err != nil {
		return fmt.Errorf("column %s: a %T does not fit into a %s: %w", r.columns[column], cell, v.Type(), err)
	}
	return nil
}
