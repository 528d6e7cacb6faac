package verbs

import (
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/grouping"
	"github.com/simdb/simdb/records/inputs"
)

// AlikeFlags are the flags of commands that list what is alike in a database or in files.
type AlikeFlags struct {
	app.SimilarityFlags
	app.VerifyFlags
	grouping.Flags
	app.MemoryFlag
	app.RowFlags
	Sample  app.Quantity `placeholder:"N" help:"List near-duplicates among N documents drawn at random."`
	Seed    uint64       `default:"1" placeholder:"SEED" help:"--sample: another number draws other documents (default: 1)."`
	Threads int          `placeholder:"N" help:"Processors to use; the rows are the same (default: all)."`
	app.RowInputFlags
	app.RejectFlags
	app.FeatureFlags
	TempDir string `placeholder:"FOLDER" help:"Folder for temporary files (default: that of the system)."`

	components bool // of clusters
}

// Validate checks the flags.
func (f *AlikeFlags) Validate() error {
	if f.Threads < 0 {
		return fmt.Errorf("--threads %d: 1 or more", f.Threads)
	}
	if f.Grouped() && f.Sample > 0 {
		return errors.New("--sample draws documents without their files and fields: it is without --across and --within-field")
	}
	return f.CheckImages(f.FileFlags)
}

// useThreads keeps to --threads until the function that it returns is called.
func (f *AlikeFlags) useThreads() (restore func()) {
	if f.Threads == 0 {
		return func() {}
	}
	before := runtime.GOMAXPROCS(f.Threads)
	return func() { runtime.GOMAXPROCS(before) }
}

// alike lists what is alike: in a whole database, or among documents of files or of a sample.
type alike interface {
	countPairs() (int64, error)
	pairs(unordered bool) iter.Seq2[engine.Pair, error]
	countClusters() (int64, error)
	clusters() iter.Seq2[engine.Member, error]
}

// storedList is what is alike in a whole database.
type storedList struct {
	a  *app.App
	s  *inputs.Stored
	by engine.Criterion
	o  *engine.ClusterOptions
}

func (l *storedList) countPairs() (int64, error) {
	var n int64
	for _, err := range l.s.Pairs(l.a.Context(), l.by, &engine.PairOptions{Count: &n, Progress: l.o.Progress}) {
		return 0, err
	}
	return n, nil
}

func (l *storedList) pairs(unordered bool) iter.Seq2[engine.Pair, error] {
	return l.s.Pairs(l.a.Context(), l.by, &engine.PairOptions{Unordered: unordered, Progress: l.o.Progress})
}

func (l *storedList) countClusters() (int64, error) {
	o := *l.o
	o.Count = new(int64)
	for _, err := range l.s.Clusters(l.a.Context(), l.by, &o) {
		return 0, err
	}
	return *o.Count, nil
}

func (l *storedList) clusters() iter.Seq2[engine.Member, error] {
	return l.s.Clusters(l.a.Context(), l.by, l.o)
}
