package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// likeTexts returns n dissimilar texts. The seed changes only their order and the case of letters.
func likeTexts(n int, seed uint64) []string {
	var all []string
	for i := range n {
		words, r := make([]string, 30), rand.New(rand.NewPCG(uint64(i), 1))
		for w := range words {
			words[w] = fmt.Sprintf("word%d", r.IntN(1000))
		}
		if text := strings.Join(words, " "); seed%2 == 0 {
			all = append(all, text)
		} else {
			all = append(all, strings.ToUpper(text)+".")
		}
	}
	r := rand.New(rand.NewPCG(seed, 2))
	r.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// TestMatchAddKilled kills match --add between lines of a pipe that stays open. The first lines
// must be written while it is open. Every written line must be stored, and of similar lines exactly
// one.
func TestMatchAddKilled(t *testing.T) {
	dir := t.TempDir()
	simdb(t, dir, "x.simdb", "--create", "COUNT")
	printed := map[string]bool{}
	for round := range 4 {
		c := exec.Command("simdb", "match", "x.simdb", "-", "--near", "3", "--add", "--input-format", "jsonl", "-q")
		c.Dir = dir
		in, out := piped(t, c)
		go func() { // the pipe stays open until the process is killed
			for i, text := range likeTexts(1000, uint64(round)) { // a text of every round, then a new one
				own := fmt.Sprintf("text %d of round %d with words %x and %x", i, round, i*i, i*i*i)
				if _, err := fmt.Fprintf(in, `{"id":"%d-%d","text":"%s"}`+"\n"+`{"id":"%[1]d+%[2]d","text":"%[4]s"}`+"\n", round, i, text, own); err != nil {
					return
				}
			}
		}()
		lines := bufio.NewReader(out)
		for n := 0; n < 150*(round+1); n++ {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("round %d, after %d lines: %v", round, n, err)
			}
			printed[idOf(t, line)] = true
		}
		c.Process.Kill()
		rest, _ := io.ReadAll(lines)
		for line := range strings.Lines(string(rest)) {
			if strings.HasSuffix(line, "\n") {
				printed[idOf(t, line)] = true
			}
		}
		c.Wait()
	}
	path := filepath.Join(dir, "x.simdb")
	db, _ := snapshotOf(t, path)
	for id := range printed {
		if _, err := db.Get(t.Context(), id); err != nil {
			t.Errorf("%s was written: %v", id, err)
		}
	}
	noPairs(t, path)
}

func idOf(t *testing.T, line string) string {
	t.Helper()
	var d struct{ ID string }
	if err := json.Unmarshal([]byte(line), &d); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return d.ID
}

// TestMatchFiles matches several files: one after another into one output, each into its own in a
// folder, and with --add as if they were one file. The number of open files must not grow.
func TestMatchFiles(t *testing.T) {
	dir := t.TempDir()
	texts := likeTexts(120, 0)
	write := func(name string, texts []string) (lines string) {
		t.Helper()
		for i, text := range texts {
			lines += fmt.Sprintf(`{"id":"%s-%d","text":"%s"}`+"\n", name, i, text)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(lines), 0o666))
		return lines
	}
	write("base", texts[:40])
	a, b := write("a", texts[20:80]), write("b", texts[60:])
	simdb(t, dir, "load", "x.simdb", "base.jsonl", "-q")
	read := func(name string) string {
		t.Helper()
		data := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		return string(data)
	}
	fresh := func(lines string, known int) string { return strings.Join(strings.SplitAfter(lines, "\n")[known:], "") }
	for _, how := range []string{"--near 3", "--jaccard 0.8", "--levenshtein 0.9"} {
		match := func(args string) {
			t.Helper()
			simdb(t, dir, append([]string{"match", "x.simdb", "a.jsonl", "b.jsonl", "-q"}, strings.Fields(how+" "+args)...)...)
		}
		match("-o both.jsonl --audit audit.jsonl")
		if got, want := read("both.jsonl"), fresh(a, 20)+b; got != want {
			t.Errorf("%s: %d bytes, want %d", how, len(got), len(want))
		}
		audit := strings.Split(strings.TrimSpace(read("audit.jsonl")), "\n")
		if !strings.Contains(audit[0], `"file":"b.jsonl"`) || len(audit) != 21 {
			t.Errorf("%s: an audit of %d lines: %s", how, len(audit), audit[0])
		}
		match("-o out/")
		if read("out/a.jsonl") != fresh(a, 20) || read("out/b.jsonl") != b {
			t.Errorf("%s: the outputs in the folder differ", how)
		}
	}
	simdb(t, dir, "match", "x.simdb", "a.jsonl", "b.jsonl", "-q", "--near", "3", "--add", "-o", "added/")
	if read("added/a.jsonl") != fresh(a, 20) || read("added/b.jsonl") != fresh(b, 20) {
		t.Error("--add: the outputs in the folder differ")
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "c.csv"), []byte("id,text\n1,some words\n"), 0o666))
	must.Do(t, errors.Join(os.Mkdir(filepath.Join(dir, "sub"), 0o777), os.WriteFile(filepath.Join(dir, "sub", "a.jsonl"), []byte(a), 0o666)))
	for args, want := range map[string]string{
		"a.jsonl c.csv":               "a.jsonl is JSON lines and c.csv is CSV",
		"a.jsonl -":                   "- is not a regular file, as several inputs and -o DIR/ require",
		"- -o new/":                   "-o new/: standard input has no name",
		"a.jsonl a.jsonl/ -o new/":    "a.jsonl/: ",
		"a.jsonl missing -o new/":     "missing: ",
		"a.jsonl --explain -o new/":   "--explain writes the rows of all inputs to one file",
		"a.jsonl b.jsonl -o x.simdb/": "-o x.simdb/ is a database",
	} {
		code, _, talk := simdbIn(t, dir, "", append([]string{"match", "x.simdb", "--near", "3"}, strings.Fields(args)...)...)
		if _, err := os.Stat(filepath.Join(dir, "new")); code != 2 || !strings.Contains(talk, want) || err == nil {
			t.Errorf("%s: exit status %d, %s, %v", args, code, talk, err)
		}
	}
}

// TestMatchNamesFile matches with a file in place of a database: messages name the file.
func TestMatchNamesFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.jsonl"), "{\"id\":\"1\",\"text\":\"some words\"}\n")
	write(t, filepath.Join(dir, "empty.jsonl"), "")
	for args, want := range map[string]string{
		"empty.jsonl a.jsonl --jaccard 0.8":           "empty.jsonl has no documents\n",
		"a.jsonl a.jsonl --rule FILE(a)=FILE(b)":      "FILE(a) = FILE(b): match does not compare the files of documents; pairs and join do\n",
		"a.jsonl a.jsonl --jaccard 0.8 --across file": "--across file: match does not compare",
	} {
		if _, _, talk := simdbIn(t, dir, "", append([]string{"match"}, strings.Fields(args)...)...); !strings.Contains(talk, want) || strings.Contains(talk, ".simdb") {
			t.Errorf("%s: %s", args, talk)
		}
	}
}

// TestMatchLive runs match and join on a pipe that stays open. They must answer lines as they come,
// and in the end have the same output as for a file.
func TestMatchLive(t *testing.T) {
	dir := t.TempDir()
	var lines []string
	for i, text := range likeTexts(300, 3) {
		lines = append(lines, fmt.Sprintf("{\"id\":\"d%d\",\"text\":%q}\n", i, text))
	}
	for name, some := range map[string][]string{"known": lines[:150], "lines": lines[100:]} {
		write(t, filepath.Join(dir, name+".jsonl"), strings.Join(some, ""))
	}
	lines = lines[100:] // 50 of them are known
	simdb(t, dir, "load", "x.simdb", "known.jsonl", "-q")
	for _, args := range []string{
		"match --input-format jsonl --jaccard 0.8 --invert", "match --input-format jsonl --jaccard 0.8 --explain --format tsv",
		"match --input-format jsonl --near 3 --explain --format jsonl", "join --input-format jsonl --jaccard 0.8", "join --input-format jsonl --near 3",
		"match --input-format jsonl --levenshtein 0.9 --invert", "match --input-format jsonl --cosine 0.95 --explain --format jsonl", "join --input-format jsonl --levenshtein 0.9",
	} {
		flags := append(strings.Fields(args), "-q", "x.simdb")
		_, want, _ := simdbIn(t, dir, "", append(flags, "lines.jsonl")...)
		c := exec.Command("simdb", append(flags, "-")...)
		c.Dir = dir
		in, out := piped(t, c)
		answers, got := bufio.NewReader(out), ""
		for _, line := range lines[:5] { // each waits for its answer
			must.Get(io.WriteString(in, line))(t)
			answer, err := answers.ReadString('\n')
			if err != nil {
				t.Fatal(args, err)
			}
			got += answer
		}
		must.Get(io.WriteString(in, strings.Join(lines[5:], "")))(t)
		rest, err := func() ([]byte, error) {
			defer in.Close()
			return io.ReadAll(io.LimitReader(answers, int64(len(want)-len(got))))
		}()
		if err := errors.Join(err, c.Wait()); err != nil {
			t.Fatal(args, err)
		}
		if got += string(rest); got != want || strings.Count(want, "\n") != 50 {
			t.Errorf("%s: %d bytes of a pipe, %d of a file with %d lines", args, len(got), len(want), strings.Count(want, "\n"))
		}
	}
}

// TestMatchDamaged matches texts with a database that has a damaged block. They are compared in
// batches; the output must be the same as comparing them one by one up to the error.
func TestMatchDamaged(t *testing.T) {
	dir := t.TempDir()
	texts := likeTexts(1000, 2)
	var all strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&all, "{\"id\":\"d%d\",\"text\":%q}\n", i, text)
	}
	write(t, filepath.Join(dir, "docs.jsonl"), all.String())
	simdb(t, dir, "load", "x.simdb", "docs.jsonl", "-q")
	tables, err := filepath.Glob(filepath.Join(dir, "x.simdb", "*.sst"))
	if err != nil || len(tables) != 1 {
		t.Fatal(tables, err)
	}
	whole := readFile(t, tables[0])
	some := 0
	for share := 5; share < 100; share += 20 {
		damaged := bytes.Clone(whole)
		for i := range 64 {
			damaged[len(whole)*share/100+i] ^= 0x5a
		}
		write(t, tables[0], damaged)
		path := filepath.Join(dir, "x.simdb")
		known, _, anyFails := oneByOne(t, path, texts, false)
		_, rows, bestFails := oneByOne(t, path, texts, true)
		lines := strings.Join(strings.SplitAfter(all.String(), "\n")[:known], "")
		for _, c := range []struct {
			args, stdin, want string
			failed            bool
		}{
			{"match x.simdb docs.jsonl --invert", "", lines, anyFails},
			{"match x.simdb - --input-format jsonl --invert", all.String(), lines, anyFails},
			{"match x.simdb docs.jsonl --explain --format jsonl", "", rows, bestFails},
		} {
			code, data, talk := simdbIn(t, dir, c.stdin, append(strings.Fields(c.args), "--jaccard", "0.8", "-q")...)
			if (code == 2) != c.failed || data != c.want {
				t.Errorf("damaged at %d %%: %s: status %d, %d bytes, %s; one by one %d bytes, an error: %v", share, c.args, code, len(data), talk, len(c.want), c.failed)
			}
		}
		if anyFails && known > 0 {
			some++
		}
	}
	if some == 0 {
		t.Error("no damage was met after the first line")
	}
}

// oneByOne looks up texts that are all stored, by Jaccard from 0.8, up to the first that fails with
// an error. It returns their number, and the rows of --explain that are written if there is no
// error.
func oneByOne(t *testing.T, path string, texts []string, best bool) (known int, rows string, failed bool) {
	t.Helper()
	db, err := engine.Open(path, &engine.Options{ReadOnly: true})
	if err != nil {
		return 0, "", true
	}
	defer db.Close()
	s, err := db.Snapshot()
	must.Do(t, err)
	defer s.Close()
	for i, text := range texts {
		is, found, err := s.Any(t.Context(), []engine.Doc{{Text: text}}, engine.Jaccard(0.8), &engine.SearchOptions{Unordered: !best})
		if err != nil {
			return i, "", true
		}
		if !is[0] {
			t.Fatalf("text %d is not found", i)
		}
		if !best {
			continue
		}
		rows += fmt.Sprintf(`{"query":"d%d","id":%q,"score":1,"error":0,"exact":true}`+"\n", i, found[0].ID)
	}
	return len(texts), rows, false
}
