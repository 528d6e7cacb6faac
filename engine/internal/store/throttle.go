package store

import (
	"context"
	"io"
	"sync"
	"time"
)

// A throttle holds merges back: to a number of bytes a second that they write together, and those
// in the background while they are paused.
type throttle struct {
	mu      sync.Mutex
	rate    int64         // bytes a second; 0 for no limit
	paused  bool          // by the user
	lifted  int           // callers that wait for what is paused
	opened  bool          // for good: the database is being closed
	next    time.Time     // when what has been written is paid for
	changed chan struct{} // closed, and replaced, when one of the above changes
}

// burst is how much may be written at once after a rest, and the step in which a large write is
// paid for.
const burst = 256 << 10

// set changes the throttle and wakes those who wait.
func (t *throttle) set(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *throttle) open()              { t.set(func() { t.opened = true }) }
func (t *throttle) pause(on bool)      { t.set(func() { t.paused = on }) }
func (t *throttle) setRate(rate int64) { t.set(func() { t.rate = max(rate, 0) }) }

// lift lets merges that are paused run until the function it returns is called.
func (t *throttle) lift() (lower func()) {
	t.set(func() { t.lifted++ })
	return func() { t.set(func() { t.lifted-- }) }
}

// isPaused reports whether no merge is to start in the background.
func (t *throttle) isPaused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.paused
}

// wait returns once n more bytes may be written, and how long that took.
func (t *throttle) wait(ctx context.Context, n int, background bool) (waited time.Duration, err error) {
	var start time.Time
	for paid := false; ; {
		changed, until := t.look(n, background, &paid)
		if changed == nil {
			break
		}
		if start.IsZero() {
			start = time.Now()
		}
		var timer <-chan time.Time
		if !until.IsZero() {
			timer = time.After(time.Until(until))
		}
		select {
		case <-ctx.Done():
			return time.Since(start), ctx.Err()
		case <-changed:
		case <-timer:
		}
	}
	if !start.IsZero() {
		waited = time.Since(start)
	}
	return waited, nil
}

// look returns nil if the bytes may be written now, and otherwise what changes before they may, and
// when they are paid for, zero if that is not what is waited for. Paid is set once the bytes are in
// the account.
func (t *throttle) look(n int, background bool, paid *bool) (changed chan struct{}, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch now := time.Now(); {
	case t.opened:
		return nil, until
	case background && t.paused && t.lifted == 0:
		return t.changed, until
	case t.rate == 0:
		return nil, until
	case !*paid:
		*paid = true
		if rested := now.Add(-t.price(burst)); t.next.Before(rested) {
			t.next = rested
		}
		t.next = t.next.Add(t.price(n))
		fallthrough
	default:
		if t.next.After(now) {
			return t.changed, t.next
		}
		return nil, until
	}
}

// price is the time that n bytes take by the rate. The caller holds mu.
func (t *throttle) price(n int) time.Duration {
	return time.Duration(float64(n) / float64(t.rate) * float64(time.Second))
}

// A heldWriter writes what a merge writes, as fast as the throttle lets it.
type heldWriter struct {
	ctx context.Context
	out io.Writer
	t   *throttle
	m   *merge
}

// Write writes b, in pieces.
func (w heldWriter) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		piece := b[:min(len(b), burst)]
		waited, err := w.t.wait(w.ctx, len(piece), w.m.background)
		w.m.waited.Add(int64(waited))
		if err != nil {
			return n, err
		}
		k, err := w.out.Write(piece)
		n += k
		if err != nil {
			return n, err
		}
		b = b[k:]
	}
	return n, nil
}

// PauseCompaction keeps merges from starting in the background, and has those that run wait, until
// ResumeCompaction. What a caller asks for (Compact, CompactDue) is done all the same, and Close
// finishes what waits. Meanwhile writers are not held back, however many tables there are.
func (db *Store) PauseCompaction() {
	db.merges.throttle.pause(true)
	db.merges.mu.Lock()
	defer db.merges.mu.Unlock()
	db.merges.signal() // to writers
}

// ResumeCompaction ends what PauseCompaction began.
func (db *Store) ResumeCompaction() {
	db.merges.throttle.pause(false)
	db.WakeCompact()
}

// SetCompactionRate sets how many bytes a second merges write together; 0 means no limit.
func (db *Store) SetCompactionRate(bytes int64) { db.merges.throttle.setRate(bytes) }
