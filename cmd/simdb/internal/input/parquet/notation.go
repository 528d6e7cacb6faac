package parquet

import (
	"bytes"
	"cmp"
	"context"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/base"
)

// checkRows is how many fingerprints are read between two looks at a context.
const checkRows = 512

// settle reads all fingerprints that are text, if the rule of package base decides how they are
// written. A file that has both notations is refused before any record is delivered. Damage is left
// for Records to report in its place.
func (f *file) settle(ctx context.Context) error {
	col := f.layout.roles.fp
	if col == nil || !isText(col) || f.opt.Fingerprints != base.Auto {
		return nil
	}
	var seen base.Evidence
	for _, g := range f.groups(0) {
		if f.notations(ctx, g, &seen) != nil {
			break
		}
	}
	switch err := cmp.Or(seen.Conflict(unit), seen.Guessed(unit)); {
	case seen.Short():
		f.layout.notation = base.Hex
	case err != nil:
		return &input.ReadError{File: f.info.Name, Pos: input.NoPosition, Err: err}
	case seen.Shows() == base.Decimal:
		f.layout.notation = base.Decimal // a few letters among them are no fingerprint
	}
	return context.Cause(ctx)
}

// notations takes note of the fingerprints of a row group.
func (f *file) notations(ctx context.Context, g group, seen *base.Evidence) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	col := f.layout.roles.fp
	c, err := f.openCursor(g.number, col)
	if err != nil {
		return err
	}
	defer c.close()
	for i := range g.rows {
		v, err := c.next()
		if err != nil {
			return err
		}
		if !v.IsNull() {
			text := bytes.TrimSpace(v.ByteArray())
			if _, as, err := base.ParseCell(text, base.Auto); err == nil {
				seen.Add(int64(g.first)+i, text, as)
			}
		}
		if i%checkRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
