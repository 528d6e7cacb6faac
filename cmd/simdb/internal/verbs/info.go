package verbs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/admin"
	"github.com/simdb/simdb/internal/jsonfield"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/query"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/repl/output"
)

// Stats is `simdb stats`.
type Stats struct {
	DB string `arg:"" file:"db" help:"The database."`
	app.RowFlags
}

// Run shows the content of the database.
func (c *Stats) Run(a *app.App) (err error) {
	db, err := a.Env().OpenDB(c.DB, inputs.Access{})
	if err != nil {
		return err
	}
	defer inputs.Closing(db, &err)
	if c.Options().Format == output.JSON {
		return c.object(a, db)
	}
	return a.Administer(db, c.RowFlags, "stats")
}

// object writes an object with the figures of the rows as numbers; times are in seconds.
func (c *Stats) object(a *app.App, db *engine.DB) (err error) {
	s, err := db.Stats()
	if err != nil {
		return err
	}
	type table struct {
		Name                string    `json:"name"`
		Documents           int64     `json:"documents"`
		Tombstones          int64     `json:"tombstones"`
		Bytes               int64     `json:"bytes"`
		Layout              string    `json:"layout"`
		BytesPerFingerprint float64   `json:"bytes_per_fingerprint"`
		MinTime             time.Time `json:"min_time"`
		MaxTime             time.Time `json:"max_time"`
	}
	tables := make([]table, len(s.Tables))
	for i, t := range s.Tables {
		tables[i] = table{t.Name, t.Documents, t.Tombstones, t.Bytes, t.Layout, t.BytesPerFingerprint, t.MinTime.UTC(), t.MaxTime.UTC()}
	}
	p := s.Options
	b, err := json.Marshal(struct {
		Path               string           `json:"path"`
		Documents          int64            `json:"documents"`
		Fingerprints       int64            `json:"fingerprints"`
		Tombstones         int64            `json:"tombstones"`
		Expired            int64            `json:"expired"`
		SpaceAmplification float64          `json:"space_amplification"`
		Memtable           int64            `json:"memtable"`
		DiskBytes          int64            `json:"disk_bytes"`
		Seq                uint64           `json:"seq"`
		Tokenizer          int              `json:"tokenizer"`
		Shingle            int              `json:"shingle"`
		Bits               int              `json:"bits"`
		Layout             string           `json:"layout"`
		Sketch             int              `json:"sketch"`
		MinJaccard         float64          `json:"min_jaccard"`
		Text               bool             `json:"text"`
		TTL                float64          `json:"ttl"`
		Features           string           `json:"features"`
		Containment        bool             `json:"containment"`
		Index              []string         `json:"index"`
		Tables             []table          `json:"tables"`
		Orphans            map[string]int64 `json:"orphans"`
	}{
		s.Path, s.Documents, s.Fingerprints, s.Tombstones, s.Expired, s.SpaceAmplification, s.Memtable, s.DiskBytes, s.Seq,
		s.Tokenizer, p.Shingle, p.Bits, p.Layout, p.Sketch, p.MinJaccard, !p.NoText, p.TTL.Seconds(), p.Features.Describe(), p.Containment, p.Index, tables, s.Orphans,
	})
	if err != nil {
		return err
	}
	to, err := a.Sink(c.Output, c.Kind(), c.Options())
	if err != nil {
		return err
	}
	_, err = to.Write(append(b, '\n'))
	return to.Close(err)
}

// Why is `simdb why`.
type Why struct {
	TwoDocs
	app.RowFlags
}

// Run compares the two documents.
func (c *Why) Run(a *app.App) (err error) {
	s, err := a.Env().OpenStored(c.DB, inputs.Access{})
	if err != nil {
		return err
	}
	defer s.Close(&err)
	for _, id := range []string{c.A, c.B} {
		if _, err := s.Lookup(a.Context(), id); err != nil {
			return fmt.Errorf("%s: %w", c.DB, err)
		}
	}
	return a.Statement(s.DB, c.RowFlags, "WHY ? ?", c.A, c.B)
}

// Check is `simdb check`.
type Check struct {
	DB string `arg:"" file:"db" help:"The database."`
	app.RowFlags
}

// Run verifies the database. It lists damage, which gives exit status 1.
func (c *Check) Run(a *app.App) (err error) {
	db, err := a.Env().OpenDB(c.DB, inputs.Access{})
	if errors.Is(err, engine.ErrCorruption) {
		return c.damage(a, []error{err})
	} else if err != nil {
		return err
	}
	defer inputs.Closing(db, &err)
	m := a.Meter()
	defer m.Stop()
	start := time.Now()
	report, err := db.Check(a.Context(), m.Report)
	m.Stop()
	if err != nil {
		return err
	}
	a.Say("%s: %s in %s, %s, checked in %s", c.DB, quantity.Count(report.Documents, "document"), quantity.Count(report.Tables, "table"),
		quantity.Bytes(report.Bytes), app.Seconds(start))
	for name, size := range report.Orphans {
		sayOrphan(a, c.DB, name, size)
	}
	return c.damage(a, report.Problems)
}

// damage lists the problems.
func (c *Check) damage(a *app.App, problems []error) error {
	if len(problems) == 0 {
		a.Say("no damage was found")
		if c.Output == "" && !c.Format.Set {
			return nil
		}
	}
	r := admin.Problems(problems...)
	found, err := a.Rows(c.RowFlags, r.Columns(), r.All())
	if err != nil || !found {
		return err
	}
	a.Say("%s: damage was found; %s", c.DB, app.OnDamage)
	return app.Status(app.ExitNo)
}

// Compact is `simdb compact`.
type Compact struct {
	DB   string   `arg:"" file:"db" help:"The database."`
	Rate app.Rate `placeholder:"SIZE" help:"Write at most SIZE per second, such as 50MiB (default: no limit)."`
}

// Run compacts the database.
func (c *Compact) Run(a *app.App) (err error) {
	// A merge creates little garbage, so that a smaller heap costs no time.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	db, err := a.Env().OpenDB(c.DB, inputs.Access{Write: true})
	if err != nil {
		return err
	}
	defer inputs.Closing(db, &err)
	before, err := db.Stats()
	if err != nil {
		return err
	}
	db.SetCompactionRate(int64(c.Rate))
	m := a.Meter()
	defer m.Stop()
	start := time.Now()
	err = db.Compact(a.Context(), &engine.CompactOptions{Progress: m.Report})
	m.Stop()
	if err != nil {
		return err
	}
	after, err := db.Stats()
	if err != nil {
		return err
	}
	a.Say("%s: %s and %s before, %d and %s after; %s", c.DB, quantity.Count(int64(len(before.Tables)), "table"), quantity.Bytes(before.DiskBytes),
		len(after.Tables), quantity.Bytes(after.DiskBytes), app.Seconds(start))
	return nil
}

const pruneBatch = 1 << 16 // deletes per batch

// Prune is `simdb prune`.
type Prune struct {
	DB      string        `arg:"" file:"db" help:"The database."`
	Older   *app.Age      `required:"" xor:"what" placeholder:"AGE" help:"Delete documents that were stored longer ago than AGE, such as 30d or 48h."`
	Expired string        `required:"" xor:"what" placeholder:"FIELD" help:"Delete documents whose field FIELD is a time in the past, in seconds since 1970. If the database was created with --index FIELD, only these are read."`
	TTL     *app.Lifetime `required:"" xor:"what" placeholder:"AGE" help:"From now on, documents expire at AGE, such as 48h, or never: change what --ttl said when the database was created."`
}

// Run deletes old documents.
func (c *Prune) Run(a *app.App) (err error) {
	how := inputs.Access{Write: true}
	if c.TTL != nil {
		how.TTL = time.Duration(*c.TTL)
	}
	db, err := a.Env().OpenDB(c.DB, how)
	if err != nil {
		return err
	}
	defer inputs.Closing(db, &err)
	switch {
	case c.TTL != nil:
		if ttl := db.Options().TTL; ttl > 0 {
			a.Say("%s: documents expire at %v", c.DB, ttl)
		} else {
			a.Say("%s: documents do not expire", c.DB)
		}
		return nil
	case c.Older == nil:
		return c.expired(a, db)
	}
	m := a.Meter()
	defer m.Stop()
	n, err := db.Prune(a.Context(), time.Now().Add(-time.Duration(*c.Older)), m.Report)
	m.Stop()
	c.say(a, n, err)
	return err
}

// say prints how many documents were deleted.
func (c *Prune) say(a *app.App, n int, err error) {
	if n > 0 || err == nil {
		a.Say("%s: %s deleted; simdb compact frees their space", c.DB, quantity.Count(int64(n), "document"))
	}
}

// expired deletes the documents whose expiry time, which is a field, has passed.
func (c *Prune) expired(a *app.App, db *engine.DB) error {
	paths, err := jsonfield.Paths(c.Expired)
	if err == nil && len(paths) > 1 {
		err = errors.New("name one field, which has the time")
	}
	if err != nil {
		return fmt.Errorf("--expired: %w", err)
	}
	name, now := jsonfield.Name(paths[0]), time.Now().Unix()
	rows, err := query.Run(a.Context(), db, fmt.Sprintf("%s < ? SHOW id, seq", name), now)
	if err != nil {
		return err
	}
	n, err := deleteRows(a.Context(), db, rows)
	for _, warning := range rows.Warnings() {
		a.Say("%s", warning)
	}
	if c.say(a, n, err); err != nil {
		return err
	}
	if rows, err = query.Run(a.Context(), db, fmt.Sprintf("COUNT %s IS NOT NULL AND NOT %[1]s >= ?", name), now); err != nil {
		return err
	}
	for row, err := range rows.All() {
		if err != nil {
			return err
		}
		if n := row[0].(int64); n > 0 {
			a.Say("%s: %s stayed because %s is not a number of seconds", c.DB, quantity.Count(n, "document"), name)
		}
	}
	return rows.Close()
}

// deleteRows deletes the versions of documents that rows name by id and seq, and returns their
// number. It works in batches, so that it does not hold all rows in memory.
func deleteRows(ctx context.Context, db *engine.DB, rows *query.Rows) (deleted int, err error) {
	var b engine.Batch
	apply := func() error {
		err := db.Apply(ctx, &b)
		if err == nil {
			deleted += b.Deleted()
		}
		b = engine.Batch{}
		return err
	}
	for v, err := range query.Scan[struct {
		ID  string
		Seq uint64
	}](rows) {
		if err != nil {
			return deleted, err
		}
		if b.DeleteVersion(v.ID, v.Seq); b.Len() == pruneBatch {
			if err := apply(); err != nil {
				return deleted, err
			}
		}
	}
	return deleted, apply()
}
