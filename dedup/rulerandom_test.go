package dedup

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/outfile"
	"github.com/simdb/simdb/internal/rulejoin/ruletest"
	"github.com/simdb/simdb/records/inputs"
)

// TestRandomRules compares pairs, stars, and what a job drops, by random rules on files with brute
// force. Half of the rules are a similarity of the texts and what else may be a limit of a criterion.
func TestRandomRules(t *testing.T) {
	ran, settled, matched, cases := 0, 0, 0, 0
	for i := range exhaustive.Some(t, 160, 20000) {
		cases++
		rng := rand.New(rand.NewPCG(exhaustive.Seed(t), uint64(i)))
		text, holds := ruletest.Rule(rng, 1+rng.IntN(2), true)
		if rng.IntN(2) == 0 {
			text, holds = ruletest.Limited(rng, true)
		}
		rule, err := ParsePairRule(text)
		if refused := err != nil && (strings.Contains(err.Error(), "only different") || strings.Contains(err.Error(), "contradicts")); refused {
			continue
		} else if err != nil {
			t.Fatal(text, err)
		}
		if r, _, err := (&agreement{rule: rule}).settle(); err != nil {
			t.Fatal(text, err)
		} else if r == nil {
			settled++
		}
		docs := append(ruletest.Docs(rng, 2+rng.IntN(30)), ruletest.Doc{File: "x/a", Text: "z", Name: "z", Year: "7"})
		slices.SortStableFunc(docs, func(a, b ruletest.Doc) int { return strings.Compare(a.File, b.File) })
		if strings.Contains(text, "RECURRING") {
			ruletest.CountRecurring(docs, holds)
		}
		want := map[string]float64{}
		keeper, scores := make([]int, len(docs)), make([]float64, len(docs))
		for b := range docs {
			keeper[b], scores[b] = b, -1
			for a := range b {
				s, _ := holds(&docs[a], &docs[b])
				if s >= 0 {
					want[fmt.Sprintf("%03d %03d", a, b)] = s
				}
				if keeper[a] == a && s > scores[b]+1e-12 {
					keeper[b], scores[b] = a, s
				}
			}
		}
		in, compared := ruletest.Write(t, t.TempDir(), docs), inputs.Compared{Shingle: ruletest.Params.Shingle}
		if !strings.Contains(text, "JACCARD") && !strings.Contains(text, "NEAR") && !strings.Contains(text, "CONTAINS") {
			compared = inputs.Compared{} // a criterion of whole texts refuses it
		}
		got := map[string]float64{}
		of := openListing(t, Listing{Rule: rule, Compared: compared, TempDir: t.TempDir()}, in)
		for p, err := range of.Pairs(t.Context()) {
			if err != nil {
				t.Fatal(text, err)
			}
			got[p.A+" "+p.B] = p.Score
		}
		if !maps.EqualFunc(got, want, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }) {
			t.Fatalf("case %d: %s\n%q\ngot  %v\nwant %v", i, text, docs, got, want)
		}
		if n, err := of.CountPairs(t.Context()); err != nil || int(n) != len(want) {
			t.Fatalf("case %d: %s: %d pairs, want %d; %v", i, text, n, len(want), err)
		}
		last, joined := 0, map[string]int{}
		for m, err := range of.Clusters(t.Context()) {
			if err != nil {
				t.Fatal(text, err)
			}
			n, _ := strconv.Atoi(m.ID)
			if m.Keep {
				last = n
			} else {
				joined[m.ID] = last
			}
			if keeper[n] != last {
				t.Fatalf("case %d: %s\n%q\n%d is in the cluster of %d, want %d", i, text, docs, n, last, keeper[n])
			}
		}
		if err := of.Close(nil); err != nil {
			t.Fatal(err)
		}
		dropped := outcomeOf(t, Job{Rule: rule, Compared: compared}, in)
		for n, k := range keeper {
			id, by := fmt.Sprintf("%03d", n), ""
			if k != n {
				by = fmt.Sprintf("%03d", k)
			}
			if got, _, _ := strings.Cut(dropped[id], " "); got != by || (by != "") != (joined[id] == k && k != n && by != "") {
				t.Fatalf("case %d: %s\n%q\n%s is dropped for %q, want %q, and joins %d", i, text, docs, id, got, by, joined[id])
			}
		}
		ran, matched = ran+1, matched+len(want)
	}
	if t.Logf("%d rules were valid, %d of them criteria, and matched %d pairs", ran, settled, matched); ran < cases/4 || settled < cases/20 || matched < 2*cases {
		t.Errorf("only %d rules were valid, %d of them criteria, and matched %d pairs", ran, settled, matched)
	}
}

// TestLimitsOfStored compares jobs on a database, and beside one of Against, with the same documents in
// a file: limits need the fields of documents in every pass.
func TestLimitsOfStored(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	docs, known := lookupDocs(rng, "d", 120), lookupDocs(rng, "k", 60)
	file := func(docs []engine.Doc) string {
		src, _ := lookupFile(t, docs, false)
		return src.Names[0]
	}
	in, ref := file(docs), file(known)
	ofDocs, ofKnown := lookupDB(t, docs).Path, lookupDB(t, known).Path
	for _, job := range []Job{{WithinField: "g"}, {Across: "g"}, {Rule: pairRule(t, "JACCARD >= 0.4 AND a.g = b.g")}} {
		if job.Rule == nil {
			job.By = engine.Jaccard(0.4)
		}
		want := outcomeOf(t, job, []string{in})
		if got := outcomeOf(t, job, []string{ofDocs}); len(want) < 10 || !maps.Equal(got, want) {
			t.Errorf("%+v: got\n%v\nwant\n%v", job.Rule, got, want)
		}
		job.Against = []string{ref}
		want = outcomeOf(t, job, []string{in})
		job.Against = []string{ofKnown}
		if got := outcomeOf(t, job, []string{in}); len(want) < 10 || !maps.Equal(got, want) {
			t.Errorf("%+v, against a database: got\n%v\nwant\n%v", job.Rule, got, want)
		}
	}
}

// TestMatchByRule compares which documents match by a rule that has limits with searches of the database.
func TestMatchByRule(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	stored, docs := lookupDocs(rng, "s", 60), lookupDocs(rng, "q", 60)
	db, group := lookupDB(t, stored), map[string]string{}
	for _, d := range stored {
		group[d.ID] = string(d.Fields)
	}
	src, lines := lookupFile(t, docs, false)
	want, known := "", 0
	for i, d := range docs {
		matches := false
		for m, err := range db.Search(t.Context(), engine.Doc{Text: d.Text}, engine.Jaccard(0.4), nil) {
			if err != nil {
				t.Fatal(err)
			}
			matches = matches || group[m.ID] != string(d.Fields)
		}
		if matches {
			known++
		} else {
			want += lines[i]
		}
	}
	out := &lookupOut{}
	m, err := NewMatch(t.Context(), &inputs.Env{}, src, db.DB, MatchOptions{
		Rule: pairRule(t, "JACCARD >= 0.4 AND a.g != b.g"), Memory: 1 << 24, Read: lookupRead(), Open: func(outfile.Kind) (MatchOutput, error) { return out, nil },
	})
	if err == nil {
		err = m.Run(t.Context())
	}
	m.Close(err)
	if err != nil || out.String() != want || known < 5 || known > 55 {
		t.Errorf("%d bytes, want %d; %d match; %v", out.Len(), len(want), known, err)
	}
}
