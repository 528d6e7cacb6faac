package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// resumed has a corpus, and runs of dedup on it that are killed.
type resumed struct {
	t         *testing.T
	dir, tmp  string
	args      []string
	want      []byte
	wantAudit []byte
}

func newResumed(t *testing.T, n int) *resumed {
	t.Helper()
	x := &resumed{t: t, dir: t.TempDir(), args: []string{"dedup", "in.jsonl", "--jaccard", "0.7", "--keep", "longest", "--temp-dir", "tmp", "--audit", "audit.jsonl", "--rejects", "bad.jsonl"}}
	x.tmp = filepath.Join(x.dir, "tmp")
	if err := os.Mkdir(x.tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	x.write("in.jsonl", []byte(family(rand.New(rand.NewPCG(7, 8)), n)))
	x.want = []byte(simdb(t, x.dir, x.args...))
	x.wantAudit = append(x.read("audit.jsonl"), x.read("bad.jsonl")...)
	return x
}

func (x *resumed) write(name string, data []byte) {
	x.t.Helper()
	if err := os.WriteFile(filepath.Join(x.dir, name), data, 0o666); err != nil {
		x.t.Fatal(err)
	}
}

func (x *resumed) read(name string) []byte {
	x.t.Helper()
	data, err := os.ReadFile(filepath.Join(x.dir, name))
	if err != nil {
		x.t.Fatal(err)
	}
	return data
}

// start starts a run that stands still while it writes, as nobody reads its output.
func (x *resumed) start() (*exec.Cmd, io.Closer) {
	x.t.Helper()
	c := exec.Command("simdb", x.args...)
	c.Dir = x.dir
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		x.t.Fatal(err)
	}
	return c, out
}

// note waits until the run has noted what it has decided.
func (x *resumed) note() string {
	x.t.Helper()
	for range 1000 {
		if notes, _ := filepath.Glob(filepath.Join(x.tmp, "simdb-*", "decided")); len(notes) == 1 {
			return notes[0]
		}
		time.Sleep(10 * time.Millisecond)
	}
	x.t.Fatal("no note after ten seconds")
	return ""
}

// resume ends the killed run and checks a run with --resume against an undisturbed one. It returns
// what the run says.
func (x *resumed) resume(killed *exec.Cmd, out io.Closer, more ...string) string {
	x.t.Helper()
	killed.Process.Kill()
	out.Close()
	killed.Wait()
	os.Remove(filepath.Join(x.dir, "audit.jsonl"))
	c := exec.Command("simdb", append(append([]string{}, x.args...), append(more, "--resume")...)...)
	c.Dir = x.dir
	var talk bytes.Buffer
	c.Stderr = &talk
	got, err := c.Output()
	if err != nil {
		x.t.Fatalf("%v: %s", err, talk.String())
	}
	if len(more) == 0 && (!bytes.Equal(got, x.want) || !bytes.Equal(append(x.read("audit.jsonl"), x.read("bad.jsonl")...), x.wantAudit)) {
		x.t.Errorf("resumed, it is another run:\n%s", talk.String())
	}
	if left, err := os.ReadDir(x.tmp); err != nil || len(left) > 0 {
		x.t.Errorf("temporary files are left: %v %v", left, err)
	}
	return talk.String()
}

const (
	wentOn    = "resumed after all documents were compared"
	startOver = "all is compared"
)

// TestResume kills runs that write, and goes on after them: only with the same flags, on the same
// files, after a note that is whole.
func TestResume(t *testing.T) {
	x := newResumed(t, 2500)
	check := func(what, said, want string) {
		t.Helper()
		if !strings.Contains(said, want) {
			t.Errorf("%s, it does not say %q:\n%s", what, want, said)
		}
	}
	c, out := x.start()
	x.note()
	check("killed", x.resume(c, out), wentOn)
	c, out = x.start()
	x.note()
	check("with other flags", x.resume(c, out, "--keep", "shortest"), startOver)
	c, out = x.start()
	x.note()
	check("with another threshold", x.resume(c, out, "--jaccard", "0.75"), startOver)
	c, out = x.start()
	note := x.note()
	data, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(note, data, 0o666); err != nil {
		t.Fatal(err)
	}
	check("damaged", x.resume(c, out), startOver)
	c, out = x.start()
	if err := os.Truncate(x.note(), 1000); err != nil {
		t.Fatal(err)
	}
	check("cut", x.resume(c, out), startOver)
	c, out = x.start()
	x.note()
	x.write("in.jsonl", bytes.Replace(x.read("in.jsonl"), []byte(" w1"), []byte(" v1"), 1))
	check("on another file", x.resume(c, out, "--jaccard", "0.7"), startOver)
}

// TestResumeAnywhere kills runs at random moments.
func TestResumeAnywhere(t *testing.T) {
	x := newResumed(t, 2500)
	r := rand.New(rand.NewPCG(9, 10))
	for range 4 {
		c, out := x.start()
		time.Sleep(time.Duration(r.IntN(120)) * time.Millisecond)
		x.resume(c, out)
	}
}
