package loading

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records/lines"
)

// TimeFlag are the flags that say when documents were stored, and when they expire.
type TimeFlag struct {
	TimeField string `group:"input" placeholder:"NAME" help:"Field with the time at which a document counts as stored, for --ttl, SINCE and prune: RFC 3339, such as 2026-01-31T12:00:00Z or 2026-01-31, or seconds since 1970 (default: now)."`

	ExpiresField string `group:"input" placeholder:"NAME" help:"Field with the time at which a document expires, written like that of --time-field; --ttl may end it earlier (default: never)."`

	Else   time.Time `kong:"-"` // time of documents without the field; zero means now
	timed  bool      `kong:"-"` // a document has had the field of times
	expire bool      `kong:"-"` // a document has had the field of expiries
}

// Take moves the times of a document from its fields to Time and Expires. A document without the
// fields, or with null, is stored now and does not expire by itself. If a time is invalid, Take
// returns the reason, else "".
func (f *TimeFlag) Take(d *engine.Doc) (reason string) {
	reason = cmp.Or(take(d, f.TimeField, &d.Time, &f.timed), take(d, f.ExpiresField, &d.Expires, &f.expire))
	if d.Time.IsZero() {
		d.Time = f.Else
	}
	return reason
}

// take moves a time from a field of d to to, and sets found if d has the field.
func take(d *engine.Doc, field string, to *time.Time, found *bool) (reason string) {
	if field == "" || len(d.Fields) == 0 {
		return ""
	}
	var value []byte
	rest := []byte("{")
	err := lines.Members(d.Fields, func(name string, member, v []byte) {
		if name == field {
			value = v
			return
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(rest, member...)
	})
	if err != nil {
		return err.Error()
	}
	if value == nil { // it may be in an object, which stays whole
		if value = jsonfield.Parse(field).Of(d.Fields); value == nil {
			return ""
		}
	} else if d.Fields = nil; len(rest) > 1 {
		d.Fields = append(rest, '}')
	}
	*found = true
	var ok bool
	if *to, ok = parseTime(value); !ok {
		return fmt.Sprintf("the field %q is %.40s, not a time: use RFC 3339, such as 2026-01-31T12:00:00Z, or seconds since 1970", field, value)
	}
	return ""
}

// parseTime reads a time from JSON, to the microsecond. Null and the empty string give the zero
// time.
func parseTime(value []byte) (t time.Time, ok bool) {
	const least, most = -62135596800, 253402300799 // the years 1 to 9999
	text := strings.TrimSpace(string(value))
	if text[0] == '"' && json.Unmarshal(value, &text) != nil {
		return t, false
	}
	if text = strings.TrimSpace(text); text == "" || text == "null" {
		return t, true
	}
	if t, ok = quantity.ParseTime(text); ok {
		return t, true
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= least && seconds <= most) {
		return t, false
	}
	return time.UnixMicro(int64(math.Round(seconds * 1e6))), true
}
