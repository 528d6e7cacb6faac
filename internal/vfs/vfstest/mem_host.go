package vfstest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/simdb/simdb/internal/vfs"
)

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

// HostPath returns the path of the file that HostFile opens. Renaming the file does not change it.
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

// Commit implements vfs.FS. commit runs without Mem's lock and may use Mem, but a crash during it
// is not simulated: it is one operation.
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

// Committed says that the caller of the last Commit of name has seen its success: the change is now
// durable, even after a kill. Without it, only a later operation implies that.
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
