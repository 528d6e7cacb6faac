package verbs

import (
	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/health"
)

// summaryOfList writes the figures of clusters of files, or of a sample.
func (c *Clusters) summaryOfList(a *app.App, l *fileList, found *corpus.Clusters) error {
	s := health.NewClusters(c.Near != nil)
	if err := found.Each(a.Context(), func(m engine.Member) bool { s.Add(m); return true }); err != nil {
		return err
	}
	var shared health.Shared
	shared.AddPrints(l.WordPrints())
	if l.texts != nil {
		if err := shared.AddTexts(a.Context(), l.texts.Documents(), l.params); err != nil {
			return err
		}
	}
	rows, err := s.Rows(func(ids []string) (float64, bool, error) {
		docs := make([]uint32, len(ids))
		for i, id := range ids {
			docs[i], _ = l.Find(id)
		}
		worst, err := l.Diameter(a.Context(), docs, l.by)
		return worst, true, err
	}, shared)
	if err != nil {
		return err
	}
	return c.writeSummary(a, rows, s.Found())
}

// summaryOfDB writes the figures of clusters of a database.
func (c *Clusters) summaryOfDB(a *app.App, db *engine.DB, by engine.Criterion, o *engine.ClusterOptions) error {
	snap, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	rows, found, err := health.OfDatabase(a.Context(), snap, db.Params(), by, o)
	if err != nil {
		return err
	}
	a.EndProgress()
	return c.writeSummary(a, rows, found)
}

func (c *Clusters) writeSummary(a *app.App, rows [][]any, found bool) error {
	_, err := a.Rows(c.RowFlags, health.Columns(), func(row func(...any) error) error {
		for _, r := range rows {
			if err := row(r...); err != nil {
				return err
			}
		}
		return nil
	})
	return app.FoundOr(found, err)
}
