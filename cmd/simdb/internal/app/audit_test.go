package app

import (
	"slices"
	"testing"
)

// TestReading parses what Reading writes, whatever the values are.
func TestReading(t *testing.T) {
	f := PageInputFlags{HTML: "text"}
	f.Orientations = "1"
	f.IDField, f.TextField, f.Records, f.RecordStart, f.IDFrom = "meta.key", "a field,b", `x"y`, `^% "a  b"`, "hash"
	f.FingerprintField, f.Delimiter, f.Comment, f.NoHeader, f.WholeFiles = "ü", '\t', ' ', true, true
	reading := f.Reading("csv", 128)
	got, err := ParseReading(reading)
	want := []string{
		"--files=true", "--bits=128", "--input-format=csv", "--id-field=meta.key", "--id-from=hash", "--text-field=a field,b", `--records=x"y`, "--fingerprint-field=ü",
		`--record-start=^% "a  b"`, "--no-header=true", "--html=text", "--delimiter=\t", "--comment= ",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %q, %v, want %q", reading, got, err, want)
	}
	for reading, want := range map[string][]string{"": nil, "--images pdq --orientations 8": {"--images=pdq", "--orientations=8"}} {
		if got, err := ParseReading(reading); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", reading, got, err)
		}
	}
	for _, wrong := range []string{"--files", "files true", "--record-start ^a b"} {
		if got, err := ParseReading(wrong); err == nil {
			t.Errorf("%q: %q", wrong, got)
		}
	}
}
