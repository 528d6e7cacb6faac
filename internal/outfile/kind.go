package outfile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is the kind of content of an output. It decides which endings its name may have.
type Kind struct {
	what    string   // "rows"
	endings []string // of names for this content
	lax     bool     // any other ending is accepted, too, unless it names a format
	plain   bool     // it cannot be compressed
	whole   bool     // it is not compressed, and needs no ending that says so
	fresh   bool     // it must not replace a file
}

// Kinds of outputs.
var (
	Rows      = Kind{what: "rows", endings: []string{".csv", ".jsonl", ".json", ".tsv", ".ndjson", ".tab", ".ids", ".count", ".table"}}
	AnyRows   = Kind{what: "rows", endings: append(Rows.endings, ".txt"), lax: true} // in a requested format
	JSONLines = Kind{what: "JSON lines", endings: []string{".jsonl", ".json", ".ndjson"}}
	Lines     = Kind{what: "lines of the input", endings: append(AnyRows.endings, ".text", ".fps", ".fp"), lax: true}
	HTML      = Kind{what: "a page", endings: []string{".html", ".htm"}, whole: true}
	Rule      = Kind{what: "a rule", endings: []string{".rule", ".txt"}, lax: true, whole: true}
	Table     = Kind{what: "a table", endings: []string{".sst"}, plain: true, fresh: true}
)

// LinesOf returns the kind of a copy of lines in a format, such as "CSV", of files whose names have
// these endings.
func LinesOf(format string, endings ...string) Kind {
	what := format
	if !strings.HasSuffix(what, "lines") { // such as JSON lines
		what = "lines of " + what
	}
	return Kind{what: what, endings: endings, lax: true}
}

// WholeOf returns the kind of a copy of records in a format, such as "Parquet", whose files have
// these endings and are not compressed as a whole.
func WholeOf(format string, endings ...string) Kind {
	return Kind{what: format, endings: endings, lax: true, whole: true}
}

// And returns the kind with additional endings.
func (k Kind) And(endings ...string) Kind {
	k.endings = append(slices.Clone(k.endings), endings...)
	return k
}

// formats maps the endings of file names to the names of formats.
var formats = map[string]string{
	".csv": "CSV", ".tsv": "TSV", ".tab": "TSV", ".jsonl": "JSON lines", ".ndjson": "JSON lines", ".json": "JSON",
	".txt": "plain text", ".text": "plain text", ".md": "Markdown", ".html": "HTML", ".htm": "HTML", ".xml": "XML", ".yaml": "YAML",
	".yml": "YAML", ".sst": "a table", ".simdb": "a database", ".parquet": "Parquet", ".arrow": "Arrow", ".feather": "Feather",
	".avro": "Avro", ".orc": "ORC", ".xls": "Excel", ".xlsx": "Excel", ".ods": "OpenDocument", ".db": "a database",
	".sqlite": "SQLite", ".sqlite3": "SQLite", ".duckdb": "DuckDB", ".pkl": "pickle", ".npy": "NumPy", ".npz": "NumPy", ".h5": "HDF5",
	".warc": "WARC", ".wet": "WET", ".pdf": "PDF", ".bz2": "bzip2", ".xz": "xz", ".lzma": "LZMA", ".lz4": "LZ4", ".br": "Brotli",
	".zip": "zip", ".7z": "7-Zip", ".rar": "RAR", ".tar": "tar", ".tgz": "tar", ".z": "compress",
}

// PlainName removes the ending of a compression from a file's name.
func PlainName(name string) string {
	if compression(name) != "" {
		return strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name
}

// compression returns the compression of a file with this name: "gzip", "zstd" or "".
func compression(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz", ".gzip":
		return "gzip"
	case ".zst", ".zstd":
		return "zstd"
	}
	return ""
}

// checkEnding returns an error if the ending of a name contradicts the content to be written.
func (k Kind) checkEnding(name string) error {
	packed := compression(name) != ""
	ext := strings.ToLower(filepath.Ext(PlainName(name)))
	format, known := formats[ext]
	switch {
	case packed && k.whole:
		return fmt.Errorf("%s compresses itself: use %s", k.what, k.use())
	case packed && k.plain:
		return fmt.Errorf("%s is not compressed: use %s", k.what, k.use())
	case slices.Contains(k.endings, ext), ext == "" && !k.plain, k.lax && !known:
		return nil
	case ext == "":
		return fmt.Errorf("%s needs a name with an ending: use %s", k.what, k.use())
	case !known:
		format = fmt.Sprintf("%q", ext)
	}
	if k.what == Rows.what {
		return fmt.Errorf("cannot write %s: use %s", format, k.use())
	}
	return fmt.Errorf("cannot write %s, because the output is %s: use %s", format, k.what, k.use())
}

// use lists the accepted endings, one for each format that they name.
func (k Kind) use() string {
	var list, names []string
	alone := "" // the ending of a format that compresses itself
	for _, ending := range k.endings {
		switch name := formats[ending]; {
		case name == "" || slices.Contains(names, name):
		case name == "Parquet" && !k.whole:
			names, alone = append(names, name), ", or "+ending
		default:
			names, list = append(names, name), append(list, ending)
		}
	}
	if len(list) == 0 {
		list = k.endings
	}
	if k.plain || k.whole {
		return strings.Join(list, ", ")
	}
	return strings.Join(list, ", ") + ", with .gz or .zst" + alone
}
