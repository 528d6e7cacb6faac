package query

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// units of durations. A day is 24 hours, a week seven days: spans of time, not of calendars.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
}

// ParseDuration reads a duration as statements have it: 2d, 48h, 30m, 1.5h, 1d12h. It returns false if s is none, or one of more
// than 292 years.
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

// timeLayouts are the ways to write a time; without a zone it is UTC, as in what we print.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly}

// parseTime reads a time in any of the timeLayouts.
func parseTime(s string) (time.Time, bool) {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
