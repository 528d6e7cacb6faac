package query

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// parser reads any statement, queryParser one that starts with a predicate: it has no other forms to try before.
var (
	parser      = participle.MustBuild[statement](participle.Lexer(definition{}), participle.UseLookahead(2))
	queryParser = participle.MustBuild[queryStmt](participle.Lexer(definition{}), participle.UseLookahead(2))
)

// parsed is a statement that is well-formed.
type parsed struct {
	text   string
	stmt   *statement
	def    *statementDef
	params map[int]int // offset of each ? in text -> its number, from 0
}

// parse reads one statement; a semicolon may end it.
func parse(text string) (*parsed, error) {
	tokens, err := lex(text)
	if werr := checkWords(text, tokens); werr != nil {
		return nil, werr // it stands before what lex stumbled over
	}
	if err != nil {
		return nil, err
	}
	p := &parsed{text: text, params: make(map[int]int)}
	for _, t := range tokens {
		if t.Type == tokParam {
			p.params[t.Pos.Offset] = len(p.params)
		}
	}
	peeking, err := lexer.Upgrade(&tokenList{tokens})
	if err != nil {
		return nil, err
	}
	if tokens[0].Type == tokPredicate {
		var q *queryStmt
		if q, err = queryParser.ParseFromLexer(peeking); err == nil {
			p.stmt = &statement{Select: q.Select}
		}
	} else {
		p.stmt, err = parser.ParseFromLexer(peeking)
	}
	if err != nil {
		return nil, syntaxError(text, tokens, err)
	}
	p.def = statementOf(tokens[0])
	return p, nil
}

// Check says what is wrong with the form of a statement, without running it: nil, or a *ParseError. Whether its
// documents exist and its values fit is not looked at.
func Check(text string) error {
	_, err := parse(text)
	return err
}

// checkWords finds words that are neither statement nor predicate where one must stand: at the start, and before a
// parenthesis. These are the mistakes people make most, and here more can be said about them than in the grammar.
func checkWords(text string, tokens []lexer.Token) error {
	if len(tokens) == 0 {
		return nil
	}
	first := tokens[0]
	if first.EOF() || first.Value == ";" {
		return errorAt(text, first.Pos.Offset, "such as NEAR('a', 3)", "a statement is missing")
	}
	for i, t := range tokens {
		called := i+1 < len(tokens) && tokens[i+1].Value == "("
		if t.Type != tokIdent || i > 0 && !called {
			continue
		}
		if called {
			return errorAt(text, t.Pos.Offset, suggest(t.Value, predicateWords), "unknown predicate %q", t.Value)
		}
		hint := suggest(t.Value, slices.Concat([]string{"ID"}, statementWords, predicateWords))
		if h, ok := fromOtherLanguages[strings.ToUpper(t.Value)]; ok {
			hint = h
		}
		return errorAt(text, t.Pos.Offset, hint, "unknown statement %q", t.Value)
	}
	return nil
}

// fromOtherLanguages says what to write instead of the words that users of SQL try first.
var fromOtherLanguages = map[string]string{
	"SELECT": "write the predicate alone, such as NEAR('a', 3) LIMIT 10",
	"INSERT": `write PUT {"id": "a", "text": "..."}`,
	"UPDATE": "PUT replaces the document of the same id",
	"UPSERT": "PUT replaces the document of the same id",
	"VACUUM": "write COMPACT",
	"EXIT":   "write .quit",
	"QUIT":   "write .quit",
	"HELP":   "write .help",
	"SHOW":   "write STATS",
	"DROP":   "write DELETE 'a' or DELETE WHERE ...",
}

// syntaxError turns what participle says into our error.
func syntaxError(text string, tokens []lexer.Token, err error) error {
	var perr participle.Error
	if !errors.As(err, &perr) {
		return errorAt(text, 0, "", "%v", err)
	}
	offset := perr.Position().Offset
	at := 0
	for at < len(tokens)-1 && tokens[at].Pos.Offset < offset {
		at++
	}
	expected := ""
	if next := at + 1; tokens[at].Value == "," && next < len(tokens) && (tokens[next].EOF() || tokens[next].Value == ")") {
		at = next // participle blames the comma
	} else {
		expected = expectation(tokens[:at], perr.Message())
	}
	found := tokens[at]
	var before lexer.Token
	if at > 0 {
		before = tokens[at-1]
	}
	if before.Value == "," {
		expected = cmp.Or(expected, expectedAfter[","])
	}
	if found.EOF() {
		if expected == "" {
			return errorAt(text, len(text), "", "the statement ends too early")
		}
		return errorAt(text, len(text), "", "the statement ends where %s should follow", expected)
	}
	what := "unexpected " + quoteToken(found)
	if before.Value == ";" {
		return errorAt(text, found.Pos.Offset, "run them one by one", "%s after the end of the statement", what)
	}
	hint := ""
	if expected != "" {
		hint = "expected " + expected
	}
	switch {
	case found.Type == tokIdent:
		if h := suggest(found.Value, Keywords()); h != "" {
			hint = h
		} else if before.Value == "(" || before.Value == "," {
			hint = "document ids are written in quotes: '" + found.Value + "'"
		}
	case at == 0:
	case slices.Contains(statementWords, found.Value), found.Pos.Line > before.Pos.Line && isKeyword(found):
		hint = "a statement ends with ;"
	}
	return errorAt(text, found.Pos.Offset, hint, "%s", what)
}

// quoteToken is how a message names a token.
func quoteToken(t lexer.Token) string {
	switch t.Type {
	case tokJSON:
		return "JSON object"
	case tokString:
		if utf8.RuneCountInString(t.Value) > 40 {
			return "string"
		}
		return t.Value
	}
	return `"` + t.Value + `"`
}

const (
	expectPredicate = "a predicate such as NEAR('a', 3)"
	expectID        = "a document id in quotes"
	expectTwoIDs    = "two document ids in quotes"
	expectCriterion = "NEAR and a number of bits, or JACCARD and a share"
	expectSince     = "a duration such as 2d, or a date such as '2026-01-02'"
	expectNumber    = "a number"
)

// expectedAfter says what follows a token that does not start a statement: for those their table says it.
var expectedAfter = map[string]string{
	"ANALYZE": "a statement",
	"AND":     expectPredicate, "OR": expectPredicate, "NOT": expectPredicate, "WHERE": expectPredicate,
	"UNLESS": expectCriterion,
	"ID":     "=, LIKE or IN", "LIKE": "a pattern in quotes", "ESCAPE": "a character in quotes", "=": expectID, "!=": expectID, "<>": expectID,
	"SINCE": expectSince, "OLDER": expectSince, "LIMIT": expectNumber, "OFFSET": expectNumber,
	"ORDER": "BY", "BY": "id, distance, score or time", "MODE": "star or components", "TEXT": "a text in quotes",
	",": "a value",
}

var (
	expectedIn   = regexp.MustCompile(`\(expected (.*)\)$`)
	plainLiteral = regexp.MustCompile(`^"([^" ]+)"$`)
)

// expectation says in words what should follow the tokens before an unexpected one; "" where that would help nobody.
// The message is participle's, which tells it as a grammar.
func expectation(before []lexer.Token, message string) string {
	if m := expectedIn.FindStringSubmatch(message); m != nil {
		if literal := plainLiteral.FindStringSubmatch(m[1]); literal != nil {
			return m[1]
		}
	}
	if len(before) == 0 {
		return "a statement"
	}
	last := before[len(before)-1]
	var first lexer.Token // of the two tokens before
	if len(before) > 1 {
		first = before[len(before)-2]
	}
	word := first.Value
	switch criterion := word == "PAIRS" || word == "CLUSTERS" || word == "UNLESS"; {
	case last.Type == tokPredicate && !criterion:
		return `"("`
	case last.Type == tokPredicate:
		return expectNumber
	case first.Type == tokTwoIDs:
		return "a second document id in quotes"
	case word == "ID" && last.Value == "NOT":
		return "LIKE or IN"
	case last.Value != "(":
		return cmp.Or(statementOf(last).expects, expectedAfter[last.Value])
	case word == "IN":
		return expectID
	case first.Type == tokPredicate:
		return "a document id in quotes, a fingerprint such as 0xff, or TEXT and a text in quotes"
	}
	return expectPredicate
}
