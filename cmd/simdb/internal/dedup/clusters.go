package dedup

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/radix"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/internal/setjoin"
)

// corpus is what is compared: of each document its set, or its fingerprint, or both.
type corpus struct {
	sets         *setjoin.Sets      // nil if texts are not compared
	prints       []base.Fingerprint // nil if fingerprints are not
	empty        []uint64           // a bit for each document that matches nothing by its fingerprint
	n            int64
	textual      int64 // documents with a text
	fingerprints int64 // documents with a fingerprint of their own
}

// newCorpus returns the corpus of a run: which features it has depends on the criterion.
func (d *job) newCorpus(dir string) *corpus {
	c := &corpus{}
	if d.c.Near != nil {
		c.prints = []base.Fingerprint{}
	}
	if d.c.Jaccard != nil || d.c.Verify != nil || d.scored() {
		memory := int64(d.c.Memory)
		c.sets = setjoin.NewSets(setjoin.SetsOptions{
			Memory:   memory / 4,
			NoJoin:   d.c.Near != nil && d.c.Verify == nil,
			Counters: min(memory/4, max(d.inputBytes()/8, 64<<10)),
			Create:   func() (setjoin.File, error) { return createSpill(dir) },
		})
	}
	return c
}

// createSpill makes the file of sets that memory has no room for. Where open files can be removed,
// it is gone even if the process is killed.
func createSpill(dir string) (setjoin.File, error) {
	f, err := os.CreateTemp(dir, "sets-*")
	if err == nil {
		os.Remove(f.Name())
	}
	return f, err
}

// scored reports whether a run by fingerprints says how similar texts are in truth.
func (d *job) scored() bool {
	return d.c.Near != nil && (!d.a.Global.Quiet || d.c.auditPath() != "")
}

// store adds a batch of documents.
func (c *corpus) store(b *featured) error {
	from := 0
	for i := range b.docs {
		if c.n >= setjoin.MaxSets {
			return fmt.Errorf("more than %d documents", setjoin.MaxSets)
		}
		if c.sets != nil {
			if err := c.sets.Add(b.hashes[from:b.ends[i]]); err != nil {
				return err
			}
			from = b.ends[i]
		}
		if c.n%64 == 0 {
			c.empty = append(c.empty, 0)
		}
		if b.empty[i] {
			c.empty[c.n/64] |= 1 << (c.n % 64)
		}
		if c.prints != nil {
			c.prints = append(c.prints, b.prints[i])
		}
		if b.docs[i].Text != "" {
			c.textual++
		}
		if b.docs[i].Fingerprint != nil {
			c.fingerprints++
		}
		c.n++
	}
	return nil
}

// emptyFrom returns how many documents from document n on match nothing.
func (c *corpus) emptyFrom(n int64) (count int64) {
	for ; n < c.n; n++ {
		if c.isEmpty(uint32(n)) {
			count++
		}
	}
	return count
}

func (c *corpus) isEmpty(n uint32) bool { return c.empty[n/64]>>(n%64)&1 != 0 }

// join forms the clusters.
func (d *job) join(c *corpus) (err error) {
	order, err := d.keep.order(d.a.Context(), d.read)
	if err != nil {
		return err
	}
	if order != nil && d.known > 0 {
		all := make([]uint32, d.known, d.known+d.read)
		for n := range all {
			all[n] = uint32(n)
		}
		for _, n := range order {
			all = append(all, n+uint32(d.known))
		}
		order = all
	}
	switch {
	case d.c.Near != nil && d.c.Verify == nil:
		err = d.joinPrints(c, order)
	default:
		err = d.joinSets(c, order)
	}
	if err != nil {
		return err
	}
	return d.out.numberClusters(d.a.Context())
}

// setOptions are those of joins of sets.
func (d *job) setOptions(order []uint32) setjoin.Options {
	return setjoin.Options{
		Memory: int64(d.c.Memory) / 4, Order: order, Known: int(d.known),
		Progress: func(done, total int) {
			d.meter.Report(engine.Progress{Stage: "join", Done: int64(done), Total: int64(total), Unit: "documents"})
		},
	}
}

// joinSets forms clusters by the texts, of those within the distance of --near only if there is
// one.
func (d *job) joinSets(c *corpus, order []uint32) error {
	o := d.setOptions(order)
	t := d.c.Jaccard
	if d.c.Near != nil {
		k := int(*d.c.Near)
		t = d.c.Verify
		o.Accept = func(a, b int) bool {
			return base.Distance(c.prints[a], c.prints[b]) <= k && !c.isEmpty(uint32(a)) && !c.isEmpty(uint32(b))
		}
	}
	stars, err := c.sets.Stars(d.a.Context(), float64(*t), o)
	if err != nil {
		return err
	}
	d.out.keeper, d.out.score = stars.Keeper, stars.Score
	for n := range d.known { // also those that are equal to others
		d.out.keeper[n] = uint32(n)
	}
	if d.c.Near != nil {
		d.out.distance = make([]uint8, len(stars.Keeper))
		for n, k := range stars.Keeper {
			d.out.distance[n] = uint8(base.Distance(c.prints[n], c.prints[k]))
		}
	}
	return nil
}

// joinPrints forms clusters by fingerprints. Documents of one fingerprint are joined as one, the
// preferred one of them.
func (d *job) joinPrints(c *corpus, order []uint32) error {
	n := int(c.n)
	if order == nil {
		order = make([]uint32, n)
		for i := range order {
			order[i] = uint32(i)
		}
	}
	order = slices.DeleteFunc(order, c.isEmpty)
	// The distinct fingerprints in order, and of each document which of them it has.
	p := radix.Pairs{Keys: make([]uint64, len(order)), Vals: make([]uint32, len(order))}
	for at, doc := range order {
		p.Keys[at], p.Vals[at] = c.prints[doc], uint32(at) // a stable sort: the preferred document first
	}
	p = radix.SortPairs(p, radix.Pairs{Keys: make([]uint64, len(order)), Vals: make([]uint32, len(order))})
	fps := p.Keys[:0]
	group := make([]uint32, len(order)) // by place in the order
	for i, fp := range p.Keys {
		if len(fps) == 0 || fp != fps[len(fps)-1] {
			fps = append(fps, fp)
		}
		group[p.Vals[i]] = uint32(len(fps) - 1)
	}
	const none = ^uint32(0)
	first := make([]uint32, len(fps)) // of each fingerprint: its place among leaders
	for f := range first {
		first[f] = none
	}
	var leaders, prints []uint32 // preferred documents of each fingerprint, in order of preference; and the fingerprints
	for at, doc := range order {
		if f := group[at]; first[f] == none {
			first[f] = uint32(len(leaders))
			leaders, prints = append(leaders, doc), append(prints, f)
		}
	}
	stars, err := selfjoin.Stars(d.a.Context(), fps, prints, int(*d.c.Near), selfjoin.Options{Progress: func(done, total int64) {
		share := float64(done) / float64(max(total, 1))
		d.meter.Report(engine.Progress{Stage: "join", Done: int64(share * float64(n)), Total: int64(n), Unit: "documents"})
	}})
	if err != nil {
		return err
	}
	d.out.keeper, d.out.distance = make([]uint32, n), make([]uint8, n)
	for i := range d.out.keeper {
		d.out.keeper[i] = uint32(i)
	}
	for at, doc := range order {
		l := first[group[at]]
		d.out.keeper[doc], d.out.distance[doc] = leaders[stars.Keeper[l]], stars.Distance[l]
	}
	if c.sets == nil || c.textual == 0 {
		return nil
	}
	d.out.score, err = c.sets.Scores(d.a.Context(), d.out.keeper)
	return err
}

// errNoTexts refuses to compare texts where there are none.
var errNoTexts = errors.New("the documents have fingerprints and no texts: --near K compares fingerprints")
