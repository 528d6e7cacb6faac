package verbs

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"unsafe"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/grouping"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// joinFiles are the documents of files in place of a database. The side that is contained is held
// in memory, and the other one is read: once if the documents of the files are held, with --within
// and if they fit, and otherwise for each lot of lines.
type joinFiles struct {
	a       *app.App
	by      app.SimilarityFlags
	memory  int64
	rejects *inputs.Rejects
	meter   *app.Meter
	files   *inputs.Sources
	opt     records.Options
	params  features.Params
	read    bool              // what is no record has been told of
	few     *setjoin.Few      // the documents of the files, nil if they are not held
	ids     []string          // of these
	groups  *grouping.Grouper // nil without --across and --within-field
	of      []uint32          // the groups of all documents
}

// errMany says that there is no memory for all matches of some lines.
var errMany = errors.New("there are more matches than --memory has room for")

// search yields what the lines are like. Those that have too many matches are searched for in
// parts.
func (f *joinFiles) search(ctx context.Context, l *joinLines) iter.Seq2[engine.BatchMatch, error] {
	return func(yield func(engine.BatchMatch, error) bool) {
		found, err := f.find(ctx, l)
		if half := len(l.docs) / 2; half > 0 && errors.Is(err, errMany) {
			for i, some := range []*joinLines{{docs: l.docs[:half], groups: l.groups, line: l.line}, {docs: l.docs[half:], groups: l.groups, line: l.line[half:]}} {
				for m, err := range f.search(ctx, some) {
					m.Query += i * half
					if !yield(m, err) || err != nil {
						return
					}
				}
			}
			return
		}
		if err != nil {
			yield(engine.BatchMatch{}, err)
			return
		}
		slices.SortFunc(found, func(x, y engine.BatchMatch) int {
			return cmp.Or(cmp.Compare(x.Query, y.Query), cmp.Compare(y.Score, x.Score), strings.Compare(x.ID, y.ID))
		})
		for _, m := range found {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// hold holds the documents of the files with --within, if they fit into half of the memory.
func (f *joinFiles) hold() error {
	if f.by.Within == nil {
		return nil
	}
	t := float64(*f.by.Within)
	hash, sets, left := corpus.Hashed(f.params), [][]uint64(nil), f.memory/2
	err := f.each(func(_ records.Source, rec *records.Record) error {
		set := hash(rec.Doc.Text)
		if left -= idBytes + int64(len(rec.Doc.ID)) + int64(len(set))*setjoin.FewBytes(t, setjoin.FewContained); left < 0 {
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

// idBytes is about what a document takes beside its ID and its set.
const idBytes = 64

func (f *joinFiles) each(record func(in records.Source, rec *records.Record) error) error {
	n := 0
	r := inputs.Reading{Stage: "join", Options: f.opt, Record: func(in records.Source, rec *records.Record) error {
		if n++; f.groups != nil && n > len(f.of) { // a pass may have ended early
			f.of = append(f.of, f.groups.Of(rec))
		}
		return record(in, rec)
	}}
	if !f.read {
		r.Rejects = f.rejects
		r.Begin = func(_ int, in records.Source) error { return cmp.Or(f.files.CheckIDs(in), f.by.CheckInput(in)) }
	}
	f.read = true
	return cmp.Or(f.a.Env().EachInput(f.a.Context(), f.files, r), f.files.Unchanged())
}

// find returns what the lines are like, in no order.
func (f *joinFiles) find(ctx context.Context, l *joinLines) (found []engine.BatchMatch, err error) {
	docs := l.docs
	few, t := f.few, f.by.Contains
	if few == nil {
		role := setjoin.FewContained
		if t == nil {
			role, t = setjoin.FewContaining, f.by.Within
		}
		hash, sets := corpus.Hashed(f.params), make([][]uint64, len(docs))
		for i := range docs {
			sets[i] = hash(docs[i].Text)
		}
		few = setjoin.NewFew(sets, float64(*t), role)
	}
	most := int(f.memory) / 4 / int(2*unsafe.Sizeof(engine.BatchMatch{}))
	x := corpus.NewFewExtractor(ctx, f.params, few, most, errMany, func(place int, id string, m setjoin.FewMatch) error {
		query, stored := m.Set, place
		if f.few != nil {
			query, stored, id = place, m.Set, f.ids[m.Set]
		}
		switch {
		case f.groups != nil && !f.groups.Accept(l.groups[l.line[query]], f.of[stored]):
			return nil
		case len(found) == most:
			return errMany
		}
		found = append(found, engine.BatchMatch{Query: query, Match: engine.Match{ID: id, Score: m.Score, Exact: true}})
		return nil
	})
	defer x.Stop()
	if f.few == nil {
		err = f.each(func(_ records.Source, rec *records.Record) error { return x.Add(&rec.Doc, nil) })
	}
	for i := range docs {
		if f.few != nil && err == nil {
			err = x.Add(&docs[i], nil)
		}
	}
	return found, cmp.Or(err, x.Finish())
}
