package query

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// Each word that the lexer knows is used by the grammar or a binding, and the other way round. A
// word before a parenthesis is a predicate of the table.
func TestKeywords(t *testing.T) {
	grammar := syntax.Rules()
	var called []string // predicates written as a call, which have no literal in the grammar
	for _, d := range predicate.Definitions {
		if d.Bind != nil {
			called = append(called, d.Word)
		}
	}
	for _, w := range language.Keywords() {
		// The binding checks the names of columns and modes.
		bound := slices.Contains(slices.Concat(orderNames, []string{"star", "components"}), strings.ToLower(w))
		if !bound && !slices.Contains(called, w) && !strings.Contains(grammar, `"`+w+`"`) {
			t.Errorf("%s is in no rule", w)
		}
		if got, want := check(w+"('a', 3)") == nil, slices.Contains(called, w); got != want {
			t.Errorf("%s(...) is a predicate: %v, but in the table: %v", w, got, want)
		}
	}
	for i, part := range strings.Split(grammar, `"`) {
		if i%2 == 1 && part >= "A" && part <= "Z~" && !slices.Contains(language.Keywords(), part) {
			t.Errorf("%s is no keyword", part)
		}
	}
}

// foundByExamples lists the documents of TestPredicateTable that the example of each predicate
// finds.
var foundByExamples = map[string]string{
	"NEAR": "[[b 0]]", "NEAREST": "[[b 0] [c 23] [d 33]]", "JACCARD": "[[b 1 0 true]]",
	"LEVENSHTEIN": "[[b 1 0 true]]", "COSINE": "[[b 1 0 true] [c 1 0 true]]",
	"CONTAINS": "[[b 1 0 true]]", "WITHIN": "[[b 1 0 true]]", "PASSAGES": "[[b 4 0 0]]",
}

// The word of each predicate in the table binds to that predicate, and each has what error
// messages, .help, EXPLAIN and docs/query.md need.
func TestPredicateTable(t *testing.T) {
	db := openTest(t, nil)
	for i, text := range []string{"one two three four", "one two three four", "four three two one", "something else altogether"} {
		must.Get(Run(t.Context(), db, "PUT ?", engine.Doc{ID: string(rune('a' + i)), Text: text}))(t)
	}
	for _, d := range predicate.Definitions {
		t.Run(d.Word, func(t *testing.T) {
			if d.Help == "" || !strings.Contains(d.Syntax, d.Word) {
				t.Errorf("its Syntax and Help for .help are %q and %q", d.Syntax, d.Help)
			}
			if len(d.Docs) == 0 {
				t.Fatal("it has no Docs for docs/query.md")
			}
			if d.Bind != nil {
				checkCall(t, db, d)
			}
		})
	}
}

func checkCall(t *testing.T, db *engine.DB, d predicate.Definition) {
	if !strings.HasPrefix(d.Example, d.Word+"('a', ") {
		t.Fatalf("its Example for error messages is %q", d.Example)
	}
	if want := d.Word + "(" + strings.Join(d.Arguments, ", ") + ")"; d.Docs[0].Syntax != want {
		t.Errorf("its Docs name it %q, its Arguments make it %q", d.Docs[0].Syntax, want)
	}
	text := d.Example
	if d.Docs[0].Last == "no" {
		text = "ID LIKE '%' AND " + text
	}
	rows, err := Run(t.Context(), db, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if got := fmt.Sprint(append([]Row{}, read(t, rows)...)); got != foundByExamples[d.Word] {
		t.Errorf("%s finds %s, but foundByExamples has %q", text, got, foundByExamples[d.Word])
	}
	p := bound(t, db, d.Example)
	if !strings.HasPrefix(p.String(), d.Word+"(") {
		t.Errorf("%s is bound as %s", d.Example, p)
	}
	if p.Measure() != d.Measure {
		t.Errorf("its Measure is %d in the table, and %d when bound", d.Measure, p.Measure())
	}
	if finds, ok := p.(predicate.Driver); ok != (d.Docs[0].Last == "yes") {
		t.Errorf("it finds documents: %v, its Docs say %q", ok, d.Docs[0].Last)
	} else if ok && !slices.ContainsFunc(finds.Explain(testRun(t, db, d.Example).Scope), func(l string) bool { return strings.HasPrefix(l, "find "+d.Word) }) {
		t.Errorf("EXPLAIN does not name it: %q", finds.Explain(testRun(t, db, d.Example).Scope))
	}
	if _, err := Run(t.Context(), db, d.Word+"('a')"); err == nil || !strings.Contains(err.Error(), "as in "+d.Example) {
		t.Errorf("with one argument: %v", err)
	}
	_, err = Run(t.Context(), db, "PAIRS "+d.Word+" 1")
	if refused := err != nil; refused != (d.Criterion == nil) {
		t.Errorf("PAIRS %s 1: %v", d.Word, err)
	}
}

// testRun returns a running statement on a snapshot that lives as long as the test.
func testRun(t *testing.T, db *engine.DB, text string) *run {
	t.Helper()
	snap := must.Get(db.Snapshot())(t)
	t.Cleanup(func() { snap.Close() })
	p := must.Get(parse(text))(t)
	v := &value.Values{}
	must.Do(t, v.Init(p.Parsed, nil, nil))
	return &run{Scope: &predicate.Scope{Ctx: t.Context(), DB: db, Snap: snap, Values: v}, rows: &Rows{}}
}

func bound(t *testing.T, db *engine.DB, text string) predicate.Predicate {
	t.Helper()
	x := testRun(t, db, text)
	p := must.Get(parse(text))(t)
	n := must.Get(x.bindOr(p.Statement.Select.Expr, false))(t)
	return n.(*leaf).Predicate
}

// Each statement of the table starts with its word and parses as itself, and has what .help and
// error messages need.
func TestStatementTable(t *testing.T) {
	if statementDefs[0].word != "" {
		t.Error("a query is not the first row")
	}
	for _, d := range statementDefs[1:] {
		if d.topic.Help == "" || len(d.docs) == 0 || d.run == nil {
			t.Errorf("%s: the row is not complete", d.word)
		}
		for _, example := range examples(d) {
			p, err := parse(example)
			if err != nil {
				t.Errorf("%s", detail(err))
				continue
			}
			if p.def.word != d.word || front.Language.Writes(example, false) != d.writes {
				t.Errorf("%s is a %s", example, p.def.word)
			}
		}
		err := check(d.word)
		if d.expects != "" && (err == nil || !strings.Contains(err.Error(), d.expects)) {
			t.Errorf("%s alone: %v, want %s", d.word, err, d.expects)
		}
		if d.expects == "" && err != nil {
			t.Errorf("%s alone: %v, but the row does not say what it expects", d.word, err)
		}
	}
	for text, want := range map[string]bool{
		"COUNT NEAR(TEXT 'input computer', 20)": false, "EXPLAIN DELETE WHERE ID = 'a'": false, "delete 'a' -- x": true, "nonsense": false,
	} {
		if front.Language.Writes(text, false) != want {
			t.Errorf("%s writes: %v", text, !want)
		}
	}
}

// TestSearches checks which statements look for matches, so that no rows mean "no".
func TestSearches(t *testing.T) {
	for text, want := range map[string]bool{
		"NEAR('a', 3)": true, "SHOW id": true, "PAIRS NEAR 3": true, "CLUSTERS NEAR 3": true, "CLUSTER OF 'a'": true,
		"COUNT NEAR('a', 3)": false, "GET 'a'": false, "EXPLAIN NEAR('a', 3)": false, "WHY 'a' 'b'": false, "nonsense": false,
	} {
		if front.Language.Searches(text) != want {
			t.Errorf("%s searches: %v", text, !want)
		}
	}
}

// examples returns the statements that .help shows for a row of the table.
func examples(d statementDef) []string {
	plain := strings.NewReplacer(" [UNLESS JACCARD 0.8]", "", "[", "", "]", "", "star|", "").Replace(d.topic.Syntax)
	return strings.Split(plain, "  ")
}

// A read-only database rejects a statement exactly if its row says that it writes.
func TestWritesColumn(t *testing.T) {
	path := t.TempDir() + "/test.simdb"
	db, err := engine.Open(path, nil)
	must.Do(t, err)
	for _, id := range []string{"a", "b", "x"} {
		must.Get(Run(t.Context(), db, "PUT ?", engine.Doc{ID: id, Text: "one two", Time: time.Unix(1000, 0)}))(t)
	}
	must.Do(t, db.Close())
	if db, err = engine.Open(path, &engine.Options{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, d := range statementDefs[1:] {
		for _, example := range examples(d) {
			rows, err := inTransaction(t, db, d, example)
			if refused := errors.Is(err, engine.ErrReadOnly); refused != d.writes {
				t.Errorf("%s: %v, but its row says that it writes: %v", example, err, d.writes)
			}
			if err == nil {
				rows.Close()
			}
		}
	}
}

// inTransaction runs an example of a statement, within a transaction if it ends one.
func inTransaction(t *testing.T, db *engine.DB, d statementDef, example string) (*Rows, error) {
	var s Session
	defer s.Close()
	if d.word == "COMMIT" || d.word == "ROLLBACK" {
		for _, text := range []string{"BEGIN", `PUT {"id":"new"}`, "DELETE 'a'"} {
			must.Get(s.Run(t.Context(), db, text))(t)
		}
	}
	return s.Run(t.Context(), db, example)
}

// Each statement returns the columns that its row documents, or a message that starts with the
// documented word, and a script of TestGolden runs it.
func TestStatementResults(t *testing.T) {
	golden := ""
	scripts := must.Get(filepath.Glob("testdata/*"))(t)
	for _, path := range scripts {
		text := must.Get(os.ReadFile(path))(t)
		golden += string(text)
	}
	for _, d := range statementDefs[1:] {
		documented := ""
		for _, r := range d.docs {
			documented += r.Last + " "
		}
		for _, example := range examples(d) {
			db := openTest(t, nil)
			for _, id := range []string{"a", "b", "x"} {
				must.Get(Run(t.Context(), db, "PUT ?", engine.Doc{ID: id, Text: "one two", Time: time.Unix(1000, 0)}))(t)
			}
			must.Do(t, db.SetAllowed(t.Context(), true, engine.Pair{A: "a", B: "b"}))
			rows, err := inTransaction(t, db, d, example)
			if err != nil {
				t.Errorf("%s: %v", example, err)
				continue
			}
			words := rows.Columns()
			if len(words) == 0 {
				words = strings.Fields(rows.Message())[:1]
			}
			for _, w := range words {
				if !strings.Contains(documented, "`"+w) {
					t.Errorf("%s returns %q, documented are %s", example, w, documented)
				}
			}
			read(t, rows)
		}
		if !strings.Contains(strings.ToUpper(golden), "\n"+d.word) {
			t.Errorf("%s is in no script of testdata", d.word)
		}
	}
}

// Each word has help, and no word has two entries.
func TestTopics(t *testing.T) {
	var words []string
	for _, topic := range topics() {
		words = append(words, topic.Words...)
	}
	slices.Sort(words)
	if !slices.Equal(words, language.Keywords()) {
		t.Errorf("help on %q", words)
	}
}

// The tables of docs/query.md equal those of the language, row by row, and its statements parse.
func TestDocumentation(t *testing.T) {
	doc := must.Get(os.ReadFile("../docs/query.md"))(t)
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
	const width = 116
	if page := "```\n" + grammarPage(width) + "```\n"; !strings.Contains(string(doc), "\n## Grammar\n") || !strings.Contains(string(doc), page) {
		t.Errorf("docs/query.md should have the grammar\n%s", page)
	}
	if n := len(language.Keywords()); n > 45 {
		t.Errorf("the language has %d keywords", n)
	}
	for list, columns := range map[string]string{
		predicate.Measuring(predicate.Distance, predicate.Distance, "or"):      "`distance` if ",
		predicate.Measuring(predicate.Score, predicate.ExactScore, "or"):       "`score`, `error`, `exact` if ",
		predicate.Measuring(predicate.ExactScore, predicate.ExactScore, "and"): "JACCARD goes before ",
	} {
		if sentence := columns + list; !strings.Contains(strings.Join(strings.Fields(string(doc)), " "), sentence) {
			t.Errorf("docs/query.md should say %q", sentence)
		}
	}
	checked := 0
	for line := range strings.Lines(string(doc)) {
		if !strings.HasPrefix(line, "    NEAR") {
			continue
		}
		checked++
		if err := check(line); err != nil {
			t.Errorf("%s\n%s", line, detail(err))
		}
	}
	for _, d := range predicate.Definitions {
		for _, r := range d.Docs {
			for _, e := range strings.Split(r.Syntax, "`, `") {
				checked++
				e = strings.NewReplacer("what", "'a'", ", k)", ", 3)", ", n)", ", 3)", ", t)", ", 0.8)", "...", "'a'").Replace(e)
				if err := check(e); err != nil {
					t.Errorf("%s\n%s", e, detail(err))
				}
			}
		}
	}
	if checked < 14 {
		t.Errorf("only %d examples found", checked)
	}
}
