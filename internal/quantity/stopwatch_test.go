package quantity

import (
	"testing"
	"time"
)

// TestElapsed checks that times agree with the clock, and that short ones are not zero.
func TestElapsed(t *testing.T) {
	long, begin := Start(), time.Now()
	for range 20 {
		short := Start()
		for n := 0; short.Elapsed() == 0; n++ {
			if n == 1000 {
				t.Fatal("the clock stands still")
			}
		}
		if e := short.Elapsed(); e < 0 || e > 5*time.Second {
			t.Errorf("a moment takes %v", e)
		}
	}
	time.Sleep(50 * time.Millisecond)
	e := long.Elapsed()
	const step = 20 * time.Millisecond // resolution of time.Now on Windows
	if least, most := 50*time.Millisecond-step, time.Since(begin)+step; e < least || e > most {
		t.Errorf("%v, not between %v and %v", e, least, most)
	}
}
