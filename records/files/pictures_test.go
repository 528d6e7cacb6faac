package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// scene returns a picture of rectangles.
func scene(seed uint64, w, h int) image.Image {
	r := rand.New(rand.NewPCG(seed, 0))
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(m, m.Rect, image.Black, image.Point{}, draw.Src)
	for range 40 {
		c := color.RGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255}
		x, y, dx, dy := r.Float64(), r.Float64(), r.Float64()/2, r.Float64()/2
		for py := int(y * float64(h)); py < min(h, int((y+dy)*float64(h))); py++ {
			for px := int(x * float64(w)); px < min(w, int((x+dx)*float64(w))); px++ {
				m.SetRGBA(px, py, c)
			}
		}
	}
	return m
}

// pngOf and jpegOf encode a picture as a file.
func pngOf(m image.Image) string {
	var b bytes.Buffer
	png.Encode(&b, m)
	return b.String()
}

func jpegOf(m image.Image) string {
	var b bytes.Buffer
	jpeg.Encode(&b, m, nil)
	return b.String()
}

// readPictures returns the records of a list of pictures as "id hash fields", "id ? flaw" or "!
// issue".
func readPictures(t *testing.T, tree *Tree, opt records.Options) (got []string) {
	t.Helper()
	src := must.Get(tree.Open(opt))(t)
	end := opt.After
	for rec, err := range src.Records(t.Context()) {
		if end++; rec != nil && rec.End != end {
			t.Errorf("%s ends at %d, not at %d", rec.Doc.ID, rec.End, end)
		}
		switch is, ok := errors.AsType[*records.Issue](err); {
		case ok:
			got = append(got, "! "+slashed(is.Error()))
			continue
		case err != nil:
			t.Fatal(err)
		case rec.Flaw != "":
			f, _ := os.ReadFile(rec.Doc.ID)
			if sum, err := imagehash.Sum(bytes.NewReader(f), *tree.images); err != nil || !slices.Equal(slices.Concat(rec.Doc.Fingerprints...), sum) {
				t.Errorf("%s: %x, want that of its bytes, %x", rec.Doc.ID, rec.Doc.Fingerprints, sum)
			}
			got = append(got, rec.Doc.ID+" ? "+rec.Flaw)
		default:
			first := []uint64{}
			if fps := rec.Doc.Fingerprints; fps != nil {
				first = fps[0]
			}
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %x %s", rec.Doc.ID, first, rec.Doc.Fields)))
		}
		if string(rec.Raw) != rec.Doc.ID || rec.Doc.ID != rec.File || rec.Doc.Text != "" {
			t.Errorf("%s: record %+v", rec.Doc.ID, rec)
		}
	}
	return got
}

// TestPictures reads pictures in the order of names, with any number of workers. It checks the hash
// and the fields of each one, and the reasons for pictures without a hash.
func TestPictures(t *testing.T) {
	a, b := pngOf(scene(1, 80, 60)), jpegOf(scene(2, 64, 48))
	makeFiles(t, "d/a.png", a, "d/b.JPG", b, "d/cut.jpg", b[:100], "d/flat.png", pngOf(image.NewGray(image.Rect(0, 0, 9, 9))),
		"d/fake.gif", "no picture", "d/notes.txt", "x", "d/README", "x", "d/list.TXT", "x", "d/.hidden.png", a, "d/sub/c.png", a,
		"d/gone.png", a, "d/sub/noending", b, "named", b, "other.txt", "text")
	for _, kind := range imagehash.Kinds() {
		tree := must.Get(List([]string{"d", "named", "other.txt"}, ListOptions{Images: &kind}))(t)
		size := tree.Size()
		os.Rename("d/gone.png", "gone")
		of := func(name string) string {
			f := must.Get(os.ReadFile(name))(t)
			p := must.Get(imagehash.Hash(bytes.NewReader(f), kind, imagehash.Options{}))(t)
			quality := ""
			if kind == imagehash.PDQ {
				quality = fmt.Sprintf(`"quality":%d,`, p.Quality)
			}
			info := must.Get(os.Stat(name))(t)
			own := strings.TrimSuffix(string(entry{path: name, info: info}.fields(nil)), "}")
			return fmt.Sprintf(`%s %x %s,%s"width":%d,"height":%d,"format":"%s"}`, name, p.Hashes[0], own, quality, p.Width, p.Height, p.Format)
		}
		want := []string{
			of("d/a.png"), of("d/b.JPG"), "d/cut.jpg ? cannot be decoded: unexpected EOF",
			"d/fake.gif ? not a picture: not a JPEG, PNG, GIF, WebP, BMP, TIFF or ICO file", of("d/flat.png"),
			"! d/gone.png: no such file or directory", of("d/sub/c.png"), of("d/sub/noending"), of("named"),
			"other.txt ? not a picture: not a JPEG, PNG, GIF, WebP, BMP, TIFF or ICO file",
		}
		for _, workers := range []int{1, 3} {
			opt := records.Options{Workers: workers}
			if got := readPictures(t, tree, opt); !slices.Equal(got, want) {
				t.Fatalf("%v, %d workers:\n%s\nnot:\n%s", kind, workers, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if got, want := tree.Skipped(), "pictures without a hash, compared only for equality: 2 not a picture, 1 cannot be decoded, 1 flat"; !strings.HasSuffix(got, want) {
				t.Errorf("%v: skipped %q, not %q", kind, got, want)
			}
			if _, counts := tree.Left(); counts.String() != "2 .txt, 1 without an ending" {
				t.Errorf("not read: %s", counts)
			}
			if opt.After = 7; !slices.Equal(readPictures(t, tree, opt), want[7:]) {
				t.Errorf("after 7: %q", readPictures(t, tree, opt))
			}
		}
		os.Rename("gone", "d/gone.png")
		src := must.Get(tree.Open(records.Options{}))(t)
		for _, err := range src.Records(t.Context()) {
			must.Do(t, err)
		}
		if done, all := src.Progress(); done != size || all != size {
			t.Errorf("%d of %d bytes read, there are %d", done, all, size)
		}
		before := tree.Skipped()
		ids := readPictures(t, tree, records.Options{Need: records.NeedID}) // no picture is decoded
		if len(ids) != len(want) || ids[2] != "d/cut.jpg []" || tree.Skipped() != before {
			t.Errorf("only ids: %q, skipped %q", ids, tree.Skipped())
		}
	}
}

// TestPictureMemory decodes pictures that need more than their share of the memory one at a time,
// and refuses pictures that need more than the whole memory.
func TestPictureMemory(t *testing.T) {
	small, large := pngOf(scene(1, 40, 30)), pngOf(scene(2, 400, 300))
	makeFiles(t, "1.png", small, "2.png", large, "3.png", small, "4.png", large)
	tree := must.Get(List([]string{"."}, ListOptions{Images: new(imagehash.DHash)}))(t)
	whole := readPictures(t, tree, records.Options{})
	const enough = 400*300*20 + 100<<10
	if got := readPictures(t, tree, records.Options{Workers: 4, Memory: enough}); !slices.Equal(got, whole) {
		t.Errorf("in %d bytes: %q", enough, got)
	}
	got := readPictures(t, tree, records.Options{Workers: 4, Memory: enough / 2})
	for i, text := range got {
		if tooLarge := strings.Contains(text, "? too large: 400 x 300 pixels") && strings.HasSuffix(text, "; Memory gives more"); i%2 == 0 && text != whole[i] || i%2 == 1 && !tooLarge {
			t.Errorf("in half of it: %s", text)
		}
	}
}

// TestPicturesEnd stops early, by the reader and by the context, and leaves no goroutine running.
func TestPicturesEnd(t *testing.T) {
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprintf("%02d.png", i), pngOf(scene(uint64(i), 30, 30)))
	}
	makeFiles(t, all...)
	tree, err := List([]string{"."}, ListOptions{Images: new(imagehash.PHash)})
	must.Do(t, err)
	src, err := tree.Open(records.Options{Workers: 2})
	must.Do(t, err)
	n := 0
	for range src.Records(t.Context()) {
		if n++; n == 3 {
			break
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	broken := errors.New("broken")
	n = 0
	for _, err = range src.Records(ctx) {
		if n++; n == 3 {
			cancel(broken)
		}
	}
	if err != broken || n > 10 {
		t.Errorf("%d records, then %v", n, err)
	}
	for _, opt := range []records.Options{{TextField: "x"}, {Format: "csv"}} {
		if _, err := tree.Open(opt); err == nil || !strings.HasPrefix(err.Error(), "with Images each file is one picture, so ") {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}

// TestPoorHashes checks that the message about hashes of low quality says how to find them.
func TestPoorHashes(t *testing.T) {
	for n, want := range map[int64]string{
		1: "1 picture with a hash of low quality" + poorNote, 2: "2 pictures with a hash of low quality" + poorNote,
	} {
		if got := (&Tree{poor: n}).Skipped(); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
