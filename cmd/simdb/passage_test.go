package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// passageModel returns the words of documents that stay, nil for a document without any, and the
// lines of the audit: rule, line, first word, number of words, and the document and first word of
// the keeper. The documents of --against are the first known ones.
func passageModel(docs [][]string, n, known int) (stay [][]string, audit []string) {
	type place struct{ doc, word int }
	first := map[string]place{}
	for d, words := range docs {
		gone, from := make([]bool, len(words)), map[int]place{}
		for w := range max(0, len(words)-n+1) {
			key := strings.ToLower(strings.Join(words[w:w+n], " "))
			f, ok := first[key]
			if !ok {
				first[key] = place{d, w}
				continue
			}
			lo := w
			if f.doc == d {
				lo = max(lo, f.word+n)
			}
			if _, ok := from[lo]; !ok {
				from[lo] = place{f.doc, f.word + lo - w}
			}
			for i := lo; i < w+n; i++ {
				gone[i] = true
			}
		}
		if d < known {
			continue
		}
		var left []string
		for w := 0; w < len(words); w++ {
			if !gone[w] {
				left = append(left, words[w])
				continue
			}
			end := w
			for end < len(words) && gone[end] {
				end++
			}
			k, rule := from[w], "passage"
			if k.doc < known {
				rule = "against"
			}
			audit = append(audit, fmt.Sprintln(rule, d-known+1, w+1, end-w, k.doc, k.word+1))
			w = end - 1
		}
		if len(left) == 0 && len(words) > 0 {
			audit = append(audit, fmt.Sprintln("empty", d-known+1))
		}
		stay = append(stay, left)
	}
	return stay, audit
}

// passageDocs returns documents of few different words that quote each other.
func passageDocs(r *rand.Rand, n int) [][]string {
	docs := make([][]string, n)
	for d := range docs {
		for range r.IntN(8) {
			if q := docs[r.IntN(d+1)]; len(q) > 0 && r.IntN(2) == 0 {
				from := r.IntN(len(q))
				docs[d] = append(docs[d], q[from:from+r.IntN(len(q)-from+1)]...)
			}
			for range r.IntN(10) {
				docs[d] = append(docs[d], []string{"a", "B", "Ärger", "word", fmt.Sprint(r.IntN(100))}[r.IntN(5)])
			}
		}
		docs[d] = docs[d][:min(len(docs[d]), 400)]
	}
	return docs
}

// TestPassage compares dedup --level passage with a model: the kept text, byte for byte, and the
// audit, with much and with little memory, on one thread and on several, alone, against a file and
// against a database.
func TestPassage(t *testing.T) {
	for round := range 6 {
		n, known := 1+3*round, []int{0, 20, 20}[round%3]
		docs := passageDocs(rand.New(rand.NewPCG(16, uint64(round))), 150)
		dir := t.TempDir()
		var ref, in, want bytes.Buffer
		line := func(w *bytes.Buffer, d int, words []string) {
			text, _ := json.Marshal(strings.Join(words, " "))
			fmt.Fprintf(w, `{ "id":"%d", "n":%d.50, "text" : %s ,"more":"\u0041"}`+"\n", d, d, text)
		}
		for d, words := range docs[:known] {
			line(&ref, d, words)
		}
		write(t, filepath.Join(dir, "ref.jsonl"), ref.String())
		run := func(threads string, args ...string) {
			t.Helper()
			c := exec.Command("simdb", args...)
			c.Dir, c.Env = dir, append(os.Environ(), "GOMAXPROCS="+threads)
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		args := []string{"dedup", "in.jsonl", "-o", "out.jsonl", "--level", "passage", "--min-words", fmt.Sprint(n), "-q"}
		switch round % 3 {
		case 1:
			args = append(args, "--against", "ref.jsonl")
		case 2:
			run("2", "load", "ref.db", "ref.jsonl", "-q")
			args = append(args, "--against", "ref.db")
		}
		stay, audit := passageModel(docs, n, known)
		for d, words := range docs[known:] {
			line(&in, known+d, words)
			if left := stay[d]; left != nil || len(words) == 0 {
				line(&want, known+d, left)
			}
		}
		write(t, filepath.Join(dir, "in.jsonl"), in.String())
		for threads, memory := range map[string]string{"1": "1MiB", "4": "64MiB"} {
			run(threads, append(args, "--memory", memory)...)
			got, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
			if err != nil || !bytes.Equal(got, want.Bytes()) {
				t.Fatalf("round %d in %s: %v, kept\n%s\nwant\n%s", round, memory, err, got, want.Bytes())
			}
			gotAudit, wantAudit := passageAudit(t, filepath.Join(dir, "out.audit.jsonl"), docs, known, n), strings.Join(audit, "")
			if round%3 == 2 { // a database has its own order of documents
				keeper := regexp.MustCompile(`(?m)^(against \d+ \d+ \d+) .*$`)
				gotAudit, wantAudit = keeper.ReplaceAllString(gotAudit, "$1"), keeper.ReplaceAllString(wantAudit, "$1")
			}
			if gotAudit != wantAudit {
				t.Fatalf("round %d in %s: audit:\n%s\nwant:\n%s", round, memory, gotAudit, wantAudit)
			}
		}
	}
}

// passageAudit returns an audit in the form of passageModel. It also checks that the offsets are
// those of the words, and that the keeper has the first occurrence.
func passageAudit(t *testing.T, path string, docs [][]string, known, n int) string {
	t.Helper()
	type auditRow struct {
		Line, Unit, Offset, Bytes, Words int
		Keeper                           int `json:",string"`
		KeeperUnit                       int `json:"keeper_unit"`
		Rule                             string
		Simdb                            string // from the head
	}
	var b strings.Builder
	for _, row := range jsonLines[auditRow](t, path) {
		switch {
		case row.Simdb != "":
		case row.Rule == "empty":
			fmt.Fprintln(&b, "empty", row.Line)
		default:
			words := docs[known+row.Line-1]
			passage := strings.Join(words[row.Unit-1:][:row.Words], " ")
			if whole := strings.Join(words, " "); whole[row.Offset:][:row.Bytes] != passage {
				t.Fatalf("%+v is %q, not %q", row, whole[row.Offset:][:row.Bytes], passage)
			}
			same := min(n, row.Words)
			if k := docs[row.Keeper][row.KeeperUnit-1:][:same]; !strings.EqualFold(strings.Join(k, " "), strings.Join(words[row.Unit-1:][:same], " ")) {
				t.Fatalf("%+v: the keeper has %q", row, k)
			}
			fmt.Fprintln(&b, row.Rule, row.Line, row.Unit, row.Words, row.Keeper, row.KeeperUnit)
		}
	}
	return b.String()
}

// TestLevelAgainst removes paragraphs and lines of other files: all occurrences of what these
// contain, however it is wrapped, and of what repeats in the input itself all but the first.
func TestLevelAgainst(t *testing.T) {
	dir := t.TempDir()
	known, own := "the question of a test that has more than ten words in it", "a paragraph of the corpus itself that is in it more than once"
	text := func(paragraphs ...string) string {
		b, _ := json.Marshal(strings.Join(paragraphs, "\n\n"))
		return string(b)
	}
	write(t, filepath.Join(dir, "test.jsonl"), `{"id":"q0","text":"nothing of this is anywhere else, though it is long enough for it"}`+"\n"+
		`{"id":"q1","text":`+text("Q", strings.ToUpper(known), known)+"}\n")
	write(t, filepath.Join(dir, "in.jsonl"), `{"id":1,"text":`+text("one", strings.ReplaceAll(known, " a test ", " a\n  test\n"), "two")+"}\n"+
		`{"id":2,"text":`+text(own, "three", own)+"}\n"+`{"id":3,"text":`+text(known)+"}\n")
	for _, again := range []string{"2", "3"} { // --min-count
		code, out, talk := simdbIn(t, dir, "", "dedup", "in.jsonl", "--level", "paragraph", "--against", "test.jsonl", "--min-count", again, "--audit", "a.jsonl")
		second := text(own, "three")
		if again == "3" {
			second = text(own, "three", own)
		}
		if want := `{"id":1,"text":` + text("one", "two") + "}\n" + `{"id":2,"text":` + second + "}\n"; code != 0 || out != want {
			t.Errorf("%d, %q, want %q", code, out, want)
		}
		if want := "2 of these paragraphs occur in --against"; !strings.Contains(strings.Join(strings.Fields(talk), " "), want) {
			t.Errorf("no %q in %s", want, talk)
		}
		audit := readFile(t, filepath.Join(dir, "a.jsonl"))
		for _, want := range []string{
			`"against":[{"file":"test.jsonl"`,
			`{"id":"1","file":"in.jsonl","line":1,"keeper":"q1","keeper_file":"test.jsonl","keeper_line":2,"distance":null,"score":null,"exact":true,"rule":"against","cluster":null,"unit":2,"offset":5,"bytes":59,"keeper_unit":2}`,
			`{"id":"3","file":"in.jsonl","line":3,"keeper":"q1"`,
		} {
			if !strings.Contains(string(audit), want) {
				t.Errorf("no %s in\n%s", want, audit)
			}
		}
	}
}

// What --level cannot do is an error.
func TestPassageRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.jsonl"), `{"id":1,"text":"a"}`+"\n")
	for _, c := range []struct{ args, want string }{
		{"--columns keeper", "--columns cannot be used with --level"},
		{"--shingle 5", "--shingle cannot be used with --level"},
		{"--jaccard 0.8", "--level passage cannot be used with --jaccard: a passage is a run of equal words"},
		{"--against in.jsonl", "an input, and would be overwritten"},
	} {
		args := append([]string{"dedup", "in.jsonl", "--level", "passage"}, strings.Fields(c.args)...)
		if code, out, talk := simdbIn(t, dir, "", args...); code != 2 || out != "" || !strings.Contains(talk, c.want) {
			t.Errorf("%s: %d, %q, %q", c.args, code, out, talk)
		}
	}
}

// TestPassageForms cuts texts in the middle, in the formats of lines.
func TestPassageForms(t *testing.T) {
	same := "these are ten words that come again in every text"
	for name, in := range map[string][2]string{
		"a.txt":   {"x " + same + ".\r\ny: " + strings.ToUpper(same) + ". z\r\n", "x " + same + ".\r\ny: z\r\n"},
		"a.tsv":   {"id\ttext\n1\tx " + same + "\n2\t\"y " + same + ", z\n", "id\ttext\n1\tx " + same + "\n2\t\"y z\n"},
		"a.csv":   {"text,id\nx " + same + ",1\n\"y\n\n" + same + ", z\",2\n" + same + " w,3\n", "text,id\nx " + same + ",1\n\"y\n\nz\",2\nw,3\n"},
		"a.jsonl": {`{"text":"x ` + same + `"}` + "\n" + `{"text":"\u0079\n` + same + `: z\u00e4"}` + "\n", `{"text":"x ` + same + `"}` + "\n" + `{"text":"\u0079\nz\u00e4"}` + "\n"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, name), in[0])
		code, out, talk := simdbIn(t, dir, "", "dedup", name, "--level", "passage", "--min-words", "10")
		if code != 0 || out != in[1] {
			t.Errorf("%s: %d, %q, want %q\n%s", name, code, out, in[1], talk)
		}
	}
}

// If a passage is cut out between two words of a script without spaces, these remain two words, in
// every format.
func TestPassageSeams(t *testing.T) {
	t.Chdir(t.TempDir())
	const han = "一种新的编程语言来写这个程序"
	for _, test := range []struct{ name, flag, in, want string }{
		{"a.jsonl", "", `{"id":"a","text":"我们使用` + han + `"}
{"id":"b","text":"Python` + han + ` Django rocks"}
{"id":"c","text":"see Perl` + han + `, Ruby too"}
{"id":"d","text":"\u0041` + han + `Go"}
{"id":"e","text":"我` + han + `们 ` + han + `x"}
`, `{"id":"a","text":"我们使用` + han + `"}
{"id":"b","text":"Python Django rocks"}
{"id":"c","text":"see Perl, Ruby too"}
{"id":"d","text":"\u0041 Go"}
{"id":"e","text":"我们 x"}
`},
		{"a.csv", "", "id,text\n1," + han + "\n2,a" + han + "b\n3,\"c\"\"" + han + "d\"\n", "id,text\n1," + han + "\n2,\"a b\"\n3,\"c\"\"d\"\n"},
		{"b.csv", "--delimiter= ", "id text\n1 " + han + "\n2 a" + han + "b\n", "id text\n1 " + han + "\n2 \"a b\"\n"},
		{"a.tsv", "", "id\ttext\n1\t" + han + "\n2\ta" + han + "b\n", "id\ttext\n1\t" + han + "\n2\ta b\n"},
		{"a.txt", "", han + "\né" + han + "b\n", han + "\né b\n"},
	} {
		write(t, test.name, []byte(test.in))
		args := []string{"dedup", test.name, "--level=passage", "--min-words=8"}
		if test.flag != "" {
			args = append(args, test.flag)
		}
		if got := rowsHere(t, args...); got != test.want {
			t.Errorf("%v:\n%s\nnot:\n%s", args, got, test.want)
		}
	}
}
