package verbs

import (
	"context"
	"slices"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/cmd/simdb/internal/tuning"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/sample"
)

// ofDatabase looks at the documents of a database.
func (c *Tune) ofDatabase(a *app.App) (err error) {
	db, err := a.OpenWithFeatures(c.Data, c.FeatureFlags)
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	m := a.Meter()
	defer m.Stop()
	s, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	st, err := db.Stats()
	if err != nil {
		return err
	}
	report := &tuning.Report{
		Name: c.Data, Documents: st.Fingerprints,
		Scored: st.Params.Sketch > 0, Exact: st.Params.Sketch > 0 && db.Params().Text,
		Command: c.command,
	}
	err = c.look(a.Context(), s, report, m)
	m.Stop()
	if err != nil {
		return err
	}
	return c.finish(a, tuned{report, func(p *tuning.Pair) error {
		x, err := s.Get(a.Context(), p.A)
		if err != nil {
			return err
		}
		y, err := s.Get(a.Context(), p.B)
		p.TextA, p.TextB = x.Text, y.Text
		return err
	}})
}

// look finds the near-duplicates of every document of a sample.
func (c *Tune) look(ctx context.Context, s *engine.Snapshot, report *tuning.Report, m *progress.Meter) error {
	drawn := sample.New(c.most(), c.Seed, int64(c.Memory)/2)
	for e, err := range s.EntriesUnordered(ctx, "") {
		if err == nil && e.HasFingerprint {
			err = drawn.Add(&engine.Doc{ID: strings.Clone(e.ID), Fingerprint: new(e.Fingerprint)})
		}
		if err != nil {
			return err
		}
		m.Report(engine.Progress{Stage: "draw documents", Done: drawn.Seen(), Total: report.Documents, Unit: "documents"})
	}
	docs := drawn.Documents()
	slices.SortFunc(docs, func(a, b engine.Doc) int { return strings.Compare(a.ID, b.ID) })
	for i := range docs {
		if err := document(ctx, s, &docs[i], report); err != nil {
			return err
		}
		m.Report(engine.Progress{Stage: "look for near-duplicates", Done: int64(i + 1), Total: int64(len(docs)), Unit: "documents"})
	}
	return nil
}

// document finds the near-duplicates of one document.
func document(ctx context.Context, s *engine.Snapshot, d *engine.Doc, report *tuning.Report) error {
	var matches []tuning.Match
	place := map[string]int{} // in matches
	for m, err := range s.Near(ctx, *d.Fingerprint, tuning.MaxDistance) {
		if err != nil {
			return err
		}
		if m.ID == d.ID {
			continue
		}
		place[m.ID] = len(matches)
		matches = append(matches, tuning.Match{ID: m.ID, Distance: m.Distance, Score: -1})
	}
	jaccard := s.Jaccard
	if report.Exact {
		jaccard = s.JaccardVerified
	}
	if report.Scored {
		for m, err := range jaccard(ctx, engine.Doc{ID: d.ID}, tuning.MinScore) {
			if err != nil {
				return err
			}
			if at, ok := place[m.ID]; ok {
				matches[at].Score = m.Score
			} else {
				matches = append(matches, tuning.Match{ID: m.ID, Distance: -1, Score: m.Score})
			}
		}
	}
	report.Add(d.ID, "", matches)
	return nil
}
