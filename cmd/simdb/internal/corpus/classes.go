package corpus

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/internal/ordered"
)

// classes are the documents that match something in groups that are joined as one: those of one
// fingerprint, of equal sets, or of equal texts where these are compared.
type classes struct {
	docs []uint32 // those of a class together, ascending
	ends []uint32 // of each class: where it ends in docs
}

// of returns the documents of a class.
func (c *classes) of(class uint32) []uint32 {
	from := uint32(0)
	if class > 0 {
		from = c.ends[class-1]
	}
	return c.docs[from:c.ends[class]]
}

// firsts returns the first document of each class.
func (c *classes) firsts() []uint32 {
	firsts := make([]uint32, len(c.ends))
	for class := range firsts {
		firsts[class] = c.of(uint32(class))[0]
	}
	return firsts
}

// setClasses returns the classes of equal sets, or texts.
func (c *Corpus) setClasses(ctx context.Context) (*classes, error) {
	docs := c.inOrder(nil)
	p := ordered.Pairs{Keys: make([]uint64, len(docs)), Vals: docs}
	read, other := c.contents(), c.contents()
	for i, doc := range docs {
		content, err := read(doc)
		if err == nil && i%4096 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		p.Keys[i] = xxh3.Hash(content)
	}
	p = ordered.SortPairs(p, ordered.Pairs{Keys: make([]uint64, len(docs)), Vals: make([]uint32, len(docs))})
	all := &classes{docs: p.Vals}
	for from := 0; from < len(p.Keys); {
		to := from + 1
		for to < len(p.Keys) && p.Keys[to] == p.Keys[from] {
			to++
		}
		for from < to { // mostly once: the hash tells nearly all apart
			one, err := read(p.Vals[from])
			if err != nil {
				return nil, err
			}
			same := func(doc uint32) bool {
				content, failed := other(doc)
				err = cmp.Or(err, failed, ctx.Err())
				return bytes.Equal(content, one)
			}
			from += equalFirst(p.Vals[from:to], same)
			if err != nil {
				return nil, err
			}
			all.ends = append(all.ends, uint32(from))
		}
	}
	return all, nil
}

// equalFirst puts those documents first that are the same as the first one, and returns how many
// they are. Both parts stay in their order.
func equalFirst(docs []uint32, same func(doc uint32) bool) (n int) {
	var others []uint32
	for i, doc := range docs {
		if i == 0 || same(doc) {
			docs[n] = doc
			n++
		} else {
			others = append(others, doc)
		}
	}
	copy(docs[n:], others)
	return n
}

// contents returns a function that reads what a document is compared by. What it returns is valid
// until the next call.
func (c *Corpus) contents() func(doc uint32) ([]byte, error) {
	if c.texts != nil {
		var scratch []byte
		return func(doc uint32) ([]byte, error) { return c.texts.text(&scratch, int(doc)) }
	}
	reader, set := c.Sets.Reader(), []uint64(nil)
	return func(doc uint32) (_ []byte, err error) {
		set, err = reader.Append(set[:0], int(doc))
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(set))), 8*len(set)), err
	}
}

// setPairs calls emit for all pairs of classes that match, and for each class of several documents,
// with b nil, until it returns false.
func (l *Listing) setPairs(ctx context.Context, by Criterion, o JoinOptions, emit func(a, b []uint32, score float64) bool) error {
	all, err := l.setClasses(ctx)
	if err != nil {
		return err
	}
	judges := l.Judges(ctx, by.T)
	for class := range all.ends {
		docs, score, ok := all.of(uint32(class)), 1.0, true
		if len(docs) > 1 && judges != nil { // equal texts may have no words
			score, ok, err = judges().Compare(int(docs[0]), int(docs[1]))
		}
		if err != nil || len(docs) > 1 && ok && !emit(docs, nil, score) {
			return err
		}
	}
	class := make([]uint32, l.N) // of each first document
	firsts := all.firsts()
	for n, doc := range firsts {
		class[doc] = uint32(n)
	}
	slices.Sort(firsts)
	so := o.sets(judges)
	so.Order = firsts
	return l.Sets.Pairs(ctx, by.T, so, func(a, b int, score float64) bool { return emit(all.of(class[a]), all.of(class[b]), score) })
}
