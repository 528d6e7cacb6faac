package vfs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

func write(t rapid.TB, fs FS, name, content string) {
	t.Helper()
	f, err := fs.Create(name)
	if err == nil {
		_, err = f.Write([]byte(content))
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// read returns a file's content, and whether it is there.
func read(t rapid.TB, fs FS, name string) (string, bool) {
	t.Helper()
	f, err := fs.Open(name)
	if errors.Is(err, iofs.ErrNotExist) {
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil {
		t.Fatal(err)
	}
	return string(data), true
}

// kindOf reduces an error to what callers may ask about it.
func kindOf(err error) string {
	for _, kind := range []error{iofs.ErrNotExist, iofs.ErrExist, iofs.ErrClosed, ErrLocked, io.EOF} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	if err != nil {
		return "error"
	}
	return ""
}

// side is one of two file systems under the same operations, with its open files.
type side struct {
	fs    FS
	root  string
	files map[int]File
	locks map[string]io.Closer
}

func (s *side) path(name string) string { return filepath.Join(s.root, name) }

// do runs one operation and returns its outcome as text.
func (s *side) do(op, name, other string, handle, n int) string {
	f := s.files[handle]
	open := func(f File, err error) string {
		if err == nil {
			s.files[handle] = f
		}
		return kindOf(err)
	}
	switch op {
	case "create":
		return open(s.fs.Create(s.path(name)))
	case "open":
		return open(s.fs.Open(s.path(name)))
	case "append":
		return open(s.fs.Append(s.path(name)))
	case "remove":
		return kindOf(s.fs.Remove(s.path(name)))
	case "removeall":
		return kindOf(s.fs.RemoveAll(s.path(name)))
	case "rename":
		return kindOf(s.fs.Rename(s.path(name), s.path(other)))
	case "renamenew":
		if err := s.fs.RenameNew(s.path(name), s.path(other)); err != nil { // as mkdir; TestNothingIsReplaced looks closer
			return "error"
		}
		return ""
	case "mkdir":
		if err := s.fs.MkdirAll(s.path(name)); err != nil { // systems differ in what they call a file that is in the way
			return "error"
		}
		return ""
	case "list":
		names, err := s.fs.List(s.path(name))
		return fmt.Sprint(names, kindOf(err))
	case "stat":
		info, err := s.fs.Stat(s.path(name))
		return fmt.Sprint(info, kindOf(err))
	case "syncdir":
		return kindOf(s.fs.SyncDir(s.path(name)))
	case "lock":
		l, err := s.fs.Lock(s.path(name))
		if err == nil {
			s.locks[name] = l
		}
		return kindOf(err)
	case "rlock":
		l, err := s.fs.RLock(s.path(name))
		if err == nil {
			s.locks[name] = l
		}
		return kindOf(err)
	case "unlock":
		if s.locks[name] == nil {
			return ""
		}
		return kindOf(s.locks[name].Close())
	}
	if f == nil {
		return "no handle"
	}
	return doFile(f, op, n)
}

func doFile(f File, op string, n int) string {
	switch op {
	case "write":
		_, err := f.Write(bytes.Repeat([]byte{byte(n)}, n))
		return kindOf(err)
	case "truncate":
		return kindOf(f.Truncate(int64(n)))
	case "sync":
		return kindOf(f.Sync())
	case "read":
		buf := make([]byte, 50)
		got, err := f.ReadAt(buf, int64(n))
		return fmt.Sprintf("%x %s", buf[:got], kindOf(err))
	case "size":
		size, err := f.Size()
		return fmt.Sprint(size, kindOf(err))
	case "mmap":
		data, unmap, err := f.Mmap()
		out := fmt.Sprintf("%x %v %s", data, data == nil, kindOf(err))
		if err == nil {
			err = errors.Join(unmap(), unmap())
		}
		return out + kindOf(err)
	case "close":
		return kindOf(f.Close())
	}
	panic(op)
}

// TestMemIsLikeDisk runs random operations on a disk and in a memory: every outcome is the same.
func TestMemIsLikeDisk(t *testing.T) {
	memIsLikeDisk(t, func(fs FS, dir string) (FS, string) { return fs, dir })
}

// TestMemRootIsLikeDiskRoot does it in open directories.
func TestMemRootIsLikeDiskRoot(t *testing.T) {
	memIsLikeDisk(t, func(fs FS, dir string) (FS, string) {
		root, err := fs.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		return root, "."
	})
}

func memIsLikeDisk(t *testing.T, within func(fs FS, dir string) (FS, string)) {
	ops := []string{
		"create", "create", "open", "append", "remove", "removeall", "rename", "renamenew", "mkdir", "list", "stat", "syncdir", "lock", "rlock", "unlock",
		"write", "write", "write", "truncate", "sync", "read", "size", "mmap", "close",
	}
	names := []string{"a", "b", "dir", "dir/a", "dir/sub", "dir/sub/a", "."}
	parent := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		dir := filepath.Join(parent, fmt.Sprint(run))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		disk := &side{files: map[int]File{}, locks: map[string]io.Closer{}}
		disk.fs, disk.root = within(Disk, dir)
		mem := &side{files: map[int]File{}, locks: map[string]io.Closer{}}
		mem.fs, mem.root = within(NewFaulty(NewMem(parent), nil), "/")
		defer func() {
			for _, f := range disk.files {
				f.Close()
			}
			for _, l := range disk.locks {
				l.Close()
			}
			if root, ok := disk.fs.(Root); ok {
				root.Close()
			}
		}()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			op := rapid.SampledFrom(ops).Draw(t, "op")
			name := rapid.SampledFrom(names).Draw(t, "name")
			other := rapid.SampledFrom(names).Draw(t, "other")
			handle := rapid.IntRange(0, 3).Draw(t, "handle")
			n := rapid.IntRange(0, 700).Draw(t, "n")
			switch {
			case op == "open" && isDirIn(mem, name),
				op == "syncdir" && !isDirIn(mem, name),
				(op == "rename" || op == "renamenew") && (isDirIn(mem, name) || isDirIn(mem, other)),
				(op == "remove" || op == "removeall") && name == ".",
				op == "lock" && (name == "." || mem.locks[name] != nil),
				op == "rlock" && (isDirIn(mem, name) || mem.locks[name] != nil),
				op == "sync" && mem.files[handle] == nil:
				continue // not used, and systems differ
			}
			if (op == "create" || op == "open" || op == "append") && mem.files[handle] != nil {
				mem.files[handle].Close()
				disk.files[handle].Close()
			}
			want, got := disk.do(op, name, other, handle, n), mem.do(op, name, other, handle, n)
			if want != got {
				t.Fatalf("%s %s %s %d: disk %q, memory %q", op, name, other, n, want, got)
			}
		}
	})
}

func isDirIn(s *side, name string) bool {
	info, err := s.fs.Stat(s.path(name))
	return err == nil && info.IsDir
}

func TestAppendAfterTruncate(t *testing.T) {
	for name, fs := range map[string]FS{filepath.Join(t.TempDir(), "a"): Disk, "a": NewMem("")} {
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
		if got, _ := read(t, fs, name); got != "0123xy" {
			t.Errorf("%T: %q", fs, got)
		}
	}
}

func TestLock(t *testing.T) {
	for name, fs := range map[string]FS{filepath.Join(t.TempDir(), "LOCK"): Disk, "LOCK": NewMem("")} {
		l, err := fs.Lock(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = fs.Lock(name)
		var locked *LockedError
		if !errors.As(err, &locked) || !errors.Is(err, ErrLocked) || locked.PID != os.Getpid() || locked.File != name {
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
		l.Close() // of the first must not release the second
		if _, err := fs.Lock(name); !errors.Is(err, ErrLocked) {
			t.Errorf("%T: %v", fs, err)
		}
		l2.Close()
	}
}

func TestSharedLock(t *testing.T) {
	for name, fs := range map[string]FS{filepath.Join(t.TempDir(), "LOCK"): Disk, "LOCK": NewMem("")} {
		if _, err := fs.RLock(name); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("%T: %v", fs, err)
		}
		take := func(lock func(string) (io.Closer, error)) io.Closer {
			t.Helper()
			l, err := lock(name)
			if err != nil {
				t.Fatalf("%T: %v", fs, err)
			}
			return l
		}
		refused := func(lock func(string) (io.Closer, error), pid int) {
			t.Helper()
			var locked *LockedError
			if _, err := lock(name); !errors.As(err, &locked) || locked.PID != pid {
				t.Errorf("%T: %v", fs, err)
			}
		}
		writer := take(fs.Lock)
		refused(fs.RLock, os.Getpid())
		writer.Close()
		one, two := take(fs.RLock), take(fs.RLock)
		refused(fs.Lock, 0)
		one.Close()
		one.Close()
		refused(fs.Lock, 0)
		two.Close()
		take(fs.Lock).Close()
	}
}

// TestLockOfOtherProcess starts this test again as a child that takes the lock and is killed.
func TestLockOfOtherProcess(t *testing.T) {
	const variable = "VFS_TEST_LOCK"
	if name := os.Getenv(variable); name != "" {
		if _, err := Disk.Lock(name); err != nil {
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
	_, err = Disk.Lock(name)
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != child.Process.Pid {
		t.Errorf("%v, want pid %d", err, child.Process.Pid)
	}
	child.Process.Kill()
	child.Wait()
	l, err := Disk.Lock(name)
	if err != nil {
		t.Fatalf("the lock of the dead: %v", err)
	}
	l.Close()
}

func TestHostFiles(t *testing.T) {
	fs := NewMem(t.TempDir())
	write(t, fs, "a", "one")
	host, err := fs.HostPath("a")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(host); string(got) != "one" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	commit := func(name, content string, result error) error {
		return fs.Commit(name, func() error {
			if err := os.WriteFile(host, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			return result
		})
	}
	if err := commit("a", "two", nil); err != nil {
		t.Fatal(err)
	}
	if err := fs.Rename("a", "b"); err != nil {
		t.Fatal(err)
	}
	if again, err := fs.HostPath("b"); again != host || err != nil {
		t.Errorf("%s instead of %s, %v", again, host, err)
	}
	if err := fs.SyncDir("."); err != nil {
		t.Fatal(err)
	}
	clone := fs.CrashClone(0, 1)
	if err := commit("b", "three", syscall.EIO); err != syscall.EIO {
		t.Errorf("error of commit: %v", err)
	}
	if got, _ := read(t, fs, "b"); got != "three" {
		t.Errorf("after a failed commit: %q", got)
	}
	other, err := clone.HostPath("b")
	if err != nil || other == host {
		t.Fatalf("the clone shares %s, %v", other, err)
	}
	if got, _ := os.ReadFile(other); string(got) != "two" {
		t.Errorf("clone: %q", got)
	}
	fs.CrashAt(fs.Ops() + 1)
	if err := fs.Commit("b", func() error { t.Error("ran"); return nil }); !errors.Is(err, ErrCrashed) {
		t.Error(err)
	}
	if err := errors.Join(fs.Discard(), clone.Discard()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(host); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("Discard left %s", host)
	}
	if _, err := fs.HostFile("none", os.O_RDWR|os.O_CREATE); err == nil {
		t.Error("host file of a missing file")
	}
}

func TestFaulty(t *testing.T) {
	var seen []string
	fs := NewFaulty(NewMem(""), func(op Op) error {
		seen = append(seen, fmt.Sprintf("%d %v %s %d", op.N, op.Kind, op.Name, op.Bytes))
		return nil
	})
	write(t, fs, "a", "hello")
	if want := []string{"1 create a 0", "2 write a 5", "3 sync a 0", "4 close a 0"}; !slices.Equal(seen, want) || fs.Ops() != 4 {
		t.Errorf("%q", seen)
	}

	f, err := fs.Append("a")
	if err != nil {
		t.Fatal(err)
	}
	fs.SetInject(FailOnce(6, syscall.EIO))
	if _, err := f.Write([]byte("x")); !errors.Is(err, syscall.EIO) {
		t.Errorf("operation 6: %v", err)
	}
	if _, err := f.Write([]byte("y")); err != nil {
		t.Errorf("operation 7: %v", err)
	}
	fs.SetInject(FailFrom(1, syscall.ENOSPC))
	if err := f.Sync(); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if got, _ := read(t, fs, "a"); got != "helloy" {
		t.Errorf("reads go on: %q", got)
	}
	fs.SetInject(func(op Op) error {
		if op.Kind == OpWrite {
			return &ShortWrite{N: 2, Err: syscall.ENOSPC}
		}
		return nil
	})
	if n, err := f.Write([]byte("1234")); n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("short write: %d, %v", n, err)
	}
	if got, _ := read(t, fs, "a"); got != "helloy12" {
		t.Errorf("after the short write: %q", got)
	}
}

func TestFaultyCommit(t *testing.T) {
	for _, kind := range []OpKind{OpCommit, OpCommitted} {
		fs := NewFaulty(NewMem(t.TempDir()), func(op Op) error {
			if op.Kind == kind {
				return syscall.EIO
			}
			return nil
		})
		write(t, fs, "a", "")
		ran := false
		err := fs.Commit("a", func() error { ran = true; return nil })
		if !errors.Is(err, syscall.EIO) || ran != (kind == OpCommitted) {
			t.Errorf("%v: %v, ran %v", kind, err, ran)
		}
	}
}

// TestRootStays renames an open directory and puts another in its place: what was opened stays what it was.
func TestRootStays(t *testing.T) {
	parent := t.TempDir()
	dir, moved := filepath.Join(parent, "dir"), filepath.Join(parent, "moved")
	for _, d := range []string{dir, filepath.Join(parent, "other")} {
		if err := Disk.MkdirAll(d); err != nil {
			t.Fatal(err)
		}
	}
	root, err := Disk.OpenRoot(dir)
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
	in, err := Disk.List(moved)
	if want := []string{"LOCK", "b", "c"}; err != nil || !slices.Equal(in, want) {
		t.Errorf("%q, %v", in, err)
	}
	if in, err := Disk.List(dir); err != nil || len(in) > 0 {
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

// TestNothingIsReplaced checks that Create and RenameNew touch nothing that is there, links included.
func TestNothingIsReplaced(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, Disk, at("victim"), "precious")
	write(t, Disk, at("new"), "new")
	for link, to := range map[string]string{"link": at("victim"), "dangling": at("nowhere")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Skip(err)
		}
	}
	root, err := Disk.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"victim", "link", "dangling"} {
		if _, err := Disk.Create(at(name)); !errors.Is(err, iofs.ErrExist) {
			t.Errorf("Create of %s: %v", name, err)
		}
		if err := Disk.RenameNew(at("new"), at(name)); !errors.Is(err, iofs.ErrExist) {
			t.Errorf("RenameNew to %s: %v", name, err)
		}
		if err := root.RenameNew("new", name); !errors.Is(err, iofs.ErrExist) {
			t.Errorf("RenameNew to %s in a root: %v", name, err)
		}
	}
	if got, _ := read(t, Disk, at("victim")); got != "precious" {
		t.Errorf("%q", got)
	}
	if err := errors.Join(Disk.RenameNew(at("new"), at("two")), root.RenameNew("two", "three")); err != nil {
		t.Error(err)
	}
	if got, _ := read(t, Disk, at("three")); got != "new" {
		t.Errorf("%q", got)
	}
	if names, _ := Disk.List(dir); !slices.Equal(names, []string{"dangling", "link", "three", "victim"}) {
		t.Errorf("left: %q", names)
	}
}
