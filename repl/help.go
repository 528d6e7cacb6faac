package repl

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/simdb/simdb/query"
)

// helpTopic is one construct of the language.
type helpTopic struct {
	words  string // that .help finds it by, apart by spaces
	syntax string
	help   string
}

// helpLanguage is the language at a glance; docs/query.md says all of it.
var helpLanguage = []helpTopic{
	{"NEAR", "NEAR('a', 3)  NEAR(0xff, 3)  NEAR(TEXT '...', 3)", "documents whose fingerprint differs in at most 3 of 64 bits"},
	{"NEAREST", "NEAREST('a', 10)", "the 10 documents with the nearest fingerprints"},
	{"JACCARD VERIFY", "JACCARD('a', 0.8) [VERIFY]", "documents that share 80% of their shingles; VERIFY: by the texts"},
	{"LEVENSHTEIN COSINE", "NEAR('a', 10) AND LEVENSHTEIN('a', 0.9)", "candidates whose text is that similar; COSINE: by words"},
	{"ID LIKE ESCAPE IN", "ID LIKE 'x%'  ID = 'a'  ID IN ('a', 'b')", "documents by id; % is any text, _ one character"},
	{"SINCE", "SINCE 2d  SINCE '2026-01-02'", "documents stored since then"},
	{"AND OR NOT", "NEAR('a', 6) AND NOT (ID LIKE 'x%' OR SINCE 1h)", "combinations"},
	{"ORDER BY LIMIT OFFSET ASC DESC", "... ORDER BY distance, time DESC LIMIT 20 OFFSET 40", "by id, distance, score or time"},
	{"COUNT", "COUNT  COUNT NEAR('a', 3)", "how many"},
	{"EXPLAIN ANALYZE", "EXPLAIN [ANALYZE] NEAR('a', 3)", "how a query is carried out, and what that takes"},
	{"WHY", "WHY 'a' 'b'", "how two documents compare"},
	{"GET", "GET 'a'", "a document"},
	{"PUT UNLESS", `PUT {"id": "a", "text": "..."} [UNLESS JACCARD 0.8]`, "store a document, or only if nothing is like it"},
	{"DELETE WHERE", "DELETE 'a'  DELETE WHERE ID LIKE 'x%'", "remove documents"},
	{"ALLOW", "ALLOW 'a' 'b'", "note that two documents are not duplicates"},
	{"PAIRS", "PAIRS NEAR 3  PAIRS JACCARD 0.8 [VERIFY]", "all pairs of documents that match"},
	{"CLUSTERS MODE", "CLUSTERS JACCARD 0.8 [MODE star|components]", "groups of documents that match, with the one to keep"},
	{"PRUNE OLDER", "PRUNE OLDER 30d", "remove documents stored before then"},
	{"STATS CHECK FLUSH COMPACT", "STATS  CHECK  FLUSH  COMPACT", "what is there; verify it; write it out; merge its tables"},
}

// helpTopics are the words that .help knows.
func helpTopics() []string {
	var words []string
	for _, h := range helpLanguage {
		words = append(words, strings.Fields(h.words)...)
	}
	return words
}

// dotHelp lists the language and the dot-commands, or those that a word belongs to.
func (s *session) dotHelp(arg string) error {
	word := strings.ToUpper(strings.Trim(arg, ".; "))
	var lines [][2]string
	for _, h := range helpLanguage {
		for _, w := range strings.Fields(h.words) {
			if word == "" || w == word {
				lines = append(lines, [2]string{h.syntax, h.help})
				break
			}
		}
	}
	if word == "" {
		lines = append(lines, [2]string{})
	}
	var names []string
	for _, c := range dotCommands {
		names = append(names, c.name)
		if word == "" || strings.EqualFold(c.name, word) {
			lines = append(lines, [2]string{strings.TrimSpace("." + c.name + " " + c.arguments), c.help})
		}
	}
	if len(lines) == 0 {
		hint := "type .help for all"
		if w, ok := query.Closest(word, append(helpTopics(), names...)); ok {
			hint = "did you mean " + w + "?"
		}
		return &query.ParseError{Class: query.ClassParse, Msg: fmt.Sprintf("there is no help on %q", arg), Hint: hint}
	}
	return s.writeHelp(lines)
}

const narrowHelp = 28 // columns of syntax where the terminal is too narrow for syntax and explanation as they are

// writeHelp writes pairs of syntax and explanation in two columns. On a narrow terminal explanations are wrapped, and begin below
// a syntax that is longer than its column.
func (s *session) writeHelp(lines [][2]string) error {
	left, right := 0, 0
	for _, l := range lines {
		left, right = max(left, len(l[0])), max(right, len(l[1]))
	}
	if width := s.options.Width; width > 0 && left+2+right > width {
		left = min(left, narrowHelp)
		right = max(width-left-2, 20)
	}
	var b strings.Builder
	for _, l := range lines {
		syntax := l[0]
		if len(syntax) > left {
			b.WriteString(syntax + "\n")
			syntax = ""
		}
		for row := range strings.Lines(text.WrapSoft(l[1], right) + "\n") {
			b.WriteString(strings.TrimRight(fmt.Sprintf("%-*s  %s", left, syntax, row), " \n") + "\n")
			syntax = ""
		}
	}
	_, err := io.WriteString(s.out, b.String())
	return err
}
