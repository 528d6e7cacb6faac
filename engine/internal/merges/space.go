package merges

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/internal/vfs"
)

// On a nearly full disk, writes and flushes have precedence over merges, which need space for their
// results and free other space only when the results are published. A merge in the background
// starts only if there is space for its result, and every merge gives way when a log or a flush
// runs out of space. If the log or the flush still finds no space, it has changed nothing, and the
// next write tries again.

// ErrGaveWay is the cause of cancellation of a merge that gives way.
var ErrGaveWay = errors.New("a merge was stopped to make space for a write")

// GiveWay cancels all running merges, and returns how many have ended. Their unfinished files are
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

// Run returns a context for a merge that ends when the merge gives way. The caller must call done.
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

// Why returns why a merge with a context from Run failed: for lack of space if it gave way.
func Why(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == ErrGaveWay {
		err = &vfs.NoSpaceError{Err: fmt.Errorf("%w: %w", ErrGaveWay, syscall.ENOSPC)}
	}
	return err
}

// resultSize estimates how many bytes a merge will write.
func resultSize(j *compaction.Job, tables []compaction.Table, o compaction.Options) (size int64) {
	for _, t := range tables {
		for _, number := range j.Tables {
			if t.Number == number && t.Docs > 0 && (t.Held || t.MaxTime >= o.Expired) {
				size += int64(float64(t.Size) * float64(t.Docs-t.Dead) / float64(t.Docs))
			}
		}
	}
	return size
}
