package review

import (
	"math"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/worddiff"
	"github.com/simdb/simdb/records/inputs"
)

// Run shows the page, or writes it.
func (c *Command) Run(a *app.App) error {
	if c.Output == "" {
		return c.serve(a)
	}
	start := time.Now()
	page, err := c.build(a, c.Selection, nil)
	if err != nil {
		return err
	}
	w, err := a.Create("-o", c.Output, outfile.HTML)
	if err != nil {
		return err
	}
	if err := page.Write(w); err != nil {
		w.Abort()
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	page.tell(a)
	a.Say("%s: the page has %s of %s; %s", c.Output, quantity.Count(int64(len(page.Clusters)), "cluster"), c.Data, app.Seconds(start))
	return nil
}

// tell prints the notices.
func (p *Page) tell(a *app.App) {
	for _, n := range p.Notices {
		a.Say("%s", n)
	}
}

// build makes the page of a selection. For a page that is shown, shown collects its pictures. If
// there are no pairs, build says so and returns app.Status(app.ExitNo), with a page without any.
func (c *Command) build(a *app.App, sel Selection, shown *pictures) (*Page, error) {
	const most = 1 << 28
	j := &job{a: a, c: c, room: pageBytes, keepers: map[string]uint32{}, tally: newTally(), sel: sel, shown: shown, read: c.PageInputFlags, format: c.InputFormat}
	j.pick = picker{limit: int(min(c.Limit, most)), members: int(min(c.Members, most))}
	j.drawn = sampler{n: int(min(sel.Sample, most)), seed: sel.Seed, most: math.MaxUint64}
	j.page.Source, j.page.Selection, j.page.Reviewer = filepath.Base(c.Data), sel, c.reviewer()
	j.meter = a.Meter()
	defer j.meter.Stop()
	err := c.readHistory(j)
	if err != nil {
		return nil, err
	}
	if inputs.NamesFiles(c.Data) && c.Data != "-" {
		err = j.audit()
	} else {
		err = j.database()
	}
	if err != nil {
		return nil, err
	}
	if len(j.page.Clusters) == 0 {
		none := "no near-duplicates"
		if sel.From != nil || sel.To != nil || sel.OfRule != "" || sel.Undecided {
			none += " that the selection passes"
		}
		j.page.Notices = []string{c.Data + ": " + none}
		if shown == nil {
			none += "; no page was written"
		}
		a.Say("%s: %s", c.Data, none)
		return &j.page, app.Status(app.ExitNo)
	}
	j.compareWords()
	j.said.attach(j.page.Clusters)
	j.page.Overview = j.tally.plots(j.page.Clusters)
	return &j.page, nil
}

// reviewer returns the name that is stored with decisions, unless the page changes it.
func (c *Command) reviewer() string {
	name := c.Reviewer
	if name == "" {
		if u, err := user.Current(); err == nil {
			name = u.Username[strings.LastIndex(u.Username, `\`)+1:]
		}
	}
	return name
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
