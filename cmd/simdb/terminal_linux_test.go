package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/simdb/simdb/internal/must"
)

// terminal is the controlling side of a pseudo-terminal of 80 x 24.
type terminal struct {
	*os.File
	far  *os.File
	mu   sync.Mutex
	seen bytes.Buffer
	done chan struct{} // closed when nothing more can be shown
}

// openTerminal makes a pseudo-terminal, or skips the test if there are none.
func openTerminal(t *testing.T) *terminal {
	t.Helper()
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	t.Cleanup(func() { near.Close() })
	fd := int(near.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	far, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	return &terminal{File: near, far: far, done: make(chan struct{})}
}

// start runs simdb on the terminal and collects its output.
func (tty *terminal) start(t *testing.T, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	return tty.startTo(t, tty.far, dir, env, args...)
}

// startTo is start with another standard output.
func (tty *terminal) startTo(t *testing.T, out *os.File, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command("simdb", args...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = dir, tty.far, out, tty.far
	c.Env = append(append(os.Environ(), "TERM=xterm", "NO_COLOR=1", "COLUMNS=", "PAGER=", "SIMDB_PAGER=", "XDG_STATE_HOME="+dir, "XDG_CONFIG_HOME="+dir), env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must.Do(t, c.Start())
	tty.far.Close()
	go func() {
		defer close(tty.done)
		b := make([]byte, 4096)
		for {
			n, err := tty.Read(b)
			tty.mu.Lock()
			tty.seen.Write(b[:n])
			tty.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return c
}

func (tty *terminal) shown() string {
	tty.mu.Lock()
	defer tty.mu.Unlock()
	return strings.ReplaceAll(tty.seen.String(), "\r\n", "\n")
}

// wait waits until the terminal shows a text.
func (tty *terminal) wait(t *testing.T, what string) {
	t.Helper()
	for !strings.Contains(tty.shown(), what) {
		if end, ok := t.Deadline(); ok && time.Until(end) < 10*time.Second {
			t.Fatalf("%q is not shown, but %q", what, tty.shown())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// run runs simdb until it exits and returns its output.
func (tty *terminal) run(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	if err := tty.start(t, dir, env, args...).Wait(); err != nil {
		t.Fatalf("%v: %q", err, tty.shown())
	}
	<-tty.done // the last process on the terminal has ended, and everything is read
	return tty.shown()
}

// nearDatabase makes a database of n documents. Each is similar to 9 others.
func nearDatabase(t *testing.T, dir string, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%016x\tdocument-%d\n", uint64(i/10)*0x9e3779b97f4a7c15^1<<(i%10), i)
	}
	write(t, filepath.Join(dir, "fps.tsv"), b.String())
	simdb(t, dir, "load", "x.simdb", "fps.tsv", "--fingerprints", "hex")
	return "x.simdb"
}

// A pager gets its arguments, and nothing is drawn once it has started.
func TestPagerOnTerminal(t *testing.T) {
	dir := t.TempDir()
	db := nearDatabase(t, dir, 50)
	for _, args := range [][]string{{"pairs", db, "--near", "2"}, {db, "PAIRS NEAR 2"}} {
		out := openTerminal(t).run(t, dir, []string{"PAGER=cat -n"}, args...)
		if !regexp.MustCompile(`^ +1\t┌`).MatchString(out) || !strings.Contains(out, " 5\t") {
			t.Errorf("%v: not numbered: %q", args, out)
		}
		out = openTerminal(t).run(t, dir, []string{"PAGER=sed -e 's/document/paper/g' | tr a-z A-Z"}, args...)
		if strings.Contains(out, "document") || !strings.Contains(out, "PAPER-") {
			t.Errorf("%v: the shell was not asked: %.300q", args, out)
		}
	}
	for _, args := range [][]string{{"stats", db, "--format", "count"}, {db, "LIMIT 3", "LIMIT 2"}} { // fits
		if out := openTerminal(t).run(t, dir, []string{"PAGER=cat -n"}, args...); strings.Contains(out, " 1\t") || !strings.Contains(out, "\n") {
			t.Errorf("%v: paged: %q", args, out)
		}
	}
	// Without rows no pager is started, and messages go to the terminal.
	marker := filepath.Join(dir, "started")
	tty := openTerminal(t)
	c := tty.start(t, dir, []string{"PAGER=tee " + marker}, db, "NEAR('nobody', 3)")
	c.Wait()
	tty.wait(t, "Not found error")
	if _, err := os.Stat(marker); err == nil {
		t.Error("the pager was started for an error")
	}
}

// At a prompt, the pager shows a result that does not fit on the screen, but not one that fits.
func TestPromptPages(t *testing.T) {
	dir := t.TempDir()
	db := nearDatabase(t, dir, 100)
	tty := openTerminal(t)
	c := tty.start(t, dir, []string{"PAGER=cat -n"}, db)
	tty.wait(t, "simdb> ")
	io.WriteString(tty, "PAIRS NEAR 2 LIMIT 3;\r")
	tty.wait(t, "3 rows")
	if strings.Contains(tty.shown(), " 1\t┌") {
		t.Errorf("a short result was paged: %q", tty.shown())
	}
	io.WriteString(tty, "PAIRS NEAR 2;\r")
	tty.wait(t, "200 shown, .last shows all")
	if !strings.Contains(tty.shown(), "   1\t┌") || !strings.Contains(tty.shown(), " 203\t") {
		t.Errorf("a long result was not paged: %.3000q", tty.shown())
	}
	io.WriteString(tty, ".last\r")
	tty.wait(t, "450 rows (")
	io.WriteString(tty, "\x04")
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// A long statement shows its progress in documents on a terminal, and removes it before its rows.
func TestStatementProgressOnTerminal(t *testing.T) {
	dir := t.TempDir()
	db := nearDatabase(t, dir, 300_000)
	bar := regexp.MustCompile(`join +\[[^\]]*\] +[\d,]+ of [\d,]+ documents \(\d+ %\)`)
	for _, format := range []string{"%s|CLUSTERS NEAR %d LIMIT 2", "clusters|%s|--near|%d"} {
		drawn := false
		// Larger distances need more time: a fast machine may join at 12 bits before the first
		// drawing.
		for k := 12; k <= 20 && !drawn; k += 2 {
			args := strings.Split(fmt.Sprintf(format, db, k), "|")
			out := openTerminal(t).run(t, dir, []string{"PAGER=cat -n"}, args...)
			drawn = bar.MatchString(out)
			rows := strings.Index(out, "┌")
			if rows < 0 || strings.Contains(out[rows:], "join") || drawn && !strings.Contains(out[:rows], "\x1b[J") {
				t.Errorf("%v: the bar is drawn over the rows: %.2000q", args, out)
			}
		}
		if !drawn {
			t.Errorf("%s: no progress is shown", format)
		}
	}
}

// The reader of a pipe may write to the terminal, too: the bar is removed before the pipe gets the
// first row.
func TestProgressBeforePipe(t *testing.T) {
	dir := t.TempDir()
	db := nearDatabase(t, dir, 300_000)
	for k := 12; k <= 20; k += 2 {
		from, to, err := os.Pipe()
		must.Do(t, err)
		tty := openTerminal(t)
		c := tty.startTo(t, to, dir, nil, "pairs", db, "--near", fmt.Sprint(k))
		to.Close()
		must.Get(from.Read(make([]byte, 1)))(t)
		drawn := strings.Contains(tty.shown(), "join")
		if drawn {
			tty.wait(t, "\r\x1b[1A\x1b[J") // the pipe is full, and the rows are not at their end
		}
		from.Close()
		c.Wait()
		if drawn {
			return
		}
	}
	t.Error("no progress is shown")
}

// The answer to Ctrl-C stays visible while the command ends its work: it is written above the bar,
// and not erased with it.
func TestInterruptOnTerminal(t *testing.T) {
	hearing(t, os.Interrupt)
	dir := t.TempDir()
	must.Do(t, unix.Mkfifo(filepath.Join(dir, "in.jsonl"), 0o600))
	tty := openTerminal(t)
	c := tty.start(t, dir, nil, "dedup", "in.jsonl")
	in := must.Get(os.OpenFile(filepath.Join(dir, "in.jsonl"), os.O_WRONLY, 0))(t)
	defer in.Close()
	fmt.Fprintln(in, `{"id":"a","text":"one two three"}`)
	tty.wait(t, "read standard input ")
	tty.Write([]byte{3})
	c.Wait()
	<-tty.done
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit status %d", code)
	}
	if out := tty.shown(); !strings.Contains(out, "\x1b[J\r\x1b[Ksimdb: stopping; Ctrl-C again aborts\n") {
		t.Errorf("%q", out)
	}
}

// TestTerminalWithoutSize runs a prompt on a terminal that does not report its size: Tab completes,
// and Ctrl-C gives up a line, not the program.
func TestTerminalWithoutSize(t *testing.T) {
	dir := t.TempDir()
	db := nearDatabase(t, dir, 3)
	tty := openTerminal(t)
	must.Do(t, unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{}))
	c := tty.start(t, dir, nil, db)
	tty.wait(t, "simdb> ")
	io.WriteString(tty, "COU\t")
	tty.wait(t, "COUNT")
	io.WriteString(tty, "\x03")
	tty.wait(t, "^C")
	io.WriteString(tty, ".timer off\r\x04")
	if err := c.Wait(); err != nil {
		t.Errorf("%v: %q", err, tty.shown())
	}
}

// TestHostileOnTerminal shows ids, texts, fields and file names that contain control sequences on a
// terminal, by every command and in every format.
func TestHostileOnTerminal(t *testing.T) {
	const evil = "e\x1b[31m\x1b]0;title\x07\u009b2J\u202ex\u200f"
	dir := t.TempDir()
	var lines strings.Builder
	for _, id := range []string{evil + "1", evil + "2"} {
		j, err := json.Marshal(map[string]any{"id": id, "text": "one two three four five " + evil, "k" + evil: evil})
		must.Do(t, err)
		// encoding/json leaves these unchanged, and other programs more.
		fmt.Fprintf(&lines, "%s\n", j)
	}
	in, csv := evil+".jsonl", "e.csv"
	err := errors.Join(os.WriteFile(filepath.Join(dir, in), []byte(lines.String()), 0o666),
		os.WriteFile(filepath.Join(dir, csv), []byte("id,text\n"+evil+"1,one two "+evil+"\n"+evil+"2,one two "+evil+"\n"), 0o666))
	must.Do(t, err)
	db := "x" + evil + ".simdb"
	simdb(t, dir, "load", db, in)
	commands := [][]string{
		{"load", "y" + evil, csv}, {"load", "z", "none" + evil}, {"load", "z", csv, "--rejects", "no" + evil + "/x"},
		{"dedup", csv, "--near", "3"}, {"dedup", in, "--near", "3"}, {"match", db, csv, "--near", "0"}, {"match", db, in, "--near", "3"},
		{"why", db, evil + "1", evil + "2"}, {"hash", csv}, {"tune", csv}, {"tune", db}, {"plan", in}, {"check", db}, {"stats", db}, {"compact", db},
		{"pack", db, "p" + evil + ".sst"}, {"pack", db, "p" + evil + ".sst"}, {"ingest", db, "p" + evil + ".sst"}, {"ingest", db, in},
		{"backup", db, "b" + evil}, {"backup", db, db}, {"prune", db, "--older", "100d"},
		{db, "GET '" + evil + "1'"}, {db, "NEER '" + evil + "'"}, {db, "NEAR('" + evil + "', 3)"}, {db, "EXPLAIN NEAR('" + evil + "1', 3)"}, {db, ".read no" + evil},
		{db, ".explain on", "NEAR('" + evil + "1', 3)"}, {db, ".output no" + evil + "/x"}, {"no" + evil, "COUNT"}, {"no" + evil}, {"lod" + evil}, {"load", "--no" + evil},
		{db, `PUT {"id":"a","text":"one two three four five"} UNLESS NEAR 20`},
	}
	for _, format := range []string{"table", "tsv", "csv", "jsonl", "json", "ids"} {
		commands = append(commands, []string{"pairs", db, "--near", "3", "--format", format}, []string{db, "GET '" + evil + "1'", "--format", format},
			[]string{"clusters", db, "--near", "3", "--format", format})
	}
	shows := 0
	for _, args := range commands {
		tty := openTerminal(t)
		c := tty.start(t, dir, []string{"PAGER=cat"}, args...)
		c.Wait() // its status does not matter
		<-tty.done
		out := tty.shown()
		if strings.Contains(out, `\x1b`) || strings.Contains(out, `\u001b`) || strings.Contains(out, "\ufffd") {
			shows++
		}
		for _, bad := range []string{"\x1b]", "\x1b[31m", "\x07", "\u009b", "\u202e", "\u200f"} {
			if strings.Contains(out, bad) {
				t.Errorf("%q: %q drives the terminal: %q", args, bad, out)
				break
			}
		}
	}
	if shows < len(commands)*2/3 {
		t.Errorf("only %d of %d commands show what is hostile", shows, len(commands))
	}
}

// Ctrl-C ends the questions of learn at once, also without a line end, and keeps the answers; the next
// run goes on with them.
func TestLearnOnTerminal(t *testing.T) {
	dir := t.TempDir()
	var docs strings.Builder
	for i := range 40 {
		fmt.Fprintf(&docs, "{\"id\":\"%d\",\"text\":\"%s and some words\"}\n", i, strings.Repeat(fmt.Sprintf("w%d ", i/2), 4+i%2))
	}
	write(t, filepath.Join(dir, "docs.jsonl"), docs.String())
	const prompt = "y(es), n(o), s(kip), b(ack), q(uit): "
	answer := func(tty *terminal, lines ...string) {
		for i, line := range lines {
			for strings.Count(tty.shown(), prompt) < i+1 {
				time.Sleep(time.Millisecond)
			}
			io.WriteString(tty, line)
		}
	}
	for _, tc := range []struct {
		args    string
		answers []string
		status  int
		labels  int
		shows   string
	}{
		{"", []string{"q\r"}, 2, -1, "no question was answered"}, // and there is no file
		{"", []string{"y\r", "b\r", "q\r"}, 2, -1, "no question was answered"},
		{"", []string{"y\r", "what?\r", "n\r", "b\r", "\x03"}, 130, 1, "1 new answer in r.labels.jsonl: the same command with --ask N goes on"},
		{"--ask 2", []string{"y\r", "n\r"}, 0, 3, "\nsimdb dedup docs.jsonl --rule r -o kept.jsonl\n"},
		{"--ask 5", []string{"\x04"}, 0, 3, "(Wilson)"},
		{"--ask 5", []string{"s\r", "q\r"}, 0, 3, "\n2 of 5: "},
	} {
		tty := openTerminal(t)
		c := tty.start(t, dir, nil, append([]string{"learn", "docs.jsonl", "-o", "r"}, strings.Fields(tc.args)...)...)
		answer(tty, tc.answers...)
		c.Wait()
		<-tty.done
		lines, path := -1, filepath.Join(dir, "r.labels.jsonl")
		if _, err := os.Stat(path); err == nil {
			lines = strings.Count(string(readFile(t, path)), "\n")
		}
		if shown := strings.ReplaceAll(tty.shown(), "\r", ""); c.ProcessState.ExitCode() != tc.status || lines != tc.labels || !strings.Contains(shown, tc.shows) || strings.Contains(shown, "\x1b[3") {
			t.Errorf("%+v: exit status %d, %d labels, %q", tc, c.ProcessState.ExitCode(), lines, shown)
		}
	}
}
