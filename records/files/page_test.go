package files

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

func TestPageText(t *testing.T) {
	for page, want := range map[string]string{
		"":              "",
		"plain  text\n": "plain text",
		"<!DOCTYPE html><html><head><title>A &amp; B</title><meta charset=utf-8><style>p {}</style></head><body><p>one<p>two</body>": "A & B\none\ntwo",
		"<p>o<b>n</b>e<!-- <p>no --> t<i>w</i>o</p>three<br>four":                                                                    "one two\nthree\nfour",
		"<table><tr><td>a</td><td>b</td></tr><tr><th>c</th></tr></table>":                                                            "a b\nc",
		"<script>if (a<b) document.write('<p>no</p>')</script>yes<SCRIPT SRC=x></SCRIPT >, too":                                      "yes, too",
		"<template><div><template>x</template>y</div></template>z<noscript><p>no</p></noscript>":                                     "z",
		"<iframe>no</iframe><noframes><p>no</noframes><textarea>typed <b></textarea>":                                                "typed <b>",
		"<svg><title/><style/><path d=''/><text>drawn</text></svg><p>below":                                                          "drawn\nbelow",
		"<math><mi>x</mi></math> <a href='a>b'>link</a>&nbsp;&copy;&#8364;&#x41;&unknown;":                                           "x link\u00a0©€A&unknown;",
		"<p>cut off <a href=\"":                                      "cut off",
		"<p>a</p></div></p></template></script><p>b":                 "a\nb",
		"a <pre>b\n  c</pre>":                                        "a\nb c",
		"<ul><li>one<li>two</ul><select><option>x<option>y</select>": "one\ntwo\nx\ny",
		"1 < 2 and 3 > 2 <3":                                         "1 < 2 and 3 > 2 <3",
		"<script/>in a script</script>out":                           "out",
		"\ufeff<p>mark":                                              "mark",
	} {
		if got, _, _ := pageText([]byte(page), "text/html", records.Options{}); got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
	deep := strings.Repeat("<div><b><template></template>", 20_000)
	if got := PageText([]byte(deep+"deep"), nil); got != "deep" {
		t.Errorf("%.100q", got)
	}
	huge := "<p>text<a x=" + strings.Repeat("a", maxToken) + ">"
	if got := PageText([]byte(huge), nil); got != huge {
		t.Errorf("%.100q", got)
	}
	if got, _, _ := pageText([]byte("<p>caf\xe9"), "text/html; charset=latin1", records.Options{HTML: "raw"}); got != "<p>café" {
		t.Errorf("%q", got)
	}
}

// The fields of a page divide its visible text: what no other field has is the body.
func TestPageFields(t *testing.T) {
	for _, c := range []struct {
		page   string
		fields []string
		want   string
	}{
		{"<title>a &amp; b</title><h1>c <b>d</b> e</h1>f<h6>g</h6>h", []string{"title", "headings", "body"}, "a & b\x1fc d e\ng\x1ff\nh"},
		{"<title>a</title><h1>c</h1>f", []string{"body", "title"}, "c\nf\x1fa"},
		{"<title>a</title><h1>c</h1>f", []string{"headings", "title"}, "c\x1fa"},
		{"<title>a</title><h1>c</h1>f", []string{"headings", "body"}, "c\x1fa\nf"},
		{"<title>a</title><h1>c</h1>f", []string{"body"}, "a\nc\nf"},
		{"x<h1>c<h2>d</h2>e<svg><title>f</title><h1>g</h1></svg><script>h</script>", []string{"title", "headings", "body"}, "\x1fc\nd\x1fx\ne\nf\ng"},
		{"<h1>c<script><h1></script><template></h1></template>d</h1>&#31;e", []string{"headings", "body"}, "cd\x1f e"},
		{"<p>text<a x=" + strings.Repeat("a", maxToken) + ">", []string{"title", "body"}, "\x1f<p>text<a x=" + strings.Repeat("a", maxToken) + ">"},
		{"", []string{"title", "body"}, "\x1f"},
	} {
		if got, _, _ := pageText([]byte(c.page), "", records.Options{Fields: c.fields}); got != c.want {
			t.Errorf("%.100q: %.100q, want %.100q", c.page, got, c.want)
		}
	}
}

// The charset comes from the byte order mark, the media type, the page, or --encoding.
func TestPageCharsets(t *testing.T) {
	for _, c := range []struct {
		contentType, head, charset string
		encoding                   records.Encoding
	}{
		{"text/html; charset=Shift_JIS", "", "shift_jis", records.UTF8},
		{"text/html", "<meta charset='euc-jp'>", "euc-jp", records.UTF8},
		{"text/html", `<meta http-equiv="Content-Type" content="text/html; charset=gb2312">`, "gbk", records.UTF8},
		{"", `<?xml version="1.0" encoding="big5"?><html>`, "big5", records.UTF8},
		{"text/html", "\ufeff", "utf-16le", records.UTF8},
		{"text/html", "\ufeff", "utf-16be", records.UTF8},
		{"text/html", "", "utf-8", records.UTF8},
		{"text/html", "", "gb18030", "gb18030"},
		{"text/html; charset=cp932", "", "shift_jis", records.UTF8},
	} {
		e := must.Get(htmlindex.Get(c.charset))(t)
		page := must.Get(e.NewEncoder().Bytes([]byte(c.head + "<p>日本</p>")))(t)
		if got, bad, guessed := pageText(page, c.contentType, records.Options{Encoding: c.encoding}); got != "日本" || bad || guessed {
			t.Errorf("%s %q: %q, %v, %v", c.contentType, c.head, got, bad, guessed)
		}
	}
	if got, bad, guessed := pageText([]byte("<p>\xd6\xd0"), "text/html; charset=x-foo", records.Options{}); got != "\ufffd\ufffd" || !bad || !guessed {
		t.Errorf("%q, %v, %v", got, bad, guessed)
	}
}

func TestIsPage(t *testing.T) {
	for head, want := range map[string]bool{
		"<!DOCTYPE html>": true, "\ufeff \n<!doctype  HTML PUBLIC \"-//W3C//DTD XHTML 1.0\">": true, "<html lang=en>": true, "<HTML>": true,
		`<?xml version="1.0"?><!-- a > b --><html xmlns="http://www.w3.org/1999/xhtml">`: true,
		`<?xml version="1.0"?><rss>`: false, "html": false, "<htmlx>": false, "<p>": false, "": false, "<!-- never ends <html>": false, "a <html>": false,
	} {
		if isPage([]byte(head)) != want {
			t.Errorf("%q", head)
		}
	}
}

// FuzzPage reads arbitrary pages without a panic, and gets valid text.
func FuzzPage(f *testing.F) {
	for _, page := range []string{
		"<!doctype html><title>t</title><p>a<script>b</script><template>c</template><svg><title/></svg>d", "<plaintext><p>", "\xff\xfe<\x00p\x00>\x00",
		"<a b=c d='e' f=\"g\" h/><![CDATA[x]]><!DOCTYPE><?pi?></", "<noscript><noscript></noscript><xmp><b></xmp>&amp;&#0;",
	} {
		f.Add([]byte(page), "text/html")
	}
	f.Fuzz(func(t *testing.T, page []byte, contentType string) {
		text, _, _ := pageText(page, contentType, records.Options{})
		if !utf8.ValidString(text) || bytes.ContainsAny([]byte(text), "\r\f") && !bytes.ContainsAny(page, "&") {
			t.Errorf("%q: %q", page, text)
		}
	})
}
