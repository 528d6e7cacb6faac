// Package quantity formats numbers and counted things for messages, compares decimal numbers, and
// measures time.
package quantity

import (
	"fmt"
	"strconv"
	"strings"
)

// Number formats n with a comma between groups of three digits: "12,345".
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count formats n things, with commas as in Number: "1 row", "12,345 rows", "2 matches". The plural
// of noun must end in "s", or in "es" after "ch".
func Count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	return Number(n) + " " + noun + "s"
}

// Plain formats n things without commas, for results of statements: "1 row", "12345 rows". one and
// many are the forms of the noun.
func Plain[N int | int64](n N, one, many string) string {
	if n != 1 {
		one = many
	}
	return strconv.FormatInt(int64(n), 10) + " " + one
}

// Bytes formats a size in decimal units: "12.3 MB".
func Bytes(n int64) string {
	f, u := float64(n), 0
	for units := "kMGTPE"; f >= 999.95 && u < len(units); u++ {
		f /= 1000
	}
	if u == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %cB", f, "kMGTPE"[u-1])
}
