package main

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/must"
)

// makeTurned makes folders in a new working directory: p with a picture of each of 6 scenes, q with
// turned and mirrored JPEG copies, and r with pictures of other scenes and a flat one. It returns
// the hashes of each picture in all orientations.
func makeTurned(t *testing.T, kind imagehash.Kind) map[string][][]uint64 {
	t.Helper()
	t.Chdir(t.TempDir())
	codes := map[string][][]uint64{}
	put := func(name string, content []byte) {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o777))
		write(t, name, content)
		if p, err := imagehash.Hash(bytes.NewReader(content), kind, imagehash.Options{Orientations: true}); err == nil {
			codes[name] = p.Hashes
		}
	}
	for i := range uint64(6) {
		put(fmt.Sprintf("p/%d.png", i), scene(t, i, 80, 0))
		put(fmt.Sprintf("q/%d.jpg", i), turned(t, scene(t, i, 80, 0), int(i)+1))
		put(fmt.Sprintf("q/%d-upright.jpg", i), scene(t, i, 80, 90))
		put(fmt.Sprintf("r/%d.png", i), scene(t, i+20, 80, 0))
	}
	var flat bytes.Buffer
	png.Encode(&flat, image.NewGray(image.Rect(0, 0, 20, 20)))
	put("r/flat.png", flat.Bytes())
	return codes
}

// turned returns a file with a picture in one of 8 orientations.
func turned(t *testing.T, file []byte, how int) []byte {
	t.Helper()
	m := must.Get(png.Decode(bytes.NewReader(file)))(t)
	w, h := m.Bounds().Dx(), m.Bounds().Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if how&4 != 0 {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			u, v := x, y
			if how&1 != 0 {
				u = w - 1 - x
			}
			if how&2 != 0 {
				v = h - 1 - y
			}
			if how&4 != 0 {
				u, v = v, u
			}
			out.Set(u, v, m.At(x, y))
		}
	}
	var b bytes.Buffer
	must.Do(t, jpeg.Encode(&b, out, &jpeg.Options{Quality: 90}))
	return b.Bytes()
}

// nearestOf returns the least distance of two hashes, one from each list.
func nearestOf(as, bs [][]uint64) int {
	least := 1 << 20
	for _, a := range as {
		for _, b := range bs {
			least = min(least, distanceOf(a, b))
		}
	}
	return least
}

// With --orientations 8, turned and mirrored pictures are found, removed and listed, as brute force
// on their hashes says.
func TestTurnedPictures(t *testing.T) {
	for n := range exhaustive.Some(t, 2, len(imagehash.Kinds())) {
		kind := imagehash.Kinds()[n]
		codes := makeTurned(t, kind)
		images, k := "--images="+kind.String(), kind.Near()
		near := fmt.Sprintf("--near=%d", 2*k)
		names := func(folders ...string) (all []string) {
			for name := range codes {
				if slices.Contains(folders, name[:1]) {
					all = append(all, name)
				}
			}
			slices.Sort(all)
			return all
		}
		simdbHere(t, "load", "p.simdb", images, "p")
		var joined, explained []string
		var fresh []string
		for _, q := range names("q", "r") {
			best := ""
			for _, p := range names("p") {
				d := nearestOf(codes[q], codes[p][:1])
				if row := fmt.Sprintf("%s\t%s\t%d\n", q, p, d); d <= 2*k {
					joined = append(joined, row)
				}
				if row := fmt.Sprintf("%s\t%s\t%d\n", q, p, d); d <= k && (best == "" || d < nearestOf(codes[q], codes[strings.Split(best, "\t")[1]][:1])) {
					best = row
				}
			}
			if best == "" {
				fresh = append(fresh, q+"\n")
			} else {
				explained = append(explained, best)
			}
		}
		if len(explained) < 12 {
			t.Fatalf("%v: of the turned pictures only %d are known by brute force", kind, len(explained))
		}
		if got := rowsHere(t, "join", "p.simdb", "[qr]/*", images, near, "--orientations=8"); strings.Join(sortedLines(got), "") != strings.Join(sorted(joined), "") {
			t.Errorf("%v: join:\n%s\nnot:\n%s", kind, got, strings.Join(joined, ""))
		}
		here := []string{"match", "p.simdb", "q", "r", images, "--orientations=8", fmt.Sprintf("--near=%d", k)}
		if got := rowsHere(t, here...); strings.Join(sortedLines(got), "") != strings.Join(sorted(fresh), "") {
			t.Errorf("%v: match: new are\n%s\nnot:\n%s", kind, got, strings.Join(fresh, ""))
		}
		if got := rowsHere(t, append(here, "--explain")...); got != strings.Join(explained, "") {
			t.Errorf("%v: match --explain\n%s\nnot:\n%s", kind, got, strings.Join(explained, ""))
		}
		var kept, pairs []string
		for i, b := range names("p", "q", "r") {
			like := func(keeper string) bool { return nearestOf(codes[b], codes[keeper]) <= k }
			if !slices.ContainsFunc(kept, like) {
				kept = append(kept, b)
			}
			for _, a := range names("p", "q", "r")[:i] {
				if d := nearestOf(codes[a], codes[b]); d <= 2*k {
					pairs = append(pairs, fmt.Sprintf("%s\t%s\t%d\n", a, b, d))
				}
			}
		}
		if len(kept) > 13 {
			t.Fatalf("%v: %d pictures are kept by brute force", kind, len(kept))
		}
		if got := rowsHere(t, "dedup", images, "--orientations=8", "p", "q", "r", "--audit=a.jsonl"); got != strings.Join(kept, "\n")+"\n" {
			t.Errorf("%v: dedup keeps\n%s\nnot:\n%s", kind, got, strings.Join(kept, "\n"))
		}
		if audit, err := os.ReadFile("a.jsonl"); err != nil || !bytes.Contains(audit, []byte("--orientations 8")) {
			t.Errorf("%v: audit: %v\n%s", kind, err, audit)
		}
		if got := sortedLines(rowsHere(t, "pairs", images, "--orientations=8", "p", "q", "r", near)); !slices.Equal(got, sorted(pairs)) {
			t.Errorf("%v: pairs:\n%s\nnot:\n%s", kind, strings.Join(got, ""), strings.Join(sorted(pairs), ""))
		}
		if got := rowsHere(t, "pairs", images, "--orientations=8", "p", "q", "r", near, "--format=count"); got != fmt.Sprintln(len(pairs)) {
			t.Errorf("%v: %s pairs, not %d", kind, got, len(pairs))
		}
		simdbHere(t, "load", "all.simdb", images, "--orientations=8", "p", "q", "r")
		if got := sortedLines(rowsHere(t, "pairs", "all.simdb", near)); !slices.Equal(got, sorted(pairs)) {
			t.Errorf("%v: pairs of a database:\n%s\nnot:\n%s", kind, strings.Join(got, ""), strings.Join(sorted(pairs), ""))
		}
		within, alike := 4*kind.Bits()/64*3, 0
		for i, b := range names("p", "q", "r") {
			for _, a := range names("p", "q", "r")[:i] {
				if nearestOf(codes[a], codes[b]) <= within {
					alike++
				}
			}
		}
		if got := rowsHere(t, "tune", images, "--orientations=8", "[pqr]/*"); !strings.Contains(got, fmt.Sprintf("--near %d\t0.72\t0.48\t%d\t", within, alike)) {
			t.Errorf("%v: tune has not %d pairs within %d:\n%s", kind, alike, within, got)
		}
		var apart []string
		for _, b := range names("q", "r") {
			like := func(a string) bool { return nearestOf(codes[b], codes[a]) <= k }
			if !slices.ContainsFunc(names("p"), like) && !slices.ContainsFunc(apart, like) {
				apart = append(apart, b)
			}
		}
		simdbHere(t, "hash", images, "--orientations=8", "p", "-o", "codes.csv")
		for _, known := range []string{"p", "p.simdb", "all.simdb", "codes.csv"} {
			in, want := []string{"q", "r"}, strings.Join(apart, "\n")+"\n"
			if known == "all.simdb" { // it has all pictures
				write(t, "new.png", scene(t, 99, 40, 0))
				in, want = append(in, "new.png"), "new.png\n"
			}
			got := rowsHere(t, append([]string{"dedup", images, "--orientations=8", "--against", known, "--audit=b.jsonl"}, in...)...)
			if got != want {
				t.Errorf("%v: dedup --against %s keeps\n%s\nnot:\n%s", kind, known, got, want)
			}
			if audit, err := os.ReadFile("b.jsonl"); err != nil || known == "p" && !bytes.Contains(audit, []byte(`"keeper":"p/1.png"`)) {
				t.Errorf("%v: audit of --against %s: %v\n%s", kind, known, err, audit)
			}
		}
		for _, mode := range []string{"star", "components"} {
			got := rowsHere(t, "clusters", images, "--orientations=8", "p", "q", "r", "--mode="+mode)
			if n := strings.Count(got, "\n"); n != strings.Count(got, "\ttrue\t")+len(names("p", "q", "r"))-len(kept) {
				t.Errorf("%v: clusters --mode=%s\n%s\nnot with as many documents as dedup keeps:\n%s", kind, mode, got, strings.Join(kept, "\n"))
			}
		}
		simdbHere(t, "allow", "p.simdb", "p/1.png", "q/1.jpg")
		if got := rowsHere(t, here...); !strings.Contains(got, "q/1.jpg\n") || strings.Contains(got, "q/2.jpg") {
			t.Errorf("%v: match of an allowed pair: new are\n%s", kind, got)
		}
		want := strings.Join(sorted(append(apart, "q/1.jpg")), "\n") + "\n"
		if got := rowsHere(t, "dedup", images, "--orientations=8", "q", "r", "--against", "p.simdb"); got != want {
			t.Errorf("%v: dedup --against a database with an allowed pair keeps\n%s\nnot:\n%s", kind, got, want)
		}
	}
}

func sorted(lines []string) []string { return slices.Sorted(slices.Values(lines)) }
