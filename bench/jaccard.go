package main

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/simdb/simdb/engine"
)

// textIndex finds the texts that are similar to a query. It knows the queries, which are
// numbered, in advance, so that only the search is timed and not the sketching.
type textIndex interface {
	// near returns the numbers of the texts.
	near(query int) ([]uint32, error)
	close() error
}

// textContestant builds a textIndex.
type textContestant struct {
	name  string
	build func(c *texts) (textIndex, error)
}

// texts is the input of the contestants of `jaccard`.
type texts struct {
	dir           string // a folder for the contestant's use
	t             float64
	docs, queries []string
	sets, asked   [][]uint64 // shingle hashes of docs and queries
}

var textContestants = []textContestant{
	{"simdb ESTIMATE", buildSimdbEstimated},
	{"simdb", buildSimdbText},
	{"LSH 8x16", func(c *texts) (textIndex, error) { return newLSHIndex(c, 8, 16), nil }},
}

// jaccardFlags are the flags of `jaccard`.
type jaccardFlags struct {
	nearFlags
	t     float64
	root  string
	words int
}

// runJaccard makes every contestant find the texts with a similarity of at least t to each query.
func runJaccard(f jaccardFlags) error {
	runtime.GOMAXPROCS(1)
	c := &texts{t: f.t}
	var err error
	if c.docs, c.queries, err = corpus(f.root, f.n, f.queries, f.words, f.seed); err != nil {
		return err
	}
	s := newShingleSets()
	for _, d := range c.docs {
		c.sets = append(c.sets, s.of(d))
	}
	for _, q := range c.queries {
		c.asked = append(c.asked, s.of(q))
	}
	x := newInverted(c.sets)
	truth := make([][]uint32, len(c.asked))
	pairs := 0
	for i, q := range c.asked {
		truth[i] = x.atLeast(q, f.t)
		pairs += len(truth[i])
	}
	fmt.Printf("%d texts, half of them edited copies; %d queries; %d true matches with Jaccard >= %g\n\n", len(c.docs), len(c.queries), pairs, f.t)
	t := newTable(os.Stdout, "", "build us/text", "p50", "p99", "mean", "found/query", "recall", "below t")
	for _, tc := range textContestants {
		if f.only != "" && !slices.Contains(strings.Split(f.only, ","), tc.name) {
			continue
		}
		row, err := tc.run(*c, truth, f)
		if err != nil {
			return fmt.Errorf("%s: %w", tc.name, err)
		}
		t.add(row...)
		fmt.Fprintf(os.Stderr, "%s done\n", tc.name)
	}
	return t.print()
}

// run measures one contestant and returns its row of the table.
func (tc textContestant) run(c texts, truth [][]uint32, f jaccardFlags) (row []string, err error) {
	if c.dir, err = os.MkdirTemp("", "simdb-bench-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(c.dir)
	runtime.GC()
	start := cpuTime()
	x, err := tc.build(&c)
	if err != nil {
		return nil, err
	}
	build := cpuTime() - start
	defer func() {
		if cerr := x.close(); err == nil {
			err = cerr
		}
	}()
	results := make([][]uint32, len(c.queries))
	all, err := measure(len(c.queries), f.rounds, f.limit, func(q int) (err error) {
		results[q], err = x.near(q)
		return err
	})
	if err != nil {
		return nil, err
	}
	found, right, wanted := 0, 0, 0
	for q, got := range results[:len(all)] {
		slices.Sort(got)
		found, wanted = found+len(got), wanted+len(truth[q])
		for _, s := range truth[q] {
			if _, ok := slices.BinarySearch(got, s); ok {
				right++
			}
		}
	}
	return []string{tc.name, fmt.Sprintf("%.1f", float64(build.Nanoseconds())/1000/float64(len(c.docs))),
		microseconds(all.percentile(50)), microseconds(all.percentile(99)), microseconds(all.mean()),
		fmt.Sprintf("%.2f", float64(found)/float64(len(all))),
		fmt.Sprintf("%.2f %%", 100*float64(right)/float64(max(wanted, 1))),
		fmt.Sprintf("%.2f %%", 100*float64(found-right)/float64(max(found, 1)))}, nil
}

type lshIndex struct {
	*lsh
	signatures [][]uint64
}

func newLSHIndex(c *texts, rows, bands int) textIndex {
	x := &lshIndex{lsh: newLSH(c.sets, rows, bands)}
	for _, q := range c.asked {
		x.signatures = append(x.signatures, x.signature(q))
	}
	return x
}

func (x *lshIndex) near(q int) ([]uint32, error) { return x.lsh.near(x.signatures[q]), nil }

func (x *lshIndex) close() error { return nil }

// simdbText is a database of the texts.
type simdbText struct {
	db   *engine.DB
	snap *engine.Snapshot
	ask  func(query int) iter.Seq2[engine.Match, error]
}

// buildSimdbEstimated searches by text among sketches; computing the sketches is part of the measured time.
func buildSimdbEstimated(c *texts) (textIndex, error) {
	x, err := loadTexts(c, &engine.Options{NoText: true, MinJaccard: min(c.t, 0.7)})
	if err != nil {
		return nil, err
	}
	x.ask = func(q int) iter.Seq2[engine.Match, error] {
		return x.snap.Search(ctx, engine.Doc{Text: c.queries[q]}, engine.Jaccard(c.t), nil)
	}
	return x, nil
}

// buildSimdbText searches by text and compares the stored texts; all of this is timed.
func buildSimdbText(c *texts) (textIndex, error) {
	x, err := loadTexts(c, &engine.Options{})
	if err != nil {
		return nil, err
	}
	x.ask = func(q int) iter.Seq2[engine.Match, error] {
		return x.snap.Search(ctx, engine.Doc{Text: c.queries[q]}, engine.Jaccard(c.t), nil)
	}
	return x, nil
}

func loadTexts(c *texts, o *engine.Options) (*simdbText, error) {
	path := filepath.Join(c.dir, "bench.simdb")
	db, err := engine.Create(path, o)
	if err != nil {
		return nil, err
	}
	l, err := db.NewLoader(ctx, &engine.LoadOptions{MemoryBytes: 1 << 30})
	if err != nil {
		return nil, err
	}
	for i, text := range c.docs {
		if err := l.Add(engine.Doc{ID: strconv.Itoa(i), Text: text}); err != nil {
			return nil, err
		}
	}
	if _, err := l.Close(); err != nil {
		return nil, err
	}
	if err := db.Compact(ctx, nil); err != nil {
		return nil, err
	}
	snap, err := db.Snapshot()
	return &simdbText{db: db, snap: snap}, err
}

func (x *simdbText) near(q int) (found []uint32, err error) {
	for m, err := range x.ask(q) {
		if err != nil {
			return nil, err
		}
		i, err := strconv.ParseUint(m.ID, 10, 32)
		if err != nil {
			return nil, err
		}
		found = append(found, uint32(i))
	}
	return found, nil
}

func (x *simdbText) close() error {
	if err := x.snap.Close(); err != nil {
		return err
	}
	return x.db.Close()
}
