package app

import (
	"fmt"
	"testing"
)

// TestSharePercent checks that every share of two digits is shown with the same digits.
func TestSharePercent(t *testing.T) {
	for n := 1; n <= 100; n++ {
		var s Share
		if err := s.UnmarshalText(fmt.Appendf(nil, "%.2f", float64(n)/100)); err != nil {
			t.Fatal(err)
		}
		if got, want := s.Percent(), fmt.Sprintf("%d %%", n); got != want {
			t.Errorf("%v is %s, not %s", float64(s), got, want)
		}
	}
}
