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
	"github.com/simdb/simdb/internal/exhaustive"
)

// droppedOf runs a job on texts, and returns how many documents it drops whose ids begin with a prefix.
func droppedOf(t *testing.T, job Job, ids, texts []string, prefix string) (dropped, others int) {
	t.Helper()
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "{\"id\":%q,\"text\":%q}\n", ids[i], text)
	}
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for id := range outcomeOf(t, job, []string{path}) {
		switch {
		case strings.HasPrefix(id, prefix):
			dropped++
		case id != "kept":
			others++
		}
	}
	return dropped, others
}

// randomWord returns a word of two to four syllables.
func randomWord(rng *rand.Rand) string {
	var b strings.Builder
	for range 2 + rng.IntN(3) {
		b.WriteByte("bcdfghklmnprstvw"[rng.IntN(16)])
		b.WriteByte("aeiou"[rng.IntN(5)])
	}
	return b.String()
}

// TestAgreeInvoices drops the rescans of invoices of 20 templates, with letters that were misread, and no
// invoice with other numbers.
func TestAgreeInvoices(t *testing.T) {
	rng := rand.New(rand.NewPCG(exhaustive.Seed(t), 54))
	words := func(n int) string {
		var all []string
		for range n {
			all = append(all, randomWord(rng))
		}
		return strings.Join(all, " ")
	}
	var templates [20][2]string
	for i := range templates {
		templates[i] = [2]string{words(50), words(60)}
	}
	var ids, texts []string
	for i := range 1500 {
		of := templates[rng.IntN(20)]
		texts = append(texts, fmt.Sprintf("Invoice %d of 2026-%02d-%02d %s to %s %s street %d total %d.%02d EUR %s", 100000+i, 1+rng.IntN(12), 1+rng.IntN(28),
			of[0], randomWord(rng), randomWord(rng), rng.IntN(200), rng.IntN(9999), rng.IntN(100), of[1]))
		ids = append(ids, fmt.Sprint("invoice", i))
	}
	for i := range 300 {
		scan := strings.Fields(texts[i])
		for range 4 {
			at := 3 + rng.IntN(50)
			scan[at] = strings.NewReplacer("l", "i", "e", "c", "o", "c", "a", "o").Replace(scan[at])
		}
		ids, texts = append(ids, fmt.Sprint("scan", i)), append(texts, strings.Join(scan, " "))
	}
	scans, wrong := droppedOf(t, Job{By: engine.Jaccard(0.7), Agree: []string{"numbers"}}, ids, texts, "scan")
	if scans != 300 || wrong != 0 {
		t.Errorf("%d of 300 scans are dropped, and %d invoices", scans, wrong)
	}
	if _, wrong := droppedOf(t, Job{By: engine.Jaccard(0.7)}, ids, texts, "scan"); wrong < 1000 {
		t.Errorf("without numbers only %d invoices are dropped: they do not resemble each other", wrong)
	}
}

// TestDistinctOpenings keeps openings of chess: each line is another one with one more move.
func TestDistinctOpenings(t *testing.T) {
	rng := rand.New(rand.NewPCG(exhaustive.Seed(t), 54))
	var moves, ids, texts []string
	for i := range 40 {
		moves = append(moves, fmt.Sprintf("%s%c%d", []string{"", "N", "B"}[rng.IntN(3)], "abcdefgh"[i%8], 3+i/8))
	}
	lines, known := [][]string{nil}, map[string]bool{}
	for len(texts) < 1500 {
		line := slices.Clone(lines[rng.IntN(len(lines))])
		line = append(line, moves[min(rng.IntN(40), rng.IntN(40))])
		if text := strings.Join(line, " "); !known[text] && len(line) < 24 {
			known[text], lines = true, append(lines, line)
			if len(line) > 5 {
				ids, texts = append(ids, fmt.Sprint("line", len(ids))), append(texts, text)
			}
		}
		if len(lines) > 200 {
			lines = lines[100:]
		}
	}
	all, _ := droppedOf(t, Job{}, ids, texts, "line")
	left, _ := droppedOf(t, Job{Distinct: []string{"recurring"}}, ids, texts, "line")
	if all < 300 || left > all/20 {
		t.Errorf("%d lines are dropped, and %d with Distinct", all, left)
	}
	t.Logf("%d of %d lines are dropped, and %d with Distinct", all, len(texts), left)
	rng.Shuffle(len(texts), func(i, j int) { ids[i], ids[j], texts[i], texts[j] = ids[j], ids[i], texts[j], texts[i] })
	ids, texts = append(ids, ids...), append(texts, texts...) // copies of documents change nothing
	for i := range len(ids) / 2 {
		ids[len(ids)/2+i] = fmt.Sprint("copy", i)
	}
	if copies, others := droppedOf(t, Job{Distinct: []string{"recurring"}}, ids, texts, "copy"); copies != 1500 || others > all/20 {
		t.Errorf("of all lines twice, %d copies and %d lines are dropped", copies, others)
	}
}
