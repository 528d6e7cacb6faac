package dedup

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"unsafe"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// lookupFiles looks documents up by containment in the documents of files. The contained side is
// in memory and the other side is read: the inputs once, if the files' documents are in memory
// (engine.Within, if they fit), otherwise the files once for each lot.
type lookupFiles struct {
	*lookup
	ctx    context.Context
	o      *JoinOptions
	told   bool               // rejects of the files have been reported
	few    *setjoin.Few       // the documents of the files, nil if they are not in memory
	ids    []string           // of the documents in few
	limits *limits            // or nil
	of     []collection.Group // by document of the files
}

// errMany means that the matches of some documents exceed the memory.
var errMany = errors.New("the matches do not fit into memory")

// search implements lookupIn. If documents have too many matches, it halves the lot.
func (f *lookupFiles) search(ctx context.Context, b *lookupLot) iter.Seq2[engine.Match, error] {
	return func(yield func(engine.Match, error) bool) {
		found, err := f.find(ctx, b)
		if half := len(b.docs) / 2; half > 0 && errors.Is(err, errMany) {
			for i, part := range []*lookupLot{{groups: b.groups, docs: b.docs[:half], at: b.at}, {groups: b.groups, docs: b.docs[half:], at: b.at[half:]}} {
				for m, err := range f.search(ctx, part) {
					m.Query += i * half
					if !yield(m, err) || err != nil {
						return
					}
				}
			}
			return
		}
		if err != nil {
			yield(engine.Match{}, err)
			return
		}
		slices.SortFunc(found, func(x, y engine.Match) int {
			return cmp.Or(cmp.Compare(x.Query, y.Query), cmp.Compare(y.Score, x.Score), strings.Compare(x.ID, y.ID))
		})
		for _, m := range found {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// hold loads the documents of the files for engine.Within, if they fit into half of the memory.
func (f *lookupFiles) hold() error {
	t, role, _ := containment(f.o.By)
	if role != setjoin.FewContaining {
		return nil
	}
	hash, sets, left := corpus.Hashed(f.o.Params), [][]uint64(nil), f.o.Memory/2
	err := f.readAll(f.ctx, func(_ records.Source, rec *records.Record) error {
		const besideSet = 64 // bytes per document in addition to its ID and its set
		set := hash(rec.Doc.Text)
		if left -= besideSet + int64(len(rec.Doc.ID)) + int64(len(set))*setjoin.FewBytes(t, setjoin.FewContained); left < 0 {
			sets, f.ids = nil, nil
			return nil
		}
		sets, f.ids = append(sets, set), append(f.ids, rec.Doc.ID)
		return nil
	})
	if err == nil && left >= 0 {
		f.few = setjoin.NewFew(sets, t, setjoin.FewContained)
	}
	return err
}

func (f *lookupFiles) readAll(ctx context.Context, record func(in records.Source, rec *records.Record) error) error {
	n := 0
	r := inputs.Reading{Stage: "join", Options: f.o.Of, Record: func(in records.Source, rec *records.Record) error {
		if n++; f.limits != nil && n > len(f.of) { // an earlier pass may have ended early
			f.of = append(f.of, f.limits.group(rec))
		}
		return record(in, rec)
	}}
	if !f.told {
		r.Rejects = f.o.Rejects
		r.Begin = func(_ int, in records.Source) error { return cmp.Or(f.o.Files.CheckIDs(in), f.check(in)) }
	}
	f.told = true
	return cmp.Or(f.env.EachInput(ctx, f.o.Files, r), f.o.Files.Unchanged())
}

// find returns the matches of a lot's documents, in no particular order.
func (f *lookupFiles) find(ctx context.Context, b *lookupLot) (found []engine.Match, err error) {
	few := f.few
	if few == nil {
		t, role, _ := containment(f.o.By)
		hash, sets := corpus.Hashed(f.o.Params), make([][]uint64, len(b.docs))
		for i := range b.docs {
			sets[i] = hash(b.docs[i].Text)
		}
		few = setjoin.NewFew(sets, t, role)
	}
	most := int(f.o.Memory) / 4 / int(2*unsafe.Sizeof(engine.Match{}))
	x := corpus.NewFewExtractor(ctx, f.o.Params, few, most, errMany, func(place int, id string, m setjoin.FewMatch) error {
		query, stored := m.Set, place
		if f.few != nil {
			query, stored, id = place, m.Set, f.ids[m.Set]
		}
		switch {
		case f.limits != nil && !f.limits.May(b.groups[b.at[query]], f.of[stored]):
			return nil
		case len(found) == most:
			return errMany
		}
		found = append(found, engine.Match{Query: query, ID: id, Score: m.Score, Exact: true})
		return nil
	})
	defer x.Stop()
	if f.few == nil {
		err = f.readAll(ctx, func(_ records.Source, rec *records.Record) error { return x.Add(&rec.Doc, nil) })
	}
	for i := range b.docs {
		if f.few != nil && err == nil {
			err = x.Add(&b.docs[i], nil)
		}
	}
	return found, cmp.Or(err, x.Finish())
}
