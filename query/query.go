package query

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// Text marks an argument of Run as a text to compare with, like TEXT '...' in a statement. A plain
// string would be the id of a document.
type Text string

// Named is an argument of Run that gives the value of $Name.
type Named struct {
	Name  string // without the $
	Value any
}

// Run runs one statement on db. args are the values of its parameters: one for each ? in turn, and
// a Named for each $name. A string is an id (or a pattern, or a date), Text a text, uint64 a
// fingerprint; integers, floats, time.Time, time.Duration, engine.Doc and JSON (json.RawMessage or
// map[string]any, for PUT) stand for themselves.
//
// A statement that writes has written when Run returns. Other statements run while their Rows are
// read; the caller must read the Rows to the end or close them. Errors with a place in the text are
// *ParseError.
func Run(ctx context.Context, db *engine.DB, text string, args ...any) (*Rows, error) {
	return (*Session)(nil).Run(ctx, db, text, args...)
}

// run runs a parsed statement. s is nil if the statement is not part of a session.
func (s *Session) run(ctx context.Context, db *engine.DB, p parsed, args []any) (*Rows, error) {
	// One allocation holds everything that a statement needs while it runs and its rows are read.
	x := &struct {
		run
		rows   Rows
		scope  predicate.Scope
		values value.Values
		args   [4]any
	}{}
	positional, named := arguments(append(x.args[:0], args...))
	if err := x.values.Init(p.Parsed, positional, named); err != nil {
		return nil, p.placed(err)
	}
	x.rows.search, x.rows.scope = p.def.searches, &x.scope
	var err error
	from := &db.Reader
	if x.to = &db.Writer; s != nil && s.tx != nil {
		x.tx, from, x.to = s.tx, &s.tx.Reader, &s.tx.Writer
	}
	if x.scope.Snap, err = from.Snapshot(); err != nil {
		return nil, err
	}
	x.rows.snap = x.scope.Snap
	x.scope.Ctx, x.scope.DB, x.scope.Values, x.scope.Stats = ctx, db, &x.values, &x.rows.stats
	if s != nil {
		x.scope.Report, x.rows.showFirst = s.Progress, s.ShowFirst
	}
	x.Scope, x.run.rows, x.session = &x.scope, &x.rows, s
	rows := &x.rows
	if err := p.def.run(&x.run, p.Statement); err != nil {
		rows.Close()
		return nil, p.placed(err)
	}
	if rows.seq == nil {
		rows.Close()
	}
	return rows, nil
}

// run is a running statement.
type run struct {
	*predicate.Scope
	rows    *Rows        // what the statement returns
	session *Session     // nil if the statement is not part of a session
	tx      *transaction // the transaction that the statement is part of, or nil
	to      *engine.Writer

	sel    selection // the bound query, if any
	leaf   leaf      // storage of the query's first leaf, which saves an allocation
	tester tester
}

// answer sets the rows that the statement returns.
func (x *run) answer(columns []string, seq iter.Seq2[Row, error]) {
	x.rows.columns, x.rows.seq = columns, seq
}

// say sets the message that the statement returns.
func (x *run) say(format string, args ...any) { x.rows.message = fmt.Sprintf(format, args...) }

// arguments separates the arguments of Run into the values of ? and those of $name.
func arguments(args []any) (positional []any, named map[string]any) {
	if !slices.ContainsFunc(args, func(a any) bool {
		switch a.(type) {
		case Named, Text, front.Literal:
			return true
		}
		return false
	}) {
		return args, nil
	}
	named = make(map[string]any)
	for _, a := range args {
		if n, ok := a.(Named); ok {
			named[strings.TrimPrefix(n.Name, "$")] = argument(n.Value)
		} else {
			positional = append(positional, argument(a))
		}
	}
	return positional, named
}

// argument converts an argument to the types of package value.
func argument(a any) any {
	switch a := a.(type) {
	case Text:
		return value.Text(a)
	case front.Literal:
		if t, ok := language.Literal(string(a)); ok {
			return t
		}
		return string(a)
	}
	return a
}

// A Prepared is a parsed statement. It may run any number of times, in many goroutines.
type Prepared struct{ p parsed }

// Prepare parses a statement, with ? and $name for the values that each run gives. It checks only
// the form of the statement, not whether documents exist or values are in range. The error is a
// *ParseError.
func Prepare(text string) (*Prepared, error) {
	p, err := parse(text)
	if err != nil {
		return nil, err
	}
	return &Prepared{p}, nil
}

// Run runs the statement on db, as the function [Run] does.
func (p *Prepared) Run(ctx context.Context, db *engine.DB, args ...any) (*Rows, error) {
	return (*Session)(nil).run(ctx, db, p.p, args)
}

// parsed is a parsed statement and its row in the table of statements.
type parsed struct {
	*syntax.Parsed
	def *statementDef
}

func parse(text string) (parsed, error) {
	p, err := language.Parse(text)
	if err != nil {
		return parsed{}, placed(text, err)
	}
	return parsed{p, statementOf(p.Word)}, nil
}

// placed calls the function placed with an error in the statement's tree.
func (p *parsed) placed(err error) error { return placed(p.Text, p.Locate(err)) }
