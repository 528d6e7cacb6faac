package imagehash

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/golden"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func hexadecimal(hash []uint64) (s string) {
	for _, w := range hash {
		s += fmt.Sprintf("%016x", w)
	}
	return s
}

// distance returns the number of different bits of two hashes in hexadecimal.
func distance(a, b string) (d int) {
	if len(a) != len(b) {
		return 4 * max(len(a), len(b))
	}
	for i := range len(a) {
		d += bits.OnesCount64(must(strconv.ParseUint(a[i:i+1], 16, 8)) ^ must(strconv.ParseUint(b[i:i+1], 16, 8)))
	}
	return d
}

// hashes are the output of reference.py for a file.
type hashes struct {
	quality                int
	dhash, phash, dhash256 string
	pdq                    []string // by orientation
}

func parseHashes(out string) map[string]hashes {
	all := map[string]hashes{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		all[f[0]] = hashes{must(strconv.Atoi(f[1])), f[2], f[3], f[4], f[5:]}
	}
	return all
}

// ours returns the hashes of a file in the form of parseHashes.
func ours(t *testing.T, data []byte) (h hashes) {
	t.Helper()
	one := func(kind Kind, o Options) Result {
		res, err := Hash(bytes.NewReader(data), kind, o)
		if err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		return res
	}
	h.dhash = hexadecimal(one(DHash, Options{}).Hashes[0])
	h.phash = hexadecimal(one(PHash, Options{}).Hashes[0])
	h.dhash256 = hexadecimal(one(DHash256, Options{}).Hashes[0])
	res := one(PDQ, Options{Orientations: true})
	h.quality = res.Quality
	for _, v := range res.Hashes {
		h.pdq = append(h.pdq, hexadecimal(v))
	}
	return h
}

// reference runs testdata/reference.py, and skips the test without the libraries.
func reference(t *testing.T, args ...string) string {
	t.Helper()
	python := cmp.Or(os.Getenv("PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import pdqhash, imagehash").Run(); err != nil {
		t.Skipf("%s has no pdqhash and imagehash: %v", python, err)
	}
	cmd := exec.Command(python, append([]string{filepath.Join("testdata", "reference.py")}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	return string(out)
}

// pictures returns the samples and the files of testdata/pictures by name.
func pictures(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, s := range samples() {
		files[s.name] = s.png(t)
	}
	files["canvas.gif"] = smallFrame(t, nil)
	files["canvas-transparent.gif"] = smallFrame(t, color.RGBA{})
	for _, path := range must(filepath.Glob("testdata/pictures/*")) {
		files[filepath.Base(path)] = must(os.ReadFile(path))
	}
	return files
}

// askReference returns the reference's output for files.
func askReference(t *testing.T, files map[string][]byte) (out string) {
	t.Helper()
	folder := t.TempDir()
	args := []string{"hash"}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	return reference(t, args...)
}

// check fails if hashes differ by more bits than different decoders of lossy formats can explain.
func check(t *testing.T, name string, got, want hashes) {
	t.Helper()
	var most struct{ quality, dhash, phash, dhash256, pdq int }
	if strings.HasSuffix(name, ".jpg") || strings.HasSuffix(name, ".mpo") || strings.HasPrefix(name, "jpeg-") {
		most = struct{ quality, dhash, phash, dhash256, pdq int }{2, 2, 2, 8, 4}
	}
	if d := got.quality - want.quality; max(d, -d) > most.quality {
		t.Errorf("the quality is %d, want %d", got.quality, want.quality)
	}
	compare := func(kind, got, want string, most int) {
		if d := distance(got, want); d > most {
			t.Errorf("%s is %s, want %s: %d bits", kind, got, want, d)
		} else if d > 0 {
			t.Logf("%s: %d bits", kind, d)
		}
	}
	compare("dhash", got.dhash, want.dhash, most.dhash)
	compare("phash", got.phash, want.phash, most.phash)
	compare("dhash256", got.dhash256, want.dhash256, most.dhash256)
	for o, h := range got.pdq {
		compare(fmt.Sprint("pdq ", o), h, want.pdq[o], most.pdq)
	}
}

// Hashes equal those of the references: bit for bit for lossless files, approximately for lossy
// ones. -update makes testdata/pictures, runs the references and stores their output in
// testdata/golden.txt.
func TestGolden(t *testing.T) {
	if golden.Update() {
		folder := filepath.Join("testdata", "pictures")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		reference(t, "make", folder)
		if err := os.WriteFile("testdata/golden.txt", []byte(askReference(t, pictures(t))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := parseHashes(string(must(os.ReadFile("testdata/golden.txt"))))
	files := pictures(t)
	if len(want) != len(files) {
		t.Errorf("%d hashes for %d pictures", len(want), len(files))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Run(name, func(t *testing.T) { check(t, name, ours(t, files[name]), want[name]) })
	}
}

// Hashes of random pictures, which rotate with each commit, equal those of the references, if these
// are installed.
func TestReference(t *testing.T) {
	files := map[string][]byte{}
	for i := range exhaustive.Every(t, 40).Of(2000) {
		rnd := rand.New(rand.NewPCG(uint64(i), 3))
		w, h := 5+int(rnd.ExpFloat64()*150), 5+int(rnd.ExpFloat64()*150)
		s := sample{fmt.Sprintf("scene-%d-%dx%d.png", i, w, h), scene(w, h, rnd.Uint64())}
		if i%3 == 0 {
			s = sample{fmt.Sprintf("page-%d-%dx%d.png", i, w, h), page(w+40, h+40, rnd.Uint64())}
		}
		files[s.name] = s.png(t)
	}
	for name, want := range parseHashes(askReference(t, files)) {
		t.Run(name, func(t *testing.T) { check(t, name, ours(t, files[name]), want) })
	}
}
