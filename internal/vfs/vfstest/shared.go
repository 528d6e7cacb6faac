package vfstest

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/simdb/simdb/internal/vfs"
)

// sharedWords is the memory of a file that is open by OpenShared.
type sharedWords struct {
	words   [vfs.SharedWords]atomic.Uint64
	members int
}

// memShared is one opener of sharedWords.
type memShared struct {
	m *Mem
	*sharedWords
	member bool
}

// OpenShared implements vfs.Sharer. CrashClone and KillClone have nothing open.
func (m *Mem) OpenShared(name string) (vfs.SharedMemory, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.mutate("share", name); err != nil {
		return nil, err
	}
	n, err := m.create(name)
	if err != nil {
		return nil, err
	}
	s := m.shared[n]
	if s == nil {
		s = new(sharedWords)
		m.shared[n] = s
	}
	return &memShared{m: m, sharedWords: s}, nil
}

func (s *memShared) Words() *[vfs.SharedWords]atomic.Uint64 { return &s.words }

func (s *memShared) Wait(word int, old uint64) { vfs.Poll(&s.words[word], old) }

func (s *memShared) Wake(int) {}

func (s *memShared) Join() (bool, error) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if !s.member {
		s.member = true
		s.members++
	}
	return s.members == 1, nil
}

func (s *memShared) Close() error {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if s.member {
		s.member = false
		s.members--
	}
	return nil
}

// OpenShared implements vfs.Sharer.
func (y *Faulty) OpenShared(name string) (vfs.SharedMemory, error) {
	s, err := get(y, OpLock, name, y.inner.(vfs.Sharer).OpenShared)
	if err == nil {
		y.holds(s)
	}
	return s, err
}

// holds records a lock or mapping that the process has until it ends.
func (y *Faulty) holds(c io.Closer) {
	y.heldMu.Lock()
	defer y.heldMu.Unlock()
	y.held = append(y.held, c)
}

// End does to other users of the file system what the end of a process does: all locks and the shared
// memory that y has given are released. The operations of the process must not go on.
func (y *Faulty) End() {
	y.commits.Lock() // a commit that has begun ends first
	defer y.commits.Unlock()
	for range 2 { // a library that has just opened a host file may lock it
		y.heldMu.Lock()
		for _, c := range y.held {
			c.Close() // a second Close does nothing
		}
		y.heldMu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
}

// hostLock is the lock that a library may have on a host file.
type hostLock struct{ f *os.File }

func (l hostLock) Close() error { return unlockFile(l.f) }
