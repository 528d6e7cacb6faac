// Package parquet writes rows of values as a Parquet file. The columns have no declared types: they
// are found from the first rows, which are held until then.
package parquet

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	pq "github.com/parquet-go/parquet-go"
)

const (
	heldRows   = 1000     // rows that say of which types the columns are
	groupBytes = 64 << 20 // of the values of a row group
	groupRows  = 1 << 20  // of a row group
)

// Writer writes one file. Its methods must not be called concurrently.
type Writer struct {
	w       io.Writer
	columns []string
	text    func(v any) string // writes a value that has no type of its own
	held    [][]any
	types   []reflect.Type
	out     *pq.GenericWriter[any] // nil while rows are held
	row     pq.Row
	bytes   int // of the values of the row group
	rows    int // of the row group
}

// New returns a Writer of rows with these columns. Values are strings, booleans, whole numbers,
// float64, times, JSON and nil; text writes others, and those of a column with values of several
// types.
func New(w io.Writer, columns []string, text func(v any) string) *Writer {
	return &Writer{w: w, columns: columns, text: text}
}

// The types of columns.
var (
	stringType = reflect.TypeFor[string]()
	boolType   = reflect.TypeFor[bool]()
	intType    = reflect.TypeFor[int64]()
	uintType   = reflect.TypeFor[uint64]()
	floatType  = reflect.TypeFor[float64]()
	timeType   = reflect.TypeFor[time.Time]()
	jsonType   = reflect.TypeFor[json.RawMessage]()
)

// usual returns the type of a column that has no values, so that an empty result has the columns of
// others.
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

// typeOf returns the type of the column of a value; nil for no value.
func typeOf(v any) reflect.Type {
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		return boolType
	case int, int64:
		return intType
	case uint64:
		return uintType
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

// Row writes a row, of one value for each column.
func (w *Writer) Row(values []any) error {
	if w.out != nil {
		return w.write(values)
	}
	w.held = append(w.held, slices.Clone(values))
	if len(w.held) < heldRows {
		return nil
	}
	return w.begin()
}

// Close writes what is held and the end of the file.
func (w *Writer) Close() error {
	if w.out == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	return w.out.Close()
}

// begin begins the file, and writes what was held.
func (w *Writer) begin() error {
	for i := range w.columns {
		var t reflect.Type
		for _, row := range w.held {
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
			t = usual(w.columns[i])
		}
		w.types = append(w.types, t)
	}
	schema, err := w.schema()
	if err != nil {
		return err
	}
	w.out = pq.NewGenericWriter[any](w.w, schema, pq.CreatedBy("simdb", version(), ""), pq.MaxRowsPerRowGroup(groupRows))
	for _, row := range w.held {
		if err := w.write(row); err != nil {
			return err
		}
	}
	w.held = nil
	return nil
}

// version is that of simdb, for the footer.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return info.Main.Version[1:]
	}
	return "0.0.0"
}

// schema returns the schema of a struct with a field for each column, which keeps their order.
func (w *Writer) schema() (*pq.Schema, error) {
	var fields []reflect.StructField
	for i, name := range w.columns {
		if strings.ContainsAny(name, ",") || name == "" || slices.Contains(w.columns[:i], name) {
			return nil, fmt.Errorf("a Parquet file can't have the column %q here: give it another name, or write JSON lines", name)
		}
		t, options := w.types[i], ",optional,zstd"
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

// write writes a row to the file.
func (w *Writer) write(values []any) error {
	w.row = w.row[:0]
	for i, v := range values {
		value, err := w.value(i, v)
		if err != nil {
			return err
		}
		defined := 1
		if value.IsNull() {
			defined = 0
		}
		w.row = append(w.row, value.Level(0, defined, i))
	}
	if _, err := w.out.WriteRows([]pq.Row{w.row}); err != nil {
		return err
	}
	if w.rows++; w.bytes < groupBytes && w.rows < groupRows {
		return nil
	}
	w.bytes, w.rows = 0, 0
	return w.out.Flush()
}

// value returns a value as one of column i.
func (w *Writer) value(i int, v any) (pq.Value, error) {
	of, want := typeOf(v), w.types[i]
	w.bytes += 8
	switch {
	case of == nil:
		return pq.Value{}, nil
	case want == stringType:
		s := w.text(v)
		w.bytes += len(s)
		return pq.ByteArrayValue([]byte(s)), nil
	case want == floatType && of == intType:
		return pq.DoubleValue(float64(reflect.ValueOf(v).Int())), nil
	case of != want:
		return pq.Value{}, fmt.Errorf("the column %q has values of several types (%v, %v), which Parquet can't have: write JSON lines", w.columns[i], want, of)
	}
	switch v := v.(type) {
	case bool:
		return pq.BooleanValue(v), nil
	case int:
		return pq.Int64Value(int64(v)), nil
	case int64:
		return pq.Int64Value(v), nil
	case uint64:
		return pq.Int64Value(int64(v)), nil
	case float64:
		return pq.DoubleValue(v), nil
	case time.Time:
		if v.IsZero() {
			return pq.Value{}, nil
		}
		return pq.Int64Value(v.UnixMicro()), nil
	case json.RawMessage:
		w.bytes += len(v)
		return pq.ByteArrayValue(v), nil
	}
	return pq.Value{}, fmt.Errorf("no Parquet for %T", v)
}
