package input

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
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
	Fingerprints Format = "fingerprints" // hex TAB id, id TAB hex, or hex alone (then the ID is the line's number)
	Hashes       Format = "hashes"       // id TAB fingerprint as a decimal number, with a header
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

// formatOf tells the format of a file by its name and the beginning of its content. Fingerprints are recognised under
// any name but .jsonl, since lists of them are called .tsv and .txt too.
func formatOf(name string, head []byte) Format {
	named := byName(name)
	if named == JSONL {
		return JSONL
	}
	lines := sampleLines(head)
	switch {
	case len(lines) > 0 && isHashesHeader(lines[0]):
		return Hashes
	case named != CSV && mostlyFingerprints(lines):
		return Fingerprints
	case named != Auto:
		return named
	case len(lines) > 0 && lines[0][0] == '{':
		return JSONL
	case len(lines) > 0 && isHeader(lines[0], "\t"):
		return TSV
	case len(lines) > 0 && isHeader(lines[0], ","):
		return CSV
	}
	return TXT
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

// sampleLines returns the first lines of head that have more than blanks, without a last one that may be cut off.
func sampleLines(head []byte) [][]byte {
	var lines [][]byte
	for len(head) > 0 && len(lines) < 100 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		if !whole && len(lines) > 0 {
			break
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines = append(lines, line)
		}
		head = rest
	}
	return lines
}

// mostlyFingerprints says whether at least half of the lines have one or two columns, one of them of exactly 16
// hexadecimal digits. The others are then mistakes to report, not texts.
func mostlyFingerprints(lines [][]byte) bool {
	n := 0
	for _, line := range lines {
		cols := columns(line)
		if len(cols) <= 2 && (likeness(cols[0]) == 3 || likeness(cols[len(cols)-1]) == 3) {
			n++
		}
	}
	return n > 0 && 2*n >= len(lines)
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

func isHashesHeader(line []byte) bool {
	cols := columns(line)
	return len(cols) == 2 && string(cols[0]) == "id" && (string(cols[1]) == "hash" || string(cols[1]) == "simhash")
}
