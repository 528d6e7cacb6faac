package query

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// All places of a statement read fingerprints by the same rule.
func TestFingerprintsAsText(t *testing.T) {
	db := openTest(t, nil)
	putAll(t, db, map[string]uint64{"sixteen": 0x1234567890123456, "decimal": 1234567890123456, "d": 231231231231231,
		"letter": 0xff3c5a0011223344, "digit": 0x9f3c5a0011223344, "exponent": 0x12345678901234e5, "days": 0x123456789012345d})
	for _, c := range []struct {
		text string
		args []any
		want string
	}{
		{"NEAR(0x1234567890123456, 0)", nil, "[sixteen 0]"},
		{"NEAR(1234567890123456, 0)", nil, "[sixteen 0]"},
		{"NEAR(0001234567890123456, 0)", nil, "[decimal 0]"},
		{"NEAR(?, 0)", []any{int64(1234567890123456)}, "[decimal 0]"},
		{"NEAR($x, 0)", []any{Named{"x", uint64(1234567890123456)}}, "[decimal 0]"},
		{"NEAR(-6972599166742416572, 0)", nil, "[digit 0]"},
		{"NEAR(?, 0)", []any{int64(-6972599166742416572)}, "[digit 0]"},
		{"NEAREST(231231231231231, 1)", nil, "[d 0]"},
		{"NEAR(0xd24db76604ff, 0)", nil, "[d 0]"},
		{"NEAR(ff3c5a0011223344, 0)", nil, "[letter 0]"},
		{"near(FF3C5A0011223344, 0)", nil, "[letter 0]"},
		{"NEAR(9f3c5a0011223344, 0)", nil, "[digit 0]"},
		{"NEAR(12345678901234e5, 0)", nil, "[exponent 0]"},
		{"NEAR(123456789012345d, 0)", nil, "[days 0]"},
		{"NEAR('digit', 0) OR NEAR(ff3c5a0011223344, 0)", nil, "[letter 0]"},
		{"NEAR('d', 64) LIMIT 1234567890123456 OFFSET 5", nil, "[letter 35]"},
	} {
		rows, err := Run(t.Context(), db, c.text, c.args...)
		var got []string
		if err == nil {
			var row Row
			for row, err = range rows.All() {
				got = append(got, fmt.Sprint(row))
			}
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, %v; want %s", c.text, got, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"NEAR(ff3c5a001122334, 0)":      `"ff3c5a001122334"`,
		"NEAR(18446744073709551616, 0)": "the fingerprint 18446744073709551616 does not fit into 64 bits",
		"NEAR(-9223372036854775809, 0)": "the fingerprint -9223372036854775809 does not fit into 64 bits",
		"NEAR(0x12345678901234567, 0)":  "the fingerprint has 17 hexadecimal digits; 64 bits have at most 16",
		"NEAR(1.5, 0)":                  `"1.5" should be a fingerprint such as 0xff`,
		"NEAR(TEXT 1234567890123456,0)": `should be a text in quotes`,
		"NEAR('ff3c5a0011223344', 0)":   "for a fingerprint write ff3c5a0011223344 without quotes",
		"NEAR('231231231231231', 0)":    "there is no document '231231231231231'",
	} {
		_, err := Run(t.Context(), db, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestPutFingerprintsAsText(t *testing.T) {
	db := openTest(t, nil)
	for value, want := range map[string]uint64{`"1234567890123456"`: 0x1234567890123456, `1234567890123456`: 1234567890123456,
		`"231231231231231"`: 231231231231231, `231231231231231`: 231231231231231, `"0x1f"`: 0x1f, `"9F3C5A0011223344"`: 0x9f3c5a0011223344} {
		if _, err := Run(t.Context(), db, "PUT ?", json.RawMessage(`{"id":"a","fingerprint":`+value+`}`)); err != nil {
			t.Fatal(value, err)
		}
		if e, err := db.Get(t.Context(), "a"); err != nil || e.Fingerprints[0][0] != want {
			t.Errorf("%s: %x, want %x", value, e.Fingerprints[0][0], want)
		}
	}
	for value, want := range map[string]string{
		`"1f"`:                 "fewer than 16 need 0x before them",
		`1.5`:                  `"1.5" is not a decimal number`,
		`true`:                 `"true" is not a decimal number`,
		`18446744073709551616`: "does not fit into 64 bits",
	} {
		_, err := Run(t.Context(), db, `PUT {"id":"a","fingerprint":`+value+`}`)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", value, err, want)
		}
	}
}

// TestDoubts checks the warnings about fingerprints that could be decimal, and about searches by
// text among documents without texts.
func TestDoubts(t *testing.T) {
	db := openTest(t, nil)
	putAll(t, db, map[string]uint64{"a": 0x1234567890123456, "b": 0x1234567890123457})
	ask := func(text string, args ...any) []string {
		rows := must.Get(Run(t.Context(), db, text, args...))(t)
		for _, err := range rows.All() {
			must.Do(t, err)
		}
		return rows.Warnings()
	}
	const ambiguous = "1234567890123456 has 16 digits and is hexadecimal; as a decimal number it is 01234567890123456"
	for text, want := range map[string]string{
		"NEAR(1234567890123456, 0)":   ambiguous,
		"NEAR(0x1234567890123456, 0)": "", "NEAR(12345678901234567, 0)": "",
		"JACCARD('a', 0.8)":             "the document 'a' has fingerprints but no texts: NEAR('a', 3) compares fingerprints",
		"CONTAINS('a', 0.8)":            "the document 'a' has fingerprints but no texts: NEAR('a', 3) compares fingerprints",
		"COSINE(TEXT 'some text', 0.8)": "the documents have fingerprints but no texts: NEAR compares fingerprints",
		"PAIRS JACCARD 0.8":             "the documents have fingerprints but no texts: NEAR 3 compares fingerprints",
		"PAIRS NEAR 3":                  "",
	} {
		if got := strings.Join(ask(text), "; "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	must.Do(t, db.Put(t.Context(), engine.Doc{ID: "c", Text: "some words are here"}))
	must.Do(t, db.Put(t.Context(), engine.Doc{ID: "17", Text: "some other words are here"}))
	const quoted = "17 without quotes is a fingerprint: the document's id is '17'"
	for text, want := range map[string]string{"NEAR(17, 0)": quoted, "NEAR(0x17, 0)": "", "NEAR(18, 0)": "", "NEAR(17, 64)": "", "NEAR('17', 0)": ""} {
		if got := strings.Join(ask(text), "; "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := ask("NEAR(?, 0)", 17); len(got) > 0 {
		t.Errorf("a parameter: %q", got)
	}
	for _, text := range []string{"PAIRS JACCARD 0.8", "JACCARD('c', 0.8)"} {
		if got := ask(text); len(got) > 0 {
			t.Errorf("%s with texts: %q", text, got)
		}
	}
}
