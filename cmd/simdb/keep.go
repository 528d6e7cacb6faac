package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
)

// keepRule says which document of a cluster is kept. Of equals it is always the first.
type keepRule struct {
	name  string // first, last, longest, shortest, max or min
	field string // of max and min
}

// UnmarshalText parses a rule.
func (k *keepRule) UnmarshalText(text []byte) error {
	name, field, _ := strings.Cut(string(text), ":")
	switch {
	case name == "max" || name == "min":
		if field == "" {
			return fmt.Errorf("%q needs the name of a field, such as %s:score", text, name)
		}
	case name != "first" && name != "last" && name != "longest" && name != "shortest" || field != "":
		return fmt.Errorf("%q is not one of first, last, longest, shortest, max:FIELD, min:FIELD", text)
	}
	*k = keepRule{name, field}
	return nil
}

// needsValue says whether the rule compares a value of each document.
func (k keepRule) needsValue() bool { return k.name != "first" && k.name != "last" }

// value is what the rule compares; the greater is kept. It is the length of the text in characters, or the number in
// the field; a document without that comes last.
func (k keepRule) value(rec *input.Record) float64 {
	switch k.name {
	case "longest":
		return float64(utf8.RuneCountInString(rec.Doc.Text))
	case "shortest":
		return -float64(utf8.RuneCountInString(rec.Doc.Text))
	}
	v, ok := number(rec.Doc.Fields, k.field)
	if !ok {
		return math.Inf(-1)
	}
	if k.name == "min" {
		return -v
	}
	return v
}

// before returns the order of preference for engine.Clusters, whose documents are called by ordinal.
func (k keepRule) before(values []float64) func(a, b engine.Entry) bool {
	switch {
	case k.name == "first":
		return func(a, b engine.Entry) bool { return a.ID < b.ID }
	case k.name == "last":
		return func(a, b engine.Entry) bool { return a.ID > b.ID }
	}
	return func(a, b engine.Entry) bool {
		x, y := values[ordinalOf(a.ID)], values[ordinalOf(b.ID)]
		return x > y || x == y && a.ID < b.ID
	}
}

// number returns the number in a field of a document: a JSON number, or a string that is one.
func number(fields json.RawMessage, name string) (float64, bool) {
	var all map[string]json.RawMessage
	if len(fields) == 0 || json.Unmarshal(fields, &all) != nil {
		return 0, false
	}
	text := string(all[name])
	var s string
	if json.Unmarshal(all[name], &s) == nil {
		text = strings.TrimSpace(s)
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsNaN(v)
}

// An ordinal is the number of a document among those read, from 0. As an ID it has a fixed width, so that IDs are in
// the order of the ordinals:
//
//	5 bytes, big-endian: room for 10^12 documents
const ordinalBytes = 5

func ordinalID(n int64) string {
	return string([]byte{byte(n >> 32), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}

func ordinalOf(id string) int64 {
	n := int64(0)
	for i := range ordinalBytes {
		n = n<<8 | int64(id[i])
	}
	return n
}
