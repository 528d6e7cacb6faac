package dedup

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// A lookup reads the documents of inputs and groups them into lots, which are looked up in a
// collection. The jobs differ in how they use the matches.
type lookup struct {
	env     *inputs.Env
	sources *inputs.Sources
	reading inputs.Reading
	refuse  func(in records.Source) error // or nil
	most    int                           // documents in a lot
	bytes   int                           // bytes of their texts and ids in a lot
	arrive  bool                          // a lot holds the items read during the previous lookup; otherwise all lots but the last are full
	issues  bool                          // input that is not a record is an item too, and records are not noted
	stores  bool                          // input that is not a record ends a lot, since it may end the run

	// item makes an item of a record, which it may change. An item without a rec is not looked
	// up.
	item func(ctx context.Context, in records.Source, rec *records.Record) (lookupItem, error)

	first records.Source // the first input if it is already open
	free  sync.Pool      // of *lookupLot
}

// eachInput calls do for every input.
func (l *lookup) eachInput(do func(in records.Source) error) (err error) {
	for i := range l.sources.Names {
		in := l.first
		if l.first = nil; in == nil {
			if in, err = l.sources.Open(i, l.reading.Options); err != nil {
				return err
			}
		}
		err = do(in)
		in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// check returns an error if an input is refused.
func (l *lookup) check(in records.Source) error {
	if l.refuse == nil {
		return nil
	}
	return l.refuse(in)
}

// lookupItem is a document to look up, or input that is not a record.
type lookupItem struct {
	rec   *records.Record // its Doc is looked up
	id    string          // of the document, in its input
	group collection.Group
	size  int   // approximate size in bytes
	err   error // an *records.Issue, or the error that ended the reading
}

// end returns the error that ended the reading, if the item holds it.
func (i *lookupItem) end() error {
	if _, ok := i.err.(*records.Issue); ok {
		return nil
	}
	return i.err
}

// lookupLot is a group of items that are looked up together.
type lookupLot struct {
	from   int64 // number of items before the lot
	ids    []string
	groups []collection.Group
	items  []lookupItem // nil if the job does not need whole items
	docs   []engine.Doc // the documents to look up
	at     []int        // by index in docs: the index of the item
	bytes  int
}

// add adds an item. keep says whether the job needs the whole item later, not just its document.
func (b *lookupLot) add(it *lookupItem, keep bool) {
	if it.rec != nil {
		b.docs, b.at = append(b.docs, it.rec.Doc), append(b.at, len(b.ids))
	}
	b.ids, b.groups, b.bytes = append(b.ids, it.id), append(b.groups, it.group), b.bytes+it.size
	if keep {
		b.items = append(b.items, *it)
	}
}

// lots yields the items of an input in lots. An error is the one that ended the reading; it
// follows the items before it.
func (l *lookup) lots(ctx context.Context, in records.Source) iter.Seq2[*lookupLot, error] {
	return func(yield func(*lookupLot, error) bool) {
		b, read := l.empty(0), int64(0)
		for some := range l.arrivals(ctx, in) {
			if l.issues {
				b.ids, b.items, b.docs = slices.Grow(b.ids, len(some)), slices.Grow(b.items, len(some)), slices.Grow(b.docs, len(some))
			}
			for i := range some {
				it := &some[i]
				if err := it.end(); err != nil {
					if ctx.Err() != nil || len(b.ids) == 0 || yield(b, nil) {
						yield(nil, err)
					}
					return
				}
				b.add(it, l.issues)
				read++
				if l.arrive && i+1 == len(some) || l.stores && it.err != nil || len(b.ids) >= l.most || b.bytes >= l.bytes {
					if !yield(b, nil) {
						return
					}
					b = l.empty(read)
				}
			}
		}
		if len(b.ids) > 0 {
			yield(b, nil)
		}
	}
}

// arrivals yields items as they arrive: one by one, or all that were read since the previous
// step.
func (l *lookup) arrivals(ctx context.Context, in records.Source) iter.Seq[[]lookupItem] {
	if l.arrive {
		return pipeline.Arrivals(ctx, l.most, l.bytes, func(ctx context.Context) iter.Seq2[lookupItem, int] {
			return func(yield func(lookupItem, int) bool) {
				l.each(ctx, in, func(it lookupItem) bool { return yield(it, it.size) })
			}
		})
	}
	return func(yield func([]lookupItem) bool) {
		var one [1]lookupItem
		l.each(ctx, in, func(it lookupItem) bool {
			one[0] = it
			return yield(one[:])
		})
	}
}

// each reads an input. If an error ends the reading, each passes it to give as the last item.
func (l *lookup) each(ctx context.Context, in records.Source, give func(lookupItem) bool) {
	var slab []records.Record
	r := l.reading
	r.Record = func(in records.Source, rec *records.Record) error {
		if rec.Flaw != "" && l.sources.Tree.Pictures() > 0 { // a flawed picture cannot be compared
			return records.NewIssue(in, rec, rec.Flaw)
		}
		it, err := l.item(ctx, in, rec)
		if l.arrive && it.rec != nil { // it is looked up after later records are read
			if len(slab) == 0 {
				slab = make([]records.Record, 64)
			}
			slab[0] = *rec
			it.rec, slab = &slab[0], slab[1:]
		}
		if err == nil && it.rec != nil && !give(it) {
			return records.ErrStop
		}
		return err
	}
	switch {
	case l.issues:
		r.Issue = func(_ records.Source, is *records.Issue) error {
			own := *is
			own.Raw = slices.Clone(is.Raw)
			if !give(lookupItem{err: &own, size: len(is.Raw)}) {
				return records.ErrStop
			}
			return nil
		}
	case r.Rejects == nil && r.Issue == nil:
		r.Issue = func(_ records.Source, is *records.Issue) error { return fmt.Errorf("%w", is) }
	}
	if err := l.env.ReadSource(ctx, l.sources, in, r); err != nil {
		give(lookupItem{err: err})
	}
}

// empty returns a lot without items; it reuses the memory of a freed lot if there is one.
func (l *lookup) empty(from int64) *lookupLot {
	b, ok := l.free.Get().(*lookupLot)
	if !ok {
		return &lookupLot{from: from}
	}
	clear(b.ids)
	clear(b.items)
	clear(b.docs)
	*b = lookupLot{from: from, ids: b.ids[:0], groups: b.groups[:0], items: b.items[:0], docs: b.docs[:0], at: b.at[:0]}
	return b
}

// A lookupIn is a collection for lookups: the documents of a database, or of files.
type lookupIn interface {
	// search yields the matches of a lot's documents; Query is the index in docs. The matches of
	// a document are consecutive, best first.
	search(ctx context.Context, b *lookupLot) iter.Seq2[engine.Match, error]
}

// lookupStored looks documents up in a database.
type lookupStored struct {
	*inputs.Stored
	by     engine.Criterion
	limits *limits                     // or nil
	of     map[string]collection.Group // by ID
}

// group reads the groups of the stored documents.
func (c *lookupStored) group(ctx context.Context, env *inputs.Env) error {
	if c.limits == nil {
		return nil
	}
	c.of = map[string]collection.Group{}
	err := env.EachInput(ctx, c.Sources(), inputs.Reading{
		Stage: "read", Options: records.Options{Need: records.NeedDoc},
		Record: func(_ records.Source, rec *records.Record) error {
			c.of[strings.Clone(rec.Doc.ID)] = c.limits.group(rec)
			return nil
		},
	})
	if err != nil {
		return err
	}
	return c.limits.check()
}

// search implements lookupIn.
func (c *lookupStored) search(ctx context.Context, b *lookupLot) iter.Seq2[engine.Match, error] {
	if c.by.Kind() == "near" {
		b.hash(c.DB)
	}
	all := c.SearchBatch(ctx, b.docs, c.by, nil)
	if c.limits == nil {
		return all
	}
	return func(yield func(engine.Match, error) bool) {
		for m, err := range all {
			if err == nil && !c.limits.May(b.groups[b.at[m.Query]], c.of[m.ID]) {
				continue
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// hash computes the fingerprints of the documents and removes documents without one: they have no
// words, so they match nothing.
func (b *lookupLot) hash(db *engine.DB) {
	var work sync.WaitGroup
	const share = 256
	for docs := range slices.Chunk(b.docs, max(share, len(b.docs)/(4*runtime.GOMAXPROCS(0)))) {
		work.Go(func() {
			for i := range docs {
				if d := &docs[i]; d.Fingerprints == nil && d.Text != "" {
					if fp, _ := db.Hash(d.Text); fp != nil {
						d.Fingerprints = []engine.Fingerprint{fp}
					}
				}
			}
		})
	}
	work.Wait()
	n := 0
	for i := range b.docs {
		if b.docs[i].Fingerprints == nil {
			continue
		}
		if n < i {
			b.docs[n], b.at[n] = b.docs[i], b.at[i]
		}
		n++
	}
	b.docs, b.at = b.docs[:n], b.at[:n]
}

// containment returns the threshold of engine.Contains and engine.Within, and the role of the
// documents that are looked up.
func containment(by engine.Criterion) (t float64, role setjoin.FewRole, ok bool) {
	switch by.Kind() {
	case "contains":
		return by.T(), setjoin.FewContained, true
	case "within":
		return by.T(), setjoin.FewContaining, true
	}
	return 0, 0, false
}
