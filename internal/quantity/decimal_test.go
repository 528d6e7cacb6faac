package quantity

import (
	"math/big"
	"strings"
	"testing"
)

// Numbers in all notations compare like exact fractions.
func TestCompare(t *testing.T) {
	numbers := []string{
		"0", "-0", "0.0", "0e9999", "1", "-1", "+1", "01", "1.0", "10", "1e1", "1E+0001", "100e-1", "9", "9.9", ".99e1", "0.05", "5e-2", "-0.05", "-5", "5.",
		"12345678901234567890", "12345678901234567891", "1234567890123456789e1", "1e0003", "1000", "-1e1000", "1e1000", "12e1000", "1.2e1001", "1e-1000",
		"-1e-1000", "1E+0005", "0.000120", "00.00012000001", "-.12e-3",
	}
	for _, a := range numbers {
		for _, b := range numbers {
			x, okX := new(big.Rat).SetString(a)
			y, okY := new(big.Rat).SetString(b)
			if got := ParseDecimal(a).Compare(ParseDecimal(b)); !okX || !okY || got != x.Cmp(y) {
				t.Errorf("%s with %s: %d, want %d", a, b, got, x.Cmp(y))
			}
		}
	}
}

// Comparing numbers with huge exponents is fast.
func TestHugeExponents(t *testing.T) {
	for _, huge := range []string{"1e99999999999999999999", "1e9223372036854775807"} {
		if ParseDecimal(huge).Compare(ParseDecimal("1e1000000")) != 1 || ParseDecimal("-"+huge).Compare(ParseDecimal("-1e1000000")) != -1 {
			t.Errorf("%s is not the greatest", huge)
		}
		if small := strings.Replace(huge, "e", "e-", 1); ParseDecimal(small).Compare(ParseDecimal("1e-1000000")) != -1 || ParseDecimal(small).Compare(ParseDecimal("0")) != 1 {
			t.Errorf("%s is not the least", small)
		}
	}
}
