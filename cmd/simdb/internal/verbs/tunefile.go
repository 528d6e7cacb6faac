package verbs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/cmd/simdb/internal/tuning"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/fingerprint"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/setjoin"
)

// tuneFile is a run that looks at the documents of a file, in two passes: the first draws a sample,
// and the second one compares all documents with it.
type tuneFile struct {
	c      *Tune
	a      *app.App
	in     *app.Reread
	opt    input.Options
	params fingerprint.Params
	meter  *progress.Meter
	report *tuning.Report

	docs    []engine.Doc // the sample
	numbers []int64      // of its documents: their place in the file
	read    int64        // documents
	textual int64        // of them, with a text
	bad     int64        // records that cannot be used
}

// most is how many documents are drawn at most.
func (c *Tune) most() int { return int(min(int64(c.Sample), setjoin.MaxSets)) }

// ofFile looks at the documents of a file.
func (c *Tune) ofFile(a *app.App) error {
	s, err := a.NewSource(c.Data, c.InputFlags)
	if err != nil {
		return err
	}
	t := &tuneFile{c: c, a: a, opt: c.RowInputFlags.Options()}
	t.opt.MakeID, t.opt.Need, t.opt.Memory = true, input.NeedText, int64(c.Memory)
	params, features, err := c.FeatureFlags.Params(0)
	if err != nil {
		return err
	}
	t.params = params
	if err := app.ReadFeatures(&t.opt, features); err != nil {
		return err
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(max(int64(c.Memory)/8*7, 64<<20)))
	dir, err := a.TempDir()
	if err != nil {
		return err
	}
	t.meter = a.Meter()
	defer t.meter.Stop()
	if t.in, err = a.Reread(s, dir, t.meter); err != nil {
		return err
	}
	if err := t.draw(); err != nil {
		return err
	}
	if err := t.compare(); err != nil {
		return err
	}
	t.meter.Stop()
	a.TellSkipped(&s)
	if t.bad > 0 {
		a.Say("%s could not be used; simdb load says which", quantity.Count(t.bad, "record"))
	}
	return c.finish(a, tuned{t.report, func(*tuning.Pair) error { return nil }})
}

// each calls f for every document.
func (t *tuneFile) each(stage string, f func(*engine.Doc) error) error {
	in, err := t.in.Open(0, t.opt)
	if err != nil {
		return err
	}
	defer in.Close()
	t.read, t.bad = 0, 0
	for rec, err := range in.Records(t.a.Context()) {
		if _, unusable := errors.AsType[*input.Issue](err); unusable {
			t.bad++
			continue
		}
		if err == nil {
			err = f(&rec.Doc)
		}
		if err != nil {
			return err
		}
		t.read++
		t.meter.Report(t.in.Sources.Progress(stage, in))
	}
	return nil
}

// draw is the first pass: it draws the sample. Every document is in it with the same probability.
func (t *tuneFile) draw() error {
	if in, err := t.in.Open(0, t.opt); err == nil {
		t.a.TellNotice(t.meter, in)
		in.Close()
	}
	r, most, room := rand.New(rand.NewPCG(t.c.Seed, 1)), t.c.most(), int64(t.c.Memory)/8
	err := t.each("draw documents", func(d *engine.Doc) error {
		if d.Text != "" {
			t.textual++
		}
		place := len(t.docs)
		if place == most {
			at := r.Int64N(t.read + 1)
			if at >= int64(most) {
				return nil
			}
			place = int(at)
			room += int64(len(t.docs[place].Text))
		} else {
			t.docs, t.numbers = append(t.docs, engine.Doc{}), append(t.numbers, 0)
		}
		t.docs[place] = engine.Doc{ID: strings.Clone(d.ID), Text: strings.Clone(d.Text), Fingerprint: d.Fingerprint}
		t.numbers[place] = t.read
		if room -= int64(len(d.Text)); room < 0 {
			return t.c.tooLarge()
		}
		return nil
	})
	return err
}

// tooLarge is the error of a sample that has no room.
func (c *Tune) tooLarge() error {
	return fmt.Errorf("--sample %d --memory %s: %w", c.most(), progress.Bytes(int64(c.Memory)), corpus.ErrFewLarge)
}

// compare is the second pass: it compares all documents with the sample.
func (t *tuneFile) compare() error {
	s, err := corpus.NewSearch(t.params, t.docs, t.numbers, corpus.SearchOptions{
		Within: tuning.MaxDistance, Least: tuning.MinScore, Memory: int64(t.c.Memory) / 2,
	})
	if errors.Is(err, corpus.ErrFewLarge) {
		return t.c.tooLarge()
	}
	if err != nil {
		return err
	}
	t.report = &tuning.Report{Name: t.c.Data, Scored: t.textual > 0, Exact: true, Command: t.c.command}
	of := make([]int, len(t.docs)) // the number of each in the report
	for place, d := range t.docs {
		if s.Comparable(place) {
			of[place] = t.report.Add(d.ID, tuning.Beginning(d.Text), nil)
		}
		t.docs[place].Text = ""
	}
	each := func(words bool) {
		if words {
			t.report.Documents++
		}
	}
	found := func(m corpus.Met) error {
		t.report.Found(of[m.Place], tuning.Match{ID: m.Doc.ID, Text: m.Doc.Text, Distance: m.Distance, Score: m.Score})
		return nil
	}
	x := s.Extractor(t.a.Context(), t.params, each, found)
	defer x.Stop()
	read := t.read
	if err := t.each("compare", x.Add); err != nil {
		return err
	}
	if err := x.Finish(); err != nil {
		return err
	}
	if t.read != read {
		return app.ErrChanged
	}
	return t.in.Unchanged()
}
