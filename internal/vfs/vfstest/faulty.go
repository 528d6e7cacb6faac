package vfstest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/simdb/simdb/internal/vfs"
)

// OpKind is a kind of operation that Faulty can make fail.
type OpKind int

// Operations, named after the methods. OpCommitted is the result of a Commit whose change has been
// made: an error injected there simulates a failed fsync after the last write.
const (
	OpCreate OpKind = iota + 1
	OpOpen
	OpAppend
	OpRemove
	OpRename
	OpMkdirAll
	OpRemoveAll
	OpList
	OpStat
	OpSyncDir
	OpLock
	OpHostFile
	OpCommit
	OpCommitted
	OpWrite
	OpRead
	OpSync
	OpTruncate
	OpSize
	OpMmap
	OpClose
)

var opNames = map[OpKind]string{
	OpCreate: "create", OpOpen: "open", OpAppend: "append", OpRemove: "remove", OpRename: "rename", OpMkdirAll: "mkdirall",
	OpRemoveAll: "removeall", OpList: "list", OpStat: "stat", OpSyncDir: "syncdir", OpLock: "lock", OpHostFile: "hostfile",
	OpCommit: "commit", OpCommitted: "committed", OpWrite: "write", OpRead: "read", OpSync: "sync", OpTruncate: "truncate",
	OpSize: "size", OpMmap: "mmap", OpClose: "close",
}

// String returns the operation's name in lower case.
func (k OpKind) String() string {
	if name := opNames[k]; name != "" {
		return name
	}
	return fmt.Sprintf("op%d", int(k))
}

// Changes reports whether operations of this kind change the file system, or make a change durable.
func (k OpKind) Changes() bool {
	switch k {
	case OpOpen, OpAppend, OpList, OpStat, OpHostFile, OpRead, OpSize, OpMmap, OpClose:
		return false
	}
	return true
}

// Op is one operation, as passed to the inject function.
type Op struct {
	Kind  OpKind
	Name  string // the file's name; for a Rename, the old one
	N     int    // the operation's number, counted from 1 over all kinds
	Bytes int    // number of bytes to write or read, for OpWrite and OpRead
}

// ShortWrite is an error to inject into OpWrite: the first N bytes are written, and then the
// operation fails with Err.
type ShortWrite struct {
	N   int
	Err error
}

// Error describes the short write.
func (e *ShortWrite) Error() string { return fmt.Sprintf("short write of %d bytes: %v", e.N, e.Err) }

// Unwrap returns Err.
func (e *ShortWrite) Unwrap() error { return e.Err }

// Faulty passes every operation to another FS, unless the inject function makes it fail.
type Faulty struct {
	inner vfs.FS
	dir   string // the directory that inner is the root of, or ""
	*faults
}

// faults is the state that a Faulty shares with its roots.
type faults struct {
	mu     sync.Mutex
	n      int
	inject func(op Op) error

	heldMu sync.Mutex
	held   []io.Closer // see End

	commits sync.Mutex // held during a Commit
}

// NewFaulty returns a file system that wraps inner. inject is called before every operation, one
// call at a time. If it returns an error, the operation has no effect and returns that error
// (exceptions: ShortWrite and OpCommitted). A nil inject injects nothing. inject must not use the
// Faulty.
//
// A failed Close still closes the file. Operations of a library on a host file or a mapping are not
// intercepted.
func NewFaulty(inner vfs.FS, inject func(op Op) error) *Faulty {
	return &Faulty{inner: inner, faults: &faults{inject: inject}}
}

// SetInject replaces the inject function.
func (y *Faulty) SetInject(inject func(op Op) error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.inject = inject
}

// Ops returns the number of operations so far.
func (y *Faulty) Ops() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.n
}

// FailOnce returns an inject function with which operation number n fails with err.
func FailOnce(n int, err error) func(Op) error {
	return func(op Op) error {
		if op.N == n {
			return err
		}
		return nil
	}
}

// FailFrom returns an inject function with which every operation that changes something, from
// number n on, fails with err, as on a disk that is full or has become read-only.
func FailFrom(n int, err error) func(Op) error {
	return func(op Op) error {
		if op.N >= n && op.Kind.Changes() {
			return err
		}
		return nil
	}
}

func (y *Faulty) op(kind OpKind, name string, bytes int) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.n++
	if y.inject == nil {
		return nil
	}
	name = filepath.Join(y.dir, name)
	err := y.inject(Op{Kind: kind, Name: name, N: y.n, Bytes: bytes})
	if err != nil {
		return fmt.Errorf("%v %s: %w", kind, name, err)
	}
	return nil
}

// do performs an operation that returns only an error, unless inject makes it fail.
func (y *Faulty) do(kind OpKind, name string, operation func() error) error {
	if err := y.op(kind, name, 0); err != nil {
		return err
	}
	return operation()
}

// get performs an operation that returns a value, unless inject makes it fail.
func get[T any](y *Faulty, kind OpKind, name string, operation func(name string) (T, error)) (value T, err error) {
	if err := y.op(kind, name, 0); err != nil {
		return value, err
	}
	return operation(name)
}

func (y *Faulty) open(kind OpKind, name string, open func(string) (vfs.File, error)) (vfs.File, error) {
	f, err := get(y, kind, name, open)
	if err != nil {
		return nil, err
	}
	return &faultyFile{y: y, f: f, name: name}, nil
}

// Create implements vfs.FS.
func (y *Faulty) Create(name string) (vfs.File, error) { return y.open(OpCreate, name, y.inner.Create) }

// Open implements vfs.FS.
func (y *Faulty) Open(name string) (vfs.File, error) { return y.open(OpOpen, name, y.inner.Open) }

// Append implements vfs.FS.
func (y *Faulty) Append(name string) (vfs.File, error) { return y.open(OpAppend, name, y.inner.Append) }

// Remove implements vfs.FS.
func (y *Faulty) Remove(name string) error {
	return y.do(OpRemove, name, func() error { return y.inner.Remove(name) })
}

// Rename implements vfs.FS.
func (y *Faulty) Rename(oldName, newName string) error {
	return y.do(OpRename, oldName, func() error { return y.inner.Rename(oldName, newName) })
}

// RenameNew implements vfs.FS. Its kind is OpRename.
func (y *Faulty) RenameNew(oldName, newName string) error {
	return y.do(OpRename, oldName, func() error { return y.inner.RenameNew(oldName, newName) })
}

// OpenRoot implements vfs.FS. Its kind is OpOpen.
func (y *Faulty) OpenRoot(dir string) (vfs.Root, error) {
	root, err := get(y, OpOpen, dir, y.inner.OpenRoot)
	if err != nil {
		return nil, err
	}
	return faultyRoot{&Faulty{inner: root, dir: filepath.Join(y.dir, dir), faults: y.faults}, root}, nil
}

type faultyRoot struct {
	*Faulty
	io.Closer
}

// MkdirAll implements vfs.FS.
func (y *Faulty) MkdirAll(dir string) error {
	return y.do(OpMkdirAll, dir, func() error { return y.inner.MkdirAll(dir) })
}

// RemoveAll implements vfs.FS.
func (y *Faulty) RemoveAll(dir string) error {
	return y.do(OpRemoveAll, dir, func() error { return y.inner.RemoveAll(dir) })
}

// List implements vfs.FS.
func (y *Faulty) List(dir string) ([]string, error) { return get(y, OpList, dir, y.inner.List) }

// Stat implements vfs.FS.
func (y *Faulty) Stat(name string) (vfs.Info, error) { return get(y, OpStat, name, y.inner.Stat) }

// SyncDir implements vfs.FS.
func (y *Faulty) SyncDir(dir string) error {
	return y.do(OpSyncDir, dir, func() error { return y.inner.SyncDir(dir) })
}

// Lock implements vfs.FS.
func (y *Faulty) Lock(name string) (io.Closer, error) {
	l, err := get(y, OpLock, name, y.inner.Lock)
	if err == nil {
		y.holds(l)
	}
	return l, err
}

// HostFile implements vfs.FS.
func (y *Faulty) HostFile(name string, flag int) (*os.File, error) {
	f, err := get(y, OpHostFile, name, func(name string) (*os.File, error) { return y.inner.HostFile(name, flag) })
	if err == nil {
		y.holds(hostLock{f})
	}
	return f, err
}

// Commit implements vfs.FS.
func (y *Faulty) Commit(name string, commit func() error) error {
	whole := func() error {
		y.commits.Lock()
		defer y.commits.Unlock()
		return y.inner.Commit(name, commit)
	}
	if err := y.do(OpCommit, name, whole); err != nil {
		return err
	}
	err := y.op(OpCommitted, name, 0)
	if c, ok := y.inner.(interface{ Committed(name string) }); ok && err == nil {
		c.Committed(name)
	}
	return err
}
