package compaction

import (
	"context"
	"io"
	"sync"
	"time"
)

// A Throttle limits the bytes per second that all merges write together, and holds back those
// in the background while they are paused. Make it with NewThrottle.
type Throttle struct {
	mu      sync.Mutex
	rate    int64         // bytes a second; 0 for no limit
	paused  bool          // by the user
	lifted  int           // callers that wait for what is paused
	opened  bool          // for good: the database is being closed
	next    time.Time     // when what has been written is paid for
	changed chan struct{} // closed, and replaced, when one of the above changes
}

// NewThrottle returns a throttle with a rate in bytes a second, 0 for no limit.
func NewThrottle(rate int64) *Throttle {
	return &Throttle{rate: max(rate, 0), changed: make(chan struct{})}
}

// Burst is how many bytes may be written at once after a pause, unless the rate allows fewer in
// a second. Large writes are throttled in steps of this size.
const Burst = 256 << 10

// set changes the throttle and wakes those who wait.
func (t *Throttle) set(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	close(t.changed)
	t.changed = make(chan struct{})
}

// Open lets everything through from now on.
func (t *Throttle) Open() { t.set(func() { t.opened = true }) }

// Pause holds back merges in the background until it is called with false.
func (t *Throttle) Pause(on bool) { t.set(func() { t.paused = on }) }

// SetRate sets how many bytes a second are written; 0 means no limit.
func (t *Throttle) SetRate(rate int64) { t.set(func() { t.rate = max(rate, 0) }) }

// Lift lets merges that are paused run until the function it returns is called.
func (t *Throttle) Lift() (lower func()) {
	t.set(func() { t.lifted++ })
	return func() { t.set(func() { t.lifted-- }) }
}

// Paused reports whether merges in the background are paused, lifted or not.
func (t *Throttle) Paused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.paused
}

// Wait returns once n more bytes may be written, and how long that took.
func (t *Throttle) Wait(ctx context.Context, n int, background bool) (waited time.Duration, err error) {
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
func (t *Throttle) look(n int, background bool, paid *bool) (changed chan struct{}, until time.Time) {
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
		if rested := now.Add(-t.price(int(min(Burst, t.rate)))); t.next.Before(rested) {
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
func (t *Throttle) price(n int) time.Duration {
	return time.Duration(float64(n) / float64(t.rate) * float64(time.Second))
}

// A pacedWriter writes to Out as fast as the throttle lets it.
type pacedWriter struct {
	Ctx        context.Context // ends the waiting
	Out        io.Writer
	Throttle   *Throttle
	Background bool
	Waited     func(time.Duration) // called with how long each piece has waited
}

// Write writes b, in pieces.
func (w pacedWriter) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		piece := b[:min(len(b), Burst)]
		waited, err := w.Throttle.Wait(w.Ctx, len(piece), w.Background)
		w.Waited(waited)
		if err != nil {
			return n, err
		}
		k, err := w.Out.Write(piece)
		n += k
		if err != nil {
			return n, err
		}
		b = b[k:]
	}
	return n, nil
}
