// Package vfs is the file system as simdb sees it: the few operations that a storage engine needs.
// Disk is the operating system's; package vfstest has one in memory that can lose power, and one
// that fails on demand.
//
// # What is durable
//
// The rules are those of POSIX at its strictest, and the engine relies on no more:
//
//   - Bytes written to a file survive a power cut once File.Sync has returned without an error.
//     Before that any subset of the unsynced 512-byte sectors may survive, in any order; a sector
//     that did not survive holds what it held when it was last synced, or zeros.
//   - A file's name survives once SyncDir of its directory has returned after Create, Rename or
//     Remove. Syncing the file does not sync its name. Unsynced changes of a directory survive or
//     not independently of one another; one rename inside a directory is atomic.
//   - A Write that failed because the disk is full has written the bytes that it counts, and may be
//     followed by a Truncate and another Write.
//   - After a failed Sync nothing is known about what had been unsynced; the file must not be
//     written further.
//   - Commit is atomic and durable: before it returns nil a power cut leaves the old content or the
//     new one, after it the new one.
//
// Names are host paths on Disk. Every error wraps the operating system's, so that
// errors.Is(err, fs.ErrNotExist) and errors.Is(err, syscall.ENOSPC) find their cause.
package vfs

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// FS is a file system. Its methods may be called from many goroutines at once.
type FS interface {
	// Create makes an empty file and opens it for reading and writing. If the name exists, even as
	// a dangling link, it fails with fs.ErrExist: no file is ever truncated, and no link followed.
	Create(name string) (File, error)
	// Open opens an existing file for reading.
	Open(name string) (File, error)
	// Append opens an existing file for reading, and for writing at its end.
	Append(name string) (File, error)
	// Remove removes a file or an empty directory.
	Remove(name string) error
	// Rename moves a file, replacing a file of the new name atomically.
	Rename(oldName, newName string) error
	// RenameNew moves a file and fails with fs.ErrExist if the new name exists. On a file system
	// that has neither such a call nor hard links it checks before it renames, which is not atomic.
	RenameNew(oldName, newName string) error
	// MkdirAll makes a directory and its missing parents. It syncs none of them.
	MkdirAll(dir string) error
	// RemoveAll removes a directory with all it holds, or a file. A missing one is not an error.
	RemoveAll(dir string) error
	// List returns the names in a directory, sorted, without the directory's own.
	List(dir string) ([]string, error)
	// Stat describes a file or a directory.
	Stat(name string) (Info, error)
	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error
	// Lock takes the exclusive lock of the file name, which it creates if need be, and writes the
	// process's id into it if there is room. If the lock is held, by another process or by this
	// one, it fails at once with a *LockedError. Closing the result releases the lock and leaves
	// the file, empty. The lock of a process that dies is released.
	Lock(name string) (io.Closer, error)
	// OpenRoot opens a directory as a file system of its own, whose names start in it and cannot
	// lead out of it. It stays the same directory when it is renamed or another one takes its name.
	OpenRoot(dir string) (Root, error)
	// HostFile opens an existing file with the flags of os.OpenFile, for a library that wants a
	// file of the operating system. What is written there is seen by the FS, and durable, only
	// after Commit.
	HostFile(name string, flag int) (*os.File, error)
	// Commit runs commit, which changes the host file of name atomically and durably: a bbolt
	// transaction. It is one operation: an error from it means that the change may or may not have
	// happened.
	Commit(name string, commit func() error) error
}

// Linker is an FS that can give a file a second name.
type Linker interface {
	// Link gives the file oldName the name newName as well. It fails with fs.ErrExist if newName
	// exists, and where the two lie on different file systems.
	Link(oldName, newName string) error
}

// Root is a file system within an open directory.
type Root interface {
	FS
	// Close gives the directory back. Files that are open stay so.
	io.Closer
}

// File is an open file. Write appends to the end of the file.
type File interface {
	io.Writer
	io.ReaderAt
	io.Closer
	// Sync makes the file's bytes and size durable.
	Sync() error
	// Truncate sets the size; a file that grows by it is filled with zeros. The next Write goes to
	// the end.
	Truncate(size int64) error
	// Size returns the size in bytes.
	Size() (int64, error)
	// Mmap maps the file as it is now for reading. data is nil if the file is empty; unmap may be
	// called more than once, and data must not be touched after it. Reading data of a file that was
	// truncated meanwhile faults (debug.SetPanicOnFault).
	Mmap() (data []byte, unmap func() error, err error)
}

// SyncFile makes the bytes and the size of an existing file durable.
func SyncFile(fs FS, name string) error {
	f, err := fs.Append(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Map maps a file of the disk as File.Mmap does.
func Map(f *os.File) (data []byte, unmap func() error, err error) { return (&diskFile{f: f}).Mmap() }

// Info describes a file.
type Info struct {
	Size  int64 // in bytes; 0 for a directory
	IsDir bool
}

// ErrLocked is what errors.Is finds in a *LockedError.
var ErrLocked = errors.New("locked by another process")

// ErrNoLocks is why Lock fails where the file system has no locks: two processes could write there
// at once.
var ErrNoLocks = errors.New("the file system has no locks, which keep a second process from writing; a database there can be read")

// LockedError says that a lock is held, and by whom.
type LockedError struct {
	File string // the lock file
	PID  int    // the holder's process id, 0 if unknown
}

// Error names the lock file and the holder.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s: %v", e.File, ErrLocked)
	}
	return fmt.Sprintf("%s: %v (pid %d)", e.File, ErrLocked, e.PID)
}

// Unwrap makes errors.Is(err, ErrLocked) true.
func (e *LockedError) Unwrap() error { return ErrLocked }
