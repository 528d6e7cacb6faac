package predicate

import (
	"context"
	"fmt"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/query/internal/syntax"
	"github.com/simdb/simdb/query/internal/value"
)

// Scope holds the state that the predicates of a running statement share. It must not be used
// concurrently.
type Scope struct {
	Ctx    context.Context
	DB     *engine.DB
	Snap   *engine.Snapshot      // the state that the statement reads
	Values *value.Values         // values of its literals and parameters
	Report func(engine.Progress) // may be nil
	Stats  *engine.QueryStats    // of its searches

	now   time.Time
	near  near // storage of the first NEAR, which saves an allocation
	nears int

	held     int64 // bytes that the statement holds; see Hold
	memory   int64 // bytes that it may hold; 0 until first needed
	fields   []*NamedField
	doubts   []string
	textless []textless

	ifEmpty []string // doubts about a statement without rows
}

// Now returns the time from which durations in the statement count back.
func (x *Scope) Now() time.Time {
	if x.now.IsZero() {
		x.now = time.Now()
	}
	return x.now
}

// Hold accounts for bytes more of results in memory. It returns an ErrTooLarge if the statement
// exceeds the memory that the database allows.
func (x *Scope) Hold(bytes int) error {
	x.held += int64(bytes)
	if x.memory == 0 {
		x.memory = x.DB.Metrics().Memory
	}
	if x.held > x.memory {
		return fmt.Errorf("the results of the statement do not fit into its memory limit: use LIMIT or COUNT, "+
			"or raise %s: %w", option.Name("Memory"), engine.ErrTooLarge)
	}
	return nil
}

// matchBytes estimates the size of a match in a map, without its id but with the map's growth.
const matchBytes = 160

// reportEvery is the number of documents between progress reports.
const reportEvery = 1 << 10

// Counting returns a function that counts the documents of a stage and reports progress. The caller
// calls it once per document.
func (x *Scope) Counting(stage string) func() {
	if x.Report == nil {
		return func() {}
	}
	n := int64(0)
	return func() {
		if n++; n%reportEvery == 0 {
			x.Report(engine.Progress{Stage: stage, Done: n, Unit: "documents"})
		}
	}
}

// NeedSketches returns an error at word if the database has no sketches.
func (x *Scope) NeedSketches(word syntax.Token) error {
	if x.DB.Options().Sketch > 0 {
		return nil
	}
	return x.lacks(word, engine.ErrNoSketches, "use NEAR", "needs a database with sketches, and this one has none")
}

// NeedTexts returns an error at word if the database stores no texts.
func (x *Scope) NeedTexts(word syntax.Token) error { return x.needContent(word, "texts") }

// needContent returns an error at word, which needs the texts or the fields of documents, if the
// database stores neither.
func (x *Scope) needContent(word syntax.Token, what string) error {
	if !x.DB.Options().NoText {
		return nil
	}
	return x.lacks(word, engine.ErrParams, "", "needs the "+what+" of documents, and this database stores none")
}

// lacks returns the error for a word that needs data which the database does not have.
func (x *Scope) lacks(word syntax.Token, is error, hint, needs string) error {
	e := x.Values.Errorf(word.Pos.Offset, hint, "%s %s", word.Value, needs)
	e.Err = is
	return e
}
