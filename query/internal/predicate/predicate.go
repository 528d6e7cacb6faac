package predicate

import (
	"errors"

	"github.com/simdb/simdb/engine"
)

// Predicate is a condition on a document.
type Predicate interface {
	// Test decides for one document. It returns ErrGone if the document can no longer be read.
	Test(x *Scope, c *Candidate) (Verdict, error)
	// TestCost ranks what Test costs: the tests of an AND run from cheap to expensive.
	TestCost() TestCost
	// Measure says what its verdicts carry.
	Measure() Measure
	// String writes the predicate as the language does.
	String() string
}

// Driver is a predicate that can list the documents for which it holds.
type Driver interface {
	Predicate
	// List gives those documents to a Sink, until it wants no more.
	List(x *Scope, o ListOptions, to Sink)
	// Cost estimates what List costs in nanoseconds, and Rows how many documents it yields. They
	// only have to rank drivers.
	Cost(x *Scope) float64
	Rows(x *Scope) float64
	// Order is the order in which List yields if ListOptions.Ordered is set.
	Order() Order
	// Explain describes how List finds the documents, a line per step.
	Explain(x *Scope) []string
}

// A Sink takes the documents that a driver lists. Take returns false if no more are wanted; an
// error is the last that it is given.
type Sink interface{ Take(f Found, err error) bool }

// Counter is a driver that can count its documents without listing them.
type Counter interface {
	Count(x *Scope) (int64, error)
}

// Verifier is a predicate whose scores VERIFY recomputes from the texts.
type Verifier interface{ Verify() }

// Verdict is the result of a test.
type Verdict struct {
	Holds bool
	Match engine.Match // if it holds: Distance, or Score, Error and Exact

	Passages []engine.Passage // of a predicate with Places: the longest first
}

// Measure is what a predicate contributes to a row.
type Measure int

// The measures. Of several scores the first kind that holds is shown.
const (
	NoMeasure  Measure = iota
	Places             // Verdict.Passages: there is a row for each
	Distance           // Match.Distance
	Score              // Match.Score, an estimate unless Match.Exact
	ExactScore         // Match.Score, shown only if no predicate with a Score holds
)

// TestCost ranks what a test costs.
type TestCost int

// The costs of a test, in ascending order: what it must fetch for the document.
const (
	TestID    TestCost = iota // nothing
	TestEntry                 // its entry
	TestSet                   // nothing, after a set has been computed once
	TestText                  // its text
)

// Nanoseconds returns about how long the test takes, of one of many documents.
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

// ListOptions says how the documents of a driver are read. The zero value is all, in any order.
type ListOptions struct {
	Ordered bool // in the driver's Order
	First   int  // if not 0, at most this many are read
	IDsOnly bool // nothing but the ids will be read
	// Also are what must hold as well, if the driver is a Filter.
	Also []Filter
}

// Found is a document that a driver lists.
type Found struct {
	ID     string
	Entry  *engine.Entry // if the driver has read it, else nil
	Match  engine.Match
	Listed bool // the driver has counted it

	Passages []engine.Passage // as those of a Verdict
}

// Candidate is a document that is tested. Its entry and its document are read on first use.
type Candidate struct {
	ID    string
	Entry *engine.Entry // nil until read
	doc   *engine.Doc
}

// Reset makes c the candidate of a document that a driver has listed.
func (c *Candidate) Reset(f *Found) { c.ID, c.Entry, c.doc = f.ID, f.Entry, nil }

// SetDoc gives c the document, so that it need not be read.
func (c *Candidate) SetDoc(d *engine.Doc) { c.doc = d }

// ErrGone says that a document that a driver listed can't be read: it has expired since.
var ErrGone = errors.New("the document is gone")

// ReadEntry returns the entry of the document.
func (c *Candidate) ReadEntry(x *Scope) (*engine.Entry, error) {
	if c.Entry == nil {
		e, err := x.Snap.Lookup(x.Ctx, c.ID)
		if errors.Is(err, engine.ErrNotFound) {
			return nil, ErrGone
		} else if err != nil {
			return nil, err
		}
		c.Entry = &e
	}
	return c.Entry, nil
}

// ReadDoc returns the document.
func (c *Candidate) ReadDoc(x *Scope) (*engine.Doc, error) {
	if c.doc == nil {
		d, err := x.Snap.Get(x.Ctx, c.ID)
		if errors.Is(err, engine.ErrNotFound) {
			return nil, ErrGone
		} else if err != nil {
			return nil, err
		}
		c.doc = &d
	}
	return c.doc, nil
}
