package dedup

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/must"
)

// TestOnlyAgainst compares jobs with OnlyAgainst with jobs on each document alone, in which no
// other input can match.
func TestOnlyAgainst(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	write := func(name, field string, lines []string) string {
		var b strings.Builder
		for i, text := range lines {
			fmt.Fprintf(&b, "{\"id\":\"%d\",%q:%q,\"src\":\"%d\"}\n", i, field, text, r.IntN(3))
		}
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(b.String()), 0o600))
		return path
	}
	texts := func(n int) (all []string) { // few families of texts, so that most have duplicates
		for range n {
			words := strings.Fields(strings.Repeat(fmt.Sprintf("alpha%d beta%[1]d gamma delta%[1]d epsilon zeta%[1]d eta theta ", r.IntN(9)), 2))
			for range r.IntN(4) {
				words[r.IntN(len(words))] = fmt.Sprint("other", r.IntN(3))
			}
			all = append(all, strings.Join(words[:len(words)-r.IntN(4)], " "))
		}
		return all
	}
	known := texts(12)
	against := write("known.jsonl", "question", slices.Concat(known[:5], known[2:7], []string{"", "..."}))
	path := write("in.jsonl", "text", append(texts(60), known[:4]...))
	data := must.Get(os.ReadFile(path))(t)
	var single []string
	for i, line := range slices.Collect(strings.Lines(string(data))) {
		single = append(single, filepath.Join(dir, fmt.Sprint(i, ".jsonl")))
		must.Do(t, os.WriteFile(single[i], []byte(line), 0o600))
	}
	decisions := filepath.Join(dir, "decisions.jsonl")
	must.Do(t, os.WriteFile(decisions, []byte(`{"decision":"allow","a":"60","b":"0"}`+"\n"+`{"decision":"keep","a":"61","b":"0"}`+"\n"), 0o600))
	for _, j := range []Job{
		{By: engine.Near(9), Decisions: decisions}, {By: engine.Jaccard(0.5), Decisions: decisions},
		{By: engine.Jaccard(0.5)}, {By: engine.Jaccard(1)}, {By: engine.Near(0)}, {By: engine.Near(9)}, {By: engine.Near(20), Verify: 0.4},
		{By: engine.Levenshtein(0.8)}, {By: engine.Cosine(0.8)}, {By: engine.Within(0.7)},
		{By: engine.Jaccard(0.5), Across: "src"}, {By: engine.Near(9), WithinField: "src"}, {By: engine.Near(9), Across: "src"},
	} {
		j.Against, j.AgainstTextField = []string{against}, "question"
		kept := func(path string) []int {
			result := must.Get(j.Run(t.Context(), Files(path)))(t)
			defer result.Close()
			return slices.Collect(result.Kept())
		}
		var want []int
		for i, path := range single {
			if len(kept(path)) > 0 {
				want = append(want, i)
			}
		}
		all := kept(path)
		j.OnlyAgainst = true
		if got := kept(path); !slices.Equal(got, want) || len(got) == len(single) || len(got) <= len(all) {
			t.Errorf("%v, across %q: kept %v, want %v", j.By, j.Across+j.WithinField, got, want)
		}
	}
}
