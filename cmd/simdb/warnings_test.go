package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWarnings checks that doubts about a result are reported, once, and only where there are any.
func TestWarnings(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "w%d ", r.IntN(5000))
		}
		return b.String()
	}
	var sound, titles, relatives []string
	add := func(list *[]string, text string) {
		line, _ := json.Marshal(map[string]string{"id": fmt.Sprint("d", len(*list)), "text": text})
		*list = append(*list, string(line))
	}
	form := words(100)
	add(&titles, "one title")
	add(&titles, "one title")
	for range 300 {
		changed := strings.Fields(form)
		for range 1 + r.IntN(3) {
			changed[r.IntN(len(changed))] = words(1)
		}
		add(&relatives, strings.Join(changed, " "))
	}
	for range 900 {
		add(&titles, words(1+r.IntN(10)))
	}
	for range 1200 {
		add(&sound, words(40))
	}
	dir := t.TempDir()
	for name, lines := range map[string][]string{"sound.jsonl": sound, "titles.jsonl": titles, "family.jsonl": relatives} {
		write(t, filepath.Join(dir, name), strings.Join(lines, "\n")+"\n")
	}
	short, family := "half of the texts have fewer than ", "warning: 9"
	for args, want := range map[string]string{
		"dedup sound.jsonl --dry-run":                    "",
		"plan family.jsonl --layout 4:1":                 family,
		"plan sound.jsonl --layout 4:1":                  "",
		"dedup titles.jsonl --dry-run":                   short,
		"dedup titles.jsonl --dry-run -q":                "",
		"pairs titles.jsonl --jaccard 0.8 -o p.tsv":      short,
		"pairs titles.jsonl --levenshtein 0.9 -o l.tsv":  "",
		"dedup titles.jsonl --shingle chars:5 --dry-run": "",
	} {
		c := exec.Command("simdb", strings.Fields(args)...)
		c.Dir, c.Env = dir, append(os.Environ(), "COLUMNS=1000")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
		said := strings.Join(strings.Fields(string(out)), " ")
		for _, warning := range []string{short, family} {
			if n := strings.Count(said, warning); n > 1 || (n == 1) != (warning == want) {
				t.Errorf("%s says %q %d times, want %q:\n%s", args, warning, n, want, out)
			}
		}
	}
}
