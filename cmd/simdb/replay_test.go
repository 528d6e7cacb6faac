package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// family writes lines of JSON with texts of which many are copies, some of them edited, and some
// lines that are no documents.
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

// TestReplay decides again with other thresholds and rules: the copies and the audit are those of a
// run on the texts.
func TestReplay(t *testing.T) {
	dir := t.TempDir()
	read := func(names ...string) (all []byte) {
		for _, name := range names {
			data := readFile(t, filepath.Join(dir, name))
			all = append(all, data...)
		}
		return all
	}
	rules := []string{"first", "last", "longest", "max:score", "prefer:b*,min:score"}
	for seed := range exhaustive.Some(t, 2, 4) {
		r := rand.New(rand.NewPCG(uint64(seed), 11))
		for _, name := range []string{"a.jsonl", "b.jsonl"} {
			write(t, filepath.Join(dir, name), family(r, 1+r.IntN(300)))
		}
		low := []float64{0.3, 0.5, 0.8}[seed%3]
		args := func(keep string, share float64, more ...string) []string {
			return append([]string{"dedup", "a.jsonl", "b.jsonl", "-q", "--max-errors", "1000", "--keep", keep, "--jaccard", fmt.Sprint(share)}, more...)
		}
		simdb(t, dir, args(rules[r.IntN(len(rules))], low, "-o", "old.jsonl", "--memory", []string{"1MiB", "1GiB"}[seed%2])...)
		for range 2 {
			keep, share := rules[r.IntN(len(rules))], low+(1-low)*float64(r.IntN(9))/8
			simdb(t, dir, args(keep, share, "-o", "want.jsonl", "--clusters", "want.c.jsonl")...)
			simdb(t, dir, args(keep, share, "-o", "got.jsonl", "--clusters", "got.c.jsonl", "--replay", "old.audit.jsonl")...)
			if !bytes.Equal(read("want.jsonl", "want.audit.jsonl", "want.c.jsonl"), read("got.jsonl", "got.audit.jsonl", "got.c.jsonl")) {
				t.Fatalf("seed %d, from %v: --keep %s --jaccard %v is another run", seed, low, keep, share)
			}
		}
		simdb(t, dir, "dedup", "a.jsonl", "b.jsonl", "-q", "--max-errors", "1000", "-o", "got.jsonl", "--replay", "old.audit.jsonl")
		if !bytes.Equal(read("old.jsonl", "old.audit.jsonl"), read("got.jsonl", "got.audit.jsonl")) {
			t.Fatalf("seed %d: without other flags it is another run", seed)
		}
	}
}

// TestReplayWithMore decides again with --decisions, with --against and of --files.
func TestReplayWithMore(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(7, 13))
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), text)
	}
	all := strings.SplitAfter(family(r, 400), "\n")
	// What is known has equal documents, also in another source.
	write("one.jsonl", strings.Join(all[:100], "")+strings.Join(all[:20], ""))
	write("two.jsonl", strings.Join(all[80:200], ""))
	write("in.jsonl", strings.Join(all[190:], ""))
	simdb(t, dir, "load", "db", "one.jsonl", "-q", "--max-errors", "1000")
	for i, line := range all[:120] {
		write(fmt.Sprintf("tree/%03d.txt", i), line)
	}
	digest := func(names ...string) (all string) {
		for _, name := range names {
			data := readFile(t, filepath.Join(dir, name))
			all += string(data)
		}
		return all
	}
	for _, c := range []struct{ first, then []string }{
		{[]string{"in.jsonl"}, []string{"--decisions", "decisions.jsonl"}},
		{[]string{"in.jsonl", "--against", "one.jsonl", "--against", "two.jsonl"}, nil},
		{[]string{"in.jsonl", "--against", "db", "--against", "two.jsonl", "--keep", "last"}, nil},
		{[]string{"--files", "tree"}, nil},
	} {
		ext := ".jsonl"
		if c.first[0] == "--files" {
			ext = ".list"
		}
		simdb(t, dir, append([]string{"dedup", "-q", "--max-errors", "1000", "-o", "old" + ext, "--jaccard", "0.4"}, c.first...)...)
		again := slices.Concat([]string{"dedup", "-q", "--max-errors", "1000", "--jaccard", "0.6", "--keep", "longest"}, slices.DeleteFunc(slices.Clone(c.first), func(arg string) bool { return arg == "--keep" || arg == "last" }), c.then)
		if len(c.then) > 0 {
			write("decisions.jsonl", decideByAudit(digest("old.audit.jsonl")))
		}
		simdb(t, dir, append(again, "-o", "want"+ext, "--clusters", "want.c.jsonl")...)
		simdb(t, dir, append(again, "-o", "got"+ext, "--clusters", "got.c.jsonl", "--replay", "old.audit.jsonl")...)
		want := digest("want"+ext, "want.audit.jsonl", "want.c.jsonl")
		if got := digest("got"+ext, "got.audit.jsonl", "got.c.jsonl"); got != want {
			t.Errorf("%v %v: another run", c.first, c.then)
		}
		if strings.Count(want, `"keeper":"`) < 20 {
			t.Errorf("%v: little is like anything: %.500s", c.first, want)
		}
		if len(c.then) == 0 { // and from what was decided again
			simdb(t, dir, append(again, "-o", "got"+ext, "--clusters", "got.c.jsonl", "--replay", "want.audit.jsonl")...)
			if digest("got"+ext, "got.audit.jsonl", "got.c.jsonl") != want {
				t.Errorf("%v: another run", c.first)
			}
		}
	}
	write("tree/003.txt", "other words")
	refuse := func(want string, args ...string) {
		t.Helper()
		cmd := exec.Command("simdb", append([]string{"dedup", "-q", "-o", "new"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v: %s, not %q", args, err, out, want)
		}
	}
	refuse("is not what", "--files", "tree", "--replay", "old.audit.jsonl")
	simdb(t, dir, "dedup", "-q", "--max-errors", "1000", "in.jsonl", "-o", "a.jsonl", "--against", "one.jsonl")
	simdb(t, dir, "dedup", "-q", "--max-errors", "1000", "in.jsonl", "-o", "d.jsonl", "--decisions", "decisions.jsonl")
	refuse("--against one.jsonl", "in.jsonl", "--replay", "a.audit.jsonl")
	refuse("does not have the documents", "in.jsonl", "--replay", "a.audit.jsonl", "--against", "two.jsonl")
	refuse("without --against", "in.jsonl", "--replay", "a.audit.jsonl", "--against", "one.jsonl", "--decisions", "decisions.jsonl")
	refuse("of a run with --decisions", "in.jsonl", "--replay", "d.audit.jsonl")
}

// decideByAudit returns decisions about documents that an audit has: many pairs that are kept
// apart, and some documents that are preferred.
func decideByAudit(audit string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSpace(audit), "\n")[1:] {
		var row struct{ ID, Keeper string }
		if json.Unmarshal([]byte(line), &row) != nil || seen[row.ID] || seen[row.Keeper] || row.ID == row.Keeper || row.ID == "" {
			continue
		}
		kind := []string{"allow", "allow", "keep", "drop"}[i%4]
		if seen[row.ID] = true; i%4 > 0 {
			seen[row.Keeper] = true
		}
		fmt.Fprintf(&b, "{\"a\":%q,\"b\":%q,\"decision\":%q}\n", row.ID, row.Keeper, kind)
	}
	return b.String()
}

// TestReplayRefuses has audits that do not say enough, or are of something else.
func TestReplayRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		write(t, filepath.Join(dir, name), data)
	}
	in := family(rand.New(rand.NewPCG(1, 2)), 200)
	write("in.jsonl", []byte(in))
	write("other.jsonl", []byte(strings.Replace(in, "w", "v", 1)))
	simdb(t, dir, "dedup", "in.jsonl", "-q", "--max-errors", "1000", "-o", "kept.jsonl", "--jaccard", "0.6")
	simdb(t, dir, "dedup", "in.jsonl", "-q", "--max-errors", "1000", "-o", "near.jsonl", "--near", "3")
	simdb(t, dir, "dedup", "in.jsonl", "-q", "--max-errors", "1000", "-o", "against.jsonl", "--against", "other.jsonl")
	audit := readFile(t, filepath.Join(dir, "kept.audit.jsonl"))
	lines := bytes.SplitAfter(audit, []byte("\n"))
	write("short.jsonl", bytes.Join(lines[:len(lines)-2], nil))
	write("cut.jsonl", audit[:len(audit)-20])
	write("poor.jsonl", append([]byte(`{"simdb":"1","parameters":{"jaccard":0.6}}`+"\n"), bytes.Join(lines[1:], nil)...))
	write("wild.jsonl", bytes.Replace(audit, []byte(`"like":[[`), []byte(`"like":[[999`), 1))
	write("vast.jsonl", bytes.Replace(audit, []byte(`"documents":`), []byte(`"documents":400000`), 1))
	for _, c := range []struct {
		want string
		args []string
	}{
		{"takes more than --memory", []string{"in.jsonl", "--replay", "vast.jsonl"}},
		{"from 0.6 on", []string{"in.jsonl", "--jaccard", "0.5", "--replay", "kept.audit.jsonl"}},
		{"is not what in.jsonl was", []string{"other.jsonl", "--replay", "kept.audit.jsonl"}},
		{"of 1 files, not of 2", []string{"in.jsonl", "other.jsonl", "--replay", "kept.audit.jsonl"}},
		{"give the flags that were given", []string{"in.jsonl", "--shingle", "2", "--replay", "kept.audit.jsonl"}},
		{"give the flags that were given", []string{"in.jsonl", "--text-field", "id", "--replay", "kept.audit.jsonl"}},
		{"is damaged", []string{"in.jsonl", "--replay", "short.jsonl"}},
		{"is damaged", []string{"in.jsonl", "--replay", "cut.jsonl"}},
		{"is damaged", []string{"in.jsonl", "--replay", "wild.jsonl"}},
		{"--audit-pairs", []string{"in.jsonl", "--replay", "poor.jsonl"}},
		{"no audit", []string{"in.jsonl", "--replay", "other.jsonl"}},
		{"of a run with --near", []string{"in.jsonl", "--replay", "near.audit.jsonl"}},
		{"with 1 sources of --against", []string{"in.jsonl", "--replay", "against.audit.jsonl"}},
		{"it is for --jaccard", []string{"in.jsonl", "--near", "3", "--replay", "kept.audit.jsonl"}},
		{"for similar documents", []string{"in.jsonl", "--level", "line", "--replay", "kept.audit.jsonl"}},
		{"--audit-pairs is for", []string{"in.jsonl", "--near", "3", "--audit-pairs"}},
	} {
		cmd := exec.Command("simdb", append([]string{"dedup", "-q", "-o", "new.jsonl"}, c.args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v: %s, not %q", c.args, err, out, c.want)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "new*")); len(left) > 0 {
			t.Errorf("%v leaves %v", c.args, left)
		}
	}
}

// TestReplayPairs has a family with more pairs than the limit: the run fails with --audit-pairs,
// and records none without it.
func TestReplayPairs(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(5, 6))
	words := strings.Fields(strings.Repeat("the pages of this family have one word of their own each and ", 10))
	var b strings.Builder
	for n := range 200 { // 19,900 pairs; there is room for 5,461
		for i := range words {
			words[i] = fmt.Sprint("w", i)
		}
		words[r.IntN(len(words))] = fmt.Sprint("own", n)
		fmt.Fprintf(&b, `{"text":%q}`+"\n", strings.Join(words, " "))
	}
	write(t, filepath.Join(dir, "in.jsonl"), b.String())
	simdb(t, dir, "dedup", "in.jsonl", "-q", "--max-errors", "1000", "-o", "kept.jsonl", "--memory", "1MiB")
	audit, err := os.ReadFile(filepath.Join(dir, "kept.audit.jsonl"))
	if err != nil || bytes.Contains(audit, []byte(`"replay"`)) || bytes.Contains(audit, []byte(`"like"`)) {
		t.Errorf("%v: %.300s", err, audit)
	}
	c := exec.Command("simdb", "dedup", "in.jsonl", "-q", "-o", "new.jsonl", "--memory", "1MiB", "--audit-pairs")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "5,461 pairs") {
		t.Errorf("%v: %s", err, out)
	}
	simdb(t, dir, "dedup", "in.jsonl", "-q", "--max-errors", "1000", "-o", "all.jsonl", "--audit-pairs")
	simdb(t, dir, "dedup", "in.jsonl", "-q", "--max-errors", "1000", "-o", "again.jsonl", "--replay", "all.audit.jsonl")
}
