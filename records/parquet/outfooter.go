package parquet

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"slices"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// footerWriter buffers everything written once held is set: the index of pages, which is dropped because
// it would contain bounds for columns that have none, and the footer, which is changed.
type footerWriter struct {
	w    io.Writer
	n    int64         // bytes written before that
	held *bytes.Buffer // buffered bytes; nil before that
}

// Write writes or holds b.
func (w *footerWriter) Write(b []byte) (int, error) {
	if w.held != nil {
		return w.held.Write(b)
	}
	n, err := w.w.Write(b)
	w.n += int64(n)
	return n, err
}

// release writes the buffered footer, as changed by f.
func (w *footerWriter) release(f func(*format.FileMetaData)) error {
	held := w.held.Bytes()
	end := len(held) - 8
	from := end - int(binary.LittleEndian.Uint32(held[end:]))
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), held[from:end], &meta); err != nil {
		return err
	}
	for i := range meta.RowGroups {
		for j := range meta.RowGroups[i].Columns {
			c := &meta.RowGroups[i].Columns[j]
			from = min(from, int(c.ColumnIndexOffset-w.n))
			c.ColumnIndexOffset, c.ColumnIndexLength, c.OffsetIndexOffset, c.OffsetIndexLength = 0, 0, 0, 0
		}
	}
	f(&meta)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		return err
	}
	b := append(held[:from:from], footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	_, err = w.w.Write(append(b, magic...))
	return err
}

// likeInput completes the footer of a copy with information that the writer does not know or
// changes: the types of columns and the key-value metadata come from the input.
func (f *file) likeInput(meta *format.FileMetaData) {
	copy(meta.Schema[1:], f.meta.Schema[1:]) // additional columns follow
	meta.KeyValueMetadata = nil
	for _, kv := range f.meta.KeyValueMetadata {
		meta.KeyValueMetadata = append(meta.KeyValueMetadata, format.KeyValue(kv))
	}
	for i := range meta.RowGroups {
		for j := range meta.RowGroups[i].Columns {
			c := &meta.RowGroups[i].Columns[j].MetaData
			if c.Type == format.Float || c.Type == format.Double {
				trueBounds(&c.Statistics)
			}
		}
	}
}

// trueBounds corrects bounds of floating-point numbers, which the writer gets wrong if values are
// NaN or zero.
func trueBounds(s *format.Statistics) {
	if isNaN(s.MinValue) || isNaN(s.MaxValue) {
		s.MinValue, s.MaxValue = nil, nil
	}
	signZero(s.MinValue, 0x80)
	signZero(s.MaxValue, 0)
}

// isNaN reports whether a bound is not a number.
func isNaN(bound []byte) bool {
	switch len(bound) {
	case 4:
		return math.IsNaN(float64(math.Float32frombits(binary.LittleEndian.Uint32(bound))))
	case 8:
		return math.IsNaN(math.Float64frombits(binary.LittleEndian.Uint64(bound)))
	}
	return false
}

// signZero sets the sign of a bound that is zero: the minimum must be -0 and the maximum +0,
// because a column with one of these zeros may also have the other.
func signZero(bound []byte, sign byte) {
	n := len(bound) - 1
	if n >= 0 && bound[n]&0x7f == 0 && !slices.ContainsFunc(bound[:n], func(b byte) bool { return b != 0 }) {
		bound[n] = sign
	}
}

// bounded reports whether a copy has the minimum and maximum of a column. It has them if the writer
// compares values in the order of their type. Whole texts would be useless as bounds.
func (f *file) bounded(col *pq.Column) bool {
	if f.isText(col) {
		return false
	}
	kind, lt := col.Type().Kind(), col.Type().LogicalType()
	if lt == nil {
		e := f.elements[col.Index()]
		return e.LogicalType.Value == nil && !e.ConvertedType.Valid && kind != pq.Int96
	}
	switch lt.Value.(type) {
	case *format.DecimalType:
		return kind == pq.Int32 || kind == pq.Int64
	case *format.GeometryType, *format.GeographyType:
		return false
	}
	return true
}

// isText reports whether a column is read as a text, or as a part of one.
func (f *file) isText(col *pq.Column) bool {
	return slices.ContainsFunc(f.roles.texts, func(t textRole) bool { return !t.json && !f.roles.set && t.col.Index() == col.Index() })
}
