package arrow

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"github.com/simdb/simdb/internal/jsontext"
	"github.com/simdb/simdb/records"
)

// column is an array of values of one type. Value i is at index from+i of the buffers.
type column struct {
	t        *dataType
	from     int64
	valid    unsafe.Pointer // one bit per value; nil if no value is null
	data     unsafe.Pointer
	heap     unsafe.Pointer // bytes of strings
	buffers  []unsafe.Pointer
	children []column
	values   *column // values of a dictionary
}

// newColumn returns the values of an array after the first skip, which its parent excludes.
func newColumn(t *dataType, a *Array, skip int64) column {
	c := column{t: t, from: a.Offset + skip, buffers: unsafe.Slice(a.Buffers, a.NBuffers)}
	at := func(i int) unsafe.Pointer {
		if i < len(c.buffers) {
			return c.buffers[i]
		}
		return nil
	}
	if t.kind != null && a.NullCount != 0 {
		c.valid = at(0)
	}
	c.data, c.heap = at(1), at(2)
	below := int64(0) // number of elements to skip in children; those of lists are addressed by offsets
	if t.kind == structure {
		below = c.from
	}
	for i, child := range unsafe.Slice(a.Children, a.NChildren) {
		c.children = append(c.children, newColumn(t.children[i], child, below))
	}
	if t.values != nil && a.Dictionary != nil {
		v := newColumn(t.values, a.Dictionary, 0)
		c.values = &v
	}
	return c
}

// isNull reports whether value i is null.
func (c *column) isNull(i int64) bool {
	if c.valid != nil && !bit(c.valid, c.from+i) {
		return true
	}
	switch c.t.kind {
	case null:
		return true
	case dictionary:
		return c.values.isNull(c.integer(i))
	}
	return false
}

func bit(p unsafe.Pointer, i int64) bool { return *(*byte)(unsafe.Add(p, i/8))>>(i%8)&1 != 0 }

// integer returns the whole number at index i.
func (c *column) integer(i int64) int64 {
	return number(unsafe.Add(c.data, (c.from+i)*int64(c.t.size)), c.t.size, c.t.kind != unsigned && (c.t.kind != dictionary || c.t.sign))
}

func number(p unsafe.Pointer, size int, sign bool) int64 {
	switch {
	case size == 8:
		return *(*int64)(p)
	case size == 4 && sign:
		return int64(*(*int32)(p))
	case size == 4:
		return int64(*(*uint32)(p))
	case size == 2 && sign:
		return int64(*(*int16)(p))
	case size == 2:
		return int64(*(*uint16)(p))
	case sign:
		return int64(*(*int8)(p))
	}
	return int64(*(*uint8)(p))
}

// span returns the range of the elements or bytes of value i.
func (c *column) span(i int64) (from, to int64) {
	size := int64(c.t.size)
	p := unsafe.Add(c.data, (c.from+i)*size)
	return number(p, int(size), true), number(unsafe.Add(p, size), int(size), true)
}

// bytes returns the bytes of a string, without copying them.
func (c *column) bytes(i int64) []byte {
	switch c.t.kind {
	case dictionary:
		return c.values.bytes(c.integer(i))
	case fixed:
		return unsafe.Slice((*byte)(unsafe.Add(c.data, (c.from+i)*int64(c.t.size))), c.t.size)
	case textView, binaryView:
		const inline = 12
		view := unsafe.Add(c.data, (c.from+i)*16)
		n := *(*int32)(view)
		if n <= inline {
			return unsafe.Slice((*byte)(unsafe.Add(view, 4)), n)
		}
		heap, at := *(*int32)(unsafe.Add(view, 8)), *(*int32)(unsafe.Add(view, 12))
		return unsafe.Slice((*byte)(unsafe.Add(c.buffers[2+heap], at)), n)
	}
	from, to := c.span(i)
	if from == to {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(c.heap, from)), to-from)
}

// isText reports whether values are strings.
func (t *dataType) isText() bool {
	return t.kind == text || t.kind == textView || t.kind == dictionary && t.values.isText()
}

// isInteger reports whether values are whole numbers.
func (t *dataType) isInteger() bool { return t.kind == signed || t.kind == unsigned }

// isList reports whether values are lists.
func (t *dataType) isList() bool { return t.kind == list || t.kind == listView || t.kind == fixedList }

// append appends value i as JSON, in the same format as Parquet inputs: numbers and booleans as
// such, times in the format of RFC 3339, bytes that are not text in base64, and null only within
// lists.
func (c *column) append(b []byte, i int64) []byte {
	switch t := c.t; t.kind {
	case boolean:
		return strconv.AppendBool(b, bit(c.data, c.from+i))
	case signed, duration:
		return strconv.AppendInt(b, c.integer(i), 10)
	case unsigned:
		return strconv.AppendUint(b, uint64(c.integer(i)), 10)
	case float:
		p := unsafe.Add(c.data, (c.from+i)*int64(t.size))
		if t.size == 4 {
			return records.AppendFloat(b, float64(*(*float32)(p)), 32)
		}
		return records.AppendFloat(b, *(*float64)(p), 64)
	case decimal:
		return appendDecimal(b, unsafe.Slice((*byte)(unsafe.Add(c.data, (c.from+i)*int64(t.size))), t.size), t.scale)
	case date, clock, timestamp:
		return c.appendTime(b, c.integer(i))
	case dictionary:
		return c.values.append(b, c.integer(i))
	case structure:
		return c.appendMembers(b, i)
	case list, listView, fixedList, mapping:
		return c.appendElements(b, i)
	}
	p := c.bytes(i)
	if c.t.json && json.Valid(p) {
		return append(b, p...)
	}
	return jsontext.AppendBytes(b, p)
}

// elements returns the range of the elements of a list in its child.
func (c *column) elements(i int64) (from, to int64) {
	switch c.t.kind {
	case fixedList:
		from = (c.from + i) * int64(c.t.size)
		return from, from + int64(c.t.size)
	case listView:
		size := int64(c.t.size)
		at := (c.from + i) * size
		from = number(unsafe.Add(c.data, at), int(size), true)
		return from, from + number(unsafe.Add(c.heap, at), int(size), true)
	}
	return c.span(i)
}

// appendElements appends a list, or a map as an object.
func (c *column) appendElements(b []byte, i int64) []byte {
	open, end := byte('['), byte(']')
	if c.t.kind == mapping {
		open, end = '{', '}'
	}
	b = append(b, open)
	child := &c.children[0]
	from, to := c.elements(i)
	for at := from; at < to; at++ {
		if at > from {
			b = append(b, ',')
		}
		if c.t.kind == mapping {
			key, value := &child.children[0], &child.children[1]
			start := len(b)
			if b = key.append(b, at); b[start] != '"' {
				b = records.AppendString(b[:start], string(b[start:]))
			}
			b = value.appendOrNull(append(b, ':'), at)
			continue
		}
		b = child.appendOrNull(b, at)
	}
	return append(b, end)
}

func (c *column) appendOrNull(b []byte, i int64) []byte {
	if c.isNull(i) {
		return append(b, "null"...)
	}
	return c.append(b, i)
}

// appendMembers appends the children as an object, without null values.
func (c *column) appendMembers(b []byte, i int64) []byte {
	b = append(b, '{')
	empty := len(b)
	for n := range c.children {
		child := &c.children[n]
		if child.isNull(i) {
			continue
		}
		if len(b) > empty {
			b = append(b, ',')
		}
		b = append(records.AppendString(b, child.t.name), ':')
		b = child.append(b, i)
	}
	return append(b, '}')
}

// appendTime appends a time as a JSON string.
func (c *column) appendTime(b []byte, n int64) []byte {
	layout := "2006-01-02"
	switch c.t.kind {
	case clock:
		layout = "15:04:05.999999999"
	case timestamp:
		if layout = "2006-01-02T15:04:05.999999999"; c.t.zone {
			layout += "Z"
		}
	}
	at := time.Unix(n*86400, 0) // days
	if unit := c.t.unit; unit > 0 {
		seconds := n / unit
		at = time.Unix(seconds, (n-seconds*unit)*(1e9/unit))
	}
	b = append(b, '"')
	b = at.UTC().AppendFormat(b, layout)
	return append(b, '"')
}

// appendDecimal appends a number whose bytes are two's complement, little-endian.
func appendDecimal(b, p []byte, scale int) []byte {
	p = slices.Clone(p)
	slices.Reverse(p)
	n := new(big.Int).SetBytes(p)
	if p[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(p))))
	}
	if scale < 0 {
		n.Mul(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-scale)), nil))
		scale = 0
	}
	return jsontext.AppendDecimal(b, n, scale)
}

// stringAt converts bytes to a string without copying.
func stringAt(p []byte) string { return unsafe.String(unsafe.SliceData(p), len(p)) }
