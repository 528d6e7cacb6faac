package dedup

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records/inputs"
)

// shinglesOf returns the shingles of 3 words of a text.
func shinglesOf(text string) map[string]bool {
	words, set := features.Spec{}.Words(text), map[string]bool{}
	for at := 0; len(words) > 0 && (at == 0 || at+3 <= len(words)); at++ {
		set[strings.Join(words[at:min(at+3, len(words))], " ")] = true
	}
	return set
}

// ignoreOracle returns the similarity of pages without the shingles of texts, and without those of
// more than a share of the first pages.
func ignoreOracle(pages []page, first int, ignored []string, common float64) func(a, b int) float64 {
	left, df, n, sets := map[string]bool{}, map[string]int{}, 0, make([]map[string]bool, len(pages))
	for _, text := range ignored {
		for s := range shinglesOf(text) {
			left[s] = true
		}
	}
	for i, p := range pages {
		sets[i] = shinglesOf(p.Text)
		for s := range sets[i] {
			if left[s] {
				delete(sets[i], s)
			}
		}
		if i >= first {
			continue
		}
		for s := range sets[i] {
			df[s]++
		}
		if len(sets[i]) > 0 {
			n++
		}
	}
	for s, documents := range df {
		if common > 0 && documents > 2 && float64(documents) > common*float64(n) {
			for _, set := range sets {
				delete(set, s)
			}
		}
	}
	return func(a, b int) float64 {
		both := 0
		for s := range sets[a] {
			if sets[b][s] {
				both++
			}
		}
		if both == 0 {
			return 0
		}
		return float64(both) / float64(len(sets[a])+len(sets[b])-both)
	}
}

// sitePages returns pages of sites with menus, between which articles are, some of them copies.
func sitePages(r *rand.Rand, n int) (pages []page, menus []string) {
	words := func(of string, n, different int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%s%d ", of, r.IntN(different))
		}
		return b.String()
	}
	for i := range 4 {
		menus = append(menus, words(fmt.Sprint("menu", i, "x"), 5+i*20, 4000))
	}
	for i := range n {
		article := words("w", 4+r.IntN(40), 5000)
		if i > 0 && r.IntN(3) == 0 {
			article = pages[r.IntN(i)].Text + words("w", r.IntN(9), 5000)
		} else {
			article = menus[r.IntN(len(menus))] + article
		}
		pages = append(pages, page{fmt.Sprintf("p%03d", i), article, ""})
	}
	return append(pages, page{"menu", menus[3], ""}, page{"again", menus[3], ""}), menus
}

// TestIgnore compares pairs, and what stays, with brute force without the ignored shingles.
func TestIgnore(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	pages, menus := sitePages(r, 150)
	path, at := writePages(t, pages), map[string]int{}
	for i, p := range pages {
		at[p.ID] = i
	}
	dir := t.TempDir()
	plain, lines := filepath.Join(dir, "menus.txt"), filepath.Join(dir, "menus.jsonl")
	var records strings.Builder
	for i, m := range menus[2:] {
		fmt.Fprintf(&records, "{\"id\":\"%d\",\"text\":%q}\n", i, m)
	}
	across := strings.ReplaceAll(menus[2]+menus[3], " menu2x", "\nmenu2x") // shingles across lines are ignored, too
	for name, text := range map[string]string{plain: across, lines: records.String()} {
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	}
	must.Do(t, storeTexts(filepath.Join(dir, "menus.simdb"), menus))
	for _, tc := range []struct {
		of     inputs.Compared
		texts  []string
		fields bool
	}{
		{of: inputs.Compared{}},
		{of: inputs.Compared{Ignore: plain}, texts: []string{across}},
		{of: inputs.Compared{Ignore: lines}, texts: menus[2:]},
		{of: inputs.Compared{Ignore: filepath.Join(dir, "menus.simdb")}, texts: menus},
		{of: inputs.Compared{IgnoreCommon: 0.1}},
		{of: inputs.Compared{IgnoreCommon: 0.001}},
		{of: inputs.Compared{Ignore: lines, IgnoreCommon: 0.05}, texts: menus[2:]},
		{of: inputs.Compared{Ignore: lines, IgnoreCommon: 0.05}, texts: menus[2:], fields: true},
	} {
		if tc.fields { // weights do not change which features are common; a single field has no other effect
			tc.of.Features.Fields = []engine.Field{{Name: "text", Weight: 2.5}}
		}
		like := ignoreOracle(pages, len(pages), tc.texts, tc.of.IgnoreCommon)
		const threshold = 0.5
		job := Job{By: engine.Jaccard(threshold), Compared: tc.of, Memory: 4 << 20}
		if tc.of.Ignore == lines && !tc.fields {
			job.Agree = []string{"in no text"} // a rule decides
		}
		result := must.Get(job.Run(t.Context(), Files(path)))(t)
		var kept []int
		for i := range pages {
			best := 0.0
			for _, k := range kept {
				best = max(best, like(i, k))
			}
			if best < threshold {
				kept = append(kept, i)
			}
		}
		n := 0
		for got := range result.Kept() {
			if n >= len(kept) || kept[n] != got {
				t.Fatalf("%+v: document %d stays, want %v", tc.of, got, kept)
			}
			n++
		}
		if n != len(kept) || n == len(pages) && tc.of.IgnoreCommon != 0.001 {
			t.Errorf("%+v: %d documents stay, want %d", tc.of, n, len(kept))
		}
		if err := result.Close(); err != nil {
			t.Error(err)
		}
		comparePairs(t, path, Listing{By: engine.Jaccard(threshold), Compared: tc.of}, len(pages), at, like)
		if !tc.fields && tc.of.Ignore != plain && tc.of.IgnoreCommon != 0.001 {
			first := len(pages) * 2 / 3
			ignoreStored(t, pages, first, tc.of, at, ignoreOracle(pages, first, tc.texts, tc.of.IgnoreCommon))
		}
	}
}

// comparePairs compares the pairs of a file with a similarity.
func comparePairs(t *testing.T, path string, job Listing, pages int, at map[string]int, like func(a, b int) float64) {
	env, of := &inputs.Env{}, job.Compared
	src, err := env.NewCollection(t.Context(), []string{path}, inputs.Options{}, inputs.Access{OrFile: true})
	must.Do(t, err)
	found, err := job.Open(t.Context(), env, src)
	must.Do(t, err)
	n := 0
	for p, err := range found.Pairs(t.Context()) {
		must.Do(t, err)
		if s := like(at[p.A], at[p.B]); math.Abs(s-p.Score) > 1e-9 {
			t.Errorf("%+v: %s and %s: %v, want %v", of, p.A, p.B, p.Score, s)
		}
		n++
	}
	want := 0
	for a := range pages {
		for b := range a {
			if like(a, b) >= job.By.T() {
				want++
			}
		}
	}
	if n != want {
		t.Errorf("%+v: %d pairs, want %d", of, n, want)
	}
	if err := found.Close(nil); err != nil {
		t.Error(err)
	}
}

// ignoreStored compares the first pages, in a database, with each other and with the others, and compares
// what matches with a similarity.
func ignoreStored(t *testing.T, pages []page, first int, of inputs.Compared, at map[string]int, like func(a, b int) float64) {
	const threshold = 0.5
	db, dbPath := loadDocs(t, writePages(t, pages[:first]), inputs.Compared{})
	for _, agree := range [][]string{nil, {"in no text"}} { // the latter makes a rule
		comparePairs(t, dbPath, Listing{By: engine.Jaccard(threshold), Agree: agree, Compared: of}, first, at, like)
	}
	lines := writePages(t, pages[first:])
	known := matched(t, db, lines, MatchOptions{By: engine.Jaccard(threshold), Compared: of})
	env := &inputs.Env{}
	src, err := inputs.FileSources([]string{lines})
	must.Do(t, err)
	stored, err := env.OpenStored(dbPath, inputs.Access{})
	must.Do(t, err)
	defer stored.Close(&err)
	j, err := NewJoin(t.Context(), env, src, JoinOptions{By: engine.Jaccard(threshold), Compared: of, Stored: stored, Memory: 1 << 20, Read: lookupRead()})
	must.Do(t, err)
	rows := 0
	for some, err := range j.Rows(t.Context()) {
		must.Do(t, err)
		for _, row := range some {
			if s := like(at[row.Query], at[row.ID]); s < threshold || math.Abs(s-row.Score) > 1e-9 {
				t.Errorf("%+v: join: %s and %s: %v, want %v", of, row.Query, row.ID, row.Score, s)
			}
			rows++
		}
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	want := 0
	for b := first; b < len(pages); b++ {
		best := 0.0
		for a := range first {
			if s := like(a, b); s >= threshold {
				best, want = max(best, s), want+1
			}
		}
		m, is := known[pages[b].ID]
		if is != (best > 0) || is && math.Abs(m.Score-best) > 1e-9 {
			t.Errorf("%+v: match: %s: %v, want %v", of, pages[b].ID, m, best)
		}
	}
	if rows != want || want < 5 {
		t.Errorf("%+v: join: %d rows, want %d", of, rows, want)
	}
}

// storeTexts writes a database of texts.
func storeTexts(path string, texts []string) error {
	db, err := engine.Open(path, nil)
	if err != nil {
		return err
	}
	for i, text := range texts {
		err = errors.Join(err, db.Put(context.Background(), engine.Doc{ID: fmt.Sprint(i), Text: text}))
	}
	return errors.Join(err, db.Close())
}

// TestIgnoreRefuses checks what cannot be ignored, and by what.
func TestIgnoreRefuses(t *testing.T) {
	path := writePages(t, []page{{"a", "one two three four", ""}, {"b", "one two three five", ""}})
	empty := filepath.Join(t.TempDir(), "empty.txt")
	must.Do(t, os.WriteFile(empty, []byte(" \n"), 0o600))
	ignore := inputs.Compared{Ignore: path}
	for i, job := range []Job{
		{By: engine.Levenshtein(0.5), Compared: ignore}, {By: engine.Cosine(0.5), Compared: inputs.Compared{IgnoreCommon: 0.5}}, {Level: Line, Compared: ignore}, {Seen: 0.8, Compared: ignore},
		{Compared: inputs.Compared{Ignore: empty}}, {Compared: inputs.Compared{Ignore: empty + "x"}}, {Compared: inputs.Compared{Ignore: "-"}},
		{Compared: inputs.Compared{IgnoreCommon: 1}}, {Compared: inputs.Compared{IgnoreCommon: -0.1}},
	} {
		if _, err := job.Run(t.Context(), Files(path)); err == nil {
			t.Errorf("job %d: no error", i)
		}
	}
	if err := ignore.NotStored(); err == nil {
		t.Error("a database ignores features")
	}
	prints := must.Get(engine.Open(filepath.Join(t.TempDir(), "prints.simdb"), &engine.Options{NoText: true}))(t)
	defer prints.Close()
	texts, _ := loadDocs(t, path, inputs.Compared{})
	rule := func(text string) *PairRule {
		r := must.Get(ParsePairRule(text))(t)
		return r
	}
	for want, o := range map[string]MatchOptions{
		"indexes of a database are of all features": {By: engine.Near(3), Compared: ignore},
		"leaves out shingles as Shingle sets them":  {Rule: rule("JACCARD(chars:3) >= 0.5"), Compared: ignore},
		"but the rule compares none":                {By: engine.Levenshtein(0.5), Compared: inputs.Compared{IgnoreCommon: 0.1}},
		"Contains cannot be used with Ignore":       {By: engine.Contains(0.5), Compared: ignore},
		"know no table of weights":                  {By: engine.Jaccard(0.5), Compared: inputs.Compared{Weights: inputs.IDF}},
		"so there is nothing to ignore":             {By: engine.Jaccard(0.5), Compared: inputs.Compared{Ignore: empty}},
	} {
		db := texts
		if o.By.Kind() == "near" {
			db = prints
		}
		src := must.Get(inputs.FileSources([]string{path}))(t)
		o.Memory = 1 << 20
		if _, err := NewMatch(t.Context(), &inputs.Env{}, src, db, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestIgnoreAgainst compares a document with those of a database, most of whose shingles are ignored,
// so that a search by its sketches, which have all shingles, would not find it. Fingerprints ignore
// them, too.
func TestIgnoreAgainst(t *testing.T) {
	dir := t.TempDir()
	head := "this work was done for the course on programming by"
	texts := []string{head + " anna: sort all numbers by size and print them twice"}
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("%d other documents %d of no %d interest %d", i, i, i, i))
	}
	template := filepath.Join(dir, "template.txt")
	err := errors.Join(os.WriteFile(template, []byte(head), 0o600), storeTexts(filepath.Join(dir, "known.simdb"), texts))
	must.Do(t, err)
	path := writePages(t, []page{{"a", "sort all numbers by size and print them twice", ""}})
	for _, by := range []engine.Criterion{engine.Jaccard(0.7), engine.Near(16)} {
		for ignore, want := range map[string]int64{template: 1, "": 0} {
			job := Job{By: by, Compared: inputs.Compared{Ignore: ignore}, Against: []string{filepath.Join(dir, "known.simdb")}, DryRun: true}
			result, err := job.Run(t.Context(), Files(path))
			if err != nil || result.Report.Dropped != want {
				t.Fatalf("%v, ignore %q: %v, %+v", by, ignore, err, result)
			}
			if err := result.Close(); err != nil {
				t.Error(err)
			}
			nearStored(t, by, ignore, texts[0], want)
		}
	}
}

// nearStored compares two documents of a database, one of which has a text that may be ignored in part,
// and this one with a line that has the other text.
func nearStored(t *testing.T, by engine.Criterion, ignore, text string, want int64) {
	path, env := filepath.Join(t.TempDir(), "two.simdb"), &inputs.Env{}
	must.Do(t, storeTexts(path, []string{text, "sort all numbers by size and print them twice"}))
	for _, job := range []Listing{{}, {Sample: 2}, {Agree: []string{"in no text"}}} {
		src, err := env.NewCollection(t.Context(), []string{path}, inputs.Options{}, inputs.Access{})
		must.Do(t, err)
		job.By, job.Compared.Ignore = by, ignore
		found, err := job.Open(t.Context(), env, src)
		must.Do(t, err)
		if n, err := found.CountPairs(t.Context()); n != want || err != nil {
			t.Errorf("%v, ignore %q, %+v: %d pairs, %v", by, ignore, job, n, err)
		}
		err = found.Close(nil)
		if src.Stored.Close(&err); err != nil {
			t.Error(err)
		}
	}
	db, _ := loadDocs(t, writePages(t, []page{{"stored", text, ""}}), inputs.Compared{})
	line := writePages(t, []page{{"line", "sort all numbers by size and print them twice", ""}})
	if known := matched(t, db, line, MatchOptions{By: by, Compared: inputs.Compared{Ignore: ignore}}); int64(len(known)) != want {
		t.Errorf("%v, ignore %q: matched %v", by, ignore, known)
	}
}
