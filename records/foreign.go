package records

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/table"
)

// foreign has the first bytes of files that no format reads, and advice for the user. It is
// consulted after the Detect functions of all formats.
var foreign = []struct{ magic, what string }{
	{"\xfd7zXZ\x00", "it is xz-compressed: xz -dk FILE decompresses it"},
	{"filedesc://", "it is ARC, the older form of WARC: warcio recompress FILE NEW.warc.gz converts it"},
	{"BZh", "it is bzip2-compressed: bzip2 -dk FILE decompresses it"},
	{"\x04\x22\x4d\x18", "it is lz4-compressed: lz4 -d FILE decompresses it"},
	{"\x1f\x9d", "it was compressed by compress: gzip -dk FILE decompresses it"},
	{"PK\x03\x04", "it is a zip archive: unzip FILE -d DIR, then {Files} DIR; or an office document: soffice -headless -convert-to csv FILE (txt:Text for a text)"},
	{"7z\xbc\xaf\x27\x1c", "it is a 7z archive: 7z x FILE -oDIR, then {Files} DIR"},
	{"Rar!\x1a\x07", "it is a rar archive: unrar x FILE DIR/, then {Files} DIR"},
	{"\xd0\xcf\x11\xe0", "it is an old office document: soffice -headless -convert-to csv FILE (txt:Text for a text) converts it"},
	{"{\\rtf", "it is an RTF document: soffice -headless -convert-to txt:Text FILE converts it"},
	{"%PDF-", "it is a PDF document: pdftotext FILE t.txt converts it to text, which {Files} t.txt reads"},
	{"%!PS", "it is PostScript: ps2ascii FILE t.txt converts it to text"},
	{"\x89PNG", picture}, {"\xff\xd8\xff", picture}, {"GIF8", picture}, {"II*\x00", picture}, {"MM\x00*", picture}, {"RIFF", "it is a picture (WebP), or sound: " + perceptual},
	{"PAR1", "it is Parquet: {Parquet} reads it"},
	{table.Magic, "it is a table of simdb: a database, not a file with documents"},
	{"SQLite format 3\x00", `it is an SQLite database: sqlite3 -csv -header FILE 'SELECT * FROM t' > t.csv writes its table t`},
	{"ARROW1\x00\x00", `it is Arrow or Feather: python3 -c "import pyarrow.feather as f, pyarrow.parquet as p; p.write_table(f.read_table('FILE'), 't.parquet')" converts it`},
	{"\xff\xff\xff\xff", `it is an Arrow stream, as in Hugging Face datasets: python3 -c "import datasets; datasets.Dataset.from_file('FILE').to_parquet('t.parquet')" converts it`},
	{"\x80\x04\x95", pickle}, {"\x80\x05\x95", pickle},
	{"Obj\x01", `it is Avro: duckdb -c "INSTALL avro; LOAD avro; COPY (FROM read_avro('FILE')) TO 't.parquet'" converts it`},
	{"\x89HDF", `it is HDF5: python3 -c "import pandas; pandas.read_hdf('FILE').to_csv('t.csv')" converts a table of pandas`},
	{"\x93NUMPY", `it is a NumPy array: python3 -c "import numpy; numpy.savetxt('t.txt', numpy.load('FILE'), '%s')" writes its rows as text`},
	{"\x00\x00\xfe\xff", "it is UTF-32: iconv -f UTF-32 -t UTF-8 converts it"},
	{"\xff\xfe\x00\x00", "it is UTF-32: iconv -f UTF-32 -t UTF-8 converts it"},
}

const (
	pickle     = `it is a Python pickle: python3 -c "import pandas; pandas.read_pickle('FILE').to_parquet('t.parquet')" converts a table of pandas`
	picture    = "it is a picture: " + perceptual
	perceptual = "{Images} compares pictures, by a perceptual hash"
)

// AsText returns advice on how to read a refused text by lines.
func AsText() string { return option.Set("Format", "txt") + " reads each line as a text" }

// advice inserts the names of options into a message.
func advice(what string) string {
	return strings.NewReplacer("{Files}", option.Name("Files"), "{Images}", option.Set("Images", "pdq"),
		"{Parquet}", option.Set("Format", "parquet")).Replace(what)
}

// foreignTexts has the beginnings of texts whose lines are not documents, and advice for the user.
// Where a first line alone could also begin a text of documents, the pattern includes the next
// lines. If records begin where lines match start, Options.RecordStart reads them.
var foreignTexts = []struct {
	begins *regexp.Regexp
	what   string
	start  string
}{
	{begins(`<(\?xml|rss|feed|rdf:RDF|mediawiki|TEI)[ >]`), "it is XML: xq -c . FILE > t.json writes it as JSON, {Files} reads it as one text", ""},
	{begins(`(?i)(<(!doctype|html|head)\b[^>]*>[ \t]*)+\n`), "it is an HTML page: {Files} reads it as one text", ""},
	{begins(`window\.YTD\.`), "it is JavaScript, as in Twitter archives: sed '1s/^[^=]*=//' extracts the JSON", ""},
	{begins(`TY  - `), "it is a list of references in RIS", "^TY  - "},
	{begins(`PMID ?- ?[0-9]`), "it is a list of references from PubMed", "^PMID ?-"},
	{begins(`@[A-Za-z]+ ?[{(]`), "it is a list of references in BibTeX", "^@[A-Za-z]+ ?[{(]"},
	{begins(`%0 .*\n%[0-9A-Z@] `), "it is a list of references from EndNote", "^%0 "},
	{begins(`FN .*\nVR `), "it is a list of references from Web of Science", "^PT "},
	{begins(`LOCUS  +\S+ +\d+ `), "it has sequences from GenBank", "^LOCUS  "},
	{begins(`ID   .*\n(XX|AC)`), "it has sequences from EMBL or UniProt", "^ID   "},
	{begins(`(?i)BEGIN:VCALENDAR\n([A-Z][A-Z0-9.-]*[:;]|$)`), "it is a calendar (iCalendar)", "^BEGIN:V(EVENT|TODO)"},
	{begins(`\d+:\d\d:\d\d[,.]\d+,\d+:\d\d:\d\d[,.]\d+\n`), "it has subtitles", `^\d+:\d\d:\d\d[.,]\d+,`},
	{begins(`\[Script Info\]\n`), "it has subtitles", "^Dialogue:"},
	{begins(`(?i)<doc(\s+[a-hj-z][^>\n]*)?>[ \t]*\n`), "it has documents between <doc> and </doc>", "(?i)^<doc[ >]"},
	{begins(`commit [0-9a-f]{40}.*\n(Merge: .*\n)?Author: `), "it is a git log", "^commit [0-9a-f]{40}"},
	{begins(`-----BEGIN [A-Z0-9 ]+-----\n`), "it has keys or certificates (PEM)", "^-----BEGIN "},
}

// begins compiles a pattern that must match at the beginning of a text.
func begins(pattern string) *regexp.Regexp { return regexp.MustCompile("^(?:" + pattern + ")") }

// foreignNames has the file name endings of texts whose lines are not documents, with advice.
var foreignNames = map[string]string{
	".yaml": yaml, ".yml": yaml,
	".toml":  "it is TOML: yq -p toml -o json converts it to JSON",
	".json5": "it is JSON5: npx json5 converts it to JSON",
	".sql":   "it is SQL: sqlite3 t.db < FILE && sqlite3 -csv -header t.db 'SELECT * FROM t' > t.csv writes its table t",
}

const yaml = "it is YAML: yq -o json converts it to JSON"

// refuse returns an error if no format reads the file.
func (s *Stream) refuse() error {
	for _, foreign := range foreign {
		if bytes.HasPrefix(s.head, []byte(foreign.magic)) {
			return errors.New(advice(foreign.what))
		}
	}
	if bytes.HasPrefix(s.head, []byte("ORC")) && bytes.IndexByte(s.head, 0) >= 0 {
		return errors.New(`it is ORC: python3 -c "import pyarrow.orc as o, pyarrow.parquet as p; p.write_table(o.read_table('FILE'), 'FILE.parquet')" converts it`)
	}
	if duck := 8; len(s.head) > duck && bytes.HasPrefix(s.head[duck:], []byte("DUCK")) {
		return errors.New(`it is a DuckDB database: duckdb FILE -c "COPY t TO 't.parquet'" writes its table t`)
	}
	if tar := 257; len(s.head) > tar && bytes.HasPrefix(s.head[tar:], []byte("ustar")) {
		return errors.New(advice("it is a tar archive: tar -xf FILE -C DIR, then {Files} DIR"))
	}
	if name := strings.ToLower(s.name); len(s.head) == 0 && s.packed == "" && s.size == 0 && unpackedName(name) != name {
		return fmt.Errorf("it is empty, which a %s file never is: was it cut off?", path.Ext(name))
	}
	return nil
}

// refuseText returns an error if the lines of the decoded text are not documents.
func (s *Stream) refuseText() error {
	head := bytes.ReplaceAll(bytes.TrimLeft(s.head, " \t\r\n"), []byte("\r\n"), []byte("\n"))
	for _, foreign := range foreignTexts {
		if foreign.begins.Match(head) {
			what := advice(foreign.what)
			if foreign.start != "" {
				what += ": " + option.Set("RecordStart", foreign.start) + " reads each record as a text"
			}
			return errors.New(what + "; " + AsText())
		}
	}
	if what := foreignNames[path.Ext(unpackedName(s.name))]; what != "" {
		return errors.New(what + "; " + AsText())
	}
	return nil
}
