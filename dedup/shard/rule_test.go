package shard

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/rulejoin/ruletest"
	"github.com/simdb/simdb/records/inputs"
)

// TestRules compares jobs by rules with one machine, whose results package rulejoin compares with brute
// force: random rules with a JACCARD that finds the pairs, and the short forms.
func TestRules(t *testing.T) {
	settled, err := dedup.ParsePairRule("JACCARD >= 0.4 AND a.year = b.year") // of which one machine makes a criterion
	if err != nil {
		t.Fatal(err)
	}
	jobs := []dedup.Job{
		{Rule: settled}, {Across: "file"}, {By: engine.Jaccard(0.4), WithinField: "year"}, {By: engine.Jaccard(0.3), Agree: []string{"numbers"}, Distinct: []string{"draft"}, Across: "folder"},
	}
	ways := []func(t *testing.T, o Options) error{
		func(t *testing.T, o Options) error { return run(t, o, 2) }, shuffled,
	}
	ran, dropped, cases := 0, 0, 0
	for i := range exhaustive.Some(t, 80, 800) {
		cases++
		rng := rand.New(rand.NewPCG(exhaustive.Seed(t), uint64(i)))
		var job dedup.Job
		if n := rng.IntN(8); n < len(jobs) {
			job = jobs[n]
		} else {
			text := ""
			for range 1 + rng.IntN(2) {
				other, _ := ruletest.Rule(rng, 1+rng.IntN(2), true)
				text += fmt.Sprintf(" OR JACCARD >= 0.%d AND (%s)", 2+rng.IntN(7), other)
			}
			rule, err := dedup.ParsePairRule(text[4:])
			if err != nil || strings.Contains(text, "RECURRING") {
				continue
			}
			job.Rule = rule
		}
		job.Compared.Shingle = 2
		docs := append(ruletest.Docs(rng, 20+rng.IntN(60)), ruletest.Doc{File: "x/a", Text: "z", Year: "7", Name: "z"})
		o := Options{Command: []string{"dedup", "pairs", "clusters"}[i/80%3], Job: job, Patterns: ruletest.Write(t, t.TempDir(), docs), Work: t.TempDir() + "/work", Shards: 2 + rng.IntN(2), Groups: 1 + rng.IntN(5), MaxCell: []int{0, 4}[rng.IntN(2)]}
		o.Job.Output = folder(t)
		if err := ways[i%2](t, o); err != nil {
			t.Fatal(err)
		}
		ran++
		if o.Command == "dedup" {
			want := folder(t)
			one(t, o, want)
			sameFolder(t, want, o.Job.Output)
		} else if got, want := rowsIn(t, o.Job.Output), rowsOf(t, o); !slices.Equal(got, want) {
			t.Errorf("%s %v: got\n%s\nwant\n%s", o.Command, job.Rule, strings.Join(got, "\n"), strings.Join(want, "\n"))
		} else {
			dropped += len(want)
		}
		if t.Failed() {
			t.Fatalf("case %d: %s by %v, %+v", i, o.Command, job.Rule, job)
		}
	}
	if t.Logf("%d rules", ran); ran < cases/3 || cases > 5 && dropped < cases {
		t.Errorf("only %d rules with %d rows", ran, dropped)
	}
}

// A clusters has the members of clusters by their numbers, which one machine gives in another order.
type clusters map[int]*struct {
	keeper string
	rows   []string
}

func (c clusters) add(number int, id string, keep bool, score float64) {
	if c[number] == nil {
		c[number] = new(struct {
			keeper string
			rows   []string
		})
	}
	if c[number].rows = append(c[number].rows, fmt.Sprint(id, " ", score)); keep {
		c[number].keeper = id
	}
}

// sorted returns pairs, and the members of clusters with their keepers.
func (c clusters) sorted(rows []string) []string {
	for _, of := range c {
		for _, r := range of.rows {
			rows = append(rows, r+" "+of.keeper)
		}
	}
	slices.Sort(rows)
	return rows
}

// rowsIn returns the rows in the files of a folder, sorted.
func rowsIn(t *testing.T, dir string) (rows []string) {
	all := clusters{}
	for _, name := range filesBelow(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			var r row
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			if r.ID != nil {
				all.add(int(r.Cluster), *r.ID, *r.Keep, *r.Score)
			} else {
				rows = append(rows, fmt.Sprint(*r.A, " ", *r.B, " ", *r.Score))
			}
		}
	}
	return all.sorted(rows)
}

// rowsOf returns the rows that one machine lists, sorted.
func rowsOf(t *testing.T, o Options) (rows []string) {
	env, all := &inputs.Env{}, clusters{}
	src, err := env.NewCollection(t.Context(), o.Patterns, inputs.Options{}, inputs.Access{OrFile: true})
	if err != nil {
		t.Fatal(err)
	}
	j := o.Job
	of, err := dedup.Listing{By: cmp.Or(j.By, engine.Jaccard(0.8)), Rule: j.Rule, Agree: j.Agree, Distinct: j.Distinct, Across: j.Across, WithinField: j.WithinField, Compared: j.Compared}.Open(t.Context(), env, src)
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range of.Pairs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if o.Command == "pairs" {
			rows = append(rows, fmt.Sprint(p.A, " ", p.B, " ", p.Score))
		}
	}
	for m, err := range of.Clusters(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if o.Command == "clusters" {
			all.add(m.Cluster, m.ID, m.Keep, m.Score)
		}
	}
	if err := of.Close(nil); err != nil {
		t.Fatal(err)
	}
	return all.sorted(rows)
}

// TestRuleErrors checks which rules are refused, and that a field that no document has is an error.
func TestRuleErrors(t *testing.T) {
	rule := func(text string) dedup.Job {
		r, err := dedup.ParsePairRule(text)
		if err != nil {
			t.Fatal(err)
		}
		return dedup.Job{Rule: r}
	}
	for want, job := range map[string]dedup.Job{
		"each alternative of the rule needs": rule("JACCARD >= 0.5 OR a.x = b.x AND LEVENSHTEIN >= 0.5"), "Rule cannot be used with many workers: they find": rule("JACCARD(chars:5) >= 0.5"),
		"find": rule("JACCARD(name) >= 0.5"), "they find": rule("JACCARD < 0.5 AND a.x = b.x"), "which differences recur": rule("JACCARD >= 0.5 AND NOT DIFFERS(RECURRING)"),
		"Across cannot be used with many workers: they compare fields only beside JACCARD": {By: engine.Near(3), Across: "file"}, "recur": {Distinct: []string{"recurring"}},
	} {
		job.Output = folder(t)
		if _, err := New(Options{Command: "dedup", Job: job}, Local{}); err == nil || !errors.Is(err, engine.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", job.Rule, err, want)
		}
	}
	job := rule("JACCARD >= 0.5 AND a.year = b.year AND a.lang != b.lang")
	job.Output = folder(t)
	j := opened(t, Options{Command: "dedup", Job: job, Work: t.TempDir() + "/work", Patterns: ruletest.Write(t, t.TempDir(), []ruletest.Doc{{File: "x/a", Text: "a b c", Year: "1"}})})
	err := errors.Join(atOnce(t.Context(), j, 1)...)
	if err == nil || !strings.Contains(err.Error(), `Rule: no document has a field "lang"`) {
		t.Error(err)
	}
}
