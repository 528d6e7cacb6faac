package syntax

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"

	"github.com/simdb/simdb/internal/spelling"
)

// checkWords finds unknown words where a statement or a predicate must stand: at the start, and
// before a parenthesis. These are the most common mistakes, and a check before the parser runs can
// suggest the word that the user meant.
func (l *Language) checkWords(tokens []Token) error {
	if len(tokens) == 0 {
		return nil
	}
	first := tokens[0]
	if first.EOF() || first.Value == ";" {
		return Errorf(first.Pos.Offset, "such as NEAR('a', 3)", "a statement is missing")
	}
	for i, t := range tokens {
		if i == 0 && isID(t) {
			continue
		}
		called := i+1 < len(tokens) && tokens[i+1].Value == "("
		if t.Type != Ident && !(i == 0 && showsNoField(tokens)) || i > 0 && !called || i == 0 && startsTest(tokens) {
			continue
		}
		if called {
			return Errorf(t.Pos.Offset, spelling.Suggest(t.Value, l.predicates), "unknown predicate %q", t.Value)
		}
		hint, known := fromOtherLanguages[strings.ToUpper(t.Value)]
		if !known {
			hint = spelling.Suggest(t.Value, slices.Concat([]string{"ID"}, l.statements, l.predicates))
		}
		hint = cmp.Or(hint, "a statement looks like NEAR('a', 3), lang = 'en' or COUNT")
		return Errorf(t.Pos.Offset, hint, "unknown statement %q", t.Value)
	}
	return nil
}

// showsNoField recognizes SHOW TABLES and the like, which other languages have.
func showsNoField(tokens []Token) bool {
	if len(tokens) < 2 || tokens[0].Value != "SHOW" {
		return false
	}
	switch strings.ToUpper(tokens[1].Value) {
	case "TABLES", "DATABASES", "COLUMNS", "SCHEMAS":
		return true
	}
	return false
}

// isValue reports whether a token is a value other than a document.
func isValue(t Token) bool {
	return t.Type != JSON && isLiteral(&t) || t.Type == Param || t.Type == Named
}

// inCall reports whether tokens end within the parentheses of a predicate.
func inCall(tokens []Token) bool {
	for i := len(tokens) - 1; i > 0; i-- {
		if tokens[i].Value == "(" {
			return tokens[i-1].Type == Predicate
		}
	}
	return false
}

// startsTest reports whether the tokens start with a field and its test.
func startsTest(tokens []Token) bool {
	if len(tokens) < 2 {
		return false
	}
	switch tokens[1].Value {
	case "LIKE", "IN", "IS", "NOT", "BETWEEN":
		return true
	}
	return isComparison(tokens[1])
}

// isComparison reports whether a token may stand between a field and a value.
func isComparison(t Token) bool {
	switch t.Value {
	case "=", "!=", "<>", "<", "<=", ">", ">=":
		return t.Type == Punct
	}
	return false
}

// administers returns the hint for a word that administers the database, and so does not belong to
// the language.
func administers(verb string) string {
	return "it is a command: `simdb " + verb + " DB`, or ." + verb + " at the prompt"
}

// fromOtherLanguages says what to write instead of words that SQL users try first, and of words
// that the language once had.
var fromOtherLanguages = map[string]string{
	"SELECT": "write only the predicate, such as NEAR('a', 3); SHOW * LIMIT 5 shows some documents",
	"INSERT": `write PUT {"id": "a", "text": "..."}`,
	"UPDATE": "PUT replaces the document of the same id",
	"UPSERT": "PUT replaces the document of the same id",
	"VACUUM": administers("compact"),
	"CHECK":  administers("check"), "FLUSH": administers("flush"), "COMPACT": administers("compact"),
	"STATS": administers("stats"), "FIELDS": administers("fields"), "PRUNE": administers("prune"),
	"ALLOW": administers("allow"), "UNALLOW": administers("unallow"), "ALLOWED": administers("allowed"),
	"EXIT":   "write .quit",
	"QUIT":   "write .quit",
	"HELP":   "write .help",
	"SHOW":   "SHOW * LIMIT 5 shows some documents, .fields lists the fields, .stats describes the database",
	"DROP":   "write DELETE 'a' or DELETE WHERE ...",
	"REMOVE": "write DELETE 'a' or DELETE WHERE ...",
	"ADD":    `write PUT {"id": "a", "text": "..."}`,
	"FIND":   "write NEAR('a', 3), or NEAR(TEXT '...', 3)",
	"SEARCH": "write NEAR('a', 3), or NEAR(TEXT '...', 3)",
	"LIST":   "LIMIT 5 lists some documents, ID LIKE '%' all",
	"ALL":    "LIMIT 5 lists some documents, ID LIKE '%' all",
	"FROM":   "write only the predicate, such as NEAR('a', 3); SHOW * LIMIT 5 shows some documents",
}

// gone says what replaces words that statements of the language once had.
var gone = map[string]string{
	"MODE": "the verb clusters, and Clusters in Go, have modes", "ASC": "the order is ascending without DESC",
}

// syntaxError converts an error of participle to an Error.
func (l *Language) syntaxError(text string, tokens []Token, err error) error {
	var perr participle.Error
	if !errors.As(err, &perr) {
		return Errorf(0, "", "%v", err)
	}
	at := perr.Position().Offset // the number of a token, as in every form
	expected := ""
	if next := at + 1; tokens[at].Value == "," && next < len(tokens) && !isValue(tokens[next]) {
		at = next // participle reports the comma
		if inCall(tokens[:at]) {
			expected = ExpectNumber
		}
	} else {
		expected = l.expectation(tokens[:at], perr.Message())
	}
	found := tokens[at]
	var before Token
	if at > 0 {
		before = tokens[at-1]
	}
	if before.Value == "," {
		expected = cmp.Or(expected, expectedAfter[","])
	}
	if found.EOF() {
		if expected == "" {
			return Errorf(len(text), "", "the statement ends too early")
		}
		return Errorf(len(text), "", "the statement ends where %s should follow", expected)
	}
	what := "unexpected " + Quote(found)
	if before.Value == ";" {
		return Errorf(found.Pos.Offset, "run them one by one", "%s after the end of the statement", what)
	}
	return Errorf(found.Pos.Offset, l.hintAt(text, tokens, at, expected), "%s", what)
}

// hintAt says what to write in place of a token where another one is expected, if it knows a
// replacement.
func (l *Language) hintAt(text string, tokens []Token, at int, expected string) (hint string) {
	found, before := tokens[at], Token{}
	if at > 0 {
		before = tokens[at-1]
	}
	if expected != "" {
		hint = "expected " + expected
	}
	switch {
	case found.Type == Ident && gone[strings.ToUpper(found.Value)] != "":
		hint = gone[strings.ToUpper(found.Value)]
	case found.Value == "NULL" && isComparison(before):
		hint = "write IS NULL or IS NOT NULL"
	case isKeyword(found) && found.Value != "TEXT" && startsTest(tokens[at:]):
		hint = "a field of that name is written fields." + strings.ToLower(found.Value)
	case before.Type == Number && at > 1 && expectedAfter[tokens[at-2].Value] == ExpectSince:
		hint = fmt.Sprintf("write %sd for days, %[1]sh for hours", before.Value)
	case found.Type == Ident && isComparison(before):
		hint = "strings are written in quotes: '" + found.Value + "'"
	case found.Value == "=" && before.Value == "=":
		hint = "equality is written ="
	case found.Value == "WHERE" && at > 0:
		hint = "write AND"
	case before.Value == "IN":
		hint = "a list follows, as in IN ('a', 'b')"
	case found.Type == Predicate && (before.Value == ")" || before.Type == String):
		hint = "AND or OR is written between predicates"
	case found.Type == Ident && before.Value == "," && expected == ExpectNumber:
	case found.Value == "*" && found.Type == Punct:
		hint = "COUNT stands alone, and SHOW * shows all fields"
	case at == 0 && slices.Contains([]string{"LIMIT", "OFFSET", "ORDER", "SHOW"}, found.Value):
		hint = "expected " + expectedAfter[found.Value] + " after it"
	case at == 0 && found.Type != Punct:
		hint = "expected a statement such as NEAR('a', 3) or GET 'a'"
	case found.Type == Ident && before.Value == ",":
		hint = "document ids are written in quotes: '" + found.Value + "'"
	case found.Type == Ident:
		if h := spelling.Suggest(found.Value, l.Keywords()); h != "" {
			hint = h
		} else if before.Value == "(" {
			hint = "document ids are written in quotes: '" + found.Value + "'"
		}
	case at == 0:
	case slices.Contains(l.statements, found.Value), isKeyword(found) && strings.Contains(text[before.Pos.Offset:found.Pos.Offset], "\n"):
		hint = "a statement ends with ;"
	}
	return hint
}

// Names of expected things in error messages.
const (
	ExpectPredicate = "a predicate such as NEAR('a', 3)"
	ExpectID        = "a document id in quotes"
	ExpectTwoIDs    = "two document ids in quotes"
	ExpectCriterion = "NEAR and a number of bits, or JACCARD, LEVENSHTEIN or COSINE and a share"
	ExpectSince     = "a duration such as 2d, or a date such as '2026-01-02'"
	ExpectNumber    = "a number"
	ExpectValue     = "a value such as 'en', 3 or TRUE"
)

// expectedAfter says what follows a token. For the word that starts a statement, its Expects says
// it.
var expectedAfter = map[string]string{
	"ANALYZE": "a statement",
	"AND":     ExpectPredicate,
	"OR":      ExpectPredicate,
	"NOT":     ExpectPredicate,
	"WHERE":   ExpectPredicate,
	"UNLESS":  ExpectCriterion,
	"IS":      "NULL or NOT NULL",
	"SHOW":    "columns such as id, url, text",
	"LIKE":    "a pattern in quotes",
	"ESCAPE":  "a character in quotes",
	"SINCE":   ExpectSince,
	"LIMIT":   ExpectNumber,
	"OFFSET":  ExpectNumber,
	"ORDER":   "BY",
	"BY":      "a field, or id, distance, score, words or time",
	"TEXT":    "a text in quotes",
	",":       "a value",
}

// expectedIn extracts the expected part from participle's message, and plainLiteral a single
// literal from that part. Version 2 of participle keeps the expected node in an unexported field,
// so its text is the only source; TestExpectation fails if a new version words it differently.
var (
	expectedIn   = regexp.MustCompile(`\(expected (.*)\)$`)
	plainLiteral = regexp.MustCompile(`^"([^" ]+)"$`)
)

// expectation says in words what should follow the tokens before an unexpected one, or returns "".
// message is participle's, which names a rule of the grammar; only a single literal in it helps a
// user.
func (l *Language) expectation(before []Token, message string) string {
	if m := expectedIn.FindStringSubmatch(message); m != nil {
		if literal := plainLiteral.FindStringSubmatch(m[1]); literal != nil {
			return m[1]
		}
	}
	if len(before) == 0 {
		return "a statement"
	}
	last := before[len(before)-1]
	var first Token // of the two tokens before
	if len(before) > 1 {
		first = before[len(before)-2]
	}
	word := first.Value
	switch criterion := word == "PAIRS" || word == "CLUSTERS" || word == "UNLESS"; {
	case last.Type == Predicate && !criterion:
		return `"("`
	case last.Type == Predicate:
		return ExpectNumber
	case word == "WHY":
		return "a second document id in quotes"
	case word == ")" && last.Value == "BY":
		return "JACCARD"
	case isID(last):
		return "=, <, LIKE, IN or BETWEEN"
	case first.Type == Ident && last.Value == "NOT":
		return "LIKE, IN or BETWEEN"
	case isComparison(last), word == "IN" && last.Value == "(":
		return ExpectValue
	case last.Value != "(":
		return cmp.Or(l.expects[last.Value], expectedAfter[last.Value])
	case first.Type == Predicate:
		return "a document id in quotes, a fingerprint such as 0xff, or TEXT and a text in quotes"
	}
	return ExpectPredicate
}

// isID reports whether a token names the id column.
func isID(t Token) bool { return t.Type == Ident && strings.EqualFold(t.Value, "id") }
