package jsonfield

import "github.com/simdb/simdb/internal/quantity"

// A Key is what an index has of a value: bytes whose order is that in which statements compare
// values. A comparison with a string compares the texts of all values, one with a number compares
// values that are numbers. So there are two orders, and a number is in both.
//
// Keys are cut off after MostKey bytes. A value that is between two others has a key that is
// between their keys, or equal to one.

// MostKey is the most bytes of a key.
const MostKey = 128

// Value returns the value of a field as statements compare it: a string without its quotes and
// escapes, anything else as it is written. raw is what Of returns, and not nil.
func Value(raw []byte) []byte {
	if raw[0] == '"' {
		return Unquoted(raw)
	}
	return raw
}

// IsNumber reports whether a value is compared with numbers: a number, or a string that is one.
func IsNumber(value []byte) bool {
	return len(value) > 0 && (value[0] == '-' || value[0] == '.' || value[0] >= '0' && value[0] <= '9') && quantity.IsDecimal(string(value))
}

// TextKey returns the key of a value in the order of texts. It aliases value.
func TextKey(value []byte) []byte { return value[:min(len(value), MostKey)] }

// AppendNumberKey appends the key of a value that IsNumber in the order of numbers.
func AppendNumberKey(dst, value []byte) []byte {
	from := len(dst)
	dst = quantity.ParseDecimal(string(value)).AppendOrdered(dst)
	return dst[:min(len(dst), from+MostKey)]
}
