package vfstest

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/simdb/simdb/internal/vfs"
)

// ErrCrashed is returned by every call on a Mem from the operation given to CrashAt on.
var ErrCrashed = errors.New("the machine has lost power")

// Mem is a file system in memory that simulates power cuts.
//
// For every file it stores the current bytes and the bytes at the last Sync, and for every
// directory the current names and the names at the last SyncDir. From these, CrashClone builds a
// file system that a power cut may leave. Every operation that changes something is numbered from
// 1, and CrashAt stops the machine before a given operation, so that a workload can be crashed at
// each operation.
//
// A file can be removed or renamed while it is open, as on POSIX. The root directory "." exists.
//
// Host files (HostFile) are stored in a folder on disk under generated names; Commit reads them.
type Mem struct {
	hostDir string // folder of the host files

	mu      sync.Mutex
	root    *memNode
	ops     int               // number of mutating operations so far
	crashAt int               // number of the first operation that fails, or 0
	limit   int               // on the bytes in all files, or 0
	locks   map[*memNode]bool // files whose lock is held; independent of their names
	shared  map[*memNode]*sharedWords
	hosts   []string // paths of the host files
}

// memNode is a file or a directory. Invariant of a file: neither data nor synced is ever
// overwritten in place; data grows by append, and Truncate copies it. Therefore they may share one
// array with each other, with mappings and with clones.
type memNode struct {
	data   []byte // a file's bytes
	synced []byte // its bytes at the last Sync
	host   string // the path of its host file, "" if it has none

	whole  bool   // data comes from a Commit that is not yet durable: a power cut leaves either data or synced as a whole
	former []byte // its bytes before the last Commit
	commit int    // the number of that Commit's operation

	children map[string]*memNode // a directory's names; nil for a file
	durable  map[string]*memNode // its names at the last SyncDir
	pending  []nameChange        // changes since the last SyncDir, in order
}

// nameChange is one change of a directory. A power cut preserves or loses it as a whole.
type nameChange struct {
	drop string   // a name that is removed, or ""
	add  string   // a name that is added, or ""
	node *memNode // the node that add refers to
}

// NewMem returns an empty file system that stores host files in hostDir, an existing folder. Commit
// is fast if it is in memory (tmpfs); its contents need not be durable.
func NewMem(hostDir string) *Mem {
	return &Mem{hostDir: hostDir, root: newDir(), locks: map[*memNode]bool{}, shared: map[*memNode]*sharedWords{}}
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

// Ops returns the number of mutating operations so far, including failed ones.
func (m *Mem) Ops() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ops
}

// SetLimit limits the number of bytes in all files; 0 is no limit. Writes beyond the limit fail
// with ENOSPC, after writing the bytes that fit. A Commit needs commitRoom bytes.
func (m *Mem) SetLimit(bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit = bytes
}

// commitRoom is the largest number of bytes that a Commit may add to a file.
const commitRoom = 8 << 10

// free returns the number of bytes that may be written. The caller holds mu.
func (m *Mem) free() int {
	if m.limit == 0 {
		return math.MaxInt
	}
	return max(m.limit-m.root.size(), 0)
}

// Used returns the number of bytes in all files.
func (m *Mem) Used() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.root.size()
}

// size returns the number of bytes in a file, or in all files of a directory.
func (n *memNode) size() int {
	size := len(n.data)
	for _, child := range n.children {
		size += child.size()
	}
	return size
}

// CrashAt makes all calls fail with ErrCrashed, without any effect, from the operation with this
// number on, counted from 1. Zero cancels the crash.
func (m *Mem) CrashAt(op int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.crashAt = op
}

// Crashed reports whether the operation given to CrashAt has been reached.
func (m *Mem) Crashed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.crashed()
}

func (m *Mem) crashed() bool { return m.crashAt > 0 && m.ops >= m.crashAt }

// mutate counts a mutating operation, and returns an error if it must fail. The caller holds mu.
func (m *Mem) mutate(op, name string) error {
	if !m.crashed() {
		m.ops++
	}
	return m.alive(op, name)
}

// alive returns an error once the machine has stopped. The caller holds mu.
func (m *Mem) alive(op, name string) error {
	if m.crashed() {
		return &fs.PathError{Op: op, Path: name, Err: ErrCrashed}
	}
	return nil
}

// split cleans name and returns its parts; the root has no parts.
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

// parent returns the directory that contains name, and the last part of name.
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

// create returns the file with this name, or a new one if there is none.
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

// RemoveAll implements vfs.FS. It counts as one operation, but a power cut may leave a part.
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

// clear removes all entries of a directory, recursively.
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
