package merge

import (
	"cmp"
	"slices"

	"github.com/simdb/simdb/internal/table/internal/fieldidx"
)

// A fieldStream reads a list of an indexed field of an input, with the new numbers of documents.
type fieldStream struct {
	fieldidx.Iter
	in   *mergeInput
	list *fieldidx.List
}

// next advances to the next key whose document is not left out; it returns false after the last
// one.
func (s *fieldStream) next() (bool, error) {
	for {
		last, lastDoc := s.Key, s.Doc
		ok, err := s.Next()
		if !ok || err != nil {
			return false, err
		}
		if s.in.dead.Has(s.Doc) {
			s.Key, s.Doc = last, lastDoc
			continue
		}
		s.Doc = s.in.numbers.Get(s.Doc)
		if fieldidx.Compare(last, lastDoc, s.Key, s.Doc) > 0 {
			return false, s.list.Docs.Corrupt(0, "values are not in order")
		}
		return true, nil
	}
}

// mergeFields writes the lists of indexed fields of the result.
func (m *merger) mergeFields() error {
	for list := range fieldidx.Lists * m.Params.NumIndexed() {
		err := m.WriteFieldList(list, func(add func(key []byte, doc uint32) error) error { return m.mergeField(list, add) })
		if err != nil {
			return err
		}
	}
	return nil
}

// mergeField calls add with the keys of a list, in order.
func (m *merger) mergeField(list int, add func(key []byte, doc uint32) error) error {
	var streams []*fieldStream // sorted by their current keys
	byKey := func(a, b *fieldStream) int { return fieldidx.Compare(a.Key, a.Doc, b.Key, b.Doc) }
	for _, in := range m.inputs {
		l := &in.Table.Fields[list]
		s := &fieldStream{Iter: l.Iter(), in: in, list: l}
		if ok, err := s.next(); err != nil {
			return err
		} else if ok {
			streams = append(streams, s)
		}
	}
	slices.SortFunc(streams, byKey)
	for n := 1; len(streams) > 0; n++ {
		s := streams[0]
		if err := add(s.Key, s.Doc); err != nil {
			return err
		}
		if n%docChunk == 0 {
			m.pass(docChunk)
		}
		ok, err := s.next()
		if err = cmp.Or(err, m.ctx.Err()); err != nil {
			return err
		}
		if !ok {
			streams = streams[1:]
			continue
		}
		for i := 1; i < len(streams) && byKey(streams[i], s) < 0; i++ {
			streams[i-1], streams[i] = streams[i], s
		}
	}
	return nil
}
