package table

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/pages"
	"github.com/simdb/simdb/internal/vfs"
)

// counted is a file that counts the advice given for its pages.
type counted struct {
	vfs.File
	mu     sync.Mutex
	advice map[vfs.Advice]int
	cached bool // the answer of Cached
}

func (c *counted) Advise(data []byte, from, to int64, a vfs.Advice) bool {
	c.mu.Lock()
	c.advice[a]++
	c.mu.Unlock()
	if from < 0 || from > to || to > int64(len(data)) {
		panic("advice beyond the mapping")
	}
	return c.File.(vfs.Adviser).Advise(data, from, to, a)
}

func (c *counted) Cached([]byte, int64) bool { return c.cached }

// openCounted opens a table with limits for its pages, from a file with no page in memory.
func openCounted(t *testing.T, path string, cached bool, l pages.Limits) (*Reader, *counted) {
	t.Helper()
	old := pageLimits
	pageLimits = func() pages.Limits { return l }
	defer func() { pageLimits = old }()
	f, err := vfs.Disk.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{File: f, advice: make(map[vfs.Advice]int), cached: cached}
	data, unmap, err := f.Mmap()
	if err != nil {
		t.Fatal(err)
	}
	f.(vfs.Adviser).Advise(data, 0, int64(len(data)), vfs.AdviseDrop)
	unmap()
	r, err := OpenFile(c, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, c
}

// TestPages reads tables whose pages are brought into memory in each way, from several goroutines,
// so that some reads coincide with the loading of the table.
func TestPages(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no advice to be taken")
	}
	docs := testDocs(rand.New(rand.NewPCG(183, 184)), 1500)
	data, _ := buildTable(t, testParams, WriterOptions{}, docs)
	path := filepath.Join(t.TempDir(), "a.sst")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name           string
		cached         bool
		limits         pages.Limits
		random, loaded bool
	}{
		{"small", false, pages.Limits{Small: 1 << 40, Budget: 1 << 40}, false, false},
		{"cached", true, pages.Limits{Small: 1, Budget: 1 << 40}, true, false},
		{"loaded", false, pages.Limits{Small: 1, Budget: 1 << 40}, true, true},
		{"random", false, pages.Limits{Small: 1, Budget: 1}, true, false},
		{"no advice", false, pages.Limits{}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, f := openCounted(t, path, c.cached, c.limits)
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() { checkReader(t, r, testParams, docs) })
			}
			if c.loaded {
				all.Go(func() { r.t.Pages.Touched(len(data)) }) // like the reads of many searches
			}
			all.Go(func() {
				if err := r.Verify(context.Background(), nil); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				var out bytes.Buffer
				if _, _, err := Merge(context.Background(), &out, testParams, []MergeInput{{Reader: r}}, MergeOptions{}); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if got := f.advice[vfs.AdviseRandom] > 0; got != c.random {
				t.Errorf("read at random %v, want %v", got, c.random)
			}
			if got := f.advice[vfs.AdviseDrop] > 0; got != c.loaded { // single blocks of IDs are loaded without
				t.Errorf("loaded %v, want %v", got, c.loaded)
			}
			if fetches := f.advice[vfs.AdviseFetch] > 0; fetches != (c.random && !c.cached) {
				t.Errorf("ranges fetched %v", fetches)
			}
		})
	}
}

// TestFetch searches a cold table: everything a search needs must be fetched before it is read, and
// only once.
func TestFetch(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no advice to be taken")
	}
	rng := rand.New(rand.NewPCG(283, 284))
	docs := make([]Document, 60_000)
	for i := range docs {
		docs[i] = Document{ID: []byte{byte(i), byte(i >> 8), byte(i >> 16)}, HasFingerprint: true, Fingerprint: rng.Uint64(), Seq: uint64(i + 1)}
	}
	p := testParams
	p.Sketch = 0
	data, _ := buildTable(t, p, WriterOptions{}, sortedDocs(docs))
	path := filepath.Join(t.TempDir(), "a.sst")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	r, f := openCounted(t, path, false, pages.Limits{Small: 1, Budget: 1})
	opened := f.advice[vfs.AdviseFetch]
	var s NearSearcher
	q := rng.Uint64()
	if _, err := s.Near(r, q, 3, nil); err != nil {
		t.Fatal(err)
	}
	first := f.advice[vfs.AdviseFetch] - opened
	plan, err := s.Plan(r, []Fingerprint{q}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if first < 1 || first > plan.Probes {
		t.Errorf("%d fetches for %d probes", first, plan.Probes)
	}
	if _, err := s.Near(r, q, 3, nil); err != nil {
		t.Fatal(err)
	}
	if again := f.advice[vfs.AdviseFetch] - opened - first; again != 0 {
		t.Errorf("the same search fetches %d ranges again", again)
	}

	// An iteration over the documents reads ahead, but must not load the indexes.
	r, f = openCounted(t, path, false, pages.Limits{Small: 1, Budget: 1 << 40})
	opened = f.advice[vfs.AdviseFetch]
	it := r.Entries()
	for it.Next() {
	}
	if ahead := f.advice[vfs.AdviseFetch] - opened; it.Err() != nil || ahead < 2 || ahead > 20 || f.advice[vfs.AdviseLoad] > 0 {
		t.Errorf("a walk fetches %d times and loads %d times, %v", ahead, f.advice[vfs.AdviseLoad], it.Err())
	}
}
