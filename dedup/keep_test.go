package dedup

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// ranked creates documents with these values of the field f, and returns their ordinals in the
// order of preference.
func ranked(t *testing.T, rule string, values ...string) []int64 {
	t.Helper()
	rules := must.Get(ParseKeep(rule))(t)
	r := newRankings(rules)
	var ids []int64
	for i, v := range values {
		fields := json.RawMessage(fmt.Sprintf(`{"f":%s,"other":1}`, v))
		if v == "" {
			fields = json.RawMessage(`{"other":1}`)
		}
		r.add(&records.Record{Doc: engine.Doc{ID: fmt.Sprint(i), Fields: fields}})
		ids = append(ids, int64(i))
	}
	must.Do(t, r.decide())
	less := r.less
	for _, a := range ids { // a strict total order
		for _, b := range ids {
			if less(a, b) && less(b, a) || a != b && !less(a, b) && !less(b, a) {
				t.Fatalf("%s: %s and %s are in no order", rule, values[a], values[b])
			}
			for _, c := range ids {
				if less(a, b) && less(b, c) && !less(a, c) {
					t.Fatalf("%s: %s, %s, %s go in a circle", rule, values[a], values[b], values[c])
				}
			}
		}
	}
	slices.SortFunc(ids, func(a, b int64) int {
		if less(a, b) {
			return -1
		}
		return 1
	})
	return ids
}

func TestKeepOrder(t *testing.T) {
	for _, c := range []struct {
		values, max, min string
	}{
		{`1 3 2 3`, "[1 3 2 0]", "[0 2 1 3]"},
		{`"10" "9" 1e1`, "[0 2 1]", "[1 0 2]"},
		{`"2024-05-01" "2020-01-01" "2021"`, "[0 2 1]", "[1 2 0]"},
		{`"b" "a" "10" "9"`, "[0 1 3 2]", "[2 3 1 0]"},
		{`null 1 [] {}  -5`, "[1 4 0 2 3]", "[4 1 0 2 3]"},
		{`true false 5 "x"`, "[3 2 0 1]", "[1 0 2 3]"},
		{`1700000000123456789 1700000000123456788 "1700000000123456790"`, "[2 0 1]", "[1 0 2]"},
		{`0.1 0.10000000000000001 0.1000000000000000100001`, "[2 1 0]", "[0 1 2]"},
		{`1e400 -1e400 5`, "[0 2 1]", "[1 2 0]"},
		{`"Inf" 5 "NaN"`, "[2 0 1]", "[1 0 2]"},
	} {
		values := strings.Fields(c.values)
		if got := fmt.Sprint(ranked(t, "max:f", values...)); got != c.max {
			t.Errorf("max of %s: %s, not %s", c.values, got, c.max)
		}
		if got := fmt.Sprint(ranked(t, "min:f", values...)); got != c.min {
			t.Errorf("min of %s: %s, not %s", c.values, got, c.min)
		}
	}
	if got := fmt.Sprint(ranked(t, "max:f", "", "1", "", "2")); got != "[3 1 0 2]" {
		t.Errorf("a missing field: %s", got)
	}
}

// TestKeepOrderIsTotal checks that the order is total for any values of a field.
func TestKeepOrderIsTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := []string{`1`, `"1"`, `1.0`, `1e0`, `10000000000000000001`, `1e19`, `10000000000000000000`, `"1e19"`, `-0`, `0`, `null`, `true`, `false`,
		`"a"`, `""`, `"2020"`, `"2020-01-01"`, `1e999`, `-1e999`, `[1]`, strings.Repeat("9", 400), strings.Repeat("9", 401), `1e-999`, `0.1`}
	for range 300 {
		var values []string
		for range 12 {
			values = append(values, some[r.IntN(len(some))])
		}
		for _, rule := range []string{"max:f", "min:f"} {
			ranked(t, rule, values...)
		}
	}
}

// TestKeepLength checks that lengths are in characters, not in bytes.
func TestKeepLength(t *testing.T) {
	for rule, want := range map[string]int64{"longest": 1, "shortest": 2} {
		rules := must.Get(ParseKeep(rule))(t)
		r := newRankings(rules)
		texts := []string{"\u65e5\u672c\u8a9e", "abcde", "\U0001f600", "xy"}
		for i, text := range texts {
			r.add(&records.Record{Doc: engine.Doc{ID: fmt.Sprint(i), Text: text}})
		}
		must.Do(t, r.decide())
		for i := range texts {
			if i := int64(i); i != want && !r.less(want, i) {
				t.Errorf("%s: %q is preferred to %q", rule, texts[i], texts[want])
			}
		}
	}
}
