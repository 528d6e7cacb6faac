package compaction

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/simdb/simdb/internal/vfs"
)

// On a disk that is nearly full, writes and flushes have precedence over merges, which need space
// for their results and give it back only when these are published: a merge in the background
// begins only if there is space for its result, and every merge gives way when a log or a flush
// finds no space. What finds no space even then has changed nothing, and is tried again by the next
// write.

// ErrGaveWay is the reason why a merge that gives way ends.
var ErrGaveWay = errors.New("a merge gave its space to a write")

// GiveWay ends all running merges, and returns how many there were. Their unfinished files are
// gone when it returns.
func (g *Scheduler) GiveWay(ctx context.Context) (ended int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.postpone()
	var all []*Merge
	for _, m := range g.running {
		all = append(all, m)
		m.gaveWay = true
		if m.giveUp != nil {
			m.giveUp(ErrGaveWay)
		}
	}
	for _, m := range all {
		for g.running[m.Job] == m {
			if g.sleep(ctx) != nil {
				return ended
			}
		}
		ended++
	}
	return ended
}

// Run returns a context for a merge that ends when the merge gives way; the caller calls done.
func (g *Scheduler) Run(ctx context.Context, m *Merge) (running context.Context, done func()) {
	running, giveUp := context.WithCancelCause(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	m.giveUp = giveUp
	if m.gaveWay {
		giveUp(ErrGaveWay)
	}
	return running, func() { giveUp(nil) }
}

// Why returns why a merge failed in a context of Run: for lack of space if it gave way.
func Why(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == ErrGaveWay {
		err = &vfs.NoRoomError{Err: fmt.Errorf("%w: %w", ErrGaveWay, syscall.ENOSPC)}
	}
	return err
}

// resultSize estimates how many bytes a merge writes.
func resultSize(j *Job, tables []Table, o Options) (size int64) {
	for _, t := range tables {
		for _, number := range j.Tables {
			if t.Number == number && t.Docs > 0 && (t.Held || t.MaxTime >= o.Expired) {
				size += int64(float64(t.Size) * float64(t.Docs-t.Dead) / float64(t.Docs))
			}
		}
	}
	return size
}
