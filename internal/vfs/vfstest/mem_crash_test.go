package vfstest

import (
	"errors"
	iofs "io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/vfs"
)

func open(t *testing.T, fs vfs.FS, name string) vfs.File {
	t.Helper()
	f, err := fs.Append(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outcomes returns the different contents of a file after many crashes; "-" stands for a missing
// file.
func outcomes(t *testing.T, fs *Mem, name string, keep float64) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	for seed := range uint64(200) {
		content, ok := read(t, fs.CrashClone(keep, seed), name)
		if !ok {
			content = "-"
		}
		seen[content] = true
	}
	return seen
}

func sole(t *testing.T, what string, seen map[string]bool, want ...string) {
	t.Helper()
	for _, w := range want {
		if !seen[w] {
			t.Errorf("%s: never %.20q", what, w)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("%s: %d different outcomes instead of %d", what, len(seen), len(want))
	}
}

func TestNameNeedsSyncDir(t *testing.T) {
	fs := NewMem("")
	write(t, fs, "a", "synced")
	sole(t, "before SyncDir, 0", outcomes(t, fs, "a", 0), "-")
	sole(t, "before SyncDir, half", outcomes(t, fs, "a", .5), "-", "synced")
	sole(t, "before SyncDir, 1", outcomes(t, fs, "a", 1), "synced")
	must(t, fs.SyncDir("."))
	sole(t, "after SyncDir", outcomes(t, fs, "a", 0), "synced")

	must(t, fs.Rename("a", "b"))
	for seed := range uint64(100) {
		after := fs.CrashClone(.5, seed)
		if _, a := read(t, after, "a"); a {
			if _, b := read(t, after, "b"); b {
				t.Fatal("a rename was kept by half")
			}
		} else if got, b := read(t, after, "b"); !b || got != "synced" {
			t.Fatal("a rename lost the file")
		}
	}
	must(t, fs.SyncDir("."))
	must(t, fs.Remove("b"))
	sole(t, "removed", outcomes(t, fs, "b", .5), "synced", "-")
	must(t, fs.SyncDir("."))
	sole(t, "removed and synced", outcomes(t, fs, "b", .5), "-")

	must(t, fs.MkdirAll("dir"))
	write(t, fs, "dir/a", "x")
	must(t, fs.SyncDir("dir"))
	sole(t, "in an unsynced directory", outcomes(t, fs, "dir/a", 0), "-")
	must(t, fs.SyncDir("."))
	sole(t, "in a synced directory", outcomes(t, fs, "dir/a", 0), "x")
}

func TestUnsyncedContent(t *testing.T) {
	fs := NewMem("")
	write(t, fs, "a", "one")
	must(t, fs.SyncDir("."))
	f := open(t, fs, "a")
	_, err := f.Write([]byte("two"))
	must(t, err)
	sole(t, "keep 0", outcomes(t, fs, "a", 0), "one")
	sole(t, "keep 1", outcomes(t, fs, "a", 1), "onetwo")
	for content := range outcomes(t, fs, "a", .5) {
		// The new bytes are in one sector: up to the surviving size, all survive or all are zero.
		tail := content[3:]
		if !strings.HasPrefix(content, "one") || !strings.HasPrefix("two", tail) && !strings.HasPrefix("\x00\x00\x00", tail) {
			t.Errorf("%q", content)
		}
	}
	must(t, f.Sync())
	sole(t, "synced", outcomes(t, fs, "a", .5), "onetwo")
	must(t, f.Truncate(1))
	sole(t, "truncated, keep 0", outcomes(t, fs, "a", 0), "onetwo")
	sole(t, "truncated, keep 1", outcomes(t, fs, "a", 1), "o")
	_, err = f.Write([]byte("!"))
	must(t, err)
	sole(t, "written after, keep 0", outcomes(t, fs, "a", 0), "onetwo")
	sole(t, "written after, keep 1", outcomes(t, fs, "a", 1), "o!")
}

// TestTornSectors checks that each sector of a long unsynced write survives or is zero
// independently, in every combination.
func TestTornSectors(t *testing.T) {
	fs := NewMem("")
	write(t, fs, "a", "")
	must(t, fs.SyncDir("."))
	_, err := open(t, fs, "a").Write([]byte(strings.Repeat("x", 3*sectorSize)))
	must(t, err)
	patterns := map[string]bool{}
	for content := range outcomes(t, fs, "a", .5) {
		if len(content) != 3*sectorSize {
			continue // the size has not survived
		}
		pattern := ""
		for i := range 3 {
			sector := content[i*sectorSize:][:sectorSize]
			if sector != strings.Repeat(sector[:1], sectorSize) {
				t.Fatal("a sector is torn")
			}
			pattern += sector[:1]
		}
		patterns[pattern] = true
	}
	if len(patterns) != 8 {
		t.Errorf("%d patterns of 8", len(patterns))
	}
}

func TestCrashAt(t *testing.T) {
	script := func(fs vfs.FS) error {
		if err := fs.MkdirAll("d"); err != nil { // 1
			return err
		}
		f, err := fs.Create("d/a") // 2
		if err != nil {
			return err
		}
		if _, err := f.Write([]byte("x")); err != nil { // 3
			return err
		}
		if err := f.Sync(); err != nil { // 4
			return err
		}
		if _, err := fs.List("d"); err != nil {
			return err
		}
		return fs.SyncDir("d") // 5
	}
	for op := 1; op <= 6; op++ {
		fs := NewMem("")
		fs.CrashAt(op)
		err := script(fs)
		if crashed := op <= 5; errors.Is(err, ErrCrashed) != crashed || fs.Crashed() != crashed || fs.Ops() != min(op, 5) {
			t.Errorf("crash at %d: %v, %d operations", op, err, fs.Ops())
		}
		if _, err := fs.Stat("d"); (err != nil) != (op <= 5) {
			t.Errorf("crash at %d: Stat: %v", op, err)
		}
		content, ok := read(t, fs.CrashClone(1, 0), "d/a")
		if want := []string{"", "", "", "x", "x", "x"}[op-1]; content != want || ok != (op > 2) {
			t.Errorf("crash at %d: %q, %v", op, content, ok)
		}
	}
}

// TestCloneIsIndependent checks that changes of a clone do not affect the original, and vice versa,
// and that a clone has no unsynced data.
func TestCloneIsIndependent(t *testing.T) {
	fs := NewMem("")
	write(t, fs, "a", strings.Repeat("a", 100))
	must(t, fs.SyncDir("."))
	if _, err := fs.Lock("LOCK"); err != nil {
		t.Fatal(err)
	}
	clone := fs.CrashClone(1, 0)
	if _, err := clone.Lock("LOCK"); err != nil {
		t.Errorf("the lock survived: %v", err)
	}
	for i, side := range []*Mem{fs, clone} {
		f := open(t, side, "a")
		must(t, f.Truncate(50))
		_, err := f.Write([]byte{byte('0' + i)})
		must(t, err)
	}
	for i, side := range []*Mem{fs, clone} {
		want := strings.Repeat("a", 50) + string(rune('0'+i))
		if got, _ := read(t, side, "a"); got != want {
			t.Errorf("side %d: %q", i, got)
		}
		sole(t, "side", outcomes(t, side, "a", 0), strings.Repeat("a", 100))
	}
	names, err := clone.CrashClone(0, 0).List(".")
	if err != nil || !slices.Equal(names, []string{"LOCK", "a"}) {
		t.Errorf("%q, %v", names, err)
	}
}

func TestSeedDecides(t *testing.T) {
	fs := NewMem("")
	for _, name := range []string{"a", "b", "c", "d"} {
		write(t, fs, name, "x")
	}
	for seed := range uint64(50) {
		one, err1 := fs.CrashClone(.5, seed).List(".")
		two, err2 := fs.CrashClone(.5, seed).List(".")
		if err1 != nil || err2 != nil || !slices.Equal(one, two) {
			t.Fatalf("%q and %q", one, two)
		}
	}
}

func TestHandleOutlivesName(t *testing.T) {
	fs := NewMem("")
	write(t, fs, "a", "x")
	f := open(t, fs, "a")
	must(t, fs.Remove("a"))
	_, err := f.Write([]byte("y"))
	must(t, err)
	if size, err := f.Size(); size != 2 || err != nil {
		t.Error(size, err)
	}
	if _, err := fs.Open("a"); !errors.Is(err, iofs.ErrNotExist) {
		t.Error(err)
	}
}

// TestKilledAtCommit kills a process at the end of a commit, or after it, and then cuts the power.
// Only in the first case may the last fsync be missing.
func TestKilledAtCommit(t *testing.T) {
	for _, within := range []string{".", "folder"} {
		mem := NewMem(t.TempDir())
		left := map[OpKind]string{} // by the operation before which the process is killed
		kill := func(op Op) error {
			if op.Kind == OpCommitted || op.Kind == OpRemove {
				killed := mem.KillClone()
				left[op.Kind], _ = read(t, killed.CrashClone(0, 1), path.Join(within, "a"))
				killed.Discard()
			}
			return nil
		}
		if err := errors.Join(mem.MkdirAll(within), mem.SyncDir(".")); err != nil {
			t.Fatal(err)
		}
		fs, err := NewFaulty(mem, nil).OpenRoot(within)
		if err != nil {
			t.Fatal(err)
		}
		write(t, fs, "a", "before")
		f, err := fs.HostFile("a", os.O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		commit := func(content string) error {
			return fs.Commit("a", func() error {
				_, err := f.WriteAt([]byte(content), 0)
				return err
			})
		}
		if err := errors.Join(commit("first!"), fs.SyncDir(".")); err != nil {
			t.Fatal(err)
		}
		fs.(faultyRoot).SetInject(kill)
		if err := commit("second"); err != nil {
			t.Fatal(err)
		}
		fs.Remove("none") // any operation
		if left[OpCommitted] != "first!" || left[OpRemove] != "second" {
			t.Errorf("in %s: killed at the end of a commit %q is left, behind it %q", within, left[OpCommitted], left[OpRemove])
		}
		f.Close()
		mem.Discard()
	}
}
