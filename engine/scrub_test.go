package engine

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/must"
)

// TestScrub verifies tables in the background: an undamaged one completely, a damaged one until it
// is set apart. A scrub keeps its rate, and Close ends it.
func TestScrub(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.simdb")
	sectionsDatabase(t, path)
	scrubbed := func(done func(*DB) bool) (events []Event) {
		t.Helper()
		said := make(chan Event, 9)
		db := must.Get(Open(path, &Options{ScrubRate: 100 << 20, OnEvent: func(e Event) { said <- e }}))(t)
		for end := time.Now().Add(20 * time.Second); !done(db) && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		if !done(db) {
			t.Errorf("%+v", db.Metrics())
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		for len(said) > 0 {
			if e := <-said; e.Kind == "error" {
				events = append(events, e)
			}
		}
		return events
	}
	if e := scrubbed(func(db *DB) bool {
		return db.Metrics().Damaged == nil && db.Metrics().BytesScrubbed == must.Get(db.Stats())(t).Tables[0].Bytes
	}); e != nil {
		t.Errorf("undamaged: %v", e)
	}
	for what := range flipEach(t, path, "blocks", 1) {
		if e := scrubbed(func(db *DB) bool { return len(db.Metrics().Damaged) == 1 }); len(e) != 1 || !isDamage(e[0].Err) || len(e[0].Tables) != 1 {
			t.Errorf("%s: %v", what, e)
		}
	}
	start := time.Now()
	db := must.Get(Open(path, &Options{ScrubRate: 1000}))(t)
	time.Sleep(500 * time.Millisecond) // it looks for idleness every 100
	if n := db.Metrics().BytesScrubbed; n > 0 {
		t.Errorf("%d bytes at once, at 1,000 bytes per second", n)
	}
	if err := db.Close(); err != nil || time.Since(start) > 10*time.Second {
		t.Errorf("closed after %v: %v", time.Since(start), err)
	}
}
