package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAuditOrder drops equal texts among invalid lines, by rules that keep an early document, a
// late one, or any. The kept lines and the audit together must account for every line, in the order
// of the input.
func TestAuditOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(83, 84))
	for _, rule := range []string{"first", "last", "max:score"} {
		for _, by := range []string{"--near=0", "--jaccard=1"} {
			const lines, texts = 400, 60
			var in []string
			var text, score [lines + 1]int // by line; text 0 for an invalid line
			for n := 1; n <= lines; n++ {
				if r.IntN(20) == 0 {
					in = append(in, "no document\n")
					continue
				}
				text[n], score[n] = 1+r.IntN(texts), r.IntN(10)
				in = append(in, fmt.Sprintf(`{"id":"d%d","text":"these are the words of text %d","score":%d}`+"\n", n, text[n], score[n]))
			}
			keeper := map[int]int{} // the kept line of each text
			for n := 1; n <= lines; n++ {
				if k := keeper[text[n]]; k == 0 || rule == "last" || rule == "max:score" && score[n] > score[k] {
					keeper[text[n]] = n
				}
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "in.jsonl")
			write(t, file, strings.Join(in, ""))
			simdb(t, dir, "dedup", file, by, "--keep", rule, "--rejects", filepath.Join(dir, "bad"), "--max-errors", "100000", "-q", "-o", "kept.jsonl")
			var wantKept, wantAudit strings.Builder
			for n := 1; n <= lines; n++ {
				switch k := keeper[text[n]]; {
				case text[n] == 0:
					fmt.Fprintf(&wantAudit, "%d rejected\n", n)
				case k == n:
					wantKept.WriteString(in[n-1])
				default:
					fmt.Fprintf(&wantAudit, "%d d%d d%d %d %s\n", n, n, k, k, rule)
				}
			}
			kept, err := os.ReadFile(filepath.Join(dir, "kept.jsonl"))
			if err != nil || string(kept) != wantKept.String() {
				t.Errorf("%s %s: %v, kept:\n%s", by, rule, err, kept)
			}
			if got := auditOf(t, filepath.Join(dir, "kept.audit.jsonl")); got != wantAudit.String() {
				t.Errorf("%s %s: audit:\n%s\nwant:\n%s", by, rule, got, wantAudit.String())
			}
		}
	}
}

// auditOf returns an audit as lines of line, id, keeper, keeper's line and rule, or of line and
// rule.
func auditOf(t *testing.T, path string) string {
	t.Helper()
	type auditRow struct {
		ID, Keeper *string
		Line       int64
		KeeperLine *int64 `json:"keeper_line"`
		Rule       string
		Simdb      string // from the head
	}
	var b strings.Builder
	for _, row := range jsonLines[auditRow](t, path) {
		if row.Simdb != "" {
			continue
		}
		if row.ID == nil {
			fmt.Fprintln(&b, row.Line, row.Rule)
			continue
		}
		fmt.Fprintln(&b, row.Line, *row.ID, *row.Keeper, *row.KeeperLine, row.Rule)
	}
	return b.String()
}
