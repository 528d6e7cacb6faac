package quantity

import (
	"cmp"
	"encoding/binary"
	"strconv"
	"strings"
)

// A Decimal is a number of any size. Comparing two numbers is exact, and its time does not depend
// on their exponents. The number is 0.DIGITS times 10 to the power of point. Digits neither begin
// nor end with zeros; the zero value is zero.
type Decimal struct {
	digits string
	point  int64
	sign   int8 // -1, 0, 1
}

// ParseDecimal parses digits with an optional sign, decimal point and exponent. The number refers
// to the memory of s.
func ParseDecimal(s string) Decimal {
	s, negative := strings.CutPrefix(s, "-")
	mantissa, exponent := strings.TrimPrefix(s, "+"), ""
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		mantissa, exponent = mantissa[:i], mantissa[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return Decimal{}
	}
	const limit = 1 << 62                          // of exponents; all numbers beyond it are equal
	power, _ := strconv.ParseInt(exponent, 10, 64) // 0 if there is no exponent, and the nearest value if it is out of range
	power = min(max(power, -limit), limit)
	n := Decimal{strings.TrimRight(digits, "0"), int64(len(digits)-len(fraction)) + power, 1}
	if negative {
		n.sign = -1
	}
	return n
}

// Compare returns -1, 0 or 1 if a is less than, equal to or greater than b.
func (a Decimal) Compare(b Decimal) int {
	if a.sign != b.sign || a.sign == 0 {
		return cmp.Compare(a.sign, b.sign)
	}
	return int(a.sign) * cmp.Or(cmp.Compare(a.point, b.point), strings.Compare(a.digits, b.digits))
}

// AppendOrdered appends an encoding whose byte order is the order of numbers. Equal numbers have
// equal encodings.
func (a Decimal) AppendOrdered(dst []byte) []byte {
	dst = append(dst, byte(a.sign+1))
	if a.sign == 0 {
		return dst
	}
	from := len(dst)
	dst = binary.BigEndian.AppendUint64(dst, uint64(a.point)^1<<63)
	dst = append(dst, a.digits...)
	if a.sign < 0 {
		for i := range dst[from:] {
			dst[from+i] ^= 0xff
		}
		dst = append(dst, 0xff) // sorts after encodings with more digits, which are smaller negative numbers
	}
	return dst
}

// IsDecimal reports whether word is -?digits[.digits][e[+-]digits], with digits on at least one
// side of the point.
func IsDecimal(word string) bool {
	word = strings.TrimPrefix(word, "-")
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(word), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if hasExponent {
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
		if exponent == "" || !digits(exponent) {
			return false
		}
	}
	return whole+fraction != "" && digits(whole+fraction)
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }
