package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// --across and --within-field build stars that only join documents of groups that may join: each
// document is compared with all keepers before it.
func TestAcrossIsBruteForce(t *testing.T) {
	for seed := range exhaustive.Some(t, 3, 6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Chdir(t.TempDir())
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			var lines []string
			var groups []int
			words := strings.Fields("a b c d e f g h i j k l m n o p")
			for n := range 120 {
				text := slices.Clone(words[:8])
				for range rng.IntN(3) {
					text[rng.IntN(8)] = words[rng.IntN(len(words))]
				}
				groups = append(groups, rng.IntN(4))
				field := fmt.Sprintf(`,"g":%d`, groups[n])
				if groups[n] == 3 {
					field = "" // a missing value counts as a value
				}
				lines = append(lines, fmt.Sprintf(`{"id":"%03d","text":%q,"fingerprint":"0x%016x"%s}`, n, strings.Join(text, " "), 1<<rng.IntN(3)|1<<(rng.IntN(3)+8), field))
			}
			write(t, "in.jsonl", strings.Join(lines, "\n")+"\n")
			simdbHere(t, "load", "in.simdb", "in.jsonl")
			for _, by := range [][]string{{"--jaccard", "0.5"}, {"--near", "2"}} {
				goodness := map[[2]string]float64{}
				for row := range strings.Lines(rowsHere(t, append([]string{"pairs", "in.jsonl"}, by...)...)) {
					cells := strings.Split(strings.TrimSpace(row), "\t")
					good, err := strconv.ParseFloat(cells[2], 64)
					if err != nil {
						t.Fatal(err)
					}
					if by[0] == "--near" {
						good = 64 - good
					}
					goodness[[2]string{cells[0], cells[1]}] = good
				}
				for flag, across := range map[string]bool{"--across": true, "--within-field": false} {
					var keepers []int
					want := map[string]string{}
					for n := range groups {
						id, best, most := fmt.Sprintf("%03d", n), "", 0.0
						for _, k := range keepers {
							keeper := fmt.Sprintf("%03d", k)
							if g := goodness[[2]string{keeper, id}]; (groups[k] == groups[n]) != across && g > most {
								best, most = keeper, g
							}
						}
						if best == "" {
							keepers = append(keepers, n)
						} else {
							want[id] = best
						}
					}
					if code, _, talk := simdbHere(t, append([]string{"dedup", "in.jsonl", flag, "g", "-o", "out.jsonl", "-q"}, by...)...); code != 0 {
						t.Fatal(talk)
					}
					got := auditHere(t)
					listsAreBruteForce(t, append(by, flag, "g"), goodness, want, func(a, b string) bool {
						x, _ := strconv.Atoi(a)
						y, _ := strconv.Atoi(b)
						return (groups[x] != groups[y]) == across
					})
					if len(want) < 20 || len(keepers) < 2 || fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%v %s: %d keepers, got\n%v, want\n%v", by, flag, len(keepers), got, want)
					}
				}
			}
		})
	}
}

// listsAreBruteForce compares pairs, clusters and joins of in.jsonl and in.simdb, which have the
// same documents, with brute force: with all pairs that accept matches, and with the keepers of
// stars.
func listsAreBruteForce(t *testing.T, flags []string, goodness map[[2]string]float64, keepers map[string]string, accept func(a, b string) bool) {
	t.Helper()
	rows := func(columns int, args ...string) (all []string) {
		for row := range strings.Lines(rowsHere(t, append(args, flags...)...)) {
			all = append(all, strings.Join(strings.Split(strings.TrimSpace(row), "\t")[:columns], " "))
		}
		slices.Sort(all)
		return all
	}
	var pairs, joined []string
	part := map[string]string{} // for components: the first document
	var find func(id string) string
	find = func(id string) string {
		if p, ok := part[id]; ok && p != id {
			return find(p)
		}
		return id
	}
	for n := range 120 {
		if id := fmt.Sprintf("%03d", n); accept(id, id) {
			joined = append(joined, id+" "+id)
		}
	}
	for p := range goodness {
		if accept(p[0], p[1]) {
			pairs = append(pairs, p[0]+" "+p[1])
			joined = append(joined, p[0]+" "+p[1], p[1]+" "+p[0])
			a, b := find(p[0]), find(p[1])
			part[max(a, b)] = min(a, b)
		}
	}
	clusters := func(data string, mode string) map[string]string { // the keeper of each member
		got, keeper := map[string]string{}, ""
		for row := range strings.Lines(rowsHere(t, append([]string{"clusters", data, "--mode", mode}, flags...)...)) {
			if cells := strings.Split(row, "\t"); cells[2] == "true" {
				keeper = cells[1]
			} else {
				got[cells[1]] = keeper
			}
		}
		return got
	}
	components := map[string]string{}
	for id := range part {
		if find(id) != id {
			components[id] = find(id)
		}
	}
	slices.Sort(pairs)
	slices.Sort(joined)
	for _, data := range []string{"in.jsonl", "in.simdb"} {
		if got := rows(2, "pairs", data); !slices.Equal(got, pairs) || len(pairs) < 20 {
			t.Errorf("pairs %s %v: %d, want %d", data, flags, len(got), len(pairs))
		}
		if got := rows(1, "pairs", data, "--format=count"); got[0] != fmt.Sprint(len(pairs)) {
			t.Errorf("pairs %s %v: %v are counted, want %d", data, flags, got, len(pairs))
		}
		if got := clusters(data, "star"); fmt.Sprint(got) != fmt.Sprint(keepers) {
			t.Errorf("clusters %s %v:\n%v, want\n%v", data, flags, got, keepers)
		}
		if got := clusters(data, "components"); fmt.Sprint(got) != fmt.Sprint(components) {
			t.Errorf("components %s %v:\n%v, want\n%v", data, flags, got, components)
		}
	}
	if got := rows(2, "join", "in.simdb", "in.jsonl"); !slices.Equal(got, joined) {
		t.Errorf("join %v: %d rows, want %d", flags, len(got), len(joined))
	}
	var held []string
	for row := range strings.Lines(rowsHere(t, "join", "in.jsonl", "in.jsonl", "--contains=0.7")) {
		if cells := strings.Split(row, "\t"); accept(cells[0], cells[1]) {
			held = append(held, cells[0]+" "+cells[1])
		}
	}
	for _, by := range []string{"--contains=0.7", "--within=0.7"} {
		var got []string
		for row := range strings.Lines(rowsHere(t, append([]string{"join", "in.jsonl", "in.jsonl", by}, flags[2:]...)...)) {
			if cells := strings.Split(row, "\t"); by == "--within=0.7" {
				got = append(got, cells[1]+" "+cells[0])
			} else {
				got = append(got, cells[0]+" "+cells[1])
			}
		}
		slices.Sort(got)
		slices.Sort(held)
		if !slices.Equal(got, held) || len(held) < 20 {
			t.Errorf("join %s %v: %d rows, want %d", by, flags, len(got), len(held))
		}
	}
}

// auditHere returns the keepers of out.audit.jsonl.
func auditHere(t *testing.T) map[string]string {
	t.Helper()
	b := readFile(t, "out.audit.jsonl")
	got := map[string]string{}
	for line := range strings.Lines(string(b)) {
		var row struct{ ID, Keeper string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row.ID != "" {
			got[row.ID] = row.Keeper
		}
	}
	return got
}
