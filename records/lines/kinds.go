package lines

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// A kind of text whose records have several lines.
type kind struct {
	name        records.Format
	label, what string // what says what a document is, for the notice

	// looks matches the beginning of such a text. own are file name endings that suffice, too; shared
	// ones suffice if the first line begins a record.
	looks       *regexp.Regexp
	own, shared []string

	rule    func() rule
	between []byte // see grouping

	// fold is removed from a record. Then the first group of id is the ID, if it matches, else the
	// position is; and the first group of text is the text. Without text, the whole record is, but
	// for a first line if it is headed. If text does not match, as in comments and headers, there is
	// no text: such a record resembles no other, so copies have it. drop is removed from the text.
	fold, id, text, drop *regexp.Regexp
	headed               bool
	escaped              bool // the text has escapes: \n \, \"
}

// kindOf has the kinds by name.
var kindOf = map[records.Format]*kind{}

var kinds = []*kind{
	{name: "fasta", label: "FASTA", what: "sequence", own: []string{".fasta", ".fna", ".faa", ".ffn"}, shared: []string{".fa"},
		looks: looks(`(>.+\n+(` + sequence + `\n+)+){3}|(>.+\n+(` + sequence + `\n+)+)*>.+\n+(` + sequence + `\n*)+$`), rule: begins(`^>`, ``, ``), id: re(`^>\s*(\S+)`)},
	{name: "fastq", label: "FASTQ", what: "sequence", own: []string{".fastq", ".fq"},
		looks: looks(`@\S.*\n(` + bases + `{100}|(` + bases + `+\n)+\+.*\n(([!-~]+\n)+@|([!-~]+\n*)+$))`), rule: beginsFASTQ, id: re(`^@\s*(\S+)`)},
	{name: "vcard", label: "vCard", what: "contact", own: []string{".vcard"}, shared: []string{".vcf"},
		looks: looks(`(?i)BEGIN:VCARD\n([A-Z][A-Z0-9.-]*[:;]|$)`), rule: begins(`(?i)^BEGIN:VCARD\s*$`, ``, ``),
		fold: re(`\n[ \t]`), id: re(`(?mi)^(?:[\w-]+\.)?UID(?:;[^:\n]*)?:[ \t]*(.*\S)`), escaped: true,
		drop: re(`(?mi)^(?:[\w-]+\.)?(?:BEGIN|END|VERSION|UID|REV|PRODID|PHOTO|LOGO|SOUND|KEY)[:;].*\n?|^[\w.-]+(?:;(?:"[^"\n]*"|[^":\n])*)?:`)},
	{name: "srt", label: "SubRip", what: "subtitle", own: []string{".srt"}, between: newline,
		looks: looks(`\d+[ \t]*\n\d+:\d\d:\d\d[,.]\d+ *-->`), rule: begins(`^\s*\d+\s*$|-->`, `^\s*$`, ``), text: re(`(?s)-->[^\n]*\n?(.*)`), drop: markup},
	{name: "vtt", label: "WebVTT", what: "subtitle", own: []string{".vtt"}, between: newline,
		looks: looks(`WEBVTT([ \t].*)?\n((.*\n)*.* --> |\n|$)`), rule: begins(`\S`, `^\s*$`, ``), text: re(`(?s)-->[^\n]*\n?(.*)`), drop: markup},
	{name: "ldif", label: "LDIF", what: "entry", own: []string{".ldif"}, between: newline,
		looks: looks(`(version: *\d+\n|[# ].*\n|\n)*dn::? .*\n( .*\n)*[A-Za-z][A-Za-z0-9;.-]*::? `), rule: begins(`\S`, `^\s*$`, ``),
		fold: re(`\n `), id: re(`(?mi)^dn: *(.*\S)`), drop: re(`(?mi)^(?:#|version:|dn:).*\n?|^[\w;.-]+:[:<]? *`)},
	{name: "po", label: "gettext", what: "message", own: []string{".po", ".pot"},
		looks: looks(`(#.*\n|[ \t]*\n)*(msgctxt ".*\n(".*\n)*)?msgid ".*\n((msgid_plural )?".*\n)*msgstr(\[0\])? `),
		rule:  begins(`^(#|msgctxt|msgid )`, `^(#~ *)?msgstr|^\s*$`, `^(#~ *)?"`), escaped: true,
		fold: re(`"[ \t]*\n(?:#~ *)?"`), text: re(`(?s)(.*\bmsgid "[^"].*)`), drop: re(`(?m)^(?:#|msgctxt ).*\n?|^msg[^"\n]*"|"[ \t]*$`)},
	{name: "pgn", label: "PGN", what: "game", own: []string{".pgn"},
		looks: looks(`([%;].*\n|\{[^"}]*\}|\n)*\[[A-Z]\w* ".*"\][ \t]*\n\[[A-Z]\w* "`), rule: begins(`^\[\w+\s+"`, `^\s*[^\[\s]|^\[%`, `^\s*$`),
		text: re(`(?ms)(.*^\[\w+\s+".*)`), drop: re(`(?m)^\[\w+\s+"|"\][ \t]*$`)},
	{name: "wikiextractor", label: "wikiextractor", what: "article",
		looks: looks(`(?i)<doc id=[^>\n]*>[ \t]*\n`), rule: begins(`(?i)^<doc id=`, ``, ``),
		id: re(`(?i)^<doc id="?([^">\s]+)`), headed: true},
	{name: "fortune", label: "fortunes", what: "text between lines of %", between: []byte("%\n"),
		rule: begins(`^%%?\s*$`, ``, ``), headed: true},
	{name: "log", label: "log", what: "entry, from its date and time on,", shared: []string{".log"},
		rule: func() rule { return stamp.Match }},
}

// markup matches markup within subtitles: <i>, {\an8}.
var markup = re(`</?[a-zA-Z0-9:][^>]*>|\{\\[^}]*\}`)

// stamp matches the date and time at the beginning of an entry of a log, maybe after its level.
var stamp = re(`^(\[?[A-Z]{4,8}\]?:? +)?[\[(<]?(` +
	`\d{4}[-/.]\d\d[-/.]\d\d[T _,]+\d\d:\d\d|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4},? \d{1,2}:\d\d|\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d|` +
	`([A-Z][a-z]{2},? )?[A-Z][a-z]{2} [ \d]\d,? (\d{4} )?\d\d:\d\d:\d\d|(\d\d-\d\d )?\d\d:\d\d:\d\d[.,]\d{3}\b)`)

// never is for kinds without a pattern.
var never = re(`^\z.`)

func re(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }

// Patterns of letters of DNA, and of a line of a sequence.
const (
	bases    = "[ACGTUNRYSWKMBDHVacgtunryswkmbdhv.*-]"
	sequence = "(" + bases + `+|[A-Z*.-]+)[ \t]*`
)

// looks compiles a pattern that must match at the beginning of a text.
func looks(pattern string) *regexp.Regexp { return re("^(?:" + pattern + ")") }

// begins makes rules. A record begins where a line matches first, if the lines before it were ready
// for that: the last line that does not match keeps must match after.
func begins(first, after, keeps string) func() rule {
	f, a, k := re(first), re(after), re(cmp.Or(keeps, never.String()))
	return func() rule {
		ready := true
		return func(line []byte) bool {
			is := ready && f.Match(line)
			if !k.Match(line) {
				ready = a.Match(line)
			}
			return is
		}
	}
}

// beginsFASTQ makes the rule of FASTQ: a record ends when its quality is as long as its sequence,
// because a line of quality may begin with @, too.
func beginsFASTQ() rule {
	missing, sequence := 0, false // letters of quality; the lines are those of a sequence
	return func(line []byte) bool {
		line = bytes.TrimSpace(line)
		switch {
		case sequence && bytes.HasPrefix(line, []byte("+")):
			sequence = false
		case sequence:
			missing += len(line)
		case missing > 0:
			missing -= len(line)
		case bytes.HasPrefix(line, []byte("@")):
			missing, sequence = 0, true
			return true
		}
		return false
	}
}

// recognize returns the kind of a text by its beginning or its name, or Auto.
func recognize(name string, head []byte) records.Format {
	head = bytes.ReplaceAll(bytes.TrimLeft(head, " \t\r\n"), []byte("\r\n"), newline)
	first, _, _ := bytes.Cut(head, newline)
	named := records.Auto
	for _, k := range kinds {
		if k.looks != nil && k.looks.Match(head) {
			return k.name
		}
		if slices.Contains(k.own, ending(name)) || slices.Contains(k.shared, ending(name)) && k.rule()(first) {
			named = k.name
		}
	}
	return named
}

// recognizeText is recognize for the kinds that only plain text can be, and returns TXT for others.
// A log has entries that continue on further lines; without them, each line is an entry.
func recognizeText(head []byte, lines [][]byte) records.Format {
	count := func(is func(line []byte) bool) int {
		return len(slices.DeleteFunc(slices.Clone(lines), func(line []byte) bool { return !is(line) }))
	}
	if sep := separator(head); sep == "%" || sep == "%%" {
		n := count(func(line []byte) bool { return string(bytes.TrimSpace(line)) == sep })
		if percents := count(func(line []byte) bool { return line[0] == '%' }); 20*percents <= 21*n { // more are comments
			return "fortune"
		}
	}
	if first, n := slices.IndexFunc(lines, stamp.Match), count(stamp.Match); first >= 0 && first < 3 && n >= 3 && n < len(lines)-first {
		return "log"
	}
	return TXT
}

// useKind makes the parser of a kind of text.
func (f *file) useKind(k *kind, head []byte) error {
	switch o := f.opt; {
	case o.TextField != "" || o.Fields != nil || o.SetField != "" || o.IDField != "" || o.FingerprintField != "" || o.Fingerprints != base.Auto:
		return fmt.Errorf("it is %s, whose records have no fields: leave out %s, %s and the like; %s", k.label, option.Name("IDField"), option.Name("TextField"), records.AsText())
	case bytes.IndexByte(head, 0) >= 0:
		return fmt.Errorf("it has NUL bytes, so it is not text; %s names the encoding of a text", option.Name("Encoding"))
	case o.Format == records.Auto && !slices.Contains(k.own, ending(f.info.Name)):
		f.info.Notice = k.label + ", each " + k.what + " a document"
	}
	f.parse = k
	f.group = &grouping{rule: k.rule, between: k.between, none: errors.New("no line begins a record of " + k.label + "; " + records.AsText())}
	return nil
}

var escapes = strings.NewReplacer(`\n`, "\n", `\N`, "\n", `\t`, "\t", `\\`, `\`, `\`, "")

// inBase64 matches an attribute of LDIF that is written in base64.
var inBase64 = re(`(?m)^[\w;.-]+:: .*$`)

// parse implements parser.
func (k *kind) parse(raw []byte, rec *record) (reason string) {
	s := strings.TrimRight(strings.ReplaceAll(records.ValidText(string(raw)), "\r\n", "\n"), "\n")
	s = k.fold.ReplaceAllString(s, "")
	if k.name == "ldif" {
		s = inBase64.ReplaceAllStringFunc(s, func(line string) string {
			name, value, _ := strings.Cut(line, ":: ")
			if decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value)); err == nil {
				return name + ": " + records.ValidText(string(decoded))
			}
			return line
		})
	}
	if m := append(k.id.FindStringSubmatch(s), "", "")[1]; len(m) <= base.MaxIDBytes {
		rec.Doc.ID = m
	}
	if k.name == "fasta" || k.name == "fastq" {
		return k.parseSequence(s, rec)
	}
	if first, rest, _ := strings.Cut(s, "\n"); k.headed && k.rule()([]byte(first)) {
		s = strings.TrimSuffix(strings.TrimSpace(rest), "</doc>")
	}
	if k.text != nil {
		s = append(k.text.FindStringSubmatch(s), "", "")[1]
	}
	s = k.drop.ReplaceAllString(s, "")
	if k.escaped {
		s = escapes.Replace(s)
	}
	rec.Doc.Text = strings.Trim(s, "\n")
	return rec.checkID(true)
}

// parseSequence makes one word of the letters of a sequence.
func (k *kind) parseSequence(s string, rec *record) string {
	header, body, _ := strings.Cut(s, "\n")
	body, rest, _ := strings.Cut("\n"+body, "\n+")
	_, quality, _ := strings.Cut(rest, "\n")
	rec.Doc.Text = strings.Join(strings.Fields(body), "")
	n, letters := len(strings.Join(strings.Fields(quality), "")), len(rec.Doc.Text)
	switch {
	case k.name == "fastq" && (n != letters || !strings.HasPrefix(header, "@")):
		return fmt.Sprintf("not FASTQ: the sequence has %d letters and the quality %d", letters, n)
	case k.name == "fasta" && !strings.HasPrefix(header, ">"):
		rec.Doc.Text = ""
	}
	return rec.checkID(true)
}
