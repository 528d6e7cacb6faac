package syntax

import (
	"cmp"
	_ "embed" // the words of other languages
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"

	"github.com/simdb/simdb/internal/spelling"
)

// checkWords finds unknown words where a statement or a predicate must stand: at the start, and
// before a parenthesis. These are the most common mistakes, and a check before the parser runs can
// suggest the word that the user meant.
func (l *Language) checkWords(text string, tokens []Token) error {
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
			return Errorf(t.Pos.Offset, cmp.Or(foreign(t), spelling.Suggest(t.Value, l.predicates), spelling.Part(elsewhere(), "@", strings.ToUpper(t.Value)), "write NEAR('a', 3) or JACCARD('a', 0.8); the predicates are "+strings.Join(l.predicates, ", ")), "unknown predicate %q", t.Value)
		}
		hint := elsewhere()[strings.ToUpper(t.Value)]
		second := tokens[min(1, len(tokens)-1)]
		test := elsewhere()[strings.ToUpper(second.Value)]
		if third := tokens[min(2, len(tokens)-1)]; hint+test == "" && second.Type == Ident && (third.Type == String || third.Value == "LIKE") {
			test = spelling.Part(elsewhere(), "@", strings.ToUpper(second.Value))
		}
		switch {
		case hint != "" && !strings.Contains(test, " LIKE"):
			hint = cmp.Or(l.translated(text), map[bool]string{true: test}[strings.EqualFold(t.Value, "SELECT")], hint)
		case test != "":
			return Errorf(second.Pos.Offset, strings.ReplaceAll(test, "lang", t.Value), "unexpected %q", second.Value)
		default:
			hint = spelling.Suggest(t.Value, slices.Concat([]string{"ID"}, l.statements, l.predicates))
			if hint == "" && second.EOF() && !strings.Contains(t.Value, ".") {
				hint = fmt.Sprintf("NEAR('%s', 6) finds documents like %[1]s, GET '%[1]s' shows it, TEXT LIKE '%%%[1]s%%' finds the word", t.Value)
			}
		}
		hint = cmp.Or(hint, "a statement looks like NEAR('a', 3), lang = 'en' or COUNT; TEXT LIKE '%words%' finds words, .import FILE loads a file")
		return Errorf(t.Pos.Offset, hint, "unknown statement %q", t.Value)
	}
	return nil
}

// showsNoField recognizes SHOW TABLES and the like, which other languages have.
func showsNoField(tokens []Token) bool {
	return tokens[0].Value == "DESC" || len(tokens) > 1 && tokens[0].Value == "SHOW" && slices.Contains([]string{"TABLES", "DATABASES", "COLUMNS", "SCHEMAS"}, strings.ToUpper(tokens[1].Value))
}

// isValue reports whether a token is a value other than a document.
func isValue(t Token) bool {
	return t.Type != JSON && isLiteral(&t) || t.Type == Param || t.Type == Named
}

// inCall returns the predicate within whose parentheses tokens end, or "".
func inCall(tokens []Token) string {
	for i := len(tokens) - 1; i > 0; i-- {
		if tokens[i].Value == "(" && tokens[i-1].Type == Predicate {
			return tokens[i-1].Value
		}
	}
	return ""
}

// numberOf says which number a predicate needs.
func numberOf(predicate string) string {
	if strings.HasPrefix(predicate, "NEAR") || predicate == "PASSAGES" {
		return ExpectNumber
	}
	return "a share such as 0.8"
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

//go:embed elsewhere.txt
var elsewhereTable string

// elsewhere says what to write instead of words that users of SQL and other languages try, and of
// words that the language once had.
var elsewhere = sync.OnceValue(func() map[string]string { return spelling.Elsewhere(elsewhereTable) })

// foreign returns the hint for a word of another language, or "".
func foreign(t Token) string {
	if t.Type != Ident && t.Type != Predicate {
		return ""
	}
	return elsewhere()[strings.ToUpper(t.Value)]
}

var selection = regexp.MustCompile(`(?is)^\s*select\s+(.+?)\s+from\s+([^\s()']+)(?:\s+where\s+(.+?))?(\s+(?:order\s+by|limit)\s.+?)?[\s;]*$`)

// translated returns a SELECT of SQL as a statement here, or "".
func (l *Language) translated(text string) string {
	m := selection.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	written := m[3] + m[4] + " SHOW " + m[1]
	if strings.HasPrefix(strings.ToLower(m[1]), "count(") {
		written = "COUNT " + m[3]
	}
	written = strings.Join(strings.Fields(strings.NewReplacer(`"`, "'", "==", "=").Replace(written)), " ")
	if _, err := l.Parse(written); err != nil {
		return ""
	}
	return "write " + written
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
		if word := inCall(tokens[:at]); word != "" {
			expected = numberOf(word)
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
		if before.Type == Ident && expected == "" {
			hint := ""
			if at == 2 && tokens[0].Value == "COUNT" {
				hint = "COUNT BY " + before.Value + " counts the documents of each value"
			}
			return Errorf(len(text), cmp.Or(hint, "as in "+before.Value+" = 'en'"), "the statement ends where =, <, LIKE, IN or BETWEEN should follow")
		}
		if expected == "" {
			return Errorf(len(text), "as in NEAR('a', 3) AND lang = 'en' LIMIT 10", "the statement ends too early")
		}
		return Errorf(len(text), "", "the statement ends where %s should follow", expected)
	}
	what := "unexpected " + Quote(found)
	if before.Value == ";" {
		return Errorf(found.Pos.Offset, "run them one by one", "%s after the end of the statement", what)
	}
	return Errorf(found.Pos.Offset, cmp.Or(l.hintAt(text, tokens, at, before, expected), "a query looks like NEAR('a', 3) AND lang = 'en' LIMIT 10, or JACCARD('a', 0.8)"), "%s", what)
}

// hintAt says what to write in place of a token where another one is expected, if it knows a
// replacement.
func (l *Language) hintAt(text string, tokens []Token, at int, before Token, expected string) (hint string) {
	found := tokens[at]
	if expected != "" {
		hint = "expected " + expected
	}
	isWord := func(t Token) bool { return t.Type == Ident || isKeyword(t) || t.EOF() }
	switch {
	case len(tokens) > 3 && tokens[0].Type == Ident && found.Type == Ident && !startsTest(tokens) && !slices.ContainsFunc(tokens, func(t Token) bool { return !isWord(t) }):
		hint = "a text is written in quotes: TEXT LIKE '%" + strings.ToValidUTF8(text[:min(len(text), 40)], "") + "%', or JACCARD(TEXT '...', 0.5)"
	case before.Value == "DELETE":
		hint = "write DELETE WHERE and a condition, or DELETE 'a'"
	case expected == ExpectID && isID(found):
		hint = "write " + before.Value + " 'a', or ID = 'a' SHOW *"
	case found.Type == Ident && expected == ExpectID:
		hint = "document ids are written in quotes: '" + found.Value + "'"
	case foreign(found) != "" && (found.Value == strings.ToUpper(found.Value) || (expected == "" || isID(before) || before.Value == "TEXT") && !isComparison(before)):
		hint = foreign(found)
	case foreign(before) != "" && before.Type == Ident && !isComparison(found):
		hint = foreign(before)
	case at == 2 && (found.Value == "," || found.Type == String) && (tokens[0].Value == "GET" || tokens[0].Value == "DELETE"):
		hint = "one id stands here: write ID IN ('a', 'b') SHOW *, or DELETE WHERE ID IN ('a', 'b')"
	case found.Value == "," && at > 1 && tokens[at-2].Value == "LIMIT":
		hint = "write LIMIT 10 OFFSET " + before.Value
	case found.Value == "," && at > 1 && tokens[at-2].Value == "BETWEEN":
		hint = "write BETWEEN 'a' AND 'b'"
	case found.Value == "*" && found.Type == Punct, found.Value == "(" && before.Value == "COUNT", found.Value == ")" && before.Type == Ident && tokens[0].Value == "COUNT":
		hint = "COUNT alone counts the documents, COUNT lang = 'en' those it finds, COUNT BY lang those of each value; SHOW * shows all fields"
	case found.Value == "ANALYZE":
		hint = "write EXPLAIN ANALYZE NEAR('a', 3)"
	case found.Value == "BY":
		hint = "write COUNT BY lang, or ORDER BY lang LIMIT 5"
	case before.Value == "PUT":
		hint = `write PUT {"id": "a", "text": "..."}`
	case before.Value == "IS" || before.Value == "NOT" && at > 1 && tokens[at-2].Value == "IS":
		hint = "write = or !=, or IS NULL or IS NOT NULL"
	case found.Value == "NULL" && isComparison(before):
		hint = "write IS NULL or IS NOT NULL"
	default:
		hint = l.hintAtWord(text, tokens, at, before, hint)
	}
	return hint
}

// hintAtWord is hintAt where the token itself matters more than those before it. It returns hint if
// it knows no replacement.
func (l *Language) hintAtWord(text string, tokens []Token, at int, before Token, hint string) string {
	switch found := tokens[at]; {
	case isKeyword(found) && found.Value != "TEXT" && startsTest(tokens[at:]):
		hint = "a field of that name is written fields." + strings.ToLower(found.Value)
	case before.Type == Number && found.Type == Number:
		hint = "dates are written in quotes: '2026-01-02'"
	case before.Type == Number && at > 1 && expectedAfter[tokens[at-2].Value] == ExpectSince:
		hint = fmt.Sprintf("write %sd for days, %[1]sh for hours", before.Value)
	case found.Type == Ident && (isComparison(before) || at > 1 && tokens[at-2].Value == "IN"):
		hint = "strings are written in quotes: '" + found.Value + "'"
	case found.Value == "=" && before.Value == "=":
		hint = "equality is written ="
	case found.Value == "WHERE":
		hint = "write only the condition: lang = 'en' SHOW text, COUNT lang = 'en'; AND stands before another"
	case before.Value == "IN":
		hint = "a list follows, as in IN ('a', 'b')"
	case (found.Type == Predicate || startsTest(tokens[at:])) && (before.Value == ")" || isValue(before)):
		hint = "AND or OR is written between predicates; SHOW, ORDER BY and LIMIT follow all"
	case found.Type == Ident && before.Value == "," && inCall(tokens[:at]) != "":
	case before.Value == "," && !slices.ContainsFunc(tokens[:at], func(t Token) bool { return t.Value == "(" }):
		hint = "write AND between conditions; COUNT BY and ORDER BY have one field"
	case at == 0 && slices.Contains([]string{"LIMIT", "OFFSET", "ORDER", "SHOW"}, found.Value):
		hint = "expected " + expectedAfter[found.Value] + " after it"
	case at == 0 && found.Type == JSON:
		hint = "PUT " + found.Value + " stores it; lang = 'en', TEXT LIKE '%word%' and JACCARD(TEXT '...', 0.5) find documents"
	case found.Type == Ident && (before.Value == "," || before.Value == "(" && spelling.Suggest(found.Value, l.Keywords()) == ""):
		hint = "document ids are written in quotes: '" + found.Value + "'"
	case found.Type == Ident && len(found.Value) > 2:
		hint = cmp.Or(foreign(found), spelling.Suggest(found.Value, l.Keywords()), hint)
	case found.Type == Ident:
	case at == 0:
	case slices.Contains(l.statements, found.Value), isKeyword(found) && strings.Contains(text[before.Pos.Offset:found.Pos.Offset], "\n"):
		hint = "a statement ends with ;"
	}
	return hint
}

// Names of expected things in error messages.
const (
	ExpectPredicate = "a predicate such as NEAR('a', 3)"
	ExpectID        = "a document id in quotes such as 'a'"
	ExpectTwoIDs    = "two document ids in quotes such as 'a' 'b'"
	ExpectCriterion = "a criterion such as NEAR 3, or JACCARD, LEVENSHTEIN or COSINE and a share such as 0.8"
	ExpectSince     = "a duration such as 2d, or a date such as '2026-01-02'"
	ExpectNumber    = "a number such as 3"
	ExpectValue     = "a value such as 'en', 3 or TRUE"
)

// expectedAfter says what follows a token. For the word that starts a statement, its Expects says
// it.
var expectedAfter = map[string]string{
	"ANALYZE": "a statement such as NEAR('a', 3)",
	"AND":     ExpectPredicate,
	"OR":      ExpectPredicate,
	"NOT":     ExpectPredicate,
	"WHERE":   ExpectPredicate,
	"UNLESS":  ExpectCriterion,
	"IS":      "NULL or NOT NULL",
	"SHOW":    "columns such as id, url, text",
	"LIKE":    "a pattern in quotes such as 'a%'",
	"ESCAPE":  "a character in quotes such as '!'",
	"SINCE":   ExpectSince,
	"LIMIT":   ExpectNumber,
	"OFFSET":  ExpectNumber,
	"ORDER":   "BY and a field such as lang",
	"BY":      "a field such as lang, or id, distance, score, words or time",
	"TEXT":    "a text in quotes such as JACCARD(TEXT 'some words', 0.5), or TEXT LIKE '%word%'",
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
			return m[1] + " as in NEAR('a', 3) AND lang IN ('en', 'de') ORDER BY lang"
		}
	}
	if len(before) == 0 {
		return "a statement such as NEAR('a', 3), TEXT LIKE '%word%' or GET 'a'"
	}
	last := before[len(before)-1]
	var first Token // of the two tokens before
	if len(before) > 1 {
		first = before[len(before)-2]
	}
	word := first.Value
	switch criterion := word == "PAIRS" || word == "CLUSTERS" || word == "UNLESS"; {
	case last.Type == Predicate && !criterion:
		return `"(" as in ` + last.Value + "('a', " + map[bool]string{true: "3)", false: "0.8); PAIRS " + last.Value + " 0.8 lists all pairs"}[numberOf(last.Value) == ExpectNumber]
	case last.Type == Predicate:
		return numberOf(last.Value)
	case word == "WHY":
		return "a second document id in quotes such as 'b'"
	case word == ")" && last.Value == "BY":
		return "JACCARD"
	case isID(last):
		return "a test such as = 'a', <, LIKE, IN or BETWEEN"
	case first.Type == Ident && last.Value == "NOT":
		return "LIKE 'a%', IN ('a', 'b') or BETWEEN 'a' AND 'b'"
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
