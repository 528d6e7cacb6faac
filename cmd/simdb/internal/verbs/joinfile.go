package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unsafe"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/setjoin"
)

// joinFiles are the documents of files in place of a database. They are read once for each lot of
// lines, whose sets of shingles are held.
type joinFiles struct {
	*joining
	files  *app.Sources
	opt    input.Options
	params features.Params
	read   bool // what is no record has been told of
}

// openFiles opens the files that the first argument names, and prepares the lines to be read as
// they are.
func (c *Join) openFiles(a *app.App, opt *input.Options, m *app.Meter) (f *joinFiles, err error) {
	if c.Contains == nil && c.Within == nil {
		return nil, fmt.Errorf("%s is a file: files are joined by --contains and --within; simdb load makes a database of one for other criteria", c.DB)
	}
	if c.IDs {
		return nil, fmt.Errorf("--ids: %s is a file, and stores no documents", c.DB)
	}
	f = &joinFiles{opt: c.RowInputFlags.Options()}
	f.opt.MakeID = true
	said := engine.Features{}
	if f.params, said, err = c.Params(0); err == nil {
		err = cmp.Or(app.ReadFeatures(opt, said), app.ReadFeatures(&f.opt, said))
	}
	if err != nil {
		return nil, err
	}
	if f.files, err = a.NewSources([]string{c.DB}, c.InputFlags); err != nil {
		return nil, err
	}
	dir, err := a.TempDirIn("")
	if err != nil {
		return nil, err
	}
	return f, a.Reread(f.files, dir, m)
}

// search yields what the lines are like.
func (f *joinFiles) search(ctx context.Context, docs []engine.Doc) iter.Seq2[engine.BatchMatch, error] {
	return func(yield func(engine.BatchMatch, error) bool) {
		found, err := f.find(ctx, docs)
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

// find returns what the lines are like, in no order.
func (f *joinFiles) find(ctx context.Context, docs []engine.Doc) (found []engine.BatchMatch, err error) {
	role, t := setjoin.FewContained, f.c.Contains
	if t == nil {
		role, t = setjoin.FewContaining, f.c.Within
	}
	sets := corpus.SetsOf(f.params, len(docs), func(i int) string { return docs[i].Text })
	few := setjoin.NewFew(sets, float64(*t), role)
	most := int(f.c.Memory) / 4 / int(2*unsafe.Sizeof(engine.BatchMatch{}))
	x := corpus.NewFewExtractor(ctx, f.params, few, func(id string, m setjoin.FewMatch) error {
		if len(found) == most {
			return errors.New("more matches than --memory has room for")
		}
		found = append(found, engine.BatchMatch{Query: m.Set, Match: engine.Match{ID: id, Score: m.Score, Exact: true}})
		return nil
	})
	defer x.Stop()
	r := app.Reading{
		Stage: "join", Meter: f.meter, Options: f.opt,
		Record: func(_ input.Source, rec *input.Record) error { return x.Add(&rec.Doc) },
	}
	if !f.read {
		r.Rejects = f.rejects
		r.Begin = func(_ int, in input.Source) error { return cmp.Or(f.files.CheckIDs(in), f.c.CheckInput(in)) }
	}
	if err = f.a.EachInput(f.files, r); err == nil {
		err = cmp.Or(x.Finish(), f.files.Unchanged())
	}
	f.read = true
	return found, err
}
