package query

import (
	"cmp"
	"errors"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/predicate"
)

// find calls yield with each result of a selection, in the order of the drivers, until yield
// returns false.
func (x *run) find(sel *selection, o predicate.ListOptions, yield func(result, error) bool) {
	t := &x.tester
	t.begin(x, sel, yield)
	for _, l := range sel.plan.drivers {
		t.driver = l
		if l.Predicate.(predicate.Driver).List(x.Scope, o, t); t.err != nil {
			break
		}
	}
	t.end(t.err)
}

// Take makes tester a Sink. It ignores predicate.ErrGone: the document no longer exists.
func (t *tester) Take(f predicate.Found, err error) bool {
	switch {
	case err != nil:
	case t.decided:
		return t.pass(&f)
	default:
		err = t.take(listed{f, t.driver})
	}
	if err != nil && !errors.Is(err, predicate.ErrGone) {
		t.err = err
	}
	return t.err == nil
}

// pass yields a document that needs no other test.
func (t *tester) pass(f *predicate.Found) bool {
	if f.Entry == nil && !f.Listed { // List has counted the others
		t.tested()
	}
	r := result{id: f.ID, distance: -1}
	switch t.driver.Measure() {
	case predicate.Distance:
		r.distance = f.Match.Distance
	case predicate.Score, predicate.ExactScore:
		r.scored, r.score, r.err, r.exact = true, f.Match.Score, f.Match.Error, f.Match.Exact
	}
	return t.yield(r, nil)
}

// listed is a document that a driver has listed.
type listed struct {
	predicate.Found
	driver *leaf
}

// errStop ends a search because the caller wants no more results.
var errStop = errors.New("no more is wanted")

// tester tests the documents that the drivers of a plan list, each document once, and yields the
// results of a selection.
type tester struct {
	*run
	sel     *selection
	driver  *leaf // the driver that lists
	yield   func(result, error) bool
	err     error               // the error that ended the search
	tested  func()              // counts a tested document
	decided bool                // nothing is left to test
	seen    map[string]struct{} // ids, if several drivers may list the same document

	doc      predicate.Candidate // the document under test
	verdicts []verdict           // on doc, indexed by leaf.number

	batch      []inBatch // documents that need only tests of texts and fields
	size, most int       // batch size: of the next batch, and the largest; 0 without batches
}

// verdict is the verdict of a leaf on a document.
type verdict struct {
	predicate.Verdict
	known bool // the leaf has been tested
}

// Reading a text or a field decodes a whole block. The documents that a driver lists lie anywhere,
// so tests that read blocks run on batches of candidates, in storage order: each batch decodes a
// block at most once, and its tests cost no more than a scan, however many candidates there are. If
// a selection stops early, the first batches are small.
const (
	firstBatch = 16
	mostBatch  = 1 << 18
	batchBytes = 512 // estimated memory of a candidate in a batch
)

type inBatch struct {
	listed
	result result
	ok     bool
}

// begin prepares a tester for the documents of a selection.
func (t *tester) begin(x *run, sel *selection, yield func(result, error) bool) {
	t.run, t.sel, t.yield, t.tested, t.err = x, sel, yield, x.Counting("test"), nil
	if len(sel.plan.drivers) > 1 {
		t.seen = make(map[string]struct{})
	} else if t.decided = sel.decided() && !sel.times && !sel.passages; t.decided {
		return
	}
	t.verdicts = make([]verdict, len(sel.predicates))
	if sel.readsTexts() {
		t.most = int(min(max(x.DB.Metrics().Memory/8/batchBytes, 1), mostBatch))
		if t.size = t.most; sel.plan.streams && sel.First() >= 0 {
			t.size = min(firstBatch, t.most)
		}
	}
}

// readsTexts reports whether candidates are tested by their texts or fields.
func (sel *selection) readsTexts() bool {
	p := &sel.plan
	return slices.ContainsFunc(sel.predicates, func(l *leaf) bool {
		decided := len(p.drivers) == 1 && (l == p.drivers[0] || slices.Contains(p.fused, l))
		return l.TestCost() == predicate.TestText && !decided
	})
}

// take tests a document that a driver has listed.
func (t *tester) take(f listed) error {
	if err := t.Ctx.Err(); err != nil {
		return err
	}
	if t.seen != nil {
		if _, ok := t.seen[f.ID]; ok {
			return nil
		}
		t.seen[f.ID] = struct{}{}
		if err := t.Hold(seenBytes + len(f.ID)); err != nil {
			return err
		}
	}
	if f.Entry == nil && !f.Listed { // List has counted the others
		t.tested()
	}
	t.next(&f)
	if t.most == 0 {
		r, ok, err := t.judge()
		if err != nil || !ok {
			return err
		}
		if !t.give(&r) {
			err = errStop
		}
		return err
	}
	if ok, err := t.testBeforeTexts(); err != nil || !ok {
		return err
	}
	f.Entry = t.doc.Entry
	if t.batch = append(t.batch, inBatch{listed: f}); len(t.batch) < t.size {
		return nil
	}
	return t.flush()
}

// end finishes a search that ended with err, which may be nil. It yields the results found before
// an error, then the error.
func (t *tester) end(err error) {
	if err != errStop && t.most > 0 {
		err = cmp.Or(t.flush(), err)
	}
	if err != nil && err != errStop {
		t.yield(result{}, err)
	}
}

func (t *tester) next(f *listed) {
	clear(t.verdicts)
	t.doc.Reset(&f.Found)
	t.verdicts[f.driver.number] = verdict{known: true, Verdict: predicate.Verdict{Holds: true, Match: f.Match, Passages: f.Passages}}
	for _, l := range t.sel.plan.fused {
		t.verdicts[l.number] = verdict{known: true, Verdict: predicate.Verdict{Holds: true}}
	}
}

// judge tests the document. If the document satisfies the expression, judge returns its result.
func (t *tester) judge() (result, bool, error) {
	if ok, err := t.test(t.sel.expr); err != nil || !ok {
		return result{}, false, err
	}
	r := result{id: t.doc.ID, distance: -1}
	best := predicate.NoMeasure
	for _, l := range t.sel.predicates {
		m := l.Measure()
		if l.negated || m == predicate.NoMeasure {
			continue
		}
		v, err := t.ask(l)
		if err != nil {
			return result{}, false, err
		}
		if !v.Holds {
			continue
		}
		if m == predicate.Distance {
			if r.distance < 0 || v.Match.Distance < r.distance {
				r.distance = v.Match.Distance
			}
			continue
		}
		if m == predicate.Places {
			r.passages = append(r.passages, v.Passages...)
			if len(r.passages) > len(v.Passages) { // several predicates have passages
				slices.SortFunc(r.passages, comparePassages)
				// Rows do not show where passages end, which depends on the blanks of the queries.
				r.passages = slices.CompactFunc(r.passages, func(p, q engine.Passage) bool { return comparePassages(p, q) == 0 })
			}
			continue
		}
		// A Score has precedence over an ExactScore; among the same kind, the best score is shown.
		if best == predicate.NoMeasure || m < best || m == best && v.Match.Score > r.score {
			best = m
			r.scored, r.score, r.err, r.exact = true, v.Match.Score, v.Match.Error, v.Match.Exact
		}
	}
	if t.sel.times {
		e, err := t.doc.ReadEntry(t.Scope)
		if err != nil {
			return result{}, false, err
		}
		r.time = e.Time
	}
	return r, true, nil
}

// give yields a result, or one row for each of its passages. It reports whether more are wanted.
func (t *tester) give(r *result) bool {
	if !t.sel.passages || len(r.passages) == 0 {
		return t.yield(*r, nil)
	}
	for i := range r.passages {
		one := *r
		if one.passages = r.passages[i : i+1]; !t.yield(one, nil) {
			return false
		}
	}
	return true
}

// test evaluates an expression on the document.
func (t *tester) test(n node) (bool, error) {
	switch n := n.(type) {
	case andNode:
		for _, term := range n {
			if ok, err := t.test(term); err != nil || !ok {
				return false, err
			}
		}
		return true, nil
	case orNode:
		for _, term := range n {
			if ok, err := t.test(term); err != nil || ok {
				return ok, err
			}
		}
		return false, nil
	}
	l := n.(*leaf)
	v, err := t.ask(l)
	return v.Holds != l.negated, err
}

// ask returns the verdict of a leaf on the document. It tests each leaf at most once per document.
func (t *tester) ask(l *leaf) (*verdict, error) {
	v := &t.verdicts[l.number]
	if v.known {
		return v, nil
	}
	decided, err := l.Predicate.Test(t.Scope, &t.doc)
	if err != nil {
		return v, err
	}
	v.known, v.Verdict = true, decided
	return v, nil
}

// testBeforeTexts runs the tests of an AND that read no text. It returns false if one fails.
func (t *tester) testBeforeTexts() (bool, error) {
	terms, _ := t.sel.expr.(andNode)
	for _, term := range terms {
		if testCost(term) >= predicate.TestText {
			break
		}
		if ok, err := t.test(term); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// flush judges the documents of the batch in storage order, and yields the results in the order in
// which they were listed.
func (t *tester) flush() error {
	batch := t.batch
	t.batch, t.size = t.batch[:0], min(4*t.size, t.most)
	ids := make([]string, len(batch))
	for i := range batch {
		ids[i] = batch[i].ID
	}
	var judged error
	for c, err := range t.Snap.Contents(t.Ctx, ids) {
		if judged = err; judged != nil {
			break
		}
		i := c.Index
		t.next(&batch[i].listed)
		t.doc.SetDoc(&engine.Doc{ID: ids[i], Text: string(c.Text), Fields: slices.Clone(c.Fields)})
		batch[i].result, batch[i].ok, judged = t.judge()
		if errors.Is(judged, predicate.ErrGone) {
			judged = nil
		}
		if judged != nil {
			break
		}
	}
	for i := range batch {
		if batch[i].ok && !t.give(&batch[i].result) {
			return errStop
		}
	}
	return judged
}
