package listing

import (
	"context"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
)

const (
	// indexShare is the share of a table's documents up to which those with some values are found
	// by the index of a field if their fields are read. Of more, most blocks of texts have one.
	indexShare = 16
	// entriesOfRead is about how many entries of an index are read in the time in which the fields
	// of a document are.
	entriesOfRead = 500
	docBytes      = 8 // of a list of documents that are found, and one of others
)

// An index says where a filter finds documents of a table by indexed fields.
type index struct {
	counts []int // of each of Filter.Fields
	least  int   // which of them is the least
	decide bool  // all together select what Where does
}

// index returns nil if all documents of a table are to be looked at: of many found ones that is
// faster, and holding them takes memory, docBytes each.
func (f *Filter) index(v *view.View, p *view.Part, ordered bool) (*index, error) {
	if len(f.Fields) == 0 {
		return nil, nil
	}
	x := &index{decide: f.Decide}
	for i, ranges := range f.Fields {
		n, err := p.CountFields(ranges)
		if err != nil {
			return nil, err
		}
		if x.counts = append(x.counts, n); n < x.counts[x.least] {
			x.least = i
		}
		for _, r := range ranges {
			x.decide = x.decide && r.Exact()
		}
	}
	if least := x.counts[x.least]; least > v.Most(docBytes) || least > int(p.Meta.Docs)/indexShare && (ordered || !x.decide) {
		return nil, nil
	}
	return x, nil
}

// found returns the documents of a table, ascending, that may satisfy Where, and whether they do;
// nil if all are to be looked at.
func (f *Filter) found(v *view.View, p *view.Part, ordered bool) (docs []uint32, decided bool, err error) {
	x, err := f.index(v, p, ordered)
	if x == nil || err != nil {
		return nil, false, err
	}
	if docs, err = p.FieldCandidates(f.Fields[x.least]); err != nil {
		return nil, false, err
	}
	decided = x.decide
	for i, ranges := range f.Fields {
		if i == x.least {
			continue
		}
		if x.counts[i] > min(entriesOfRead*len(docs), v.Most(docBytes)) {
			decided = false
			continue
		}
		others, err := p.FieldCandidates(ranges)
		if err != nil {
			return nil, false, err
		}
		docs = slices.DeleteFunc(docs, func(doc uint32) bool {
			_, both := slices.BinarySearch(others, doc)
			return !both
		})
	}
	return docs, decided, nil
}

// eachMem calls fn for the visible documents of memtables that may satisfy Where.
func (f *Filter) eachMem(v *view.View, fn func(view.Place) error) error {
	if len(f.Fields) == 0 {
		return v.EachMem(fn)
	}
	for _, m := range v.Mems {
		if len(m.Docs) == 0 {
			continue
		}
		fields := func(doc int) []byte { return m.Docs[doc].Fields }
		for _, doc := range m.Fields.Candidates(&v.Params, len(m.Docs), fields, f.Fields) {
			if d := m.Docs[doc]; v.Lists(d) {
				if err := fn(view.Place{Mem: d}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// CountIndexed returns how many documents are looked at that f selects: those that indexes of
// fields find, and all of other tables.
func CountIndexed(ctx context.Context, v *view.View, f Filter, ordered bool) (n int64, err error) {
	err = v.Safely(ctx, func() error {
		for i := range v.Version.Parts {
			p := &v.Version.Parts[i]
			x, err := f.index(v, p, ordered)
			if err != nil {
				return err
			}
			if x == nil {
				n += int64(p.Meta.Docs)
			} else {
				n += int64(x.counts[x.least])
			}
		}
		return f.eachMem(v, func(view.Place) error { n++; return nil })
	})
	return n, err
}
