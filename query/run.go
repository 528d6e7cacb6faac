package query

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/simdb/simdb/engine"
)

// run is the running of one statement.
type run struct {
	ctx    context.Context
	db     *engine.DB
	snap   *engine.Snapshot
	p      *parsed
	values *values
	now    time.Time
	docs   *float64 // documents, once counted
	held   int64    // bytes that it holds of what it has found
	rows   *Rows    // what the statement returns
}

// Run runs one statement on db. Arguments are the values of its parameters: of each ? in turn, and of $name a Named.
// A string is an id (or a pattern, or a date), Text a text, uint64 a fingerprint; integers, floats, time.Time,
// time.Duration, engine.Doc and JSON (json.RawMessage or map[string]any, for PUT) mean what they are.
//
// A statement that writes has written when Run returns. One that reads is read through the Rows, which must be read
// to the end or closed. Errors with a place in the text are of type *ParseError.
func Run(ctx context.Context, db *engine.DB, text string, args ...any) (*Rows, error) {
	started := time.Now()
	p, err := parseCached(text)
	if err != nil {
		return nil, err
	}
	v, err := newValues(p, args)
	if err != nil {
		return nil, err
	}
	rows := &Rows{started: started}
	x := &run{ctx: engine.WithStats(ctx, &rows.stats), db: db, p: p, values: v, now: started, rows: rows}
	if x.snap, err = db.Snapshot(); err != nil {
		return nil, err
	}
	rows.release = func() { x.snap.Close() }
	if err := x.start(); err != nil {
		rows.Close()
		return nil, err
	}
	if rows.seq == nil {
		rows.Close()
	}
	return rows, nil
}

// start does what the statement says, or sets up the rows that do it as they are read.
func (x *run) start() error {
	x.rows.wrote = x.p.def.writes
	return x.p.def.run(x, x.p.stmt)
}

// selectAll runs a query.
func (x *run) selectAll(s *selectStmt) error {
	sel, err := x.bindSelect(s)
	if err != nil {
		return err
	}
	x.answer(sel.columns(), x.selectRows(sel, x.planFor(sel)))
	x.rows.search = true
	return nil
}

// answer sets the rows that the statement returns.
func (x *run) answer(columns []string, seq iter.Seq2[Row, error]) {
	x.rows.columns, x.rows.seq = columns, seq
}

// say sets the message that the statement returns.
func (x *run) say(format string, args ...any) { x.rows.message = fmt.Sprintf(format, args...) }

// columns names the columns of a selection.
func (sel *selection) columns() []string {
	c := []string{"id"}
	if sel.distance {
		c = append(c, "distance")
	}
	if sel.score {
		c = append(c, "score", "error", "exact")
	}
	return c
}

// selectRows yields the rows of a selection.
func (x *run) selectRows(sel *selection, p plan) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for r, err := range x.results(sel, p) {
			if err == nil {
				err = x.ctx.Err() // the rows are known perhaps, but not taken
			}
			if err != nil {
				yield(nil, err)
				return
			}
			row := Row{r.id}
			switch {
			case sel.distance && r.distance >= 0:
				row = append(row, r.distance)
			case sel.distance:
				row = append(row, nil)
			}
			switch {
			case sel.score && r.scored:
				row = append(row, r.score, r.err, r.exact)
			case sel.score:
				row = append(row, nil, nil, nil)
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// count counts the rows of a query, or all documents.
func (x *run) count(s *countStmt) error {
	var err error
	var counted func() (int64, error)
	switch {
	case s.Select != nil:
		var sel *selection
		if sel, err = x.bindSelect(s.Select); err == nil {
			counted = func() (int64, error) { return x.countSelect(sel) }
		}
	case s.Pairs != nil:
		counted, err = x.countPairs(s.Pairs)
	case s.Clusters != nil:
		counted, err = x.countClusters(s.Clusters)
	default:
		counted = func() (int64, error) { return x.snap.Count(x.ctx) }
	}
	if err != nil {
		return err
	}
	x.answer([]string{"count"}, func(yield func(Row, error) bool) {
		n, err := counted()
		yield(Row{n}, err)
	})
	return nil
}

// counter is a driver that can count its documents without listing them.
type counter interface {
	count(x *run) (int64, error)
}

// countSelect counts what a selection finds, in no order and without holding it.
func (x *run) countSelect(sel *selection) (n int64, err error) {
	if l, alone := sel.expr.(*leaf); alone && !l.negated {
		if c, ok := l.predicate.(counter); ok {
			n, err = c.count(x)
			return sel.count(n), err
		}
	}
	for _, err := range x.found(sel, x.planFor(sel), asked{}) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return sel.count(n), nil
}
