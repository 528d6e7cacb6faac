package dedup

import (
	"context"
	"errors"
	"iter"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/setjoin"
)

// nearUnits finds the lines or paragraphs that resemble one before them: a unit is a document, and
// joins the most similar keeper before it, as documents do.
type nearUnits struct {
	d  *job
	c  *corpus.Corpus
	x  *corpus.Extractor
	at []units.Place // of each unit

	known int  // units of Against
	only  bool // they are the only keepers
	stars setjoin.Assignment
}

func (d *job) newNearUnits(dir string) *nearUnits {
	c := corpus.New(corpus.Options{Sets: true, Memory: d.c.memory(), InputBytes: d.inputBytes(), Dir: dir})
	return &nearUnits{d: d, c: c, x: corpus.NewExtractor(d.ctx, d.params, c)}
}

// add adds the next unit.
func (n *nearUnits) add(at units.Place, unit string) error {
	if int64(len(n.at)) == setjoin.MaxSets {
		return errors.New("there are too many lines or paragraphs")
	}
	n.at = append(n.at, at)
	return n.x.Add(&engine.Doc{Text: unit}, nil)
}

// Know implements finder.
func (n *nearUnits) Know(_ int64, only bool) { n.known, n.only = len(n.at), only }

// Find implements finder.
func (n *nearUnits) Find(ctx context.Context) error {
	err := n.x.Finish()
	if err != nil {
		return err
	}
	n.stars, err = n.c.Sets.Stars(ctx, n.d.c.By.T(), setjoin.Options{
		Memory: n.d.c.memory() / 4, Known: n.known, OnlyKnown: n.only, Crowded: crowded(n.d.env, setjoin.Jaccard),
		Progress: func(done, total int) {
			n.d.env.Report(engine.Progress{Stage: "join", Done: int64(done), Total: int64(total), Unit: "parts"})
		},
	})
	return err
}

// All implements finder.
func (n *nearUnits) All() iter.Seq2[units.Repeat, error] {
	return func(yield func(units.Repeat, error) bool) {
		often := make([]uint32, len(n.at)) // by keeper: its cluster's units
		for _, k := range n.stars.Keeper {
			often[k]++
		}
		for i := n.known; i < len(n.at); i++ {
			k := int(n.stars.Keeper[i])
			counts := k < n.known || int64(often[k]) >= int64(n.d.c.minCount())
			if counts && (k != i || n.d.c.keepsNoUnit()) && !yield(units.Repeat{At: n.at[i], First: n.at[k], N: 1, Score: n.stars.Score[i]}, nil) {
				return
			}
		}
	}
}

// Close implements finder.
func (n *nearUnits) Close() error {
	n.x.Stop()
	return n.c.Close()
}
