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

// outSchema is the schema of a copy: that of the input, and further columns at its end.
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

// valueOf is a value of a further column.
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

// Fields are the columns.
func (r outRoot) Fields() []pq.Field { return r.fields }

// outFields are the columns in a column, as they are written.
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

// outEncoding chooses how values are encoded of a column that has these encodings in the input. The
// list has those of levels too, and some cannot encode values of every type. A dictionary holds all
// values of two bytes that there can be; the writer's of floating-point numbers has wrong bounds.
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

// outGroupField is a column with columns in it.
type outGroupField struct {
	pq.Field
	fields []pq.Field
}

// Fields are the columns in it.
func (g outGroupField) Fields() []pq.Field { return g.fields }

// outLeaf is a column that is encoded and compressed much as that of the input.
type outLeaf struct {
	pq.Field
	encoding encoding.Encoding
	codec    compress.Codec
}

// Encoding is how values are encoded.
func (l outLeaf) Encoding() encoding.Encoding { return l.encoding }

// Compression is how pages are compressed.
func (l outLeaf) Compression() compress.Codec { return l.codec }

// newField is a column that the input does not have.
type newField struct {
	pq.Node
	name string
}

// Name is that of the column.
func (f newField) Name() string { return f.name }

// Value has to be there for the interface: copies are written by column, not from Go values.
func (f newField) Value(base reflect.Value) reflect.Value { return base }
