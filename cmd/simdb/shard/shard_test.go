package shard

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// run runs a job with workers of the file driver and returns its exit status.
func run(t *testing.T, o Options, workers int) int {
	t.Helper()
	o, err := Plan(t.Context(), o, Local{})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Save(); err != nil {
		t.Fatal(err)
	}
	j, err := Open(o.Work)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range j.Steps() {
		for w := range workers {
			if err := j.RunStep(t.Context(), s.Name, w, workers); err != nil {
				t.Fatal(err)
			}
		}
	}
	status, err := j.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// simdb builds the program.
func simdb(t *testing.T) func(args ...string) []byte {
	program := filepath.Join(t.TempDir(), "simdb")
	if out, err := exec.Command("go", "build", "-o", program, "..").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return func(args ...string) []byte {
		out, err := exec.Command(program, args...).CombinedOutput()
		if err != nil && err.(*exec.ExitError).ExitCode() != 2 {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return out
	}
}

// TestDedup compares the outputs of a job with those of one machine.
func TestDedup(t *testing.T) {
	one := simdb(t)
	dir := t.TempDir()
	inputs := split(t, "../../../examples/licenses.jsonl.gz", dir, 7)
	for _, flags := range [][]string{{"--jaccard", "0.8"}, {"--near", "3"}, {"--near", "6"}, {"--near", "12", "--bits", "128"}} {
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			want, got := filepath.Join(t.TempDir(), "want")+"/", filepath.Join(t.TempDir(), "got")+"/"
			one(append(append([]string{"dedup", "-o", want, "--no-audit-pairs"}, flags...), inputs...)...)
			run(t, Options{Command: "dedup", Args: slices.Concat(flags, inputs, []string{"-o", got}), Work: t.TempDir() + "/work", Shards: 3, Groups: 5, MaxCell: 100}, 2)
			sameFolder(t, want, got)
		})
	}
}

// sameFolder checks that two folders have the same files.
func sameFolder(t *testing.T, want, got string) {
	t.Helper()
	names := func(dir string) (names []string) {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			names = append(names, e.Name())
		}
		return names
	}
	if a, b := fmt.Sprint(names(want)), fmt.Sprint(names(got)); a != b {
		t.Fatalf("files %s, want %s", b, a)
	}
	for _, name := range names(want) {
		a, _ := os.ReadFile(filepath.Join(want, name))
		b, _ := os.ReadFile(filepath.Join(got, name))
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs: %d bytes, want %d; %s", name, len(b), len(a), firstDifference(b, a))
		}
	}
}

func firstDifference(a, b []byte) string {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Sprintf("line %d: %.400s, want %.400s", i+1, x[i], y[i])
		}
	}
	return "one has more lines"
}

// split writes the lines of a file into n files, and returns their names.
func split(t *testing.T, name, dir string, n int) (names []string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	for i := range n {
		part := filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", i))
		if err := os.WriteFile(part, bytes.Join(lines[i*len(lines)/n:(i+1)*len(lines)/n], nil), 0o666); err != nil {
			t.Fatal(err)
		}
		names = append(names, part)
	}
	return names
}
