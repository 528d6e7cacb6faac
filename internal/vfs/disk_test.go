package vfs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

func write(t *testing.T, fs vfs.FS, name, content string) {
	t.Helper()
	if err := vfstest.WriteFile(fs, name, content); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, fs vfs.FS, name string) string {
	t.Helper()
	content, err := vfstest.ReadFile(fs, name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestAppendAfterTruncate(t *testing.T) {
	for name, fs := range map[string]vfs.FS{filepath.Join(t.TempDir(), "a"): vfs.Disk, "a": vfstest.NewMem("")} {
		write(t, fs, name, "0123456789")
		f, err := fs.Append(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(4); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("xy")); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got := read(t, fs, name); got != "0123xy" {
			t.Errorf("%T: %q", fs, got)
		}
	}
}

func TestLock(t *testing.T) {
	for name, fs := range map[string]vfs.FS{filepath.Join(t.TempDir(), "LOCK"): vfs.Disk, "LOCK": vfstest.NewMem("")} {
		l, err := fs.Lock(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = fs.Lock(name)
		var locked *vfs.LockedError
		if !errors.As(err, &locked) || !errors.Is(err, vfs.ErrLocked) || locked.PID != os.Getpid() || locked.File != name {
			t.Errorf("%T: %v", fs, err)
		}
		for range 2 {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
		l2, err := fs.Lock(name)
		if err != nil {
			t.Fatal(err)
		}
		l.Close() // a second Close of the first lock must not release the second lock
		if _, err := fs.Lock(name); !errors.Is(err, vfs.ErrLocked) {
			t.Errorf("%T: %v", fs, err)
		}
		l2.Close()
	}
}

// childLock keeps the child's lock reachable: a collected lock is released.
var childLock io.Closer

// TestLockOfOtherProcess starts this test again as a child that acquires the lock and is killed.
func TestLockOfOtherProcess(t *testing.T) {
	const variable = "VFS_TEST_LOCK"
	if name := os.Getenv(variable); name != "" {
		var err error
		if childLock, err = vfs.Disk.Lock(name); err != nil {
			t.Fatal(err)
		}
		fmt.Println("locked")
		select {}
	}
	name := filepath.Join(t.TempDir(), "LOCK")
	child := exec.Command(os.Args[0], "-test.run=^TestLockOfOtherProcess$")
	child.Env = append(os.Environ(), variable+"="+name)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatal(line, err)
	}
	_, err = vfs.Disk.Lock(name)
	var locked *vfs.LockedError
	if !errors.As(err, &locked) || locked.PID != child.Process.Pid {
		t.Errorf("%v, want pid %d", err, child.Process.Pid)
	}
	child.Process.Kill()
	child.Wait()
	l, err := vfs.Disk.Lock(name)
	if err != nil {
		t.Fatalf("the lock of the dead: %v", err)
	}
	l.Close()
}

// TestRootStays renames an open directory and puts another one in its place. The Root still refers
// to the original directory.
func TestRootStays(t *testing.T) {
	parent := t.TempDir()
	dir, moved := filepath.Join(parent, "dir"), filepath.Join(parent, "moved")
	for _, d := range []string{dir, filepath.Join(parent, "other")} {
		if err := vfs.Disk.MkdirAll(d); err != nil {
			t.Fatal(err)
		}
	}
	root, err := vfs.Disk.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	write(t, root, "a", "one")
	err = errors.Join(os.Rename(dir, moved), os.Rename(filepath.Join(parent, "other"), dir))
	if err != nil {
		t.Skip("an open directory cannot be renamed here:", err)
	}
	write(t, root, "b", "two")
	lock, err := root.Lock("LOCK")
	if err == nil {
		err = errors.Join(root.Rename("a", "c"), root.SyncDir("."), lock.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	in, err := vfs.Disk.List(moved)
	if want := []string{"LOCK", "b", "c"}; err != nil || !slices.Equal(in, want) {
		t.Errorf("%q, %v", in, err)
	}
	if in, err := vfs.Disk.List(dir); err != nil || len(in) > 0 {
		t.Errorf("in the other directory: %q, %v", in, err)
	}
	if _, err := root.Create("../out"); err == nil {
		t.Error("a name led out of the directory")
	}
	var path *os.PathError
	if _, err := root.Open("none"); !errors.As(err, &path) || path.Path != filepath.Join(dir, "none") {
		t.Errorf("the error does not name the whole path: %v", err)
	}
}

// TestNothingIsReplaced checks that Create and RenameNew do not change existing files or links.
func TestNothingIsReplaced(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, vfs.Disk, at("victim"), "precious")
	write(t, vfs.Disk, at("new"), "new")
	for link, to := range map[string]string{"link": at("victim"), "dangling": at("nowhere")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Skip(err)
		}
		if st, err := os.Lstat(at(link)); err != nil || st.Mode()&os.ModeSymlink == 0 {
			t.Skip("no links that lead nowhere can be made here:", err) // dangling links are impossible under Wine
		}
	}
	root, err := vfs.Disk.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"victim", "link", "dangling"} {
		if _, err := vfs.Disk.Create(at(name)); !errors.Is(err, iofs.ErrExist) {
			t.Errorf("Create of %s: %v", name, err)
		}
		if err := vfs.Disk.RenameNew(at("new"), at(name)); !errors.Is(err, iofs.ErrExist) {
			t.Errorf("RenameNew to %s: %v", name, err)
		}
		if err := root.RenameNew("new", name); !errors.Is(err, iofs.ErrExist) {
			t.Errorf("RenameNew to %s in a root: %v", name, err)
		}
	}
	if got := read(t, vfs.Disk, at("victim")); got != "precious" {
		t.Errorf("%q", got)
	}
	if err := errors.Join(vfs.Disk.RenameNew(at("new"), at("two")), root.RenameNew("two", "three")); err != nil {
		t.Error(err)
	}
	if got := read(t, vfs.Disk, at("three")); got != "new" {
		t.Errorf("%q", got)
	}
	if names, _ := vfs.Disk.List(dir); !slices.Equal(names, []string{"dangling", "link", "three", "victim"}) {
		t.Errorf("left: %q", names)
	}
}
