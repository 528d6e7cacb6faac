package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCopiesKeepTheSame compares the results of dedup, and the clusters with their keepers, on a
// database that was written in every way and on its copies. The order of writing decides which
// document is kept, so the copies must retain it.
func TestCopiesKeepTheSame(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(3, 9))
	for file := range 3 {
		var lines strings.Builder
		for range 250 {
			words := make([]string, 11)
			for i := range words {
				words[i] = fmt.Sprint("w", i)
			}
			for range r.IntN(4) { // a chain without a centre
				words[r.IntN(len(words))] = fmt.Sprint("x", r.IntN(4))
			}
			fmt.Fprintf(&lines, `{"id":"d%d","text":"%s"}`+"\n", r.IntN(400), strings.Join(words, " "))
		}
		write(t, filepath.Join(dir, fmt.Sprint(file, ".jsonl")), lines.String())
	}
	simdb(t, dir, "load", "x.simdb", "0.jsonl", "-q")
	simdb(t, dir, "x.simdb", "DELETE WHERE ID LIKE 'd1%'", `PUT {"id":"d7","text":"w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 x1"}`)
	simdb(t, dir, "load", "x.simdb", "1.jsonl", "-q")
	simdb(t, dir, "compact", "x.simdb", "-q")
	simdb(t, dir, "load", "x.simdb", "2.jsonl", "-q")
	simdb(t, dir, "x.simdb", `PUT {"id":"d9","text":"w0 w1 w2 w3 w4 w5 w6 w7 w8 x1 w10"}`)

	simdb(t, dir, "rebuild", "x.simdb", "rebuilt", "-q")
	simdb(t, dir, "load", "loaded", "x.simdb", "-q")
	simdb(t, dir, "backup", "x.simdb", "backup", "-q")
	copies := []string{"rebuilt", "loaded", "backup"}
	for _, ending := range []string{"jsonl", "csv", "parquet"} {
		simdb(t, dir, "export", "x.simdb", "-o", "x."+ending, "-q")
		simdb(t, dir, "load", ending, "x."+ending, "-q")
		simdb(t, dir, "export", "x.simdb", "-o", "t."+ending, "--times", "-q")
		simdb(t, dir, "load", ending+"-times", "t."+ending, "--time-field", "time", "-q")
		copies = append(copies, ending, ending+"-times")
	}
	for _, args := range []string{
		"dedup DB --jaccard 0.6 --no-audit -q --keep first", "dedup DB --jaccard 0.6 --no-audit -q --keep last", "dedup DB --near 9 --no-audit -q",
		"clusters DB --jaccard 0.6 --format jsonl -q", "clusters DB --near 9 --format jsonl -q",
	} {
		of := func(db string) string {
			return simdb(t, dir, strings.Fields(strings.ReplaceAll(args, "DB", db))...)
		}
		want := of("x.simdb")
		for _, c := range copies {
			if got := of(c); !slices.Equal(sortedLines(got), sortedLines(want)) {
				t.Errorf("%s of %s is not that of the database", args, c)
			}
		}
	}
}
