package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/must"
)

// scene returns a file with a picture of rectangles, as JPEG of a quality, or as PNG if quality is
// 0.
func scene(t *testing.T, seed uint64, size, quality int) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	m := image.NewRGBA(image.Rect(0, 0, 4*size, 3*size))
	draw.Draw(m, m.Rect, image.Black, image.Point{}, draw.Src)
	for range 40 {
		c := color.RGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255}
		x, y := r.IntN(400), r.IntN(300)
		dx, dy := r.IntN(200), r.IntN(150)
		for py := y * size / 100; py < min(3*size, (y+dy)*size/100); py++ {
			for px := x * size / 100; px < min(4*size, (x+dx)*size/100); px++ {
				m.SetRGBA(px, py, c)
			}
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, m)
	if quality > 0 {
		b.Reset()
		err = jpeg.Encode(&b, m, &jpeg.Options{Quality: quality})
	}
	must.Do(t, err)
	return b.Bytes()
}

// makePictures makes a folder p of pictures in a new working directory. For each of 8 scenes it has
// a PNG and two JPEG copies. It also has three flat pictures, two with the same pixels, a broken
// picture with a copy, and a file that is not a picture. It returns the paths of pictures in order.
func makePictures(t *testing.T) (all []string) {
	t.Helper()
	t.Chdir(t.TempDir())
	put := func(name string, content []byte) {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o777))
		write(t, name, content)
		all = append(all, name)
	}
	for i := range uint64(8) {
		put(fmt.Sprintf("p/%d.png", i), scene(t, i, 40, 0))
		put(fmt.Sprintf("p/copies/%d.jpg", i), scene(t, i, 30, 90))
		put(fmt.Sprintf("p/copies/%d-poor.jpeg", i), scene(t, i, 40, 30))
	}
	for name, m := range map[string]draw.Image{
		"p/flat.png": image.NewGray(image.Rect(0, 0, 20, 20)), "p/flat2.png": image.NewRGBA(image.Rect(0, 0, 20, 20)), "p/flat3.png": image.NewGray(image.Rect(0, 0, 20, 21)),
	} {
		draw.Draw(m, m.Bounds(), image.Black, image.Point{}, draw.Src)
		var flat bytes.Buffer
		png.Encode(&flat, m)
		put(name, flat.Bytes())
	}
	put("p/broken.png", scene(t, 1, 40, 0)[:500])
	put("p/broken2.png", scene(t, 1, 40, 0)[:500])
	put("p/notes.txt", []byte("no picture"))
	all = all[:len(all)-1]
	slices.Sort(all)
	return all
}

// hashesOf returns the hashes of pictures, and substitutes for flat and broken pictures.
func hashesOf(t *testing.T, kind imagehash.Kind, names []string) map[string][]uint64 {
	t.Helper()
	hashes := map[string][]uint64{}
	for _, name := range names {
		f := readFile(t, name)
		p, err := imagehash.Hash(bytes.NewReader(f), kind, imagehash.Options{})
		if err == nil {
			hashes[name] = p.Hashes[0]
			continue
		}
		if hashes[name], err = imagehash.Sum(bytes.NewReader(f), kind); err != nil {
			t.Fatal(err)
		}
	}
	return hashes
}

func distanceOf(a, b []uint64) (d int) {
	for i := range a {
		d += bits.OnesCount64(a[i] ^ b[i])
	}
	return d
}

// Pictures are removed, found and listed as brute force on their hashes says, with one command on a
// folder. Pictures without a hash are kept, counted and named.
func TestPictures(t *testing.T) {
	names := makePictures(t)
	for _, kind := range imagehash.Kinds() {
		hashes := hashesOf(t, kind, names)
		images := "--images=" + kind.String()
		k := map[int]int{64: 8, 256: 31}[kind.Bits()]

		var kept []string
		for _, name := range names {
			like := func(keeper string) bool {
				return hashes[name] != nil && hashes[keeper] != nil && distanceOf(hashes[name], hashes[keeper]) <= k
			}
			if !slices.ContainsFunc(kept, like) {
				kept = append(kept, name)
			}
		}
		if len(kept) > 14 {
			t.Fatalf("%v: %d of %d pictures are kept, by brute force", kind, len(kept), len(names))
		}
		code, _, talk := simdbHere(t, "dedup", images, "p", "-o", "kept.txt")
		list, err := os.ReadFile("kept.txt")
		if code != 0 || err != nil || string(list) != strings.Join(kept, "\n")+"\n" {
			t.Fatalf("%v: status %d, %v: %s\n%s\nnot:\n%s", kind, code, err, talk, list, strings.Join(kept, "\n"))
		}
		for _, text := range []string{
			"p/broken.png: cannot be decoded: ", "3 flat, 2 cannot be decoded", "not read: 1 .txt",
			fmt.Sprintf("at most %d of the %d bits of their %v hashes differ, the default", k, kind.Bits(), kind),
		} {
			if !strings.Contains(strings.Join(strings.Fields(talk), " "), text) {
				t.Errorf("dedup %s does not say %q:\n%s", images, text, talk)
			}
		}
		left := string(readFile(t, "kept.rejects.txt"))
		if lines := strings.Split(left, "\n"); len(lines) != 4 || !strings.Contains(left, "p/broken2.png\tcannot be decoded: ") || !strings.Contains(left, "p/notes.txt\tnot a picture") {
			t.Errorf("%v: not read or not compared:\n%s", kind, left)
		}
		for _, args := range [][]string{{"p/3.png", "p/copies"}, {"p/copies", "p/3.png"}} { // without a database
			code, rows, talk := simdbHere(t, "join", args[0], args[1], images)
			if want := map[bool]string{true: "p/copies/3.jpg\tp/3.png\t", false: "p/3.png\tp/copies/3.jpg\t"}[args[0] == "p/3.png"]; code != 0 || !strings.Contains(rows, want) {
				t.Errorf("%v: join %v: status %d: %s%s", kind, args, code, rows, talk)
			}
		}
		audit := readFile(t, "kept.audit.jsonl")
		rows := bytes.Split(bytes.TrimSpace(audit), []byte("\n"))
		if len(rows)-1 != len(names)-len(kept) || !bytes.Contains(rows[0], []byte("--images "+kind.String())) {
			t.Errorf("%v: audit\n%s", kind, audit)
		}
		for _, line := range rows[1:] {
			var row struct {
				ID, Keeper string
				Distance   int
			}
			if err := json.Unmarshal(line, &row); err != nil || row.Distance != distanceOf(hashes[row.ID], hashes[row.Keeper]) || row.Distance > k {
				t.Errorf("%v: %v: %s", kind, err, line)
			}
		}

		near := fmt.Sprintf("--near=%d", 2*k)
		var pairs []string
		for _, a := range names {
			for _, b := range names {
				if d := 0; a < b && hashes[a] != nil && hashes[b] != nil {
					if d = distanceOf(hashes[a], hashes[b]); d <= 2*k {
						pairs = append(pairs, fmt.Sprintf("%s\t%s\t%d\n", a, b, d))
					}
				}
			}
		}
		slices.Sort(pairs)
		if got := sortedLines(rowsHere(t, "pairs", images, "p", near)); !slices.Equal(got, pairs) {
			t.Errorf("pairs %s %s:\n%s\nnot:\n%s", images, near, strings.Join(got, ""), strings.Join(pairs, ""))
		}
		db := kind.String() + ".simdb"
		if code, _, talk := simdbHere(t, "load", db, images, "p"); code != 0 || !strings.Contains(talk, "29 documents loaded") || !strings.Contains(talk, "only for equality: 3 flat, 2 cannot be decoded") {
			t.Fatalf("load %s: status %d: %s", images, code, talk)
		}
		if got := sortedLines(rowsHere(t, "pairs", db, near)); !slices.Equal(got, pairs) {
			t.Errorf("pairs %s %s:\n%s\nnot:\n%s", db, near, strings.Join(got, ""), strings.Join(pairs, ""))
		}
		sameRows(t, db, []string{images, "p"}, "clusters", near)
		if got := rowsHere(t, "tune", images, "p", "--format=table"); !strings.Contains(got, "\n    simdb dedup p --near ") || !strings.Contains(got, " --images "+kind.String()+" -o kept.txt\n") {
			t.Errorf("tune %s:\n%s", images, got)
		}
		var codes strings.Builder // of the same pictures, named relative to the folder
		for _, name := range names {
			if hashes[name] != nil {
				fmt.Fprintf(&codes, "%s\t%s\n", hexOf(hashes[name]), strings.TrimPrefix(name, "p/"))
			}
		}
		os.WriteFile("codes.txt", []byte(codes.String()), 0o666)
		simdbHere(t, "dedup", "codes.txt", fmt.Sprintf("--near=%d", k), "-o", "keptcodes.txt")
		for _, args := range [][]string{{"kept.audit.jsonl"}, {db, fmt.Sprintf("--near=%d", k)}, {"keptcodes.audit.jsonl", "--image-root=p"}, {"keptcodes.audit.jsonl"}} {
			code, _, talk := simdbHere(t, append([]string{"review", "-o", "page.html"}, args...)...)
			page, err := os.ReadFile("page.html")
			bits := fmt.Sprintf(`"bits":["%s"]`, hexOf(hashes["p/1.png"]))
			found := bytes.Contains(page, []byte(`"picture":"p/1.png",`+bits)) && !strings.Contains(talk, "not found")
			if args[len(args)-1] == "keptcodes.audit.jsonl" {
				found = bytes.Contains(page, []byte(bits)) && !bytes.Contains(page, []byte(`"picture":`)) && strings.Contains(talk, "pictures were not found: name their folder with --image-root")
			}
			if err != nil || code != 0 || !found || bytes.Contains(page, []byte(`"text":`)) || !bytes.Contains(page, []byte("Pairs by distance")) {
				t.Errorf("review %v: status %d, %v: %s\n%s", args, code, err, talk, page)
			}
			os.Remove("page.html")
		}
		var joined []string
		for a := range hashes {
			for b := range hashes {
				if d := distanceOf(hashes[a], hashes[b]); strings.HasPrefix(a, "p/copies/") && d <= 2*k {
					joined = append(joined, fmt.Sprintf("%s\t%s\t%d\n", a, b, d))
				}
			}
		}
		slices.Sort(joined)
		if got := sortedLines(rowsHere(t, "join", db, "p/copies", images, near)); !slices.Equal(got, joined) {
			t.Errorf("join %s %s:\n%s\nnot:\n%s", db, near, strings.Join(got, ""), strings.Join(joined, ""))
		}
		write(t, "new.png", scene(t, 99, 40, 0))
		if code, got, talk := simdbHere(t, "match", db, "p/copies", "new.png", images); code != 0 || got != "new.png\n" || !strings.Contains(talk, "hashes differ, the default") {
			t.Errorf("match %s: status %d: %s; new are\n%s", images, code, talk, got)
		}
		for _, args := range [][]string{{"pairs", images, "p"}, {"clusters", images, "p"}, {"join", db, "p/copies", images}} {
			if got, want := rowsHere(t, args...), rowsHere(t, append(args, fmt.Sprintf("--near=%d", k))...); got != want {
				t.Errorf("%v:\n%s\nnot, with a distance:\n%s", args, got, want)
			}
		}
		if got := rowsHere(t, db, "GET 'p/3.png'", "--format=jsonl"); !strings.Contains(got, `"width":160,"height":120,"format":"png"}`) {
			t.Errorf("stored: %s", got)
		}
		code, rowsOf, talk := simdbHere(t, "hash", images, "p/3.png", "p/flat.png")
		if want := fmt.Sprintf("p/3.png\t%s\t", hexOf(hashes["p/3.png"])); code != 0 || !strings.HasPrefix(rowsOf, want) || strings.Count(rowsOf, "\n") != 1 {
			t.Errorf("hash %s: status %d: %s%s\nnot %s", images, code, rowsOf, talk, want)
		}
		d := distanceOf(hashes["p/3.png"], hashes["p/copies/3.jpg"])
		want := fmt.Sprintf("p/3.png\tp/copies/3.jpg\t%d\t%v\n", d, 1-float64(d)/float64(kind.Bits()))
		if got := rowsHere(t, "hash", images, "--compare", "p/3.png", "p/copies/3.jpg"); got != want {
			t.Errorf("hash --compare: %q, not %q", got, want)
		}
		all := rowsHere(t, "hash", images, "p/3.png", "--orientations=8")
		if !strings.HasPrefix(all, "p/3.png\toriginal\t"+hexOf(hashes["p/3.png"])) || strings.Count(all, "\n") != 8 || !strings.Contains(all, "\trotate180\t") {
			t.Errorf("hash --orientations=8:\n%s", all)
		}
	}
	mirrored(t, "p/3.png", "new.png")
	if code, rows, talk := simdbHere(t, "join", "pdq.simdb", "new.png", "--images=pdq", "--near=60"); code != 1 {
		t.Errorf("a mirrored picture is like one as it is: status %d: %s%s", code, rows, talk)
	}
	simdbHere(t, "hash", "--images=pdq", "new.png", "--orientations=8", "-o", "codes.csv")
	if got := rowsHere(t, "join", "pdq.simdb", "codes.csv", "--near=60"); !strings.Contains(got, "new.png\tp/3.png\t") || strings.Contains(got, "p/4.png") {
		t.Errorf("a mirrored picture is like\n%s", got)
	}
	if got := rowsHere(t, "dedup", "--images=pdq", "--keep=max:width,max:quality", "p/copies/3.jpg", "p/3.png"); got != "p/3.png\n" {
		t.Errorf("the widest: %s", got)
	}
	for want, args := range map[string][]string{
		"it is a picture: --images pdq compares pictures":                                          {"hash", "p/3.png"},
		"--jaccard cannot be used with --images":                                                   {"dedup", "--images=pdq", "p", "--jaccard=0.8"},
		"the documents have fingerprints but no texts":                                             {"match", "pdq.simdb", "--images=pdq", "p", "--jaccard=0.8"},
		"has 8 fingerprints, but pdq.simdb was created for one, without --several":                 {"load", "pdq.simdb", "--images=pdq", "p", "--orientations=8"},
		"--orientations needs --images":                                                            {"dedup", "kept.txt", "--orientations=8"},
		"want one of pdq, dhash, phash, dhash256":                                                  {"load", "x.simdb", "--images=md5", "p"},
		"with --images each file is one picture":                                                   {"load", "x.simdb", "--images=pdq", "p", "--text-field=x"},
		"--images compares picture hashes: --shingle":                                              {"pairs", "--images=pdq", "p", "--near=3", "--shingle=5"},
		"picture hashes: --bits":                                                                   {"load", "x.simdb", "--images=pdq", "p", "--bits=64"},
		"picture hashes: --min-words":                                                              {"hash", "--images=pdq", "p", "--min-words=2"},
		"--mask cannot be used with --images":                                                      {"dedup", "--images=pdq", "p", "--mask=dates"},
		"p is a folder; --images pdq compares the pictures in it, --files reads":                   {"dedup", "p"},
		"no document of 1 file could be used":                                                      {"hash", "--images=pdq", "p/flat.png"},
		"--exclude and --hidden need --files or --images":                                          {"dedup", "--hidden", "p/notes.txt"},
		"--compare needs two, not 1":                                                               {"hash", "--images=pdq", "--compare", "p/3.png"},
		"does not rotate pictures: remove --orientations 8":                                        {"hash", "--images=pdq", "--compare", "p/3.png", "p/4.png", "--orientations=8"},
		"pdq.simdb has pdq hashes, which cannot be compared with the hashes of --images dhash256":  {"match", "pdq.simdb", "--images=dhash256", "p", "--near=3"},
		"dhash.simdb has dhash hashes, which cannot be compared with the hashes of --images phash": {"load", "dhash.simdb", "--images=phash", "p"},
		"phash.simdb has phash hashes, which cannot be compared with the hashes of --images dhash": {"join", "phash.simdb", "--images=dhash", "p", "--near=3"},
	} {
		if code, _, talk := simdbHere(t, args...); code != 2 || !strings.Contains(talk, want) {
			t.Errorf("%v: status %d: %s", args, code, talk)
		}
	}
}

// mirrored makes a file with a mirrored picture.
func mirrored(t *testing.T, from, to string) {
	t.Helper()
	f := must.Get(os.Open(from))(t)
	defer f.Close()
	m := must.Get(png.Decode(f))(t)
	r := image.NewRGBA(m.Bounds())
	for y := range r.Rect.Dy() {
		for x := range r.Rect.Dx() {
			r.Set(r.Rect.Dx()-1-x, y, m.At(x, y))
		}
	}
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, r))
	write(t, to, b.Bytes())
}

func hexOf(words []uint64) (s string) {
	for _, w := range words {
		s += fmt.Sprintf("%016x", w)
	}
	return s
}
