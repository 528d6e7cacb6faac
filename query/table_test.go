package query

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
)

// Every word that the lexer knows is one that the grammar or a binding uses, and the other way
// round. A word before a parenthesis is a predicate of the table.
func TestKeywords(t *testing.T) {
	grammar := parser.String()
	for _, w := range Keywords() {
		// Names of columns and modes are checked by bind.
		bound := slices.Contains(slices.Concat(orderNames, []string{"star", "components"}), strings.ToLower(w))
		if keywords[w] == tokKeyword && w != "ID" && !bound && !strings.Contains(grammar, `"`+w+`"`) {
			t.Errorf("%s is in no rule", w)
		}
		if called := Check(w+"('a', 3)") == nil; called != slices.Contains(predicateWords, w) {
			t.Errorf("%s(...) is a predicate: %v, but in the table: %v", w, called, !called)
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
	for _, d := range predicateDefs {
		if d.word == "" || d.topic.Syntax == "" || d.topic.Help == "" || len(d.docs) == 0 {
			t.Errorf("%s: the row is not complete", d.word)
		}
		if d.bind == nil {
			continue
		}
		if !strings.HasPrefix(d.example, d.word+"('a', ") || !strings.Contains(d.topic.Syntax, d.word) {
			t.Errorf("%s: example %q, help %q", d.word, d.example, d.topic.Syntax)
		}
		if want := d.word + "(" + strings.Join(d.arguments, ", ") + ")"; d.docs[0].syntax != want {
			t.Errorf("docs name it %q, its arguments make it %q", d.docs[0].syntax, want)
		}
		text := d.example
		if d.docs[0].last == "no" {
			text = "ID LIKE '%' AND " + text
		}
		rows, err := Run(t.Context(), db, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := fmt.Sprint(append([]Row{}, read(t, rows)...)); got != answers[d.word] {
			t.Errorf("%s: %s, want %s", text, got, answers[d.word])
		}
		p := bound(t, db, d.example)
		if !strings.HasPrefix(p.String(), d.word+"(") {
			t.Errorf("%s is bound as %s", d.example, p)
		}
		if finds, ok := p.(driver); ok != (d.docs[0].last == "yes") {
			t.Errorf("%s finds documents: %v, its documentation says %s", d.word, ok, d.docs[0].last)
		} else if ok && p.testCost() < testText && !strings.HasPrefix(finds.explain(testRun(t, db, d.example))[0], "find "+d.word) {
			t.Errorf("%s is explained as %q", d.example, finds.explain(testRun(t, db, d.example)))
		}
		if _, err := Run(t.Context(), db, d.word+"('a')"); err == nil || !strings.Contains(err.Error(), "as in "+d.example) {
			t.Errorf("%s with one argument: %v", d.word, err)
		}
		_, err = Run(t.Context(), db, "PAIRS "+d.word+" 1")
		if refused := err != nil; refused != (d.criterion == nil) {
			t.Errorf("PAIRS %s 1: %v", d.word, err)
		}
	}
}

// testRun is the running of a statement on a snapshot that lives as long as the test.
func testRun(t *testing.T, db *engine.DB, text string) *run {
	t.Helper()
	snap, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { snap.Close() })
	p, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := newValues(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &run{ctx: t.Context(), db: db, snap: snap, p: p, values: v, rows: &Rows{}}
}

// bound returns the predicate that a text is.
func bound(t *testing.T, db *engine.DB, text string) predicate {
	t.Helper()
	x := testRun(t, db, text)
	n, err := x.bindOr(&selection{}, x.p.stmt.Select.Expr, false)
	if err != nil {
		t.Fatal(err)
	}
	return n.(*leaf).predicate
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
			p, err := parse(example)
			if err != nil {
				t.Errorf("%s", Detail(err))
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
	for _, d := range predicateDefs {
		for _, r := range d.docs {
			predicates += "| `" + r.syntax + "` | " + r.meaning + " | " + r.last + " |\n"
		}
	}
	for _, d := range statementDefs {
		for _, r := range d.docs {
			syntax := "`" + r.syntax + "`"
			if r.syntax == "" {
				syntax = "a query"
			} else if strings.Count(syntax, "`")%2 == 1 {
				syntax = strings.TrimSuffix(syntax, "`")
			}
			statements += strings.ReplaceAll("| "+syntax+" | "+r.meaning+" | "+r.last+" |\n", " |  |", " | |")
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
	for _, d := range predicateDefs {
		for _, r := range d.docs {
			for _, e := range strings.Split(r.syntax, "`, `") {
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
