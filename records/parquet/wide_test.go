package parquet

import (
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/records"
)

// All fingerprints of a file have the same length, counted in digits of text or in bytes.
func TestWidths(t *testing.T) {
	type row struct {
		ID    string   `parquet:"id"`
		Hex   string   `parquet:"hex"`
		Mixed string   `parquet:"mixed"`
		Bytes []byte   `parquet:"bytes"`
		Fixed [16]byte `parquet:"fixed"`
		Whole int64    `parquet:"whole"`
		Odd   [12]byte `parquet:"odd"`
	}
	code := strings.Repeat("9f3c5a0011223344", 2)
	raw := [16]byte{0x9f, 0x3c, 0x5a, 0, 0x11, 0x22, 0x33, 0x44, 0x9f, 0x3c, 0x5a, 0, 0x11, 0x22, 0x33, 0x44}
	var rows []row
	for i := range 9 {
		r := row{ID: "a", Hex: code, Mixed: code, Bytes: raw[:], Fixed: raw}
		if i == 7 {
			r.Mixed = code[:16]
		}
		rows = append(rows, r)
	}
	data := write(t, rows, 4)
	for _, c := range []struct {
		field string
		bits  int
		n     base.Notation
		want  string // or the result
	}{
		{"hex", 0, base.Auto, code}, {"hex", 128, base.Hex, code}, {"bytes", 0, base.Auto, code}, {"fixed", 0, base.Auto, code}, {"fixed", 128, base.Auto, code},
		{"whole", 0, base.Auto, "0000000000000000"}, {"mixed", 0, base.Auto, "the fingerprint of row 1, " + code + ", has 128 bits, but that of row 8, 9f3c5a0011223344, has 64"},
		{"hex", 64, base.Auto, "has 128 bits, but the fingerprints to compare it with have 64"}, {"bytes", 256, base.Auto, code + ", has 128 bits, but the fingerprints to compare it with have 256"},
		{"fixed", 64, base.Auto, "has 128 bits, but the fingerprints to compare it with have 64"}, {"whole", 128, base.Auto, "has 64 bits, but the fingerprints to compare it with have 128"},
		{"odd", 0, base.Auto, "a fingerprint is a whole number or a string"},
	} {
		src, err := source(data, records.Options{FingerprintField: c.field, Bits: c.bits, Fingerprints: c.n})
		var got string
		if err == nil {
			var recs []records.Record
			if recs, _, err = readAll(src); err == nil {
				got = string(base.AppendHexWords(nil, recs[8].Doc.Fingerprints[0]))
			}
		}
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || !strings.Contains(got, c.want) {
			t.Errorf("%s of %d bits: %s, want %s", c.field, c.bits, got, c.want)
		}
	}
}
