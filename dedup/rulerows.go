package dedup

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/rulejoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// ruleRows joins documents by a rule. The documents of the collection come first, those of the
// input follow.
type ruleRows struct {
	c      *rulejoin.Corpus
	ids    *corpus.Listing
	texts  *corpus.TextStore // nil if rows have no words
	split  features.Spec     // into words
	known  uint32            // documents of the collection
	remove func()            // removes the temporary folder
}

func (x *ruleRows) close() (err error) {
	if x.c != nil {
		err = x.c.Close()
	}
	err = errors.Join(err, x.ids.Close(), x.texts.Close())
	x.remove()
	return err
}

func (x *ruleRows) add(rec *records.Record) error {
	if x.texts != nil {
		if _, err := x.texts.Add(rec.Doc.Text); err != nil {
			return err
		}
	}
	return cmp.Or(x.ids.AddID(rec.Doc.ID), x.c.Add(ruled(rec)))
}

// differ sets the words of a row in which two documents differ.
func (x *ruleRows) differ(row *JoinRow, a, b uint32) error {
	if x.texts == nil {
		return nil
	}
	known, err := x.texts.Text(a)
	if err != nil {
		return err
	}
	text, err := x.texts.Text(b)
	row.setWords(x.split, known, text)
	return err
}

// openRule reads the collection.
func (j *Join) openRule(ctx context.Context, rule *pairrule.Rule) (err error) {
	o := &j.o
	if o.IDs {
		return &OptionError{Option: "Rule", Other: "IDs", Why: "it compares documents with their fields"}
	}
	if err := o.agreement().refuseFiles(rule, j.l.sources); err != nil {
		return err
	}
	dir, remove, err := j.l.env.TempDir("")
	if err != nil {
		return err
	}
	x := &ruleRows{remove: remove, ids: corpus.NewListing(corpus.Options{Memory: o.Memory, Dir: dir})}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.close())
		}
	}()
	p, of, read := o.Params, o.Files, inputs.Reading{Stage: "read", Options: o.Of, Rejects: o.Rejects}
	if o.Stored != nil {
		if err := o.agreement().refuseFiles(rule, o.Stored.Sources()); err != nil {
			return err
		}
		of, read.Options, read.Rejects = o.Stored.Sources(), records.Options{Need: records.NeedDoc}, nil
		if p, err = o.Stored.Params(); err != nil {
			return err
		}
		if o.Stored.DB.Options().NoText {
			return invalid("%s stores no texts to compare", o.Stored.Path)
		}
		w := inputs.Weighing{Inputs: j.l.sources, Read: o.Read, Memory: o.Memory, Dir: dir}
		w.Each = func(count func(*engine.Doc) error) error {
			read := inputs.Reading{Stage: "count features", Options: records.Options{Need: records.NeedText}}
			read.Record = func(_ records.Source, rec *records.Record) error { return count(&rec.Doc) }
			return j.l.env.EachInput(ctx, of, read)
		}
		if err := j.l.env.Weigh(ctx, o.Compared, &p, w); err != nil {
			return err
		}
		o.Stored.NoFingerprints = o.Compared.Ignores()
	}
	if x.split = p.Features; o.Words {
		x.texts = corpus.NewTextStore(o.Memory, dir)
	}
	input := cmp.Or(of.ContentBytes()+j.l.sources.ContentBytes(), unknownBytes)
	if x.c, err = rulejoin.New(ctx, rule, ruleOptions(p, read.Options, o.Memory, input, dir)); err != nil {
		return err
	}
	read.Record = func(_ records.Source, rec *records.Record) error { return x.add(rec) }
	if err := j.l.env.EachInput(ctx, of, read); err != nil {
		return err
	}
	x.known, j.rule = uint32(x.c.N), x
	return nil
}

// rowBytes is the memory of a row while the rows are gathered: a growing slice exists twice.
const rowBytes = 32

// ruled reads the input, and yields the rows.
func (j *Join) ruled(ctx context.Context) iter.Seq2[[]JoinRow, error] {
	return func(yield func([]JoinRow, error) bool) {
		rows, err := j.matches(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		x, some := j.rule, []JoinRow(nil)
		var same []JoinRow // of one line
		for len(rows) > 0 {
			line, n := rows[0].b, 1
			for n < len(rows) && rows[n].b == line {
				n++
			}
			query, err := x.ids.ID(line)
			same = same[:0]
			for i := 0; i < n && err == nil; i++ {
				var id string
				id, err = x.ids.ID(rows[i].a)
				row := JoinRow{Query: query, Match: engine.Match{ID: id, Score: rows[i].score, Exact: true}, line: int64(line - x.known)}
				err = cmp.Or(err, x.differ(&row, rows[i].a, line))
				same = append(same, row)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			slices.SortStableFunc(same, func(a, b JoinRow) int {
				return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
			})
			if some, rows = append(some, same...), rows[n:]; len(some) >= joinRows {
				if !yield(some, nil) {
					return
				}
				some = nil
			}
		}
		yield(some, nil)
	}
}

// ruleRow is a document of the collection, one of the input, and their score.
type ruleRow struct {
	a, b  uint32
	score float64
}

// matches reads the input, and returns the pairs of both sides, by document of the input.
func (j *Join) matches(ctx context.Context) (rows []ruleRow, err error) {
	x := j.rule
	x.c.Text(j.o.Read.TextFields())
	err = j.l.env.ReadSource(ctx, j.l.sources, j.in, inputs.Reading{
		Stage: "join", Options: j.o.Read, Rejects: j.o.Rejects,
		Record: func(_ records.Source, rec *records.Record) error {
			j.Read++
			return x.add(rec)
		},
	})
	if err == nil {
		err = j.o.agreement().finish(x.c)
	}
	if err != nil {
		return nil, err
	}
	left := max(j.o.Memory/4/rowBytes, 1)
	err = x.c.Across(ctx, x.known, ruleJoin(j.l.env, j.o.Memory), func(a, b uint32, score float64) bool {
		if left--; left >= 0 {
			rows = append(rows, ruleRow{a, b, score})
		}
		return left >= 0
	})
	if err == nil && left < 0 {
		err = rulejoin.TooMany()
	}
	slices.SortFunc(rows, func(a, b ruleRow) int { return cmp.Or(cmp.Compare(a.b, b.b), cmp.Compare(a.a, b.a)) })
	return rows, err
}
