package review

import (
	"context"
	"errors"
	"fmt"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records/inputs"
)

// database reviews the star clusters of a database.
func (j *job) database() (err error) {
	c := j.c
	if len(c.Documents) > 0 {
		return fmt.Errorf("%s is a database, which has its documents: leave out %s", c.Data, c.Documents[0])
	}
	defer app.KeepTo(int64(c.Memory))()
	src, err := j.a.NewCollection([]string{c.Data}, app.InputFlags{}, inputs.Access{OrFile: true, Near: (*int)(c.Near), Memory: int64(c.Memory)})
	if err != nil {
		return err
	}
	defer src.Stored.Close(&err)
	if src.Stored == nil {
		return fmt.Errorf("%s: %w", c.Data, engine.ErrNotDatabase)
	}
	s := src.Stored
	texts := !s.DB.Options().NoText
	list := dedup.Listing{
		By: c.Criterion(false), Rule: c.Pair(c.Levenshtein), Agree: c.Agree, Distinct: c.Distinct, Across: c.Across, WithinField: c.WithinField, Memory: int64(c.Memory),
	}
	if c.ByDefault() {
		list.By = dedup.DefaultOf(s.DB, nil)
	}
	if (!texts || c.Estimate) && !c.Grouped() {
		list.By = list.By.Estimated()
	}
	params, err := s.Params()
	if err != nil {
		return err
	}
	j.words = params.Features
	if j.page.Criterion = "Near-duplicates: " + app.Meaning(list.By) + c.GroupFlags.Meaning() + "."; list.Rule != nil {
		j.page.Criterion = "Near-duplicates: " + list.Rule.String() + c.GroupFlags.Meaning()
	}
	found, err := list.Open(j.a.Context(), j.a.Env(), src)
	if err != nil {
		return err
	}
	if err := found.Close(j.pickStars(found, list.By.Kind() == "near" && list.Rule == nil)); err != nil {
		return err
	}
	if !texts {
		j.notice("The database stores no texts, only fingerprints.")
	}
	return j.fill(s)
}

// pickStars picks from all clusters of a database.
func (j *job) pickStars(found *dedup.Documents, near bool) error {
	var g group
	sizes := map[uint32]int64{}
	end := func() {
		switch n := uint32(len(sizes)); {
		case g.size == 0:
		case j.sel.Sample > 0:
			sizes[n] = g.size
		default:
			j.tally.sizes[g.size+1]++
			j.pick.add(g)
		}
	}
	for m, err := range found.Clusters(j.a.Context()) {
		if err != nil {
			return err
		}
		if m.Keep {
			end()
			g = group{keeper: Doc{ID: m.ID}}
			continue
		}
		d := Doc{ID: m.ID}
		if near {
			d.Distance = &m.Distance
		} else {
			d.Score, d.Exact = &m.Score, &m.Exact
		}
		if !j.wants(g.keeper.ID, d.ID, d.Score, d.Distance, "") {
			continue
		}
		j.tally.add(d.Score, d.Distance)
		e := edge{riskOf(d.Score, d.Distance), d}
		if j.sel.Sample == 0 {
			g.add(e, j.pick.members)
			continue
		}
		g.size++
		if key := j.drawn.draw(g.keeper.ID, d.ID); j.drawn.wants(key) {
			j.drawn.add(drawn{key, uint32(len(sizes)), g.keeper, e})
		}
	}
	end()
	if j.sel.Sample > 0 {
		j.addDrawn(sizes)
	}
	return nil
}

// fill reads the documents of the picked clusters.
func (j *job) fill(s *inputs.Stored) error {
	clusters, n := j.pick.picked(), 0
	for ; n < len(clusters) && j.room > 0; n++ {
		c := &clusters[n]
		if err := j.get(j.a.Context(), s, &c.Keeper); err != nil {
			return err
		}
		for m := range c.Members {
			if err := j.get(j.a.Context(), s, &c.Members[m]); err != nil {
				return err
			}
		}
		j.meter.Report(engine.Progress{Stage: "read texts", Done: int64(n), Total: int64(len(clusters)), Unit: "clusters"})
	}
	j.tellLeftOut(clusters, n)
	return j.addPictures(clusters[:n], app.InputFlags{})
}

// maxFields is the number of bytes of a document's fields that the page shows.
const maxFields = 300

// get sets the text of a document, and the part of its fields that the page shows.
func (j *job) get(ctx context.Context, s *inputs.Stored, d *Doc) error {
	doc, err := s.Get(ctx, d.ID)
	if errors.Is(err, engine.ErrNotFound) { // it has expired
		d.Note = "It has expired."
		return nil
	}
	if err != nil {
		return fmt.Errorf("%q: %w", d.ID, err)
	}
	if doc.Text != "" {
		j.setText(d, doc.Text)
	} else {
		d.setBits(&doc)
	}
	d.Place = fieldsOf(&doc)
	return nil
}

// fieldsOf returns the part of a document's fields that the page shows.
func fieldsOf(doc *engine.Doc) string {
	fields := string(doc.Fields)
	if shown := beginning(fields, maxFields); shown != fields {
		return shown + " …"
	}
	return fields
}
