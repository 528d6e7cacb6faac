package query

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// Every word that the lexer knows is used by the grammar or a binding, and the other way round. A
// word before a parenthesis is a predicate of the table.
func TestKeywords(t *testing.T) {
	grammar := syntax.Rules()
	var called []string // a word with a call, which has no literal in the grammar
	for _, d := range predicate.Definitions {
		if d.Bind != nil {
			called = append(called, d.Word)
		}
	}
	for _, w := range Keywords() {
		// Names of columns and modes are checked by bind.
		bound := slices.Contains(slices.Concat(orderNames, []string{"star", "components"}), strings.ToLower(w))
		statement := slices.ContainsFunc(statementDefs, func(d statementDef) bool { return d.word == w && d.shape != syntax.Keyword })
		if !bound && !statement && !slices.Contains(called, w) && !strings.Contains(grammar, `"`+w+`"`) {
			t.Errorf("%s is in no rule", w)
		}
		if got, want := Check(w+"('a', 3)") == nil, slices.Contains(called, w); got != want {
			t.Errorf("%s(...) is a predicate: %v, but in the table: %v", w, got, want)
		}
	}
	for i, part := range strings.Split(grammar, `"`) {
		if i%2 == 1 && part >= "A" && part <= "Z~" && !slices.Contains(Keywords(), part) {
			t.Errorf("%s is no keyword", part)
		}
	}
}

// Each predicate of the table is the one that its word names: it says so, tells its documents by
// itself, and has what error messages, .help and EXPLAIN need.
func TestPredicateTable(t *testing.T) {
	db := openTest(t, nil)
	for i, text := range []string{"one two three four", "one two three four", "four three two one", "something else altogether"} {
		if _, err := Run(t.Context(), db, "PUT ?", engine.Doc{ID: string(rune('a' + i)), Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	answers := map[string]string{
		"NEAR": "[[b 0]]", "NEAREST": "[[b 0] [c 23] [d 33]]", "JACCARD": "[[b 1 0 true]]",
		"LEVENSHTEIN": "[[b 1 0 true]]", "COSINE": "[[b 1 0 true] [c 1 0 true]]",
	}
	for _, d := range predicate.Definitions {
		if d.Word == "" || d.Syntax == "" || d.Help == "" || len(d.Docs) == 0 {
			t.Errorf("%s: the row is not complete", d.Word)
		}
		if d.Bind == nil {
			continue
		}
		if !strings.HasPrefix(d.Example, d.Word+"('a', ") || !strings.Contains(d.Syntax, d.Word) {
			t.Errorf("%s: example %q, help %q", d.Word, d.Example, d.Syntax)
		}
		if want := d.Word + "(" + strings.Join(d.Arguments, ", ") + ")"; d.Docs[0].Syntax != want {
			t.Errorf("docs name it %q, its arguments make it %q", d.Docs[0].Syntax, want)
		}
		text := d.Example
		if d.Docs[0].Last == "no" {
			text = "ID LIKE '%' AND " + text
		}
		rows, err := Run(t.Context(), db, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := fmt.Sprint(append([]Row{}, read(t, rows)...)); got != answers[d.Word] {
			t.Errorf("%s: %s, want %s", text, got, answers[d.Word])
		}
		p := bound(t, db, d.Example)
		if !strings.HasPrefix(p.String(), d.Word+"(") {
			t.Errorf("%s is bound as %s", d.Example, p)
		}
		if finds, ok := p.(predicate.Driver); ok != (d.Docs[0].Last == "yes") {
			t.Errorf("%s finds documents: %v, its documentation says %s", d.Word, ok, d.Docs[0].Last)
		} else if ok && p.TestCost() < predicate.TestText && !strings.HasPrefix(finds.Explain(testRun(t, db, d.Example).Scope)[0], "find "+d.Word) {
			t.Errorf("%s is explained as %q", d.Example, finds.Explain(testRun(t, db, d.Example).Scope))
		}
		if _, err := Run(t.Context(), db, d.Word+"('a')"); err == nil || !strings.Contains(err.Error(), "as in "+d.Example) {
			t.Errorf("%s with one argument: %v", d.Word, err)
		}
		_, err = Run(t.Context(), db, "PAIRS "+d.Word+" 1")
		if refused := err != nil; refused != (d.Criterion == nil) {
			t.Errorf("PAIRS %s 1: %v", d.Word, err)
		}
	}
}

// testRun is a running statement on a snapshot that lives as long as the test.
func testRun(t *testing.T, db *engine.DB, text string) *run {
	t.Helper()
	snap, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	p, err := parseCached(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.New(p.Parsed, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &run{&predicate.Scope{Ctx: t.Context(), DB: db, Snap: snap, Values: v}, &Rows{}}
}

// bound returns the predicate that a text is.
func bound(t *testing.T, db *engine.DB, text string) predicate.Predicate {
	t.Helper()
	x := testRun(t, db, text)
	p, err := parseCached(text)
	if err != nil {
		t.Fatal(err)
	}
	n, err := x.bindOr(&selection{}, p.Statement.Select.Expr, false)
	if err != nil {
		t.Fatal(err)
	}
	return n.(*leaf).Predicate
}

// Each statement of the table starts with its word, is parsed as itself, and has what .help and
// error messages need.
func TestStatementTable(t *testing.T) {
	if statementDefs[0].word != "" {
		t.Error("a query is not the first row")
	}
	for _, d := range statementDefs[1:] {
		if d.topic.Help == "" || len(d.docs) == 0 || d.run == nil {
			t.Errorf("%s: the row is not complete", d.word)
		}
		for _, example := range strings.Split(d.topic.Syntax, "  ") {
			example = strings.NewReplacer(" [UNLESS JACCARD 0.8]", "", "[", "", "]", "", "star|", "").Replace(example)
			p, err := parseCached(example)
			if err != nil {
				t.Errorf("%s", Detail(placed(example, err)))
				continue
			}
			if p.def.word != d.word || Writes(example) != d.writes {
				t.Errorf("%s is a %s", example, p.def.word)
			}
		}
		if err := Check(d.word); d.expects != "" && (err == nil || !strings.Contains(err.Error(), d.expects)) {
			t.Errorf("%s alone: %v, want %s", d.word, err, d.expects)
		}
	}
	for text, want := range map[string]bool{
		"COUNT NEAR(TEXT 'input computer', 20)": false, "EXPLAIN DELETE WHERE ID = 'a'": false, "delete 'a' -- x": true, "nonsense": false,
	} {
		if Writes(text) != want {
			t.Errorf("%s writes: %v", text, !want)
		}
	}
}

// Every word has help, and no word has it twice.
func TestTopics(t *testing.T) {
	var words []string
	for _, topic := range Topics() {
		words = append(words, topic.Words...)
	}
	slices.Sort(words)
	if !slices.Equal(words, Keywords()) {
		t.Errorf("help on %q", words)
	}
}

// The tables of docs/query.md are those of the language, row by row, and its statements are
// statements.
func TestDocumentation(t *testing.T) {
	doc, err := os.ReadFile("../docs/query.md")
	if err != nil {
		t.Fatal(err)
	}
	predicates, statements := "| predicate | holds for a document | finds |\n|---|---|---|\n", "| statement | does | columns, or message |\n|---|---|---|\n"
	for _, d := range predicate.Definitions {
		for _, r := range d.Docs {
			predicates += "| `" + r.Syntax + "` | " + r.Meaning + " | " + r.Last + " |\n"
		}
	}
	for _, d := range statementDefs {
		for _, r := range d.docs {
			syntax := "`" + r.Syntax + "`"
			if r.Syntax == "" {
				syntax = "a query"
			} else if strings.Count(syntax, "`")%2 == 1 {
				syntax = strings.TrimSuffix(syntax, "`")
			}
			statements += strings.ReplaceAll("| "+syntax+" | "+r.Meaning+" | "+r.Last+" |\n", " |  |", " | |")
		}
	}
	for _, table := range []string{predicates, statements} {
		if !strings.Contains(string(doc), "\n"+table+"\n") {
			t.Errorf("docs/query.md should have this table:\n%s", table)
		}
	}
	checked := 0
	for line := range strings.Lines(string(doc)) {
		if !strings.HasPrefix(line, "    NEAR") {
			continue
		}
		checked++
		if err := Check(line); err != nil {
			t.Errorf("%s\n%s", line, Detail(err))
		}
	}
	for _, d := range predicate.Definitions {
		for _, r := range d.Docs {
			for _, e := range strings.Split(r.Syntax, "`, `") {
				checked++
				e = strings.NewReplacer("what", "'a'", ", k)", ", 3)", ", n)", ", 3)", ", t)", ", 0.8)", "...", "'a'").Replace(e)
				if err := Check(e); err != nil {
					t.Errorf("%s\n%s", e, Detail(err))
				}
			}
		}
	}
	if checked < 14 {
		t.Errorf("only %d examples found", checked)
	}
}
