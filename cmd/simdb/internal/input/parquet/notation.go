package parquet

import (
	"context"
	"fmt"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/fptext"
)

// manyAmbiguous is how many fingerprints of 16 decimal digits, and none that shows what they are,
// are no accident.
const manyAmbiguous = 8

// checkRows is how many fingerprints are read between two looks at a context.
const checkRows = 512

// notations are how the fingerprints of a file are written, where the rule of package fptext
// decides.
type notations struct {
	hex, decimal sighting // the first ones
	certain      bool     // a hexadecimal one is not ambiguous
	ambiguous    int
}

// sighting is a fingerprint in a file; row is 0 for none.
type sighting struct {
	row  input.Position
	text string
}

// add takes note of a fingerprint.
func (n *notations) add(row input.Position, text string) {
	_, as, err := fptext.Parse(text, fptext.Auto)
	if err != nil {
		return
	}
	first := &n.decimal
	if as == fptext.Hex {
		first = &n.hex
		if fptext.Ambiguous(text) {
			n.ambiguous++
		} else {
			n.certain = true
		}
	}
	if first.row == 0 {
		*first = sighting{row, text}
	}
}

// verdict returns an error if the fingerprints are not all written alike, or may be read both ways.
func (n *notations) verdict() error {
	a, b, what := n.hex, n.decimal, [2]string{"hexadecimal", "decimal"}
	switch {
	case b.row == 0 && !n.certain && n.ambiguous >= manyAmbiguous:
		return fmt.Errorf("the fingerprints from row %d (%s) on have 16 decimal digits: --fingerprints hex or decimal says what they are",
			a.row, a.text)
	case a.row == 0 || b.row == 0:
		return nil
	case a.row > b.row:
		a, b, what = b, a, [2]string{what[1], what[0]}
	}
	return fmt.Errorf("the fingerprint of row %d, %s, is %s by its form, that of row %d, %s, is %s; --fingerprints hex or decimal says what all of them are",
		a.row, a.text, what[0], b.row, b.text, what[1])
}

// settle reads all fingerprints that are text, if the rule of package fptext decides how they are
// written. A file that has both notations is refused before any record is delivered. Damage is left
// for Records to report in its place.
func (f *file) settle(ctx context.Context) error {
	col := f.layout.roles.fp
	if col == nil || !isText(col) || f.opt.Fingerprints != fptext.Auto {
		return nil
	}
	var seen notations
	for _, g := range f.groups(0) {
		if f.notations(ctx, g, &seen) != nil {
			break
		}
	}
	if err := seen.verdict(); err != nil {
		return &input.ReadError{File: f.info.Name, Pos: input.NoPosition, Err: err}
	}
	return context.Cause(ctx)
}

// notations takes note of the fingerprints of a row group.
func (f *file) notations(ctx context.Context, g group, seen *notations) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicked(v)
		}
	}()
	col := f.layout.roles.fp
	c, err := openCursor(f.f, &f.f.Metadata().RowGroups[g.number].Columns[col.Index()].MetaData, g.number, col)
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
			seen.add(g.first+input.Position(i), strings.TrimSpace(string(v.ByteArray())))
		}
		if i%checkRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
