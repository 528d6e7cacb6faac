package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
	"github.com/simdb/simdb/records/inputs"
)

// failsFull runs a command that must fail because the disk is full.
func failsFull(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("simdb", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), unix.ENOSPC.Error()) {
		t.Errorf("%v on a full disk: %v: %s", args, err, out)
	}
}

// TestFullDiskApply applies decisions on a full disk: nothing is deleted. Once there is space,
// everything is.
func TestFullDiskApply(t *testing.T) {
	disk, dir := vfstest.SmallDisk(t, 1), t.TempDir()
	var docs, decided strings.Builder
	const n = 4000
	for i := range n {
		fmt.Fprintf(&docs, `{"id":"document-%d","fingerprint":"%016x"}`+"\n", i, uint64(i)*0x9e3779b97f4a7c15)
		if i > 0 {
			fmt.Fprintf(&decided, `{"a":"document-%d","b":"document-0","decision":"drop"}`+"\n", i)
		}
	}
	for name, text := range map[string]string{"in.jsonl": docs.String(), "decisions.jsonl": decided.String()} {
		write(t, filepath.Join(dir, name), text)
	}
	db, filler := filepath.Join(disk, "db"), filepath.Join(disk, "filler")
	simdb(t, dir, "load", db, "in.jsonl", "-q")
	f, err := os.Create(filler)
	must.Do(t, err)
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	failsFull(t, dir, "apply", db, "decisions.jsonl")
	if got := strings.TrimSpace(simdb(t, dir, db, "--readonly", "COUNT ID LIKE '%'")); got != fmt.Sprint(n) {
		t.Errorf("%s documents are left on the full disk, not %d", got, n)
	}
	must.Do(t, os.Remove(filler))
	must.Do(t, f.Close())
	simdb(t, dir, "apply", db, "decisions.jsonl", "-q")
	if got := strings.TrimSpace(simdb(t, dir, db, "COUNT ID LIKE '%'")); got != "1" {
		t.Errorf("%s documents are left, not 1", got)
	}
}

// TestFullDiskMakers makes databases and files on a disk that becomes full. Outputs that must be
// complete leave nothing behind and are not reported as created, and once there is space the same
// command makes them.
func TestFullDiskMakers(t *testing.T) {
	dir := t.TempDir()
	const docs = 3000
	makeInputs(t, dir, docs)
	for m := range exhaustive.Some(t, 4, len(makes)) {
		c := makes[m]
		t.Run(c.args, func(t *testing.T) {
			const size = 8
			disk := vfstest.SmallDisk(t, size)
			t.Setenv("TMPDIR", disk)
			args := strings.Fields(strings.ReplaceAll(c.args, "{new}", filepath.Join(disk, "new")))
			clear := func() (left []string) {
				entries := must.Get(os.ReadDir(disk))(t)
				for _, e := range entries {
					left = append(left, e.Name())
					must.Do(t, os.RemoveAll(filepath.Join(disk, e.Name())))
				}
				return left
			}
			simdb(t, dir, args...)
			var st unix.Statfs_t
			must.Do(t, unix.Statfs(disk, &st))
			whole := int64(st.Blocks-st.Bfree) * int64(st.Bsize)
			clear()
			for quarters := range int64(4) {
				filler := filepath.Join(disk, "filler")
				write(t, filler, strings.Repeat("x", int(size<<20-whole*quarters/4)))
				err := runKilled(dir, time.Minute, args...)
				if err == nil || strings.Count(err.Error(), unix.ENOSPC.Error()) != 1 || !c.part && strings.Contains(err.Error(), "created") {
					t.Errorf("with %d quarters of its size: %v", quarters, err)
				}
				must.Do(t, os.Remove(filler))
				if !c.part {
					if left := clear(); len(left) > 0 {
						t.Errorf("with %d quarters of its size it leaves %v", quarters, left)
					}
				}
				simdb(t, dir, args...)
				want := strconv.Itoa(docs)
				if args[0] == "create" {
					want = "0"
				}
				if n := countOf(t, disk, c.args, "new"); n != want {
					t.Errorf("%s documents of %s", n, want)
				}
				clear()
			}
		})
	}
}

// TestFullDiskLevel has a disk for temporary files that is too small for --level. It must return an
// error, and leave neither an output nor temporary files.
func TestFullDiskLevel(t *testing.T) {
	disk, dir := vfstest.SmallDisk(t, 1), t.TempDir()
	var docs strings.Builder
	for i := range 100 {
		fmt.Fprintf(&docs, `{"id":"%d","text":"`, i)
		for j := range 1000 {
			fmt.Fprintf(&docs, `w%d %d\n`, i, j)
		}
		docs.WriteString("\"}\n")
	}
	write(t, filepath.Join(dir, "in.jsonl"), docs.String())
	failsFull(t, dir, "dedup", "in.jsonl", "-o", "kept.jsonl", "-q", "--level", "line", "--min-words", "1", "--memory", "1MiB", "--temp-dir", disk)
	for _, pattern := range []string{filepath.Join(dir, "kept*"), filepath.Join(disk, "*")} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			t.Errorf("it leaves %v", left)
		}
	}
}

// A file name that is not UTF-8 works byte for byte in every argument and output.
func TestNamesOfBytes(t *testing.T) {
	newFolder(t)
	text, err := os.ReadFile("in.jsonl")
	if err == nil {
		err = os.WriteFile("in\xff.jsonl", text, 0o666)
	}
	must.Do(t, err)
	for _, args := range [][]string{
		{"dedup", "in\xff.jsonl", "-o", "kept\xfe.jsonl"},
		{"dedup", "in.jsonl", "in\xff.jsonl", "-o", "out\xfd/"},
		{"load", "db\xff.simdb", "in\xff.jsonl"},
		{"db\xff.simdb", ".output rows\xff.csv", "COUNT"},
	} {
		if code, _, talk := simdbHere(t, args...); code != 0 {
			t.Errorf("simdb %q: exit status %d\n%s", args, code, talk)
		}
	}
	for _, name := range []string{"kept\xfe.jsonl", "kept\xfe.audit.jsonl", "out\xfd/in\xff.jsonl", "db\xff.simdb", "rows\xff.csv"} {
		if !inputs.Exists(name) {
			t.Errorf("there is no %q", name)
		}
	}
}

// An output to an open file writes no audit beside the name that the system gives the file.
func TestOutputToOpenFile(t *testing.T) {
	dir := newFolder(t)
	f, err := os.Create("out")
	must.Do(t, err)
	defer f.Close()
	cmd := exec.Command("simdb", "dedup", "in.jsonl", "-o", "/dev/fd/3", "-q")
	cmd.Dir, cmd.ExtraFiles = dir, []*os.File{f}
	out, err := cmd.CombinedOutput()
	if st, _ := f.Stat(); err != nil || st.Size() == 0 {
		t.Errorf("%v: %s", err, out)
	}
}
