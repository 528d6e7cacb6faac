package app

import (
	"strconv"
	"strings"

	"github.com/simdb/simdb/records"
)

// Reading returns the flags about reading inputs that differ from their defaults, for the head of
// an audit.
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
		{"--text-field", f.TextField, ""},
		{"--record-start", f.RecordStart, ""},
		{"--no-header", strconv.FormatBool(f.NoHeader), "false"},
		{"--encoding", string(f.Encoding), string(records.UTF8)},
		{"--html", f.HTML, "pages"},
		{"--delimiter", string(rune(f.Delimiter)), "\x00"},
		{"--comment", string(rune(f.Comment)), "\x00"},
	} {
		if flag.value != flag.usual {
			all = append(all, flag.name+" "+flag.value)
		}
	}
	return strings.Join(all, " ")
}
