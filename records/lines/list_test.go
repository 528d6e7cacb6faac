package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/base"

	"github.com/simdb/simdb/records"
)

// TestLists reads small files of every form that a list of fingerprints can have, and some that
// only resemble one.
func TestLists(t *testing.T) {
	for _, c := range []struct {
		name, content string
		opt           records.Options
		want          string // records in the format of read, then the notice; or the error
	}{
		{"a.txt", "18446744073709551615\n1\n", records.Options{}, "1 1|||ffffffffffffffff 2 2|||0000000000000001 fingerprints, one decimal number a line (the id is the line's number)"},
		{"a.txt", "\xef\xbb\xbf12\r\n\r\n13", records.Options{}, "1 1|||000000000000000c 3 3|||000000000000000d fingerprints, one decimal number a line (the id is the line's number)"},
		{"-", "0x1f\n0x20\n", records.Options{}, "1 1|||000000000000001f 2 2|||0000000000000020 fingerprints, one hexadecimal number a line (the id is the line's number)"},
		{"a.txt", "ff\n", records.Options{}, "1 a.txt:1|ff|| "},
		{"a.txt", "ff\n0a\n", records.Options{Fingerprints: base.Hex}, "1 1|||00000000000000ff 2 2|||000000000000000a fingerprints, one hexadecimal number a line (the id is the line's number)"},
		{"a.tsv", "10\t231231231231231\n11\t5\n", records.Options{}, "1 10|||0000d24db76604ff 2 11|||0000000000000005 fingerprints, id TAB decimal number a line"},
		{"a.tsv", "231231231231231\t10\n5\t11\n", records.Options{}, "1 10|||0000d24db76604ff 2 11|||0000000000000005 fingerprints, decimal number TAB id a line"},
		{"a.txt", "-5727533220473680276\n5\n", records.Options{}, "1 1|||b083b6e1ba6ace6c 2 2|||0000000000000005 fingerprints, one decimal number a line (the id is the line's number)"},
		{"a.tsv", "a\t-1\nb\t9223372036854775807\n", records.Options{}, "1 a|||ffffffffffffffff 2 b|||7fffffffffffffff fingerprints, id TAB decimal number a line"},
		{"a.csv", "id,fingerprint\na,-1\nb,9223372036854775807\n", records.Options{}, "2 a|||ffffffffffffffff 3 b|||7fffffffffffffff "},
		{"a.jsonl", "{\"id\":\"a\",\"fingerprint\":-1}\n{\"id\":\"b\",\"fingerprint\":\"-2\"}\n", records.Options{}, "1 a|||ffffffffffffffff 2 b|||fffffffffffffffe "},
		// Hexadecimal without leading zeros; other lines and the column show it.
		{"a.tsv", "a\t3c7e7e3c18000000\nb\tc7e7e3c18000001\nc\t123456789012345\n", records.Options{}, "1 a|||3c7e7e3c18000000 2 b|||0c7e7e3c18000001 3 c|||0123456789012345 fingerprints, id TAB hexadecimal number a line"},
		{"a.csv", "id,fingerprint\na,3c7e7e3c18000000\nb,c7e7e3c18000001\nc,123456789012345\n", records.Options{}, "2 a|||3c7e7e3c18000000 3 b|||0c7e7e3c18000001 4 c|||0123456789012345 "},
		{"a.jsonl", "{\"id\":\"a\",\"fingerprint\":\"3c7e7e3c18000000\"}\n{\"id\":\"b\",\"fingerprint\":\"c7e7e3c18000001\"}\n", records.Options{}, "1 a|||3c7e7e3c18000000 2 b|||0c7e7e3c18000001 "},
		{"a.csv", "id,fingerprint\na,18446744073709551615\nb,bad\n", records.Options{}, "2 a|||ffffffffffffffff 3 b|||~not a fingerprint: \"bad\" has 3 hexadecimal digits; fewer than 16 need 0x before them, or Fingerprints: hex "},
		{"a.tsv", "x\t1\ny\t2\n", records.Options{}, "1 x|||0000000000000001 2 y|||0000000000000002 fingerprints, id TAB decimal number a line"},
		{"a.tsv", "1\tx\n7\ty\n", records.Options{}, "1 x|||0000000000000001 2 y|||0000000000000007 fingerprints, decimal number TAB id a line"},
		{"a.tsv", "17\t9\n17\t10\n", records.Options{}, "1 9|||0000000000000011 2 10|||0000000000000011 fingerprints, decimal number TAB id a line"},
		{"a.tsv", "1700000000000000\tff3c5a0011223344\n", records.Options{}, "1 1700000000000000|||ff3c5a0011223344 fingerprints, id TAB hexadecimal number a line"},
		{"a.tsv", "dhash\tname\n5\t7\n9\t3\n", records.Options{}, "2 7|||0000000000000005 3 3|||0000000000000009 fingerprints, decimal number TAB id a line, after a header"},
		{"a.tsv", "5\t7\n9\t3\n", records.Options{}, "a.tsv: both columns could be the fingerprints; choose one with FingerprintField: \"1\" or \"2\""},
		{"a.tsv", "5\t7\n9\t3\n", records.Options{FingerprintField: "1"}, "1 7|||0000000000000005 2 3|||0000000000000009 fingerprints, decimal numbers in column 1 and ids in column 2"},
		{"a.tsv", "5\t7\n9\t3\n", records.Options{IDField: "1"}, "1 5|||0000000000000007 2 9|||0000000000000003 fingerprints, decimal numbers in column 2 and ids in column 1"},
		{"-", "name\n5\n", records.Options{}, "2 2|||0000000000000005 fingerprints, one decimal number a line (the id is the line's number), after a header"},
		{"f", "a\t1\nb\t2\n", records.Options{Format: Hashes}, "1 a|||0000000000000001 2 b|||0000000000000002 fingerprints, id TAB decimal number a line"},
		{"f", "id\thash\n1\t1234567890123456\n", records.Options{Format: Hashes}, "2 1|||000462d53c8abac0 fingerprints, id TAB decimal number a line, after a header"},
		{"f", "5\n9 x\n", records.Options{Format: Fingerprints, FingerprintField: "1", IDField: "2"}, "1! no id beside the fingerprint 2 x|||0000000000000009 fingerprints, decimal numbers in column 1 and ids in column 2"},
		{"f", "5\n9 x\nff y\n", records.Options{Format: Fingerprints}, `1! no id beside the fingerprint 2 x|||0000000000000009 3 y|||~not a fingerprint: "ff" has 2 hexadecimal digits; fewer than 16 need 0x before them, or Fingerprints: hex fingerprints, decimal number TAB id a line`},
		{"-", "# of 2026\n5\n", records.Options{}, "2 2|||0000000000000005 fingerprints, one decimal number a line (the id is the line's number), after a header"},
		{"-", "My hashes\nabcdefabcdefabcd\n", records.Options{}, "2 2|||abcdefabcdefabcd fingerprints, one hexadecimal number a line (the id is the line's number), after a header"},
		{"-", "my\thashes\n5\n", records.Options{}, "1 -:1|my\thashes|| 2 -:2|5|| " + `plain text, one document per line, because "my\thashes" is not a number; Format: "fingerprints" reads the other lines as fingerprints`},
		{"-", "id\n5\n6\n", records.Options{}, `1 -:1|id|| 2 -:2|5|| 3 -:3|6|| plain text, one document per line, because "id" is not a number; Format: "fingerprints" reads the other lines as fingerprints`},
		// A header decides which column has the IDs and which the fingerprints, even if IDs look
		// like fingerprints.
		{"-", "id\tfingerprint\nabcdefabcdefabcd\t5\n", records.Options{}, "2 abcdefabcdefabcd|||0000000000000005 fingerprints, id TAB decimal number a line, after a header"},
		{"-", "phash\tsha\n5\tabcdefabcdefabcd\n", records.Options{}, "2 abcdefabcdefabcd|||0000000000000005 fingerprints, decimal number TAB id a line, after a header"},
		{"-", "id\tname\n5\tabcdefabcdefabcd\n", records.Options{}, "2 5|||abcdefabcdefabcd fingerprints, id TAB hexadecimal number a line, after a header"},
		{"-", "hash\tfile\nx\tabcdefabcdefabcd\n", records.Options{}, "2 x|||abcdefabcdefabcd fingerprints, id TAB hexadecimal number a line, after a header"},
		// Texts that begin with numbers are read as texts.
		{"a.txt", "1\tone text\n2\ttwo texts\n", records.Options{}, "1 a.txt:1|1\tone text|| 2 a.txt:2|2\ttwo texts|| "},
		{"a.txt", "1 one\n2 two\n", records.Options{}, "1 a.txt:1|1 one|| 2 a.txt:2|2 two|| "},
		{"a.txt", "0x1 bad\n0x2 worse\n", records.Options{}, "1 a.txt:1|0x1 bad|| 2 a.txt:2|0x2 worse|| "},
		{"a.txt", "1700000000000000 started\n1700000000000001 ended\n", records.Options{}, "1 a.txt:1|1700000000000000 started|| 2 a.txt:2|1700000000000001 ended|| "},
		{"a.txt", "1\n2\nthree\n", records.Options{}, `1 a.txt:1|1|| 2 a.txt:2|2|| 3 a.txt:3|three|| plain text, one document per line, because "three" is not a number; Format: "fingerprints" reads the other lines as fingerprints`},
		{"a.txt", "1\n2\n", records.Options{Format: TXT}, "1 a.txt:1|1|| 2 a.txt:2|2|| "},
		{"a.tsv", "id\ttext\n1\tx\n", records.Options{}, "2 1|x|| "},
		{"a.tsv", "id\tbody\n1\tx\n", records.Options{TextField: "body"}, "2 1|x|| "},
		{"a.tsv", "id\tbody\n1\tx\n", records.Options{}, `a.tsv: there is no column "text" (there are "id", "body"; did you mean "body"?); TextField names another, FingerprintField one with fingerprints, NoHeader reads the first line as data`},
		{"a.tsv", "k\tv\n1\t2\n", records.Options{IDField: "k", TextField: "v"}, "2 1|2|| "},
	} {
		got, f, err := read(t, c.name, c.content, c.opt)
		text := fmt.Sprint(err)
		if err == nil {
			text = strings.Join(append(got, f.info.Notice), " ")
		}
		if text != c.want {
			t.Errorf("%s %q %+v:\n got %s\nwant %s", c.name, c.content, c.opt, text, c.want)
		}
	}
}

// A file has one notation: every format refuses the first line that the rule reads differently, and
// the error names both lines.
func TestBothNotations(t *testing.T) {
	for name, content := range map[string]string{
		"a.txt":   "18446744073709551615\n5\n1234567890123456\n",
		"b.txt":   "1234567890123456\n1234567890123457\n18446744073709551615\n",
		"c.txt":   "ff3c5a0011223344\nff3c5a0011223345\n5\n",
		"d.tsv":   "a\t18446744073709551615\nb\t5\nc\t0x5\n",
		"e.csv":   "id,fingerprint\na,18446744073709551615\nb,1234567890123456\n",
		"f.tsv":   "id\tfingerprint\ttext\na\t18446744073709551615\tx\nb\t1234567890123456\ty\n",
		"g.jsonl": "{\"id\":1,\"fingerprint\":\"1234567890123456\"}\n{\"id\":2,\"fingerprint\":5}\n{\"id\":3,\"fingerprint\":\"5\"}\n",
	} {
		got, _, err := read(t, name, content, records.Options{})
		if n, ok := errors.AsType[notationError](err); !ok || len(got) > 0 || strings.Count(n.Error(), "line") != 2 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		for _, notation := range []base.Notation{base.Hex, base.Decimal} {
			got, _, err := read(t, name, content, records.Options{Fingerprints: notation})
			if err != nil || len(got) < 2 {
				t.Errorf("%s as %v: %q, %v", name, notation, got, err)
			}
			for _, line := range got {
				_, fp, ok := strings.Cut(line, "|||")
				if want := map[base.Notation]string{base.Hex: "1234567890123456", base.Decimal: "000462d53c8abac0"}; ok && len(fp) == 16 &&
					strings.Contains(line, "462d53c8abac0") && fp != want[notation] {
					t.Errorf("%s as %v: %s", name, notation, line)
				}
			}
		}
	}
}

// The two notations may be far apart. No record that is delivered before the file is refused may be
// misread: a decimal list that begins with numbers of 16 digits is not delivered as hexadecimal.
func TestBothNotationsFarApart(t *testing.T) {
	many := func(n int, format string, from int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, from+i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, content string
		delivered     int
		want          string
	}{
		{"decimal first", many(50000, "1234567890123%d\n", 10000) + "1234567890123456\n", 50000, "line 50001, 1234567890123456, looks hexadecimal"},
		{"ambiguous first", many(30000, "12345678901%d\n", 10000) + "5\n", 0, "line 30001, 5, looks decimal"},
		{"ambiguous for too long", many(80000, "12345678901%d\n", 10000), 0, "Fingerprints: hex or decimal says how to read them"},
		{"hexadecimal first", many(50000, "abcdefabcde%d\n", 10000) + "1234567890123456\n5\n", 50001, "line 50002, 5, looks decimal"},
	} {
		for _, packed := range []bool{false, true} {
			content := c.content
			if packed {
				content = gz(content)
			}
			got, _, err := read(t, "a.txt", content, records.Options{})
			if err == nil || len(got) != c.delivered || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %d records, %v", c.name, len(got), err)
			}
		}
	}
	got, _, err := read(t, "a.txt", many(9000, "12345678901%d\n", 10000), records.Options{})
	if err != nil || len(got) != 9000 || got[0] != "1 1|||1234567890110000" {
		t.Errorf("16 digits on every line are hexadecimal by the rule: %d, %v", len(got), err)
	}
}

// The first record determines the kind of the fingerprints, even if it is very long.
func TestLongFirstRecord(t *testing.T) {
	for _, words := range []int{1, 10_000, 300_000} {
		record := `{"id": "a", "text": "` + strings.Repeat("a word ", words) + `", "fingerprints": ["00000000000000000000000000000001", "00000000000000000000000000000002"]}`
		for name, content := range map[string]string{"a.jsonl": record + "\n" + record + "\n", "a.json": "[" + record + "," + record + "]", "b.jsonl": "\n" + record} {
			if got, f, err := read(t, name, content, records.Options{}); err != nil || len(got) == 0 || f.info.Bits != 128 || !f.info.Several {
				t.Errorf("%s of %d words: %d records, %v", name, words, len(got), err)
			}
		}
	}
}

// On a pipe, a line waits for the next one only if it is ambiguous.
func TestNotationOnPipe(t *testing.T) {
	pr, pw := io.Pipe()
	opened := make(chan error, 1)
	go func() {
		_, err := newFile("-", pr, -1, records.Options{})
		opened <- err
	}()
	io.WriteString(pw, "1234567890123456\n")
	select {
	case <-opened:
		t.Fatal("a line of 16 decimal digits was taken for something")
	case <-time.After(50 * time.Millisecond):
	}
	io.WriteString(pw, "12345678901234567890\n")
	err := <-opened
	if _, ok := errors.AsType[notationError](err); !ok {
		t.Errorf("%v", err)
	}
	pr.Close()
}

// FuzzList compares the recogniser with the rule for single lines, on arbitrary lines: every
// delivered fingerprint is the number of its line in the notation of the file, only a header
// without a number may be skipped, and no file mixes both notations.
func FuzzList(f *testing.F) {
	for _, s := range []string{"1\n2\n", "id\thash\n1\t2\n", "a\t0x1\nb\t0x2\n", "ff3c5a0011223344 a\n1234567890123456 b\n", "x\n\n5\n",
		"5\t7\n9\t3", "9f3c5a00112233449f3c5a0011223344\tx\n9f3c5a00112233449f3c5a0011223345\ty\n", "1234567890123456\n", "1234567890123456\n5\n", "1\t\n2\t\n", "\t1\n\t2\n", "1\tone two\n"} {
		for mode := range uint8(6) {
			f.Add(s, mode)
		}
	}
	f.Fuzz(func(t *testing.T, content string, mode uint8) {
		opt := records.Options{Fingerprints: base.Notation(mode % 3), Workers: 1}
		if mode >= 3 {
			opt.Format = Fingerprints
		}
		in, err := newFile("f.txt", io.NopCloser(strings.NewReader(content)), int64(len(content)), opt)
		if err != nil {
			return
		}
		if in.info.Encoding != records.UTF8 || in.info.OldLineEnds {
			return // the lines of content are not the lines that are read
		}
		l, ok := in.parse.(*list)
		lines := strings.SplitAfter(strings.TrimPrefix(content, "\xef\xbb\xbf"), "\n")
		seen := map[records.Position]bool{}
		kinds := map[base.Notation]bool{}
		for r, err := range in.Records(context.Background()) {
			if is, ok := errors.AsType[*records.Issue](err); ok {
				seen[is.Pos] = true
				continue
			} else if err != nil {
				return
			}
			seen[r.Pos] = true
			if !ok {
				continue
			}
			line := []byte(strings.TrimSuffix(strings.TrimSuffix(lines[r.Pos-1], "\n"), "\r"))
			cell, words := bytes.TrimSpace(columns(line)[l.fp]), make([]uint64, l.bits/64)
			as, err := base.ParseWords(words, cell, l.notation)
			if err != nil && l.bits == 64 {
				words[0], as, err = base.ParseCell(cell, l.notation)
			}
			if r.Flaw != "" && (err != nil || base.IsShort(cell)) { // a short one next to decimal ones
				continue
			}
			if err != nil || !slices.Equal(words, firstOf(r.Doc.Fingerprints)) {
				t.Fatalf("%q: line %d is %x, %v", content, r.Pos, words, err)
			}
			if kinds[as] = true; len(kinds) > 1 {
				t.Fatalf("%q has both notations", content)
			}
		}
		for i, line := range lines {
			header := ok && l.header && string(in.info.Columns) == line
			if strings.TrimSpace(line) != "" && !seen[records.Position(i+1)] && !header && !in.in.Packed() {
				t.Fatalf("%q: line %d is lost", content, i+1)
			}
		}
		if h := in.info.Columns; ok && len(h) > 0 {
			for _, cell := range columns(trimEOL(h)) {
				if _, _, err := base.ParseFingerprint(bytes.TrimSpace(cell), opt.Fingerprints); err == nil {
					t.Fatalf("%q: the header has a number", content)
				}
			}
		}
	})
}

// TestColumns compares columns with bytes.Split on lines with tabs.
func TestColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 5000 {
		line := []byte("\t")
		for range r.IntN(12) {
			line = append(line, "ab \t\t\r"[r.IntN(6)])
		}
		if got := columns(line); !slices.EqualFunc(got, bytes.Split(line, []byte("\t")), bytes.Equal) {
			t.Fatalf("%q has columns %q", line, got)
		}
	}
	for _, c := range []struct {
		line string
		want []string
	}{{"", []string{""}}, {" a ", []string{"a"}}, {"a   b c ", []string{"a", "b c"}}} {
		got := columns([]byte(c.line))
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%q has columns %q, want %q", c.line, got, c.want)
		}
	}
}
