package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/repl/output"
)

// Bench is `simdb bench`.
type Bench struct {
	N      app.Quantity   `default:"1e6" placeholder:"N" help:"Uniform fingerprints, before near copies (default: 1e6)."`
	K      []app.Distance `short:"k" default:"3" placeholder:"K" help:"Distances to search for (default: 3)."`
	Dir    string         `type:"path" file:"dir" placeholder:"DIR" help:"Folder for the temporary databases (default: $TMPDIR)."`
	NoText bool           `help:"Leave out what is measured on text."`
	app.RowFlags
}

// Help says what is measured.
func (Bench) Help() string {
	return `N uniform fingerprints are made from a seed, and a copy of every tenth of them
with 1 to 3 bits flipped. They are loaded into a temporary database, which is
removed at the end. Everything goes through the engine, with ids. The answers to
the first searches are compared with brute force before anything is timed.

  load      bulk load of fingerprints, and of texts with sketches, into one
            table: sorting, checks for repeated ids and fsync included; all
            cores
  index     bytes of the permuted tables; disk is the whole database
  near      one search; half of the queries are near a stored fingerprint
  batch     one search of a batch with as many queries as fingerprints, up to
            a million
  pairs     all pairs within the least K, as they are found
  text      fingerprint and sketch of English-like text
  jaccard   one search for a stored document among 20,000 texts, every second
            one an edited copy

For steady figures run it on one core: taskset -c 1 simdb bench`
}

// Validate checks the arguments.
func (c *Bench) Validate() error {
	if c.N > 1<<30 {
		return fmt.Errorf("--n %d: at most %d fingerprints", c.N, 1<<30)
	}
	if err := new(slices.Max(c.K)).Within(64); err != nil {
		return fmt.Errorf("-k: %w", err)
	}
	return nil
}

const (
	benchTexts = 20_000          // every second one is an edited copy of the one before it
	benchWords = 230             // of a text
	benchTime  = 2 * time.Second // after which no more searches are timed

	benchQueries, benchBatch = 30_000, 1_000_000
	benchChecked             = 4  // searches, compared with brute force
	benchDisk                = 84 // bytes of a fingerprint on disk at most, while its table is compacted
)

// bench is a run of the command.
type bench struct {
	a     *app.App
	c     *Bench
	meter *app.Meter
	row   func(...any) error
	n     int      // fingerprints, with the copies
	rng   splitMix // of queries and texts
}

// Run measures.
func (c *Bench) Run(a *app.App) error {
	b := &bench{a: a, c: c, n: int(c.N) + (int(c.N)+9)/10, rng: 43}
	if err := b.checkDisk(); err != nil {
		return err
	}
	dir, err := a.TempDirIn(c.Dir)
	if err != nil {
		return err
	}
	b.meter = a.Meter()
	defer b.meter.Stop()
	var failure error // after which the rows so far are written
	_, err = a.RowsTo(c.RowFlags, []string{"work", "measure", "value", "unit"}, func(w *output.Writer) error {
		b.row = w.Row
		failure = b.fingerprints(filepath.Join(dir, "fingerprints.simdb"))
		if failure == nil && !c.NoText {
			failure = b.texts(filepath.Join(dir, "texts.simdb"))
		}
		return nil
	})
	b.meter.Stop()
	if err = errors.Join(failure, err); err == nil {
		a.Say("%s, %s/%s, kernel %s, %d processors used", runtime.Version(), runtime.GOOS, runtime.GOARCH, kernel.Name(), runtime.GOMAXPROCS(0))
	}
	return err
}

func (b *bench) figure(work, measure string, value float64, unit string) error {
	return b.row(work, measure, app.Rounded(value, 4), unit)
}

// fingerprints measures what is done with fingerprints.
func (b *bench) fingerprints(path string) (err error) {
	db, err := engine.Create(path, &engine.Options{NoText: true, NoSketch: true, Sync: engine.SyncNever, DisableAutoCompaction: true})
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	err = b.load(db, "fingerprint", b.n, func(i int) engine.Doc {
		return engine.Doc{ID: fmt.Sprintf("%08x", i), Fingerprint: new(b.fingerprint(i))}
	})
	if err != nil {
		return err
	}
	if err := b.space(db); err != nil {
		return err
	}
	queries := make([]engine.Fingerprint, max(min(b.n, benchBatch), benchQueries))
	for i := range queries {
		queries[i] = b.query()
	}
	for _, k := range b.c.K {
		for _, q := range queries[:benchChecked] {
			if err := b.check(db, q, int(k)); err != nil {
				return err
			}
		}
		err := b.searches(fmt.Sprintf("near %d", k), func(i int) error {
			for _, err := range db.Near(b.a.Context(), queries[i], int(k)) {
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return b.joins(db, queries[:min(b.n, benchBatch)], int(slices.Min(b.c.K)))
}

// checkDisk returns an error if the database may not fit on the disk.
func (b *bench) checkDisk() error {
	dir, need := cmp.Or(b.c.Dir, os.TempDir()), benchDisk*int64(b.n)
	if free, known := vfs.Free(dir); known && free < need {
		return fmt.Errorf("%s: %s free, and up to %s are needed: --dir names another folder, --n fewer fingerprints",
			dir, quantity.Bytes(free), quantity.Bytes(need))
	}
	return nil
}

// check compares an answer with brute force.
func (b *bench) check(db *engine.DB, q engine.Fingerprint, k int) error {
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

// load fills a database with n documents, in one table.
func (b *bench) load(db *engine.DB, unit string, n int, doc func(i int) engine.Doc) error {
	start := quantity.Start()
	l, err := db.NewLoader(b.a.Context(), &engine.LoadOptions{})
	if err != nil {
		return err
	}
	for i := range n {
		if err := l.Add(doc(i)); err != nil {
			l.Abort()
			return err
		}
		if i%1024 == 0 {
			b.meter.Report(engine.Progress{Stage: "load", Done: int64(i), Total: int64(n), Unit: "documents"})
		}
	}
	if _, err := l.Close(); err != nil {
		return err
	}
	if err := db.Compact(b.a.Context(), &engine.CompactOptions{Progress: b.meter.Report}); err != nil {
		return err
	}
	return b.figure("load", "mean", float64(start.Elapsed())/float64(n), "ns/"+unit)
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
	return errors.Join(b.figure("index", "size", float64(index)/float64(b.n), "bytes/fingerprint"),
		b.figure("disk", "size", float64(st.DiskBytes)/float64(b.n), "bytes/fingerprint"))
}

// searches times searches, of which the first third warms up.
func (b *bench) searches(work string, search func(i int) error) error {
	var took []time.Duration
	for begin := quantity.Start(); len(took) < benchQueries && begin.Elapsed() < benchTime; {
		start := quantity.Start()
		if err := search(len(took)); err != nil {
			return err
		}
		took = append(took, start.Elapsed())
		if len(took)%256 == 0 { // reporting more often would evict the index from the caches
			b.meter.Report(engine.Progress{Stage: work, Done: int64(len(took)), Total: benchQueries, Unit: "searches"})
		}
	}
	took = took[len(took)/3:]
	slices.Sort(took)
	sum := time.Duration(0)
	for _, d := range took {
		sum += d
	}
	n := len(took)
	return errors.Join(b.figure(work, "p50", float64(took[n/2])/1e3, "us"), b.figure(work, "p99", float64(took[n*99/100])/1e3, "us"),
		b.figure(work, "mean", float64(sum)/float64(n)/1e3, "us"))
}

// joins measures searches done together, and the self-join.
func (b *bench) joins(db *engine.DB, queries []engine.Fingerprint, k int) error {
	b.meter.Report(engine.Progress{Stage: "batch"})
	start := quantity.Start()
	docs := make([]engine.Doc, len(queries))
	for i := range queries {
		docs[i].Fingerprint = &queries[i]
	}
	s, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	for _, err := range s.SearchBatch(b.a.Context(), docs, engine.Near(k)) {
		if err != nil {
			return err
		}
	}
	each := float64(start.Elapsed()) / float64(len(queries)) / 1e3
	if err := b.figure(fmt.Sprintf("batch %d", k), "mean", each, "us"); err != nil {
		return err
	}
	start, n := quantity.Start(), 0
	for _, err := range db.Pairs(b.a.Context(), engine.Near(k), &engine.PairOptions{Unordered: true, Progress: b.meter.Report}) {
		if err != nil {
			return err
		}
		n++
	}
	work := fmt.Sprintf("pairs %d", k)
	return errors.Join(b.figure(work, "total", start.Elapsed().Seconds(), "s"), b.row(work, "found", n, "pairs"))
}

// texts measures what is done with texts.
func (b *bench) texts(path string) (err error) {
	db, err := engine.Create(path, &engine.Options{Sync: engine.SyncNever, DisableAutoCompaction: true})
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	texts, size := make([]string, benchTexts), 0
	var words []string
	for i := range texts {
		if i%2 == 0 {
			words = b.words(benchWords)
		} else {
			words[b.rng.next()%benchWords] = "edited"
		}
		texts[i] = strings.Join(words, " ")
		size += len(texts[i])
	}
	state, start := features.NewFingerprinter(features.Params{Shingle: 3, Sketch: 128}), quantity.Start()
	for _, text := range texts {
		state.Text(text)
	}
	if err := b.figure("text", "fingerprint, sketch", float64(size)/start.Elapsed().Seconds()/1e6, "MB/s"); err != nil {
		return err
	}
	id := func(i int) string { return fmt.Sprintf("%08x", i) }
	if err := b.load(db, "text", len(texts), func(i int) engine.Doc { return engine.Doc{ID: id(i), Text: texts[i]} }); err != nil {
		return err
	}
	const least = 0.8
	return b.searches(fmt.Sprintf("jaccard %g", least), func(i int) error {
		for _, err := range db.Jaccard(b.a.Context(), engine.Doc{ID: id(i * 7919 % benchTexts)}, least) {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// words returns some words, of which few are frequent and many are not.
func (b *bench) words(n int) []string {
	words := make([]string, n)
	for i := range words {
		// The product of two uniform numbers is small more often than large.
		rank := (b.rng.next() % 20_000) * (b.rng.next() % 20_000) / 20_000
		letters := splitMix(rank)
		word := make([]byte, 2+letters.next()%8)
		for at := range word {
			word[at] = 'a' + byte(letters.next()%26)
		}
		words[i] = string(word)
	}
	return words
}

// fingerprint returns fingerprint i: a uniform one, or after all of these a copy. They are not
// kept, so that half a billion take no memory.
func (b *bench) fingerprint(i int) engine.Fingerprint {
	if n := int(b.c.N); i >= n {
		rng := splitMix(i)
		return rng.flip(b.fingerprint((i - n) * 10))
	}
	rng := splitMix(42 + splitMixStep*uint64(i))
	return rng.next()
}

// query returns the next query, which may be near a stored fingerprint.
func (b *bench) query() engine.Fingerprint {
	if b.rng.next()%2 == 0 {
		return b.rng.flip(b.fingerprint(int(b.rng.next() % uint64(b.n))))
	}
	return b.rng.next()
}

type splitMix uint64

const splitMixStep = 0x9e3779b97f4a7c15

func (s *splitMix) next() uint64 {
	*s += splitMixStep
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
