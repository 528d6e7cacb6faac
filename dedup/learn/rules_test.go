package learn

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records/inputs"
)

// TestRulesMean compares what each shape decides about all pairs of random texts with the pairs that
// its rule lists, as dedup and pairs do.
func TestRulesMean(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	words := strings.Fields("red blue 7 12 left right 2024-05-01 2024-05-02 ant bee cat dog elk fox")
	var docs []engine.Doc
	seen := map[string]bool{}
	for len(docs) < 120 {
		var text []string
		if len(docs) > 0 && r.IntN(5) > 0 {
			text = strings.Fields(docs[r.IntN(len(docs))].Text)
		}
		for len(text) < 9 {
			text = append(text, words[r.IntN(len(words))])
		}
		at, w := r.IntN(len(text)), words[r.IntN(len(words))]
		if r.IntN(3) == 0 {
			w = fmt.Sprintf("rare%c%d", 'a'+rune(len(docs)%26), len(docs)) // no other difference has it
		}
		switch r.IntN(3) {
		case 0:
			text[at] = w
		case 1:
			text = append(text, w)
		}
		if s := strings.Join(text, " "); !seen[s] {
			seen[s], docs = true, append(docs, engine.Doc{ID: fmt.Sprint(len(docs)), Text: s})
		}
	}
	c, err := New(t.Context(), docs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	var lines []byte
	for _, d := range docs {
		line, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	if err := os.WriteFile(path, lines, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, s := range shapesOf(len(c.names)) {
		if s.also != always && s.measure > 0 {
			continue // conditions do not depend on the measure, except for counts of recurring differences
		}
		at := []float64{0.5, 0.8}[r.IntN(2)]
		f := fitted{s, at}
		want := map[engine.Pair]bool{}
		for a := range docs {
			for b := range docs[:a] {
				if f.holds(c.traits(b, a)) {
					want[engine.Pair{A: min(docs[a].ID, docs[b].ID), B: max(docs[a].ID, docs[b].ID)}] = true
				}
			}
		}
		rule, err := dedup.ParsePairRule(c.rule(f))
		if err != nil {
			t.Fatal(err)
		}
		got := listed(t, path, rule)
		for p := range want {
			if !got[p] {
				t.Errorf("%v: %v is not listed", rule, p)
			}
		}
		if len(got) != len(want) || len(want) == 0 && s.also != dates {
			t.Errorf("%v: %d pairs, want %d", rule, len(got), len(want))
		}
	}
}

// listed returns the pairs that a rule lists.
func listed(t *testing.T, path string, rule *dedup.PairRule) map[engine.Pair]bool {
	env := &inputs.Env{}
	src, err := env.New(t.Context(), []string{path}, inputs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	of, err := dedup.Listing{Rule: rule, Memory: 16 << 20}.Open(t.Context(), env, src)
	if err != nil {
		t.Fatal(err)
	}
	found := map[engine.Pair]bool{}
	for p, err := range of.Pairs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		found[engine.Pair{A: min(p.A, p.B), B: max(p.A, p.B)}] = true
	}
	if err := of.Close(nil); err != nil {
		t.Fatal(err)
	}
	return found
}
