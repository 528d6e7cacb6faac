// Package vfs defines the file system of simdb: the few operations that a storage engine needs.
// Disk is the operating system's file system. Package vfstest has one in memory that can lose
// power, and one that fails on demand.
//
// # What is durable
//
// The rules are the strictest reading of POSIX. The engine relies on nothing else:
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
// Names are host paths on Disk. Every error wraps the error of the operating system, so
// errors.Is(err, fs.ErrNotExist) and errors.Is(err, syscall.ENOSPC) work.
package vfs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// FS is a file system. Its methods may be called concurrently.
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
	// Rename moves a file, and atomically replaces a file with the new name.
	Rename(oldName, newName string) error
	// RenameNew moves a file, and fails with fs.ErrExist if the new name exists. On a file system
	// without a suitable call and hard links it checks before renaming, which is not atomic.
	RenameNew(oldName, newName string) error
	// MkdirAll makes a directory and its missing parents. It does not sync them.
	MkdirAll(dir string) error
	// RemoveAll removes a directory and its contents, or a file. A missing one is not an error.
	RemoveAll(dir string) error
	// List returns the names in a directory, sorted, without the directory's own.
	List(dir string) ([]string, error)
	// Stat describes a file or a directory.
	Stat(name string) (Info, error)
	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error
	// Lock acquires the exclusive lock of the file name. It creates the file if necessary, and
	// writes the process's id into it if there is space. If the lock is held, by another process or
	// this one, it fails at once with a *LockedError. Closing the result releases the lock and
	// leaves an empty file. The lock of a process that dies is released.
	Lock(name string) (io.Closer, error)
	// OpenRoot opens a directory as a separate file system, whose names start in it and cannot lead
	// out of it. It still refers to the same directory if that is renamed or another directory gets
	// its name.
	OpenRoot(dir string) (Root, error)
	// HostFile opens an existing file with the flags of os.OpenFile, for a library that needs a
	// file of the operating system. Data written to it becomes visible in the FS, and durable, only
	// after Commit.
	HostFile(name string, flag int) (*os.File, error)
	// Commit calls commit, which must change the host file of name atomically and durably, for
	// example a bbolt transaction. It is one operation: after an error, the change may or may not
	// have happened.
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
	// Close releases the directory. Open files stay open.
	io.Closer
}

// File is an open file. Write appends to the end of the file.
type File interface {
	io.Writer
	io.ReaderAt
	io.Closer
	// Sync makes the file's bytes and size durable.
	Sync() error
	// Truncate sets the size. A file that grows is filled with zeros. The next Write appends at the
	// new end.
	Truncate(size int64) error
	// Size returns the size in bytes.
	Size() (int64, error)
	// Mmap maps the file's current content for reading. data is nil if the file is empty. unmap may
	// be called more than once, and data must not be accessed after it. If the file was truncated
	// in the meantime, reading data faults (debug.SetPanicOnFault).
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

// Map maps a file of the disk like File.Mmap.
func Map(f *os.File) (data []byte, unmap func() error, err error) { return (&diskFile{f: f}).Mmap() }

// Reserve returns size zero bytes, and a function that releases them and may be called more than once.
// They use memory only where they are written, except on systems without Mmap. A size that no memory can have
// is an error.
func Reserve(size int64) (data []byte, release func() error, err error) {
	if size < 0 || size != int64(int(size)) {
		return nil, nil, errTooLarge
	}
	if size == 0 {
		return nil, func() error { return nil }, nil
	}
	data, free, err := reserve(int(size))
	if err != nil {
		return nil, nil, err
	}
	return data, sync.OnceValue(free), nil
}

// allocate returns size zero bytes, or an error if they exceed the address space.
func allocate(size int) (data []byte, err error) {
	defer func() {
		if recover() != nil {
			err = errTooLarge
		}
	}()
	return make([]byte, size), nil
}

// Info describes a file.
type Info struct {
	Size  int64 // in bytes; 0 for a directory
	IsDir bool
}

// ErrLocked is wrapped by a *LockedError.
var ErrLocked = errors.New("locked by another process")

// ErrNoLocks is the cause if Lock fails because the file system has no locks: two processes could
// write there at the same time.
var ErrNoLocks = errors.New("the file system has no locks, which prevent a second process from writing; open the database read-only")

// LockedError says that a lock is held, and by which process.
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
