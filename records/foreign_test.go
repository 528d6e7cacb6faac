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
		"<?xml version=\"1.0\"?>":                                              "XML",
		"\n<rss version=":                                                      "XML",
		"<!DOCTYPE html>\n<html lang=en>\n<p>x":                                "an HTML page: Files reads it as one text",
		"<!doctype html public\n \"-//W3C\"><html>\n<p>x":                      "an HTML page",
		"window.YTD.tweets.part0 = [":                                          "JavaScript",
		"TY  - JOUR\nTI  - x\n":                                                "references in RIS",
		"@article{a,\n":                                                        "references in BibTeX",
		"PMID- 1\n":                                                            "references from PubMed",
		"%0 Journal Article\n%A A\n":                                           "references from EndNote",
		"LOCUS       SCU49845     5028 bp    DNA\nDEFINITION  x\n":             "GenBank",
		"ID   001R_FRG3G   Reviewed;   256 AA.\nAC   Q6GZX4;\n":                "UniProt",
		"BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\n":                         `calendar (iCalendar): RecordStart: "^BEGIN:V(EVENT|TODO)" reads each record as a text; `,
		"0:00:01.000,0:00:04.000\nHello\n":                                     "subtitles",
		"[Script Info]\nTitle: x\n":                                            "subtitles",
		"<DOC>\n<DOCNO> 1 </DOCNO>\n":                                          "between <doc> and </doc>",
		"commit 0123456789012345678901234567890123456789\nAuthor: Ann <a@x>\n": "a git log",
		"-----BEGIN CERTIFICATE-----\nMIID\n":                                  "(PEM)",
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
	// Texts of one document per line that begin similarly.
	for _, text := range []string{
		"@somebody said", "<p>text", "TYPE - x", "<!DOCTYPE html><html><p>x</p></html>\n<!DOCTYPE html><html><p>y</p></html>\n",
		"ID   name  \n1    x\n", "<doc id=\"1\">a text</doc>\n<doc id=\"2\">another</doc>\n", "<docket> x\n", "commit 12 crimes\nAuthor: x\n", "%0 x\n%d\n",
	} {
		if err := openText(t, "a.txt", text, Options{}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
