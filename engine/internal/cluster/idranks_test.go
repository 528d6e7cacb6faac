package cluster

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestInIDOrder sorts IDs with long common prefixes, and IDs that are prefixes of others followed
// by zero bytes.
func TestInIDOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 5))
	for range 200 {
		distinct := map[string]bool{}
		prefix := strings.Repeat("p", r.IntN(12))
		for range r.IntN(600) {
			id := []byte(prefix)
			for range r.IntN(20) {
				id = append(id, "\x00\x00\x01ab\xff"[r.IntN(6)])
			}
			if len(id) > 0 {
				distinct[string(id)] = true
			}
		}
		var list idList
		for id := range distinct {
			list.add([]byte(id))
		}
		ids := list.all()
		order := inIDOrder(ids)
		if len(ids) != len(distinct) || len(order) != len(ids) {
			t.Fatalf("%d IDs, %d copied, %d in order", len(distinct), len(ids), len(order))
		}
		for i := 1; i < len(order); i++ {
			if bytes.Compare([]byte(ids[order[i-1]]), []byte(ids[order[i]])) >= 0 {
				t.Fatalf("%q comes before %q", ids[order[i-1]], ids[order[i]])
			}
		}
	}
}
