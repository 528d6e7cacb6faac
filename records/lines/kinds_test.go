package lines

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/simdb/simdb/records"
)

// kindTexts has texts of each kind, with the ID and the text of each record; blank lines and
// comments have no text.
var kindTexts = []struct {
	kind, content string
	want          []string
}{
	{"fasta", ">a\nACGT\nACGT\n>b x\nACGT\n", []string{"a|ACGTACGT", "b|ACGT"}},
	{"fasta", ">a\nACGTacgtN-\n\n>b\nACGT\n\n>c\nAC\n", []string{"a|ACGTacgtN-", "b|ACGT", "c|AC"}},
	{"fasta", ">sp|P1|X A test\nMKVLAAGIVGLL*", []string{"sp|P1|X|MKVLAAGIVGLL*"}},
	{"fastq", "@r1 1\nACGTN\n+\n@!\"#$\n@r2\nA\n+r2\n@\n@r3\n\n+\n\n@r4\nA\n+\nI\n", []string{"r1|ACGTN", "r2|A", "r3|", "r4|A"}},
	{"fastq", "@r1\nACGT\nACGT\n+r1\n@III\n@III", []string{"r1|ACGTACGT"}},
	{"vcard", "BEGIN:VCARD\nVERSION:3.0\nFN:Ann\nNOTE;X=\"a:b\":one\n  two\\, three\nUID:u1\nEND:VCARD\nbegin:vcard\nitem1.TEL;TYPE=cell:12\nPHOTO:xx\nend:vcard\n",
		[]string{"u1|Ann/one two, three", "F:8|12"}},
	{"srt", "1\n00:00:01,000 --> 00:00:04,000\n<i>Hello</i>\n\nthere\n\n2\n00:00:05,000 --> 00:00:06,000\n{\\an8}you\n", []string{"F:1|Hello//there", "F:7|you"}},
	{"vtt", "WEBVTT - x\nKind: captions\n\nNOTE x\n\n1\n00:01 --> 00:04\n<v Bob>Hi\n", []string{"F:1|", "F:4|", "F:6|Hi"}},
	{"ldif", "version: 1\n\n# x\ndn: cn=a,\n dc=x\ncn:: w6k=\n\ndn: cn=b\ncn: b\n", []string{"F:1|", "cn=a,dc=x|é", "cn=b|b"}},
	{"po", "# German\n#, fuzzy\nmsgid \"\"\nmsgstr \"\"\n\"Language: de\"\nmsgctxt \"m\"\nmsgid \"a\"\nmsgid_plural \"as\"\nmsgstr[0] \"\"\n\"ä\\n\"\nmsgstr[1] \"äs\"\n\n#~ msgid \"o\"\n#~ msgstr \"p\"\n",
		[]string{"F:1|", "F:6|a/as/ä//äs", "F:13|"}},
	{"pgn", "[Event \"Open\"]\n[Site \"?\"]\n\n1. e4 {[%clk 1]}\ne5 1-0\n\n[Event \"B\"]\n[Site \"?\"]\n\n1. d4 *\n", []string{"F:1|Open/?//1. e4 {[%clk 1]}/e5 1-0", "F:7|B/?//1. d4 *"}},
	{"pgn", "{by\nme}\n[Event \"A\"]\n[Site \"?\"]\n\n*\n", []string{"F:1|", "F:3|A/?//*"}},
	{"wikiextractor", "<doc id=\"1\" url=\"x\" title=\"T\">\nT\n\nText.\n</doc>\n<doc id=\"2\">\nU\n</doc>\n", []string{"1|T//Text.", "2|U"}},
	{"fortune", "one\ntwo\n%\nthree\nfour\n%\nfive\n%\n", []string{"F:1|one/two", "F:3|three/four", "F:6|five"}},
	{"log", "2026-01-02 10:11:12 ERROR x\n  at y\n2026-01-02 10:11:13 INFO z\n2026-01-02 10:11:14 INFO a", []string{"F:1|2026-01-02 10:11:12 ERROR x/  at y", "F:3|2026-01-02 10:11:13 INFO z", "F:4|2026-01-02 10:11:14 INFO a"}},
	{"log", "[INFO] Jan  2 10:11:12 x\nmore\n[INFO] Jan  2 10:11:13 z\n[INFO] Jan  2 10:11:14 a", []string{"F:1|[INFO] Jan  2 10:11:12 x/more", "F:3|[INFO] Jan  2 10:11:13 z", "F:4|[INFO] Jan  2 10:11:14 a"}},
}

// Each kind is recognised under any name, with any line ends, in UTF-16, and after a byte order mark.
func TestKinds(t *testing.T) {
	for _, c := range kindTexts {
		utf := []byte("\xff\xfe")
		for _, u := range utf16.Encode([]rune(c.content)) {
			utf = append(utf, byte(u), byte(u>>8))
		}
		for how, content := range map[string]string{
			"": c.content, "CRLF": strings.ReplaceAll(c.content, "\n", "\r\n"), "mark": "\ufeff" + c.content, "UTF-16": string(utf), "CR": strings.ReplaceAll(c.content, "\n", "\r"),
		} {
			for _, name := range []string{"a", "a.txt"} {
				got, f, err := read(t, name, content, records.Options{})
				if err != nil {
					t.Fatalf("%q %s as %s: %v", c.content, how, name, err)
				}
				if string(f.info.Format) != c.kind || !strings.HasPrefix(f.info.Notice, f.info.Format.Describe().Label+", each ") {
					t.Fatalf("%q %s as %s: format %s, notice %q", c.content, how, name, f.info.Format, f.info.Notice)
				}
				var want []string
				for _, w := range c.want {
					want = append(want, strings.ReplaceAll(w, "F:", name+":"))
				}
				for i, g := range got {
					_, g, _ = strings.Cut(g, " ")
					got[i] = strings.ReplaceAll(strings.TrimSuffix(g, "||"), "\n", "/")
				}
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("%q %s as %s: %q, want %q", c.content, how, name, got, want)
				}
			}
		}
	}
	for _, k := range kinds {
		for _, ending := range k.own {
			if got := recognize("A"+ending+".GZ", []byte("x")); got != k.name {
				t.Errorf("%s: %v", ending, got)
			}
		}
	}
	long := strings.Repeat("ACGTGGTCA\n", 2*records.HeadBytes)
	for text, want := range map[string]records.Format{">chr1\n" + long: "fasta", ">chr1\n" + strings.ReplaceAll(long, "\n", ""): "fasta", "@r\n" + strings.ReplaceAll(long, "\n", "") + "\n+\n" + strings.ReplaceAll(long, "\n", ""): "fastq"} {
		if got, f, err := read(t, "a", text, records.Options{}); err != nil || f.info.Format != want || len(got) != 1 || strings.Contains(got[0][:10], "!") {
			t.Errorf("%.20q: %v %.30q, want %s", text, err, got, want)
		}
	}
}

// Texts of one document per line begin similarly.
func TestLinesAreNoKind(t *testing.T) {
	for _, text := range []string{
		"> a quotation\nyes\n> another one\nno\n", ">\napple\npear\na and b\n", ">what\nnothing much\n>why\nso\n", ">what\nyes\n>why\nno\n",
		"@bob\nhello\n+1\nyes\n@ann\n", "@a\nACGT\n+ and more\nof that\n", "WEBVTT is a format\nof subtitles\n",
		"BEGIN:VCARD is a line\nx\n", "12\n10:30 is the time\n", "<doc id=\"1\">a text</doc>\n<doc id=\"2\">another</doc>\n", "##fileformat=VCFv4.2\n#CHROM\n",
		"dn: is short for\ndistinguished name\n", "msgid is a keyword\n", "# a\nmsgid \"a\"\nmsgid \"b\"\n", "[Event \"x\"] was sold out\n[Event \"y\"] was not\n", "[1] a note\n[2] another\n",
		"2026-01-02 10:11:12 a\n2026-01-02 10:11:13 b\n2026-01-02 10:11:14 c\n", "2026-01-02 was cold\nand\n2026-01-03 warm\n2026-01-04\n", "10:11 a\nb\n10:12 c\n10:13 d\n",
		"kg\n%\nm\n", "Subject: one\nSubject: two\n\nSubject: three\n", "From: a\nTo: b\n\nx\n", "From: a\nDate: today\nNot a field\n", "50 %\n10 %\n%\n3\nper cent\nof it\n",
	} {
		if got, f, err := read(t, "a.txt", text, records.Options{}); err != nil || f.info.Format != TXT || len(got) != strings.Count(text, "\n")-strings.Count(text, "\n\n") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// In a bulk file, the ID of an action is that of its document, unless an option names a field.
func TestBulk(t *testing.T) {
	const content = "{\"index\":{\"_id\":\"a\"}}\n{\"text\":\"x\"}\n\n{ \"create\" : {} }\n{\"id\":7,\"text\":\"index\"}\n{\"delete\":{\"_id\":3}}\n{\"index\":{\"_id\":\"c\"}}\n{\"index\":{\"_id\":1}}\n{\"index\":{\"_id\":\"d\"}}"
	for _, c := range []struct {
		opt  records.Options
		want []string
	}{
		{records.Options{}, []string{"1 a|x||", "4 7|index||", "6 3|||~an action without a document", "7 c||{\"index\":{\"_id\":1}}|~no \"text\" and no", "9 d|||~an action without a document"}},
		{records.Options{IDField: "text", MakeID: true}, []string{"1 x|x||", "4 index|index|", "6 a:6|", "7 a:7|", "9 a:9|"}},
		{records.Options{Format: JSONL, MakeID: true}, []string{"1 a:1|", "2 a:2|x|", "4 a:4|", "5 7|index|", "6 a:6|", "7 a:7|", "8 a:8|", "9 a:9|"}},
	} {
		got, f, err := read(t, "a", content, c.opt)
		if err != nil || len(got) != len(c.want) || (c.opt.Format == records.Auto) != strings.Contains(f.info.Notice, "Elasticsearch") {
			t.Fatalf("%q, %v", got, err)
		}
		for i, want := range c.want {
			if !strings.HasPrefix(got[i], want) {
				t.Errorf("%q, want %q", got[i], want)
			}
		}
	}
	for _, lines := range []string{"{\"index\":{\"_id\":1}}\n", "{\"index\":{\"a\":1},\"text\":\"x\"}\n{\"text\":\"x\"}\n", "{\"index\":{}}\n{\"index\":{}}\n", "{\"delete\":{}}\n{\"text\":\"x\"}\n"} {
		if isBulk(sampleLines([]byte(lines), true)) {
			t.Errorf("%q", lines)
		}
	}
}
