//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// together starts processes of simdb concurrently, and returns the output of each.
func together(t *testing.T, dir string, args []string, inputs ...string) []string {
	t.Helper()
	out := make([]string, len(inputs))
	var wg sync.WaitGroup
	for i, in := range inputs {
		wg.Go(func() {
			cmd := exec.Command("simdb", args...)
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
			var data, talk strings.Builder
			cmd.Stdout, cmd.Stderr = &data, &talk
			if err := cmd.Run(); err != nil {
				t.Errorf("%v: %s", err, talk.String())
			}
			out[i] = data.String()
		})
	}
	wg.Wait()
	return out
}

// TestPutNovelTogether has processes submit similar documents, by PUT ... UNLESS and by match
// --add. One document of each similar group is stored, and only one process gets the result
// "stored".
func TestPutNovelTogether(t *testing.T) {
	const processes, texts = 5, 40
	wait := []string{"--busy-timeout", "2m"}
	dir := t.TempDir()
	for _, name := range []string{"put.simdb", "match.simdb"} {
		simdb(t, dir, name, "--create", "COUNT")
	}
	var statements, lines []string
	for p := range processes {
		var b, l strings.Builder
		for i, text := range likeTexts(texts, uint64(p)) {
			doc := fmt.Sprintf(`{"id":"%d-%d","text":"%s"}`, p, i, text)
			fmt.Fprintf(&b, "PUT %s UNLESS NEAR 3;\n", doc)
			fmt.Fprintln(&l, doc)
		}
		statements, lines = append(statements, b.String()), append(lines, l.String())
	}
	stored := 0
	for _, out := range together(t, dir, append([]string{"put.simdb"}, wait...), statements...) {
		stored += strings.Count(out, "stored\n")
	}
	if stored != texts {
		t.Errorf("%d of %d documents were stored", stored, texts)
	}
	kept := 0
	for _, out := range together(t, dir, append([]string{"match", "match.simdb", "-", "--near", "3", "--add", "--input-format", "jsonl"}, wait...), lines...) {
		kept += strings.Count(out, "\n")
	}
	if kept != texts {
		t.Errorf("%d of %d documents were new", kept, texts)
	}
	for _, name := range []string{"put.simdb", "match.simdb"} {
		if got := simdb(t, dir, name, "COUNT"); got != fmt.Sprintln(texts) {
			t.Errorf("%s has %s", name, got)
		}
		noPairs(t, filepath.Join(dir, name))
	}
}

// copyProgram copies this program, which runs as simdb under that name, to a place where other
// users can start it.
func copyProgram(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	must.Do(t, err)
	content, err := os.ReadFile(self)
	to := filepath.Join(dir, "simdb")
	if err = errors.Join(err, os.WriteFile(to, content, 0o755)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestFolderWithoutPermission reads a database as a user who may write neither the folder nor any
// file in it.
func TestFolderWithoutPermission(t *testing.T) {
	dir, err := os.MkdirTemp("", "simdb") // t.TempDir is closed to other users
	must.Do(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := copyProgram(t, dir)
	simdb(t, dir, "x.simdb", "--create", `PUT {"id":"a","text":"one two three four"}`)
	simdb(t, dir, "compact", "x.simdb")
	simdb(t, dir, "x.simdb", `PUT {"id":"b","text":"one two three four"}`)
	folder := filepath.Join(dir, "x.simdb")
	entries, err := os.ReadDir(folder)
	must.Do(t, err)
	for _, e := range entries {
		err = errors.Join(err, os.Chmod(filepath.Join(folder, e.Name()), 0o444))
	}
	if err = errors.Join(err, os.Chmod(folder, 0o555), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(folder, 0o755) })
	before := listing(t, folder)
	run := func(in string, args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(in), append(os.Environ(), "HOME=/nonexistent", "XDG_STATE_HOME=/nonexistent")
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if _, err := run("", "version"); err != nil {
		t.Skip("another user can't start the test: ", err)
	}
	for _, c := range []struct {
		in, want string
		args     []string
	}{
		{"", "b\t0\n", []string{"x.simdb", "NEAR('a', 3)"}},
		{"", "b\t0\n", []string{"x.simdb", "--readonly", "NEAR('a', 3)"}},
		{"COUNT;\nNEAR(TEXT 'put one two three four', 20);\n", "2\n", []string{"x.simdb"}},
		{"COUNT;\n", "2\n", []string{"x.simdb", "--readonly"}},
		{"", "2 documents", []string{"check", "x.simdb"}},
		{"", "documents", []string{"stats", "x.simdb"}},
	} {
		if out, err := run(c.in, c.args...); err != nil || !strings.Contains(out, c.want) {
			t.Errorf("%v: %q, %v", c.args, out, err)
		}
	}
	for _, args := range [][]string{{"x.simdb", "DELETE 'a'"}, {"x.simdb", "--readonly", "DELETE 'a'"}} {
		if out, err := run("", args...); err == nil {
			t.Errorf("%v: %q", args, out)
		}
	}
	if diff := changes(before, listing(t, folder)); len(diff) > 0 {
		t.Error(diff)
	}

	// A database that cannot be read is not mistaken for an ordinary folder.
	err = os.WriteFile(filepath.Join(dir, "new.jsonl"), []byte(`{"id":"n","text":"one two three four"}`), 0o644)
	if err = errors.Join(err, os.Chmod(folder, 0)); err != nil {
		t.Fatal(err)
	}
	if out, err := run("", "dedup", "new.jsonl", "--against", "x.simdb"); err == nil || !strings.Contains(out, "x.simdb: permission denied") {
		t.Errorf("%q, %v", out, err)
	}
}

// A command that waits for another process to write ends at the first signal.
func TestSignalWhileWaiting(t *testing.T) {
	dir := t.TempDir()
	simdb(t, dir, "x.simdb", "--create", `PUT {"id":"a","text":"one two three"}`)
	mail := "From a Thu Jan  1 00:00:00 2026\nMessage-ID: <1>\n\nfour\n"
	for _, c := range []struct{ args, text, answer string }{
		{"x.simdb", "COUNT;\n", "1"},
		{"x.simdb", "", ""},
		{"match x.simdb -", "", ""},
		{"match x.simdb -", "[{\"id\":1,\"text\":\"x\"},\n", "["},
		{"match x.simdb -", mail + "\n" + mail + "\n" + mail, strings.TrimSpace(mail[:strings.Index(mail, "\n")])},
		{"pairs -", "", ""},
		{"load x.simdb -", "", ""},
		{"apply x.simdb -", "", ""},
	} {
		cmd := exec.Command("simdb", strings.Fields(c.args)...)
		cmd.Dir = dir
		in, err := cmd.StdinPipe()
		must.Do(t, err)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		must.Do(t, err)
		io.WriteString(in, c.text)
		if got := bufio.NewScanner(out); c.answer == "" {
			time.Sleep(200 * time.Millisecond)
		} else if !got.Scan() || got.Text() != c.answer {
			t.Errorf("%s: the answer is %q", c.args, got.Text())
		}
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	}
}

// Processes that load concurrently into a database that does not exist create one database.
func TestCreateTogether(t *testing.T) {
	for _, args := range [][]string{{"load", "x.simdb", "-"}, {"match", "x.simdb", "-", "--add"}} {
		for range exhaustive.Size(2, 4) {
			var inputs []string
			for i := range 4 {
				inputs = append(inputs, fmt.Sprintf(`{"id":"%d","text":"text of %d"}`, i, i))
			}
			dir := t.TempDir()
			together(t, dir, append(args, "--busy-timeout", "2m"), inputs...)
			if got := simdb(t, dir, "x.simdb", "COUNT"); got != "4\n" {
				t.Errorf("%v: %s", args, got)
			}
		}
	}
}
