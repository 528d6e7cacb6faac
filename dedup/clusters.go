package dedup

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records/inputs"
)

// newCorpus returns the corpus of a run, with the features that the criterion needs. Without joins,
// their sets are only stored.
func (d *job) newCorpus(dir string, joins bool) *corpus.Corpus {
	return corpus.New(corpus.Options{
		Sets:         d.textCriterion().Sets || d.scored(),
		Measure:      d.textCriterion().Measure,
		Fingerprints: d.Near != nil,
		ScoresOnly:   !joins || d.Near != nil && d.Verify == nil,
		Memory:       d.c.memory(),
		InputBytes:   d.inputBytes(),
		Dir:          dir,
	})
}

// scored reports whether a run by fingerprints also computes the similarities of the texts.
func (d *job) scored() bool {
	stored := func(s source) bool { return s.Stored != nil && s.Stored.DB.Options().NoText }
	return d.Near != nil && d.c.Where.Images == nil && !slices.ContainsFunc(d.against, stored) && (d.c.Figures || d.c.AuditPath() != "" || d.c.Audited != nil)
}

// join forms the clusters.
func (d *job) join(c *corpus.Corpus) (err error) {
	order, err := d.preferred()
	switch {
	case err != nil:
	case d.Near != nil && d.Verify == nil:
		err = d.joinPrints(c, order)
	default:
		err = d.joinSets(c, order)
	}
	if err != nil {
		return err
	}
	return d.out.numberClusters(d.ctx)
}

// preferred returns the documents in the order of preference; nil stands for ascending numbers.
func (d *job) preferred() ([]uint32, error) {
	order, err := d.keep.order(d.ctx, d.read)
	if err != nil {
		return nil, err
	}
	return d.decided.reorder(d.orderKnown(order), d.known+d.read), nil
}

// setOptions returns the options of joins of sets.
func (d *job) setOptions(order []uint32) setjoin.Options {
	return setjoin.Options{
		Memory: d.c.memory() / 4, Order: order, Known: int(d.known), OnlyKnown: d.c.OnlyAgainst, Crowded: crowded(d.env, d.textCriterion().Measure.Kind),
		Progress: func(done, total int) {
			d.env.Report(engine.Progress{Stage: "join", Done: int64(done), Total: int64(total), Unit: "documents"})
		},
	}
}

// crowded returns a function that warns that a join by a measure will be slow.
func crowded(env *inputs.Env, by setjoin.Kind) func(each int) {
	helps := "use a higher threshold"
	if by == setjoin.Jaccard || by == setjoin.Contained {
		helps = fmt.Sprintf("use a higher threshold or longer shingles (%s), or leave out common text (%s or %s)",
			option.Name("Shingle"), option.Name("Mask"), option.Name("StopWords"))
	}
	return func(each int) {
		env.Say("warning: each document is compared about %s times, because thousands of documents share most of their features; "+
			"twice as many documents may need four times as long: %s", quantity.Number(int64(each)), helps)
	}
}

// joinSets forms clusters by the texts. With Near it joins only documents within that distance.
func (d *job) joinSets(c *corpus.Corpus, order []uint32) error {
	o := d.setOptions(order)
	t := d.textCriterion().T
	o.Judge = c.Judges(d.ctx, t)
	o.Accept = d.decided.accepts()
	if d.decided != nil && d.decided.groups != nil {
		var err error
		if o.Same, err = c.Equal(d.ctx, d.decided.group); err != nil {
			return err
		}
	}
	join := c.Sets.Stars
	if d.Near != nil {
		join = func(ctx context.Context, t float64, o setjoin.Options) (setjoin.Assignment, error) {
			return c.VerifiedStars(ctx, t, *d.Near, o, d.printOptions(c.N))
		}
	}
	stars, err := join(d.ctx, t, o)
	if err != nil {
		return err
	}
	d.out.keeper, d.out.score = stars.Keeper, stars.Score
	for n := range d.known { // including those that equal other known documents
		d.out.keeper[n] = uint32(n)
	}
	if d.Near != nil {
		d.out.distance = make([]uint16, len(stars.Keeper))
		for n, k := range stars.Keeper {
			d.out.distance[n] = uint16(c.Distance(uint32(n), k))
		}
	}
	return nil
}

// printOptions returns the options of joins of n documents' fingerprints.
func (d *job) printOptions(n int64) selfjoin.Options {
	return selfjoin.Options{OnlyKnown: d.c.OnlyAgainst, Progress: func(done, total int64) {
		share := float64(done) / float64(max(total, 1))
		d.env.Report(engine.Progress{Stage: "join", Done: int64(share * float64(n)), Total: n, Unit: "documents"})
	}}
}

// joinPrints forms clusters by fingerprints.
func (d *job) joinPrints(c *corpus.Corpus, order []uint32) (err error) {
	o := d.printOptions(c.N)
	d.out.keeper, d.out.distance, err = c.PrintStars(d.ctx, order, *d.Near, uint32(d.known), d.decided.asApart(), o)
	if err != nil || c.Sets == nil || c.Textual == 0 {
		return err
	}
	d.out.score, err = c.Sets.Scores(d.ctx, d.out.keeper)
	return err
}

// outcome holds the result for each document, indexed by ordinal.
type outcome struct {
	keeper   []uint32  // a kept document is its own keeper; nobody for a document that was seen in many
	score    []float64 // similarity with the keeper; nil where texts were not compared
	distance []uint16  // to the keeper; nil for Jaccard
	cluster  []uint32  // indexed by keeper: the cluster's number, from 1; 0 if it has no other members
	sizes    []uint32  // indexed by cluster number - 1
	names    []uint32  // in a Part, indexed by cluster number - 1: the number in the whole job
	clusters int64     // clusters of two documents or more
	dropped  int64
}

// kept reports whether document n is kept. With Keep none it reports whether a cluster is formed
// around n.
func (o *outcome) kept(n int64) bool { return o.keeper[n] == uint32(n) }

// gone reports whether document n is dropped although a cluster is formed around it.
func (d *job) gone(n int64) bool {
	return d.keep.rules.none() && n >= d.known && d.out.kept(n) && d.out.cluster[n] > 0 && !d.decided.is(uint32(n), DecisionKeep)
}

// name returns the number of a cluster in the outputs.
func (o *outcome) name(cluster uint32) uint32 {
	if o.names != nil {
		return o.names[cluster-1]
	}
	return cluster
}

// numberClusters numbers the clusters by decreasing size, then in the order of their keepers.
func (o *outcome) numberClusters(ctx context.Context) error {
	o.cluster = make([]uint32, len(o.keeper)) // holds the sizes first
	for n, k := range o.keeper {
		if o.cluster[k]++; k != uint32(n) {
			o.dropped++
		}
	}
	var keepers []uint32
	for k, size := range o.cluster {
		if size > 1 {
			keepers = append(keepers, uint32(k))
		} else {
			o.cluster[k] = 0
		}
	}
	o.clusters = int64(len(keepers))
	err := ordered.InPlace(ctx, keepers, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(o.cluster[b], o.cluster[a]), cmp.Compare(a, b))
	})
	o.sizes = make([]uint32, len(keepers))
	for at, k := range keepers {
		o.sizes[at], o.cluster[k] = o.cluster[k], uint32(at)+1
	}
	return err
}
