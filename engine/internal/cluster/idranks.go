package cluster

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/ordered"
)

// An itemSet is a set of items of a join set that numbers its members in order: a bitmap with
// counts.
type itemSet []struct {
	in     uint64 // a bit for each of 64 items
	before uint32 // members in the words before; set by count
}

// newItemSet returns an empty set of the items below n.
func newItemSet(n int) itemSet { return make(itemSet, (n+63)/64) }

func (s itemSet) add(i uint32) { s[i/64].in |= 1 << (i % 64) }

// count returns the number of members, and makes number work.
func (s itemSet) count() (n int) {
	for w := range s {
		s[w].before = uint32(n)
		n += bits.OnesCount64(s[w].in)
	}
	return n
}

// number returns how many members are less than member i.
func (s itemSet) number(i uint32) uint32 {
	w := &s[i/64]
	return w.before + uint32(bits.OnesCount64(w.in&(1<<(i%64)-1)))
}

// all calls fn for every member, in order, until it returns an error.
func (s itemSet) all(fn func(i uint32) error) error {
	for w := range s {
		for in := s[w].in; in != 0; in &= in - 1 {
			if err := fn(uint32(64*w + bits.TrailingZeros64(in))); err != nil {
				return err
			}
		}
	}
	return nil
}

// idRanks are the IDs of some items by their order.
type idRanks struct {
	items itemSet
	ranks []uint32 // by number of the item in items
	ids   []string // by rank: copies, since the table may be gone before they are read
}

func (r *idRanks) of(i uint32) uint32 { return r.ranks[r.items.number(i)] }

// rank puts the IDs of items in order. Most comparisons are of eight bytes: those after what all
// IDs begin with.
func (j *joinSet) rank(ctx context.Context, items itemSet) (*idRanks, error) {
	n := items.count()
	list := idList{ids: make([]string, 0, n)}
	seen := 0
	err := items.all(func(i uint32) error {
		if seen++; seen%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		id, err := j.place(i).ID()
		list.add(id)
		return err
	})
	if err != nil {
		return nil, err
	}
	ids := list.all()
	order := inIDOrder(ids)
	r := &idRanks{items: items, ranks: make([]uint32, n), ids: make([]string, n)}
	for rank, x := range order {
		r.ranks[x], r.ids[rank] = uint32(rank), ids[x]
	}
	return r, nil
}

// inIDOrder returns the positions of ids in ascending order of the IDs.
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

// commonPrefix returns how many bytes all IDs begin with.
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

// idChunk is how many bytes of IDs are copied together. Whoever keeps one of them keeps its chunk
// in memory.
const idChunk = 16 << 10

// An idList copies IDs, many at a time.
type idList struct {
	ids   []string
	chunk []byte // IDs that are not in ids yet
	ends  []int  // of these
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

// checkEvery is how many pairs are ranked between two looks at a context.
const checkEvery = 1 << 16
