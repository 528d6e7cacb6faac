package merges

import (
	"cmp"
	"context"
	"io"
	"sync"
	"time"
)

// A Throttle limits the total write rate of merges, and suspends those in the background while they
// are paused. Make it with NewThrottle.
type Throttle struct {
	mu      sync.Mutex
	rate    int64         // bytes per second; 0 for no limit
	paused  bool          // set by Pause
	lifted  int           // number of callers that wait for paused merges
	opened  bool          // set for good when the database is being closed
	next    time.Time     // when the bytes written so far are within the rate
	changed chan struct{} // closed, and replaced, when one of the above changes
}

// NewThrottle returns a throttle with a rate in bytes per second, 0 for no limit.
func NewThrottle(rate int64) *Throttle {
	return &Throttle{rate: max(rate, 0), changed: make(chan struct{})}
}

// Burst is how many bytes may be written at once after a period without writes, but at most those
// of a second. Large writes are throttled in steps of this size.
const Burst = 256 << 10

// set changes the throttle and wakes waiting goroutines.
func (t *Throttle) set(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	close(t.changed)
	t.changed = make(chan struct{})
}

// Open removes all limits for good.
func (t *Throttle) Open() { t.set(func() { t.opened = true }) }

// Pause suspends merges in the background if on is true, and lets them continue if it is false.
func (t *Throttle) Pause(on bool) { t.set(func() { t.paused = on }) }

// SetRate sets the rate in bytes per second; 0 means no limit.
func (t *Throttle) SetRate(rate int64) { t.set(func() { t.rate = max(rate, 0) }) }

// Lift lets paused merges run until the returned function is called.
func (t *Throttle) Lift() (lower func()) {
	t.set(func() { t.lifted++ })
	return func() { t.set(func() { t.lifted-- }) }
}

// Paused reports whether merges in the background are paused, even if Lift lets them run.
func (t *Throttle) Paused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.paused
}

// Wait waits until n more bytes may be written, and returns how long it waited.
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

// look returns nil if n bytes may be written now. Otherwise it returns a channel that is closed at
// the next change and, if the rate is the reason, the time until which to wait. It sets paid once
// the bytes have been counted.
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

// price is the time for n bytes at the current rate. The caller holds mu.
func (t *Throttle) price(n int) time.Duration {
	return time.Duration(float64(n) / float64(t.rate) * float64(time.Second))
}

// A pacedWriter writes to Out as fast as the throttle allows.
type pacedWriter struct {
	Ctx        context.Context // ends waiting
	Out        io.Writer
	Throttle   *Throttle
	Background bool
	Waited     func(time.Duration) // called with the waiting time of each piece
}

// Write writes b, in pieces.
func (w pacedWriter) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		piece := b[:min(len(b), Burst)]
		waited, err := w.Throttle.Wait(w.Ctx, len(piece), w.Background)
		w.Waited(waited)
		if err = cmp.Or(err, w.Ctx.Err()); err != nil {
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
