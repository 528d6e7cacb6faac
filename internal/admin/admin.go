// Package admin implements the administration of a database, for the dot-commands of the prompt and
// the verbs of the command. It returns the state of a database as rows, and changes it.
package admin

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/printable"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query"
)

// A Command is an operation that administers a database.
type Command struct {
	Name      string
	Arguments string // in the notation of help
	Help      string
	Writes    bool // it may change the database
	// Run executes the command; args has as many elements as Arguments has words.
	Run func(ctx context.Context, db *engine.DB, args []string, progress func(engine.Progress)) (*Result, error)
}

// Commands lists all commands. The prompt has a dot-command for each, and the command line a verb.
var Commands = []Command{
	{"stats", "", "documents, tables and sizes of the database", false, stats},
	{"schema", "", "the parameters of the database, and the fields of its documents", false, schema},
	{"fields", "", "the fields that documents have; reads all documents", false, fields},
	{"check", "", "verify all checksums and cross-references", false, check},
	{"allowed", "", "the pairs that .allow has recorded", false, allowed},
	{"allow", "A B", "record that two documents are not duplicates", true, allow},
	{"unallow", "A B", "undo .allow", true, unallow},
	{"prune", "AGE", "delete documents stored longer ago than AGE, such as 30d, or before a date", true, prune},
	{"flush", "", "write out the memtable", true, flush},
	{"compact", "", "merge the tables", true, compact},
}

// Named returns the command with a name, or nil if there is none.
func Named(name string) *Command {
	for i := range Commands {
		if Commands[i].Name == name {
			return &Commands[i]
		}
	}
	return nil
}

// A Result is the result of a command: rows, or a message. It is read like query.Rows.
type Result struct {
	columns  []string
	rows     []query.Row
	message  string
	warnings []string
	damage   bool
}

// Columns returns the names of the columns. It is empty if the result is a message.
func (r *Result) Columns() []string { return r.columns }

// Message returns the message; "" if there are rows.
func (r *Result) Message() string { return r.message }

// Warnings returns doubts about the result.
func (r *Result) Warnings() []string { return r.warnings }

// Damage reports whether the rows are problems that Check found.
func (r *Result) Damage() bool { return r.damage }

// All yields the rows.
func (r *Result) All() iter.Seq2[query.Row, error] {
	return func(yield func(query.Row, error) bool) {
		for _, row := range r.rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func say(format string, args ...any) *Result { return &Result{message: fmt.Sprintf(format, args...)} }

// fieldsAtHand is the number of documents that are read to find field names.
const fieldsAtHand = 1000

// FieldNames returns the names of the fields of the first documents, as statements write them, and
// the number of documents read.
func FieldNames(ctx context.Context, db *engine.DB) (names []string, of int64, err error) {
	if db.Options().NoText {
		return nil, 0, nil
	}
	fields, of, err := db.Fields(ctx, engine.Range{Limit: fieldsAtHand}, nil)
	for _, f := range fields {
		names = append(names, query.Field(f.Path...).String())
	}
	return names, of, err
}

// fieldRows returns the rows of stats about the fields of documents; none if no document has
// fields.
func fieldRows(ctx context.Context, db *engine.DB) ([]query.Row, error) {
	names, of, err := FieldNames(ctx, db)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	all := strings.Join(names, ", ")
	if n, err := db.Count(ctx, engine.Range{}); err == nil && of < n {
		all += " (of " + quantity.Count(of, "document") + "; .fields reads all)"
	}
	return []query.Row{{"fields", all}}, nil
}

// stats returns the state of a database, the fields of the first documents, and the work of flushes
// and merges since it was opened.
func stats(ctx context.Context, db *engine.DB, _ []string, progress func(engine.Progress)) (*Result, error) {
	s, err := db.Stats()
	if err != nil {
		return nil, err
	}
	fields, err := fieldRows(ctx, db)
	m := db.Metrics()
	rows := slices.Concat(database(s), work(m), cached(m), fields)
	return &Result{columns: []string{"name", "value"}, rows: append(append(rows, tables(s)...), merges(m.Running, m.Past)...)}, err
}

// schema returns the parameters of a database, and the fields of its first documents.
func schema(ctx context.Context, db *engine.DB, _ []string, progress func(engine.Progress)) (*Result, error) {
	s, err := db.Stats()
	if err != nil {
		return nil, err
	}
	fields, err := fieldRows(ctx, db)
	return &Result{columns: []string{"name", "value"}, rows: append(params(s.Tokenizer, s.Options), fields...)}, err
}

// fields returns the fields of the documents with their types, the number of documents that have
// each, and an example. It reads all documents.
func fields(ctx context.Context, db *engine.DB, _ []string, progress func(engine.Progress)) (*Result, error) {
	fields, of, err := db.Fields(ctx, engine.Range{}, progress)
	r := &Result{columns: []string{"name", "type", "documents", "share", "example", "indexed"}}
	for _, f := range fields {
		r.rows = append(r.rows, query.Row{query.Field(f.Path...).String(), f.Kinds, f.Documents, float64(f.Documents) / float64(of), f.Example, f.Indexed})
	}
	switch {
	case err != nil:
	case of == 0:
		r.warnings = []string{"the database has no documents"}
	case len(fields) == 0:
		r.warnings = []string{"no document has fields"}
	}
	return r, err
}

// check verifies all checksums and cross-references. It returns a row for each problem, or a
// message if there is none.
func check(ctx context.Context, db *engine.DB, _ []string, progress func(engine.Progress)) (*Result, error) {
	r, err := db.Check(ctx, progress)
	if err != nil || len(r.Problems) > 0 {
		return Problems(r.Problems...), err
	}
	return say("ok: %s, %s, %d bytes verified", quantity.Plain(r.Tables, "table", "tables"), quantity.Plain(r.Documents, "document", "documents"), r.Bytes), nil
}

// Problems returns a row for each problem that DB.Check or Open found. Unknown values are null: the
// offset if a problem affects a whole file, and everything but the problem for an error that is not
// a *engine.CorruptionError.
func Problems(problems ...error) *Result {
	r := &Result{columns: []string{"file", "section", "offset", "problem"}, damage: len(problems) > 0}
	for _, p := range problems {
		row := query.Row{nil, nil, nil, p.Error()}
		if e, ok := errors.AsType[*engine.CorruptionError](p); ok {
			row = query.Row{e.File, e.Section, nil, e.Err.Error()}
			if e.Offset >= 0 {
				row[2] = e.Offset
			}
		}
		r.rows = append(r.rows, row)
	}
	return r
}

// allowed returns the pairs of documents that are recorded as no duplicates.
func allowed(_ context.Context, db *engine.DB, _ []string, progress func(engine.Progress)) (*Result, error) {
	snap, err := db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	r := &Result{columns: []string{"a", "b"}}
	for p := range snap.Allowed() {
		r.rows = append(r.rows, query.Row{p.A, p.B})
	}
	return r, nil
}

// allow records that two documents are no duplicates. It warns about IDs that no document has yet;
// such documents may come later.
func allow(ctx context.Context, db *engine.DB, args []string, progress func(engine.Progress)) (*Result, error) {
	if err := setAllowed(ctx, db, true, args); err != nil {
		return nil, err
	}
	r := say("allowed")
	for _, id := range args {
		if _, err := db.Get(ctx, id); errors.Is(err, engine.ErrNotFound) {
			r.warnings = append(r.warnings, fmt.Sprintf("there is no document %q", printable.Text(id)))
		}
	}
	return r, nil
}

// unallow undoes allow.
func unallow(ctx context.Context, db *engine.DB, args []string, progress func(engine.Progress)) (*Result, error) {
	return say("unallowed"), setAllowed(ctx, db, false, args)
}

func setAllowed(ctx context.Context, db *engine.DB, allowed bool, args []string) error {
	a, b := args[0], args[1]
	if a == b {
		return fmt.Errorf("%q twice: a pair is two documents: %w", a, engine.ErrInvalid)
	}
	err := db.SetAllowed(ctx, allowed, engine.Pair{A: a, B: b})
	if errors.Is(err, engine.ErrNotFound) {
		err = fmt.Errorf("%q and %q are not an allowed pair: %w", a, b, engine.ErrNotFound)
	}
	return err
}

// flush writes out the memtable.
func flush(ctx context.Context, db *engine.DB, _ []string, progress func(engine.Progress)) (*Result, error) {
	return say("flushed"), db.Flush(ctx)
}

// compact merges the tables.
func compact(ctx context.Context, db *engine.DB, _ []string, progress func(engine.Progress)) (*Result, error) {
	return say("compacted"), db.Compact(ctx, &engine.CompactOptions{Progress: progress})
}

// prune deletes the documents that were stored longer ago than an age, or before a time.
func prune(ctx context.Context, db *engine.DB, args []string, progress func(engine.Progress)) (*Result, error) {
	before, ok := quantity.ParseTime(args[0])
	if age, isAge := quantity.ParseDuration(args[0]); isAge {
		before, ok = time.Now().Add(-age), true
	}
	if !ok {
		return nil, fmt.Errorf("%q is neither an age such as 30d nor a date such as 2026-01-02: %w", args[0], engine.ErrInvalid)
	}
	n, err := db.Prune(ctx, before, progress)
	return say("pruned %s", quantity.Plain(n, "document", "documents")), err
}
