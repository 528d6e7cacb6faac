package records

import (
	"io"
	"strings"
	"testing"
	"unicode/utf16"
)

// openText opens a text that no family detects.
func openText(t *testing.T, name, text string, opt Options) error {
	t.Helper()
	s, err := New(name, io.NopCloser(strings.NewReader(text)), int64(len(text)), opt)
	if err == nil {
		s.Close()
	}
	return err
}

// TestForeignTexts has the beginning of a text of each kind whose lines are not documents. The
// error names the kind and gives advice: with any line ends, after a byte order mark, in UTF-16,
// from a pipe without more data, and after a long record. With Format txt it is read.
func TestForeignTexts(t *testing.T) {
	defer func(f []*Family) { families = f }(families)
	families = nil
	Register(Family{Formats: []Description{{Name: "whole", Unit: "document"}}, Open: openWhole})
	for text, want := range map[string]string{
		"<?xml version=\"1.0\"?>":                                                       "XML",
		"\n<rss version=":                                                               "XML",
		"<!DOCTYPE html>\n<html lang=en>\n<p>x":                                         "an HTML page: Files",
		"<!doctype html public\n \"-//W3C\"><html>\n<p>x":                               "an HTML page",
		"window.YTD.tweets.part0 = [":                                                   "JavaScript",
		"TY  - JOUR\nTI  - x\n":                                                         "references in RIS",
		"@article{a,\n":                                                                 "references in BibTeX",
		"PMID- 1\n":                                                                     "references from PubMed",
		"%0 Journal Article\n%A A\n":                                                    "references from EndNote",
		">a\nACGT\nACGT\n>b\nACGT\n":                                                    "FASTA: seqkit fx2tab",
		">a\nACGTacgtN-\n\n>b\nACGT\n\n>c\nAC\n# notes\n":                               "FASTA",
		">sp|P1|X A test\nMKVLAAGIVGLL*":                                                "FASTA",
		"@r1 1\nACGTN\n+\n!\"#$%\n@r2\nA\n+r2\nI\n":                                     "FASTQ: seqkit fx2tab",
		"@r1\nACGT\nACGT\n+r1\n@III\nIIII":                                              "FASTQ",
		"LOCUS       SCU49845     5028 bp    DNA\nDEFINITION  x\n":                      "GenBank",
		"ID   001R_FRG3G   Reviewed;   256 AA.\nAC   Q6GZX4;\n":                         "UniProt",
		"BEGIN:VCARD\nVERSION:3.0\nFN:Ann\nEND:VCARD\n":                                 "vCards: awk '/^BEGIN:VCARD/ {",
		"begin:vcard\nfn;charset=utf-8:Ann\n":                                           "vCards",
		"BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\n":                                  "calendar (iCalendar): awk '/^BEGIN:V(EVENT|TODO)/ {",
		"WEBVTT\n\n00:01.000 --> 00:04.000\nHello\n":                                    "subtitles: Files",
		"WEBVTT - x\nKind: captions\n\nNOTE x\n\n1\n00:01 --> 00:04\n":                  "subtitles",
		"1\n00:00:01,000 --> 00:00:04,000\nHello\n":                                     "subtitles",
		"0:00:01.000,0:00:04.000\nHello\n":                                              "subtitles",
		"[Script Info]\nTitle: x\n":                                                     "subtitles",
		"<doc id=\"1\" url=\"x\" title=\"T\">\nT\n\nText.\n</doc>\n":                    "between <doc> and </doc>: wikiextractor can also write JSON lines",
		"<DOC>\n<DOCNO> 1 </DOCNO>\n":                                                   "between <doc> and </doc>",
		"dn: cn=a,dc=x\nobjectClass: top\n":                                             "LDIF: awk -v RS=",
		"version: 1\n\n# x\ndn: cn=a,\n dc=x\ncn:: YQ==\n":                              "LDIF",
		"# German\n#, fuzzy\nmsgid \"\"\nmsgstr \"\"\n\"Language: de\"":                 "translations (gettext): awk -v RS=",
		"msgctxt \"m\"\nmsgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"\"\n":              "translations",
		"[Event \"Open\"]\n[Site \"?\"]\n\n1. e4 e5\n":                                  `(PGN): awk '/^\[Event / {`,
		"commit 0123456789012345678901234567890123456789\nAuthor: Ann <a@x>\n":          "a git log",
		"-----BEGIN CERTIFICATE-----\nMIID\n":                                           "(PEM)",
		"Return-Path: <a@x>\nReceived: from x\n\tby y\nFrom: Ann <a@x>\nX: y\n\nText\n": "a mail: Files",
		"From: Ann <a@x>\nSubject: pier\n\nText\n":                                      "a mail",
	} {
		head := strings.TrimLeft(text, "\n")
		utf := []byte("\xff\xfe")
		for _, u := range utf16.Encode([]rune(text)) {
			utf = append(utf, byte(u), byte(u>>8))
		}
		for how, text := range map[string]string{"": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "mark": "\ufeff" + text, "UTF-16": string(utf), "blanks": "\n \n" + head} {
			for _, name := range []string{"a", "a.txt"} {
				if err := openText(t, name, text, Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "; "+AsText()) {
					t.Errorf("%q %s as %s: %v, want %s", text, how, name, err, want)
				}
			}
			if err := openText(t, "a.txt", text, Options{Format: "whole"}); err != nil {
				t.Errorf("%q %s: %v", text, how, err)
			}
		}
	}
	long := strings.Repeat("ACGTGGTCA\n", HeadBytes)
	for text, want := range map[string]string{">chr1\n" + long: "FASTA", ">chr1\n" + strings.ReplaceAll(long, "\n", ""): "FASTA", "@r\n" + strings.ReplaceAll(long, "\n", ""): "FASTQ"} {
		if err := openText(t, "a", text, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	// Texts of one document per line that begin similarly.
	for _, text := range []string{
		"@somebody said", "<p>text", "TYPE - x", "<!DOCTYPE html><html><p>x</p></html>\n<!DOCTYPE html><html><p>y</p></html>\n",
		"> a quotation\nyes\n> another one\nno\n", ">\napple\npear\na and b\n", ">what\nnothing much\n>why\nso\n", ">what\nyes\n>why\nno\n",
		"@bob\nhello\n+1\nyes\n@ann\n", "@a\nACGT\n+ and more\nof that\n", "ID   name  \n1    x\n", "WEBVTT is a format\nof subtitles\n",
		"BEGIN:VCARD is a line\nx\n", "12\n10:30 is the time\n", "<doc id=\"1\">a text</doc>\n<doc id=\"2\">another</doc>\n", "<docket> x\n",
		"dn: is short for\ndistinguished name\n", "msgid is a keyword\n", "# a\nmsgid \"a\"\nmsgid \"b\"\n", "[Event \"x\"] was sold out\n[Event \"y\"] was not\n", "[1] a note\n[2] another\n",
		"Subject: one\nSubject: two\n\nSubject: three\n", "From: a\nTo: b\n\nx\n", "From: a\nDate: today\nNot a field\n", "commit 12 crimes\nAuthor: x\n", "%0 x\n%d\n",
	} {
		if err := openText(t, "a.txt", text, Options{}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRecords has texts whose multi-line records repeat a separator, and texts of one document per
// line that have repeated lines.
func TestRecords(t *testing.T) {
	lots := func(n int, text string) string { return strings.Repeat(text, n) }
	line := func(n int) (text string) {
		for i := range n {
			text += "line " + string(rune('a'+i%26)) + lots(i, "x") + "\n"
		}
		return text
	}
	for text, want := range map[string]string{
		lots(3, line(3)+"%\n"):                                   `lines like % seem to separate its records: awk '$0 == "%" {`,
		line(1) + "%\n" + line(2) + "%\r\n":                      "lines like %",
		lots(3, line(2)+"//\n\n"):                                "lines like //",
		lots(9, line(90)+"$$$$\n"):                               "lines like $$$$",
		lots(3, lots(3, line(1)+"~~~\n")+"***\n"):                "lines like ~~~",
		lots(4, line(1)+"***\n"+line(1)+"---\n"):                 "lines like ***",
		lots(4, "<item>\n"+line(2)+"</item>\n") + "</items>\n":   "lines like </item>",
		lots(20, line(1)+"---\n") + "---\n":                      "lines like ---",
		lots(3, "Package: a\nVersion: 1\n\n"):                    `begin with "Package:": awk -v RS=`,
		lots(30, "name : a\r\nsize: 1\r\n\r\n") + "The end\n":    `begin with "name :"`,
		"format-version: 1\n\n" + lots(20, "[Term]\nid: 1\n\n"):  `begin with "["`,
		lots(3, "Q:\nWhat?\nA: this\n\n\n"):                      `begin with "Q:"`,
		"":                                                       "",
		line(2) + "%\n" + line(2):                                "",
		lots(3, line(101)+"%\n"):                                 "", // rare
		lots(3, "---\nstop words\n") + line(20):                  "", // at the beginning
		lots(20, line(1)+"---\n") + lots(3, "---\n"):             "", // follows itself
		lots(9, "A title\n=======\n"+line(3)):                    "", // underlines
		lots(9, "ok\nno\n...\n"+line(2)+"?\n:)\n-\n[deleted]\n"): "",
		lots(9, "Ann\n"):                                         "",
		lots(3, "Package: a\n\n"):                                "", // one line per paragraph
		lots(2, "Package: a\nVersion: 1\n\n"):                    "",
		lots(3, "Package: a\nVersion: 1\n\nsome words\n\n"):      "",
		lots(9, "Ann: hello\nBob: hi\n"):                         "",
		lots(3, "http://example.org/\nx\n\n"):                    "",
	} {
		err := (&Stream{head: []byte(text), headEnds: true}).RefuseRecords()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), "; "+AsText())) {
			t.Errorf("%.200q: %v, want %q", text, err, want)
		}
	}
	if err := (&Stream{head: []byte(lots(3, "Package: a\nVersion: 1\n\n")), headEnds: false}).RefuseRecords(); err != nil {
		t.Errorf("the last paragraph may go on: %v", err)
	}
}
