package verbs

import (
	"errors"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/sstable"
)

// Debug is `simdb debug`.
type Debug struct {
	Layout layoutCmd `cmd:"" help:"Show how a table file is laid out: parameters, sections, sizes."`
}

// layoutCmd is `simdb debug layout`.
type layoutCmd struct {
	File string `arg:"" file:"in" help:"A table file (.sst)."`
}

// Run describes the table.
func (c *layoutCmd) Run(a *app.App) error {
	r, err := sstable.Open(c.File)
	if err != nil {
		return err
	}
	return errors.Join(r.Describe(a.Out), r.Close())
}
