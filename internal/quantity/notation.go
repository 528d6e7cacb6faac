package quantity

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// units are the units of durations. A day is 24 hours and a week seven days, whatever the calendar.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
	"d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
}

// ParseDuration reads a duration as statements write it: 2d, 48h, 30m, 1.5h, 1d12h. It returns
// false if s is not a duration, or is longer than 292 years.
func ParseDuration(s string) (time.Duration, bool) {
	if s == "" {
		return 0, false
	}
	total := 0.0
	for s = strings.ToLower(s); s != ""; {
		i := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if i <= 0 {
			return 0, false
		}
		n, err := strconv.ParseFloat(s[:i], 64)
		if err != nil {
			return 0, false
		}
		s = s[i:]
		if i = strings.IndexFunc(s, func(r rune) bool { return r < 'a' || r > 'z' }); i < 0 {
			i = len(s)
		}
		unit, ok := units[s[:i]]
		if !ok {
			return 0, false
		}
		total += n * float64(unit)
		s = s[i:]
	}
	if total >= math.MaxInt64 {
		return 0, false
	}
	return time.Duration(total), true
}

// timeLayouts are the ways to write a time. Without a zone it is UTC, as in output.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
}

// ParseTime reads a time in one of the timeLayouts.
func ParseTime(s string) (time.Time, bool) {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

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
