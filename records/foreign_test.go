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
