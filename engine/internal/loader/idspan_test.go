package loader

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/simdb/simdb/engine/internal/view"
)

// TestLoadedIDs compares the results for chunks with their IDs: chunks reported as apart share no
// ID with earlier chunks, and chunks of sorted IDs are all apart.
func TestLoadedIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 12))
	next := 0
	for name, make := range map[string]func() string{
		"numbers":              func() string { next++; return fmt.Sprint(next) },
		"numbers, descending":  func() string { next++; return fmt.Sprint(100_000_000 - next) },
		"words in their order": func() string { next++; return fmt.Sprintf("%08d", next) + "x"[:r.IntN(2)] },
		"few":                  func() string { return fmt.Sprint(r.IntN(2000)) },
		"at random":            func() string { return fmt.Sprint(r.Uint64()) },
	} {
		var loaded loadedIDs
		var before map[string]bool
		for round := range 100 {
			if round%10 == 0 {
				loaded, before, next = newLoadedIDs(), map[string]bool{}, 0
			}
			c, ids, again := newChunk(1, false), []string{}, false
			for range r.IntN(300) {
				ids = append(ids, make())
				again = again || before[ids[len(ids)-1]]
				c.add(&view.Doc{ID: ids[len(ids)-1]}, idSlot{}, time.Now)
			}
			apart := loaded.take(c)
			if apart && again {
				t.Fatalf("%s, round %d: an ID comes again", name, round)
			}
			if sorted := name != "few" && name != "at random"; sorted && !apart {
				t.Errorf("%s, round %d: the IDs are not known to be others", name, round)
			}
			for _, id := range ids {
				before[id] = true
			}
			c.batch.Strings.Reset() // as the next chunk does
		}
	}
}
