package records

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/table"
)

// foreign has the first bytes of files that no format reads, and advice for the user. It is
// consulted after the Detect functions of all formats.
var foreign = []struct{ magic, what string }{
	{"\xfd7zXZ\x00", "it is xz-compressed: decompress it with xz first"},
	{"filedesc://", "it is ARC, the older form of WARC: warcio recompress FILE NEW.warc.gz converts it"},
	{"BZh", "it is bzip2-compressed: decompress it with bzip2 first"},
	{"\x04\x22\x4d\x18", "it is lz4-compressed: decompress it with lz4 first"},
	{"\x1f\x9d", "it was compressed by compress: decompress it with gzip first"},
	{"PK\x03\x04", "it is a zip archive (unpack it first) or an office document (save it as text or CSV)"},
	{"7z\xbc\xaf\x27\x1c", "it is a 7z archive: unpack it first"},
	{"Rar!\x1a\x07", "it is a rar archive: unpack it first"},
	{"\xd0\xcf\x11\xe0", "it is an old office document: save it as text or CSV"},
	{"{\\rtf", "it is an RTF document: save it as text"},
	{"%PDF-", "it is a PDF document: pdftotext converts it to text, which {Files} reads"},
	{"%!PS", "it is PostScript: ps2ascii FILE converts it to text"},
	{"\x89PNG", picture}, {"\xff\xd8\xff", picture}, {"GIF8", picture}, {"II*\x00", picture}, {"MM\x00*", picture}, {"RIFF", "it is a picture (WebP), or sound: " + perceptual},
	{"PAR1", "it is Parquet: {Parquet} reads it"},
	{table.Magic, "it is a table of simdb: a database, not a file with documents"},
	{"SQLite format 3\x00", "it is an SQLite database: export it as CSV"},
	{"ARROW1\x00\x00", "it is Arrow or Feather: convert it to Parquet, in Python with pyarrow.feather.read_table and pyarrow.parquet.write_table"},
	{"\xff\xff\xff\xff", "it is an Arrow stream, as in Hugging Face datasets: convert it to Parquet, in Python with Dataset.to_parquet"},
	{"\x80\x04\x95", pickle}, {"\x80\x05\x95", pickle},
	{"Obj\x01", "it is Avro: convert it to JSON lines or Parquet"},
	{"\x89HDF", "it is HDF5: convert it to Parquet or CSV"},
	{"\x93NUMPY", "it is a NumPy array: write its numbers as text, one per line, or as Parquet"},
	{"\xff\xfe\x00\x00", "it is UTF-32: iconv -f UTF-32 -t UTF-8 converts it"},
}

const (
	pickle     = "it is a Python pickle: convert it to Parquet or JSON lines"
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
// lines.
var foreignTexts = []struct {
	begins *regexp.Regexp
	what   string
}{
	{begins(`<(\?xml|rss|feed|rdf:RDF|mediawiki|TEI)[ >]`), "it is XML: write the texts in it as JSON lines or CSV"},
	{begins(`(?i)(<(!doctype|html|head)\b[^>]*>[ \t]*)+\n`), "it is an HTML page: " + wholeFile},
	{begins(`window\.YTD\.`), "it is JavaScript, as in Twitter archives: sed '1s/^[^=]*=//' extracts the JSON"},
	{begins(`TY  - `), "it is a list of references in RIS: " + references},
	{begins(`PMID ?- ?[0-9]`), "it is a list of references from PubMed: " + references},
	{begins(`@[A-Za-z]+ ?[{(]`), "it is a list of references in BibTeX: " + references},
	{begins(`%0 .*\n%[0-9A-Z@] |FN .*\nVR `), "it is a list of references from EndNote or Web of Science: " + references},
	{begins(`(>.+\n+(SEQ\n+)+){3}|(>.+\n+(SEQ\n+)+)*>.+\n+(SEQ\n*)+$`), "it is FASTA: " + sequences},
	{begins(`@\S.*\n(BASES{100}|(BASES+\n)+\+.*\n([!-~]+\n)+@|(BASES+\n)+\+.*\n([!-~]+\n*)+$)`), "it is FASTQ: " + sequences},
	{begins(`LOCUS  +\S+ +\d+ |ID   .*\n(XX|AC)`), "it has sequences from GenBank, EMBL or UniProt: convert them to FASTA, and that to TSV with seqkit fx2tab"},
	{begins(`(?i)BEGIN:VCARD\n([A-Z][A-Z0-9.-]*[:;]|$)`), "it has vCards: " + split("/^BEGIN:VCARD/")},
	{begins(`(?i)BEGIN:VCALENDAR\n([A-Z][A-Z0-9.-]*[:;]|$)`), "it is a calendar (iCalendar): " + split("/^BEGIN:V(EVENT|TODO)/")},
	{begins(`WEBVTT([ \t].*)?\n(.*\n)*.* --> |\d+\nTIME *--> |TIME,TIME\n|\[Script Info\]\n`), "it has subtitles: " + wholeFile},
	{begins(`(?i)<doc(\s[^>\n]*)?>[ \t]*\n`), "it has documents between <doc> and </doc>: wikiextractor can also write JSON lines; or " + split("/^<(doc|DOC)/")},
	{begins(`(version: *\d+\n|[# ].*\n|\n)*dn::? .*\n( .*\n)*[A-Za-z][A-Za-z0-9;.-]*::? `), "it is LDIF: " + paragraphs},
	{begins(`(#.*\n|[ \t]*\n)*(msgctxt ".*\n(".*\n)*)?msgid ".*\n((msgid_plural )?".*\n)*msgstr(\[0\])? `), "it is a list of translations (gettext): " + paragraphs},
	{begins(`([%;].*\n|\n)*\[[A-Z]\w* ".*"\][ \t]*\n\[[A-Z]\w* "`), "it has records of games such as chess (PGN): " + split(`/^\[Event /`)},
	{begins(`commit [0-9a-f]{40}.*\n(Merge: .*\n)?Author: `), "it is a git log: " + split("/^commit /")},
	{begins(`-----BEGIN [A-Z0-9 ]+-----\n`), "it has keys or certificates (PEM): " + split("/^-----BEGIN/")},
	{begins(`(?i)FIELD*?(From:RESTFIELD*?WAY:REST|WAY:RESTFIELD*?From:REST)FIELD*\n`), "it is a mail: " + wholeFile},
}

// Advice for texts whose records have several lines.
const (
	references = "write it as CSV or JSON lines, as reference managers do"
	wholeFile  = "{Files} reads it as one text"
	sequences  = "seqkit fx2tab converts it to TSV, without a header"
	paragraphs = `awk -v RS= '{print > ("part" NR); close("part" NR)}' FILE` + filesOf
	filesOf    = " writes each to a file, which {Files} reads"
)

// split returns a command that writes each record to a file of its own. A record begins with a line
// that matches pattern.
func split(pattern string) string {
	return "awk '" + pattern + ` {close("part" n++)} {print > ("part" n)}' FILE` + filesOf
}

// begins compiles a pattern that must match at the beginning of a text.
func begins(pattern string) *regexp.Regexp {
	for _, part := range [][2]string{
		{"FIELD", `(?:[!-9;-~]+[ \t]*:REST)`}, {"REST", `.*\n(?:[ \t].*\n)*`}, {"WAY", "(Date|Received|Message-ID|Return-Path|Subject)"},
		{"SEQ", `(BASES+|[A-Z*.-]+)[ \t]*`}, {"BASES", "[ACGTUNRYSWKMBDHVacgtunryswkmbdhv.*-]"}, {"TIME", `\d+:\d\d:\d\d[,.]\d+`},
	} {
		pattern = strings.ReplaceAll(pattern, part[0], part[1])
	}
	return regexp.MustCompile("^(?:" + pattern + ")")
}

// separators matches lines that separate records, and end tags of elements. key matches the first
// line of a paragraph of fields, or of a section.
var (
	separators = regexp.MustCompile(`^(%%?|-{3,}|={3,}|\*{3,}|(\* ){2,}\*|_{3,}|~{3,}|\+{3,}|@{2,}|&{2,}|\${2,}|//+|</[\w:.-]+>)$`)
	key        = regexp.MustCompile(`^([A-Za-z][\w .-]{0,30}:|\[)([^:/\n].*)?\n.`)
)

// RefuseRecords returns an error if the lines of the text are parts of records. It looks for
// repeated separators: lines without words, or keys that begin paragraphs. Repeated lines with
// words are no evidence, because names and short messages repeat, too.
func (s *Stream) RefuseRecords() error {
	if sep := separator(s.head); sep != "" {
		return fmt.Errorf(`lines like %s seem to separate its records: awk '$0 == "%[1]s" {close("part" n++); next} {print > ("part" n)}' FILE%s; %s`, sep, advice(filesOf), AsText())
	}
	parts := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(s.head), "\r\n", "\n")), "\n\n")
	if !s.headEnds {
		parts = parts[:len(parts)-1]
	}
	keys := map[string]int{}
	for _, part := range parts {
		if m := key.FindStringSubmatch(strings.TrimSpace(part)); m != nil {
			if keys[m[1]]++; keys[m[1]] >= max(3, (9*len(parts)+9)/10) {
				return fmt.Errorf("its paragraphs seem to be records, which begin with %q: %s; %s", m[1], advice(paragraphs), AsText())
			}
		}
	}
	return nil
}

// separator returns the line that separates records, or "" if there is none. A separator makes up
// at least 1 % of the lines, occurs in the second half of head, and on average has nearly one other
// line between two occurrences. A line that is as long as the previous line underlines a heading
// and does not count.
func separator(head []byte) (most string) {
	seen, i := map[string][]int{}, 0
	var before []byte
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		underlines := len(line) > 2 && line[0] != '<' && len(line) == utf8.RuneCount(before) && !bytes.Equal(line, before)
		if i++; separators.Match(line) && !underlines {
			seen[string(line)] = append(seen[string(line)], i)
		}
		before = line
	}
	for line, at := range seen {
		n, last := len(at), at[len(at)-1]
		if (n >= 3 || n == 2 && line == "%") && 100*n >= i && 2*last > i && 10*(last-at[0]) >= 19*(n-1) && (n > len(seen[most]) || n == len(seen[most]) && line < most) {
			most = line
		}
	}
	return most
}

// foreignNames has the file name endings of texts whose lines are not documents, with advice.
var foreignNames = map[string]string{
	".yaml": yaml, ".yml": yaml,
	".toml":  "it is TOML: yq -p toml -o json converts it to JSON",
	".json5": "it is JSON5: npx json5 converts it to JSON",
	".sql":   "it is SQL: write the tables in it as CSV",
}

const yaml = "it is YAML: yq -o json converts it to JSON"

// refuse returns an error if no format reads the file.
func (s *Stream) refuse() error {
	for _, foreign := range foreign {
		if bytes.HasPrefix(s.head, []byte(foreign.magic)) {
			return errors.New(advice(foreign.what))
		}
	}
	if tar := 257; len(s.head) > tar && bytes.HasPrefix(s.head[tar:], []byte("ustar")) {
		return errors.New(advice("it is a tar archive: unpack it first; {Files} reads the files of a folder"))
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
			return errors.New(advice(foreign.what) + "; " + AsText())
		}
	}
	if what := foreignNames[path.Ext(unpackedName(s.name))]; what != "" {
		return errors.New(what + "; " + AsText())
	}
	return nil
}
