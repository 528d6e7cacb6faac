package lines

import (
	"bytes"
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/records"
)

// Records yields the records of the file in order, skipping blank lines.
func (f *file) Records(ctx context.Context) iter.Seq2[*records.Record, error] {
	return func(yield func(*records.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		held := semaphore.NewWeighted(heldBytes)
		batches := f.pipeline(ctx, held)
		for {
			b, err := receive(ctx, batches)
			if err != nil {
				yield(nil, err)
			}
			if b == nil || !f.deliver(b, yield) {
				return
			}
			b.free(held)
		}
	}
}

// deliver yields the records of a batch. It reports whether to continue reading.
func (f *file) deliver(b *batch, yield func(*records.Record, error) bool) bool {
	for _, o := range b.out {
		if o.issue != nil {
			if !yield(nil, o.issue) {
				return false
			}
			continue
		}
		f.listed = f.listed || o.rec.listed
		if err := f.heed(o.rec); err != nil {
			yield(nil, &records.ReadError{File: f.info.Name, Pos: records.NoPosition, Err: err})
			return false
		}
		if !yield(&o.rec.Record, nil) {
			return false
		}
	}
	if b.issue != nil && !yield(nil, b.issue) {
		return false
	}
	if b.err != nil {
		yield(nil, b.err)
		return false
	}
	return true
}

// receive returns the next parsed batch, or nil at the end. If ctx ends, it does not wait for a
// read in progress.
func receive(ctx context.Context, batches <-chan *batch) (*batch, error) {
	select {
	case b, ok := <-batches:
		if !ok {
			return nil, context.Cause(ctx)
		}
		select {
		case <-b.parsed:
			return b, nil
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	return nil, context.Cause(ctx)
}

// pipeline starts the splitter and the parsers, which end with ctx, and returns the batches in
// order.
func (f *file) pipeline(ctx context.Context, held *semaphore.Weighted) <-chan *batch {
	f.reading = true
	workers := f.opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ordered := make(chan *batch, 2*workers)
	work := make(chan *batch, 2*workers)
	s := &splitter{name: f.info.Name, after: f.opt.After, cut: lineCutter{}, comment: f.opt.Comment, held: held, live: f.live, starts: &starts{found: true}}
	switch f.info.Format {
	case CSV:
		s.cut = &rows{sep: f.separator()}
	case JSON:
		s.cut, s.bare = &objects{members: f.members}, true
	}
	if f.group != nil {
		s.starts = &starts{begins: f.group.rule(), none: f.group.none}
		s.cut = s.starts
	}
	if f.hasHeader {
		s.header = f.readHeader
	}
	s.send = func(b *batch) {
		for _, c := range []chan *batch{ordered, work} {
			select {
			case c <- b:
			case <-ctx.Done():
				return
			}
		}
	}
	content, release := f.content, func() {}
	if f.in != nil {
		content, release = f.reader(), f.in.Release
	}
	go func() {
		defer close(ordered)
		defer close(work)
		defer release()
		s.run(ctx, content)
	}()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for b := range work {
				f.parseBatch(b)
				close(b.parsed)
			}
		})
	}
	return ordered
}

// parseBatch parses the records of a batch.
func (f *file) parseBatch(b *batch) {
	b.recs = slices.Grow(b.recs[:0], len(b.spans))[:len(b.spans)]
	b.out = slices.Grow(b.out[:0], len(b.spans))
	words := max(f.opt.Bits/base.FingerprintBits, 1)
	recs, fps, ones := b.recs, make([]uint64, words*len(b.spans)), make([]engine.Fingerprint, len(b.spans))
	for i, sp := range b.spans {
		raw, line := b.buf[sp.from:sp.to:sp.to], sp.line
		if f.info.Format == JSON {
			value, newlines := bare(raw, f.members)
			raw, line = value, line+newlines
		}
		if blank := bytes.TrimSpace(raw); len(blank) == 0 || f.group != nil && dividers.Match(blank) {
			continue
		}
		rec := &recs[i]
		rec.fp, rec.one = fps[i*words:(i+1)*words], ones[i:i+1:i+1]
		rec.Record = records.Record{File: f.info.Name, Pos: line, End: sp.end, Raw: raw, BadUTF8: !utf8.Valid(raw)}
		reason := ""
		if len(raw) > records.MaxRecord {
			reason = records.TooLarge(int64(len(raw)))
		} else {
			reason = f.parse.parse(raw, rec)
		}
		if reason != "" {
			is := &records.Issue{File: f.info.Name, Pos: line, Unit: "line", Reason: reason, Raw: raw, Size: int64(len(raw))}
			if f.info.Format == JSON || raw[len(raw)-1] == '\n' {
				is.End = sp.end
			}
			b.out = append(b.out, outcome{issue: is})
			continue
		}
		b.out = append(b.out, outcome{rec: rec})
	}
}

// readHeader parses the header. If the header names the columns, readHeader makes the parser, and
// reports whether raw is also data.
func (f *file) readHeader(raw []byte) (isData bool, err error) {
	if f.parse != nil { // a list, whose columns are already known
		f.info.Columns = bytes.Clone(raw)
		return false, nil
	}
	if f.before == nil && separatorLine([][]byte{raw}) != 0 {
		f.before = bytes.Clone(raw)
		return false, errAgain
	}
	names := f.cells(nil, raw)
	if f.unnamed {
		names = slices.Insert(names, 0, "")
	}
	t, err := newTable(names, f.cells, f.opt)
	if err != nil {
		return false, hintSeparator(err, raw, f.separator(), f.opt)
	}
	f.parse = t
	f.info.Columns = f.before
	if !f.opt.NoHeader {
		f.info.Columns = slices.Concat(f.before, raw)
	}
	return f.opt.NoHeader, nil
}

// heed adds the fingerprint of a record to the evidence. A fingerprint that is not a number in the
// notation of the others is a flaw; a different notation or length is an error.
func (f *file) heed(r *record) error {
	if r.widths[0] > 0 {
		f.seen.AddWidths(int64(r.Pos), r.written, r.widths)
	}
	if r.widths[0] > 0 && !f.surveys {
		if _, err := f.seen.Width(f.opt.Bits, "line"); err != nil {
			return notationError{err}
		}
	}
	if r.notation == base.Auto || !f.surveys && f.seen.Has(r.notation) {
		return nil
	}
	short := r.notation == base.Hex && base.IsShort(r.written)
	if short && !f.surveys && f.seen.Shows() == base.Decimal {
		_, _, err := base.ParseFingerprint(r.written, base.Auto)
		r.Flaw = err.Error()
		r.Doc.Fingerprints = nil
		return nil
	}
	f.seen.Add(int64(r.Pos), r.written, r.notation)
	if f.surveys {
		return nil
	}
	if err := f.seen.Conflict("line"); err != nil {
		return notationError{err}
	}
	return nil
}
