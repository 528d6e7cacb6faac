package query

import (
	"cmp"
	"errors"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/predicate"
)

// To read a text or a field, a block of them is decoded. What a driver lists lies anywhere, so
// tests that read them are made for many candidates together, in the order in which their texts
// lie: then each block is decoded once, and the tests cost no more than a scan, however many
// candidates there are. Of a selection that stops early, the first batches are small.
const (
	firstBatch = 16
	mostBatch  = 1 << 16
	batchBytes = 512 // that a candidate takes in a batch
)

// readsTexts reports whether candidates are tested by their texts or fields.
func (p plan) readsTexts(sel *selection) bool {
	return slices.ContainsFunc(sel.predicates, func(l *leaf) bool {
		decided := len(p.drivers) == 1 && (l == p.drivers[0] || slices.Contains(p.fused, l))
		return l.TestCost() == predicate.TestText && !decided
	})
}

// inBatch is a candidate in a batch.
type inBatch struct {
	listed
	result result
	ok     bool
}

// findByText is find where candidates are tested by their texts.
func (x *run) findByText(sel *selection, p plan, o predicate.ListOptions, give func(result) error) error {
	c := &candidate{verdicts: make([]verdict, len(sel.predicates))}
	most := int(min(max(x.DB.Metrics().Memory/8/batchBytes, 1), mostBatch))
	size := most
	if p.streams && sel.first() >= 0 {
		size = min(firstBatch, most)
	}
	var batch []inBatch
	flush := func() error {
		full := batch
		batch, size = batch[:0], min(4*size, most)
		judged := x.judgeTexts(sel, p, c, full)
		for i := range full {
			if full[i].ok {
				if err := give(full[i].result); err != nil {
					return err
				}
			}
		}
		return judged
	}
	err := x.list(p, o, func(f listed) error {
		c.begin(p, &f)
		ok, err := x.testBeforeTexts(sel.expr, c)
		if err != nil || !ok {
			return err
		}
		f.Entry = c.Entry
		if batch = append(batch, inBatch{listed: f}); len(batch) < size {
			return nil
		}
		return flush()
	})
	if err == errStop {
		return err
	}
	return cmp.Or(flush(), err) // what was found before an error comes first
}

// testBeforeTexts makes those tests of an AND that read no text. It returns false if one fails.
func (x *run) testBeforeTexts(n node, c *candidate) (bool, error) {
	terms, _ := n.(andNode)
	for _, t := range terms {
		if testCost(t) >= predicate.TestText {
			break
		}
		if ok, err := x.test(t, c); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// judgeTexts judges the candidates of a batch, in the order in which their texts are stored.
func (x *run) judgeTexts(sel *selection, p plan, c *candidate, batch []inBatch) error {
	ids := make([]string, len(batch))
	for i := range batch {
		ids[i] = batch[i].ID
	}
	return x.Snap.GetEach(x.Ctx, ids, func(i int, d engine.Doc) (err error) {
		c.begin(p, &batch[i].listed)
		c.SetDoc(&d)
		batch[i].result, batch[i].ok, err = x.judge(sel, c)
		if errors.Is(err, predicate.ErrGone) {
			err = nil
		}
		return err
	})
}
