package vfs

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
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
	// Wait returns soon after the low half of a word differs from that of old and Wake was called for
	// it, at the latest after a few milliseconds.
	Wait(word int, old uint64)
	// Wake lets one waiting goroutine of any process return, or none.
	Wake(word int)
	// Join makes the opener a member until Close, or until its process dies, and reports whether there
	// is no other member. A member may call it again. One process at a time may call it.
	Join() (alone bool, err error)
	Close() error
}

// longestWait limits Wait: the process that would call Wake may die.
const longestWait = 5 * time.Millisecond

// Poll is Wait without help by the system.
func Poll(word *atomic.Uint64, old uint64) {
	for pause, end := 50*time.Microsecond, time.Now().Add(longestWait); word.Load() == old && time.Now().Before(end); {
		time.Sleep(pause)
		pause = min(2*pause, longestWait/10)
	}
}

// ErrNotShared is the cause if OpenShared fails because of the file system or the operating system.
var ErrNotShared = fmt.Errorf("processes cannot share a database there: only one at a time can have it open for writing (%w)", errors.ErrUnsupported)

// errNetwork returns the error for a network file system: two machines can lock a file there, but
// have no memory in common.
func errNetwork(path, kind string) error {
	return fmt.Errorf("%s is on %s, a network file system: %w", path, kind, ErrNotShared)
}
