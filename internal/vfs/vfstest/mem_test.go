package vfstest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/simdb/simdb/internal/vfs"
)

func write(t testing.TB, fs vfs.FS, name, content string) {
	t.Helper()
	if err := WriteFile(fs, name, content); err != nil {
		t.Fatal(err)
	}
}

// read returns a file's content, and whether the file exists.
func read(t testing.TB, fs vfs.FS, name string) (string, bool) {
	t.Helper()
	content, err := ReadFile(fs, name)
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		t.Fatal(err)
	}
	return content, err == nil
}

// kindOf reduces an error to the kinds that callers may test for.
func kindOf(err error) string {
	for _, kind := range []error{iofs.ErrNotExist, iofs.ErrExist, iofs.ErrClosed, vfs.ErrLocked, io.EOF} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	if err != nil {
		return "error"
	}
	return ""
}

// side is one of two file systems that undergo the same operations, with its open files.
type side struct {
	fs    vfs.FS
	root  string
	files map[int]vfs.File
	locks map[string]io.Closer
}

func (s *side) path(name string) string { return filepath.Join(s.root, name) }

// do runs one operation and returns its outcome as text.
func (s *side) do(op, name, other string, handle, n int) string {
	f := s.files[handle]
	open := func(f vfs.File, err error) string {
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
		if err := s.fs.RenameNew(s.path(name), s.path(other)); err != nil { // as for mkdir; TestNothingIsReplaced is more exact
			return "error"
		}
		return ""
	case "mkdir":
		if err := s.fs.MkdirAll(s.path(name)); err != nil { // systems have different errors for a file at the same path
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

func doFile(f vfs.File, op string, n int) string {
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

// TestMemIsLikeDisk runs random operations on a disk and in memory, and compares the outcomes.
func TestMemIsLikeDisk(t *testing.T) {
	memIsLikeDisk(t, func(fs vfs.FS, dir string) (vfs.FS, string) { return fs, dir })
}

// TestMemRootIsLikeDiskRoot does the same in open directories.
func TestMemRootIsLikeDiskRoot(t *testing.T) {
	memIsLikeDisk(t, func(fs vfs.FS, dir string) (vfs.FS, string) {
		root, err := fs.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		return root, "."
	})
}

func memIsLikeDisk(t *testing.T, within func(fs vfs.FS, dir string) (vfs.FS, string)) {
	if runtime.GOOS == "windows" {
		t.Skip("Mem is like a disk of Unix, where an open file can be removed and renamed")
	}
	ops := []string{
		"create", "create", "open", "append", "remove", "removeall", "rename", "renamenew", "mkdir", "list", "stat", "syncdir", "lock", "unlock",
		"write", "write", "write", "truncate", "sync", "read", "size", "mmap", "close",
	}
	names := []string{"a", "b", "dir", "dir/a", "dir/sub", "dir/sub/a", "."}
	parent := t.TempDir()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 14))
		dir := filepath.Join(parent, fmt.Sprint(seed))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		disk := &side{files: map[int]vfs.File{}, locks: map[string]io.Closer{}}
		disk.fs, disk.root = within(vfs.Disk, dir)
		mem := &side{files: map[int]vfs.File{}, locks: map[string]io.Closer{}}
		mem.fs, mem.root = within(NewFaulty(NewMem(parent), nil), "/")
		defer func() {
			for _, f := range disk.files {
				f.Close()
			}
			for _, l := range disk.locks {
				l.Close()
			}
			if root, ok := disk.fs.(vfs.Root); ok {
				root.Close()
			}
		}()
		for range 1 + r.IntN(60) {
			op := ops[r.IntN(len(ops))]
			name := names[r.IntN(len(names))]
			other := names[r.IntN(len(names))]
			handle := r.IntN(4)
			n := r.IntN(701)
			switch {
			case op == "open" && isDirIn(mem, name),
				op == "syncdir" && !isDirIn(mem, name),
				(op == "rename" || op == "renamenew") && (isDirIn(mem, name) || isDirIn(mem, other)),
				(op == "remove" || op == "removeall") && name == ".",
				op == "lock" && (name == "." || mem.locks[name] != nil),
				op == "sync" && mem.files[handle] == nil:
				continue // unused, and different between systems
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
	}
}

func isDirIn(s *side, name string) bool {
	info, err := s.fs.Stat(s.path(name))
	return err == nil && info.IsDir
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
