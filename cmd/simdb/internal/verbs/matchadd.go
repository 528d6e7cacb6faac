package verbs

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/pipeline"
)

// Records are read ahead while others are decided, up to one of these bounds. What has been read by
// then is decided together, and with --add stored together.
const (
	aheadCount = 4096
	aheadBytes = 8 << 20
)

// readItem is a record, a line that can't be used, or what ended the reading.
type readItem struct {
	doc   engine.Doc
	line  aLine
	flaw  string // input.Record.Flaw
	bad   bool   // input.Record.BadUTF8
	issue *input.Issue
	err   error
}

// items yields all records of an input and their sizes.
func (t *matching) items(ctx context.Context, a *app.App, in input.Source) iter.Seq2[readItem, int] {
	return func(yield func(readItem, int) bool) {
		r := t.reading()
		give := func(item readItem, size int) error {
			if !yield(item, size) {
				return input.ErrStop
			}
			return nil
		}
		r.Issue = func(_ input.Source, is *input.Issue) error {
			copied := *is
			copied.Raw = slices.Clone(is.Raw)
			return give(readItem{issue: &copied}, len(is.Raw))
		}
		r.Record = func(_ input.Source, rec *input.Record) error {
			item := readItem{doc: rec.Doc, line: lineOf(rec), flaw: rec.Flaw, bad: rec.BadUTF8}
			item.line.raw = slices.Clone(rec.Raw)
			return give(item, len(rec.Raw)+len(rec.Doc.Text)+len(rec.Doc.Fields))
		}
		if err := a.ReadSource(ctx, t.sources, in, r); err != nil {
			yield(readItem{err: err}, 0)
		}
	}
}

// add stores the records of an input that are new, and writes what is to be written of them once
// they are safe.
func (t *matching) add(a *app.App, in input.Source) error { return t.readAhead(a, in, t.addRecords) }

// live decides the records of a pipe, and writes what is to be written of them.
func (t *matching) live(a *app.App, in input.Source) error {
	return t.readAhead(a, in, t.holdRecords)
}

// A decideFunc decides some records, which are all that were read meanwhile or a part of them.
type decideFunc = func(ctx context.Context, in input.Source, items []readItem) error

// readAhead reads an input while decide decides the records before.
func (t *matching) readAhead(a *app.App, in input.Source, decide decideFunc) error {
	read := func(ctx context.Context) iter.Seq2[readItem, int] { return t.items(ctx, a, in) }
	for items := range pipeline.Arrivals(a.Context(), aheadCount, aheadBytes, read) {
		if err := t.decideItems(a, in, items, decide); err != nil {
			return err
		}
		if t.rows != nil { // who writes the pipe may wait for them
			if err := t.rows.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// decideItems decides records. It rejects lines in the order in which they were read.
func (t *matching) decideItems(a *app.App, in input.Source, items []readItem, decide decideFunc) error {
	from := 0
	for i, item := range items {
		if item.issue == nil && item.err == nil {
			t.rejects.Note(in, &input.Record{File: item.line.file, Pos: item.line.pos, Flaw: item.flaw, BadUTF8: item.bad})
			continue
		}
		if item.err != nil && a.Interrupted() {
			return item.err
		}
		if err := decide(a.Context(), in, items[from:i]); err != nil {
			return errors.Join(item.err, err)
		}
		if item.err != nil {
			return item.err
		}
		if err := t.reject(in, item.issue); err != nil {
			return err
		}
		from = i + 1
	}
	return decide(a.Context(), in, items[from:])
}

// addRecords stores those records that are new, as one group. After an error it writes what
// has been decided.
func (t *matching) addRecords(ctx context.Context, in input.Source, items []readItem) error {
	if len(items) == 0 {
		return nil
	}
	docs := make([]engine.Doc, len(items))
	for i := range items {
		docs[i] = items[i].doc
	}
	done, err := t.db.AddNovel(ctx, docs, t.c.Criterion(!t.c.NoVerify))
	for _, d := range done { // also those whose lines an error of the output keeps from being written
		if t.read++; d.Stored {
			t.stored++
		}
		if d.Replaced {
			t.renewed++
		}
	}
	for i, d := range done {
		if failure := t.decided(in, items[i].line, d.Match, !d.Stored); failure != nil {
			for _, d := range done[i+1:] {
				if d.Stored {
					t.fresh++
				}
			}
			return errors.Join(err, failure)
		}
	}
	if err != nil {
		t.read++ // the one that failed has been read too
	}
	return err
}
