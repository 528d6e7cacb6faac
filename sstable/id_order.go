package sstable

import (
	"bytes"
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/sstable/internal/blobs"
	"github.com/simdb/simdb/sstable/internal/idparts"
)

// IDs in order, or with a prefix, are anywhere in a table, whose documents are in the order of
// their fingerprints. An IDOrder divides them into parts, and has a list of the documents of each
// part. A large table keeps it: see idPartsWriter. Else it has parts of a few thousand documents
// and is made in memory, for which all IDs are read once.

// An IDOrder divides the documents of a table by the order of their IDs: every ID of a part is less
// than every ID of the next. It may be used by many goroutines, until the reader is closed.
type IDOrder struct {
	r       *Reader
	divider *idparts.Divider // nil if there is one part
	lists   []*idparts.Lists // of idSpan documents each, but the last; none if the table keeps the order
	stored  []stretch        // where the table keeps it
}

const (
	// partDocs is about how many documents a part has: reading their IDs takes less than a
	// millisecond.
	partDocs = 1 << 12
	// sampledIDs is how many IDs a part are sampled to decide where it begins.
	sampledIDs = 16
	// idSpan is how many documents have lists of their own: what is made of them at a time.
	idSpan = 1 << 20
	// idLook is how many documents are read between two looks at the context.
	idLook = 1 << 12
)

// idOrder is the IDOrder of a reader, once one was made. A goroutine makes it.
type idOrder struct {
	mu     sync.Mutex
	asked  bool
	made   *IDOrder
	making *making // nil if nothing makes it
}

// making is a goroutine that makes an IDOrder.
type making struct {
	done chan struct{} // closed when it has ended
	err  error         // why it made none
	stop context.CancelFunc
}

// IDOrder returns the order of the table's IDs. If the table does not keep it, making it reads all
// of them, on all processors, at some tens of nanoseconds each; it then takes up to 2 bytes a
// document until the reader is closed.
// A caller who would rather read all IDs than wait says once, and gets nil until the order is made:
// the second such call begins to make it.
func (r *Reader) IDOrder(ctx context.Context, once bool) (*IDOrder, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g := &r.order
	g.mu.Lock()
	if g.made == nil && !g.asked {
		var err error
		if g.made, err = r.storedOrder(); err != nil {
			g.mu.Unlock()
			return nil, err
		}
	}
	if g.made == nil && r.info.Docs < 2*partDocs {
		g.made = &IDOrder{r: r}
	}
	made, first := g.made, !g.asked
	g.asked = true
	if made != nil || once && first {
		g.mu.Unlock()
		return made, nil
	}
	if g.making == nil {
		g.begin(r)
	}
	m := g.making
	g.mu.Unlock()
	if once {
		return nil, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.done:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.made, m.err
}

// begin begins to make the order. The caller holds mu.
func (g *idOrder) begin(r *Reader) {
	ctx, stop := context.WithCancel(context.Background())
	m := &making{done: make(chan struct{}), stop: stop}
	g.making = m
	go func() {
		defer close(m.done)
		defer stop()
		o := &IDOrder{r: r}
		m.err = o.divide(ctx)
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.making = nil; m.err == nil {
			g.made = o
		}
	}()
}

// close ends what makes the order.
func (g *idOrder) close() {
	g.mu.Lock()
	m := g.making
	g.mu.Unlock()
	if m != nil {
		m.stop()
		<-m.done
	}
}

// divide reads all IDs and lists the documents of each part.
func (o *IDOrder) divide(ctx context.Context) (err error) {
	r := o.r
	defer r.unguard(guard(), &err)
	defer r.pages.Sequential()()
	docs := int(r.info.Docs)
	parts := min(docs/partDocs, idparts.Most)
	sample := make([][]byte, 0, sampledIDs*parts)
	for i := range cap(sample) {
		if i%idLook == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		id, err := r.names.Get(uint32(i * docs / cap(sample)))
		if err != nil {
			return err
		}
		sample = append(sample, bytes.Clone(id))
	}
	o.divider = idparts.NewDivider(sample, parts)
	o.lists = make([]*idparts.Lists, (docs+idSpan-1)/idSpan)
	errs := make([]error, len(o.lists))
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(o.lists)) {
		wg.Go(func() {
			of := make([]uint16, min(idSpan, docs))
			for at := int(next.Add(1)) - 1; at < len(o.lists); at = int(next.Add(1)) - 1 {
				if errs[at] = o.list(ctx, at, of); errs[at] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, e := range errs {
		err = cmp.Or(err, e)
	}
	return err
}

// list makes lists number at; of is room for the parts of its documents.
func (o *IDOrder) list(ctx context.Context, at int, of []uint16) (err error) {
	defer o.r.unguard(guard(), &err)
	start := at * idSpan
	of = of[:min(idSpan, int(o.r.info.Docs)-start)]
	it := o.r.names.Iter(uint32(start))
	for i := range of {
		if i%idLook == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		id, err := it.Next()
		if err != nil {
			return err
		}
		of[i] = uint16(o.divider.Part(id))
	}
	o.lists[at] = idparts.NewLists(uint32(start), of, o.divider.Parts())
	return nil
}

// Parts returns the number of parts, at least 1.
func (o *IDOrder) Parts() int {
	if o.divider == nil {
		return 1
	}
	return o.divider.Parts()
}

// Range returns the parts that may have IDs with a prefix: from first to end-1.
func (o *IDOrder) Range(prefix []byte) (first, end int) {
	if o.divider == nil {
		return 0, 1
	}
	return o.divider.Range(prefix)
}

// EachID calls fn for the documents of a part, ascending by number. id aliases memory that is used
// again.
func (o *IDOrder) EachID(ctx context.Context, part int, fn func(doc uint32, id []byte) error) (err error) {
	defer o.r.unguard(guard(), &err)
	b := idBatches{r: o.r, fn: fn}
	add := func(doc uint32) error { return b.add(ctx, doc) }
	if o.divider == nil {
		for doc := range o.r.info.Docs {
			if err := add(doc); err != nil {
				return err
			}
		}
	}
	for _, l := range o.lists {
		if err := l.Each(part, add); err != nil {
			return err
		}
	}
	for i := range o.stored {
		if err := o.stored[i].each(part, add); err != nil {
			return err
		}
	}
	return b.flush(ctx)
}

// idBatch is how many IDs are read together.
const idBatch = 256

// An IDRange says which IDs are wanted: those with a prefix that are greater than After and less
// than what Before returns.
type IDRange struct {
	Prefix, After []byte
	// Before returns nil if there is no such bound, and later ones that are no greater. It is
	// called now and then: IDs that are not less may be given all the same. It may be nil.
	Before func() []byte
}

// heads returns the heads between which those of the range are, both included.
func (g *IDRange) heads() (least, most uint64) {
	least, most = blobs.Head(g.Prefix), ^uint64(0)
	if n := len(g.Prefix); n < 8 {
		most = least | most>>(8*n)
	} else {
		most = least
	}
	least = max(least, blobs.Head(g.After))
	if g.Before != nil {
		if before := g.Before(); before != nil {
			most = min(most, blobs.Head(before))
		}
	}
	return least, most
}

// EachIDIn calls fn for the documents whose IDs are in a range, ascending by number. It reads all
// IDs, on all processors. id aliases the file, as that of ID does.
func (r *Reader) EachIDIn(ctx context.Context, g IDRange, fn func(doc uint32, id []byte) error) (err error) {
	defer r.unguard(guard(), &err)
	defer r.pages.Sequential()()
	spans := make([]idSpanOf, runtime.GOMAXPROCS(0))
	for start := 0; start < int(r.info.Docs); start += scanSpan * len(spans) {
		if err := ctx.Err(); err != nil {
			return err
		}
		least, most := g.heads()
		if least > most {
			return nil
		}
		var wg sync.WaitGroup
		for i := range spans {
			from := start + i*scanSpan
			find := func() { spans[i].find(r, from, min(from+scanSpan, int(r.info.Docs)), &g, least, most) }
			if i+1 < len(spans) {
				wg.Go(find)
			} else {
				find()
			}
		}
		wg.Wait()
		for i := range spans {
			if err := spans[i].err; err != nil {
				return err
			}
			for at, doc := range spans[i].docs {
				if err := fn(doc, spans[i].ids[at]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// scanSpan is how many documents a processor looks at before their order is restored: whole blocks.
const scanSpan = 1 << 15

// idSpanOf are the documents of a span whose IDs are in a range.
type idSpanOf struct {
	scan *blobs.Scan
	docs []uint32
	ids  [][]byte
	err  error
}

// find makes f those of the documents from start to end-1, none if start is not less than end.
func (f *idSpanOf) find(r *Reader, start, end int, g *IDRange, least, most uint64) {
	f.docs, f.ids = f.docs[:0], f.ids[:0]
	if start >= end {
		return
	}
	defer r.unguard(guard(), &f.err)
	if f.scan == nil {
		f.scan = blobs.NewScan(r.names)
	}
	for doc := uint32(start); doc < uint32(end); {
		b, first, next := r.names.BlockOf(doc)
		found, err := f.scan.Block(b, least, most)
		if err != nil {
			f.err = err
			return
		}
		for _, i := range found {
			id, err := r.names.Get(first + uint32(i))
			if err != nil {
				f.err = err
				return
			}
			if bytes.HasPrefix(id, g.Prefix) && bytes.Compare(id, g.After) > 0 {
				f.docs, f.ids = append(f.docs, first+uint32(i)), append(f.ids, id)
			}
		}
		doc = next
	}
}

// EachWrittenID calls fn for the documents that w selects, ascending by number. id aliases memory
// that is used again.
func (r *Reader) EachWrittenID(ctx context.Context, w Written, fn func(doc uint32, id []byte) error) error {
	b := idBatches{r: r, fn: fn}
	err := r.EachWritten(ctx, w, func(docs []uint32) error {
		for _, doc := range docs {
			if err := b.add(ctx, doc); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.flush(ctx)
}

// idBatches gives documents with their IDs, which it reads many at a time: then cache misses
// overlap.
type idBatches struct {
	r    *Reader
	fn   func(doc uint32, id []byte) error
	docs []uint32
	ends []int
	ids  []byte
}

// add adds a document.
func (b *idBatches) add(ctx context.Context, doc uint32) error {
	if b.docs == nil {
		b.docs = make([]uint32, 0, idBatch)
	}
	if b.docs = append(b.docs, doc); len(b.docs) < idBatch {
		return nil
	}
	return b.flush(ctx)
}

// flush gives what has been added.
func (b *idBatches) flush(ctx context.Context) (err error) {
	if b.ids, b.ends, err = b.r.AppendIDs(b.ids[:0], b.ends[:0], b.docs); err != nil {
		return err
	}
	start := 0
	for i, end := range b.ends {
		if err := b.fn(b.docs[i], b.ids[start:end]); err != nil {
			return err
		}
		start = end
	}
	b.docs = b.docs[:0]
	return ctx.Err()
}
