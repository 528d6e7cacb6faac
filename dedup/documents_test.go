package dedup_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records/inputs"
)

// The pairs of documents of a file.
func ExampleListing() {
	ctx, env := context.Background(), &inputs.Env{}
	src, err := env.NewCollection(ctx, []string{"../examples/licenses.jsonl.gz"}, inputs.Options{}, inputs.Access{OrFile: true})
	if err != nil {
		log.Fatal(err)
	}
	found, err := dedup.Listing{By: engine.Jaccard(0.99)}.Open(ctx, env, src)
	if err != nil {
		log.Fatal(err)
	}
	for p, err := range found.Pairs(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if p.Score < 1 {
			fmt.Printf("%s %s %.4f\n", p.A, p.B, p.Score)
		}
	}
	fmt.Println(found.Listed, "documents, ended with", found.Close(nil))
	// Output:
	// GPL-3.0 GPL-3.0+ 0.9990
	// GPL-3.0+ GPL-3.0-only 0.9990
	// GPL-3.0+ GPL-3.0-or-later 0.9990
	// LGPL-3.0 LGPL-3.0+ 0.9959
	// LGPL-3.0+ LGPL-3.0-only 0.9959
	// LGPL-3.0+ LGPL-3.0-or-later 0.9959
	// 728 documents, ended with <nil>
}

// open opens the job on a file with these lines.
func open(t *testing.T, job dedup.Listing, lines string) (*dedup.Documents, error) {
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	env := &inputs.Env{}
	src, err := env.NewCollection(t.Context(), []string{path}, inputs.Options{}, inputs.Access{OrFile: true})
	if err != nil {
		t.Fatal(err)
	}
	job.TempDir = t.TempDir()
	t.Cleanup(func() {
		if left, err := os.ReadDir(job.TempDir); err != nil || len(left) > 0 {
			t.Errorf("files are left: %v (%v)", left, err)
		}
	})
	return job.Open(t.Context(), env, src)
}

// TestListingCounts checks the counts of a listing, and its error if some input is not a record.
func TestListingCounts(t *testing.T) {
	lines := `{"id":"a","text":"one two three four"}
{"id":"b","text":"one two three four","lang":"en"}
{"id":"b","text":"One two three four"}
not JSON
{"id":"c","fingerprint":"00000000000000ff"}
`
	found, err := open(t, dedup.Listing{By: engine.Jaccard(1), WithinField: "lang"}, lines)
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := found.CountPairs(t.Context())
	if err != nil || pairs != 1 {
		t.Errorf("%d pairs (%v)", pairs, err)
	}
	clusters, err := found.CountClusters(t.Context())
	if err != nil || clusters != 1 {
		t.Errorf("%d clusters (%v)", clusters, err)
	}
	if got := []int64{found.Read, found.Listed, found.Repeated, found.Bare, found.Rejects.N}; fmt.Sprint(got) != "[4 4 1 1 1]" {
		t.Errorf("counts are %v", got)
	}
	if err := found.Close(nil); !errors.Is(err, inputs.ErrRejected) {
		t.Errorf("it ends with %v", err)
	}
}

// TestListingErrors checks that errors of a listing name its fields.
func TestListingErrors(t *testing.T) {
	for want, job := range map[string]dedup.Listing{
		"criterion":        {},
		"a distance of 65": {By: engine.Near(65)},
		"< t <=":           {By: engine.Jaccard(7)},
		"Shingle":          {By: engine.Cosine(0.5), Compared: inputs.Compared{Shingle: 2}},
		"Across":           {By: engine.Near(3), Across: "none"},
		"Near":             {By: engine.Jaccard(0.5)},
		"Sample":           {By: engine.Near(3), Sample: 5, Memory: 10},
	} {
		_, err := open(t, job, `{"id":"c","fingerprint":"00000000000000ff"}`)
		if err == nil || strings.Contains(err.Error(), "--") || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", job, err)
		}
	}
}
