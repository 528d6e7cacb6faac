package quantity

import (
	"math"
	"testing"
)

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 12345: "12,345", 999999: "999,999", 1000000: "1,000,000",
		-1: "-1", -999: "-999", -1000: "-1,000", -123456: "-123,456",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n    int64
		noun string
		want string
	}{
		{0, "row", "0 rows"},
		{1, "row", "1 row"},
		{2, "row", "2 rows"},
		{12345, "row", "12,345 rows"},
		{0, "match", "0 matches"},
		{1, "match", "1 match"},
		{1000, "match", "1,000 matches"},
	} {
		if got := Count(c.n, c.noun); got != c.want {
			t.Errorf("Count(%d, %q) = %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}

func TestPlain(t *testing.T) {
	for n, want := range map[int]string{0: "0 values are", 1: "1 value is", 2: "2 values are", 12345: "12345 values are"} {
		if got := Plain(n, "value is", "values are"); got != want {
			t.Errorf("Plain(%d) = %q, want %q", n, got, want)
		}
	}
	if got := Plain(int64(1)<<40, "row", "rows"); got != "1099511627776 rows" {
		t.Error(got)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 999949: "999.9 kB", 999999: "1.0 MB", 5e12: "5.0 TB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}
