package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgainstDatabase drops documents that match a document of a database, a table or a file. The
// result must equal that with files of the same documents, also with little memory.
func TestAgainstDatabase(t *testing.T) {
	dir := t.TempDir()
	read := func(name string) string {
		data := readFile(t, filepath.Join(dir, name))
		return string(data)
	}
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 21))
		var lines []string
		for i, line := range strings.Split(strings.TrimSpace(family(r, 300)), "\n") {
			if _, text, ok := strings.Cut(line, `"text":`); ok { // give it an id of its own
				lines = append(lines, fmt.Sprintf(`{"id":"%03d","text":%s`+"\n", i, text))
			}
		}
		n := len(lines) / 3
		for i, name := range []string{"one.jsonl", "two.jsonl", "in.jsonl"} {
			write(t, filepath.Join(dir, name), strings.Join(lines[i*n:(i+1)*n], ""))
		}
		db := fmt.Sprint("db", seed)
		simdb(t, dir, "load", db, "one.jsonl", "-q")
		simdb(t, dir, "pack", db, db+".sst", "-q")
		by := [][]string{{"--jaccard", "0.6"}, {"--jaccard", "0.9", "--keep", "longest"}, {"--near", "20", "--verify", "0.5"}}[seed]
		run := func(more ...string) (kept, audit string) {
			t.Helper()
			simdb(t, dir, append(append([]string{"dedup", "in.jsonl", "-q", "-o", "out.jsonl"}, by...), more...)...)
			return read("out.jsonl"), read("out.audit.jsonl")
		}
		kept, audit := run("--against", "one.jsonl", "--against", "two.jsonl")
		for _, name := range []string{db, db + ".sst"} {
			gotKept, gotAudit := run("--against", name, "--against", "two.jsonl", "--memory", "1MiB")
			if gotKept != kept {
				t.Errorf("seed %d: against %s other lines are kept", seed, name)
			}
			if got, want := keepers(t, gotAudit, name), keepers(t, audit, "one.jsonl"); got != want {
				t.Errorf("seed %d: against %s:\n%s\nnot\n%s", seed, name, got, want)
			}
		}
		if !strings.Contains(audit, `"keeper_file":"one.jsonl"`) || !strings.Contains(audit, `"keeper_file":"two.jsonl"`) {
			t.Errorf("seed %d: nothing is like what is known", seed)
		}
	}
}

// keepers returns the rows of an audit as lines. It leaves out the lines of keepers in source,
// because a database has no line numbers.
func keepers(t *testing.T, audit, source string) string {
	t.Helper()
	var b strings.Builder
	for d := json.NewDecoder(strings.NewReader(audit)); d.More(); {
		var row struct {
			ID, Keeper, Rule string
			KeeperFile       string `json:"keeper_file"`
			KeeperLine       *int   `json:"keeper_line"`
			Score            float64
			Distance         *int
		}
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		line, distance := 0, -1
		if row.KeeperFile == source {
			row.KeeperFile = "source"
			if row.KeeperLine != nil && !strings.HasSuffix(source, ".jsonl") {
				t.Errorf("%s is in a line of a database", row.Keeper)
			}
		} else if row.KeeperLine != nil {
			line = *row.KeeperLine
		}
		if row.Distance != nil {
			distance = *row.Distance
		}
		fmt.Fprintln(&b, row.ID, row.Keeper, row.KeeperFile, line, row.Score, distance, row.Rule)
	}
	return b.String()
}

// TestAgainstFeatures uses databases with other features than words:3. The job adopts these
// features, which must agree with the flags and between databases.
func TestAgainstFeatures(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"known": "abcdefghij", "in": "abcdefghijk"} {
		write(t, filepath.Join(dir, name+".jsonl"), `{"id":"`+name+`","text":"`+text+`"}`+"\n")
	}
	simdb(t, dir, "load", "chars", "known.jsonl", "-q", "--shingle", "chars:3")
	simdb(t, dir, "load", "words", "known.jsonl", "-q")
	simdb(t, dir, "load", "bare", "known.jsonl", "-q", "--no-text")
	simdb(t, dir, "dedup", "in.jsonl", "-q", "-o", "out.jsonl", "--against", "chars")
	audit, err := os.ReadFile(filepath.Join(dir, "out.audit.jsonl"))
	if err != nil || !bytes.Contains(audit, []byte(`"shingle":"chars:3"`)) || !bytes.Contains(audit, []byte(`"keeper":"known","keeper_file":"chars","keeper_line":null`)) {
		t.Errorf("%v: %s", err, audit)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"features of chars", []string{"--against", "chars", "--shingle", "words:3"}},
		{"compare documents differently", []string{"--against", "chars", "--against", "words"}},
		{"stores no texts to compare", []string{"--against", "bare"}},
		{"is a folder, not a database", []string{"--against", "."}},
	} {
		cmd := exec.Command("simdb", append([]string{"dedup", "in.jsonl", "-q", "-o", "new.jsonl"}, c.args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v: %s", c.args, err, out)
		}
	}
}

// TestAgainstLargeDatabase has few inputs and a large database. The job reads only some of its
// documents. The result must equal that with a file of the same documents. Some documents are
// equal.
func TestAgainstLargeDatabase(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(8, 2))
	var known, in strings.Builder
	for i := range 600 {
		words := make([]string, 4+r.IntN(60))
		for w := range words {
			words[w] = fmt.Sprint("w", r.IntN(2000))
		}
		for copies := range 1 + r.IntN(2) {
			fmt.Fprintf(&known, `{"id":"k%d-%d","text":%q}`+"\n", i, copies, strings.Join(words, " "))
		}
		if i%12 == 0 {
			for edit := range 2 {
				fmt.Fprintf(&in, `{"id":"i%d-%d","text":%q}`+"\n", i, edit, strings.Join(words, " "))
				words[r.IntN(len(words))] = "edited"
			}
		}
	}
	for name, text := range map[string]string{"known.jsonl": known.String(), "in.jsonl": in.String()} {
		write(t, filepath.Join(dir, name), text)
	}
	simdb(t, dir, "load", "db", "known.jsonl", "-q")
	outcome := func(against string, criterion ...string) (kept, rows string) {
		t.Helper()
		simdb(t, dir, append([]string{"dedup", "in.jsonl", "-q", "-o", "out.jsonl", "--against", against}, criterion...)...)
		data, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
		audit, err2 := os.ReadFile(filepath.Join(dir, "out.audit.jsonl"))
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		return string(data), keepers(t, string(audit), against)
	}
	for _, criterion := range [][]string{{"--near", "24", "--verify", "0.8"}, {"--near", "14"}} {
		wantKept, want := outcome("known.jsonl", criterion...)
		gotKept, got := outcome("db", criterion...)
		if gotKept != wantKept || got != want {
			t.Errorf("%s: kept %d bytes, of a file %d:\n%s\nnot\n%s", criterion, len(gotKept), len(wantKept), got, want)
		}
		if n := strings.Count(want, "\n"); n < 60 {
			t.Errorf("%s: %d rows", criterion, n)
		}
	}
}

// family writes JSON lines with texts, copies of texts, edited copies, and some invalid lines.
func family(r *rand.Rand, n int) string {
	var b strings.Builder
	var texts [][]string
	for i := range n {
		var words []string
		if len(texts) > 0 && r.IntN(4) > 0 {
			words = append(words, texts[r.IntN(len(texts))]...)
			for range r.IntN(4) {
				words[r.IntN(len(words))] = fmt.Sprint("w", r.IntN(500))
			}
		} else {
			for range 5 + r.IntN(40) {
				words = append(words, fmt.Sprint("w", r.IntN(500)))
			}
		}
		texts = append(texts, words)
		switch r.IntN(30) {
		case 0:
			b.WriteString("no document\n")
		case 1:
			fmt.Fprintf(&b, `{"id":%d,"text":" "}`+"\n", i)
		default:
			fmt.Fprintf(&b, `{"id":%d,"score":%d,"text":%q}`+"\n", r.IntN(n), r.IntN(9), strings.Join(words, " "))
		}
	}
	return b.String()
}
