package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// pairs and clusters of files return the same rows as a database into which the files are loaded:
// for random families of texts, and for licences.
func TestFilesAsDatabase(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	for i, name := range []string{"a.jsonl", "b.jsonl"} {
		write(t, filepath.Join(dir, name), families(r, 150+50*i))
	}
	licences, err := filepath.Abs("../../examples/licenses.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if code, _, talk := simdbHere(t, "pairs", "a.jsonl", "--near", "64", "--memory", "64KiB"); code != 2 || !strings.Contains(talk, "more pairs than fit into --memory") {
		t.Errorf("11,175 pairs in 64 KiB: status %d: %s", code, talk)
	}
	all := rowsHere(t, "pairs", "a.jsonl", "--near=6", "--sample=1e6")
	if want := rowsHere(t, "pairs", "a.jsonl", "--near=6"); all != want {
		t.Errorf("a sample of all documents:\n%.400s\nnot:\n%.400s", all, want)
	}
	// Two records with the same id are two documents, with the same rows as with different ids.
	number, shared := 0, map[string]string{}
	again := regexp.MustCompile(`"id":"\w+"`).ReplaceAllStringFunc(string(readFile(t, "a.jsonl")), func(id string) string {
		number++
		shared[strings.Trim(id[5:], `"`)] = fmt.Sprint("e", number%20)
		return fmt.Sprintf(`"id":"e%d"`, number%20)
	})
	write(t, "again.jsonl", []byte(again))
	want := sortedLines(regexp.MustCompile(`d\d+`).ReplaceAllStringFunc(all, func(id string) string { return shared[id] }))
	for i, row := range want {
		if f := strings.Split(row, "\t"); f[0] > f[1] {
			want[i] = f[1] + "\t" + f[0] + "\t" + f[2]
		}
	}
	slices.Sort(want)
	for _, more := range []string{"--threads=1", "--sample=1e6"} {
		if got := sortedLines(rowsHere(t, "pairs", "again.jsonl", "--near=6", more)); !slices.Equal(got, want) {
			t.Errorf("pairs %s of documents with the same ids:\n%q\nnot\n%q", more, got, want)
		}
	}
	some := rowsHere(t, "pairs", "a.jsonl", "--near=6", "--sample=70", "--seed=3")
	if strings.Count(some, "\n") >= strings.Count(all, "\n") {
		t.Errorf("a sample of 70 has all pairs")
	}
	for pair := range strings.Lines(some) {
		if !strings.Contains(all, pair) {
			t.Errorf("only a sample has the pair %s", pair)
		}
	}
	simdb(t, dir, "load", "licences.simdb", licences)
	for _, by := range []string{"--near=6", "--jaccard=0.8"} {
		sameRows(t, "licences.simdb", []string{licences}, "pairs", by)
		sameRows(t, "licences.simdb", []string{licences}, "clusters", by)
	}
	files, db := []string{"a.jsonl", "b.jsonl"}, "random.simdb"
	simdb(t, dir, "load", db, files[0], files[1])
	for i := range exhaustive.Some(t, 2, 4) {
		by := []string{"--near=0", "--near=6", "--jaccard=0.8", "--jaccard=0.65"}[i]
		sameRows(t, db, files, "pairs", by)
		sameRows(t, db, files, "pairs", by, "--format", "count")
		sameRows(t, db, files, "clusters", by, "--format", "jsonl")
		sameRows(t, db, files, "clusters", by, "--mode", "components")
		sameRows(t, db, files, "clusters", by, "--format", "count")
		sameRows(t, db, files, "pairs", by, "--sample=200") // the sample has the same documents in both
		sameRows(t, db, files, "clusters", by, "--sample=200")
		want := rowsHere(t, "pairs", by, db)
		if one := rowsHere(t, "pairs", by, "--threads=1", files[0], files[1]); one != want {
			t.Errorf("pairs %s on one thread:\n%.400s\nnot:\n%.400s", by, one, want)
		}
		if got := sortedLines(rowsHere(t, "pairs", by, "--unordered", files[0], files[1])); !slices.Equal(got, sortedLines(want)) {
			t.Errorf("pairs %s --unordered: %d rows, of the database %d", by, len(got), strings.Count(want, "\n"))
		}
	}
}

// families returns n documents: many are edited copies of others, some are equal, and some have no
// words.
func families(r *rand.Rand, n int) []byte {
	var b bytes.Buffer
	var texts [][]string
	for range n {
		words := make([]string, 10+r.IntN(60))
		for i := range words {
			words[i] = fmt.Sprint("w", r.IntN(500))
		}
		if len(texts) > 0 && r.IntN(3) > 0 {
			words = slices.Clone(texts[r.IntN(len(texts))])
			for range r.IntN(4) {
				words[r.IntN(len(words))] = fmt.Sprint("w", r.IntN(500))
			}
		}
		texts = append(texts, words)
		text := strings.Join(words, " ")
		if r.IntN(20) == 0 {
			text = " "
		}
		line, _ := json.Marshal(map[string]string{"id": fmt.Sprint("d", r.IntN(1e9)), "text": text})
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

// sameRows compares the rows of a command on a database and on files, on three threads and with the
// smallest memory.
func sameRows(t *testing.T, db string, files []string, args ...string) {
	t.Helper()
	want := rowsHere(t, slices.Concat(args, []string{db})...)
	if got := rowsHere(t, slices.Concat(args, files, []string{"--threads=3", "--memory=4MiB"})...); got != want {
		t.Errorf("%v %v:\n%.400s\nof %s:\n%.400s", args, files, got, db, want)
	}
}

// rowsHere runs simdb, which must find something.
func rowsHere(t *testing.T, args ...string) string {
	t.Helper()
	code, rows, talk := simdbHere(t, args...)
	if code != 0 || rows == "" {
		t.Fatalf("%v: status %d: %s", args, code, talk)
	}
	return rows
}

func sortedLines(s string) []string {
	lines := slices.Collect(strings.Lines(s))
	slices.Sort(lines)
	return lines
}
