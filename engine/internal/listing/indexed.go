package listing

import (
	"context"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
)

const (
	// indexShare is the inverse of the fraction of a table's documents up to which the index of a
	// field is used if the documents' fields must be read. With more documents, most blocks of
	// texts contain one and must be read anyway.
	indexShare = 16
	// entriesOfRead is about how many entries of an index can be read in the time that reading the
	// fields of one document needs.
	entriesOfRead = 500
	docBytes      = 8 // of a list of found documents and one to intersect it with
)

// An index says how a filter finds documents of a table by indexed fields.
type index struct {
	counts []int // matching entries for each of Filter.Fields
	least  int   // index of the smallest count
	decide bool  // the conditions on fields together imply Where
}

// index returns nil if all documents of a table must be scanned: with many matching documents a
// scan is faster, and their list would need docBytes each.
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

// found returns the documents of a table that may satisfy Where, in ascending order, and whether
// all of these do satisfy it. It returns nil if the whole table must be scanned.
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

// CountIndexed returns how many documents must be read to evaluate f: those that indexes of fields
// find, and all documents of tables without a usable index.
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
