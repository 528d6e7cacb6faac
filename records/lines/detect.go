package lines

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// Formats that this package reads.
const (
	JSONL        records.Format = "jsonl"        // a JSON object on each line
	JSON         records.Format = "json"         // JSON objects in an array, or concatenated
	CSV          records.Format = "csv"          // RFC 4180 with a header
	TSV          records.Format = "tsv"          // tab-separated columns with a header, without quotes and escapes
	TXT          records.Format = "txt"          // each line is a document, its ID is "file:line"
	Fingerprints records.Format = "fingerprints" // number TAB id, id TAB number, or a number alone, whose ID is its line number
	Hashes       records.Format = "hashes"       // the same with decimal numbers, in the order id TAB number
)

// formatOf recognises the format of a file by its name and its first lines; s is a sample of these lines.
// Lists of fingerprints are recognised under any name but .jsonl and .csv, since lists are often
// called .tsv or .txt.
func formatOf(name string, lines [][]byte, s *sample, opt records.Options) records.Format {
	named := byName(name)
	switch {
	case named == JSONL:
		return JSONL
	case opt.Delimiter != 0:
		return CSV
	case named != CSV && !namesFields(opt) && s.isList():
		return Fingerprints
	case named != records.Auto:
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

func jsonShape(lines [][]byte) string {
	if len(lines) > 0 && bytes.HasPrefix(bytes.Trim(lines[0], blank), []byte("[")) {
		return arrayShape
	}
	return "JSON objects"
}

// spreadOrNot decides between JSONL and JSON, and returns other formats unchanged. asked is the
// format that the user requested.
func spreadOrNot(format, asked records.Format, lines [][]byte) (records.Format, error) {
	switch spread := isSpread(lines); {
	case format == JSONL && spread && asked == JSONL:
		return format, errSpread()
	case format == JSONL && spread:
		return JSON, nil
	case format == JSON && !spread && len(lines) > 0 && isObject(lines[0]):
		return JSONL, nil // in JSONL, a damaged line is a single bad record
	}
	return format, nil
}

// namesFields reports whether the options name a field that a list of fingerprints cannot have.
func namesFields(opt records.Options) bool {
	for _, field := range []string{opt.IDField, opt.FingerprintField} {
		if _, err := strconv.Atoi(field); field != "" && err != nil {
			return true
		}
	}
	return opt.TextField != ""
}

// ending returns the ending of a file's name, after removing the ending of a compression.
func ending(name string) string {
	base := strings.ToLower(path.Base(filepath.ToSlash(name)))
	for _, z := range []string{".gz", ".zst", ".zstd", ".gzip"} {
		base = strings.TrimSuffix(base, z)
	}
	return path.Ext(base)
}

// byName returns the format of a file's ending.
func byName(name string) records.Format {
	switch ending(name) {
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
	return records.Auto
}

// sampleLines returns the lines of head that are not blank, without an incomplete last line.
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

// trimBlanks removes white space around a line, except tabs, which separate columns.
func trimBlanks(line []byte) []byte { return bytes.Trim(line, " \r\v\f") }

// plainText describes the format of files that are not recognised otherwise.
const plainText = "plain text, one document per line"

// almostList returns a notice for a file that is read as texts although most of its lines are
// numbers, or all look like base64; "" for other files.
func almostList(s *sample) string {
	if s.base64 > 0 && s.base64 == s.lines {
		return plainText + "; " + option.Set("Fingerprints", base.Base64) + " reads the lines as fingerprints"
	}
	if c := s.column[0]; s.columns == 1 && s.lines > 1 && c.n == s.lines && c.hex > 0 {
		return plainText + "; " + option.Set("Fingerprints", base.Hex) + " reads the lines as fingerprints"
	}
	other := s.other
	if other == "" && s.columns == 1 {
		other = s.title
	}
	if other == "" || 2*s.numbers < s.lines || s.columns > 2 || s.column[0].blanks+s.column[1].blanks > 0 && s.column[0].large+s.column[1].large == 0 {
		return ""
	}
	return fmt.Sprintf(plainText+", because %q is not a number; %s reads the other lines as fingerprints", other, option.Set("Format", Fingerprints))
}

// isHeader reports whether line names columns that documents usually have.
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
