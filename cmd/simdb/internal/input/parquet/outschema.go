package parquet

import (
	"reflect"

	"github.com/klauspost/compress/s2"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/format"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
)

// outSchema is the schema of a copy: that of the input, and further columns at its end.
func outSchema(of *pq.Schema, more []input.Column) *pq.Schema {
	fields := outFields(of)
	for _, c := range more {
		fields = append(fields, newField{pq.Compressed(pq.Optional(nodeOf(c.Kind)), &pq.Snappy), c.Name})
	}
	return pq.NewSchema(of.Name(), outRoot{of, fields})
}

// nodeOf is a column of a kind.
func nodeOf(kind input.ColumnKind) pq.Node {
	switch kind {
	case input.WholeColumn:
		return pq.Int(64)
	case input.RealColumn:
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

// outRoot is the root of a copy.
type outRoot struct {
	pq.Node
	fields []pq.Field
}

// Fields are the columns.
func (r outRoot) Fields() []pq.Field { return r.fields }

// outFields are the columns in a node, as they are written.
func outFields(n pq.Node) (fields []pq.Field) {
	for _, f := range n.Fields() {
		if f.Leaf() {
			fields = append(fields, outLeaf{f})
		} else {
			fields = append(fields, outGroupField{f, outFields(f)})
		}
	}
	return fields
}

// outGroupField is a column with columns in it.
type outGroupField struct {
	pq.Field
	fields []pq.Field
}

// Fields are the columns in it.
func (g outGroupField) Fields() []pq.Field { return g.fields }

// outLeaf is a column that is compressed as that of the input.
type outLeaf struct{ pq.Field }

// Compression is that of the input.
func (l outLeaf) Compression() compress.Codec {
	codec := l.Field.Compression()
	if codec != nil && codec.CompressionCodec() == format.Snappy {
		return fastSnappy{&pq.Snappy}
	}
	return codec
}

// fastSnappy is Snappy as other writers compress with it: that of parquet-go looks for longer
// matches, and takes twice the time.
type fastSnappy struct{ *snappy.Codec }

// Encode compresses src.
func (fastSnappy) Encode(dst, src []byte) ([]byte, error) { return s2.EncodeSnappy(dst, src), nil }

// newField is a column that the input does not have.
type newField struct {
	pq.Node
	name string
}

// Name is that of the column.
func (f newField) Name() string { return f.name }

// Value has to be there for the interface: copies are written by column, not from Go values.
func (f newField) Value(base reflect.Value) reflect.Value { return base }
