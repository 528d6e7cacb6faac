package store

import (
	"context"
	"fmt"
	"time"

	"github.com/simdb/simdb/engine/internal/merges"
	"github.com/simdb/simdb/engine/internal/view"
)

// A scrub begins scrubEvery after the last one. While memtables are flushed or tables merged, it
// looks again after scrubLook.
const (
	scrubEvery = 24 * time.Hour
	scrubLook  = 100 * time.Millisecond
)

// scrub verifies the checksums of all tables again and again, until ctx ends.
func (db *Store) scrub(ctx context.Context) {
	pace := merges.NewThrottle(db.opts.ScrubRate)
	for next := time.Now(); sleep(ctx, time.Until(next)) == nil; next = next.Add(scrubEvery) {
		for after := uint64(0); ctx.Err() == nil; {
			v, err := db.acquire()
			if err != nil {
				return
			}
			var p *view.Part // the next table in the order of numbers
			for i := range v.Parts {
				if n := v.Parts[i].Meta.Number; n > after && (p == nil || n < p.Meta.Number) {
					p = &v.Parts[i]
				}
			}
			if p == nil {
				db.unref(v)
				break
			}
			only := view.NewVersion([]view.Part{*p}, db.Small) // the files of other tables may be removed meanwhile
			db.unref(v)
			after = p.Meta.Number
			db.scrubTable(ctx, p, pace)
			db.unref(only)
		}
	}
}

// scrubTable verifies a table, unless it is known to be damaged, or until it is no longer needed.
func (db *Store) scrubTable(ctx context.Context, p *view.Part, pace *merges.Throttle) {
	if p.Damage.Load() != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	read := int64(0)
	step := func(done, _ int64) {
		for !db.Idle() && sleep(ctx, scrubLook) == nil {
		}
		if _, err := pace.Wait(ctx, int(done-read), true); err != nil || p.Obsolete.Load() {
			cancel()
		}
		db.Counts.BytesScrubbed.Add(done - read)
		read = done
	}
	if err := p.VerifySums(ctx, step); err == nil {
		step(p.Meta.Size, 0)
	} else if db.SetApart(p, err) {
		db.log.Error("a table is damaged", "path", db.Path, "err", err)
		db.event(Event{Kind: EventError, Tables: []uint64{p.Meta.Number}, Err: fmt.Errorf("scrub: %w", err)})
	}
}

// sleep waits for a duration, or until ctx ends, and returns its error.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err()
}
