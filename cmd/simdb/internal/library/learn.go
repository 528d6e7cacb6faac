package library

import (
	"cmp"
	"context"
	"sync"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/learning"
	"github.com/simdb/simdb/dedup/learn"
	"github.com/simdb/simdb/engine"
)

// corpus has documents that a rule is learned from. One call at a time may use it.
type corpus struct {
	sync.Mutex
	*learn.Corpus
}

// corpusOf reads documents. Those of labels are always among them.
func corpusOf(ctx context.Context, r *Request) (*corpus, error) {
	c := learning.Command{Data: TableName, Labels: "labels", Sample: 50_000, Seed: 1, Memory: app.Memory(app.DefaultMemory())}
	k := keywords{"sample": &c.Sample, "seed": &c.Seed, "memory": &c.Memory}
	err := k.fields(&c.ReadFlags, &c.FeatureFlags).set(r.Keywords)
	if err == nil {
		err = c.Validate()
	}
	tables, failed := r.tables()
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	a := app.NewQuiet(ctx, tables)
	defer a.CleanUp()
	of, err := c.Corpus(a, r.Labels)
	return &corpus{Corpus: of}, err
}

// openCorpus reads documents for questions. The caller chooses their number, as that of a database.
func (l *Library) openCorpus(ctx context.Context, r *Request) (*Reply, error) {
	c, err := corpusOf(ctx, r)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.free(ctx, r.DB); err != nil {
		return nil, err
	}
	if l.corpora == nil {
		l.corpora = map[uint64]*corpus{}
	}
	l.corpora[r.DB] = c
	return &Reply{}, nil
}

// corpus returns documents that openCorpus has read, or reads those of the request if it names none.
func (l *Library) corpus(ctx context.Context, r *Request) (*corpus, error) {
	if r.DB == 0 {
		return corpusOf(ctx, r)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c, ok := l.corpora[r.DB]; ok {
		return c, nil
	}
	return nil, engine.ErrClosed
}

// ask returns the pair whose label says most, or null if none is left.
func (l *Library) ask(ctx context.Context, r *Request) (*Reply, error) {
	c, err := l.corpus(ctx, r)
	if err != nil {
		return nil, err
	}
	c.Lock()
	defer c.Unlock()
	p, ok, err := c.Ask(r.Labels, r.Skipped)
	if err != nil || !ok {
		return &Reply{Values: map[string]any{"pair": nil}}, err
	}
	return &Reply{Values: map[string]any{"pair": map[string]any{"a": p.A, "b": p.B, "score": p.Score, "lines": learning.Difference(p)}}}, nil
}

// learn learns a rule of pairs from labels.
func (l *Library) learn(ctx context.Context, r *Request) (*Reply, error) {
	c, err := l.corpus(ctx, r)
	if err != nil {
		return nil, err
	}
	c.Lock()
	defer c.Unlock()
	lesson, err := c.Learn(r.Labels)
	if err != nil {
		return nil, err
	}
	pairs := func(all []learn.Pair) (rows []map[string]any) {
		for _, p := range all {
			rows = append(rows, map[string]any{"a": p.A, "b": p.B, "score": p.Score, "lacks": p.Lacks, "adds": p.Adds})
		}
		return rows
	}
	return &Reply{Values: map[string]any{
		"rule": lesson.Rule, "labels": lesson.Labels, "right": lesson.Right, "low": lesson.Low, "high": lesson.High, "pairs": lesson.Matches,
		"drops": pairs(lesson.Drops), "spares": pairs(lesson.Spares), "wrong": lesson.Wrong,
	}}, nil
}
