package verbs

import (
	"cmp"
	"fmt"
	"math/bits"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/fingerprint"
	"github.com/simdb/simdb/internal/kernel"
)

// Bench is `simdb bench`.
type Bench struct {
	N      app.Quantity   `default:"1e6" placeholder:"N" help:"Uniform fingerprints, before near copies (default: 1e6)."`
	K      []app.Distance `short:"k" default:"3" placeholder:"K,..." help:"Distances to search for (default: 3)."`
	Layout *app.Layout    `placeholder:"M:C" help:"Permuted tables (default: by the size of each table)."`
	Parts  app.Parts      `default:"1" placeholder:"P" help:"Leave the database in P tables, which are slower to search than one (default: 1)."`
	NoText bool           `help:"Leave out fingerprinting of text."`
	app.RowFlags
}

// Help says what is measured.
func (Bench) Help() string {
	return `N uniform fingerprints are made from a seed, and a copy of every tenth of them
with 1 to 3 bits flipped. They are loaded into a temporary database ($TMPDIR),
which is compacted to one table unless --parts says more. The answers to the
first queries are compared with brute force before anything is timed.

  load      bulk load of documents with ids: sorting, checks for repeated ids
            and fsync included; all cores
  compact   merging what was loaded into one table
  tables    table files that were searched
  index     bytes of the permuted tables; disk is the whole database
  near      one search through the engine, with ids; half of the queries are
            near a stored fingerprint; one core
  batch     one search of a batch with as many queries as fingerprints, up to
            a million, with ids; one core
  pairs     all pairs within the least K
  text      fingerprint (SimHash), and fingerprint and sketch (MinHash), of
            English-like text; one core

For steady figures run it on one core: taskset -c 1 simdb bench`
}

// Validate checks the arguments.
func (c *Bench) Validate() error {
	if c.N > 1<<30 {
		return fmt.Errorf("--n %d: at most %d fingerprints", c.N, 1<<30)
	}
	return nil
}

// bench is a run of the command.
type bench struct {
	a     *app.App
	c     *Bench
	meter *progress.Meter
	row   func(...any) error
	fps   []uint64
	rng   splitMix
}

// number writes a row with a count.
func (b *bench) number(work, measure string, n int, unit string) error {
	return b.row(work, measure, n, unit)
}

// figure writes a row.
func (b *bench) figure(work, measure string, value float64, unit string) error {
	return b.row(work, measure, app.Rounded(value, 4), unit)
}

// Run measures.
func (c *Bench) Run(a *app.App) error {
	dir, err := a.TempDir()
	if err != nil {
		return err
	}
	b := &bench{a: a, c: c, meter: a.Meter(), rng: 42}
	defer b.meter.Stop()
	_, err = a.Rows(c.RowFlags, []string{"work", "measure", "value", "unit"}, func(row func(...any) error) error {
		b.row = row
		if err := b.database(filepath.Join(dir, "bench.simdb")); err != nil || c.NoText {
			return err
		}
		return b.texts()
	})
	b.meter.Stop()
	if err == nil {
		a.Say("%s, %s/%s, kernel %s, %d processors used", runtime.Version(), runtime.GOOS, runtime.GOARCH, kernel.Name(), runtime.GOMAXPROCS(0))
	}
	return err
}

// database measures everything that is done with fingerprints.
func (b *bench) database(path string) (err error) {
	b.generate()
	o := &engine.Options{NoText: true, NoSketch: true, Sync: engine.SyncNever, DisableAutoCompaction: true}
	if b.c.Layout != nil {
		o.Layout = engine.Layout(b.c.Layout.String())
	}
	db, err := engine.Create(path, o)
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	if err := b.load(db); err != nil {
		return err
	}
	for _, k := range b.c.K {
		if err := b.near(db, int(k)); err != nil {
			return err
		}
	}
	k := int(slices.Min(b.c.K))
	if err := b.batch(db, k); err != nil {
		return err
	}
	return b.pairs(db, k)
}

// splitMix is the SplitMix64 generator.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// flip returns x with 1 to 3 bits flipped.
func (s *splitMix) flip(x uint64) uint64 {
	n := 1 + int(s.next()%3)
	for y := x; ; {
		if y ^= 1 << (s.next() % 64); bits.OnesCount64(x^y) == n {
			return y
		}
	}
}

// generate makes the fingerprints: uniform ones, and the copies.
func (b *bench) generate() {
	n := int(b.c.N)
	b.fps = make([]uint64, 0, n+(n+9)/10)
	for range n {
		b.fps = append(b.fps, b.rng.next())
	}
	for i := 0; i < n; i += 10 {
		b.fps = append(b.fps, b.rng.flip(b.fps[i]))
	}
}

// query returns the i-th query: every other one is near a stored fingerprint.
func (b *bench) query(i int) uint64 {
	if i%2 == 0 {
		return b.rng.flip(b.fps[b.rng.next()%uint64(len(b.fps))])
	}
	return b.rng.next()
}

// perFingerprint is d for one of the fingerprints, in nanoseconds.
func (b *bench) perFingerprint(d time.Duration) float64 { return float64(d) / float64(len(b.fps)) }

// load fills the database.
func (b *bench) load(db *engine.DB) error {
	start := time.Now()
	l, err := db.NewLoader(b.a.Context(), engine.LoadOptions{})
	if err != nil {
		return err
	}
	for i, fp := range b.fps {
		if err := l.Add(engine.Doc{ID: fmt.Sprintf("%08x", i), Fingerprint: &fp}); err != nil {
			l.Abort()
			return err
		}
		if (i+1)%((len(b.fps)+int(b.c.Parts)-1)/int(b.c.Parts)) == 0 && b.c.Parts > 1 {
			if err := l.Flush(); err != nil {
				return err
			}
		}
		if i%4096 == 0 {
			b.meter.Report(engine.Progress{Stage: "load", Done: int64(i), Total: int64(len(b.fps)), Unit: "documents"})
		}
	}
	if _, err := l.Close(); err != nil {
		return err
	}
	loaded := time.Now()
	if err := b.figure("load", "mean", b.perFingerprint(loaded.Sub(start)), "ns/fingerprint"); err != nil {
		return err
	}
	if b.c.Parts == 1 {
		if err := db.Compact(b.a.Context(), b.meter.Report); err != nil {
			return err
		}
		if err := b.figure("compact", "mean", b.perFingerprint(time.Since(loaded)), "ns/fingerprint"); err != nil {
			return err
		}
	}
	return b.space(db)
}

// space says how large the database is.
func (b *bench) space(db *engine.DB) error {
	st, err := db.Stats()
	if err != nil {
		return err
	}
	index := int64(0)
	for _, t := range st.Tables {
		index += t.IndexBytes
	}
	n := float64(len(b.fps))
	if err := b.number("tables", "count", len(st.Tables), "files"); err != nil {
		return err
	}
	if err := b.figure("index", "size", float64(index)/n, "bytes/fingerprint"); err != nil {
		return err
	}
	return b.figure("disk", "size", float64(st.DiskBytes)/n, "bytes/fingerprint")
}

const (
	benchQueries = 10_000          // searches timed
	benchRounds  = 3               // how often
	benchChecked = 4               // of them, compared with brute force
	benchTime    = 5 * time.Second // after which no more searches are timed
)

// near measures single searches: all are done once, for the caches, and then benchRounds times.
func (b *bench) near(db *engine.DB, k int) error {
	queries := make([]uint64, benchQueries)
	for i := range queries {
		queries[i] = b.query(i)
	}
	for _, q := range queries[:benchChecked] {
		if err := b.check(db, q, k); err != nil {
			return err
		}
	}
	work := fmt.Sprintf("near %d", k)
	var took []time.Duration
	for round := range 1 + benchRounds {
		begin := time.Now()
		for i, q := range queries {
			start := time.Now()
			if start.Sub(begin) > benchTime {
				queries = queries[:i]
				break
			}
			for _, err := range db.Near(b.a.Context(), q, k) {
				if err != nil {
					return err
				}
			}
			if round > 0 {
				took = append(took, time.Since(start))
			}
			if i%256 == 0 { // reporting more often would evict the index from the caches
				b.meter.Report(engine.Progress{Stage: work, Done: int64(i), Total: int64(len(queries)), Unit: "searches"})
			}
		}
	}
	slices.Sort(took)
	sum := time.Duration(0)
	for _, d := range took {
		sum += d
	}
	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	for _, f := range []struct {
		measure string
		us      float64
	}{{"p50", us(took[len(took)/2])}, {"p99", us(took[len(took)*99/100])}, {"mean", us(sum) / float64(len(took))}} {
		if err := b.figure(work, f.measure, f.us, "us"); err != nil {
			return err
		}
	}
	return nil
}

// check compares an answer with brute force.
func (b *bench) check(db *engine.DB, q uint64, k int) error {
	got, want := 0, 0
	for m, err := range db.Near(b.a.Context(), q, k) {
		if err != nil {
			return err
		}
		i := 0
		if _, err := fmt.Sscanf(m.ID, "%x", &i); err != nil || bits.OnesCount64(q^b.fps[i]) != m.Distance {
			return fmt.Errorf("NEAR(0x%016x, %d) is wrong about %q", q, k, m.ID)
		}
		got++
	}
	for _, fp := range b.fps {
		if bits.OnesCount64(q^fp) <= k {
			want++
		}
	}
	if got != want {
		return fmt.Errorf("NEAR(0x%016x, %d) finds %d documents of %d", q, k, got, want)
	}
	return nil
}

// batch measures searches done together.
func (b *bench) batch(db *engine.DB, k int) error {
	queries := make([]uint64, min(len(b.fps), 1_000_000))
	for i := range queries {
		queries[i] = b.query(i)
	}
	b.meter.Report(engine.Progress{Stage: "batch"})
	took := time.Duration(0)
	for range 2 { // the first time warms up
		start := time.Now()
		for _, err := range db.NearBatch(b.a.Context(), queries, k) {
			if err != nil {
				return err
			}
		}
		took = time.Since(start)
	}
	return b.figure(fmt.Sprintf("batch %d", k), "mean", float64(took)/1e3/float64(len(queries)), "us")
}

// pairs measures the self-join.
func (b *bench) pairs(db *engine.DB, k int) error {
	start, n := time.Now(), 0
	for _, err := range db.Pairs(b.a.Context(), engine.Near(k), b.meter.Report) {
		if err != nil {
			return err
		}
		n++
	}
	work := fmt.Sprintf("pairs %d", k)
	if err := b.figure(work, "total", time.Since(start).Seconds(), "s"); err != nil {
		return err
	}
	return b.number(work, "found", n, "pairs")
}

// texts measures fingerprinting.
func (b *bench) texts() error {
	for _, size := range []int{2300, 48_000} {
		texts := make([]string, max(4, 500_000/size))
		for i := range texts {
			texts[i] = b.text(size)
		}
		for _, sketch := range []int{0, 128} {
			work := fmt.Sprintf("text %.1f KB", float64(size)/1e3)
			measure := "fingerprint"
			if sketch > 0 {
				measure = "fingerprint, sketch"
			}
			b.meter.Report(engine.Progress{Stage: work})
			state := fingerprint.New(fingerprint.Params{Shingle: 3, Sketch: sketch})
			best := 0.0
			for begin := time.Now(); time.Since(begin) < 300*time.Millisecond && !b.a.Interrupted(); {
				start, total := time.Now(), 0
				for _, t := range texts {
					state.Text(t)
					total += len(t)
				}
				best = max(best, float64(total)/time.Since(start).Seconds()/1e6)
			}
			if b.a.Interrupted() {
				return app.ErrInterrupted
			}
			if err := b.figure(work, measure, best, "MB/s"); err != nil {
				return err
			}
		}
	}
	return nil
}

// text returns size bytes of words, of which few are frequent and many are not, with commas and
// full stops.
func (b *bench) text(size int) string {
	var s strings.Builder
	s.Grow(size + 16)
	for s.Len() < size {
		rank := b.rng.next() % 20_000
		// The product of two uniform numbers is small more often than large.
		rank = rank * (b.rng.next() % 20_000) / 20_000
		letters := splitMix(rank)
		for range 2 + cmp.Compare(rank, 100) + int(letters.next()%7) {
			s.WriteByte('a' + byte(letters.next()%26))
		}
		switch b.rng.next() % 12 {
		case 0:
			s.WriteString(". ")
		case 1:
			s.WriteString(", ")
		default:
			s.WriteByte(' ')
		}
	}
	return s.String()
}
