package vfs

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// SharedWords is the number of words of a SharedMemory.
const SharedWords = 512

// A Sharer is an FS that has memory which processes share.
type Sharer interface {
	// OpenShared opens the file name, which it creates if necessary, as memory that is shared by all
	// processes that have the file open. The file must not be removed. The error is ErrNotShared
	// where a second machine may have the file open.
	OpenShared(name string) (SharedMemory, error)
}

// SharedMemory is a file whose words are shared by processes. A change of a word is visible to all of
// them at once. The words are zero when the file is created, and what they are after a crash of the
// machine is unknown.
type SharedMemory interface {
	// Words returns the memory. It can be accessed while the SharedMemory is reachable, also after
	// Close, so that goroutines need not be stopped before.
	Words() *[SharedWords]atomic.Uint64
	// Alone reports whether nobody else has the file open, which a process that dies has not. One
	// process at a time may ask.
	Alone() (bool, error)
	Close() error
}

// ErrNotShared is the cause if OpenShared fails because of the file system or the operating system.
var ErrNotShared = fmt.Errorf("processes cannot share a database there: only one at a time can have it open for writing (%w)", errors.ErrUnsupported)

// errNetwork returns the error for a network file system: two machines can lock a file there, but
// have no memory in common.
func errNetwork(path, kind string) error {
	return fmt.Errorf("%s is on %s, a network file system: %w", path, kind, ErrNotShared)
}
