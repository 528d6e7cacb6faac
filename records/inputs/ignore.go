package inputs

import (
	"context"
	"errors"
	"fmt"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/token"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/lines"
)

// ignore adds the features of the documents of Compared.Ignore to those that are not compared.
func (e *Env) ignore(ctx context.Context, c Compared, p *records.FeatureParams, w Weighing) (err error) {
	opt := w.Read
	opt.MakeID, opt.Need, opt.After = true, records.NeedText, 0
	src, err := e.ignored(ctx, c.Ignore, w, &opt)
	if err != nil {
		return err
	}
	defer src.Stored.Close(&err)
	of := *p
	of.Features.MinWords = 0
	set, left := unweighted(of), &token.HashSet{}
	var fresh []uint64
	err = e.EachInput(ctx, src, Reading{Stage: "read what to ignore", Options: opt, Record: func(_ records.Source, rec *records.Record) error {
		fresh = left.AppendNew(fresh[:0], set(rec.Doc.Text))
		return nil
	}})
	if err != nil {
		return err
	}
	if left.Len() == 0 {
		return errors.New("it has nothing to compare, so there is nothing to ignore")
	}
	p.Ignored = left
	return nil
}

// ignored opens what Compared.Ignore names: a database, or files that are read as the inputs are. A
// file of plain text is one document, since what is ignored may go across its lines; opt is then
// changed to read it.
func (e *Env) ignored(ctx context.Context, path string, w Weighing, opt *records.Options) (*Sources, error) {
	if path == "-" {
		return nil, errors.New("name a file, a folder or a database")
	}
	if what, err := engine.Identifier()(path); err == nil && what != "" || IsSet(path) {
		db, err := e.OpenStored(path, Access{})
		if err != nil {
			return nil, err
		}
		return db.Sources(), nil
	}
	whole := Options{Files: true}
	if w.Inputs.Tree != nil {
		return e.New(ctx, []string{path}, whole)
	}
	src, err := FileSources([]string{path})
	if err != nil {
		return nil, err
	}
	in, err := src.Open(0, *opt)
	if err != nil {
		return nil, err
	}
	plain := in.Info().Format == lines.TXT && opt.Format == records.Auto && opt.RecordStart == ""
	if err := in.Close(); err != nil {
		return nil, err
	}
	if plain {
		*opt = records.Options{Encoding: opt.Encoding, HTML: opt.HTML}
		return e.New(ctx, []string{path}, whole)
	}
	return src, e.Uses(path, "a file of "+option.Name("Ignore"))
}

// ignoreCommon adds the features of many documents to those that are not compared.
func (e *Env) ignoreCommon(c Compared, p *records.FeatureParams, w Weighing) error {
	if !(c.IgnoreCommon > 0 && c.IgnoreCommon < 1) {
		return fmt.Errorf("%s: use a share of the documents above 0 and below 1: %w", option.Set("IgnoreCommon", c.IgnoreCommon), engine.ErrInvalid)
	}
	const least = 2 // two documents with a feature may be a pair to be found
	most := 0.0
	var common []uint64
	_, err := count(*p, w, func(n int64, feature uint64, documents int64) error {
		if most = max(c.IgnoreCommon*float64(n), least); float64(documents) > most {
			common = append(common, feature)
		}
		return nil
	})
	if err != nil {
		return err
	}
	left := &token.HashSet{}
	left.AppendNew(nil, common)
	if p.Ignored != nil { // none of these was counted
		left = p.Ignored
		left.AppendNew(nil, common)
	}
	p.Ignored = left
	e.Say("%s of more than %s are not compared (%s)", quantity.Count(int64(len(common)), "feature"), quantity.Count(int64(most), "document"), option.Set("IgnoreCommon", c.IgnoreCommon))
	return nil
}
