package jsonfield

import "github.com/simdb/simdb/internal/quantity"

// A key is the representation of a value in an index: bytes whose order is that in which statements
// compare values. A comparison with a string compares the texts of all values; a comparison with a
// number compares only values that are numbers. Therefore there are two orders, and a number is in
// both.
//
// Keys are truncated to MostKey bytes. If a value is between two others, its key is between theirs,
// or equal to one.

// MostKey is the largest length of a key in bytes.
const MostKey = 128

// Value returns the value of a field as statements compare it: a string without quotes and escapes,
// any other value as written.
func Value(raw []byte) []byte {
	if len(raw) > 1 && raw[0] == '"' {
		return Unquoted(raw)
	}
	return raw
}

// IsNumber reports whether a value is compared with numbers: it is a number, or a string that
// contains one.
func IsNumber(value []byte) bool {
	return len(value) > 0 && (value[0] == '-' || value[0] == '.' || value[0] >= '0' && value[0] <= '9') && quantity.IsDecimal(string(value))
}

// TextKey returns the key of a value in the order of texts. It aliases value.
func TextKey(value []byte) []byte { return value[:min(len(value), MostKey)] }

// AppendNumberKey appends the key of a value in the order of numbers. IsNumber must be true for the
// value.
func AppendNumberKey(dst, value []byte) []byte {
	from := len(dst)
	dst = quantity.ParseDecimal(string(value)).AppendOrdered(dst)
	return dst[:min(len(dst), from+MostKey)]
}
