package rulejoin

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/internal/worddiff"
)

// differing evaluates DIFFERS for what columns cannot compare: words that stand against others, and
// differences that recur.
type differing struct {
	fields []*field
	of     *worddiff.Bagger
	swaps  map[uint64][]uint64 // by word: the words that must not stand against it; nil for what recurs

	bags    *corpus.TextStore // by class
	ids     []uint64          // by class: the hash of its bag
	encoded []byte
	pair    [2]worddiff.Bag
	last    int64 // class whose bag is pair[0]; -1 for none
	differ  [2]worddiff.Bag

	pairs, each recurring
}

func (c *Corpus) newDiffering(a *pairrule.Atom) *differing {
	x := &differing{
		of:   worddiff.NewBagger(c.o.Params.Features),
		bags: corpus.NewTextStore(c.o.Memory, c.o.Dir), last: -1, pairs: recurring{least: worddiff.Recurs}, each: recurring{least: worddiff.WordRecurs},
	}
	for _, name := range a.Fields {
		x.fields = append(x.fields, c.field(name))
	}
	if a.Words != nil {
		x.swaps = map[uint64][]uint64{}
	}
	for _, w := range a.Words {
		from, to, _ := strings.Cut(w, "/")
		one := x.of.Bag(from)[0]
		other := x.of.Bag(to)[0]
		x.swaps[one], x.swaps[other] = append(x.swaps[one], other), append(x.swaps[other], one)
	}
	return x
}

// appendWords appends the bag of the next document to dst, which tells classes apart.
func (x *differing) appendWords(dst []byte, d *Doc) []byte {
	text := d.Text
	if x.fields != nil {
		text = textOf(x.fields, d)
	}
	words := x.of.Bag(text)
	x.encoded = x.encoded[:0]
	for _, w := range words {
		x.encoded = binary.LittleEndian.AppendUint64(x.encoded, w)
	}
	return append(binary.LittleEndian.AppendUint64(dst, uint64(len(words))), x.encoded...)
}

// add adds the bag of the next class.
func (x *differing) add() error {
	x.ids = append(x.ids, xxh3.Hash(x.encoded))
	_, err := x.bags.Add(string(x.encoded))
	return err
}

// read reads the bag of a class.
func (x *differing) read(dst worddiff.Bag, class uint32) (worddiff.Bag, error) {
	text, err := x.bags.Text(class)
	for i := 0; i < len(text); i += 8 {
		dst = append(dst, binary.LittleEndian.Uint64([]byte(text[i:i+8])))
	}
	return dst, err
}

// compare returns the words that only a has, and those that only b has: as often as one has them more
// often than the other. It is fastest while a stays the same.
func (x *differing) compare(a, b uint32) (lacks, adds worddiff.Bag, err error) {
	if x.last != int64(a) {
		if x.pair[0], err = x.read(x.pair[0][:0], a); err != nil {
			return nil, nil, err
		}
		x.last = int64(a)
	}
	if x.pair[1], err = x.read(x.pair[1][:0], b); err != nil {
		return nil, nil, err
	}
	x.differ[0], x.differ[1] = worddiff.AppendDifference(x.differ[0][:0], x.differ[1][:0], x.pair[0], x.pair[1])
	return x.differ[0], x.differ[1], nil
}

// holds reports whether two classes do not differ in the way that the atom names.
func (x *differing) holds(a, b uint32) (bool, error) {
	lacks, adds, err := x.compare(a, b)
	if err != nil {
		return false, err
	}
	if x.swaps == nil {
		return !x.recurs(lacks, adds), nil
	}
	for _, w := range lacks {
		for _, other := range x.swaps[w] {
			if _, found := slices.BinarySearch(adds, other); found {
				return false, nil
			}
		}
	}
	return true, nil
}

// recurs reports whether a difference recurs in the pairs that were counted.
func (x *differing) recurs(lacks, adds worddiff.Bag) bool {
	if n := len(lacks) + len(adds); n == 0 || n > worddiff.MostRecurring {
		return false
	}
	if x.pairs.often[worddiff.Key(lacks, adds)] {
		return true
	}
	for _, words := range [2]worddiff.Bag{lacks, adds} {
		for _, w := range words {
			if !x.each.often[w] {
				return false
			}
		}
	}
	return true
}

// count counts the difference of two classes. It returns false if the counts need too much memory.
func (x *differing) count(a, b uint32) (bool, error) {
	lacks, adds, err := x.compare(a, b)
	if n := len(lacks) + len(adds); err != nil || n == 0 || n > worddiff.MostRecurring {
		return true, err
	}
	pair := token.Mix(min(x.ids[a], x.ids[b])) + max(x.ids[a], x.ids[b])
	fits := x.pairs.add(worddiff.Key(lacks, adds), pair)
	for _, words := range [2]worddiff.Bag{lacks, adds} {
		for _, w := range words {
			fits = fits && x.each.add(w, pair)
		}
	}
	return fits, nil
}

// recurring finds the keys that occur in at least least pairs of texts. Equal pairs count once.
type recurring struct {
	least int
	most  int // entries of seen
	seen  []occurrence
	often map[uint64]bool
}

// An occurrence is a key, and the hash of a pair of texts.
type occurrence struct{ key, pair uint64 }

// occurrenceBytes is the memory of an occurrence in a growing slice.
const occurrenceBytes = 32

// add adds an occurrence. It returns false if there are too many.
func (r *recurring) add(key, pair uint64) bool {
	if len(r.seen) >= r.most {
		if r.compact(); len(r.seen) > r.most/2 {
			return false
		}
	}
	r.seen = append(r.seen, occurrence{key, pair})
	return true
}

// compact drops occurrences that no count needs: of each key, least are enough.
func (r *recurring) compact() {
	slices.SortFunc(r.seen, func(x, y occurrence) int { return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.pair, y.pair)) })
	left := r.seen[:0]
	for _, o := range slices.Compact(r.seen) {
		if n := len(left); n < r.least || left[n-r.least].key != o.key {
			left = append(left, o)
		}
	}
	r.seen = left
}

// finish sets often.
func (r *recurring) finish() {
	r.compact()
	r.often = map[uint64]bool{}
	for i := r.least - 1; i < len(r.seen); i++ {
		if r.seen[i-r.least+1].key == r.seen[i].key {
			r.often[r.seen[i].key] = true
		}
	}
	r.seen = nil
}

// countDifferences counts the differences of all pairs for which the rule would hold if each
// difference either recurred or did not.
func (c *Corpus) countDifferences(ctx context.Context, drivers []Driver, o JoinOptions) error {
	var of []*differing
	for _, x := range c.differs {
		if x != nil && x.swaps == nil {
			of = append(of, x)
		}
	}
	if of == nil || c.counted {
		return nil
	}
	for _, x := range of {
		most := int(max(o.Memory/8/occurrenceBytes/int64(len(of)), 2))
		x.pairs.most, x.each.most = most, most
	}
	t := c.tester(ctx)
	t.counting = true
	err := c.list(ctx, drivers, o, t, func(d *Driver, a, b uint32) (bool, error) {
		_, ok, err := t.branch(d.Branch, a, b)
		if err != nil || !ok {
			return true, err
		}
		for _, x := range of {
			if fits, err := x.count(a, b); err != nil || !fits {
				return false, cmp.Or(err, TooMany())
			}
		}
		return true, nil
	})
	for _, x := range of {
		x.pairs.finish()
		x.each.finish()
	}
	c.counted = err == nil
	return err
}
