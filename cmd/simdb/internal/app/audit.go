package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/simdb/simdb/records"
)

// Reading returns the flags about reading inputs that differ from their defaults, for the head of
// an audit. Values with spaces are in Go's quotation marks.
func (f PageInputFlags) Reading(format records.Format, bits BitLength) string {
	var all []string
	for _, flag := range []struct {
		name, value, usual string
	}{
		{"--files", strconv.FormatBool(f.OfFiles()), "false"},
		{"--images", f.ImagesName(), ""},
		{"--orientations", f.Orientations, "1"},
		{"--bits", strconv.Itoa(int(bits)), "0"},
		{"--input-format", string(format), string(records.Auto)},
		{"--id-field", f.IDField, ""},
		{"--id-from", string(f.IDFrom), ""},
		{"--text-field", f.TextField, ""},
		{"--records", f.Records, ""},
		{"--fingerprint-field", f.FingerprintField, ""},
		{"--record-start", f.RecordStart, ""},
		{"--no-header", strconv.FormatBool(f.NoHeader), "false"},
		{"--encoding", string(f.Encoding), string(records.UTF8)},
		{"--html", f.HTML, "pages"},
		{"--delimiter", string(rune(f.Delimiter)), "\x00"},
		{"--comment", string(rune(f.Comment)), "\x00"},
	} {
		if flag.value == flag.usual {
			continue
		}
		if quoted := strconv.Quote(flag.value); strings.ContainsAny(flag.value, " \"") || quoted != `"`+flag.value+`"` {
			flag.value = quoted
		}
		all = append(all, flag.name+" "+flag.value)
	}
	return strings.Join(all, " ")
}

// ParseReading returns the flags that Reading describes, each as --name=value.
func ParseReading(reading string) (flags []string, err error) {
	for reading != "" {
		name, rest, ok := strings.Cut(reading, " ")
		if !ok || !strings.HasPrefix(name, "--") {
			return nil, fmt.Errorf("%q is not a flag with a value", reading)
		}
		value, after, _ := strings.Cut(rest, " ")
		if quoted, err := strconv.QuotedPrefix(rest); err == nil && strings.HasPrefix(quoted, `"`) {
			value, _ = strconv.Unquote(quoted)
			after = strings.TrimPrefix(rest[len(quoted):], " ")
		}
		flags, reading = append(flags, name+"="+value), after
	}
	return flags, nil
}
