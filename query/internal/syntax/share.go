package syntax

import (
	"strconv"
	"strings"
)

// ParseShare reads a share as statements write it: 0.8, or 80%. It returns false if s is not a
// number. A share is used where it is more than 0 and at most 1; the caller checks that.
func ParseShare(s string) (float64, bool) {
	digits, percent := strings.CutSuffix(s, "%")
	x, err := strconv.ParseFloat(digits, 64)
	if percent {
		x /= 100
	}
	return x, err == nil
}
