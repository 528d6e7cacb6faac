package vfstest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/simdb/simdb/internal/vfs"
)

// ErrCrashed is what every call on a Mem returns from the operation named by CrashAt on.
var ErrCrashed = errors.New("the machine has lost power")

// Mem is a file system in memory that knows what a power cut would leave of it.
//
// Every file has its present bytes and those of its last Sync, every directory its present names
// and those of its last SyncDir; CrashClone builds from them a file system that a power cut may
// leave. Every operation that changes something is numbered from 1, and CrashAt stops the machine
// before the one of a given number, so that a workload can be crashed at each of its operations in
// turn.
//
// A file can be removed or renamed while it is open, as on POSIX. The root directory "." needs no
// creation.
//
// Host files (HostFile) lie in a folder on disk under names of their own; Commit reads them back.
type Mem struct {
	hostDir string // where host files lie

	mu      sync.Mutex
	root    *memNode
	ops     int               // mutating operations so far
	crashAt int               // the number of the first operation that fails, 0 for none
	limit   int               // of the bytes in all files, 0 for none
	locks   map[*memNode]bool // of files, whatever their names, that are held
	hosts   []string          // host files made
}

// memNode is a file or a directory. The invariant of a file: neither data nor synced is ever
// overwritten in place; data grows by append and is copied by Truncate, so that both may share one
// array with each other, with maps and with clones.
type memNode struct {
	data   []byte // a file's bytes
	synced []byte // its bytes at the last Sync
	host   string // the path of its host file, "" if it has none

	whole  bool   // data came by Commit and is not durable yet: a power cut leaves it or synced, whole
	former []byte // its bytes before the last Commit
	commit int    // the number of that operation

	children map[string]*memNode // a directory's names; nil for a file
	durable  map[string]*memNode // its names at the last SyncDir
	pending  []nameChange        // what happened to it since, in order
}

// nameChange is one change of a directory, which a power cut keeps or loses whole.
type nameChange struct {
	drop string   // a name that goes, "" if none does
	add  string   // a name that comes, "" if none does
	node *memNode // what add names
}

// NewMem returns an empty file system whose host files will lie in hostDir, an existing folder. A
// folder in memory (tmpfs) makes Commit fast; nothing there needs to be durable.
func NewMem(hostDir string) *Mem {
	return &Mem{hostDir: hostDir, root: newDir(), locks: map[*memNode]bool{}}
}

func newDir() *memNode {
	return &memNode{children: map[string]*memNode{}, durable: map[string]*memNode{}}
}

func (n *memNode) isDir() bool { return n.children != nil }

func (n *memNode) change(c nameChange) {
	if c.drop != "" {
		delete(n.children, c.drop)
	}
	if c.add != "" {
		n.children[c.add] = c.node
	}
	n.pending = append(n.pending, c)
}

// Ops returns the number of operations so far that changed, or would have changed, something.
func (m *Mem) Ops() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ops
}

// SetLimit sets how many bytes the files may have in all, 0 for no limit: what is written beyond
// that fails with ENOSPC, after the bytes for which there is room. A Commit needs commitRoom.
func (m *Mem) SetLimit(bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = bytes
}

// commitRoom is how many bytes a Commit may add to a file.
const commitRoom = 8 << 10

// free returns how many bytes may be written. The caller holds mu.
func (m *Mem) free() int {
	if m.limit == 0 {
		return math.MaxInt
	}
	return max(m.limit-m.root.size(), 0)
}

// Used returns how many bytes the files have in all.
func (m *Mem) Used() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.root.size()
}

// size returns how many bytes a file has, or the files of a directory.
func (n *memNode) size() int {
	size := len(n.data)
	for _, child := range n.children {
		size += child.size()
	}
	return size
}

// CrashAt makes the operation of that number, counted from 1, and everything after it fail with
// ErrCrashed and do nothing. Zero takes it back.
func (m *Mem) CrashAt(op int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.crashAt = op
}

// Crashed says whether the operation named by CrashAt has been reached.
func (m *Mem) Crashed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.crashed()
}

func (m *Mem) crashed() bool { return m.crashAt > 0 && m.ops >= m.crashAt }

// mutate counts an operation and says whether it may continue. The caller holds mu.
func (m *Mem) mutate(op, name string) error {
	if !m.crashed() {
		m.ops++
	}
	return m.alive(op, name)
}

// alive fails once the machine has stopped. The caller holds mu.
func (m *Mem) alive(op, name string) error {
	if m.crashed() {
		return &fs.PathError{Op: op, Path: name, Err: ErrCrashed}
	}
	return nil
}

// split cleans name and returns it in parts; the root has none.
func split(name string) []string {
	name = path.Clean("/" + filepath.ToSlash(name))
	if name == "/" {
		return nil
	}
	return strings.Split(name[1:], "/")
}

func (m *Mem) find(op, name string) (*memNode, error) {
	n := m.root
	for _, part := range split(name) {
		if !n.isDir() {
			return nil, &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
		}
		if n = n.children[part]; n == nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
		}
	}
	return n, nil
}

// findFile returns the node of name, which must be a file.
func (m *Mem) findFile(op, name string) (*memNode, error) {
	n, err := m.find(op, name)
	if err == nil && n.isDir() {
		err = &fs.PathError{Op: op, Path: name, Err: syscall.EISDIR}
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

// parent returns the directory that holds name, and name's last part.
func (m *Mem) parent(op, name string) (*memNode, string, error) {
	parts := split(name)
	if len(parts) == 0 {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: syscall.EINVAL}
	}
	dir, err := m.find(op, path.Join(parts[:len(parts)-1]...))
	if err != nil {
		return nil, "", err
	}
	if !dir.isDir() {
		return nil, "", &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
	}
	return dir, parts[len(parts)-1], nil
}

// Create implements vfs.FS.
func (m *Mem) Create(name string) (vfs.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.mutate("create", name); err != nil {
		return nil, err
	}
	if n, err := m.find("create", name); err == nil && n != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: syscall.EEXIST}
	}
	n, err := m.create(name)
	if err != nil {
		return nil, err
	}
	return &memFile{m: m, n: n, name: name, write: true}, nil
}

// create returns the file of that name, a new one if there is none.
func (m *Mem) create(name string) (*memNode, error) {
	dir, base, err := m.parent("create", name)
	if err != nil {
		return nil, err
	}
	n := dir.children[base]
	if n == nil {
		n = &memNode{}
		dir.change(nameChange{add: base, node: n})
	}
	if n.isDir() {
		return nil, &fs.PathError{Op: "create", Path: name, Err: syscall.EISDIR}
	}
	return n, nil
}

// Open implements vfs.FS.
func (m *Mem) Open(name string) (vfs.File, error) { return m.open("open", name, false) }

// Append implements vfs.FS.
func (m *Mem) Append(name string) (vfs.File, error) { return m.open("append", name, true) }

func (m *Mem) open(op, name string, write bool) (vfs.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.alive(op, name); err != nil {
		return nil, err
	}
	n, err := m.findFile(op, name)
	if err != nil {
		return nil, err
	}
	return &memFile{m: m, n: n, name: name, write: write}, nil
}

// Remove implements vfs.FS.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.mutate("remove", name); err != nil {
		return err
	}
	n, err := m.find("remove", name)
	if err != nil {
		return err
	}
	if len(n.children) > 0 {
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
	}
	return m.unlink("remove", name)
}

// RemoveAll implements vfs.FS. It counts as one operation, but a power cut may keep a part.
func (m *Mem) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.mutate("removeall", name); err != nil {
		return err
	}
	n, err := m.find("removeall", name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	n.clear()
	return m.unlink("removeall", name)
}

// clear empties a directory and those below it.
func (n *memNode) clear() {
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		n.children[name].clear()
		n.change(nameChange{drop: name})
	}
}

func (m *Mem) unlink(op, name string) error {
	dir, base, err := m.parent(op, name)
	if err != nil {
		return err
	}
	dir.change(nameChange{drop: base})
	return nil
}

// Rename implements vfs.FS.
func (m *Mem) Rename(oldName, newName string) error { return m.rename(oldName, newName, true) }

// RenameNew implements vfs.FS.
func (m *Mem) RenameNew(oldName, newName string) error { return m.rename(oldName, newName, false) }

func (m *Mem) rename(oldName, newName string, replace bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.mutate("rename", oldName); err != nil {
		return err
	}
	from, oldBase, err := m.parent("rename", oldName)
	if err != nil {
		return err
	}
	to, newBase, err := m.parent("rename", newName)
	if err != nil {
		return err
	}
	n, err := m.find("rename", oldName)
	if err != nil {
		return err
	}
	if old := to.children[newBase]; old != nil && (!replace || old != n && (old.isDir() || n.isDir())) {
		return &fs.PathError{Op: "rename", Path: newName, Err: syscall.EEXIST}
	}
	switch {
	case from != to:
		to.change(nameChange{add: newBase, node: n})
		from.change(nameChange{drop: oldBase})
	case oldBase != newBase:
		to.change(nameChange{drop: oldBase, add: newBase, node: n})
	}
	return nil
}

// MkdirAll implements vfs.FS.
func (m *Mem) MkdirAll(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.mutate("mkdir", dir); err != nil {
		return err
	}
	n := m.root
	for _, part := range split(dir) {
		next := n.children[part]
		if next == nil {
			next = newDir()
			n.change(nameChange{add: part, node: next})
		}
		if !next.isDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		n = next
	}
	return nil
}

// List implements vfs.FS.
func (m *Mem) List(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findDir("list", dir)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(n.children)), nil
}

func (m *Mem) findDir(op, dir string) (*memNode, error) {
	if err := m.alive(op, dir); err != nil {
		return nil, err
	}
	n, err := m.find(op, dir)
	if err == nil && !n.isDir() {
		err = &fs.PathError{Op: op, Path: dir, Err: syscall.ENOTDIR}
	}
	return n, err
}

// Stat implements vfs.FS.
func (m *Mem) Stat(name string) (vfs.Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.alive("stat", name); err != nil {
		return vfs.Info{}, err
	}
	n, err := m.find("stat", name)
	if err != nil {
		return vfs.Info{}, err
	}
	return vfs.Info{Size: int64(len(n.data)), IsDir: n.isDir()}, nil
}

// SyncDir implements vfs.FS.
func (m *Mem) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.mutate("syncdir", dir); err != nil {
		return err
	}
	n, err := m.findDir("syncdir", dir)
	if err != nil {
		return err
	}
	n.durable, n.pending = maps.Clone(n.children), nil
	return nil
}

type memLock struct {
	m    *Mem
	n    *memNode
	held bool // not yet released
}

// Lock implements vfs.FS. CrashClone releases all locks.
func (m *Mem) Lock(name string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.mutate("lock", name); err != nil {
		return nil, err
	}
	n, err := m.create(name)
	if err != nil {
		return nil, err
	}
	if m.locks[n] {
		return nil, &vfs.LockedError{File: name, PID: os.Getpid()}
	}
	n.data = fmt.Appendf(nil, "%d\n", os.Getpid())
	m.locks[n] = true
	return &memLock{m: m, n: n, held: true}, nil
}

// Close releases the lock; a second call does nothing.
func (l *memLock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if !l.held {
		return nil
	}
	l.held = false
	l.n.data = nil
	delete(l.m.locks, l.n)
	return nil
}

// HostFile implements vfs.FS.
func (m *Mem) HostFile(name string, flag int) (*os.File, error) {
	host, err := m.HostPath(name)
	if err != nil {
		return nil, err
	}
	return os.OpenFile(host, flag&^os.O_CREATE, 0)
}

// HostPath returns the path of the file that HostFile opens. It follows the file when that is
// renamed.
func (m *Mem) HostPath(name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.alive("hostpath", name); err != nil {
		return "", err
	}
	n, err := m.findFile("hostpath", name)
	if err != nil {
		return "", err
	}
	if n.host != "" {
		return n.host, nil
	}
	f, err := os.CreateTemp(m.hostDir, "host-*")
	if err != nil {
		return "", err
	}
	m.hosts = append(m.hosts, f.Name())
	_, err = f.Write(n.data)
	if err = cmp.Or(err, f.Close()); err != nil {
		return "", err
	}
	n.host = f.Name()
	return n.host, nil
}

// Commit implements vfs.FS. commit runs without Mem's lock and may use Mem, except that a crash
// during it is not modelled: it is one operation.
func (m *Mem) Commit(name string, commit func() error) error {
	m.mu.Lock()
	err := m.mutate("commit", name)
	if err == nil && m.free() < commitRoom {
		err = &fs.PathError{Op: "commit", Path: name, Err: syscall.ENOSPC}
	}
	m.mu.Unlock()
	if err != nil {
		return err
	}
	err = commit()

	m.mu.Lock()
	defer m.mu.Unlock()
	n, findErr := m.findFile("commit", name)
	if findErr != nil {
		return errors.Join(err, findErr)
	}
	if n.host == "" {
		return err
	}
	image, readErr := os.ReadFile(n.host)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	n.former, n.commit = n.synced, m.ops
	n.data, n.whole = image, err != nil
	if err == nil {
		n.synced = image
	}
	return err
}

// Committed says that who called the last Commit of name knows of its success: it is durable, also
// after a kill. Without that it takes another operation to say so.
func (m *Mem) Committed(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n, err := m.findFile("commit", name); err == nil {
		n.former, n.commit = nil, 0
	}
}

// Discard removes the host files. Mem must not be used after it.
func (m *Mem) Discard() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var first error
	for _, host := range m.hosts {
		first = cmp.Or(first, os.Remove(host))
	}
	m.hosts = nil
	return first
}
