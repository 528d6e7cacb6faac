package stages

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/token"
)

// Fingerprints are small, so they move with their keys, once to each group, which joins them. Of
// K+1 blocks of bits, two fingerprints within K bits share one: its value is the key.

// eachKey calls f for the key of each block of a fingerprint.
func (p *Plan) eachKey(print []uint64, f func(key uint64)) {
	blocks := p.By.K + 1
	for b := range blocks {
		key, from, to := token.Mix(uint64(b)), b*64*p.Words/blocks, (b+1)*64*p.Words/blocks
		for from < to {
			n := min(64-from%64, to-from)
			key = token.Mix(key + print[from/64]>>(from%64)&(1<<n-1))
			from += n
		}
		f(key)
	}
}

// routePrints is Route for fingerprints.
func (p *Plan) routePrints(dst []Posting, s Set) []Posting {
	first := len(dst)
	for print := range slices.Chunk(s.Fingerprints, p.Words) {
		p.eachKey(print, func(key uint64) { dst = append(dst, Posting{key, s.Doc, 1, 1, s.Doc}) })
	}
	own := dst[first:]
	slices.SortFunc(own, func(a, b Posting) int { return cmp.Compare(a.Key, b.Key) })
	return dst[:first+len(slices.CompactFunc(own, func(a, b Posting) bool { return a.Key == b.Key }))]
}

// PrintGroups appends the groups that receive the fingerprints of a document.
func (p *Plan) PrintGroups(dst []uint64, s Set) []uint64 {
	dst = dst[:0]
	for print := range slices.Chunk(s.Fingerprints, p.Words) {
		p.eachKey(print, func(key uint64) {
			if group := p.groupOf(key); !slices.Contains(dst, group) {
				dst = append(dst, group)
			}
		})
	}
	return dst
}

// Prints are documents with fingerprints.
type Prints struct {
	Words int // in a fingerprint

	docs  []uint64
	ends  []int // by document: of its words
	words []uint64
}

func (x *Prints) of(i uint32) []uint64 {
	from := 0
	if i > 0 {
		from = x.ends[i-1]
	}
	return x.words[from:x.ends[i]]
}

// near reports whether two documents have fingerprints within k bits.
func near(a, b []uint64, words, k int) bool {
	for x := range len(a) / words {
		for y := range len(b) / words {
			n := 0
			for w := range words {
				n += bits.OnesCount64(a[x*words+w] ^ b[y*words+w])
			}
			if n <= k {
				return true
			}
		}
	}
	return false
}

// MeetPrints is MeetFirst and Links for fingerprints.
func (p *Plan) MeetPrints(ctx context.Context, group uint64, all *Prints) (links []Link, later []Posting, err error) {
	keys := ordered.Pairs{Keys: make([]uint64, 0, 2*len(all.docs)), Vals: make([]uint32, 0, 2*len(all.docs))}
	for i := range all.docs {
		for print := range slices.Chunk(all.of(uint32(i)), p.Words) {
			p.eachKey(print, func(key uint64) {
				if p.groupOf(key) == group {
					keys.Keys, keys.Vals = append(keys.Keys, key), append(keys.Vals, uint32(i))
				}
			})
		}
	}
	keys = ordered.SortPairs(keys, ordered.MakePairs(len(keys.Keys)))
	forest, most := selfjoin.NewForest(len(all.docs)), p.mostInCell()
	for from, to := 0, 0; from < len(keys.Keys); from = to {
		for to = from + 1; to < len(keys.Keys) && keys.Keys[to] == keys.Keys[from]; to++ {
		}
		same := keys.Vals[from:to]
		if len(same) <= min(cmp.Or(p.compared, mostCompared), most) {
			p.linkFew(all, same, forest)
			continue
		}
		slices.SortFunc(same, func(a, b uint32) int { return cmp.Or(cmp.Compare(all.docs[a], all.docs[b]), cmp.Compare(a, b)) })
		same = slices.CompactFunc(same, func(a, b uint32) bool { return all.docs[a] == all.docs[b] })
		if len(same) > most {
			for _, i := range same {
				later = append(later, Posting{keys.Keys[from], all.docs[i], 1, 1, all.docs[i]})
			}
		}
		// Consecutive parts overlap, which links the documents of a crowd.
		for common := max(most/8, 1); len(same) > 1; {
			n := min(most, len(same))
			if err := p.linkMany(ctx, all, same[:n], forest); err != nil {
				return nil, nil, err
			}
			if n == len(same) {
				break
			}
			same = same[n-common:]
		}
	}
	return linksOf(forest.Labels(), func(i int) uint64 { return all.docs[i] }), later, nil
}

// linkFew compares all pairs of documents.
func (p *Plan) linkFew(all *Prints, same []uint32, forest *selfjoin.Forest) {
	if p.Words == 1 && len(all.words) == len(all.docs) { // nearly always
		var few [mostCompared]uint64
		for i, a := range same {
			few[i] = all.words[a]
			for n, x := range few[:i] {
				if bits.OnesCount64(x^few[i]) <= p.By.K {
					forest.Union(a, same[n])
				}
			}
		}
		return
	}
	for i, a := range same {
		x := all.of(a)
		for _, b := range same[:i] {
			if near(x, all.of(b), p.Words, p.By.K) {
				forest.Union(a, b)
			}
		}
	}
}

// linkMany joins documents.
func (p *Plan) linkMany(ctx context.Context, all *Prints, same []uint32, forest *selfjoin.Forest) error {
	members := make([]Member, len(same))
	for i, n := range same {
		members[i].Fingerprints = all.of(n)
	}
	c, err := p.join(members)
	if err != nil {
		return err
	}
	defer c.Close()
	firsts, err := c.PrintComponents(ctx, p.By.K, selfjoin.Options{})
	for i, first := range firsts {
		forest.Union(same[first], same[i])
	}
	return err
}
