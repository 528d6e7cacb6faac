package store

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// Documents that have expired, by the time to live or by themselves, are hidden by the wall clock,
// and dropped in merges by a clock that a wrong wall clock does not move ahead: what is hidden comes
// back when the clock is right again, what is dropped does not. That clock runs as the monotonic one
// does. It starts with the wall clock, unless that is more than startSlack ahead of the newest edit
// of the catalog, and then with the time of that edit. A wall clock that is ahead is believed when
// it has been so for clockPatience, and has moved by no more than clockSteady; or by the next
// process, if it is then still ahead.
const (
	startSlack    = 24 * time.Hour
	clockPatience = time.Hour
	clockSteady   = time.Minute
)

// A dropClock is the clock by which merges drop documents. Its times are those of the wall clock
// when the monotonic clock is zero.
type dropClock struct {
	mu     sync.Mutex
	opened time.Time // when the store was opened, with the reading of the monotonic clock
	origin time.Time // of the clock
	ahead  time.Time // of a wall clock that is ahead, zero if it is not
	since  time.Duration
}

// readClocks returns the wall clock, and the monotonic clock since the store was made.
func (db *Store) readClocks() (wall time.Time, elapsed time.Duration) {
	now := db.Now()
	elapsed = now.Sub(db.clock.opened)
	if db.opts.Elapsed != nil {
		elapsed = db.opts.Elapsed()
	}
	return now.Round(0), elapsed
}

// startClock starts the clock of merges. edited is the time of the newest edit, zero if unknown.
func (db *Store) startClock(edited time.Time) {
	c := &db.clock
	c.opened = db.Now()
	wall, elapsed := db.readClocks()
	if !edited.IsZero() && wall.Sub(edited) > startSlack {
		wall = edited
	}
	c.origin = wall.Add(-elapsed)
}

// trusted returns the time by which merges drop documents.
func (db *Store) trusted() time.Time {
	c := &db.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	wall, elapsed := db.readClocks()
	origin := wall.Add(-elapsed)
	switch {
	case !origin.After(c.origin):
		c.ahead = time.Time{}
		return wall
	case c.ahead.IsZero() || origin.Sub(c.ahead).Abs() > clockSteady:
		c.ahead, c.since = origin, elapsed
	case elapsed-c.since >= clockPatience:
		c.origin, c.ahead = origin, time.Time{}
		return wall
	}
	return c.origin.Add(elapsed)
}

// lifeAt says which documents have expired at a moment.
func (db *Store) lifeAt(now time.Time) view.Life {
	l := view.Life{Since: math.MinInt64, Now: now.UnixMicro()}
	if ttl := db.TTL(); ttl > 0 {
		l.Since = now.Add(-ttl).UnixMicro()
	}
	return l
}

// HasExpired reports whether a document that is stored now with these times, zero for now and never,
// has expired.
func (db *Store) HasExpired(stored, expires time.Time) bool {
	d := table.Document{Time: cmp.Or(stored, db.Now()).UnixMicro(), Expires: table.Expiry(expires)}
	return !db.life().Has(&d)
}

// dropView is View for a merge: a document has expired in it only if it may be dropped.
func (db *Store) dropView() (*view.View, error) {
	v, err := db.View()
	if err == nil {
		v.Life = db.lifeAt(db.trusted())
	}
	return v, err
}

// timeOptions returns the options of a catalog that is edited now and has a time to live.
func (db *Store) timeOptions(ttl time.Duration) map[string]string {
	return map[string]string{catalog.OptionTTL: ttl.String(), catalog.OptionEdited: db.edited()}
}

func (db *Store) edited() string { return db.Now().UTC().Format(time.RFC3339) }

// readTimes sets the time to live, and starts the clock of merges.
func (db *Store) readTimes(options map[string]string) (err error) {
	var ttl time.Duration
	var edited time.Time
	if v := options[catalog.OptionTTL]; v != "" {
		ttl, err = time.ParseDuration(v)
	}
	if v := options[catalog.OptionEdited]; v != "" && err == nil {
		edited, err = time.Parse(time.RFC3339, v)
	}
	db.SetTTL(ttl)
	db.startClock(edited)
	return err
}

// settleTimes makes the time to live of the options, if they set one, that of the database. If the
// clock is doubted, it records the time, so that the next process believes it.
func (db *Store) settleTimes() error {
	if db.opts.ReadOnly {
		return nil
	}
	ttl := db.TTL()
	if db.opts.TTL != 0 {
		ttl = max(db.opts.TTL, 0)
	}
	wall, _ := db.readClocks()
	expires := ttl > 0 || slices.ContainsFunc(db.current.Parts, func(p view.Part) bool { return p.MayExpire() })
	doubted := expires && db.trusted().Before(wall)
	if doubted {
		db.log.Info("the clock is far ahead of the newest edit: what has expired since is dropped in an hour, or after the next open", "path", db.Path)
	}
	if ttl == db.TTL() && !doubted {
		return nil
	}
	done, err := db.publishing(context.Background())
	if err != nil {
		return err
	}
	defer done()
	db.SetTTL(ttl)
	return db.editCatalog(catalog.Edit{SetOptions: db.timeOptions(ttl)})
}
