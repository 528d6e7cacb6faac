package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
)

// TestDedupIsTheSame runs dedup with much and little memory, on several numbers of threads, from a
// file and from a pipe. The results must be equal.
func TestDedupIsTheSame(t *testing.T) {
	licences := must.Get(filepath.Abs("../../examples/licenses.jsonl.gz"))(t)
	for i := range exhaustive.Some(t, 3, 3) {
		by := [][]string{{"--jaccard", "0.7", "--keep", "longest"}, {"--near", "8"}, {"--near", "10", "--verify", "0.6"}}[i]
		var want []byte
		for _, threads := range []string{"1", "2", "8"} {
			dir := t.TempDir()
			tmp := filepath.Join(dir, "tmp")
			must.Do(t, os.Mkdir(tmp, 0o777))
			args := append([]string{"dedup", "-", "-q", "-o", "kept.jsonl", "--memory", map[string]string{"1": "1MiB", "2": "4MiB", "8": "256MiB"}[threads], "--temp-dir", tmp}, by...)
			if threads == "2" {
				args[1] = licences
			}
			in := must.Get(os.Open(licences))(t)
			defer in.Close()
			c := exec.Command("simdb", args...)
			c.Dir, c.Stdin, c.Env = dir, in, append(os.Environ(), "GOMAXPROCS="+threads)
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			kept := readFile(t, filepath.Join(dir, "kept.jsonl"))
			audit := readFile(t, filepath.Join(dir, "kept.audit.jsonl"))
			name := must.Get(json.Marshal(licences))(t)
			_, audit, _ = bytes.Cut(bytes.ReplaceAll(audit, name, []byte(`"stdin"`)), []byte("\n"))
			got := append(kept, audit...)
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%v: on %s threads %d bytes, not the same %d", by, threads, len(got), len(want))
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("%v: temporary files are left: %v %v", by, left, err)
			}
		}
	}
}

// TestSweep kills a run. The next run with the same temporary folder must remove its files, but
// none of a run that is still working.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	tmp := filepath.Join(dir, "tmp")
	must.Do(t, os.Mkdir(tmp, 0o777))
	start := func(gone string) (*exec.Cmd, io.WriteCloser, string) {
		c := exec.Command("simdb", "dedup", "-", "-q", "--temp-dir", tmp)
		in, _ := piped(t, c)
		for { // go test ends the wait at the latest
			if spools, _ := filepath.Glob(filepath.Join(tmp, "*", "input-0")); len(spools) == 1 && spools[0] != gone {
				return c, in, spools[0]
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	dead, _, left := start("")
	dead.Process.Kill()
	dead.Wait()
	alive, in, _ := start(left)
	defer in.Close()
	if left, _ := os.ReadDir(tmp); len(left) != 1 {
		t.Errorf("beside a run, and after a killed one: %v", left)
	}
	simdb(t, dir, "dedup", os.DevNull, "--input-format", "jsonl", "-q", "--temp-dir", tmp)
	if left, _ := os.ReadDir(tmp); len(left) != 1 {
		t.Errorf("while a run is at work: %v", left)
	}
	in.Close()
	if err := alive.Wait(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(tmp); len(left) != 0 {
		t.Errorf("at the end: %v", left)
	}
}
