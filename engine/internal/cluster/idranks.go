package cluster

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/ordered"
)

// idRanks are the IDs of some items, by rank.
type idRanks struct {
	ids   []string // copies, since the table may be gone when they are read
	items []uint32 // for sketches: items by rank
}

// rank sorts the IDs of items. Most comparisons need only the eight bytes after the common prefix
// of all IDs.
func (j *joinSet) rank(ctx context.Context, items collection.ItemSet) (*idRanks, func(item uint32) uint32, error) {
	n, numbered := items.Count(), []uint32(nil)
	list := idList{ids: make([]string, 0, n)}
	seen := 0
	err := items.All(func(i uint32) error {
		if seen++; seen%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		id, err := j.place(i).ID()
		list.add(id)
		if j.sketches != nil {
			numbered = append(numbered, i)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	ids, ranks := list.all(), make([]uint32, n) // ranks by number
	r := &idRanks{make([]string, n), make([]uint32, len(numbered))}
	for rank, x := range inIDOrder(ids) {
		ranks[x], r.ids[rank] = uint32(rank), ids[x]
		if numbered != nil {
			r.items[rank] = numbered[x]
		}
	}
	return r, func(item uint32) uint32 { return ranks[items.Number(item)] }, nil
}

// inIDOrder returns the positions of ids, sorted by ID.
func inIDOrder(ids []string) []uint32 {
	common := commonPrefix(ids)
	heads := ordered.MakePairs(len(ids))
	for x, id := range ids {
		var head [8]byte
		copy(head[:], id[common:])
		heads.Keys[x], heads.Vals[x] = binary.BigEndian.Uint64(head[:]), uint32(x)
	}
	heads = ordered.SortPairs(heads, ordered.MakePairs(len(ids)))
	order := heads.Vals
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && heads.Keys[to] == heads.Keys[from] {
			to++
		}
		slices.SortFunc(order[from:to], func(a, b uint32) int { return cmp.Compare(ids[a][common:], ids[b][common:]) })
		from = to
	}
	return order
}

// commonPrefix returns the length of the common prefix of all IDs.
func commonPrefix(ids []string) int {
	if len(ids) == 0 {
		return 0
	}
	prefix := ids[0]
	for _, id := range ids {
		for !strings.HasPrefix(id, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return len(prefix)
}

// idChunk is the number of bytes of IDs that are copied into one chunk. A reference to one ID
// retains its whole chunk.
const idChunk = 16 << 10

// An idList copies IDs in chunks.
type idList struct {
	ids   []string
	chunk []byte // IDs that are not in ids yet
	ends  []int  // ends of the IDs in chunk
}

func (l *idList) add(id []byte) {
	l.chunk = append(l.chunk, id...)
	l.ends = append(l.ends, len(l.chunk))
	if len(l.chunk) >= idChunk {
		l.flush()
	}
}

func (l *idList) flush() {
	chunk, from := string(l.chunk), 0
	for _, end := range l.ends {
		l.ids = append(l.ids, chunk[from:end])
		from = end
	}
	l.chunk, l.ends = l.chunk[:0], l.ends[:0]
}

func (l *idList) all() []string {
	l.flush()
	return l.ids
}
