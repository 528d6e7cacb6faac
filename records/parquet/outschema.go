package parquet

import (
	"reflect"
	"slices"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/simdb/simdb/records"
)

// outSchema returns the schema of a copy: the columns of the input, then the additional columns.
func outSchema(f *file, more []records.Column) *pq.Schema {
	root := f.f.Root()
	fields := f.outFields(root)
	for _, c := range more {
		node := pq.Compressed(pq.Optional(pq.Encoded(nodeOf(c.Kind), &pq.Plain)), &pq.Snappy)
		fields = append(fields, newField{node, c.Name})
	}
	return pq.NewSchema(root.Name(), outRoot{root, fields})
}

func nodeOf(kind records.ColumnKind) pq.Node {
	switch kind {
	case records.WholeColumn:
		return pq.Int(64)
	case records.RealColumn:
		return pq.Leaf(pq.DoubleType)
	}
	return pq.String()
}

// valueOf converts a value of an additional column.
func valueOf(v any) pq.Value {
	switch v := v.(type) {
	case int64:
		return pq.Int64Value(v)
	case float64:
		return pq.DoubleValue(v)
	case string:
		return pq.ByteArrayValue([]byte(v))
	}
	return pq.NullValue()
}

type outRoot struct {
	pq.Node
	fields []pq.Field
}

// Fields returns the columns.
func (r outRoot) Fields() []pq.Field { return r.fields }

// outFields returns the columns within a column, as they are written.
func (f *file) outFields(col *pq.Column) (fields []pq.Field) {
	for _, c := range col.Columns() {
		if !c.Leaf() {
			fields = append(fields, outGroupField{c, f.outFields(c)})
			continue
		}
		leaf := outLeaf{Field: c, encoding: &pq.Plain, codec: &pq.Snappy}
		if len(f.meta.RowGroups) > 0 {
			chunk := f.meta.RowGroups[0].Columns[c.Index()].MetaData
			leaf.encoding, leaf.codec = outEncoding(c.Type(), chunk.Encoding), writeCodec(chunk.Codec)
		}
		fields = append(fields, leaf)
	}
	return fields
}

// outEncoding chooses the encoding of an output column, given the list of its encodings in the
// input. The list also has the encodings of levels, and some encodings do not support all types. A
// dictionary suits columns of two bytes, since it has at most 65,536 values. Floating-point numbers
// get no dictionary, because the writer would compute wrong bounds.
func outEncoding(t pq.Type, list []format.Encoding) encoding.Encoding {
	kind := t.Kind()
	isDictionary := func(e format.Encoding) bool {
		//lint:ignore SA1019 old files have it
		return e == format.RLEDictionary || e == format.PlainDictionary
	}
	if kind == pq.Boolean {
		return &pq.Plain
	}
	isFloat := kind == pq.Float || kind == pq.Double
	if slices.ContainsFunc(list, isDictionary) && !isFloat || kind == pq.FixedLenByteArray && t.Length() == 2 {
		return &pq.RLEDictionary
	}
	for _, e := range list {
		switch enc := pq.LookupEncoding(e); {
		case e == format.DeltaBinaryPacked && (kind == pq.Int32 || kind == pq.Int64),
			e == format.DeltaLengthByteArray && kind == pq.ByteArray,
			e == format.DeltaByteArray && (kind == pq.ByteArray || kind == pq.FixedLenByteArray),
			e == format.ByteStreamSplit && isFloat:
			return enc
		}
	}
	return &pq.Plain
}

// outGroupField is a column that contains columns.
type outGroupField struct {
	pq.Field
	fields []pq.Field
}

// Fields returns the contained columns.
func (g outGroupField) Fields() []pq.Field { return g.fields }

// outLeaf is a column with the encoding and compression of the input column.
type outLeaf struct {
	pq.Field
	encoding encoding.Encoding
	codec    compress.Codec
}

// Encoding returns the encoding of values.
func (l outLeaf) Encoding() encoding.Encoding { return l.encoding }

// Compression returns the compression of pages.
func (l outLeaf) Compression() compress.Codec { return l.codec }

// newField is a column that the input lacks.
type newField struct {
	pq.Node
	name string
}

// Name returns the name of the column.
func (f newField) Name() string { return f.name }

// Value is required by the interface, but unused: copies are written by column, not from Go values.
func (f newField) Value(base reflect.Value) reflect.Value { return base }
