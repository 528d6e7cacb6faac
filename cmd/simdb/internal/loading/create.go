package loading

import (
	"errors"
	"fmt"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
)

// CreateFlags are the parameters of a new database.
type CreateFlags struct {
	Tables     app.Tables  `group:"created" placeholder:"N" help:"Permuted tables of every table: more are larger, and faster for small tables (default: by the size of each table)."`
	Layout     *app.Layout `group:"created" placeholder:"M:C" help:"The same in detail: M blocks, of which C lead each table, such as 4:1 or 6:3."`
	Sketch     app.Hashes  `group:"created" placeholder:"N" help:"Entries of a MinHash sketch (default: 128)."`
	MinJaccard app.Share   `group:"created" placeholder:"T" help:"The lowest threshold that JACCARD answers from its index (default: 0.65)."`
	NoText     bool        `group:"created" help:"Keep fingerprints alone, not the texts."`
	app.FeatureFlags
	Several     bool         `group:"created" help:"Documents may have several fingerprints, and are as near as the nearest of them (default: if documents of the first file have a list of them, and with --orientations 8)."`
	NoSketch    bool         `group:"created" help:"Keep no MinHash sketches: no JACCARD."`
	Containment bool         `group:"created" help:"Keep an index for CONTAINS, WITHIN and PASSAGES, which otherwise read all texts; it takes some 40 % of the size of the texts."`
	TTL         app.Lifetime `group:"created" placeholder:"AGE" help:"Documents expire at this age, such as 48h or 30d (default: never)."`
}

// Validate checks what depends on each other.
func (c *CreateFlags) Validate() error {
	if c.Tables != 0 && c.Layout != nil {
		return errors.New("--tables and --layout say the same, only one can be given")
	}
	if most := base.FingerprintBits * base.MaxWords; int(c.Bits) > most {
		return fmt.Errorf("--bits %d: a database has fingerprints of 64 to %d bits", c.Bits, most)
	}
	if c.NoText && c.Containment {
		return errors.New("--no-text keeps no texts, so --containment has no meaning")
	}
	if c.NoSketch && (c.Sketch != 0 || c.MinJaccard != 0) {
		return errors.New("--no-sketch keeps no sketches, so --sketch and --min-jaccard have no meaning")
	}
	return nil
}

// Options are what the flags say.
func (c *CreateFlags) Options() (*engine.Options, error) {
	o := &engine.Options{
		Sketch: int(c.Sketch), MinJaccard: float64(c.MinJaccard),
		NoText: c.NoText, NoSketch: c.NoSketch, Containment: c.Containment, TTL: time.Duration(c.TTL),
	}
	switch {
	case c.Tables > 0:
		o.Layout = engine.Layout(fmt.Sprintf("%d:1", c.Tables))
	case c.Layout != nil:
		o.Layout = engine.Layout(c.Layout.String())
	}
	err := c.FeatureFlags.Options(o)
	o.Features.Several = c.Several
	return o, err
}
