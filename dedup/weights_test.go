package dedup

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records/inputs"
)

// page is a document of the tests of weights.
type page struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Site string `json:"site"`
}

// writePages writes pages as a file.
func writePages(t *testing.T, pages []page) string {
	t.Helper()
	var lines []byte
	for _, p := range pages {
		line := must.Get(json.Marshal(p))(t)
		lines = append(append(lines, line...), '\n')
	}
	path := filepath.Join(t.TempDir(), "pages.jsonl")
	must.Do(t, os.WriteFile(path, lines, 0o600))
	return path
}

// idfOracle returns the similarity of pages by shingles of 3 words, weighted by idf.
func idfOracle(pages []page) func(a, b int) float64 {
	df, sets := map[string]float64{}, make([]map[string]bool, len(pages))
	for i, p := range pages {
		words := features.Spec{}.Words(p.Text)
		sets[i] = map[string]bool{}
		for at := 0; at == 0 || at+3 <= len(words); at++ {
			sets[i][strings.Join(words[at:min(at+3, len(words))], " ")] = true
		}
		for s := range sets[i] {
			df[s]++
		}
	}
	known := map[[2]int]float64{}
	return func(a, b int) float64 {
		if s, ok := known[[2]int{min(a, b), max(a, b)}]; ok {
			return s
		}
		least, most := 0.0, 0.0
		for s := range sets[a] {
			w := math.Log(float64(len(pages)+1)/(df[s]+1)) + 1
			if most += w; sets[b][s] {
				least += w
			}
		}
		for s := range sets[b] {
			if !sets[a][s] {
				most += math.Log(float64(len(pages)+1)/(df[s]+1)) + 1
			}
		}
		known[[2]int{min(a, b), max(a, b)}] = least / most
		return least / most
	}
}

// TestIDF compares pairs of licences, weighted by idf, with brute force: all of them, and those of
// different sites only. It also compares clusters, which an audit lists.
func TestIDF(t *testing.T) {
	var pages []page
	for i, d := range corpora.Docs(t, "../examples/licenses.jsonl.gz") {
		if i < 110 && len(d.Text) < 8000 {
			pages = append(pages, page{d.ID, d.Text, fmt.Sprint(i % 2)})
		}
	}
	path, like, at := writePages(t, pages), idfOracle(pages), map[string]int{}
	for i, p := range pages {
		at[p.ID] = i
	}
	const threshold = 0.6
	for _, across := range []string{"", "site"} {
		env := &inputs.Env{}
		src, err := env.NewCollection(t.Context(), []string{path}, inputs.Options{}, inputs.Access{OrFile: true})
		must.Do(t, err)
		found, err := Listing{By: engine.Jaccard(threshold), Compared: inputs.Compared{Weights: inputs.IDF}, Across: across, Memory: 8 << 20}.Open(t.Context(), env, src)
		must.Do(t, err)
		got := map[[2]int]float64{}
		for p, err := range found.Pairs(t.Context()) {
			must.Do(t, err)
			got[[2]int{min(at[p.A], at[p.B]), max(at[p.A], at[p.B])}] = p.Score
		}
		must.Do(t, found.Close(nil))
		n := 0
		for b := range pages {
			for a := range b {
				s := like(a, b)
				if across != "" && pages[a].Site == pages[b].Site || s < threshold {
					continue
				}
				n++
				if score, ok := got[[2]int{a, b}]; !ok || math.Abs(score-s) > 1e-12 {
					t.Errorf("across %q: %s and %s: %v, want %v", across, pages[a].ID, pages[b].ID, score, s)
				}
			}
		}
		if len(got) != n || n < 10 {
			t.Errorf("across %q: %d pairs, want %d", across, len(got), n)
		}
	}
	dropped := map[string]string{}
	job := Job{By: engine.Jaccard(threshold), Compared: inputs.Compared{Weights: inputs.IDF}, DryRun: true}
	job.Audited = func(row *AuditRow) error {
		dropped[*row.ID] = *row.Keeper
		if s := like(at[*row.ID], at[*row.Keeper]); math.Abs(*row.Score-s) > 1e-12 {
			t.Errorf("%s and %s: %v, want %v", *row.ID, *row.Keeper, *row.Score, s)
		}
		return nil
	}
	must.Get(job.Run(t.Context(), Files(path)))(t)
	var kept []int
	for i, p := range pages {
		best, high := -1, threshold
		for _, k := range kept {
			if s := like(i, k); s >= high && (best < 0 || s > high+1e-12) {
				best, high = k, s
			}
		}
		if best < 0 {
			kept = append(kept, i)
			continue
		}
		if dropped[p.ID] != pages[best].ID {
			t.Errorf("%s has the keeper %q, want %s", p.ID, dropped[p.ID], pages[best].ID)
		}
	}
	if len(dropped) != len(pages)-len(kept) {
		t.Errorf("%d documents are dropped, want %d", len(dropped), len(pages)-len(kept))
	}
}

// TestMenus checks that pages of one site, with one menu and different articles, stay apart if
// features are weighted by idf, and that copies do not.
func TestMenus(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	words := func(of string, n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%s%d ", of, r.IntN(5000))
		}
		return b.String()
	}
	menu := words("menu", 300)
	var pages []page
	for i := range 40 {
		text := menu + words("article", 30)
		pages = append(pages, page{fmt.Sprintf("p%02d", i), text, ""})
		if i%10 == 0 {
			pages = append(pages, page{fmt.Sprintf("copy%02d", i), text + "and more", ""})
		}
	}
	path := writePages(t, pages)
	for weights, want := range map[string][2]int64{"": {1, 43}, inputs.IDF: {4, 4}} {
		job := Job{By: engine.Jaccard(0.8), Compared: inputs.Compared{Weights: weights}, DryRun: true}
		got, err := job.Run(t.Context(), Files(path))
		if err != nil || got.Report.Clusters != want[0] || got.Report.Dropped != want[1] {
			t.Errorf("weights %q: %d clusters, %d dropped; want %v; %v", weights, got.Report.Clusters, got.Report.Dropped, want, err)
		}
	}
}

// TestWeightsDoNotCompose checks that criteria that compare no weights refuse them.
func TestWeightsDoNotCompose(t *testing.T) {
	path := writePages(t, []page{{"a", "one two three four", ""}, {"b", "one two three five", ""}})
	weights := inputs.Compared{Weights: inputs.IDF}
	fields := inputs.Compared{Features: engine.Features{Fields: []engine.Field{{Name: "text", Weight: 1.5}}}}
	for i, job := range []Job{
		{By: engine.Within(0.5), Compared: weights}, {By: engine.Within(0.5), Compared: fields}, {By: engine.Cosine(0.5), Compared: weights},
		{Level: Paragraph, Compared: weights}, {Compared: inputs.Compared{Weights: filepath.Join(t.TempDir(), "none")}},
	} {
		job.DryRun = true
		if _, err := job.Run(t.Context(), Files(path)); err == nil {
			t.Errorf("job %d: no error", i)
		}
	}
	small := Job{Compared: weights, Memory: 64, DryRun: true}
	if _, err := small.Run(t.Context(), Files(path)); !errors.Is(err, engine.ErrTooLarge) || !slices.Contains(strings.Fields(err.Error()), "Memory") {
		t.Errorf("little memory: %v", err)
	}
}
