package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestContestants compares all answers with brute force.
func TestContestants(t *testing.T) {
	fps, queries := fingerprints(3000, 40, 7)
	fps = append(fps, fps[:50]...) // equal fingerprints
	queries = append(queries, fps[0], 0, ^uint64(0))
	d := &database{path: filepath.Join(t.TempDir(), "bench.simdb"), layout: "4:1"}
	for _, c := range contestants(d) {
		t.Run(c.name, func(t *testing.T) {
			for _, k := range []int{0, 1, 3, 4, 6, 9} {
				x, err := c.build(t.TempDir(), fps, k)
				if err != nil {
					t.Fatal(err)
				}
				if err := checkAnswers(x, fps, queries, k); err != nil {
					t.Error(err)
				}
				if n, err := x.Bytes(); err != nil || n < int64(5*len(fps)) {
					t.Errorf("%d bytes, error %v", n, err)
				}
				if err := x.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestInverted compares the reference answers of `jaccard` with their definition.
func TestInverted(t *testing.T) {
	s := splitmix(3)
	sets := make([][]uint64, 200)
	for i := range sets {
		for range 1 + s.next()%20 {
			sets[i] = append(sets[i], s.next()%40)
		}
		slices.Sort(sets[i])
		sets[i] = slices.Compact(sets[i])
	}
	x := newInverted(sets)
	for _, q := range sets {
		for _, threshold := range []float64{0.3, 0.5, 1} {
			var want []uint32
			for i, set := range sets {
				common := 0
				for _, h := range q {
					if slices.Contains(set, h) {
						common++
					}
				}
				if union := len(q) + len(set) - common; common > 0 && float64(common) >= threshold*float64(union) {
					want = append(want, uint32(i))
				}
			}
			if got := x.atLeast(q, threshold); !slices.Equal(got, want) {
				t.Fatalf("sets %v, want %v", got, want)
			}
		}
	}
}

// TestLSH checks that every set finds itself: equal sets agree in all bands.
func TestLSH(t *testing.T) {
	s := splitmix(3)
	sets := make([][]uint64, 5000)
	for i := range sets {
		for range 10 {
			sets[i] = append(sets[i], s.next())
		}
	}
	l := newLSH(sets, 8, 16)
	for i, set := range sets {
		if got := l.near(l.signature(set)); !slices.Contains(got, uint32(i)) {
			t.Fatalf("set %d finds %v", i, got)
		}
	}
}

// TestTexts runs the contestants of `jaccard` on short texts, whose sketches contain all
// shingles: simdb is then exact, and LSH finds equal texts.
func TestTexts(t *testing.T) {
	c := texts{t: 0.7}
	s := splitmix(3)
	text := func() (words string) {
		for range 40 {
			words += "w" + strconv.Itoa(int(s.next()%10000)) + " "
		}
		return words
	}
	for i := range 300 {
		d := text()
		if i%2 == 1 {
			d = c.docs[i-1] + " tail " + strconv.Itoa(i)
		}
		c.docs = append(c.docs, d)
	}
	c.queries = append(c.queries, c.docs[:40]...)
	sets := newShingleSets()
	for _, d := range c.docs {
		c.sets = append(c.sets, sets.of(d))
	}
	c.asked = c.sets[:40]
	truth := newInverted(c.sets)
	for _, tc := range textContestants {
		c.dir = t.TempDir()
		x, err := tc.build(&c)
		if err != nil {
			t.Fatal(err)
		}
		for q := range c.queries {
			got, err := x.near(q)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			want := truth.atLeast(c.asked[q], c.t)
			if strings.HasPrefix(tc.name, "LSH") {
				got, want = slices.DeleteFunc(got, func(d uint32) bool { return d != uint32(q) }), []uint32{uint32(q)}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, query %d: %v, want %v", tc.name, q, got, want)
			}
		}
		if err := x.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestJudge compares the judgement of a kept file with the definition.
func TestJudge(t *testing.T) {
	texts := []string{"a b c d e f g h", "a b c d e f g h", "a b c d e f g x", "p q r s", "p q r s", "u v"}
	truth := similarPairs(texts, 0.7)
	for _, c := range []struct {
		kept        []bool
		wrong, left int
	}{
		{[]bool{true, false, false, true, false, true}, 0, 0},
		{[]bool{true, true, true, true, true, true}, 0, 4},
		{[]bool{false, false, false, true, false, false}, 4, 0},
		{[]bool{true, true, false, false, true, true}, 0, 1},
	} {
		if wrong, left := judge(truth, c.kept); wrong != c.wrong || left != c.left {
			t.Errorf("%v: %d wrong, %d left; want %d and %d", c.kept, wrong, left, c.wrong, c.left)
		}
	}
}

// TestDedup runs only simdb, on a small file: it must not remove a text wrongly, nor leave a
// pair.
func TestDedup(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.jsonl")
	if _, err := writeTexts(in, []string{"one two three four", "one two three four", "five six seven"}); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "simdb")
	if err := buildSimdb(program); err != nil {
		t.Fatal(err)
	}
	run, err := runPeer(dedupFlags{t: 0.8, simdb: program, limit: time.Minute}, dir, in, "simdb")
	if err != nil || run.count != 2 {
		t.Fatal(err, run)
	}
	if wrong, left := judge(similarPairs([]string{"one two three four", "one two three four", "five six seven"}, 0.8), run.kept); wrong+left > 0 {
		t.Error(wrong, left)
	}
}

// TestKV compares the answers of all contestants of `kv` with the data, for small and large
// documents and for texts.
func TestKV(t *testing.T) {
	for _, f := range []kvFlags{
		{n: 1, size: 60}, {n: 3000, size: 60}, {n: 500, size: 1400}, {n: 300, size: 1400, text: true},
	} {
		f.queries, f.rounds, f.cache, f.limit, f.seed = 20, 1, 1<<20, time.Minute, 5
		data := newDocuments(f)
		for _, c := range kvContestants {
			r, err := f.run(c, data)
			if err != nil {
				t.Errorf("%s, %+v: %v", c.name, f, err)
			}
			if r.bytes < float64(f.size/8) {
				t.Errorf("%s, %+v: %v bytes a document", c.name, f, r.bytes)
			}
		}
	}
}

// TestKVData checks that each document is written once, and has about the requested size.
func TestKVData(t *testing.T) {
	for _, size := range []int{50, 60, 80, 300, 1400} {
		d := newDocuments(kvFlags{n: 1000, size: size, seed: 42})
		if mean := d.mean(); mean < float64(size)*0.9 || mean > float64(size)*1.1 {
			t.Errorf("size %d: mean %v", size, mean)
		}
		written := make([]bool, 1000)
		for i := range written {
			written[d.written(i)] = true
			if !json.Valid(d.value(i)) {
				t.Fatalf("%s is no JSON", d.value(i))
			}
		}
		if slices.Contains(written, false) {
			t.Error("a document is not written")
		}
	}
}
