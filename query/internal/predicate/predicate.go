package predicate

import (
	"context"
	"errors"

	"github.com/simdb/simdb/engine"
)

// Predicate is a condition on a document.
type Predicate interface {
	// Test decides for one document. It returns ErrGone if the document can no longer be read.
	Test(x *Scope, c *Candidate) (Verdict, error)
	// TestCost ranks the cost of Test: the tests of an AND run from cheap to expensive.
	TestCost() TestCost
	// Measure says what its verdicts contain.
	Measure() Measure
	// String writes the predicate in the query language.
	String() string
}

// Driver is a predicate that can list the documents for which it holds.
type Driver interface {
	Predicate
	// List passes those documents to a Sink, until the Sink wants no more.
	List(x *Scope, o ListOptions, to Sink)
	// Cost estimates the time of List in nanoseconds, and Rows the number of documents it yields.
	// They only have to rank drivers.
	Cost(x *Scope) float64
	Rows(x *Scope) float64
	// Order is the order in which List yields if ListOptions.Ordered is set.
	Order() Order
	// Explain describes how List finds the documents, one line per step.
	Explain(x *Scope) []string
}

// A Sink receives the documents that a driver lists. Take returns false if it wants no more; after
// an error it is not called again.
type Sink interface{ Take(f Found, err error) bool }

// Counter is a driver that can count its documents without listing them.
type Counter interface {
	Count(x *Scope) (int64, error)
}

// Estimator is a predicate that compares sketches if the query says ESTIMATE.
type Estimator interface{ Estimate() }

// Verdict is the result of a test.
type Verdict struct {
	Holds bool
	Match engine.Match // set if Holds: Distance, or Score, Error and Exact

	Passages []engine.Passage // for a predicate with Places: the longest first
}

// Measure says which values a predicate adds to a row.
type Measure int

// The measures. If a row has several scores, it shows the first kind here that holds.
const (
	NoMeasure  Measure = iota
	Places             // Verdict.Passages: there is a row for each
	Distance           // Match.Distance
	Score              // Match.Score, an estimate unless Match.Exact
	ExactScore         // Match.Score, shown only if no predicate with a Score holds
)

// TestCost ranks the cost of a test.
type TestCost int

// The costs of a test, in ascending order, by the data that it must fetch.
const (
	TestID    TestCost = iota // nothing
	TestEntry                 // its entry
	TestSet                   // nothing, once a set has been computed
	TestText                  // its text
)

// Nanoseconds estimates the time of the test, as one of many.
func (c TestCost) Nanoseconds() float64 {
	return [...]float64{TestID: 50, TestEntry: 1500, TestSet: 100, TestText: 6000}[c]
}

// Order is an order of rows.
type Order int

// The orders of drivers.
const (
	AnyOrder   Order = iota
	ByID             // by id
	ByDistance       // by distance, then id
	ByScore          // by score in descending order, then id
)

// ListOptions says how a driver lists documents. The zero value lists all, in any order.
type ListOptions struct {
	Ordered bool // in the driver's Order
	First   int  // if not 0, the caller reads at most this many
	IDsOnly bool // the caller reads nothing but the ids
	// Also are other conditions on the documents, if the driver is a Filter.
	Also []Filter
}

// Found is a document that a driver has listed.
type Found struct {
	ID     string
	Entry  *engine.Doc // nil unless the driver has read it
	Match  engine.Match
	Listed bool // the driver has counted it for progress

	Passages []engine.Passage // as in a Verdict
}

// Candidate is a document under test. Its entry and its document are read on first use.
type Candidate struct {
	ID    string
	Entry *engine.Doc // nil until read
	doc   *engine.Doc
}

// Reset makes c the candidate of a document that a driver has listed.
func (c *Candidate) Reset(f *Found) { c.ID, c.Entry, c.doc = f.ID, f.Entry, nil }

// SetDoc sets the document of c, so that c does not read it.
func (c *Candidate) SetDoc(d *engine.Doc) { c.doc = d }

// ErrGone says that a listed document can no longer be read, because it has expired.
var ErrGone = errors.New("the document is gone")

// ReadEntry returns the entry of the document.
func (c *Candidate) ReadEntry(x *Scope) (*engine.Doc, error) {
	return x.read(&c.Entry, x.Snap.Lookup, c.ID)
}

// ReadDoc returns the document.
func (c *Candidate) ReadDoc(x *Scope) (*engine.Doc, error) { return x.read(&c.doc, x.Snap.Get, c.ID) }

// read returns *of, which it reads by its id first if it is nil.
func (x *Scope) read(of **engine.Doc, by func(context.Context, string) (engine.Doc, error), id string) (*engine.Doc, error) {
	if *of == nil {
		d, err := by(x.Ctx, id)
		if errors.Is(err, engine.ErrNotFound) {
			return nil, ErrGone
		} else if err != nil {
			return nil, err
		}
		*of = &d
	}
	return *of, nil
}
