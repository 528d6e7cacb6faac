package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/vfs"
)

// Several processes can have a database open for writing (Options.Shared). They write by turns: the
// process that has the lock of the database has the turn, and is the only writer, as if the others
// had opened the database read-only. A turn lasts for many writes, and ends when another process
// asks, or when nothing was written for turnTick:
//
//   - beginTurn locks, reads what others have written since, as Refresh does, and continues the
//     newest log at its end. If nobody else has had a turn, there is nothing to do.
//   - endTurn writes all frames to the log, ends older logs, closes the catalog and unlocks. Callers
//     that wait for an fsync go on waiting without the turn.
//
// A process may die at any point. In a turn it leaves what a killed process leaves: a torn frame,
// which the next turn cuts off, logs without frames and unlisted tables. The first process that opens
// the database recovers it; the last one that closes it ends the log.
//
// Flushes and publications pin the turn. Merges run without it, and pin it to publish; the lock
// MERGE lets one process merge at a time. If a merge of another process was published meanwhile, and
// its tables are gone, its result is dropped.
//
// A process without the turn looks at one word of shared memory to find out whether another one
// has written anything (follow).
type sharing struct {
	memory vfs.SharedMemory
	words  *[vfs.SharedWords]atomic.Uint64
	id     uint64 // of this store among all that have had the memory open

	mu   sync.Mutex  // one goroutine begins a turn; locked after publishMu, before readMu
	held atomic.Bool // this process has the turn; set under readMu and writeMu, cleared under writeMu

	seen  atomic.Uint64 // value of wordChanges up to which changes were read
	asked atomic.Uint64 // wordAsked when the turn began

	died atomic.Bool // the process that had the turn before has died, and its logs are not repaired; the holder of the lock sets it

	// The rest is guarded by writeMu.
	lock  io.Closer // of the turn, or nil
	pins  int       // the turn must not end
	began time.Time
	uses  uint64 // how often writeMu was locked for writing
	idle  uint64 // uses at the last tick

	mergeMu sync.Mutex
	merging io.Closer // the lock MERGE, or nil
}

// Words of the shared memory, in different cache lines. The first process that opens the database
// resets all but wordAsked and wordTurns.
const (
	wordChanges   = 0  // grows after each change that others can read
	wordAsked     = 8  // grows while processes wait for the turn
	wordHolder    = 16 // pid of the process that has the turn; 0 for none
	wordWriter    = 24 // id of the store that had the last turn
	wordMembers   = 32 // how many stores were opened
	wordFile      = 40 // number of the next file
	wordSyncedLog = 48 // newest log that was synced,
	wordSyncedEnd = 49 // and up to where; guarded by the lock SYNC
	wordFailed    = 56 // not 0 if a write or an fsync of a log has failed
	wordFull      = 57 // not 0 while the turn cannot end because the disk is full
	wordTurns     = 64 // grows when a turn ends
	wordSyncs     = 72 // grows when a log was synced
)

const (
	// turnTick is the shortest turn while others ask for it, and how long a turn goes on after the last
	// write.
	turnTick = 2 * time.Millisecond
	// turnWait is how long a process waits for a turn, unless Options.BusyTimeout is longer. After
	// excludedWait it gives up if the process with the lock does not share the database.
	turnWait, excludedWait = 30 * time.Second, 100 * time.Millisecond
	// createWait is how long Open waits at least for another process that creates the database, and
	// closeWait how long Close waits for a turn, in which it would end the log.
	createWait, closeWait = time.Second, time.Second
	// longestSync is how long a process waits for the fsync of another one, which may be stopped.
	longestSync = time.Second
	// mergePoll is how often a process looks whether another one has ended its merges.
	mergePoll = time.Millisecond
)

// share opens the shared memory.
func (db *Store) share() error {
	sharer, ok := db.Dir.Root.(vfs.Sharer)
	if !ok {
		return fmt.Errorf("%s: %w", db.Path, vfs.ErrNotShared)
	}
	memory, err := sharer.OpenShared(files.Shared)
	if err != nil {
		return err
	}
	db.sharing = &sharing{memory: memory, words: memory.Words()}
	return nil
}

// join makes the store a member, and reports whether it is the first one. The caller has the lock.
func (s *sharing) join() (alone bool, err error) {
	if alone, err = s.memory.Join(); alone {
		s.died.Store(false) // the first process recovers
	}
	for i := range s.words {
		if alone && i != wordAsked && i != wordTurns {
			s.words[i].Store(0)
		}
	}
	s.words[wordHolder].Store(pid)
	s.id = s.words[wordMembers].Add(1)
	return alone, err
}

// single reports whether no other store was opened since the first one.
func (s *sharing) single() bool { return s.words[wordMembers].Load() == 1 }

// acquire waits until it has the lock of the database. If a process that shares the database has it,
// acquire waits for at least turnWait. It sets died.
func (s *sharing) acquire(ctx context.Context, db *Store, wait time.Duration) (lock io.Closer, err error) {
	for start := time.Now(); ; {
		turns := s.words[wordTurns].Load()
		s.words[wordAsked].Add(1)
		lock, err = db.Dir.Lock(files.Lock)
		locked, ok := errors.AsType[*vfs.LockedError](err)
		switch {
		case !ok:
			if err == nil {
				s.died.Store(s.words[wordHolder].Swap(pid) != 0)
			}
			return lock, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case s.words[wordFull].Load() != 0 && time.Since(start) >= excludedWait:
			return nil, &vfs.NoSpaceError{Err: fmt.Errorf("process %d has to write the log first: %w", locked.PID, syscall.ENOSPC)}
		case time.Since(start) >= wait && (time.Since(start) >= turnWait || s.words[wordHolder].Load() == 0):
			return nil, files.LockedBy(db.Path, locked)
		}
		s.memory.Wait(wordTurns, turns)
	}
}

// release unlocks the database, and wakes a process that waits for it.
func (s *sharing) release(lock io.Closer) error {
	if !s.died.Load() {
		s.words[wordHolder].Store(0)
	}
	err := lock.Close()
	s.words[wordTurns].Add(1)
	s.memory.Wake(wordTurns)
	return err
}

// excluded returns ErrLocked if processes share the database. The caller has its lock.
func (db *Store) excluded() error {
	if _, err := db.Dir.Stat(files.Shared); err != nil {
		return nil
	}
	if err := db.share(); errors.Is(err, vfs.ErrNotShared) {
		return nil
	} else if err != nil {
		return err
	}
	alone, err := db.sharing.memory.Join()
	err = errors.Join(err, db.sharing.memory.Close())
	if alone {
		db.sharing.words[wordHolder].Store(0)
	}
	db.sharing = nil
	if err == nil && !alone {
		err = fmt.Errorf("%s: %w: processes share it", db.Path, files.ErrLocked)
	}
	return err
}

// changed tells other processes that there is something new to read.
func (db *Store) changed() {
	if s := db.sharing; s != nil {
		s.words[wordChanges].Add(1)
	}
}

// nextFileLocked returns the number of the next file without assigning it. The caller holds mu.
func (db *Store) nextFileLocked() uint64 {
	if s := db.sharing; s != nil {
		return max(db.nextFile, s.words[wordFile].Load())
	}
	return db.nextFile
}

// syncGroup calls sync for log number up to end, unless another process has synced it. If several
// processes wait, one syncs for all.
func (s *sharing) syncGroup(db *Store, number uint64, end int64, sync func() error) error {
	if s.single() {
		return sync()
	}
	done := func() bool {
		return s.words[wordSyncedLog].Load() == number && s.words[wordSyncedEnd].Load() >= uint64(end)
	}
	start := time.Now()
	for syncs := s.words[wordSyncs].Load(); !done(); syncs = s.words[wordSyncs].Load() {
		lock, err := db.Dir.Lock(files.SyncLock)
		if _, locked := errors.AsType[*vfs.LockedError](err); locked {
			if time.Since(start) > longestSync {
				return sync()
			}
			s.memory.Wait(wordSyncs, syncs)
			continue
		} else if err != nil {
			return err
		}
		if !done() {
			covers := uint64(end)
			if info, err := db.Dir.Stat(files.LogName(number)); err == nil {
				covers = uint64(info.Size)
			}
			if err = sync(); err == nil {
				s.words[wordSyncedEnd].Store(0)
				s.words[wordSyncedLog].Store(number)
				s.words[wordSyncedEnd].Store(covers)
			}
		}
		err = errors.Join(err, lock.Close())
		s.words[wordSyncs].Add(1)
		s.memory.Wake(wordSyncs)
		return err
	}
	s.memory.Wake(wordSyncs) // another goroutine may wait
	return nil
}

// lockMerges makes this process the one that merges. It returns ErrLocked if another one is.
func (db *Store) lockMerges() (err error) {
	s := db.sharing
	if s == nil {
		return nil
	}
	s.mergeMu.Lock()
	defer s.mergeMu.Unlock()
	if s.merging == nil {
		s.merging, err = db.Dir.Lock(files.MergeLock)
	}
	return err
}

// unlockMerges lets other processes merge, unless a merge is running.
func (db *Store) unlockMerges() {
	s := db.sharing
	if s == nil || len(db.merges.Running()) > 0 {
		return
	}
	s.mergeMu.Lock()
	defer s.mergeMu.Unlock()
	if s.merging != nil {
		s.merging.Close()
		s.merging = nil
	}
}

// awaitMerges waits until this process is the one that merges.
func (db *Store) awaitMerges(ctx context.Context) error {
	for {
		err := db.lockMerges()
		if _, locked := errors.AsType[*vfs.LockedError](err); !locked {
			return err
		}
		if err := db.takesWrites(); err != nil {
			return err
		}
		if err := sleep(ctx, mergePoll); err != nil {
			return err
		}
	}
}

// pid is what wordHolder has during a turn of this process.
var pid = uint64(os.Getpid())
