package parquet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/records"
)

// checkRows is the number of fingerprints to read between two checks of the context.
const checkRows = 512

// settle decides on the length and the notation of fingerprints. To do so, it reads all
// fingerprints that are text. A file with both notations, or several lengths, is refused before any
// record is delivered. settle ignores damage, which Records reports in its place.
func (f *file) settle(ctx context.Context) (err error) {
	col := f.layout.roles.fp
	if col == nil {
		return nil
	}
	var seen base.Evidence
	switch {
	case isText(col):
		for _, g := range f.groups(0) {
			if f.notations(ctx, g, &seen) != nil {
				break
			}
		}
	case isBytes(col):
		seen.AddWidths(1, []byte(pathOf(col)), [2]int{8 * col.Type().Length()})
	default:
		seen.AddWidths(1, []byte(pathOf(col)), [2]int{base.FingerprintBits})
	}
	if f.info.Bits, err = seen.Width(f.opt.Bits, unit); err == nil && !seen.Short() {
		err = cmp.Or(seen.Conflict(unit), seen.Guessed(unit))
	}
	if err != nil {
		return &records.ReadError{File: f.info.Name, Pos: records.NoPosition, Err: err}
	}
	if f.layout.bits = cmp.Or(f.info.Bits, f.opt.Bits, base.FingerprintBits); f.info.Bits > base.FingerprintBits {
		f.info.Notice = cmp.Or(f.info.Notice, fmt.Sprintf("its fingerprints have %d bits", f.info.Bits))
	}
	switch {
	case seen.Short():
		f.layout.notation = base.Hex
	case seen.Shows() == base.Decimal:
		f.layout.notation = base.Decimal // a few values with letters are then not fingerprints
	}
	return context.Cause(ctx)
}

// notations adds the fingerprints of a row group to the evidence.
func (f *file) notations(ctx context.Context, g group, seen *base.Evidence) (err error) {
	defer unpanic(&err)
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
			text, at := bytes.TrimSpace(v.ByteArray()), int64(g.first)+i
			if _, as, err := base.ParseCell(text, base.Auto); err == nil && f.opt.Fingerprints == base.Auto {
				seen.Add(at, text, as)
			}
			widths := base.Widths(text, f.opt.Fingerprints)
			if n := 8 * len(v.ByteArray()); widths[0] == 0 && isBits(n, col) {
				widths[0], text = n, hex.AppendEncode(nil, v.ByteArray())
			}
			seen.AddWidths(at, text, widths)
		}
		if i%checkRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
