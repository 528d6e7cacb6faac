package verbs

import (
	"errors"
	"slices"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/base"
)

// orientations name the hashes of a picture with --orientations 8, as Meta's PDQ does.
var orientations = []string{"original", "rotate90", "rotate180", "rotate270", "flipX", "flipY", "flipPlus1", "flipMinus1"}

// pictures shows the hashes of pictures.
func (c *Hash) pictures(a *app.App) error {
	if err := c.CheckImages(c.FileFlags); err != nil {
		return err
	}
	opt := c.RowInputFlags.Options()
	src, err := a.NewSources(c.Files, c.InputFlags)
	if err != nil {
		return err
	}
	columns := []string{"id", "fingerprint", "quality"}
	if opt.Orientations {
		columns = slices.Insert(columns, 1, "orientation")
	}
	h := &hashing{Hash: c}
	if c.Compare {
		if columns = []string{"a", "b", "distance", "equal"}; opt.Orientations {
			return errors.New("--compare compares pictures as they are, without --orientations 8")
		}
	}
	m := a.Meter()
	defer m.Stop()
	rejects := a.NewRejects(c.RejectFlags, c.Output)
	_, err = a.Rows(c.RowFlags, columns, func(row func(...any) error) error {
		h.row = row
		err := a.EachInput(src, app.Reading{
			Stage: "hash", Meter: m, Options: opt, Rejects: rejects,
			Record: func(_ input.Source, rec *input.Record) error {
				if rec.Picture == nil {
					return nil
				}
				if c.Compare {
					h.names, h.prints = append(h.names, rec.Doc.ID), append(h.prints, rec.Picture.Hashes[0])
					return nil
				}
				var quality any
				if rec.Picture.Quality >= 0 {
					quality = rec.Picture.Quality
				}
				for i, hash := range rec.Picture.Hashes {
					values := []any{rec.Doc.ID, string(base.AppendHexWords(nil, hash)), quality}
					if opt.Orientations {
						values = slices.Insert(values, 1, any(orientations[i]))
					}
					if err := row(values...); err != nil {
						return err
					}
				}
				return nil
			},
		})
		a.TellSkipped(src)
		if err == nil && c.Compare {
			err = h.compare()
		}
		return err
	})
	return rejects.Close(err)
}
