package verbs

import (
	"errors"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
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
	f, err := vfs.Disk.Open(c.File)
	if err != nil {
		return err
	}
	r, err := table.OpenFile(f, c.File)
	if err != nil {
		return err
	}
	return errors.Join(r.Describe(a.Out), r.Close())
}
