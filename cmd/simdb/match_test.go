package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
)

// likeTexts returns n texts that are unlike each other, in some order; the same for each seed but
// for the order and the case of letters.
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

// TestMatchAddKilled kills match --add between lines of a pipe that stays open: the first lines are
// written while it is open, every line that was written is stored, and of those that are alike one.
func TestMatchAddKilled(t *testing.T) {
	dir := t.TempDir()
	simdb(t, dir, "x.simdb", "--create", "COUNT")
	printed := map[string]bool{}
	for round := range 4 {
		c := exec.Command("simdb", "match", "x.simdb", "-", "--near", "3", "--add", "--format", "jsonl", "-q")
		c.Dir = dir
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { // the pipe is open until the process is killed
			for i, text := range likeTexts(1000, uint64(round)) { // the same in every round, and a new one
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
	db, err := engine.Open(filepath.Join(dir, "x.simdb"), &engine.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for id := range printed {
		if _, err := db.Get(t.Context(), id); err != nil {
			t.Errorf("%s was written: %v", id, err)
		}
	}
	if n, err := db.CountPairs(t.Context(), engine.Near(3), nil); n > 0 || err != nil {
		t.Errorf("%d pairs, %v", n, err)
	}
}

// idOf returns the id of a JSON line.
func idOf(t *testing.T, line string) string {
	t.Helper()
	var d struct{ ID string }
	if err := json.Unmarshal([]byte(line), &d); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return d.ID
}
