package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/simdb/simdb/compaction"
	"github.com/simdb/simdb/internal/must"
)

// TestWindow writes documents to a database with a time to live of two days, with a clock that
// advances with the writes. From the second window on, tables may store at most 1.25 times the
// living documents, at every minute of the clock, while merges run in the background. The window
// has 20,000 documents; flushes and tiers are scaled from a window of 48 million, which is 278 per
// second.
func TestWindow(t *testing.T) {
	const (
		window  = 20_000
		ttl     = 48 * time.Hour
		minutes = int(ttl / time.Minute)
		full    = 48_000_000
	)
	ctx := context.Background()
	var now atomic.Int64
	now.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	var written, merged atomic.Int64
	db := must.Get(Create(filepath.Join(hostDir(t), "x.simdb"), &Options{
		NoText: true, NoSketch: true, NoSync: true, TTL: ttl, now: func() time.Time { return time.Unix(0, now.Load()) },
		MemtableBytes: max(16<<20*window/full, 4096), policy: compaction.Options{Smallest: max(4<<20*int64(window)/full, 1)},
		OnEvent: func(e Event) {
			switch e.Kind {
			case "flush":
				written.Add(int64(e.Docs))
			case "compact":
				merged.Add(int64(e.Docs))
			}
		},
	}))(t)
	defer db.Close()
	r := rand.New(rand.NewPCG(1, 1))
	docs, worst, sum, most := 0, 0.0, 0.0, 0
	for minute := range 3 * minutes {
		now.Add(int64(time.Minute))
		var b Batch
		for ; docs < (minute+1)*window/minutes; docs++ {
			b.Put(Doc{ID: fmt.Sprint(docs), Fingerprints: []Fingerprint{{r.Uint64()}}})
		}
		must.Do(t, db.Apply(ctx, &b))
		// In a minute of real time merges would have ended.
		until(t, "merges have ended", db.s.Idle)
		if minute < minutes {
			continue
		}
		st := must.Get(db.Stats())(t)
		stored := int64(0)
		for _, table := range st.Tables {
			stored += table.Documents
		}
		living := float64(int64(window) - st.Memtable)
		worst, sum, most = max(worst, float64(stored)/living), sum+float64(stored)/living, max(most, len(st.Tables))
		if off := float64(st.Documents)/float64(window) - 1; off < -0.02 || off > 0.02 {
			t.Fatalf("minute %d: %d documents by the estimate, %d live", minute, st.Documents, window)
		}
	}
	m := db.Metrics()
	t.Logf("stored/living mean %.3f, most %.3f; documents written %.2f times, bytes %.2f; at most %d tables; %d merges, %d stalls", sum/float64(2*minutes), worst,
		1+float64(merged.Load())/float64(written.Load()), m.WriteAmplification, most, m.Compactions, m.Stalls)
	if worst > 1.25 || most > 16 {
		t.Error("too much")
	}
}
