package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// A containedDoc is a document with its shingles of three words.
type containedDoc struct {
	id, text string
	set      map[string]bool
}

// quoting returns documents. Many quote others, and some are pages of one template.
func quoting(r *rand.Rand, prefix string, n int, from []containedDoc) (docs []containedDoc) {
	words := func(n int) (all []string) {
		for range n {
			all = append(all, fmt.Sprintf("w%d", r.IntN(300)))
		}
		return all
	}
	template := words(40)
	for i := range n {
		all := words(3 + r.IntN(50))
		if others := append(from[:len(from):len(from)], docs...); len(others) > 0 && r.IntN(2) == 0 {
			quoted := strings.Fields(others[r.IntN(len(others))].text)
			at := r.IntN(len(quoted))
			if all = slices.Concat(all[:len(all)/3], quoted[at:], all[len(all)/3:]); r.IntN(3) == 0 && len(quoted) > at+3 {
				all = quoted[at:] // nothing but the quotation
			}
		} else if r.IntN(4) == 0 {
			all = slices.Concat(template, all[:len(all)/4])
		}
		d := containedDoc{fmt.Sprint(prefix, i), strings.Join(all, " "), map[string]bool{}}
		for k := 0; k+3 <= len(all); k++ {
			d.set[strings.Join(all[k:k+3], " ")] = true
		}
		docs = append(docs, d)
	}
	return docs
}

// share returns the share of the shingles of d that other has.
func (d *containedDoc) share(other *containedDoc) float64 {
	n := 0
	for s := range d.set {
		if other.set[s] {
			n++
		}
	}
	return float64(n) / float64(len(d.set))
}

func lines(docs []containedDoc) string {
	var b strings.Builder
	for _, d := range docs {
		fmt.Fprintf(&b, "{\"id\":%q,\"text\":%q}\n", d.id, d.text)
	}
	return b.String()
}

// TestContained compares join and dedup with --contains and --within with brute force: on a database,
// on files with much memory and with little, and with --against.
func TestContained(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(35, 2))
	stored := quoting(r, "s", 600, nil) // more than a share of a batch
	asked := quoting(r, "q", 200, stored)
	write(t, filepath.Join(dir, "s.jsonl"), lines(stored))
	write(t, filepath.Join(dir, "q.jsonl"), lines(asked))
	simdb(t, dir, "load", "db", "s.jsonl", "-q")
	for n := range exhaustive.Some(t, 2, 4) {
		share := []float64{0.1, 0.5, 0.8, 1}[n]
		for _, flag := range []string{"--contains", "--within"} {
			arg := fmt.Sprint(share)
			var want []string
			for i := range asked {
				q, rows := &asked[i], []containedRow(nil)
				for k := range stored {
					score := q.share(&stored[k])
					if flag == "--within" {
						score = stored[k].share(q)
					}
					if score > 0 && score >= share {
						rows = append(rows, containedRow{stored[k].id, score})
					}
				}
				slices.SortFunc(rows, func(a, b containedRow) int {
					return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.id, b.id))
				})
				for _, row := range rows {
					want = append(want, fmt.Sprintf("%s\t%s\t%v\t0\ttrue\n", q.id, row.id, row.score))
				}
			}
			if len(want) < 10 {
				t.Fatalf("%s %v: only %d rows", flag, share, len(want))
			}
			for _, args := range [][]string{{"db"}, {"s.jsonl"}, {"s.jsonl", "--memory", "128KiB"}, {"db", "--memory", "128KiB"}} {
				got := simdb(t, dir, append([]string{"join", args[0], "q.jsonl", "-q", flag, arg}, args[1:]...)...)
				if got != strings.Join(want, "") {
					t.Errorf("join %q %s %v: %d rows, want %d", args, flag, share, strings.Count(got, "\n"), len(want))
				}
			}
		}
		checkDedupWithin(t, dir, stored, asked, share)
	}
}

type containedRow struct {
	id    string
	score float64
}

// checkDedupWithin removes documents that are in larger ones, or in known ones.
func checkDedupWithin(t *testing.T, dir string, known, docs []containedDoc, share float64) {
	t.Helper()
	order := make([]*containedDoc, len(docs))
	for i := range docs {
		order[i] = &docs[i]
	}
	slices.SortStableFunc(order, func(a, b *containedDoc) int { return len(b.set) - len(a.set) })
	for _, against := range [][]containedDoc{nil, known} {
		var keepers []*containedDoc
		for i := range against {
			keepers = append(keepers, &against[i])
		}
		keeper, keep := map[string]containedRow{}, map[string]bool{}
		for _, d := range order {
			var best containedRow
			for _, k := range keepers {
				if score := d.share(k); score > 0 && score >= share && score > best.score {
					best = containedRow{k.id, score}
				}
			}
			if best.id != "" {
				keeper[d.id] = best
				continue
			}
			keep[d.id] = true
			keepers = append(keepers, d)
		}
		for _, more := range [][]string{{"s.jsonl"}, {"db", "--memory", "1MiB"}} {
			args := []string{"dedup", "q.jsonl", "-q", "-o", "kept.jsonl", "--audit", "audit.jsonl", "--within", fmt.Sprint(share)}
			if against != nil {
				args = append(append(args, "--against"), more...)
			}
			simdb(t, dir, args...)
			kept := linesOf(t, dir, "kept.jsonl")
			var want []string
			for i := range docs {
				if keep[docs[i].id] {
					want = append(want, strings.TrimSpace(lines(docs[i:i+1])))
				}
			}
			if !slices.Equal(kept, want) {
				t.Errorf("%q: %d documents are kept, want %d", args, len(kept), len(want))
			}
			rows := 0
			for _, line := range linesOf(t, dir, "audit.jsonl")[1:] {
				var row struct {
					ID, Keeper string
					Score      float64
				}
				if err := json.Unmarshal([]byte(line), &row); err != nil {
					t.Fatal(err)
				}
				if rows++; keeper[row.ID] != (containedRow{row.Keeper, row.Score}) {
					t.Errorf("%q: %s, want %v", args, line, keeper[row.ID])
				}
			}
			if rows != len(keeper) {
				t.Errorf("%q: %d rows of the audit, want %d", args, rows, len(keeper))
			}
		}
	}
}

func linesOf(t *testing.T, dir, name string) []string {
	t.Helper()
	data, err := readAll(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(data), "\n")
}
