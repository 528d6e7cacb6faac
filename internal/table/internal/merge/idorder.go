package merge

import (
	"cmp"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// bareFlag marks a document without a fingerprint in the order of IDs; see deadFlag.
const bareFlag = 1 << 30

// namesTogether is about how many documents of the largest input are merged by their IDs at a time.
const namesTogether = 1 << 14

// orderIDs merges the inputs by their IDs: it finds the input of each document of the result in the
// order of IDs, and so the order in which documents without a fingerprint are numbered.
func (m *merger) orderIDs() error {
	var largest *mergeInput
	bare, pieces := 0, 0
	m.ordered = true
	for _, in := range m.inputs {
		if err := in.openIDOrder(m); err != nil {
			return err
		}
		if largest == nil || in.Info.Docs > largest.Info.Docs {
			largest = in
		}
		bare += int(in.kept - in.keptFP)
	}
	m.named, m.bare = NewSources(int(m.docs), len(m.inputs)), NewSources(bare, len(m.inputs))
	next, left := make([]uint32, len(m.inputs)), make([]uint32, len(m.inputs))
	for i, in := range m.inputs {
		left[i] = in.kept - in.keptFP
	}
	if largest != nil {
		pieces = (int(largest.Info.Docs) + namesTogether - 1) / namesTogether
	}
	err := pipeline.Ordered(m.ctx, pieces, m.workers, func(i int) (inputs []uint32, err error) {
		defer format.UnguardAny(m.tables, format.Guard(), &err)
		return m.namesPiece(largest, i, i+1 == pieces)
	}, func(_ int, inputs []uint32) error {
		defer m.vals.put(inputs)
		m.pass(len(inputs))
		return m.name(inputs, next, left)
	})
	for i, in := range m.inputs {
		if err == nil && (next[i] != in.Info.Docs || left[i] > 0 || in.deadNamed != nil && in.deadNamed.Count(0, next[i]) != in.Info.Docs-in.kept) {
			err = in.order.Misplaced(0) // it lists a document twice
		}
	}
	m.inOrder = m.ordered && bare == int(m.docs)
	return err
}

// openIDOrder opens the order of IDs of an input. If it does not number documents without a
// fingerprint in the order of their IDs, neither can the result: m.ordered
// becomes false.
func (in *mergeInput) openIDOrder(m *merger) (err error) {
	if in.order, err = in.Table.IDOrder(); err != nil {
		return err
	}
	if in.dead != nil {
		in.deadNamed = write.NewBitset(in.Info.Docs)
	}
	if in.order.Column == nil {
		return nil
	}
	var docs [keyrun.BlockLen]uint64
	last := uint64(0)
	for b := range in.order.Column.NumBlocks() {
		n, err := in.order.Column.Block(b, docs[:])
		if err != nil {
			return err
		}
		for _, doc := range docs[:n] {
			if doc >= uint64(in.Info.Fingerprints) {
				m.ordered = m.ordered && doc >= last
				last = doc
			}
		}
	}
	return nil
}

// name adds documents to the order of IDs. next has the next position of each input, left the number
// of its documents without a fingerprint that are yet to come.
func (m *merger) name(inputs, next, left []uint32) error {
	for _, v := range inputs {
		i := int(v &^ (deadFlag | bareFlag))
		switch {
		case v&deadFlag != 0:
			m.inputs[i].deadNamed.Add(next[i])
		case m.named.Len() == int(m.docs) || v&bareFlag != 0 && left[i] == 0:
			return m.inputs[i].order.Misplaced(0)
		default:
			if m.named.Len()%docChunk == 0 {
				m.namedStarts = append(m.namedStarts, append([]uint32(nil), next...))
			}
			m.named.Append(i)
			if v&bareFlag != 0 {
				m.bare.Append(i)
				left[i]--
			}
		}
		next[i]++
	}
	return nil
}

// namesPiece returns the inputs of the documents of a piece in the order of IDs, with deadFlag and
// bareFlag. Pieces start at every namesTogether-th ID of one input.
func (m *merger) namesPiece(by *mergeInput, piece int, final bool) (inputs []uint32, err error) {
	first, err := by.nameAt(piece * namesTogether)
	if err != nil {
		return nil, err
	}
	var limit []byte // nil: none
	skip := 0
	if !final {
		if limit, err = by.nameAt((piece + 1) * namesTogether); err != nil {
			return nil, err
		}
		skip = ordered.CommonPrefix(first, limit)
	}
	if piece == 0 {
		first, skip = nil, 0
	}
	var heap []*idCursor
	total := 0
	for i, in := range m.inputs {
		c, n, err := in.between(first, limit, skip)
		if err != nil {
			return nil, err
		}
		c.input = uint32(i)
		total += n
		if ok, err := c.Next(); err != nil {
			return nil, err
		} else if ok {
			heap = append(heap, c)
		}
	}
	inputs = m.vals.get(total)[:0]
	for ordered.Heap(heap, laterID); len(heap) > 0; ordered.Sink(heap, 0, laterID) {
		c := heap[0]
		v := c.input
		if c.in.dead.Has(c.Doc) {
			v |= deadFlag
		}
		if c.Doc >= c.in.Info.Fingerprints {
			v |= bareFlag
		}
		inputs = append(inputs, v)
		if ok, err := c.Next(); err != nil {
			return nil, err
		} else if !ok {
			heap[0] = heap[len(heap)-1]
			if heap = heap[:len(heap)-1]; len(heap) == 0 {
				break
			}
		}
	}
	return inputs, nil
}

// nameAt returns the ID at a position of the order of IDs.
func (in *mergeInput) nameAt(at int) ([]byte, error) {
	doc, err := in.order.Doc(at)
	if err != nil {
		return nil, err
	}
	return in.Names.Get(doc)
}

// between returns a cursor of the n documents with IDs from first on, and before limit; nil is no
// bound.
func (in *mergeInput) between(first, limit []byte, skip int) (c *idCursor, n int, err error) {
	from, to := 0, in.order.Len()
	if first != nil {
		if from, err = in.order.Seek(first); err != nil {
			return nil, 0, err
		}
	}
	if limit != nil {
		if to, err = in.order.Seek(limit); err != nil {
			return nil, 0, err
		}
	}
	if to < from {
		return nil, 0, in.order.Misplaced(0)
	}
	return &idCursor{NameCursor: in.order.Cursor(from, to, skip), in: in}, to - from, nil
}

// An idCursor is a cursor in the order of IDs of an input.
type idCursor struct {
	*format.NameCursor
	in    *mergeInput
	input uint32
}

// laterID orders cursors so that the root of a heap is the one with the least ID.
func laterID(a, b *idCursor) int {
	if a.Head != b.Head {
		return cmp.Compare(b.Head, a.Head)
	}
	return cmp.Or(cmp.Compare(string(b.ID), string(a.ID)), cmp.Compare(b.input, a.input))
}

// mergeIDOrder writes the documents of the result in the order of their IDs.
func (m *merger) mergeIDOrder() error {
	if !m.o.StoresIDOrder(int(m.docs)) {
		return nil
	}
	if m.inOrder {
		m.named, m.namedStarts = NewSources(0, len(m.inputs)), nil
	}
	err := m.writeColumnOf(format.KindIDOrder, 0, m.named, m.namedStarts, func(c *docsChunk) ([]uint64, error) {
		err := c.columns(func(in *mergeInput) *keyrun.Column { return in.order.Column }, func(in *mergeInput) write.Bitset { return in.deadNamed }, m.newDocs)
		return c.values, err
	})
	m.Out.MakeOptional()
	return err
}

// newDocs replaces documents of an input by documents of the result.
func (m *merger) newDocs(in *mergeInput, docs []uint64) error {
	some := m.vals.get(len(docs))
	defer m.vals.put(some)
	for j, doc := range docs {
		some[j] = uint32(doc)
	}
	in.numbers.GetAll(some)
	for j, doc := range some {
		docs[j] = uint64(doc)
	}
	return nil
}

// Records in the order of IDs make pages and scans in this order fast: few blocks have them all.
// Documents without a fingerprint come so from a flush, and a merge that copies their blocks leaves
// as many series of blocks as it has inputs. A merge of inputs that have several series already, or
// one that erases, lays all records in order. So a record is compressed again in every other merge,
// and a page of any table reads as many series as one merge has inputs, at most. Records of more
// than mostLaid bytes on average are only copied: a block has so few that order saves little.
const mostLaid = 3 << 10

// laysRecords reports whether the merge writes the records of all documents in the order of IDs.
func (m *merger) laysRecords() bool {
	if !m.inOrder || len(m.inputs) == 1 && m.inputs[0].Table.Places == nil {
		return false
	}
	raw, records, several := int64(0), int64(0), int64(0)
	for _, in := range m.inputs {
		if in.Records != nil {
			_, bytes := in.Records.Sizes()
			raw, records = raw+bytes, records+int64(in.Records.Len())
		}
		if in.Table.Places != nil {
			several += int64(in.Info.Docs)
		}
	}
	return (m.erase || 2*several >= int64(m.docs)) && records > 0 && raw/records <= mostLaid
}

// layRecords writes a record for each document of the result, in the order of IDs, which is that of
// their numbers.
func (m *merger) layRecords() error {
	var cursors []*blobs.RecordCursor
	for _, in := range m.inputs {
		c := (*blobs.RecordCursor)(nil)
		if in.Records != nil {
			c = in.Records.CursorWithin(laidBytes / len(m.inputs))
		}
		cursors = append(cursors, c)
	}
	next := make([]uint32, len(m.inputs)) // in the order of IDs, which is that of documents
	for at := range m.named.Len() {
		if at%docChunk == 0 && m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		i := m.named.Get(at)
		in := m.inputs[i]
		for in.dead.Has(next[i]) {
			next[i]++
		}
		var text, fields []byte
		if place, err := in.Place(next[i]); err != nil {
			return err
		} else if cursors[i] != nil && place < in.Records.Len() {
			if text, fields, err = cursors[i].Get(place); err != nil {
				return err
			}
		}
		m.AddRecord(text, fields)
		next[i]++
	}
	return m.Out.Err
}

// laidBytes is the size of the decoded blocks that layRecords holds.
const laidBytes = 32 << 20
