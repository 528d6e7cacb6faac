package lines

import (
	"bytes"
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
	name  records.Format
	label string
	what  string // what a document is, for the notice

	// looks matches the beginning of such a text. If it is nil, recognize uses another method.
	looks *regexp.Regexp
	// own are file name endings that suffice to recognise the kind. Shared ones may also be something
	// else, and suffice if the first line begins a record.
	own, shared []string

	rule    func() rule
	between string // see grouping

	// read returns the ID and the text of a record, given its lines without line ends. An empty ID
	// stands for the position. With a reason, the record cannot be used.
	read func(lines []string) (id, text, reason string)
}

var kinds = []*kind{
	{name: "fasta", label: "FASTA", what: "each sequence a document", own: []string{".fasta", ".fna", ".faa", ".ffn"}, shared: []string{".fa"},
		looks: looks(`(>.+\n+(SEQ\n+)+){3}|(>.+\n+(SEQ\n+)+)*>.+\n+(SEQ\n*)+$`), rule: beginsWith(`^>`), read: readFASTA},
	{name: "fastq", label: "FASTQ", what: "each sequence a document", own: []string{".fastq", ".fq"},
		looks: looks(`@\S.*\n(BASES{100}|(BASES+\n)+\+.*\n([!-~]+\n)+@|(BASES+\n)+\+.*\n([!-~]+\n*)+$)`), rule: beginsFASTQ, read: readFASTQ},
	{name: "vcard", label: "vCard", what: "each contact a document", own: []string{".vcard"}, shared: []string{".vcf"},
		looks: looks(`(?i)BEGIN:VCARD\n([A-Z][A-Z0-9.-]*[:;]|$)`), rule: beginsWith(`(?i)^BEGIN:VCARD\s*$`), read: readVCard},
	{name: "srt", label: "SubRip subtitles", what: "each subtitle a document", own: []string{".srt"},
		looks: looks(`\d+[ \t]*\nTIME *-->`), rule: paragraphs(`^\s*\d+\s*$|-->`), between: "\n", read: readSubtitle},
	{name: "vtt", label: "WebVTT subtitles", what: "each subtitle a document", own: []string{".vtt"},
		looks: looks(`WEBVTT([ \t].*)?\n((.*\n)*.* --> |\n|$)`), rule: paragraphs(``), between: "\n", read: readSubtitle},
	{name: "ldif", label: "LDIF", what: "each entry a document", own: []string{".ldif"},
		looks: looks(`(version: *\d+\n|[# ].*\n|\n)*dn::? .*\n( .*\n)*[A-Za-z][A-Za-z0-9;.-]*::? `), rule: paragraphs(``), between: "\n", read: readLDIF},
	{name: "po", label: "gettext translations", what: "each message a document", own: []string{".po", ".pot"},
		looks: looks(`(#.*\n|[ \t]*\n)*(msgctxt ".*\n(".*\n)*)?msgid ".*\n((msgid_plural )?".*\n)*msgstr(\[0\])? `), rule: beginsPO, read: readPO},
	{name: "pgn", label: "PGN", what: "each game a document", own: []string{".pgn"},
		looks: looks(`([%;].*\n|\n)*\[[A-Z]\w* ".*"\][ \t]*\n\[[A-Z]\w* "`), rule: beginsPGN, read: readPGN},
	{name: "wikiextractor", label: "wikiextractor", what: "each article a document",
		looks: looks(`(?i)<doc id=[^>\n]*>[ \t]*\n`), rule: beginsWith(`(?i)^<doc id=`), read: readArticle},
	{name: "fortune", label: "fortunes", what: "each text between lines of % a document",
		rule: beginsWith(`^%%?\s*$`), between: "%\n", read: readFortune},
	{name: "log", label: "log", what: "each entry, from its date and time on, a document", shared: []string{".log"},
		rule: func() rule { return stamp.Match }, read: readWhole},
}

// kindOf returns the kind with this name, or nil.
func kindOf(name records.Format) *kind {
	if i := slices.IndexFunc(kinds, func(k *kind) bool { return k.name == name }); i >= 0 {
		return kinds[i]
	}
	return nil
}

// recognize returns the kind of a text, by its beginning or its name, or nil. Fortunes and logs
// are recognised only in plain text.
func recognize(name string, head []byte) *kind {
	head = bytes.ReplaceAll(bytes.TrimLeft(head, " \t\r\n"), []byte("\r\n"), newline)
	for _, k := range kinds {
		if k.looks != nil && k.looks.Match(head) {
			return k
		}
	}
	first, _, _ := bytes.Cut(head, newline)
	if i := slices.IndexFunc(kinds, func(k *kind) bool {
		return slices.Contains(k.own, ending(name)) || slices.Contains(k.shared, ending(name)) && k.rule()(first)
	}); i >= 0 {
		return kinds[i]
	}
	return nil
}

// recognizeText is recognize for the kinds that only plain text can be. A log has continued
// entries; without them, each line is an entry.
func recognizeText(head []byte, lines [][]byte) *kind {
	if sep := separator(head); sep == "%" || sep == "%%" {
		return kindOf("fortune")
	}
	begun, first := 0, -1
	for i, line := range lines {
		if stamp.Match(line) {
			if begun++; first < 0 {
				first = i
			}
		}
	}
	if begun >= 3 && first < 3 && begun < len(lines)-first {
		return kindOf("log")
	}
	return nil
}

// stamp matches the date and time at the beginning of an entry of a log, maybe after its level.
var stamp = regexp.MustCompile(`^(\[?[A-Z]{4,8}\]?:? +)?[\[(<]?(` +
	`\d{4}[-/.]\d\d[-/.]\d\d[T _,]+\d\d:\d\d|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4},? \d{1,2}:\d\d|\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d|` +
	`([A-Z][a-z]{2},? )?[A-Z][a-z]{2} [ \d]\d,? (\d{4} )?\d\d:\d\d:\d\d|(\d\d-\d\d )?\d\d:\d\d:\d\d[.,]\d{3}\b)`)

// looks compiles a pattern that must match at the beginning of a text.
func looks(pattern string) *regexp.Regexp {
	for _, part := range [][2]string{
		{"SEQ", `(BASES+|[A-Z*.-]+)[ \t]*`}, {"BASES", "[ACGTUNRYSWKMBDHVacgtunryswkmbdhv.*-]"}, {"TIME", `\d+:\d\d:\d\d[,.]\d+`},
	} {
		pattern = strings.ReplaceAll(pattern, part[0], part[1])
	}
	return regexp.MustCompile("^(?:" + pattern + ")")
}

// describe returns the description of the kind.
func (k *kind) describe() records.Description {
	return records.Description{Name: k.name, Label: k.label, Unit: "line", Endings: slices.Concat(k.own, k.shared, []string{".txt"})}
}

// grouping returns how its lines form records.
func (k *kind) grouping() *grouping {
	return &grouping{rule: k.rule, between: k.between, none: errors.New("no line begins a record of " + k.label + "; " + records.AsText())}
}

// useKind makes the parser of a kind of text.
func (f *file) useKind(k *kind, head []byte) error {
	switch o := f.opt; {
	case o.TextField != "" || o.Fields != nil || o.SetField != "" || o.IDField != "" || o.FingerprintField != "" || o.Fingerprints != base.Auto:
		return fmt.Errorf("it is %s, whose records have no fields: leave out %s, %s and the like; %s", k.label, option.Name("IDField"), option.Name("TextField"), records.AsText())
	case bytes.IndexByte(head, 0) >= 0:
		return fmt.Errorf("it has NUL bytes, so it is not text; %s names the encoding of a text", option.Name("Encoding"))
	case o.Format == records.Auto && !slices.Contains(k.own, ending(f.info.Name)):
		f.info.Notice = k.label + ", " + k.what
	}
	f.parse, f.group = k, k.grouping()
	return nil
}

// parse implements parser.
func (k *kind) parse(raw []byte, rec *record) (reason string) {
	text := strings.TrimRight(strings.ReplaceAll(records.ValidText(string(raw)), "\r\n", "\n"), "\n")
	rec.Doc.ID, rec.Doc.Text, reason = k.read(strings.Split(text, "\n"))
	if len(rec.Doc.ID) > base.MaxIDBytes {
		rec.Doc.ID = ""
	}
	if reason != "" {
		return reason
	}
	return rec.checkID(true)
}

// beginsWith returns the rule that a record begins where a line matches.
func beginsWith(pattern string) func() rule {
	re := regexp.MustCompile(pattern)
	return func() rule { return re.Match }
}

// paragraphs returns the rule that a record begins after a blank line, where a line matches.
func paragraphs(pattern string) func() rule {
	re := regexp.MustCompile(pattern)
	return func() rule {
		after := true
		return func(line []byte) bool {
			blank := len(bytes.TrimSpace(line)) == 0
			begins := after && !blank && re.Match(line)
			after = blank
			return begins
		}
	}
}

// beginsFASTQ returns the rule of FASTQ: a record ends when its quality is as long as its sequence,
// because a line of quality may begin with @, too.
func beginsFASTQ() rule {
	const (
		between = iota
		inSequence
		inQuality
	)
	state, missing := between, 0
	return func(line []byte) bool {
		line = bytes.TrimSpace(line)
		switch {
		case state == inSequence && len(line) > 0 && line[0] == '+':
			state = inQuality
		case state == inSequence:
			missing += len(line)
		case state == inQuality && missing > 0:
			if missing -= len(line); missing <= 0 {
				state = between
			}
		case len(line) > 0 && line[0] == '@':
			state, missing = inSequence, 0
			return true
		}
		return false
	}
}

// beginsPO returns the rule of gettext: an entry begins after a blank line or a translation.
func beginsPO() rule {
	after := true
	return func(line []byte) bool {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("#~")))
		first := bytes.HasPrefix(line, []byte("msgctxt")) || bytes.HasPrefix(line, []byte("msgid ")) || len(line) > 0 && line[0] == '#'
		begins := after && first
		if len(line) > 0 {
			after = bytes.HasPrefix(line, []byte("msgstr")) || after && !begins
		} else {
			after = true
		}
		return begins
	}
}

// tag matches a tag of PGN.
var tag = regexp.MustCompile(`^\[(\w+)\s+"(.*)"\]\s*$`)

// beginsPGN returns the rule of PGN: a game begins with its first tag.
func beginsPGN() rule {
	within := false // in the tags of a game
	return func(line []byte) bool {
		isTag := tag.Match(line)
		begins := isTag && !within
		if isTag || len(bytes.TrimSpace(line)) > 0 {
			within = isTag
		}
		return begins
	}
}
