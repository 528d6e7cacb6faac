package merges

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// TestThrottle writes through a throttle: at its rate, not at all while it is paused, and at once
// when it is opened. The clock is virtual, so a busy machine does not matter.
func TestThrottle(t *testing.T) { synctest.Test(t, testThrottle) }

func testThrottle(t *testing.T) {
	th := NewThrottle(0)
	ctx := context.Background()
	if d, err := th.Wait(ctx, math.MaxInt32, true); d != 0 || err != nil {
		t.Fatalf("without a rate: %v, %v", d, err)
	}
	th.SetRate(1 << 20)
	start := time.Now()
	for range 4 {
		if _, err := th.Wait(ctx, Burst/2, true); err != nil {
			t.Fatal(err)
		}
	}
	if d := time.Since(start); d < 200*time.Millisecond { // the first 256 KiB are free
		t.Errorf("half a mebibyte at a mebibyte a second took %v", d)
	}
	th.SetRate(1)
	soon, cancelSoon := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancelSoon()
	if _, err := th.Wait(soon, 100, true); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("100 bytes at one a second: %v", err)
	}
	th.SetRate(0)
	th.Pause(true)
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if d, err := th.Wait(short, 1, true); !errors.Is(err, context.DeadlineExceeded) || d < 10*time.Millisecond {
		t.Errorf("paused: %v, %v", d, err)
	}
	if _, err := th.Wait(ctx, 1, false); err != nil {
		t.Errorf("what a caller asked for: %v", err)
	}
	lower := th.Lift()
	if _, err := th.Wait(ctx, 1, true); err != nil {
		t.Errorf("while a caller waits: %v", err)
	}
	lower()
	done := make(chan error)
	for _, release := range []func(){func() { th.Pause(false) }, th.Open} {
		th.Pause(true)
		go func() {
			_, err := th.Wait(ctx, 1, true)
			done <- err
		}()
		select {
		case <-done:
			t.Fatal("it writes although it is paused")
		case <-time.After(10 * time.Millisecond):
		}
		release()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	th.SetRate(1)
	if d, err := th.Wait(ctx, math.MaxInt32, true); d != 0 || err != nil {
		t.Errorf("opened: %v, %v", d, err)
	}
}
