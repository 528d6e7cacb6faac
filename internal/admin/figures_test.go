package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query"
)

// TestStatsSequence checks that a sequence number above the int64 range is shown unchanged.
func TestStatsSequence(t *testing.T) {
	const seq = 1<<63 + 5
	for _, row := range database(engine.Stats{Seq: seq}) {
		if row[0] == "seq" {
			if v, _ := row[1].(json.RawMessage); string(v) != fmt.Sprint(uint64(seq)) {
				t.Errorf("seq is %v", row[1])
			}
			return
		}
	}
	t.Error("no row seq")
}

// TestStatsMerges checks the rows about finished and running merges.
func TestStatsMerges(t *testing.T) {
	past := []engine.Event{
		{Tables: []uint64{3, 4}, Output: 7, Reason: "tier", Docs: 10, Bytes: 500, Duration: 1500 * time.Microsecond},
		{Tables: []uint64{5}, Reason: "drop"},
		{Tables: []uint64{6, 7}, Reason: "tier", Err: errors.New("disk full")},
	}
	running := []engine.Event{{Tables: []uint64{8, 9}, Reason: "window", InputBytes: 900, Done: 0.254, Duration: time.Second}}
	want := []query.Row{
		{"merge 000003 000004 > 000007", "tier: 10 documents, 500 bytes, 2ms"},
		{"merge 000005", "drop: 0 documents, 0 bytes, 0s"},
		{"merge 000006 000007", "tier: failed: disk full"},
		{"merging 000008 000009", "window: 900 bytes, 25 % in 1s"},
	}
	if got := merges(running, past); !slices.EqualFunc(got, want, func(a, b query.Row) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		t.Errorf("got %v", got)
	}
	m := engine.Metrics{Flushes: 1, BytesFlushed: 100, BytesLoaded: 100, BytesCompacted: 300, WriteAmplification: 2.5}
	if rows := work(m); !slices.ContainsFunc(rows, func(r query.Row) bool { return r[0] == "write_amplification" && r[1] == "2.50" }) {
		t.Errorf("got %v", rows)
	}
	m = engine.Metrics{CacheSize: 1000, CacheBytes: 500, CacheHits: 3, CacheMisses: 1}
	if rows := cached(m); len(rows) != 1 || rows[0][1] != "500 of 1000 bytes, 75.0 % of 4 reads found" {
		t.Errorf("got %v", rows)
	}
	if rows := cached(engine.Metrics{CacheSize: 1000}); rows != nil {
		t.Errorf("of a cache that was not used: %v", rows)
	}
	if rows := work(engine.Metrics{}); rows != nil {
		t.Errorf("of a database that was only read: %v", rows)
	}
}
