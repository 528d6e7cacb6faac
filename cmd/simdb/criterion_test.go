package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/imagehash"
)

// Without a criterion, every verb compares the hashes of a database of pictures by the distance of
// their kind, and compares texts otherwise. It reports an error if there are only fingerprints, and
// a note if some documents are not compared.
func TestDefaultCriterion(t *testing.T) {
	t.Chdir(t.TempDir())
	equal := "0123456789abcdef"
	write(t, "prints.txt", []byte(equal+"\ta\n"+equal+"\tb\n"))
	write(t, "mixed.jsonl", []byte(`{"id":"t","text":"one two three four"}
{"id":"u","text":"one two three four"}
{"id":"a","fingerprint":"0x`+equal+`"}
{"id":"b","fingerprint":"0x`+equal+`"}
`))
	texts := readFile(t, "mixed.jsonl")
	write(t, "texts.jsonl", texts[:bytes.Index(texts, []byte(`{"id":"a"`))])
	for _, name := range []string{"prints.txt", "mixed.jsonl", "texts.jsonl"} {
		simdbHere(t, "load", strings.TrimSuffix(strings.TrimSuffix(name, ".txt"), ".jsonl")+".simdb", name)
	}
	simdbHere(t, "load", "bare.simdb", "prints.txt", "--no-text", "--no-sketch")
	os.Mkdir("pictures", 0o777)
	write(t, "pictures/a.png", scene(t, 1, 40, 0))
	write(t, "pictures/b.jpg", scene(t, 1, 40, 90))
	verbs := map[string][]string{ // arguments for a database or file
		"dedup": {"dedup", "X"}, "dedup --against": {"dedup", "Y", "--against", "X"},
		"review": {"review", "X", "-o", "page.html"}, "pairs": {"pairs", "X"}, "clusters": {"clusters", "X"}, "pairs --sample": {"pairs", "X", "--sample", "10"},
		"match": {"match", "X", "Y", "--invert"}, "join": {"join", "X", "Y"},
	}
	const refused, some = "--near K compares fingerprints", "--near K compares"
	for _, test := range []struct {
		what, other string   // the data, and the data that match and join compare with it
		status      int      // of all verbs; 0 if they find a pair
		says        string   // part of standard error
		files       []string // verbs that read it as files; nil for a database
	}{
		{"prints.simdb", "prints.txt", 2, refused, nil},
		{"bare.simdb", "prints.txt", 2, refused, nil},
		{"mixed.simdb", "mixed.jsonl", 0, some, nil},
		{"texts.simdb", "texts.jsonl", 0, "", nil},
		{"prints.txt", "", 2, refused, []string{"dedup", "pairs", "clusters", "pairs --sample"}},
		{"mixed.jsonl", "", 0, some, []string{"dedup", "pairs", "clusters"}},
		{"texts.jsonl", "", 0, "", []string{"dedup", "pairs", "clusters"}},
	} {
		for name, verb := range verbs {
			if test.files != nil && !slices.Contains(test.files, name) {
				continue
			}
			args := slices.Clone(verb)
			for i, arg := range args {
				args[i] = map[string]string{"X": test.what, "Y": test.other}[arg]
				if args[i] == "" {
					args[i] = arg
				}
			}
			os.Remove("page.html")
			code, rows, talk := simdbHere(t, args...)
			found := strings.Contains(rows, "t\tu") || strings.Contains(rows, `"t"`) || strings.Contains(rows, "1\tt\ttrue")
			if verb[0] == "dedup" {
				found = regexp.MustCompile(`dropped +[1-4] `).MatchString(talk)
			}
			if _, err := os.Stat("page.html"); name == "review" {
				found = err == nil
			}
			// dedup does not report what documents of --against lack.
			if says := test.says; code != test.status || found != (code == 0) || !strings.Contains(talk, says) && name != "dedup --against" || says == "" && strings.Contains(talk, some) {
				t.Errorf("%v: status %d, want %d and %q:\n%s%s", args, code, test.status, says, rows, talk)
			}
		}
	}
	for _, kind := range imagehash.Kinds() {
		db, images := kind.String()+".simdb", "--images="+kind.String()
		simdbHere(t, "load", db, "pictures", images)
		simdbHere(t, "hash", "pictures", images, "-o", "codes.csv")
		for name, verb := range verbs {
			for _, other := range []string{db, "codes.csv"} {
				if name == "dedup --against" && other == db {
					continue
				}
				args := slices.Clone(verb)
				for i, arg := range args {
					args[i] = map[string]string{"X": db, "Y": other}[arg]
					if args[i] == "" {
						args[i] = arg
					}
				}
				os.Remove("page.html")
				code, rows, talk := simdbHere(t, args...)
				near := append(args, fmt.Sprintf("--near=%d", kind.Near()))
				if name == "review" {
					if page, err := os.ReadFile("page.html"); code != 0 || err != nil || !bytes.Contains(page, []byte(fmt.Sprintf("at most %d bits", kind.Near()))) {
						t.Errorf("%v: status %d, %v: %s", args, code, err, talk)
					}
					continue
				}
				wantCode, want, wantTalk := simdbHere(t, near...)
				dropped := regexp.MustCompile(`dropped .* near-dup`)
				if code != 0 || code != wantCode || rows != want || dropped.FindString(talk) != dropped.FindString(wantTalk) {
					t.Errorf("%v: status %d:\n%s%s\nnot, with a distance:\n%s%s", args, code, rows, talk, want, wantTalk)
				}
			}
		}
	}
	if code, _, talk := simdbHere(t, "dedup", "texts.simdb", "--columns", "distance", "--all", "-o", "out.jsonl"); code != 2 || !strings.Contains(talk, "--columns distance needs --near") {
		t.Errorf("status %d: %s", code, talk)
	}
	if code, _, talk := simdbHere(t, "dedup", "pdq.simdb", "--columns", "distance", "--all", "-o", "out.jsonl"); code != 0 {
		t.Errorf("status %d: %s", code, talk)
	}
}

// A picture that cannot be decoded is neither new nor a match: match and join list it with the
// reason, and end with status 2 unless that is allowed. Other verbs keep it.
func TestPicturesUnseen(t *testing.T) {
	t.Chdir(t.TempDir())
	os.Mkdir("p", 0o777)
	known, fresh := scene(t, 1, 40, 90), scene(t, 2, 40, 0)
	write(t, "known.jpg", known)
	for name, file := range map[string][]byte{"p/cut.png": fresh[:300], "p/known.jpg": known, "p/new.png": fresh, "p/none.gif": []byte("no picture")} {
		write(t, name, file)
	}
	simdbHere(t, "load", "bank.simdb", "known.jpg", "--images=pdq")
	want := "p/cut.png\tcannot be decoded: png: invalid format: not enough pixel data\np/none.gif\tnot a picture: not a JPEG, PNG, GIF, WebP, BMP, TIFF or ICO file\n"
	for verb, row := range map[string]string{"match": "p/new.png\n", "join": "p/known.jpg\tknown.jpg\t0\n"} {
		for _, test := range []struct {
			flags  []string
			status int
		}{{nil, 2}, {[]string{"--max-errors=2"}, 0}, {[]string{"--max-errors=1"}, 2}} {
			code, rows, talk := simdbHere(t, append([]string{verb, "bank.simdb", "p", "--images=pdq", "--rejects=rejects.txt"}, test.flags...)...)
			list, err := os.ReadFile("rejects.txt")
			if most := len(test.flags) > 0 && test.status == 2; code != test.status || !most && (rows != row || err != nil || string(list) != want) {
				t.Errorf("%s %v: status %d: %s%s; rejects %q, %v", verb, test.flags, code, rows, talk, list, err)
			}
			os.Remove("rejects.txt")
		}
	}
	if code, rows, talk := simdbHere(t, "match", "bank.simdb", "p/cut.png", "--images=pdq", "--add"); code != 2 || rows != "" {
		t.Errorf("status %d: %s%s", code, rows, talk)
	}
	if got := rowsHere(t, "bank.simdb", "COUNT"); got != "1\n" {
		t.Errorf("%s are stored", got)
	}
	if code, rows, _ := simdbHere(t, "dedup", "p", "--images=pdq"); code != 0 || rows != "p/cut.png\np/known.jpg\np/new.png\np/none.gif\n" {
		t.Errorf("dedup: status %d: %s", code, rows)
	}
	simdbHere(t, "load", "bank.simdb", "p", "--images=pdq")
	if got := rowsHere(t, "bank.simdb", "COUNT"); got != "5\n" {
		t.Errorf("%s are stored", got)
	}
	// A picture that cannot be looked up does not replace a stored document.
	before := rowsHere(t, "bank.simdb", "GET 'p/new.png'", "--format=jsonl")
	write(t, "p/new.png", fresh[:300])
	simdbHere(t, "load", "bank.simdb", "p", "--images=pdq")
	if after := rowsHere(t, "bank.simdb", "GET 'p/new.png'", "--format=jsonl"); after != before {
		t.Errorf("%s\nbefore:\n%s", after, before)
	}
}

// In a folder of pictures of a single colour, those with the same pixels are copies, in files and
// databases.
func TestPlainPictures(t *testing.T) {
	t.Chdir(t.TempDir())
	os.Mkdir("p", 0o777)
	for name, c := range map[string]color.NRGBA{"p/1.png": {9, 9, 9, 255}, "p/2.png": {9, 9, 9, 255}, "p/3.png": {8, 9, 9, 255}, "p/4.png": {9, 9, 9, 254}} {
		m := image.NewNRGBA(image.Rect(0, 0, 24, 24))
		for i := range 24 * 24 {
			m.SetNRGBA(i%24, i/24, c)
		}
		var b bytes.Buffer
		png.Encode(&b, m)
		write(t, name, b.Bytes())
	}
	for _, kind := range imagehash.Kinds() {
		images, db := "--images="+kind.String(), kind.String()+".simdb"
		if got := rowsHere(t, "dedup", images, "p"); got != "p/1.png\np/3.png\np/4.png\n" {
			t.Errorf("dedup %s: %s", images, got)
		}
		if code, _, talk := simdbHere(t, "load", db, images, "p"); code != 0 || !strings.Contains(talk, "pictures without a hash, compared only for equality: 4 flat") {
			t.Errorf("load %s: status %d: %s", images, code, talk)
		}
		for _, args := range [][]string{{"pairs", images, "p"}, {"pairs", db}} {
			if got := rowsHere(t, args...); got != "p/1.png\tp/2.png\t0\n" {
				t.Errorf("%v: %s", args, got)
			}
		}
		if got := rowsHere(t, "join", db, "p/2.png", images); got != "p/2.png\tp/1.png\t0\np/2.png\tp/2.png\t0\n" {
			t.Errorf("join %s: %s", images, got)
		}
	}
}

// The page of review shows the pictures of both sides of a match, not their bytes.
func TestReviewMatchedPictures(t *testing.T) {
	makePictures(t)
	simdbHere(t, "load", "bank.simdb", "p/1.png", "p/2.png", "--images=pdq")
	simdbHere(t, "match", "bank.simdb", "p/copies", "--images=pdq", "--audit=audit.jsonl", "-o", "new.txt")
	simdbHere(t, "join", "bank.simdb", "p/copies", "--images=pdq", "--format=csv", "-o", "rows.csv")
	simdbHere(t, "join", "bank.simdb", "p/copies", "--images=pdq", "-o", "rows.jsonl")
	for _, args := range [][]string{{"audit.jsonl"}, {"rows.csv", "bank.simdb", "p/copies", "--images=pdq"}, {"rows.jsonl", "bank.simdb", "p/copies", "--images=pdq"}} {
		code, _, talk := simdbHere(t, append([]string{"review", "-o", "page.html"}, args...)...)
		page := readFile(t, "page.html")
		for _, name := range []string{"p/1.png", "p/2.png", "p/copies/1.jpg", "p/copies/2-poor.jpeg"} {
			if code != 0 || !bytes.Contains(page, []byte(`"picture":"`+name+`","bits":["`)) {
				t.Errorf("%v: status %d: the page has no picture %s: %s", args, code, name, talk)
			}
		}
		if bytes.Contains(page, []byte(`"text":`)) {
			t.Errorf("%v: the page has the bytes of a file", args)
		}
	}
	write(t, "rows.tsv", []byte(rowsHere(t, "join", "bank.simdb", "p/copies", "--images=pdq")))
	if code, _, talk := simdbHere(t, "review", "rows.tsv", "-o", "page.html"); code != 2 || !strings.Contains(talk, "rows of pairs, clusters or join with --format jsonl or csv") {
		t.Errorf("review of rows: status %d: %s", code, talk)
	}
}

// Texts that consist of white space are not duplicates of each other, for any verb and statement.
func TestBlankTexts(t *testing.T) {
	t.Chdir(t.TempDir())
	lines := `{"id":"a","text":" "}
{"id":"b","text":" "}
{"id":"c","text":"` + "\u3000" + `"}
{"id":"d","text":""}
`
	write(t, "in.jsonl", []byte(lines))
	simdbHere(t, "load", "x.simdb", "in.jsonl")
	for _, by := range []string{"levenshtein", "cosine", "jaccard", "within"} {
		if by != "within" {
			for _, args := range [][]string{{"pairs", "in.jsonl"}, {"pairs", "x.simdb"}, {"clusters", "in.jsonl"}, {"clusters", "x.simdb"}} {
				if code, rows, talk := simdbHere(t, append(args, "--"+by, "0.1")...); code != 1 {
					t.Errorf("%v by %s: status %d: %s%s", args, by, code, rows, talk)
				}
			}
			if code, rows, talk := simdbHere(t, "match", "x.simdb", "in.jsonl", "--"+by, "0.1"); code != 0 || rows != lines {
				t.Errorf("match by %s: status %d: %s%s", by, code, rows, talk)
			}
		}
		for _, data := range []string{"in.jsonl", "x.simdb"} {
			if got := rowsHere(t, "dedup", data, "--"+by, "0.1"); len(got) != len(lines) {
				t.Errorf("dedup %s by %s:\n%s", data, by, got)
			}
		}
	}
	for _, statement := range []string{"PAIRS LEVENSHTEIN 0.1", "CLUSTERS LEVENSHTEIN 0.1", "LEVENSHTEIN('a', 0.1)", "LEVENSHTEIN(TEXT ' ', 0.1)", "PASSAGES(TEXT '...', 1)"} {
		if code, rows, talk := simdbHere(t, "x.simdb", statement); code != 1 {
			t.Errorf("%s: status %d: %s%s", statement, code, rows, talk)
		}
	}
	if got := rowsHere(t, "x.simdb", `PUT {"id":"e","text":" "} UNLESS LEVENSHTEIN 0.1`); !strings.HasPrefix(got, "stored") {
		t.Error(got)
	}
}
