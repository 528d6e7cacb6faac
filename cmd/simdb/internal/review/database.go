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
	defer app.KeepTo(int64(j.c.Memory))()
	s, err := j.a.Env().OpenStored(j.c.Data, inputs.Access{OrFile: true, Near: (*int)(j.c.Near), Memory: int64(j.c.Memory)})
	if err != nil {
		return err
	}
	defer s.Close(&err)
	texts := !s.DB.Options().NoText
	by := dedup.Measures{Near: (*int)(j.c.Near), Jaccard: (*float64)(j.c.Jaccard)}.Criterion()
	if by.Kind() == "" {
		by = dedup.DefaultOf(s.DB, nil)
	}
	if !texts || j.c.Estimate {
		by = by.Estimated()
	}
	if err := j.a.Env().CheckTexts(j.a.Context(), s.DB, by.Kind() == "near"); err != nil {
		return err
	}
	params, err := s.Params()
	if err != nil {
		return err
	}
	j.words = params.Features
	j.page.Criterion = "Near-duplicates: " + app.Meaning(by) + "."
	if err := j.pickStars(s, by); err != nil {
		return err
	}
	if !texts {
		j.notice("The database stores no texts, only fingerprints.")
	}
	return j.fill(s)
}

// pickStars picks from all clusters of a database.
func (j *job) pickStars(s *inputs.Stored, by engine.Criterion) error {
	var g group
	end := func() {
		if len(g.members) > 0 {
			j.tally.sizes[g.size+1]++
			j.pick.add(g)
		}
	}
	for m, err := range s.Clusters(j.a.Context(), by, &engine.ClusterOptions{Progress: j.meter.Report}) {
		if err != nil {
			return err
		}
		if m.Keep {
			end()
			g = group{keeper: Doc{ID: m.ID}}
			continue
		}
		d := Doc{ID: m.ID}
		if by.Kind() == "near" {
			d.Distance = &m.Distance
		} else {
			d.Score, d.Exact = &m.Score, &m.Exact
		}
		j.tally.add(d.Score, d.Distance)
		g.add(edge{riskOf(d.Score, d.Distance), d}, j.pick.members)
	}
	end()
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
	fields := string(doc.Fields)
	if d.Place = beginning(fields, maxFields); d.Place != fields {
		d.Place += " …"
	}
	return nil
}
