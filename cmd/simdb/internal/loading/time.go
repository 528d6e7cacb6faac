package loading

import (
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

// TimeFlag is the flag that says when documents were stored.
type TimeFlag struct {
	TimeField string `group:"input" placeholder:"NAME" help:"Field with the time at which a document counts as stored, for --ttl, SINCE and prune: RFC 3339, such as 2026-01-31T12:00:00Z or 2026-01-31, or seconds since 1970 (default: now)."`

	Else  time.Time `kong:"-"` // time of documents without the field; zero means now
	timed bool      `kong:"-"` // a document has had the field
}

// Take moves the time of a document from its field to Time. A document without the field, or with
// null, is stored now. If the time is invalid, Take returns the reason, else "".
func (f *TimeFlag) Take(d *engine.Doc) (reason string) {
	defer func() {
		if d.Time.IsZero() {
			d.Time = f.Else
		}
	}()
	if f.TimeField == "" || len(d.Fields) == 0 {
		return ""
	}
	var value []byte
	rest := []byte("{")
	err := lines.Members(d.Fields, func(name string, member, v []byte) {
		if name == f.TimeField {
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
		if value = jsonfield.Parse(f.TimeField).Of(d.Fields); value == nil {
			return ""
		}
	} else if d.Fields = nil; len(rest) > 1 {
		d.Fields = append(rest, '}')
	}
	f.timed = true
	var ok bool
	if d.Time, ok = parseTime(value); !ok {
		return fmt.Sprintf("the field %q is %.40s, not a time: use RFC 3339, such as 2026-01-31T12:00:00Z, or seconds since 1970", f.TimeField, value)
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
