package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// --across and --within-field are stars in which only documents of groups that may join do: each
// document is compared with all keepers before it.
func TestAcrossIsBruteForce(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Chdir(t.TempDir())
			rng := rand.New(rand.NewPCG(seed, 1))
			var lines []string
			var groups []int
			words := strings.Fields("a b c d e f g h i j k l m n o p")
			for n := range 120 {
				text := slices.Clone(words[:8])
				for range rng.IntN(3) {
					text[rng.IntN(8)] = words[rng.IntN(len(words))]
				}
				groups = append(groups, rng.IntN(3))
				lines = append(lines, fmt.Sprintf(`{"id":"%03d","text":%q,"fingerprint":"0x%016x","g":%d}`, n, strings.Join(text, " "), 1<<rng.IntN(3)|1<<(rng.IntN(3)+8), groups[n]))
			}
			if err := os.WriteFile("in.jsonl", []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
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
					if len(want) < 20 || len(keepers) < 2 || fmt.Sprint(got) != fmt.Sprint(want) {
						t.Errorf("%v %s: %d keepers, got\n%v, want\n%v", by, flag, len(keepers), got, want)
					}
				}
			}
		})
	}
}

// auditHere returns the keepers of out.audit.jsonl.
func auditHere(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("out.audit.jsonl")
	if err != nil {
		t.Fatal(err)
	}
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
