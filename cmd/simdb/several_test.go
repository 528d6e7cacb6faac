package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// codesFile writes a file of documents with one to four fingerprints of w words, many near
// each other, and returns the fingerprints by ID.
func codesFile(t *testing.T, name string, seed uint64, w, n int) (ids []string, codes map[string][][]uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, uint64(w)))
	centers := rand.New(rand.NewPCG(9, uint64(w)))
	var near [][]uint64
	for range 12 {
		near = append(near, nil)
		for range w {
			near[len(near)-1] = append(near[len(near)-1], centers.Uint64())
		}
	}
	codes = map[string][][]uint64{}
	var b strings.Builder
	for i := range n {
		id := fmt.Sprintf("%s%03d", name[:1], i)
		var all []string
		for range 1 + r.IntN(4) {
			code := slices.Clone(near[r.IntN(len(near))])
			for range r.IntN(9 * w) {
				code[r.IntN(w)] ^= 1 << r.IntN(64)
			}
			if r.IntN(3) > 0 {
				for j := range code {
					code[j] = r.Uint64()
				}
			}
			if i > 0 && r.IntN(9) == 0 {
				code = slices.Clone(codes[ids[i-1]][0])
				code[r.IntN(w)] ^= 1 << r.IntN(64)
			}
			codes[id] = append(codes[id], code)
			all = append(all, hexOf(code))
		}
		ids = append(ids, id)
		doc := map[string]any{"id": id, "fingerprints": all, "n": i}
		if i%3 == 0 { // the first fingerprint equals that of other documents
			doc["fingerprint"], doc["fingerprints"] = all[0], all[1:]
		}
		line, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	write(t, name, b.String())
	return ids, codes
}

// Documents with several fingerprints are as near as their nearest two fingerprints, in files and
// in databases.
func TestSeveralFingerprints(t *testing.T) {
	for _, w := range []int{1, 4} {
		t.Chdir(t.TempDir())
		near, k := fmt.Sprintf("--near=%d", 6*w), 6*w
		ids, codes := codesFile(t, "a.jsonl", 1, w, 150)
		questions, asked := codesFile(t, "q.jsonl", 2, w, 120)

		var kept, pairs, joined, fresh, apart []string
		for i, b := range ids {
			if !slices.ContainsFunc(kept, func(a string) bool { return nearestOf(codes[a], codes[b]) <= k }) {
				kept = append(kept, b)
			}
			for _, a := range ids[:i] {
				if d := nearestOf(codes[a], codes[b]); d <= k {
					pairs = append(pairs, fmt.Sprintf("%s\t%s\t%d\n", a, b, d))
				}
			}
		}
		for _, q := range questions {
			known := false
			for _, a := range ids {
				if d := nearestOf(codes[a], asked[q]); d <= k {
					joined, known = append(joined, fmt.Sprintf("%s\t%s\t%d\n", q, a, d)), true
				}
			}
			if !known {
				fresh = append(fresh, q)
			}
			if !known && !slices.ContainsFunc(apart, func(a string) bool { return nearestOf(asked[a], asked[q]) <= k }) {
				apart = append(apart, q)
			}
		}
		if len(pairs) < 100 || len(kept) == len(ids) || len(fresh) == len(apart) || len(joined) < 100 {
			t.Fatalf("%d pairs, %d kept, %d fresh, %d joined", len(pairs), len(kept), len(fresh), len(joined))
		}
		idsOf := func(lines string) (found []string) {
			for line := range strings.Lines(lines) {
				var doc struct{ ID string }
				if err := json.Unmarshal([]byte(line), &doc); err != nil {
					t.Fatal(err)
				}
				found = append(found, doc.ID)
			}
			return found
		}
		same := func(what string, got, want []string) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("%d words: %s:\n%v\nnot:\n%v", w, what, got, want)
			}
		}
		same("dedup keeps", idsOf(rowsHere(t, "dedup", "a.jsonl", near)), kept)
		if code, _, talk := simdbHere(t, "load", "a.simdb", "a.jsonl"); code != 0 {
			t.Fatalf("load: status %d: %s", code, talk)
		}
		for _, of := range []string{"a.jsonl", "a.simdb"} {
			same("pairs "+of, sortedLines(rowsHere(t, "pairs", of, near)), sorted(pairs))
			same("dedup --against "+of, idsOf(rowsHere(t, "dedup", "q.jsonl", near, "--against", of)), apart)
			if got := rowsHere(t, "tune", of); !regexp.MustCompile(fmt.Sprintf(`--near %d\t\S+\t\S+\t%d\t`, k, len(pairs))).MatchString(got) {
				t.Errorf("tune %s has not %d pairs within %d:\n%s", of, len(pairs), k, got)
			}
			same("match", idsOf(rowsHere(t, "match", "a.simdb", "q.jsonl", near)), fresh)
		}
		sameRows(t, "a.simdb", []string{"a.jsonl"}, "clusters", near)
		sameRows(t, "a.simdb", []string{"a.jsonl"}, "clusters", near, "--mode=components")
		same("join", sortedLines(rowsHere(t, "join", "a.simdb", "q.jsonl", near)), sorted(joined))
		same("sample", sortedLines(rowsHere(t, "pairs", "a.jsonl", near, "--sample=1000")), sorted(pairs))
		if got := rowsHere(t, "a.simdb", "GET 'a003'", "--format=jsonl"); !strings.Contains(got, hexOf(codes["a003"][0])) || strings.Contains(got, `"fields":{"fingerprints"`) {
			t.Errorf("stored: %s", got)
		}
		simdbHere(t, "load", "--several", fmt.Sprintf("--bits=%d", 64*w), "new.simdb", "/dev/null")
		same("match --add", idsOf(rowsHere(t, "match", "new.simdb", "a.jsonl", "--add", near)), kept)
	}
}
