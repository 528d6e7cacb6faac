package files

import (
	"bytes"
	"fmt"
	"io"
	"regexp"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// pageBegins matches the beginning of a page, after the parts that isPage skips.
var pageBegins = regexp.MustCompile(`(?i)^<(!doctype\s+html|html)[\s>]`)

// isPage reports whether head is the beginning of an HTML page. White space, a byte order mark,
// comments and an XML declaration may precede it.
func isPage(head []byte) bool {
	for before := -1; before != len(head); {
		before = len(head)
		head = bytes.TrimLeft(head, " \t\r\n\f\ufeff")
		for begin, end := range map[string]string{"<!--": "-->", "<?xml": "?>"} {
			if bytes.HasPrefix(head, []byte(begin)) {
				_, head, _ = bytes.Cut(head, []byte(end))
			}
		}
	}
	return pageBegins.Match(head)
}

// isPageType reports whether a media type, possibly with parameters, is a type of HTML pages.
func isPageType(contentType string) bool {
	kind, _ := mediaType(contentType)
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// declaredCharset matches the declaration of a charset at the beginning of a page.
var declaredCharset = regexp.MustCompile(`(?i)<(?:meta\s[^>]*?charset\s*=|\?xml\s[^>]*?encoding\s*=)\s*["']?\s*([^\s"'/>;?]+)`)

// declaredBytes is the number of bytes searched for the declaration of a charset. Browsers search
// the same number, or fewer.
const declaredBytes = 4 << 10

// pageText returns the visible text of a page, or its whole source with Options.HTML. The
// charset comes from a byte order mark, the media type, or the page itself; otherwise,
// records.Decode guesses it.
func pageText(page []byte, contentType string, opt records.Options) (text string, bad, guessed bool) {
	_, params := mediaType(contentType)
	name := params["charset"]
	switch found := declaredCharset.FindSubmatch(page[:min(len(page), declaredBytes)]); {
	case bytes.HasPrefix(page, []byte("\xef\xbb\xbf")):
		name = "utf-8"
	case bytes.HasPrefix(page, []byte("\xff\xfe")), bytes.HasPrefix(page, []byte("\xfe\xff")):
		name = "utf-16"
	case name == "" && found != nil && !bytes.HasPrefix(bytes.ToLower(found[1]), []byte("utf-16")): // a page in UTF-16 could not be searched here
		name = string(found[1])
	}
	text, bad, guessed = records.Decode(page, name, opt.Encoding)
	if opt.HTML != "raw" {
		return PageText([]byte(text), opt.Fields), bad, guessed
	}
	return text, bad, guessed
}

// Elements whose content is not shown, elements that are lines of their own, and elements that are
// separated from adjacent text.
var (
	hiddenElements = map[atom.Atom]bool{
		atom.Script: true, atom.Style: true, atom.Template: true, atom.Noscript: true, atom.Iframe: true, atom.Noframes: true, atom.Noembed: true,
	}
	lineElements = setOf(atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Br, atom.Caption, atom.Center, atom.Dd, atom.Details,
		atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Frameset,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Head, atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Legend, atom.Li,
		atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.Optgroup, atom.Option, atom.P, atom.Pre, atom.Search, atom.Section, atom.Select,
		atom.Summary, atom.Table, atom.Tbody, atom.Textarea, atom.Tfoot, atom.Thead, atom.Title, atom.Tr, atom.Ul)
	cellElements = setOf(atom.Td, atom.Th, atom.Img, atom.Button, atom.Input)
)

func setOf(all ...atom.Atom) map[atom.Atom]bool {
	set := make(map[atom.Atom]bool, len(all))
	for _, a := range all {
		set[a] = true
	}
	return set
}

// maxToken is the largest size of a tag or a text in bytes: the attributes of a tag need many times
// as much memory.
const maxToken = 16 << 20

// HasPages reports whether the texts of a format may be pages, which are read as Options.HTML
// says.
func HasPages(f records.Format) bool { return f == WARC || f == Mbox || f == Files }

// bodyPart is the part of a page that has everything that no other field has.
const bodyPart = "body"

// partElements are the elements whose text is in other parts.
var partElements = map[atom.Atom]string{
	atom.Title: "title", atom.H1: "headings", atom.H2: "headings", atom.H3: "headings", atom.H4: "headings", atom.H5: "headings", atom.H6: "headings",
}

// CheckFields returns an error if fields are not parts of a page, or if pages are compared as an
// Options.HTML says with which they have none.
func CheckFields(fields []string, html string) error {
	for _, name := range fields {
		if name != bodyPart && name != "title" && name != "headings" {
			return fmt.Errorf("%s: a page has the fields title, headings and body, not %q", option.Name("Fields"), name)
		}
	}
	if fields != nil && html == "raw" {
		return fmt.Errorf("%s compares the markup of pages, so %s does not apply", option.Set("HTML", html), option.Name("Fields"))
	}
	return nil
}

// inFields returns the text of a document with these fields, or that of the body if fields is nil.
func inFields(fields []string, of func(part string) string) string {
	if fields == nil {
		return of(bodyPart)
	}
	texts := make([]string, len(fields))
	for i, part := range fields {
		texts[i] = of(part)
	}
	return engine.JoinFields(texts...)
}

// asBody returns inFields for a document that is not a page.
func asBody(text string, fields []string) string {
	return inFields(fields, func(part string) string { return map[string]string{bodyPart: text}[part] })
}

// PageText returns the visible text of a page, or of HTML within one; or, if fields is not nil, that
// of its parts, joined by engine.JoinFields. White space becomes a single blank, and block elements
// end lines. It reads the page once, sequentially, so neither deep nesting nor errors in the markup
// matter.
func PageText(page []byte, fields []string) string {
	z := html.NewTokenizer(bytes.NewReader(page))
	z.SetMaxBuf(maxToken)
	now := &pageWriter{out: make([]byte, 0, len(page)/4)}
	parts := map[string]*pageWriter{"title": now, "headings": now, bodyPart: now}
	for _, part := range fields {
		if part != bodyPart {
			parts[part] = &pageWriter{}
		}
	}
	var within atom.Atom // the current hidden element
	depth := 0           // number of open elements of that kind
	drawn := 0           // number of open svg and math elements
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				return asBody(string(page), fields) // including the markup
			}
			return inFields(fields, func(part string) string { return string(parts[part].out) })
		case html.TextToken:
			if depth == 0 {
				now.text(z.Text())
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			switch {
			case kind == html.SelfClosingTagToken && drawn > 0:
				z.NextIsNotRawText() // the tag has a slash, such as <title/>, and no end; in HTML the slash would be ignored
			case hiddenElements[tag] && depth > 0 && tag != within:
			case hiddenElements[tag] && kind == html.EndTagToken:
				depth = max(depth-1, 0)
			case hiddenElements[tag]:
				within, depth = tag, depth+1
			case tag == atom.Svg || tag == atom.Math:
				if kind == html.EndTagToken {
					drawn = max(drawn-1, 0)
				} else if kind == html.StartTagToken {
					drawn++
				}
			case depth > 0:
			case lineElements[tag]:
				now.end('\n')
				if part := partElements[tag]; part != "" && drawn == 0 { // the title of a drawing is not that of the page
					if kind == html.EndTagToken {
						part = bodyPart
					}
					now = parts[part]
					now.end('\n')
				}
			case cellElements[tag]:
				now.end(' ')
			}
		}
	}
}

// pageWriter writes a text without leading and trailing white space, and with single white space
// characters between words.
type pageWriter struct {
	out   []byte
	space byte // to be written before the next word, or 0
}

// end separates words by space; a pending newline has precedence.
func (w *pageWriter) end(space byte) {
	if w.space != '\n' && len(w.out) > 0 {
		w.space = space
	}
}

// text writes a part of a line.
func (w *pageWriter) text(text []byte) {
	for len(text) > 0 {
		n := bytes.IndexAny(text, " \t\r\n\f")
		switch {
		case n == 0:
			w.end(' ')
			text = text[1:]
			continue
		case n < 0:
			n = len(text)
		}
		if w.space != 0 {
			w.out, w.space = append(w.out, w.space), 0
		}
		w.out, text = append(w.out, text[:n]...), text[n:]
	}
}
