// Package parquet writes rows as a Parquet file.
package parquet

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/simdb/simdb/internal/display"
	"github.com/simdb/simdb/internal/version"
	"github.com/simdb/simdb/repl/output"
)

const (
	heldRows   = 1000     // rows from which the types of the columns are found
	sentBytes  = 1 << 20  // bytes of values that go to the encoder at once
	groupBytes = 64 << 20 // bytes of values in a row group
	groupRows  = 1 << 20  // rows in a row group
)

// file writes a Parquet file. The types of columns follow from the values of the first rows, which
// are held until then. Fingerprints are strings, fields JSON, and all columns may be null. A
// goroutine encodes rows while more rows are collected.
type file struct {
	w       io.Writer
	columns []string
	like    []any // a value of the type of each column, or nil
	held    [][]any
	types   []reflect.Type
	out     *pq.GenericWriter[any] // nil while rows are held
	rows    []pq.Row               // to be sent to the encoder
	bytes   int                    // bytes of values in rows
	encoded chan error             // result of the running encode, or nil if none runs
	size    int                    // bytes of values in the row group; only encode uses it
	inGroup int                    // rows in the row group; only encode uses it
	err     error
}

// New returns an encoder of rows with the given columns. like has a value of the type of each
// column, or is nil.
func New(w io.Writer, columns []string, like []any) output.Encoder {
	return &file{w: w, columns: columns, like: like}
}

// Row writes a row.
func (f *file) Row(values []any) error {
	switch {
	case f.err != nil:
	case f.out != nil:
		f.err = f.write(values)
	default:
		if f.held = append(f.held, slices.Clone(values)); len(f.held) == heldRows {
			f.err = f.start()
		}
	}
	return f.err
}

// End ends the file, unless writing a row has failed.
func (f *file) End() error {
	if f.err == nil && f.out == nil {
		f.err = f.start()
	}
	if f.err == nil {
		f.err = f.send()
	}
	if err := f.Wait(); f.err == nil {
		f.err = err
	}
	if f.err == nil {
		f.err = f.out.Close()
	}
	return f.err
}

// The types of columns.
var (
	stringType = reflect.TypeFor[string]()
	boolType   = reflect.TypeFor[bool]()
	intType    = reflect.TypeFor[int64]()
	floatType  = reflect.TypeFor[float64]()
	timeType   = reflect.TypeFor[time.Time]()
	jsonType   = reflect.TypeFor[json.RawMessage]()
)

// usual returns the type of a column without values, so that an empty result has the same columns
// as other results.
func usual(column string) reflect.Type {
	switch column {
	case "distance", "cluster", "count":
		return intType
	case "score", "error":
		return floatType
	case "exact", "keep":
		return boolType
	case "time":
		return timeType
	case "fields":
		return jsonType
	}
	return stringType
}

// typeOf returns the type of the column for a value; nil for no value.
func typeOf(v any) reflect.Type {
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		return boolType
	case int, int64:
		return intType
	case float64:
		return floatType
	case time.Time:
		return timeType
	case json.RawMessage:
		if len(v) == 0 {
			return nil
		}
		return jsonType
	}
	return stringType
}

// start begins the file, and writes the held rows.
func (f *file) start() error {
	for i := range f.columns {
		var t reflect.Type
		rows := f.held
		if f.like != nil {
			rows = [][]any{f.like}
		}
		for _, row := range rows {
			switch of := typeOf(row[i]); {
			case of == nil || of == t:
			case t == nil:
				t = of
			case t == intType && of == floatType || t == floatType && of == intType:
				t = floatType
			default:
				t = stringType
			}
		}
		if t == nil {
			t = usual(f.columns[i])
		}
		f.types = append(f.types, t)
	}
	schema, err := f.schema()
	if err != nil {
		return err
	}
	f.out = pq.NewGenericWriter[any](f.w, schema, pq.CreatedBy("simdb", version.Number(), ""), pq.MaxRowsPerRowGroup(groupRows))
	for _, row := range f.held {
		if err := f.write(row); err != nil {
			return err
		}
	}
	f.held = nil
	return nil
}

// schema returns the schema of a struct with a field for each column, in the order of the columns.
func (f *file) schema() (*pq.Schema, error) {
	var fields []reflect.StructField
	for i, name := range f.columns {
		if strings.ContainsAny(name, ",") || name == "" || slices.Contains(f.columns[:i], name) {
			return nil, fmt.Errorf("a Parquet file can't have the column %q here: give it another name, or write JSON lines", name)
		}
		t, options := f.types[i], ",optional,zstd"
		switch t {
		case jsonType:
			t, options = stringType, ",optional,zstd,json"
		case timeType:
			options = ",optional,zstd,timestamp(microsecond)"
		}
		fields = append(fields, reflect.StructField{
			Name: "C" + strconv.Itoa(i), Type: t, Tag: reflect.StructTag(`parquet:` + strconv.Quote(name+options)),
		})
	}
	return pq.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface()), nil
}

// write adds a row to the file.
func (f *file) write(values []any) error {
	row := make(pq.Row, 0, len(values))
	for i, v := range values {
		value, err := f.value(i, v)
		if err != nil {
			return err
		}
		defined := 1
		if value.IsNull() {
			defined = 0
		}
		row = append(row, value.Level(0, defined, i))
	}
	if f.rows = append(f.rows, row); f.bytes < sentBytes {
		return nil
	}
	return f.send()
}

// send passes the collected rows to a goroutine that encodes them, after waiting for the previous
// rows.
func (f *file) send() error {
	if err := f.Wait(); err != nil {
		return err
	}
	rows, bytes, encoded := f.rows, f.bytes, make(chan error, 1)
	f.rows, f.bytes, f.encoded = nil, 0, encoded
	go func() { encoded <- f.encode(rows, bytes) }()
	return nil
}

// Wait waits until the rows that were sent are encoded. Only then may others write to the file.
func (f *file) Wait() error {
	if f.encoded == nil {
		return nil
	}
	err := <-f.encoded
	f.encoded = nil
	return err
}

// encode encodes rows whose values have the given number of bytes.
func (f *file) encode(rows []pq.Row, bytes int) error {
	if _, err := f.out.WriteRows(rows); err != nil {
		return err
	}
	if f.size, f.inGroup = f.size+bytes, f.inGroup+len(rows); f.size < groupBytes && f.inGroup < groupRows {
		return nil
	}
	f.size, f.inGroup = 0, 0
	return f.out.Flush()
}

func (f *file) value(i int, v any) (pq.Value, error) {
	of, want := typeOf(v), f.types[i]
	f.bytes += 8
	switch {
	case of == nil:
		return pq.Value{}, nil
	case want == stringType:
		b := display.AppendText(nil, v)
		f.bytes += len(b)
		return pq.ByteArrayValue(b), nil
	case want == floatType && of == intType:
		return pq.DoubleValue(float64(reflect.ValueOf(v).Int())), nil
	case of != want:
		return pq.Value{}, fmt.Errorf("the column %q has values of several types (%v, %v), which Parquet does not allow: write JSON lines", f.columns[i], want, of)
	}
	switch v := v.(type) {
	case bool:
		return pq.BooleanValue(v), nil
	case int:
		return pq.Int64Value(int64(v)), nil
	case int64:
		return pq.Int64Value(v), nil
	case float64:
		return pq.DoubleValue(v), nil
	case time.Time:
		if v.IsZero() {
			return pq.Value{}, nil
		}
		return pq.Int64Value(v.UnixMicro()), nil
	case json.RawMessage:
		f.bytes += len(v)
		return pq.ByteArrayValue(v), nil
	}
	return pq.Value{}, fmt.Errorf("no Parquet for %T", v)
}
