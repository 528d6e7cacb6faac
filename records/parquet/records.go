package parquet

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"runtime/debug"

	"github.com/simdb/simdb/records"
)

// Sizes of the batches that the goroutine of a row group sends to the caller.
const (
	batchRows  = 512
	batchBytes = 512 << 10
	batches    = 8 // capacity of the channel of a row group
)

// outcome is a record, an Issue, or the error that ends the reading.
type outcome struct {
	rec *records.Record
	err error
}

// Records yields the rows of the file in order.
func (f *file) Records(ctx context.Context) iter.Seq2[*records.Record, error] {
	return func(yield func(*records.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if err := f.settle(ctx); err != nil {
			yield(nil, err)
			return
		}
		workers := cmp.Or(max(f.opt.Workers, 0), runtime.GOMAXPROCS(0))
		rest := f.groups(f.opt.After)
		var running []<-chan []outcome
		for {
			for len(running) < workers && len(rest) > 0 {
				running = append(running, f.start(ctx, rest[0]))
				rest = rest[1:]
			}
			if len(running) == 0 || !deliver(ctx, running[0], yield) {
				return
			}
			running = running[1:]
		}
	}
}

// deliver yields the records of a row group. It reports whether to continue reading.
func deliver(ctx context.Context, from <-chan []outcome, yield func(*records.Record, error) bool) bool {
	for {
		var batch []outcome
		ok := false
		select {
		case batch, ok = <-from:
		case <-ctx.Done():
		}
		if err := context.Cause(ctx); err != nil {
			yield(nil, err)
			return false
		}
		if !ok {
			return true
		}
		for _, o := range batch {
			if _, issue := o.err.(*records.Issue); !yield(o.rec, o.err) || o.err != nil && !issue {
				return false
			}
		}
	}
}

// start starts a goroutine that reads a row group until ctx ends.
func (f *file) start(ctx context.Context, g group) <-chan []outcome {
	to := make(chan []outcome, batches)
	f.users.Add(1)
	go func() {
		defer f.Close()
		defer close(to)
		send := func(batch []outcome) bool {
			select {
			case to <- batch:
				return true
			case <-ctx.Done():
				return false
			}
		}
		pos, err := f.readGroup(g, send)
		if err != nil && ctx.Err() == nil {
			send([]outcome{{err: &records.ReadError{File: f.info.Name, Pos: pos, Unit: unit, Err: err}}})
		}
	}()
	return to
}

// readGroup sends the rows of a row group in batches, while send returns true. It returns the last
// position read, and the error that ended the reading.
func (f *file) readGroup(g group, send func([]outcome) bool) (pos records.Position, err error) {
	pos = g.first - 1
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer unpanic(&err)
	r := rowReader{layout: &f.layout, cursors: make([]*cursor, len(leavesOf(f.f.Root())))}
	defer func() {
		for _, c := range r.used {
			c.close()
		}
	}()
	for _, col := range f.used {
		c, err := f.openCursor(g.number, col)
		if err != nil {
			return pos, err
		}
		r.cursors[col.Index()] = c
		r.used = append(r.used, c)
	}
	if skip := int64(f.opt.After - pos); skip > 0 {
		for _, c := range r.used {
			if err := c.skipRows(skip); err != nil {
				return pos, err
			}
		}
		pos += records.Position(skip)
	}
	size := float64(sizeOf(&f.meta.RowGroups[g.number]))
	return r.batches(pos, g, func(batch []outcome) bool {
		f.done.Add(int64(size * float64(len(batch)) / float64(g.rows)))
		return send(batch)
	})
}

// batches sends the rows of a group after a position, including those before damage.
func (r *rowReader) batches(pos records.Position, g group, send func([]outcome) bool) (records.Position, error) {
	end := g.first + records.Position(g.rows) - 1
	for pos < end {
		var batch []outcome
		size := 0
		for pos < end && len(batch) < batchRows && size < batchBytes {
			rec, err := r.read(pos + 1)
			if _, issue := err.(*records.Issue); err != nil && !issue {
				send(batch)
				return pos, err
			}
			pos++
			size += r.size
			batch = append(batch, outcome{rec, err})
		}
		if !send(batch) {
			return pos, nil
		}
	}
	for _, c := range r.used {
		v, err := c.peek()
		if err != nil {
			return pos, err
		}
		if v != nil {
			return pos, c.fail(errors.New("damaged: it has more values than its row group has rows"))
		}
	}
	return pos, nil
}
