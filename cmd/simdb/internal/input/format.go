package input

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Format is how documents are written in a file.
type Format string

// The formats.
const (
	Auto         Format = ""             // by the file's name, then by its content
	JSONL        Format = "jsonl"        // an object a line
	CSV          Format = "csv"          // RFC 4180 with a header
	TSV          Format = "tsv"          // columns kept apart by tabs, with a header; no quoting and no escapes
	TXT          Format = "txt"          // a line is a document, its ID is "file:line"
	Fingerprints Format = "fingerprints" // number TAB id, id TAB number, or a number alone (then the ID is the line's number)
	Hashes       Format = "hashes"       // the same with decimal numbers, in the order id TAB number
)

// Formats lists the names of all formats, for help and errors.
const Formats = "jsonl, csv, tsv, txt, fingerprints, hashes"

// sampleBytes of a file's content are looked at to tell its format.
const sampleBytes = 64 << 10

// ParseFormat returns the format called s; "auto" and "" are Auto.
func ParseFormat(s string) (Format, error) {
	switch f := Format(strings.ToLower(s)); f {
	case JSONL, CSV, TSV, TXT, Fingerprints, Hashes, Auto:
		return f, nil
	case "auto":
		return Auto, nil
	case "json", "ndjson":
		return JSONL, nil
	case "text":
		return TXT, nil
	}
	return Auto, fmt.Errorf("unknown input format %q: one of %s", s, Formats)
}

// UnmarshalText is ParseFormat.
func (f *Format) UnmarshalText(text []byte) (err error) {
	*f, err = ParseFormat(string(text))
	return err
}

// formatOf tells the format of a file by its name and the first lines of its content, of which s is the sample. Lists of
// fingerprints are recognised under any name but .jsonl and .csv, since they are called .tsv and .txt too.
func formatOf(name string, lines [][]byte, s *sample, opt Options) Format {
	named := byName(name)
	switch {
	case named == JSONL:
		return JSONL
	case opt.Delimiter != 0:
		return CSV
	case named != CSV && !opt.namesFields() && s.isList():
		return Fingerprints
	case named != Auto:
		return named
	case len(lines) > 0 && beginsJSON(lines[0]):
		return JSONL
	case len(lines) > 0 && isHeader(lines[0], "\t"):
		return TSV
	case len(lines) > 0 && isHeader(lines[0], ","):
		return CSV
	}
	return TXT
}

// namesFields says whether the options name a field that no list of fingerprints has.
func (o Options) namesFields() bool {
	for _, field := range []string{o.IDField, o.FingerprintField} {
		if _, err := strconv.Atoi(field); field != "" && err != nil {
			return true
		}
	}
	return o.TextField != ""
}

// separator is what stands between the columns of a format.
func (o Options) separator(f Format) byte {
	switch {
	case o.Delimiter != 0:
		return o.Delimiter
	case f == TSV:
		return '\t'
	}
	return ','
}

// byName tells the format by the ending of a file's name; that of a compression does not count.
func byName(name string) Format {
	base := strings.ToLower(path.Base(filepath.ToSlash(name)))
	for _, z := range []string{".gz", ".zst", ".zstd", ".gzip"} {
		base = strings.TrimSuffix(base, z)
	}
	switch path.Ext(base) {
	case ".jsonl", ".ndjson", ".json":
		return JSONL
	case ".csv":
		return CSV
	case ".tsv", ".tab":
		return TSV
	case ".txt", ".text":
		return TXT
	case ".fps", ".fp":
		return Fingerprints
	}
	return Auto
}

// sampleLines returns the lines of head that have more than blanks, without a last one that goes on behind it.
func sampleLines(head []byte, ends bool) [][]byte {
	var lines [][]byte
	for len(head) > 0 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		if !whole && !ends && len(lines) > 0 {
			break
		}
		if line = trimBlanks(line); len(bytes.TrimSpace(line)) > 0 {
			lines = append(lines, line)
		}
		head = rest
	}
	return lines
}

// trimBlanks takes off what surrounds a line, but not tabs, which are part of it.
func trimBlanks(line []byte) []byte { return bytes.Trim(line, " \r\v\f") }

// almostList says that a file was taken for texts although most of its lines are numbers.
func almostList(s *sample) string {
	other := s.other
	if other == "" && s.columns == 1 {
		other = s.title
	}
	if other == "" || 2*s.numbers < s.lines {
		return ""
	}
	return fmt.Sprintf("plain text, a document a line, since %q is no number; with --format fingerprints the others are fingerprints", other)
}

// isHeader says whether line names columns that documents have.
func isHeader(line []byte, sep string) bool {
	names := strings.Split(strings.ToLower(string(line)), sep)
	for _, n := range names {
		switch strings.Trim(n, ` "`) {
		case "id", "text", "fingerprint":
			return len(names) > 1
		}
	}
	return false
}
