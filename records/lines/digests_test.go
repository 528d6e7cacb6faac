package lines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/records"
)

// TestDigests reads lists of hashes that are not fingerprints, in the formats of other programs,
// and texts that contain hashes.
func TestDigests(t *testing.T) {
	const h16, h70 = "9f3c5a00112233ff", "af74ad89b6257a65de3a727411c78fc1b994d007602253afe040f397bc17bea3e7a1e4"
	h32, h64, bits := strings.Repeat(h16, 2), strings.Repeat(h16, 4), strings.Repeat("0110", 16)
	for _, c := range []struct {
		name, line string // line is repeated twelve times; N stands for its number
		want       string // part of the error or the notice; "" if there is none
	}{
		{"list", "0x00000000000000f0\tN", "fingerprints, hexadecimal number TAB id a line"},
		{"a.txt", h64, "fingerprints of 256 bits, one hexadecimal number a line (the id is the line's number); checksums are not fingerprints"},
		{"a.txt", h64[:40], `hexadecimal hashes, such as "` + h64[:40] + `": fingerprints have a multiple of 64 bits`},
		{"a.txt", h64 + " N.png", "write each on a line of its own, or after an id and a tab; checksums detect only equality"},
		{"a.txt", h32 + "\timage N.png", "hexadecimal hashes"},
		{"a.tsv", h32 + "\tthe words of text N", `there is no column "id"`},
		{"a.txt", h32 + "\tN.png", "fingerprints of 128 bits, hexadecimal number TAB id a line; checksums"},
		{"list", "file\tmd5\nN.png\t" + h32, `its column "md5" has checksums, which detect only equality; FingerprintField: "2" reads them`},
		{"list", "file\tdhash256\nN.png\t" + h32, "fingerprints of 128 bits, id TAB hexadecimal number a line, after a header; checksums"},
		{"a.txt", "nzxaABEiM0QAAAAAAAAA/w==", "Fingerprints: base64 reads the lines as fingerprints"},
		{"a", h32 + "  dir/file N.jpg", "hexadecimal hashes"},
		{"a.txt", h32 + " *file N.bin", "hexadecimal hashes"},
		{"list", "## comment\n" + "N," + h32 + ",dir/file N", "hexadecimal hashes"},
		{"a.txt", "SHA256 (a file N) = " + h64, "hexadecimal hashes"},
		{"a.txt", "/a/b/image N.png " + h64, "hexadecimal hashes"},
		{"a.csv", "N,100," + h64 + ",0.5", `there is no column "id"`},
		{"a.tsv", "N\t" + h64, "fingerprints of 256 bits, id TAB hexadecimal number a line; checksums"},
		{"a.txt", bits, "fingerprints, one binary number a line"},
		{"a.tsv", "N\t" + bits, "fingerprints, id TAB binary number a line"},
		{"a", bits + "  img N.png", "fingerprints, binary number TAB id a line"},
		{"a.txt", "img N.png;" + bits, "Delimiter: ';', NoHeader, IDField: \"1\", FingerprintField: \"2\" reads columns"},
		{"a.txt", bits + "01", "strings of bits"},
		{"a.txt", strings.Repeat(bits, 4), "fingerprints of 256 bits, one binary number a line (the id is the line's number)"},
		{"a.txt", strings.Repeat(bits, 17), "strings of bits"},
		{"a.txt", "9f:3c:5a:00:11:22:33:44 img N", "bytes between colons"},
		{"a.txt", "p:" + h16, "hashes after a prefix"},
		{"a.txt", "img N.png;" + h16, "Delimiter: ';', NoHeader, IDField: \"1\", FingerprintField: \"2\" reads columns"},
		{"a.txt", h16 + ",img N.png", "Delimiter: ',', NoHeader, IDField: \"2\", FingerprintField: \"1\" reads columns"},
		{"a.txt", " N | -6128402334577675377", "Delimiter: '|', NoHeader, IDField: \"1\", FingerprintField: \"2\" reads columns"},
		{"a.txt", "image N 92233720368547758N1", ""},
		{"a.txt", "docN 92233720368547758N1", "fingerprints, id TAB decimal number a line"},
		{"a.txt", "docN\t9223372036854775800L", "numbers that end in L"},
		{"a", "sdbf:03:5:aN.bin:1024:sha1:256:5:7ff:160:1:59:AAAAAAANBBB=", "sdhash digests"},
		{"a.txt", "0b" + bits, "fingerprints, one binary number a line"},
		{"b.txt", "id\ttext\nN\tsome words", "Format: \"tsv\" reads columns"},
		{"a.txt", "N\tsome words and others", ""},
		{"a.txt", "T1" + strings.ToUpper(h70), "TLSH digests"},
		{"a.tsv", h70 + "\tN", "Levenshtein compares them as strings; Format: \"txt\""},
		{"a.txt", "96:s4Ud1Lj96tHHlZDrwciQmA+4uy1I0G4HYuL8N3TzS8QsO/wqWXLcMSx:sF1LjEtHHlZDrJzrhuyZvHYm8tKp/RWO,\"/a N\"", "ssdeep digests"},
		{"a.tsv", "N\t0x00000000000f424N", "fingerprints, id TAB hexadecimal number a line"},
		{"a.txt", h32 + " Repair what broke in N", ""},
		{"a.txt", "at 12:30:45 the log has event " + h64 + " of N", ""},
		{"a.txt", "an ordinary text, number N, with | and ;", ""},
		{"a.txt", "6128402334577675377, the text of message N", ""},
		{"a.jsonl", `{"id":N,"text":"T1` + h70 + `"}`, "its texts are TLSH digests"},
		{"a.jsonl", `{"id":N,"text":"` + h64 + `"}`, "its texts are hexadecimal hashes"},
		{"a.jsonl", `{"id":N,"text":"` + bits + `"}`, "FingerprintField names"},
		{"a.jsonl", `{"id":N,"text":"an ordinary one"}`, ""},
		{"a", `{"id":N,"text":"an ordinary one"}`, "JSON lines"},
		{"a", "a text without a name that says so", "plain text, one document per line"},
		{"a.txt", "ff00aa1N", "Fingerprints: hex reads the lines as fingerprints"},
	} {
		var content strings.Builder
		for i := range 12 {
			content.WriteString(strings.ReplaceAll(c.line, "N", fmt.Sprint(i%10)) + "\n")
		}
		_, f, err := read(t, c.name, content.String(), records.Options{})
		said := fmt.Sprint(err)
		if err == nil {
			said = f.Info().Recognized(records.Options{})
		}
		if c.want == "" && said != "" || !strings.Contains(said, c.want) {
			t.Errorf("%s: %q: %s, want %s", c.name, c.line, said, c.want)
		}
		if c.name == "a.txt" {
			asked := records.Options{Format: TXT}
			if got, f, err := read(t, c.name, content.String(), asked); err != nil || len(got) != 12 || f.Info().Recognized(asked) != "" {
				t.Errorf("%q as txt: %d, %v", c.line, len(got), err)
			}
		}
	}
}

// TestDigestsWithoutHeader checks that --no-header does not read a hash as an ID, or the ID beside
// it as a text.
func TestDigestsWithoutHeader(t *testing.T) {
	hash := strings.Repeat("9f3c5a00112233ff", 4)
	for _, c := range []struct {
		line string
		opt  records.Options
		want string // part of the error
	}{
		{hash + ",a.png", records.Options{}, "IDField: \"2\", FingerprintField: \"1\""},
		{"a.png," + hash, records.Options{}, "IDField: \"1\", FingerprintField: \"2\""},
		{hash + ",a.png", records.Options{IDField: "2", FingerprintField: "1"}, ""},
		{hash + ",word", records.Options{TextField: "2"}, ""},
		{hash + ",words of a text", records.Options{}, ""},
	} {
		c.opt.NoHeader = true
		got, _, err := read(t, "a.csv", strings.Repeat(c.line+"\n", 3), c.opt)
		if c.want == "" && (err != nil || len(got) != 3) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %q, %v, want %s", c.line, got, err, c.want)
		}
	}
}

// TestFingerprintsFlag checks that setting the notation of fingerprints is an error if the file has
// none.
func TestFingerprintsFlag(t *testing.T) {
	for _, c := range []struct {
		name, content string
		opt           records.Options
		want          string
	}{
		{"a.txt", "words of a text\nand others\nand more\n", records.Options{}, `Fingerprints: hex: most lines, such as "words of a text", have no fingerprint`},
		{"a.txt", strings.Repeat("9f3c5a00112233ff", 4) + "00\n", records.Options{}, `Fingerprints: hex: its lines have hexadecimal hashes`},
		{"a.txt", "ff\n", records.Options{Format: TXT}, "Fingerprints: hex: most lines"},
		{"a.jsonl", `{"id":1,"text":"x"}`, records.Options{}, "no record at its beginning has a fingerprint; FingerprintField names the field"},
		{"a.csv", "id,text\n1,x\n", records.Options{}, "no record at its beginning has a fingerprint; FingerprintField names the field"},
		{"a.jsonl", `{"id":1,"fingerprint":"ff"}`, records.Options{}, ""},
		{"a.csv", "id,text,fingerprint\n1,x,ff\n", records.Options{}, ""},
	} {
		c.opt.Fingerprints = base.Hex
		got, _, err := read(t, c.name, c.content, c.opt)
		if c.want == "" && (err != nil || len(got) != 1) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %q: %q, %v, want %s", c.name, c.content, got, err, c.want)
		}
	}
}
