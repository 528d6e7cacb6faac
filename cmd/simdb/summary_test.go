package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// TestClusterSummary computes the figures of clusters --summary from the rows of clusters and
// pairs. Those of a database are those of its file, and of STATS CLUSTERS.
func TestClusterSummary(t *testing.T) {
	dir := t.TempDir()
	file, err := filepath.Abs("../../examples/licenses.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	simdb(t, dir, "load", "x.simdb", file, "-q")
	rows := func(args ...string) (all [][]string) {
		for line := range strings.Lines(simdb(t, dir, append(args, "-q", "--format", "tsv")...)) {
			all = append(all, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
		return all
	}
	for i := range exhaustive.Some(t, 2, 2) {
		by := [][]string{{"--jaccard", "0.8"}, {"--near", "6"}}[i]
		worse := math.Min
		if by[0] == "--near" {
			worse = math.Max
		}
		like := map[string]float64{}
		for _, p := range rows("pairs", file, by[0], map[string]string{"--near": "12", "--jaccard": "0.55"}[by[0]]) {
			like[p[0]+" "+p[1]], _ = strconv.ParseFloat(p[2], 64)
			like[p[1]+" "+p[0]] = like[p[0]+" "+p[1]]
		}
		var clusters [][]string // ids, the keeper first
		members := 0
		for _, r := range rows(append([]string{"clusters", file}, by...)...) {
			if members++; r[2] == "true" {
				clusters = append(clusters, nil)
			}
			last := &clusters[len(clusters)-1]
			*last = append(*last, r[1])
		}
		number := func(x float64) string { return strconv.FormatFloat(math.Round(x*1e4)/1e4, 'f', -1, 64) }
		want := []string{fmt.Sprintf("clusters %d", len(clusters)), fmt.Sprintf("documents in clusters %d", members)}
		var sizes [20]int
		for i, c := range clusters {
			sizes[bits.Len(uint(len(c)))]++
			if i >= 10 {
				continue
			}
			edge, across := like[c[0]+" "+c[1]], like[c[0]+" "+c[1]]
			for j, a := range c {
				for _, b := range c[:j] {
					if across = worse(across, like[a+" "+b]); b == c[0] {
						edge = worse(edge, like[a+" "+b])
					}
				}
			}
			want = append(want, "largest cluster, weakest edge "+c[0]+" "+number(edge), "largest cluster, diameter "+c[0]+" "+number(across))
		}
		for n, count := range sizes {
			if count > 0 {
				want = append(want, fmt.Sprintf("clusters of %d to %d %d", 1<<(n-1), 1<<n-1, count))
			}
		}
		ofFile := rows(append([]string{"clusters", file, "--summary"}, by...)...)
		ofDB := rows(append([]string{"clusters", "x.simdb", "--summary"}, by...)...)
		statement := map[string]string{"--near": "STATS CLUSTERS NEAR 6", "--jaccard": "STATS CLUSTERS JACCARD 0.8 VERIFY"}[by[0]]
		if stats := rows("x.simdb", statement); fmt.Sprint(stats) != fmt.Sprint(ofDB) {
			t.Errorf("%s:\n%v\nnot\n%v", statement, stats, ofDB)
		}
		var got []string
		edges := 0
		for _, r := range ofDB {
			switch {
			case r[0] == "weakest edge":
				edges++
			case strings.HasPrefix(r[0], "shared"):
			default:
				got = append(got, strings.ReplaceAll(r[0]+" "+r[1]+" "+r[4], "  ", " "))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || edges != 10 {
			t.Errorf("%v: %d weakest edges,\n%s\nwant\n%s", by, edges, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if by[0] == "--jaccard" { // fingerprints are not compared in files
			ofDB = slices.DeleteFunc(ofDB, func(r []string) bool { return r[0] == "shared fingerprint" })
		}
		if fmt.Sprint(ofDB) != fmt.Sprint(ofFile) {
			t.Errorf("%v: of the database\n%v, of the file\n%v", by, ofDB, ofFile)
		}
		if last := ofFile[len(ofFile)-1]; last[0] != "shared shingle" || len(strings.Fields(last[2])) != 3 || last[5] != "true" {
			t.Errorf("%v: the last row is %q", by, last)
		}
	}
}

// --summary json ends standard error with an object of the counts, also of a quiet run.
func TestSummaryJSON(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jsonl")
	lines := `{"id":"a","text":"one two three four"}` + "\n" + `{"id":"b","text":"one two three four"}` + "\n" + `{"id":"c","text":"five six seven"}` + "\nbroken\n"
	write(t, in, lines)
	seconds := 0.0
	for _, c := range []struct{ args, want string }{
		{"dedup IN -o DIR/kept.jsonl --max-errors 1 -q", `{"read":3,"clusters":1,"dropped":1,"kept":2,"rejected":1,`},
		{"load DIR/x.simdb IN --max-errors 1", `{"loaded":3,"rejected":1,"replaced":0,"expired":0,"skipped":0,"not_replacing":0,"empty":0,"bad_utf_8":0,`},
		{"match DIR/x.simdb IN -o DIR/new.jsonl --max-errors 1", `{"read":3,"new":0,"replaced":0,"expired":0,"rejected":1,`},
	} {
		args := strings.Fields(strings.NewReplacer("IN", in, "DIR", dir).Replace(c.args))
		_, _, talk := simdbHere(t, append(args, "--summary", "json")...)
		found := 0
		for line := range strings.Lines(talk) {
			var o map[string]float64
			if json.Unmarshal([]byte(line), &o) != nil || !strings.HasPrefix(line, c.want) {
				continue
			}
			if s, ok := o["seconds"]; ok { // 0.000 is half a millisecond
				seconds += s
				found++
			}
		}
		if found != 1 || strings.Contains(talk, "clusters   ") {
			t.Errorf("%s: %s", c.args, talk)
		}
	}
	if seconds == 0 {
		t.Error("all of it took no time")
	}
}
