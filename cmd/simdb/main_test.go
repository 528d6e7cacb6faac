package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/must"
)

// testPrograms are programs other than simdb that tests start; the test binary runs as each of
// them.
var testPrograms = map[string]func(){}

func TestMain(m *testing.M) {
	programs := map[string]func(){"simdb": main}
	maps.Copy(programs, testPrograms)
	testscript.Main(m, programs)
}

// TestScripts runs the scripts in testdata/script. Each is a session of a command-line user.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv(tempVariable(), e.Getenv("WORK")+"/tmp")
			e.Setenv(kernel.Env, os.Getenv(kernel.Env))
			e.Setenv("GOGC", "400") // the collector used a sixth of the time of hundreds of short processes
			examples, err := filepath.Abs("../../examples")
			e.Setenv("EXAMPLES", examples)
			_, missing := os.Stat("no file has this name")
			e.Setenv("MISSING", errors.Unwrap(missing).Error())
			return errors.Join(err, os.Mkdir(e.Getenv("WORK")+"/tmp", 0o777))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": cmdStatus, "gzip": cmdGzip, "chop": cmdChop, "huge": cmdHuge, "hold": cmdHold, "count": cmdCount,
			"bytes": cmdBytes, "flip": cmdFlip, "empty": cmdEmpty, "rest": cmdRest,
		},
	})
}

// tempVariable returns the environment variable for the folder of temporary files.
func tempVariable() string {
	if runtime.GOOS == "windows" {
		return "TMP"
	}
	return "TMPDIR"
}

// status N command args... runs a command, which must end with exit status N.
func cmdStatus(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit status %d, want %d", code, want)
	}
}

// empty folder... fails unless the folders are empty.
func cmdEmpty(ts *testscript.TestScript, _ bool, args []string) {
	for _, folder := range args {
		entries, err := os.ReadDir(ts.MkAbs(folder))
		ts.Check(err)
		if len(entries) > 0 {
			ts.Fatalf("in %s: %v", folder, entries)
		}
	}
}

// rest in out copies a file without its first line.
func cmdRest(ts *testscript.TestScript, _ bool, args []string) {
	_, rest, _ := strings.Cut(ts.ReadFile(args[0]), "\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(rest), 0o666))
}

// gzip out in... writes a gzip file with a member for each input file.
func cmdGzip(ts *testscript.TestScript, _ bool, args []string) {
	var b bytes.Buffer
	for _, name := range args[1:] {
		w := gzip.NewWriter(&b)
		io.WriteString(w, ts.ReadFile(name))
		w.Close()
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

// chop file n cuts n bytes off the end of a file.
func cmdChop(ts *testscript.TestScript, _ bool, args []string) {
	st, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), st.Size()-n))
}

// huge file n appends a JSON line with a text of n MB and a newline.
func cmdHuge(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	ts.Check(err)
	io.WriteString(f, `{"id":"huge","text":"`)
	for range n {
		f.Write(bytes.Repeat([]byte("word "), 200_000))
	}
	io.WriteString(f, "\"}\n")
	ts.Check(f.Close())
}

// hold db opens a database until the script ends, as another program might.
func cmdHold(ts *testscript.TestScript, _ bool, args []string) {
	db, err := engine.Open(ts.MkAbs(args[0]), nil)
	ts.Check(err)
	ts.Setenv("PID", strconv.Itoa(os.Getpid()))
	ts.Defer(func() { db.Close() })
}

// count n file checks that the file has n lines.
func cmdCount(ts *testscript.TestScript, _ bool, args []string) {
	if n := strings.Count(ts.ReadFile(args[1]), "\n"); strconv.Itoa(n) != args[0] {
		ts.Fatalf("%s has %d lines, want %s", args[1], n, args[0])
	}
}

// bytes file quoted writes the bytes of a quoted Go string to a file.
func cmdBytes(ts *testscript.TestScript, _ bool, args []string) {
	s, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(s), 0o666))
}

// flip pattern flips a bit in the middle of the one file that matches.
func cmdFlip(ts *testscript.TestScript, _ bool, args []string) {
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(names) != 1 {
		ts.Fatalf("%d files match", len(names))
	}
	b, err := os.ReadFile(names[0])
	ts.Check(err)
	b[len(b)/3] ^= 1
	ts.Check(os.WriteFile(names[0], b, 0o666))
}

// simdb runs the program in dir and returns its output.
func simdb(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var out, talk strings.Builder
	c := exec.Command("simdb", args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &talk
	if err := c.Run(); err != nil {
		t.Fatalf("simdb %s: %v\n%s", strings.Join(args, " "), err, talk.String())
	}
	return out.String()
}

// write writes a file.
func write[S ~string | ~[]byte](t *testing.T, name string, data S) {
	t.Helper()
	must.Do(t, os.WriteFile(name, []byte(data), 0o666))
}

// readFile reads a file.
func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b := must.Get(os.ReadFile(name))(t)
	return b
}

// piped starts c with pipes to its standard input and from its standard output.
func piped(t *testing.T, c *exec.Cmd) (in io.WriteCloser, out io.Reader) {
	t.Helper()
	in, err := c.StdinPipe()
	if err == nil {
		out, err = c.StdoutPipe()
	}
	if err == nil {
		err = c.Start()
	}
	must.Do(t, err)
	return in, out
}

// snapshotOf opens a database for reading and takes a snapshot. Both stay open until the test ends.
func snapshotOf(t *testing.T, path string) (*engine.DB, *engine.Snapshot) {
	t.Helper()
	db := must.Get(engine.Open(path, &engine.Options{ReadOnly: true}))(t)
	t.Cleanup(func() { db.Close() })
	s := must.Get(db.Snapshot())(t)
	t.Cleanup(func() { s.Close() })
	return db, s
}

// noPairs checks that all fingerprints of a database differ in more than three bits.
func noPairs(t *testing.T, path string) {
	t.Helper()
	_, s := snapshotOf(t, path)
	for p, err := range s.Pairs(t.Context(), engine.Near(3), nil) {
		t.Fatalf("%s has a pair: %+v, %v", path, p, err)
	}
}

// hearing lets child processes receive a signal that the test may ignore, as under nohup: children
// inherit ignored signals, but not handlers.
func hearing(t *testing.T, sig os.Signal) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, sig)
	t.Cleanup(func() { signal.Stop(c) })
}

// Documents read before Ctrl-C are stored, and --resume continues after them.
func TestInterruptedLoad(t *testing.T) {
	hearing(t, os.Interrupt)
	dir := t.TempDir()
	var all strings.Builder
	for i := range 50 {
		fmt.Fprintf(&all, `{"id":"d%d","text":"document number %d"}`+"\n", i, i)
	}
	fifo := filepath.Join(dir, "docs.jsonl")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Skipf("no named pipes: %v %s", err, out)
	}
	c := exec.Command("simdb", "load", "x.simdb", "docs.jsonl")
	c.Dir = dir
	stderr, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	must.Do(t, err)
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	must.Do(t, err)
	io.WriteString(w, all.String()[:strings.Index(all.String(), `{"id":"d20"`)])
	talk := bufio.NewReader(stderr)
	if line, err := talk.ReadString('\n'); line != "created x.simdb\n" { // printed for the first document
		t.Fatalf("%q, %v", line, err)
	}
	c.Process.Signal(os.Interrupt)
	said, _ := io.ReadAll(talk)
	err = c.Wait()
	w.Close()
	if c.ProcessState.ExitCode() != app.ExitInterrupt {
		t.Fatalf("%v\n%s", err, said)
	}
	n, err := strconv.Atoi(strings.TrimSpace(simdb(t, dir, "x.simdb", "COUNT")))
	if err != nil || n == 0 || n > 20 {
		t.Fatalf("%d documents stored, %v", n, err)
	}
	os.Remove(fifo)
	write(t, fifo, all.String())
	var resumed strings.Builder
	c = exec.Command("simdb", "load", "x.simdb", "docs.jsonl", "--resume")
	c.Dir, c.Stderr = dir, &resumed
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, resumed.String())
	}
	if want := fmt.Sprintf("continuing after line %d\n", n); !strings.Contains(resumed.String(), want) {
		t.Errorf("%q does not say %q", resumed.String(), want)
	}
	if got := simdb(t, dir, "x.simdb", "COUNT"); strings.TrimSpace(got) != "50" {
		t.Errorf("%s documents", got)
	}
}

// Whenever a load is interrupted, even while it writes and merges tables, its exit status says so,
// and the documents that it reports as stored are stored.
func TestInterruptedLoadAtItsEnd(t *testing.T) {
	const lines = 100_000
	var all strings.Builder
	for i := range lines {
		fmt.Fprintf(&all, "%016x\td%d\n", uint64(i+1)*0x9e3779b97f4a7c15, i)
	}
	seen := map[string]bool{}
	for _, wait := range []time.Duration{0, 20 * time.Millisecond, 60 * time.Millisecond, 120 * time.Millisecond} {
		dir := t.TempDir()
		var talk strings.Builder
		c := exec.Command("simdb", "load", "x.simdb", "-", "--input-format", "fingerprints", "--no-text", "--memory", "1MiB")
		// With many more processors, all lines could be in progress before the first is stored.
		c.Dir, c.Stderr, c.Env = dir, &talk, append(os.Environ(), "GOMAXPROCS=2")
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		must.Do(t, err)
		io.WriteString(in, all.String())
		in.Close()
		time.Sleep(wait) // the test varies the time of the signal
		c.Process.Signal(os.Interrupt)
		err = c.Wait()
		code, said := c.ProcessState.ExitCode(), talk.String()
		merged := strings.Contains(said, "everything is stored, but merging was stopped")
		switch {
		case code == app.ExitOK && strings.Contains(said, "100,000 documents loaded") && !merged: // the load had finished
			seen["over"] = true
			continue
		case code != app.ExitInterrupt:
			t.Fatalf("after %v: exit status %d, %v\n%s", wait, code, err, said)
		case !merged && !strings.Contains(said, "stopped early; what was read is stored"):
			t.Errorf("after %v: %q", wait, said)
		}
		seen["interrupted"] = true
		n, err := strconv.Atoi(strings.TrimSpace(simdb(t, dir, "x.simdb", "COUNT")))
		if err != nil || n > lines || merged && n != lines {
			t.Errorf("after %v: %d documents, %v: %s", wait, n, err, said)
		}
	}
	if !seen["interrupted"] {
		t.Skip("the machine is too fast for this test")
	}
}

// If a signal of any kind ends dedup, it leaves neither an incomplete output nor temporary files.
func TestInterruptedDedup(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows sends no signals")
	}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			hearing(t, sig)
			interruptDedup(t, sig)
		})
	}
}

func interruptDedup(t *testing.T, sig os.Signal) {
	dir := t.TempDir()
	tmp := filepath.Join(dir, "tmp")
	must.Do(t, os.Mkdir(tmp, 0o777))
	c := exec.Command("simdb", "dedup", "-", "--near", "3", "-o", "kept.jsonl")
	c.Dir, c.Env = dir, append(os.Environ(), tempVariable()+"="+tmp)
	in, _ := piped(t, c)
	io.WriteString(in, `{"id":"a","text":"x"}`+"\n")
	for left, _ := os.ReadDir(tmp); len(left) == 0; left, _ = os.ReadDir(tmp) { // go test ends the wait at the latest
		time.Sleep(10 * time.Millisecond)
	}
	c.Process.Signal(sig)
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != app.ExitInterrupt {
		t.Errorf("exit status %d", code)
	}
	for _, d := range []string{tmp, dir} {
		left, _ := os.ReadDir(d)
		left = slices.DeleteFunc(left, func(e os.DirEntry) bool { return e.Name() == "tmp" })
		if len(left) > 0 {
			t.Errorf("left in %s: %v", d, left)
		}
	}
}

// A reader that exits early is no error.
func TestReaderGoes(t *testing.T) {
	dir := t.TempDir()
	var lines strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&lines, "%016x\tdocument-%d\n", i%4000*0x1234567, i)
	}
	write(t, filepath.Join(dir, "fps"), lines.String())
	simdb(t, dir, "load", "x.simdb", "fps")
	for _, args := range [][]string{{"pairs", "x.simdb", "--near", "0"}, {"x.simdb", "ID LIKE '%'"}, {"dedup", "fps", "--near", "0", "--keep", "last"}} {
		r, w, err := os.Pipe()
		must.Do(t, err)
		var talk strings.Builder
		c := exec.Command("simdb", append(args, "-q")...)
		c.Dir, c.Stdout, c.Stderr = dir, w, &talk
		must.Do(t, c.Start())
		w.Close()
		r.Close()
		if err := c.Wait(); err != nil || talk.Len() > 0 {
			t.Errorf("%v: %v, %q", args, err, talk.String())
		}
	}
}

// match reports the documents that it stored before an error: one, or both if it had read both by
// then.
func TestMatchOnFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	dir := t.TempDir()
	simdb(t, dir, "x.simdb", "--create", "COUNT")
	var talk strings.Builder
	c := exec.Command("simdb", "match", "x.simdb", "-", "--near", "3", "--add", "--input-format", "csv")
	c.Dir, c.Stdin, c.Stdout, c.Stderr = dir, strings.NewReader("id,text\na,some words\nb,quite different ones\n"), full, &talk
	c.Run()
	stored := strings.TrimSpace(simdb(t, dir, "x.simdb", "COUNT"))
	want, ok := map[string]string{
		"1": "1 document read, 1 new; 1 document stored before the error",
		"2": "2 documents read, 2 new; 2 documents stored before the error",
	}[stored]
	if code := c.ProcessState.ExitCode(); code != app.ExitError || !ok || !strings.Contains(talk.String(), want) {
		t.Errorf("%s documents are stored; exit status %d: %s", stored, code, talk.String())
	}
}

// Help fits on a terminal of 80 columns. A flag before the command makes a parser of all commands;
// its help must be the same.
func TestHelpWidth(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	for _, name := range append(slices.Sorted(maps.Keys(invocations)), "") {
		_, text, _ := simdbHere(t, append(strings.Fields(name), "--help")...)
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s --help: %d columns: %s", name, n, line)
			}
		}
		if _, all, _ := simdbHere(t, append([]string{"-q"}, append(strings.Fields(name), "--help")...)...); text != all || !strings.HasPrefix(text, "Usage: simdb") {
			t.Errorf("%s --help: %q, with all commands %q", name, text, all)
		}
	}
}
