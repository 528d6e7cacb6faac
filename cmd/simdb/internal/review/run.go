package review

import (
	"path/filepath"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/worddiff"
	"github.com/simdb/simdb/records/inputs"
)

// Run writes the page.
func (c *Command) Run(a *app.App) error {
	start := time.Now()
	const most = 1 << 28
	j := &job{a: a, c: c, room: pageBytes, keepers: map[string]uint32{}, tally: newTally()}
	j.pick = picker{limit: int(min(c.Limit, most)), members: int(min(c.Members, most))}
	j.page.Source = filepath.Base(c.Data)
	j.meter = a.Meter()
	defer j.meter.Stop()
	var err error
	if inputs.NamesFiles(c.Data) && c.Data != "-" {
		err = j.audit()
	} else {
		err = j.database()
	}
	if err != nil {
		return err
	}
	if len(j.page.Clusters) == 0 {
		a.Say("%s: no near-duplicates; no page was written", c.Data)
		return app.Status(app.ExitNo)
	}
	j.compareWords()
	j.page.Overview = j.tally.plots(j.page.Clusters)
	w, err := a.Create("-o", c.Output, outfile.HTML)
	if err != nil {
		return err
	}
	if err := j.page.Write(w); err != nil {
		w.Abort()
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	j.meter.Stop()
	for _, n := range j.page.Notices {
		a.Say("%s", n)
	}
	a.Say("%s: the page has %s of %s; %s", c.Output, quantity.Count(int64(len(j.page.Clusters)), "cluster"), c.Data, app.Seconds(start))
	return nil
}

// compareWords sets the words in which the members of clusters differ from their keepers, as far as
// the page has their texts.
func (j *job) compareWords() {
	for _, c := range j.page.Clusters {
		if c.Keeper.Text == nil {
			continue
		}
		keeper := j.words.Words(*c.Keeper.Text)
		for i := range c.Members {
			if m := &c.Members[i]; m.Text != nil {
				m.Lacks, m.Adds = worddiff.Words(keeper, j.words.Words(*m.Text))
			}
		}
	}
}
