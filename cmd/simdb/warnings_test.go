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

// TestWarnings: what makes an outcome doubtful is said, once, and not where there is nothing.
func TestWarnings(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "w%d ", r.IntN(5000))
		}
		return b.String()
	}
	var docs, sound, titles, forms, relatives, prints []string
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
		add(&forms, form+" "+words(60))
		add(&forms, words(60))
	}
	for range 150 {
		add(&docs, "the page was not found on this server")
		add(&docs, form+"\n\n"+words(60))
		prints = append(prints, fmt.Sprintf("deadbeefcafe1234\tq%d", len(prints)), fmt.Sprintf("%016x\tz%d", 0, len(prints)))
	}
	for range 1200 {
		add(&docs, words(40))
		add(&sound, words(40))
		prints = append(prints, fmt.Sprintf("%016x\tf%d", r.Uint64(), len(prints)))
	}
	dir := t.TempDir()
	for name, lines := range map[string][]string{"docs.jsonl": docs, "sound.jsonl": sound, "titles.jsonl": titles, "forms.jsonl": forms, "family.jsonl": relatives, "prints.tsv": prints} {
		write(t, filepath.Join(dir, name), strings.Join(lines, "\n")+"\n")
	}
	simdb(t, dir, "load", "base.simdb", "prints.tsv", "-q")
	large, template := "documents are in cluster 1", "about so many of the kept share half"
	short := "half of the texts have fewer than "
	family := "warning: 9"
	page, zero, common := "warning: cluster 1 has 150 documents", "150 documents have the fingerprint 0,", "have the fingerprint deadbeefcafe1234"
	for args, want := range map[string][]string{
		"dedup docs.jsonl -o kept.jsonl":                 {large + ", near-duplicates of d0 (docs.jsonl:1);", template},
		"dedup docs.jsonl --dry-run":                     {large, template},
		"dedup sound.jsonl --dry-run":                    nil,
		"dedup prints.tsv --near 3 -o kept.tsv":          {large, zero, common},
		"clusters docs.jsonl --jaccard 0.8 -o c.tsv":     {page + ", 10.0 % of all, near-duplicates of d0;"},
		"load new.simdb prints.tsv":                      {zero, common},
		"clusters base.simdb --near 3 -o c.tsv":          {page},
		"dedup docs.jsonl -q -o quiet.jsonl":             nil,
		"dedup forms.jsonl --dry-run":                    nil, // a line of a page is no part to remove
		"plan family.jsonl --layout 4:1":                 {family},
		"plan sound.jsonl --layout 4:1":                  nil,
		"dedup titles.jsonl --dry-run":                   {short},
		"pairs titles.jsonl --jaccard 0.8 -o p.tsv":      {short},
		"pairs titles.jsonl --levenshtein 0.9 -o l.tsv":  nil,
		"dedup titles.jsonl --shingle chars:5 --dry-run": nil,
	} {
		c := exec.Command("simdb", strings.Fields(args)...)
		c.Dir, c.Env = dir, append(os.Environ(), "COLUMNS=1000")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
		said := strings.Join(strings.Fields(string(out)), " ")
		for _, all := range []string{large, template, page, zero, common, short, family} {
			n, expected := strings.Count(said, all), 0
			for _, w := range want {
				if strings.Contains(w, all) {
					expected = 1
				}
			}
			if n != expected {
				t.Errorf("%s says %q %d times, want %d:\n%s", args, all, n, expected, out)
			}
		}
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("%s does not say %q:\n%s", args, w, out)
			}
		}
	}
}
