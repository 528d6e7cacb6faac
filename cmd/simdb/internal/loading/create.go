package loading

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records/inputs"
)

// CreateFlags are the parameters of a new database.
type CreateFlags struct {
	Tables     app.Tables  `group:"created" placeholder:"N" help:"Permuted tables in each table file: more need more space, and speed up small files (default: by the size of the file)."`
	Layout     *app.Layout `group:"created" placeholder:"M:C" help:"The same in detail: M blocks per fingerprint, and C blocks that lead each table, such as 4:1 or 6:3."`
	Sketch     app.Hashes  `group:"created" placeholder:"N" help:"Entries of a MinHash sketch (default: 32, or 128 with --no-text)."`
	MinJaccard app.Share   `group:"created" placeholder:"T" help:"The lowest score of sketches that the index of JACCARD finds (default: any, or 0.65 with --no-text)."`
	NoText     bool        `group:"created" help:"Store only fingerprints, not the texts."`
	app.FeatureFlags
	Several     bool          `group:"created" help:"Documents may have several fingerprints; the nearest counts (default: on if documents of the first file have a list of fingerprints, or with --orientations 8)."`
	Code        string        `group:"created" placeholder:"NAME" help:"NEAR compares only fingerprints that documents are given, of the kind NAME, such as the hashes of their pictures, and never those of texts; JACCARD and the like compare the texts."`
	NoSketch    bool          `group:"created" help:"Store no MinHash sketches; JACCARD is then not possible."`
	Containment *bool         `group:"created" help:"Build an index for CONTAINS, WITHIN and PASSAGES, which otherwise read all texts; it adds about 40 % of the size of the texts."`
	Index       *string       `group:"created" placeholder:"FIELD,..." help:"Index these fields, such as lang,meta.url, so that conditions on them (=, <, IN, BETWEEN, LIKE 'a%') need not read all documents."`
	TTL         *app.Lifetime `group:"created" placeholder:"AGE" help:"Documents expire at this age, such as 48h or 30d, or never. This also changes a database that exists (default: never, or as it is)."`
}

// Validate checks flags that depend on each other.
func (c *CreateFlags) Validate() error {
	if c.Tables != 0 && c.Layout != nil {
		return fmt.Errorf("%s and %s set the same parameter: give only one", option.Name("Tables"), option.Name("Layout"))
	}
	if most := base.FingerprintBits * base.MaxWords; int(c.Bits) > most {
		return fmt.Errorf("%s: %s", option.Set("Bits", c.Bits), app.BitRange)
	}
	if c.NoText && c.contained() {
		return fmt.Errorf("%s stores no texts, so %s does not apply", option.Name("NoText"), option.Name("Containment"))
	}
	if c.NoText && c.Index != nil && *c.Index != "" {
		return fmt.Errorf("%s stores no fields, so %s does not apply", option.Name("NoText"), option.Name("Index"))
	}
	if c.NoSketch && (c.Sketch != 0 || c.MinJaccard != 0) {
		return fmt.Errorf("%s stores no sketches, so %s and %s do not apply",
			option.Name("NoSketch"), option.Name("Sketch"), option.Name("MinJaccard"))
	}
	return nil
}

// contained reports whether the database will have a containment index.
func (c *CreateFlags) contained() bool { return c.Containment != nil && *c.Containment }

// Options returns the options that the flags set.
func (c *CreateFlags) Options() (*engine.Options, error) {
	o := &engine.Options{
		Sketch: int(c.Sketch), MinJaccard: float64(c.MinJaccard), NoText: c.NoText, NoSketch: c.NoSketch, Containment: c.contained(),
	}
	if c.Index != nil && *c.Index != "" {
		o.Index = []string{*c.Index}
	}
	if c.TTL != nil {
		o.TTL = time.Duration(*c.TTL)
	}
	switch {
	case c.Tables > 0:
		o.Layout = string(fmt.Sprintf("%d:1", c.Tables))
	case c.Layout != nil:
		o.Layout = string(c.Layout.String())
	}
	err := c.FeatureFlags.Options(o)
	o.Features.Several, o.Features.Code = c.Several, c.Code
	return o, err
}

// optionsLike returns the options of a database, except where flags set others. With renew, words are
// those of the current version of the tokenizer.
func (c *CreateFlags) optionsLike(db *engine.DB, renew bool) (*engine.Options, error) {
	o, err := c.Options()
	if err != nil {
		return nil, err
	}
	like, err := app.OptionsLike(db)
	if err != nil {
		return nil, err
	}
	if given := c.Given(); db.Options().NoText && len(given) > 0 {
		return nil, fmt.Errorf("the database stores no texts to compute other fingerprints from: %s does not apply", given[0])
	}
	o.Layout = cmp.Or(o.Layout, like.Layout)
	like.Features.Fold = slices.DeleteFunc(like.Features.Fold, func(name string) bool { return renew && name == features.V2 })
	o.Features = engine.Features(features.Spec(like.Features).Override(features.Spec(o.Features)))
	if o.Bits = cmp.Or(o.Bits, like.Bits); !features.IsGiven(o.Features.Unit) {
		o.Shingle = cmp.Or(o.Shingle, like.Shingle)
	}
	o.NoSketch = o.NoSketch || like.NoSketch && o.Sketch == 0
	if !o.NoSketch {
		o.Sketch, o.MinJaccard = cmp.Or(o.Sketch, like.Sketch), cmp.Or(o.MinJaccard, like.MinJaccard)
	}
	o.NoText = o.NoText || like.NoText
	if c.Containment == nil {
		o.Containment = like.Containment && !o.NoText
	}
	if c.Index == nil && !o.NoText {
		o.Index = like.Index
	}
	if c.TTL == nil {
		o.TTL = like.TTL
	}
	return o, nil
}

// Create is `simdb create`.
type Create struct {
	DB     string          `arg:"" file:"db" help:"The database to create; it must not exist."`
	Like   string          `group:"created" file:"in" placeholder:"DB" help:"Use the parameters of this database, except those that flags set."`
	Images *imagehash.Kind `group:"created" placeholder:"KIND" help:"For pictures, compared by this hash: pdq, dhash256, dhash or phash."`
	CreateFlags
}

// Run makes the database.
func (c *Create) Run(a *app.App) (err error) {
	if err := makesNew(c.DB); err != nil {
		return err
	}
	o, err := c.Options()
	if err == nil && c.Like != "" {
		like, e := a.Env().OpenDB(c.Like, inputs.Access{})
		if e != nil {
			return e
		}
		o, err = c.optionsLike(like, false)
		inputs.Closing(like, &err)
	}
	if err != nil {
		return err
	}
	inputs.SetPictures(o, c.Images)
	o.BusyTimeout = a.Global.BusyTimeout
	db, err := engine.Create(c.DB, o)
	if err != nil {
		return err
	}
	a.Say("created %s", c.DB)
	return db.Close()
}

// makesNew checks that a database can be created at path, and that none exists there.
func makesNew(path string) error {
	what, err := engine.Identifier()(path)
	if err == nil && what != "" {
		err = fmt.Errorf("%s is %s; name a new database", path, what)
	}
	if err == nil {
		err = app.Prepare(path)
	}
	return err
}

// Rebuild is `simdb rebuild`.
type Rebuild struct {
	DB     string     `arg:"" file:"db" help:"The database; it is not changed."`
	New    string     `arg:"" file:"db" help:"The database to create."`
	Memory app.Memory `default:"auto" placeholder:"SIZE" help:"Memory, as for simdb load (default: a 16th of the machine's memory, from 256MiB to 1GiB; a quarter if the machine has less than 1GiB)."`
	CreateFlags
}

// Help says what stays the same.
func (Rebuild) Help() string {
	return `The new database has all documents with their fields and times, and the pairs recorded by allow. It has the parameters of the old
one unless flags change them; --containment=false, --index= and --ttl=never switch off what the old one has. Fingerprints and sketches
are computed again from the texts; a fingerprint that came with its document is copied, and must have the length of --bits.`
}

// Run makes the new database.
func (c *Rebuild) Run(a *app.App) error {
	if what, err := engine.Identifier()(c.DB); err == nil && what == "" && !inputs.IsSet(c.DB) {
		return fmt.Errorf("%s: %w", c.DB, inputs.ErrNoDatabase)
	}
	if err := makesNew(c.New); err != nil {
		return err
	}
	return (&Load{DB: c.New, Files: []string{c.DB}, OnConflict: "error", Anew: true, Memory: c.Memory, CreateFlags: c.CreateFlags}).Run(a)
}
