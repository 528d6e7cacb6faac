package verbs

import (
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/stopwatch"
)

// Bench is `simdb bench`.
type Bench struct {
	N      app.Quantity   `default:"1e6" placeholder:"N" help:"Uniform fingerprints, before near copies (default: 1e6)."`
	K      []app.Distance `short:"k" default:"3" placeholder:"K,..." help:"Distances to search for (default: 3)."`
	Layout *app.Layout    `placeholder:"M:C" help:"Permuted tables (default: by the size of each table)."`
	Parts  app.Parts      `default:"1" placeholder:"P" help:"Leave the database in P tables, which are slower to search than one (default: 1)."`
	Memory app.Memory     `default:"auto" placeholder:"SIZE" help:"Memory for the load (default: that of simdb load)."`
	Dir    string         `type:"path" file:"dir" placeholder:"DIR" help:"Folder for the temporary database (default: $TMPDIR)."`
	NoText bool           `help:"Leave out what is measured on text."`
	NoCold bool           `help:"Leave out searches in tables that are not in memory."`
	app.RowFlags
}

// Help says what is measured.
func (Bench) Help() string {
	return `N uniform fingerprints are made from a seed, and a copy of every tenth of them
with 1 to 3 bits flipped. They are loaded into a temporary database, which is
compacted to one table unless --parts says more, and removed at the end. The
answers to the first queries are compared with brute force before anything is
timed.

  load      bulk load of documents with ids: sorting, checks for repeated ids
            and fsync included; all cores
  compact   merging what was loaded into one table
  tables    table files that were searched
  index     bytes of the permuted tables; disk is the whole database
  machine   what this machine can do at best, on one core, in memory as large
            as the index: wait for a random cache line; fetch many of them,
            alone and in spans of 8; read bytes in order; decode a key of a
            block; move an item of 16 bytes to its place in the order of 8
            bits; compare fingerprints with one query, and with many
  near      one search through the engine, with ids; half of the queries are
            near a stored fingerprint; one core. "first" is the mean of the
            first 10,000 searches in tables that nobody has read, in memory
  batch     one search of a batch with as many queries as fingerprints, up to
            a million, with ids; one core
  pairs     all pairs within the least K; of more than 60 million fingerprints
              as they are found, not sorted
  bound     of a search: what the lines, bytes and comparisons that the index
            cannot do without take at the rates of the machine, and of batch
            and pairs decoding and sorting too: a move of each query, or
            fingerprint, and of each result, for every 8 bits that tell them
            apart; "multiple" is the p50, or of batch and pairs the processor
            time ("cpu"), as a multiple of that
  cold      opening, and the first 1,000 searches, when no table is in memory,
            and what they read from storage (Linux)
  text      fingerprint (SimHash), and fingerprint and sketch (MinHash), of
            English-like text; one core
  jaccard   one search by sketch in a table of 20,000 texts, every second one
            an edited copy; one core

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
	n     int // fingerprints, with the copies
	rng   splitMix
	machine
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
	b := &bench{a: a, c: c, n: int(c.N) + (int(c.N)+9)/10, rng: 43}
	dir, err := b.tempDir()
	if err != nil {
		return err
	}
	b.meter = a.Meter()
	defer b.meter.Stop()
	var failure error // after which the rows so far are written
	_, err = a.Rows(c.RowFlags, []string{"work", "measure", "value", "unit"}, func(row func(...any) error) error {
		b.row = row
		failure = b.everything(dir)
		return nil
	})
	err = errors.Join(failure, err)
	b.meter.Stop()
	if err == nil {
		a.Say("%s, %s/%s, kernel %s, %d processors used", runtime.Version(), runtime.GOOS, runtime.GOARCH, kernel.Name(), runtime.GOMAXPROCS(0))
	}
	return err
}

// everything measures what the flags say.
func (b *bench) everything(dir string) error {
	path := filepath.Join(dir, "bench.simdb")
	if err := b.database(path); err != nil {
		return err
	}
	if err := b.cold(path); err != nil || b.c.NoText {
		return err
	}
	if err := b.texts(); err != nil {
		return err
	}
	return b.jaccard(dir)
}

// database measures everything that is done with fingerprints.
func (b *bench) database(path string) (err error) {
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
	x, err := openBounds(b.machine, path)
	if err != nil {
		return err
	}
	defer x.close()
	for _, k := range b.c.K {
		if err := b.near(db, x, int(k)); err != nil {
			return err
		}
	}
	k := int(slices.Min(b.c.K))
	if err := b.batch(db, x, k); err != nil {
		return err
	}
	return b.pairs(db, k)
}

// perFingerprint is d for one of the fingerprints, in nanoseconds.
func (b *bench) perFingerprint(d time.Duration) float64 { return float64(d) / float64(b.n) }

// load fills the database.
func (b *bench) load(db *engine.DB) error {
	start := stopwatch.Start()
	l, err := db.NewLoader(b.a.Context(), engine.LoadOptions{Replace: true, MemoryBytes: int64(b.c.Memory)})
	if err != nil {
		return err
	}
	for i := range b.n {
		fp := b.fingerprint(i)
		if err := l.Add(engine.Doc{ID: fmt.Sprintf("%08x", i), Fingerprint: &fp}); err != nil {
			l.Abort()
			return err
		}
		if (i+1)%((b.n+int(b.c.Parts)-1)/int(b.c.Parts)) == 0 && b.c.Parts > 1 {
			if err := l.Flush(); err != nil {
				return err
			}
		}
		if i%4096 == 0 {
			b.meter.Report(engine.Progress{Stage: "load", Done: int64(i), Total: int64(b.n), Unit: "documents"})
		}
	}
	if _, err := l.Close(); err != nil {
		return err
	}
	if err := b.figure("load", "mean", b.perFingerprint(start.Elapsed()), "ns/fingerprint"); err != nil {
		return err
	}
	if b.c.Parts == 1 {
		start = stopwatch.Start()
		if err := db.Compact(b.a.Context(), b.meter.Report); err != nil {
			return err
		}
		if err := b.figure("compact", "mean", b.perFingerprint(start.Elapsed()), "ns/fingerprint"); err != nil {
			return err
		}
	}
	return b.space(db)
}

// space says how large the database is, and measures the machine for that size.
func (b *bench) space(db *engine.DB) error {
	st, err := db.Stats()
	if err != nil {
		return err
	}
	index := int64(0)
	for _, t := range st.Tables {
		index += t.IndexBytes
	}
	n := float64(b.n)
	if err := b.number("tables", "count", len(st.Tables), "files"); err != nil {
		return err
	}
	if err := b.figure("index", "size", float64(index)/n, "bytes/fingerprint"); err != nil {
		return err
	}
	if err := b.figure("disk", "size", float64(st.DiskBytes)/n, "bytes/fingerprint"); err != nil {
		return err
	}
	return b.measure(index)
}

const (
	benchQueries = 10_000          // searches timed
	benchRounds  = 3               // how often
	benchChecked = 4               // of them, compared with brute force
	benchBound   = 1000            // of them, whose bounds are computed
	benchCold    = 1000            // of them, done in tables that are not in memory
	benchTime    = 5 * time.Second // after which no more searches are timed
)

// near measures single searches: all are done once, for the caches, and then benchRounds times.
func (b *bench) near(db *engine.DB, x *bounds, k int) error {
	queries := make([]uint64, benchQueries)
	for i := range queries {
		queries[i] = b.query(i)
	}
	work := fmt.Sprintf("near %d", k)
	first, err := b.search(db, work, k, &queries, 1)
	if err != nil {
		return err
	}
	for _, q := range queries[:min(benchChecked, len(queries))] {
		if err := b.check(db, q, k); err != nil {
			return err
		}
	}
	took, err := b.search(db, work, k, &queries, benchRounds)
	if err != nil {
		return err
	}
	slices.Sort(took)
	bound, err := x.near(queries[:min(len(queries), benchBound)], k)
	if err != nil {
		return err
	}
	p50 := micros(took[len(took)/2])
	err = b.rows(
		benchRow{work, "p50", p50, "us"}, benchRow{work, "p99", micros(took[len(took)*99/100]), "us"}, benchRow{work, "mean", mean(took), "us"},
		benchRow{work, "bound", bound / 1e3, "us"}, benchRow{work, "multiple", p50 / (bound / 1e3), "times"},
	)
	if err != nil {
		return err
	}
	if k == int(b.c.K[0]) { // later ones find blocks that have been touched
		return b.figure(work, "first", mean(first), "us")
	}
	return nil
}

// search searches for the queries some times and returns what each search took. If that takes too
// long, it leaves out the other queries.
func (b *bench) search(db *engine.DB, work string, k int, queries *[]uint64, rounds int) (took []time.Duration, err error) {
	for range rounds {
		begin := stopwatch.Start()
		for i, q := range *queries {
			if begin.Elapsed() > benchTime {
				*queries = (*queries)[:i]
				break
			}
			start := stopwatch.Start()
			for _, err := range db.Near(b.a.Context(), q, k) {
				if err != nil {
					return nil, err
				}
			}
			took = append(took, start.Elapsed())
			if i%256 == 0 { // reporting more often would evict the index from the caches
				b.meter.Report(engine.Progress{Stage: work, Done: int64(i), Total: int64(len(*queries)), Unit: "searches"})
			}
		}
	}
	return took, nil
}

// micros is d in microseconds, mean the mean of some.
func micros(d time.Duration) float64 { return float64(d) / 1e3 }

func mean(took []time.Duration) float64 {
	sum := time.Duration(0)
	for _, d := range took {
		sum += d
	}
	return micros(sum) / float64(max(len(took), 1))
}

// check compares an answer with brute force.
func (b *bench) check(db *engine.DB, q uint64, k int) error {
	got, want := 0, 0
	for m, err := range db.Near(b.a.Context(), q, k) {
		if err != nil {
			return err
		}
		i := 0
		if _, err := fmt.Sscanf(m.ID, "%x", &i); err != nil || bits.OnesCount64(q^b.fingerprint(i)) != m.Distance {
			return fmt.Errorf("NEAR(0x%016x, %d) is wrong about %q", q, k, m.ID)
		}
		got++
	}
	for i := range b.n {
		if i%(1<<20) == 0 && b.a.Interrupted() {
			return app.ErrInterrupted
		}
		if bits.OnesCount64(q^b.fingerprint(i)) <= k {
			want++
		}
	}
	if got != want {
		return fmt.Errorf("NEAR(0x%016x, %d) finds %d documents of %d", q, k, got, want)
	}
	return nil
}

// batch measures searches done together.
func (b *bench) batch(db *engine.DB, x *bounds, k int) error {
	queries := make([]uint64, min(b.n, 1_000_000))
	for i := range queries {
		queries[i] = b.query(i)
	}
	b.meter.Report(engine.Progress{Stage: "batch"})
	var took, used time.Duration
	for range 2 { // the first time warms up
		start, cpu := stopwatch.Start(), cpuTime()
		for _, err := range db.NearBatch(b.a.Context(), queries, k) {
			if err != nil {
				return err
			}
		}
		took, used = start.Elapsed(), cpuTime()-cpu
	}
	work := fmt.Sprintf("batch %d", k)
	bound, err := x.batch(b.a.Context(), queries, k)
	if err != nil {
		return err
	}
	each := float64(len(queries))
	return b.rows(benchRow{work, "mean", micros(took) / each, "us"}, benchRow{work, "cpu", micros(used) / each, "us"},
		benchRow{work, "bound", bound / 1e3 / each, "us"}, benchRow{work, "multiple", float64(used) / bound, "times"})
}

// sortedPairs is of how many fingerprints at most the pairs are sorted, for which they have to fit
// into the memory that a query may hold.
const sortedPairs = 60e6

// pairs measures the self-join.
func (b *bench) pairs(db *engine.DB, k int) error {
	join := db.Pairs
	if b.n > sortedPairs {
		join = db.PairsUnordered
	}
	start, cpu, n := stopwatch.Start(), cpuTime(), 0
	for _, err := range join(b.a.Context(), engine.Near(k), b.meter.Report) {
		if err != nil {
			return err
		}
		n++
	}
	work, took, used := fmt.Sprintf("pairs %d", k), start.Elapsed(), cpuTime()-cpu
	bound := b.machine.pairs(float64(b.n), k, n)
	err := b.rows(benchRow{work, "total", took.Seconds(), "s"}, benchRow{work, "cpu", used.Seconds(), "s"},
		benchRow{work, "bound", bound / 1e9, "s"}, benchRow{work, "multiple", float64(used) / bound, "times"})
	if err != nil {
		return err
	}
	return b.number(work, "found", n, "pairs")
}
