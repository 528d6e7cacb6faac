package dedup

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/setjoin"
)

// TestForgedChain reads rows that no run writes: a long chain of equals, and many rows about its
// end. That takes a time in proportion to the rows: walking the chain for each takes seconds.
func TestForgedChain(t *testing.T) {
	const n = 100_000
	var b strings.Builder
	for i := n - 1; i > 0; i-- {
		fmt.Fprintf(&b, `{"number":%d,"like":[[%d,1]]}`, i, i-1)
	}
	fmt.Fprintf(&b, `{"number":%d,"like":[[0,1]%s]}`, n-1, strings.Repeat(",[0,1]", n-1))
	r := &replay{head: app.AuditHead{Replay: &app.AuditReplay{Rows: n, Pairs: 2*n - 1}}}
	g := &setjoin.Graph{Same: make([]uint32, n)}
	for i := range g.Same {
		g.Same[i] = uint32(i)
	}
	start := time.Now()
	if err := r.readRows(json.NewDecoder(strings.NewReader(b.String())), g, 0.8); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	for i, least := range g.Same {
		if least != 0 {
			t.Fatalf("document %d is equal to %d, not to 0", i, least)
		}
	}
	if took > 3*time.Second*exhaustive.Slower {
		t.Errorf("reading %d rows takes %v", n, took)
	}
}
