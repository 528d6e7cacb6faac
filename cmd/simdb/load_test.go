package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
)

// loadLines are lines of a file to load, with the expected result.
type loadLines struct {
	ending string // extension of the file's name
	lines  []string
	docs   []loadedDoc // documents of valid lines, in order; IDs may repeat
	bad    []int       // invalid lines, from 1
}

// A loadedDoc is a document as a load must store it.
type loadedDoc struct {
	ID, Text       string
	Fingerprint    uint64
	HasFingerprint bool
}

// fingerprintLines returns a list of fingerprints: some IDs repeat, and some lines are damaged,
// blank or long.
func fingerprintLines(r *rand.Rand, n int) loadLines {
	l := loadLines{ending: ".tsv"}
	for i := range n {
		id, fp := fmt.Sprint("d", r.IntN(n)), r.Uint64()|1<<63 // 16 digits, with a letter or without
		switch r.IntN(300) {
		case 0:
			l.lines, l.bad = append(l.lines, "0xff\t"+id+"\tmore"), append(l.bad, i+1)
			continue
		case 1:
			l.lines = append(l.lines, "  ")
			continue
		case 2:
			id = strings.Repeat("long", r.IntN(10_000)) + id
		}
		l.lines = append(l.lines, fmt.Sprintf("0x%016x\t%s", fp, id))
		l.docs = append(l.docs, loadedDoc{ID: id, Fingerprint: fp, HasFingerprint: true})
	}
	return l
}

func textLines(r *rand.Rand, n int) loadLines {
	l := loadLines{ending: ".jsonl"}
	for i := range n {
		id, text := fmt.Sprint("d", r.IntN(n)), fmt.Sprintf("words number %d of %d", r.IntN(50), i)
		switch r.IntN(200) {
		case 0:
			l.lines, l.bad = append(l.lines, `{"id":"`+id+`","text":`), append(l.bad, i+1)
			continue
		case 1:
			text = strings.Repeat(text+" ", r.IntN(20_000))
		case 2:
			text = ""
		}
		line, err := json.Marshal(map[string]string{"id": id, "text": text})
		if err != nil {
			panic(err)
		}
		l.lines = append(l.lines, string(line))
		l.docs = append(l.docs, loadedDoc{ID: id, Text: text})
	}
	return l
}

// want returns the documents that remain, in order.
func (l *loadLines) want() (docs []loadedDoc) {
	last := map[string]int{}
	for i, d := range l.docs {
		last[d.ID] = i
	}
	for i, d := range l.docs {
		if last[d.ID] == i {
			docs = append(docs, d)
		}
	}
	return docs
}

// TestLoadLikeModel loads files of all kinds, with one processor and with several, into one table
// and into many. The documents, their order, and the rejected lines must equal a model.
func TestLoadLikeModel(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	encode := map[string]func(s string) []byte{
		"plain":           func(s string) []byte { return []byte(s) },
		"CRLF":            func(s string) []byte { return []byte(strings.ReplaceAll(s, "\n", "\r\n")) },
		"no last newline": func(s string) []byte { return []byte(strings.TrimSuffix(s, "\n")) },
		"BOM":             func(s string) []byte { return []byte("\ufeff" + s) },
		"stdin":           func(s string) []byte { return []byte(s) },
		".gz": func(s string) []byte {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			w.Write([]byte(s))
			w.Close()
			return b.Bytes()
		},
		".zst": func(s string) []byte {
			w, _ := zstd.NewWriter(nil)
			return w.EncodeAll([]byte(s), nil)
		},
	}
	for _, l := range []loadLines{fingerprintLines(r, 60_000), textLines(r, 4000)} {
		all := strings.Join(l.lines, "\n") + "\n"
		names := slices.Sorted(maps.Keys(encode))
		for n := range exhaustive.Some(t, 3, len(names)) {
			name := names[n]
			encode := encode[name]
			for i, how := range []struct{ procs, memory string }{{"1", "64MiB"}, {"4", "1MiB"}} {
				t.Run(fmt.Sprint(l.ending, " ", name, " ", how.memory), func(t *testing.T) {
					dir := t.TempDir()
					file, stdin := "in"+l.ending, []byte(nil)
					if strings.HasPrefix(name, ".") {
						file += name
					}
					if name == "stdin" {
						file, stdin = "-", encode(all)
					} else if err := os.WriteFile(filepath.Join(dir, file), encode(all), 0o666); err != nil {
						t.Fatal(err)
					}
					c := exec.Command("simdb", "load", "x.simdb", file, "--memory", how.memory, "--rejects", "bad", "--max-errors", "1000000", "--no-sketch", "--quiet")
					if name == "stdin" {
						c.Args = append(c.Args, "--format", map[string]string{".tsv": "fingerprints", ".jsonl": "jsonl"}[l.ending])
					}
					c.Dir, c.Stdin = dir, bytes.NewReader(stdin)
					c.Env = append(os.Environ(), "GOMAXPROCS="+how.procs)
					if out, err := c.CombinedOutput(); err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
					checkLoaded(t, filepath.Join(dir, "x.simdb"), &l)
					checkRejects(t, filepath.Join(dir, "bad"), &l)
				})
				if !exhaustive.All() && i == 0 && name != "plain" {
					break
				}
			}
		}
	}
}

// checkLoaded compares a database with the expected result of a load.
func checkLoaded(t *testing.T, path string, l *loadLines) {
	t.Helper()
	_, snap := snapshotOf(t, path)
	var got []engine.Doc
	for e, err := range snap.Range(t.Context(), engine.Range{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	slices.SortFunc(got, func(a, b engine.Doc) int { return int(int64(a.Seq) - int64(b.Seq)) })
	want := l.want()
	if len(got) != len(want) {
		t.Fatalf("%d documents, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.ID != w.ID || w.HasFingerprint && g.Fingerprints[0][0] != w.Fingerprint {
			t.Fatalf("document %d is %.100q with %x, want %.100q with %x", i, g.ID, g.Fingerprints, w.ID, w.Fingerprint)
		}
		if w.Text == "" {
			continue
		}
		if e, err := snap.Get(t.Context(), g.ID); err != nil || e.Text != w.Text {
			t.Fatalf("document %s has the text %.100q, want %.100q, %v", g.ID, e.Text, w.Text, err)
		}
	}
}

// checkRejects compares the lines of a file of rejects.
func checkRejects(t *testing.T, path string, l *loadLines) {
	t.Helper()
	data := readFile(t, path)
	var want strings.Builder
	for _, n := range l.bad {
		want.WriteString(l.lines[n-1] + "\n")
	}
	if got := strings.ReplaceAll(string(data), "\r\n", "\n"); got != want.String() {
		t.Errorf("rejected %.500q, want %.500q", got, want.String())
	}
}

// killedCode returns the exit code of a killed process.
func killedCode() int {
	if runtime.GOOS == "windows" {
		return 1
	}
	return -1
}

// TestLoadKilled kills a load repeatedly at random times, and continues with --resume. In the end
// the documents must equal the result of an uninterrupted load.
func TestLoadKilled(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for _, l := range []loadLines{fingerprintLines(r, 100_000), textLines(r, 10_000)} {
		dir := t.TempDir()
		file := "in" + l.ending
		write(t, filepath.Join(dir, file), strings.Join(l.lines, "\n")+"\n")
		kills := 0
		for wait := 20 * time.Millisecond; ; wait += wait/8 + time.Duration(r.IntN(40))*time.Millisecond {
			c := exec.Command("simdb", "load", "x.simdb", file, "--memory", "1MiB", "--resume", "--max-errors", "1000000")
			c.Dir = dir
			var out bytes.Buffer
			c.Stderr = &out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(wait, func() { c.Process.Kill() })
			err := c.Wait()
			timer.Stop()
			if err == nil {
				break
			}
			if kills++; kills > 200 || c.ProcessState.ExitCode() != killedCode() {
				t.Fatalf("after %d kills: %v\n%s", kills, err, out.String())
			}
		}
		t.Log(l.ending, "killed", kills, "times")
		checkLoaded(t, filepath.Join(dir, "x.simdb"), &l)
	}
}

// TestLoadResumesEachFile resumes a load of several files that have grown. Each file has a mark of
// its own, and the lines after it are read.
func TestLoadResumesEachFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, from, n int) {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "0x%016x\t%s-%d\n", (from+i)*1_000_003, name, i)
		}
		write(t, filepath.Join(dir, name), b.String())
	}
	write("a.tsv", 0, 10)
	write("b.tsv", 100, 20)
	simdb(t, dir, "load", "x.simdb", "a.tsv", "b.tsv")
	write("a.tsv", 0, 13)
	write("b.tsv", 100, 27)
	c := exec.Command("simdb", "load", "x.simdb", "a.tsv", "b.tsv", "--resume")
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "a.tsv: continuing after line 10\n") || !strings.Contains(string(out), "b.tsv: continuing after line 20\n") ||
		!strings.Contains(string(out), " 10 documents loaded") {
		t.Errorf("%v\n%s", err, out)
	}
	if n, err := strconv.Atoi(strings.TrimSpace(simdb(t, dir, "x.simdb", "COUNT"))); err != nil || n != 40 {
		t.Errorf("%d documents, %v", n, err)
	}
}
