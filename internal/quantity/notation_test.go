package quantity

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	day := 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"2d": 2 * day, "48h": 2 * day, "30m": 30 * time.Minute, "1d12h": 36 * time.Hour, "1.5h": 90 * time.Minute,
		"1w": 7 * day, "500ms": 500 * time.Millisecond, "10s": 10 * time.Second, "2D": 2 * day,
		"": -1, "d": -1, "2": -1, "2x": -1, "2dd": -1, "1..5h": -1, "99999999w": -1, "-2d": -1,
	} {
		got, ok := ParseDuration(s)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v, %v", s, got, ok)
		}
	}
}
