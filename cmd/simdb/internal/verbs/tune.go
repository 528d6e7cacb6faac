package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/cmd/simdb/internal/tuning"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
)

// Tune is `simdb tune`.
type Tune struct {
	Data   string       `arg:"" file:"in" name:"db|file" help:"A database, a file with documents, or with --files a folder of documents; - is standard input."`
	Sample app.Quantity `default:"1000" placeholder:"N" help:"Documents to look for near-duplicates of (default: 1000)."`
	Texts  bool         `help:"Show the texts of the examples, not their ids."`
	HTML   string       `name:"html" file:"html" placeholder:"FILE" help:"Write a page with the distribution of similarities, what each threshold removes, and ten pairs to look at."`
	app.RowInputFlags
	app.FeatureFlags
	app.RowFlags
}

// Help says how to read the rows.
func (Tune) Help() string {
	return `For evenly spaced documents, all others within 16 bits or with at least half of the shingles in common are found. Each row
is a criterion: which share of the documents has a near-duplicate by it, how many pairs the whole database would have, how
many pairs unrelated documents would add by chance, and a pair that just meets it (a, b).

Take the last criterion whose example you would call a duplicate, and well before chance pairs are a part of what is found.
simdb why DB A B compares an example in detail.

A table is followed by the distribution of similarities, computed from the texts where they are kept, what each threshold
removes, how distances and similarities relate, ten pairs on both sides of a threshold, and a command line with it. --html
writes the same as a page.`
}

// tuneRow is what was found for one criterion.
type tuneRow struct {
	near      bool
	k         int     // near
	t         float64 // otherwise
	documents int64   // of the sample, with a near-duplicate
	pairs     int64   // of a document of the sample and any other
	a, b      string  // a pair that just meets it
	how       float64 // its distance, or negative similarity
}

// Run looks at the sample.
func (c *Tune) Run(a *app.App) (err error) {
	db, err := c.open(a)
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
	report := c.report(st, db.Params())
	rows, sampled, err := c.look(a.Context(), s, st, report, m)
	m.Stop()
	if err != nil {
		return err
	}
	if sampled == 0 {
		return fmt.Errorf("%s has no documents with words", c.Data)
	}
	if err := c.show(a, s, rows, sampled, st.Fingerprints); err != nil {
		return err
	}
	a.Say("%s: %s of %s sampled", c.Data, quantity.Number(sampled), quantity.Count(st.Fingerprints, "fingerprint"))
	return c.tell(a, s, report)
}

// open opens the database, or loads the file into a temporary one.
func (c *Tune) open(a *app.App) (*engine.DB, error) {
	if !c.WholeFiles && !namesFiles(c.Data) {
		return a.OpenWithFeatures(c.Data, c.FeatureFlags)
	}
	dir, err := a.TempDir()
	if err != nil {
		return nil, err
	}
	o := &engine.Options{Sync: engine.SyncNever}
	if err := c.FeatureFlags.Options(o); err != nil {
		return nil, err
	}
	db, err := engine.Create(filepath.Join(dir, "documents"), o)
	if err != nil {
		return nil, err
	}
	if err := c.load(a, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// load fills the temporary database. Records that cannot be used are counted; of records with the
// same ID the first is taken.
func (c *Tune) load(a *app.App, db *engine.DB) error {
	s, err := a.NewSource(c.Data, c.InputFlags)
	if err != nil {
		return err
	}
	opt := c.RowInputFlags.Options()
	opt.MakeID = true
	if err := app.ReadFeatures(&opt, db.Params().Features); err != nil {
		return err
	}
	m := a.Meter()
	defer m.Stop()
	in, err := a.OpenInput(m, &s, s.Names[0], opt)
	if err != nil {
		return err
	}
	defer in.Close()
	l, err := db.NewLoader(a.Context(), engine.LoadOptions{})
	if err != nil {
		return err
	}
	bad := int64(0)
	for rec, err := range in.Records(a.Context()) {
		if err == nil {
			err = l.Add(rec.Doc)
		}
		_, unusable := errors.AsType[*input.Issue](err)
		switch {
		case unusable || errors.Is(err, engine.ErrExists) || errors.Is(err, engine.ErrInvalid) || errors.Is(err, engine.ErrTooLarge):
			bad++
		case err != nil:
			l.Abort()
			return err
		}
		m.Report(s.Progress("load", in))
	}
	m.Stop()
	a.TellSkipped(&s)
	if bad > 0 {
		a.Say("%s could not be used or had an id again; simdb load says which", quantity.Count(bad, in.Info().Format.Unit()))
	}
	_, err = l.Close()
	return err
}

// look finds the near-duplicates of every document of the sample.
func (c *Tune) look(ctx context.Context, s *engine.Snapshot, st engine.Stats, report *tuning.Report, m *progress.Meter) (rows []*tuneRow, sampled int64, err error) {
	for k := range tuning.MaxDistance + 1 {
		rows = append(rows, &tuneRow{near: true, k: k})
	}
	if st.Params.Sketch > 0 {
		for t := 9; t >= 5; t-- {
			rows = append(rows, &tuneRow{t: float64(t) / 10})
		}
	}
	step := max(1, (st.Documents+int64(c.Sample)-1)/int64(c.Sample))
	n := int64(-1)
	for e, err := range s.Entries(ctx, "") {
		if err != nil {
			return nil, 0, err
		}
		if n++; n%step != 0 || !e.HasFingerprint {
			continue
		}
		sampled++
		if err := c.document(ctx, s, e, rows, report); err != nil {
			return nil, 0, err
		}
		m.Report(engine.Progress{Stage: "look for near-duplicates", Done: sampled, Total: (st.Documents + step - 1) / step, Unit: "documents"})
	}
	return rows, sampled, nil
}

// document counts the near-duplicates of one document.
func (c *Tune) document(ctx context.Context, s *engine.Snapshot, e engine.Entry, rows []*tuneRow, report *tuning.Report) error {
	before := make([]int64, len(rows))
	for i, r := range rows {
		before[i] = r.pairs
	}
	var matches []tuning.Match
	place := map[string]int{} // in matches
	for m, err := range s.Near(ctx, e.Fingerprint, tuning.MaxDistance) {
		if err != nil {
			return err
		}
		if m.ID == e.ID {
			continue
		}
		place[m.ID] = len(matches)
		matches = append(matches, tuning.Match{ID: m.ID, Distance: m.Distance, Score: -1})
		for _, r := range rows {
			if r.near && m.Distance <= r.k {
				r.add(e.ID, m.ID, float64(-m.Distance))
			}
		}
	}
	jaccard := s.Jaccard
	if report.Exact {
		jaccard = s.JaccardVerified
	}
	if report.Scored {
		for m, err := range jaccard(ctx, engine.Doc{ID: e.ID}, tuning.MinScore) {
			if err != nil {
				return err
			}
			if at, ok := place[m.ID]; ok {
				matches[at].Score = m.Score
			} else {
				matches = append(matches, tuning.Match{ID: m.ID, Distance: -1, Score: m.Score})
			}
			for _, r := range rows {
				if !r.near && m.Score >= r.t {
					r.add(e.ID, m.ID, m.Score)
				}
			}
		}
	}
	report.Add(e.ID, matches)
	for i, r := range rows {
		if r.pairs > before[i] {
			r.documents++
		}
	}
	return nil
}

// add counts a pair, and keeps it as the example if it is less similar than the example so far.
func (r *tuneRow) add(a, b string, how float64) {
	if r.pairs++; r.pairs == 1 || how < r.how {
		r.a, r.b, r.how = min(a, b), max(a, b), how
	}
}

// chance is how many of the pairs of n unrelated fingerprints are within k bits.
func chance(n int64, k int) float64 {
	share, ways := 0.0, 1.0
	for d := range k + 1 {
		share += ways
		ways = ways * float64(64-d) / float64(d+1)
	}
	return math.Ldexp(share, -64) * float64(n) * float64(n-1) / 2
}

// show writes the rows.
func (c *Tune) show(a *app.App, s *engine.Snapshot, rows []*tuneRow, sampled, all int64) error {
	columns := []string{"criterion", "share", "pairs", "chance", "a", "b"}
	_, err := a.Rows(c.RowFlags, columns, func(row func(...any) error) error {
		for _, r := range rows {
			name, byChance := fmt.Sprintf("--jaccard %g", r.t), any(nil)
			if r.near {
				name, byChance = fmt.Sprintf("--near %d", r.k), app.Rounded(chance(all, r.k), 4)
			}
			x, y, err := c.example(a.Context(), s, r)
			if err != nil {
				return err
			}
			// A pair is found from both its ends if all documents are searched for.
			pairs := math.Round(float64(r.pairs) / 2 * float64(all) / float64(sampled))
			if err := row(name, app.Rounded(float64(r.documents)/float64(sampled), 4), int64(pairs), byChance, x, y); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// example returns what is shown of the example of a criterion: the ids, or the texts where they are
// kept.
func (c *Tune) example(ctx context.Context, s *engine.Snapshot, r *tuneRow) (a, b any, err error) {
	if r.pairs == 0 {
		return nil, nil, nil
	}
	if !c.Texts {
		return r.a, r.b, nil
	}
	x, err := s.Get(ctx, r.a)
	if err != nil {
		return nil, nil, err
	}
	y, err := s.Get(ctx, r.b)
	return cmp.Or(x.Text, r.a), cmp.Or(y.Text, r.b), err
}
