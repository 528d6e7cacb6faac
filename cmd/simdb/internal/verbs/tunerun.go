package verbs

import (
	"context"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/tuning"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/setjoin"
)

// documents are those of a file or of a database, which are read twice: a sample of them is drawn,
// and all of them are compared with it.
type documents struct {
	params features.Params
	each   func(stage string, f func(*engine.Doc) error) error
	notice func() // says what was seen once all have been read
}

// ofFile looks at the documents of a file.
func (c *Tune) ofFile(a *app.App) (*tuning.Report, error) {
	s, err := a.NewSource(c.Data, c.InputFlags)
	if err != nil {
		return nil, err
	}
	opt := c.InputFlags.Options(c.InputFormat)
	opt.MakeID, opt.Need, opt.Memory = true, input.NeedText, int64(c.Memory)
	params, of, err := c.FeatureFlags.Params(0)
	if err != nil {
		return nil, err
	}
	if err := app.ReadFeatures(&opt, of); err != nil {
		return nil, err
	}
	dir, err := a.TempDir()
	if err != nil {
		return nil, err
	}
	m := a.Meter()
	defer m.Stop()
	if err := a.Reread(s, dir, m); err != nil {
		return nil, err
	}
	rejects := c.rejects // of the first pass
	each := func(stage string, f func(*engine.Doc) error) error {
		r := app.Reading{Stage: stage, Meter: m, Options: opt, Rejects: rejects, Record: func(_ input.Source, rec *input.Record) error { return f(&rec.Doc) }}
		rejects = nil
		if err := a.EachInput(s, r); err != nil {
			return err
		}
		return s.Unchanged()
	}
	return c.look(a, m, documents{params, each, func() {
		a.TellSkipped(s)
		c.rejects.TellUTF8()
	}})
}

// ofDatabase looks at the documents of a database.
func (c *Tune) ofDatabase(a *app.App) (r *tuning.Report, err error) {
	db, err := a.Open(c.Data, app.Access{OrFile: true, Features: c.FeatureFlags})
	if err != nil {
		return nil, err
	}
	defer app.Closing(db, &err)
	s, err := db.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	n, err := s.Count(a.Context(), time.Time{})
	if err != nil {
		return nil, err
	}
	p := db.Params()
	spec, err := features.Spec(p.Features).Canonical()
	if err != nil {
		return nil, err
	}
	m := a.Meter()
	defer m.Stop()
	each := func(stage string, f func(*engine.Doc) error) error {
		var text string
		filter, done := engine.EntryFilter{Unordered: true}, int64(0)
		if p.Text {
			filter.Where = func(t, _ []byte) (bool, error) { text = string(t); return true, nil }
		}
		for e, err := range s.Entries(a.Context(), filter) {
			if err != nil {
				return err
			}
			d := engine.Doc{ID: e.ID, Text: text}
			if e.HasFingerprint {
				d.Fingerprint = &e.Fingerprint
			}
			if err := f(&d); err != nil {
				return err
			}
			done++
			m.Report(engine.Progress{Stage: stage, Done: done, Total: n, Unit: "documents"})
		}
		return nil
	}
	return c.look(a, m, documents{features.Params{Shingle: p.Shingle, Features: spec}, each, func() {
		if !p.Text && p.Sketch > 0 {
			a.Say("%s keeps no texts: fingerprints are compared", c.Data)
		}
	}})
}

// look draws a sample and compares all documents with it.
func (c *Tune) look(a *app.App, m *app.Meter, of documents) (*tuning.Report, error) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(max(int64(c.Memory)/8*7, 64<<20)))
	drawn, n, err := draw(of, int(min(int64(c.Sample), setjoin.MaxSets)), c.Seed, int64(c.Memory)/8)
	if err != nil {
		return nil, err
	}
	report, nodes, err := compare(a.Context(), of, drawn, n, int64(c.Memory)/2)
	if err != nil {
		return nil, err
	}
	m.Stop()
	of.notice()
	report.Name, report.Command, report.Hints = c.Data, c.command, hints(of.params, nodes, report)
	return report, nil
}

// compare compares all documents, of which there are n, with those of a sample in random order.
func compare(ctx context.Context, of documents, drawn []engine.Doc, n, memory int64) (*tuning.Report, []corpus.Node, error) {
	s := corpus.NewSearch(of.params, drawn, corpus.SearchOptions{
		Within: tuning.MaxDistance, Least: tuning.MinScore, Memory: memory, Documents: n,
	})
	report := &tuning.Report{}
	for _, node := range s.Nodes() {
		report.Scored = report.Scored || node.Set
	}
	for _, node := range s.Nodes() {
		report.Add(node.Doc.ID, node.Doc.Text, node.Count, node.Set)
	}
	each := func(words bool) {
		if words {
			report.Documents++
		}
	}
	found := func(m corpus.Met) error {
		report.Found(m.Place, tuning.Match{ID: m.Doc.ID, Text: m.Doc.Text, Distance: m.Distance, Score: m.Score})
		return nil
	}
	x := s.Extractor(ctx, of.params, each, found)
	defer x.Stop()
	again := int64(0)
	err := of.each("compare", func(d *engine.Doc) error {
		again++
		return x.Add(d)
	})
	if err == nil {
		err = x.Finish()
	}
	if err == nil && again != n {
		err = app.ErrChanged
	}
	return report, s.Nodes(), err
}

// draw draws a sample, in random order, and counts the documents. Every document is in it with the
// same probability. It has at most so many, and no more than have room in memory.
func draw(of documents, most int, seed uint64, room int64) (docs []engine.Doc, n int64, err error) {
	r := rand.New(rand.NewPCG(seed, 1))
	drop := func(place int) {
		room += int64(len(docs[place].Text))
		docs[place] = docs[len(docs)-1]
		docs = docs[:len(docs)-1]
	}
	err = of.each("draw documents", func(d *engine.Doc) error {
		if n++; len(docs) == most {
			if r.Int64N(n) >= int64(most) {
				return nil
			}
			drop(r.IntN(most))
		}
		print := d.Fingerprint
		if print != nil {
			print = new(*print)
		}
		docs = append(docs, engine.Doc{ID: strings.Clone(d.ID), Text: strings.Clone(d.Text), Fingerprint: print})
		for room -= int64(len(d.Text)); room < 0 && len(docs) > 1; most = len(docs) {
			drop(r.IntN(len(docs)))
		}
		return nil
	})
	r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	return docs, n, err
}
