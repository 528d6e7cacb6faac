package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestIncompleteDecisions has a file whose last line a power cut has left incomplete: all commands that
// read it say so, and do the rest.
func TestIncompleteDecisions(t *testing.T) {
	dir := t.TempDir()
	texts := likeTexts(3, 0)
	write(t, filepath.Join(dir, "in.jsonl"), fmt.Sprintf("{\"id\":\"a\",\"text\":%q}\n{\"id\":\"b\",\"text\":%q}\n{\"id\":\"c\",\"text\":%q}\n", texts[0], texts[0]+" and more", texts[1]))
	write(t, filepath.Join(dir, "d.jsonl"), `{"a":"b","b":"a","decision":"drop"}`+"\n"+`{"a":"c","b":"a","dec`)
	simdb(t, dir, "load", "x.simdb", "in.jsonl", "-q")
	for _, args := range []string{
		"dedup in.jsonl --decisions d.jsonl -o kept.jsonl", "learn in.jsonl d.jsonl", "review x.simdb --jaccard 0.5 --decisions d.jsonl -o page.html", "apply x.simdb d.jsonl",
	} {
		code, _, talk := simdbIn(t, dir, "", strings.Fields(args)...)
		if want := "warning: d.jsonl:2: the last line is incomplete and is ignored\n"; code != 0 || strings.Count(talk, want) != 1 {
			t.Errorf("%s: exit status %d, %q", args, code, talk)
		}
	}
	if got := simdb(t, dir, "x.simdb", "COUNT"); strings.TrimSpace(got) != "2" {
		t.Errorf("%q documents are left", got)
	}
}

// TestDecisionsLikeModel deduplicates families of edited texts with random decisions. The clusters
// must be the same as if each document were compared with all keepers before it, by the pairs and
// similarities that `simdb pairs` lists, without the pairs that decisions separate.
func TestDecisionsLikeModel(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		write(t, filepath.Join(dir, name), text)
	}
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 5))
		const n = 120
		var docs strings.Builder
		for i := range n {
			words := strings.Fields(likeTexts(8, 0)[i%8])
			for range 1 + r.IntN(5) {
				words[r.IntN(len(words))] = fmt.Sprintf("edit%d", r.IntN(1000))
			}
			fmt.Fprintf(&docs, "{\"id\":\"%d\",\"text\":\"%s\"}\n", i, strings.Join(words, " "))
		}
		write("in.jsonl", docs.String())
		kind, apart := map[int]string{}, map[[2]int]bool{}
		var lines strings.Builder
		for range 60 {
			a := r.IntN(n)
			b := (a + 8*(1+r.IntN(n/8-1))) % n
			what := []string{"keep", "drop", "allow", "allow", "allow"}[r.IntN(5)]
			pair := [2]int{min(a, b), max(a, b)}
			if kind[a] != "" || kind[b] != "" || apart[pair] {
				continue // it could contradict an earlier decision
			}
			if what == "allow" {
				apart[pair] = true
			} else {
				kind[a] = what
			}
			fmt.Fprintf(&lines, "{\"a\":\"%d\",\"b\":\"%d\",\"decision\":\"%s\"}\n", a, b, what)
		}
		write("decisions.jsonl", lines.String())
		for _, by := range [][]string{{"--jaccard", "0.4"}, {"--near", "14"}} {
			t.Run(fmt.Sprint(seed, by), func(t *testing.T) {
				like := map[[2]int]float64{}
				for line := range strings.Lines(simdb(t, dir, append([]string{"pairs", "in.jsonl", "--format", "tsv", "-q"}, by...)...)) {
					f := strings.Split(strings.TrimSpace(line), "\t")
					a, _ := strconv.Atoi(f[0])
					b, _ := strconv.Atoi(f[1])
					x, err := strconv.ParseFloat(f[2], 64)
					if err != nil {
						t.Fatal(line)
					}
					if by[0] == "--near" {
						x = 64 - x
					}
					like[[2]int{min(a, b), max(a, b)}] = x
				}
				want, joins := modelDecisions(n, like, kind, apart)
				simdb(t, dir, append([]string{"dedup", "in.jsonl", "-q", "--decisions", "decisions.jsonl", "-o", "kept.jsonl"}, by...)...)
				got := auditedKeepers(t, filepath.Join(dir, "kept.audit.jsonl"))
				if !slices.Equal(got, want) {
					t.Errorf("keepers\n%v, want\n%v", got, want)
				}
				if joins < 20 || len(like) < 100 {
					t.Errorf("%d documents join others, of %d pairs", joins, len(like))
				}
			})
		}
	}
}

// modelDecisions returns the keeper of each document, and how many documents join another.
func modelDecisions(n int, like map[[2]int]float64, kind map[int]string, apart map[[2]int]bool) (keeper []string, joins int) {
	var order, keepers []int
	for _, class := range []string{"keep", "", "drop"} {
		for i := range n {
			if kind[i] == class {
				order = append(order, i)
			}
		}
	}
	keeper = make([]string, n)
	for _, i := range order {
		best, most := -1, 0.0
		for _, k := range keepers {
			pair := [2]int{min(i, k), max(i, k)}
			if x, ok := like[pair]; ok && x > most && !apart[pair] && !(kind[i] == "keep" && kind[k] == "keep") {
				best, most = k, x
			}
		}
		if best >= 0 {
			keeper[i] = strconv.Itoa(best)
			joins++
			continue
		}
		keepers = append(keepers, i)
	}
	return keeper, joins
}

// auditedKeepers returns the keeper of each document according to an audit, "" for kept documents.
func auditedKeepers(t *testing.T, path string) []string {
	t.Helper()
	audit := readFile(t, path)
	keeper := make([]string, 120)
	for i, line := range bytes.Split(bytes.TrimSpace(audit), []byte("\n")) {
		var row struct{ ID, Keeper string }
		if i == 0 {
			continue
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(row.ID)
		if err != nil {
			t.Fatal(err)
		}
		keeper[n] = row.Keeper
	}
	return keeper
}

// A document may be dropped for one that is dropped for a third. Applied again, or with more
// decisions about dropped documents, the file changes no more than is new.
func TestApplyChains(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "in.jsonl", []byte(`{"id":"a","text":"some words here"}`+"\n"+`{"id":"b","text":"some words here too"}`+"\n"+`{"id":"c","text":"some words there"}`+"\n"+`{"id":"d","text":"other words"}`+"\n"))
	simdbHere(t, "load", "x.simdb", "in.jsonl")
	lines := `{"a":"c","b":"b","decision":"drop"}` + "\n" + `{"a":"b","b":"a","decision":"drop"}` + "\n" + `{"a":"d","b":"b","decision":"allow"}` + "\n"
	write(t, "said.jsonl", []byte(lines))
	for _, want := range []string{"2 documents deleted, 1 pair allowed, 0 kept, 0 applied before", "0 documents deleted, 0 pairs allowed, 0 kept, 3 applied before"} {
		if code, _, talk := simdbHere(t, "apply", "x.simdb", "said.jsonl"); code != 0 || !strings.Contains(talk, want) {
			t.Errorf("status %d: %s, want %s", code, talk, want)
		}
	}
	write(t, "said.jsonl", []byte(lines+`{"a":"d","b":"c","decision":"keep"}`+"\n"))
	if code, _, talk := simdbHere(t, "apply", "x.simdb", "said.jsonl"); code != 0 || !strings.Contains(talk, "1 kept, 3 applied before") {
		t.Errorf("status %d: %s", code, talk)
	}
	write(t, "said.jsonl", []byte(`{"a":"d","b":"b","decision":"drop"}`+"\n"))
	if code, _, talk := simdbHere(t, "apply", "x.simdb", "said.jsonl"); code != 2 || !strings.Contains(talk, `said.jsonl:1: x.simdb has no document "b"`) {
		t.Errorf("status %d: %s", code, talk)
	}
	if got := rowsHere(t, "x.simdb", "COUNT"); got != "2\n" {
		t.Errorf("%s documents are left", got)
	}
}

// The audit of match by a rule is reviewed with the rule as its criterion.
func TestReviewOfRule(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "in.jsonl", []byte(`{"id":"a","text":"some words here"}`+"\n"))
	write(t, "new.jsonl", []byte(`{"id":"n","text":"some words here"}`+"\n"))
	simdbHere(t, "load", "x.simdb", "in.jsonl")
	simdbHere(t, "match", "x.simdb", "new.jsonl", "--rule", "JACCARD >= 0.5", "--audit", "audit.jsonl", "-o", "fresh.jsonl")
	code, _, talk := simdbHere(t, "review", "audit.jsonl", "-o", "page.html")
	if page := string(readFile(t, "page.html")); code != 0 || !strings.Contains(page, "Near-duplicates: JACCARD &gt;= 0.5") || strings.Count(page, `"text":"some words here"`) != 2 {
		t.Errorf("status %d: %s", code, talk)
	}
}
