package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
)

// makes lists commands that make a database or a file {new}. Commands that store while they read
// may leave a part, which another run completes.
var makes = []struct {
	args string
	part bool
}{
	{"rebuild old.simdb {new} --memory 1MiB", false},
	{"load {new} old.simdb --memory 1MiB", false},
	{"ingest {new} old.sst --create", false},
	{"recover old.simdb {new}", false},
	{"backup old.simdb {new}", false},
	{"create {new} --like old.simdb", false},
	{"pack old.simdb {new}.sst", false},
	{"export old.simdb -o {new}.jsonl", false},
	{"export old.simdb -o {new}.parquet", false},
	{"load {new} a.jsonl b.jsonl --memory 1MiB", true},
	{"load {new} a.jsonl b.jsonl --memory 1MiB --resume", true},
	{"match {new} a.jsonl b.jsonl --add --near 0 -o {new}.lines", true},
}

// TestMakersKilled kills commands that make a database at random times. They must leave no database
// or a complete one, and another run must succeed and make it.
func TestMakersKilled(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(exhaustive.Seed(t), 1))
	const docs = 6000
	makeInputs(t, dir, docs)
	for m := range exhaustive.Some(t, 3, len(makes)) {
		c := makes[m]
		t.Run(c.args, func(t *testing.T) {
			want := strconv.Itoa(docs)
			if strings.HasPrefix(c.args, "create") {
				want = "0"
			}
			var took time.Duration
			killed, none, rounds := 0, 0, exhaustive.Size(3, 100)
			for i := range rounds + 1 {
				name := fmt.Sprintf("new%d-%d", m, i)
				path := filepath.Join(dir, name)
				if i%3 == 1 && !strings.Contains(c.args, "{new}.") { // an empty folder exists
					if err := os.Mkdir(path, 0o777); err != nil {
						t.Fatal(err)
					}
				}
				args := append(strings.Fields(strings.ReplaceAll(c.args, "{new}", name)), "-q")
				limit := time.Minute
				if i > 0 {
					limit = time.Duration(r.Int64N(int64(took) + 1))
				}
				start := time.Now()
				if err := runKilled(dir, limit, args...); i == 0 && err != nil {
					t.Fatal(err)
				} else if i == 0 {
					took = time.Since(start)
				} else if err != nil {
					killed++
				}
				n := countOf(t, dir, c.args, name)
				if n == "" {
					none++
				}
				if n != want && (n == "" || c.part) {
					if err := runKilled(dir, time.Minute, args...); err != nil {
						t.Fatalf("round %d: after %q: %v", i, n, err)
					}
					n = countOf(t, dir, c.args, name)
				}
				if n != want {
					t.Fatalf("round %d: %s documents of %s", i, n, want)
				}
				if !strings.Contains(c.args, "{new}.") || c.part {
					simdb(t, dir, "check", name)
				}
				for _, p := range []string{path, path + ".sst", path + ".jsonl", path + ".parquet", path + ".lines"} {
					os.RemoveAll(p)
				}
			}
			t.Logf("%d of %d killed, after %d there was nothing", killed, rounds, none)
		})
	}
}

// makeInputs makes the inputs of the commands, with a number of documents.
func makeInputs(t *testing.T, dir string, docs int) {
	t.Helper()
	for _, file := range []string{"a", "b"} {
		var lines strings.Builder
		for i := range docs / 2 {
			fmt.Fprintf(&lines, `{"id":"%s%d","text":"%d words of %s %d and others"}`+"\n", file, i, i, file, i*i)
		}
		write(t, filepath.Join(dir, file+".jsonl"), lines.String())
		simdb(t, dir, "load", "old.simdb", file+".jsonl", "--memory", "1MiB", "-q")
	}
	simdb(t, dir, "pack", "old.simdb", "old.sst")
}

// TestMakersAtOnce runs several processes that make the same database concurrently. The database is
// complete, exactly one process reports that it created it, and the others that fail say that it
// exists, or that another process is making it.
func TestMakersAtOnce(t *testing.T) {
	dir := t.TempDir()
	const docs, processes = 2000, 4
	makeInputs(t, dir, docs)
	refusals := regexp.MustCompile(`already exists|is a database|database is locked by process`)
	for m := range exhaustive.Some(t, 4, len(makes)) {
		c := makes[m]
		name := fmt.Sprint("new", m)
		args := strings.Fields(strings.ReplaceAll(c.args, "{new}", name))
		said := 1
		switch args[0] {
		case "recover", "backup", "pack", "export":
			said = 0
		}
		var talks [processes]bytes.Buffer
		var running [processes]*exec.Cmd
		for i := range running {
			running[i] = exec.Command("simdb", args...)
			running[i].Dir, running[i].Stderr = dir, &talks[i]
			if err := running[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		done, created := 0, 0
		for i, p := range running {
			talk := &talks[i]
			if err := p.Wait(); err == nil {
				done++
			} else if !refusals.MatchString(talk.String()) {
				t.Errorf("%s: %v: %s", c.args, err, talk)
			}
			created += strings.Count(talk.String(), "created ")
		}
		if done == 0 || created != said {
			t.Errorf("%s: %d of %d have ended well, %d have created it", c.args, done, processes, created)
		}
		want := strconv.Itoa(docs)
		if args[0] == "create" {
			want = "0"
		}
		if n := countOf(t, dir, c.args, name); n != want {
			t.Errorf("%s: %s documents of %s", c.args, n, want)
		}
	}
}

// runKilled runs the program and kills it after a time.
func runKilled(dir string, limit time.Duration, args ...string) error {
	c := exec.Command("simdb", args...)
	c.Dir = dir
	var talk bytes.Buffer
	c.Stderr = &talk
	if err := c.Start(); err != nil {
		return err
	}
	timer := time.AfterFunc(limit, func() { c.Process.Kill() })
	defer timer.Stop()
	if err := c.Wait(); err != nil {
		return fmt.Errorf("%v: %s", err, talk.String())
	}
	return nil
}

// countOf returns the number of documents that a command has made, or "" if there is no database or
// file.
func countOf(t *testing.T, dir, command, name string) string {
	t.Helper()
	for _, ending := range []string{".jsonl", ".parquet"} {
		if !strings.Contains(command, "{new}"+ending) {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, name+ending)); err != nil {
			return ""
		}
		defer os.RemoveAll(filepath.Join(dir, name))
		simdb(t, dir, "load", name, name+ending, "-q")
	}
	if strings.Contains(command, "{new}.sst") {
		name += ".sst"
	}
	c := exec.Command("simdb", "./"+name, "COUNT")
	c.Dir = dir
	var talk bytes.Buffer
	c.Stderr = &talk
	out, err := c.Output()
	if err != nil && !strings.Contains(talk.String(), "no such database") {
		t.Fatalf("COUNT: %v: %s", err, talk.String())
	}
	return strings.TrimSpace(string(out))
}
