package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// packed compresses a body.
func packed(t testing.TB, encoding, body string) string {
	var out bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "zlib":
		w = zlib.NewWriter(&out)
	case "deflate":
		w, _ = flate.NewWriter(&out, 6)
	case "br":
		w = brotli.NewWriter(&out)
	case "zstd":
		w, _ = zstd.NewWriter(&out)
	}
	io.WriteString(w, body)
	must.Do(t, w.Close())
	return out.String()
}

// chunks encodes a body with the transfer encoding "chunked".
func chunks(body string) (out string) {
	for ; len(body) > 7; body = body[7:] {
		out += "7;x=y\r\n" + body[:7] + "\r\n"
	}
	if body != "" {
		out += fmt.Sprintf("%X\r\n%s\r\n", len(body), body)
	}
	return out + "0\r\nTrailer: x\r\n\r\n"
}

func record(warcType, contentType, block string) string {
	return fmt.Sprintf("WARC/1.1\r\nWARC-Type: %s\r\nWARC-Target-URI: <https://x/>\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", warcType, contentType, len(block), block)
}

// response returns the record of an HTTP response.
func response(head, body string) string {
	return record("response", "application/http; msgtype=response", "HTTP/1.1 200 OK\r\n"+strings.ReplaceAll(strings.TrimSpace(head), "\n", "\r\n")+"\r\n\r\n"+body)
}

// readPage returns the texts of a file, and the skipped records. It also reads a copy of the file and
// compares the records.
func readPage(t *testing.T, content string, opt records.Options) (texts, skipped string) {
	t.Helper()
	opt.Tally = &records.Tally{}
	src := must.Get(records.New("a.warc", io.NopCloser(strings.NewReader(content)), -1, opt))(t)
	defer src.Close()
	for rec, err := range src.Records(context.Background()) {
		if is, ok := errors.AsType[*records.Issue](err); ok {
			texts += "! " + is.Reason + "|"
			continue
		} else if err != nil {
			break // copy of a file without documents
		}
		if texts += rec.Doc.Text + "|"; rec.Doc.ID != "https://x/" || !strings.Contains(content, string(rec.Raw)) {
			t.Errorf("%q: %q", rec.Doc.ID, rec.Raw)
		}
	}
	all, _ := opt.Tally.All()
	return texts, all.String()
}

func TestWARCPages(t *testing.T) {
	const page, text = "<!doctype html><title>t</title><p>the <b>page</b><script>x</script>", "t\nthe page"
	const html = "Content-Type: text/html; charset=utf-8\n"
	zip := packed(t, "gzip", page)
	for _, c := range []struct{ name, record, text, skipped string }{
		{"plain", response(html+"Content-Length: 5", page), text, ""},
		{"no type", response("Server: x", page), text, ""},
		{"xhtml", response("content-type: Application/XHTML+xml", page), text, ""},
		{"text", response("Content-Type: text/plain; charset=latin1", "caf\xe9"), "café", ""},
		{"gzip", response(html+"Content-Encoding: GZip", zip), text, ""},
		{"zlib", response(html+"Content-Encoding: deflate", packed(t, "zlib", page)), text, ""},
		{"deflate", response(html+"Content-Encoding: deflate", packed(t, "deflate", page)), text, ""},
		{"brotli", response(html+"Content-Encoding: br", packed(t, "br", page)), text, ""},
		{"zstd", response(html+"Content-Encoding: zstd", packed(t, "zstd", page)), text, ""},
		{"two", response(html+"Content-Encoding: br, gzip", packed(t, "gzip", packed(t, "br", page))), text, ""},
		{"chunked", response(html+"Transfer-Encoding: chunked", chunks(page)), text, ""},
		{"chunked gzip", response(html+"Transfer-Encoding: chunked\nContent-Encoding: gzip", chunks(zip)), text, ""},
		{"not chunked", response(html+"Transfer-Encoding: chunked\nContent-Encoding: br", page), text, ""},
		{"cut off", response(html+"Content-Encoding: gzip", packed(t, "gzip", page+strings.Repeat(" more", 100))[:82]), "", ""},
		{"damaged", response(html+"Content-Encoding: gzip", "\x00\x01\x02"), "", "1 damaged body"},
		{"unknown", response(html+"Content-Encoding: rot13", page), "", `1 body in "rot13"`},
		{"empty", response(html, ""), "", "1 empty body"},
		{"empty gzip", response(html+"Content-Encoding: gzip", packed(t, "gzip", "")), "", "1 empty body"},
		{"image", response("Content-Type: image/PNG", "\x89PNG"), "", "1 image/png"},
		{"redirect", strings.Replace(response(html, page), "200 OK", "301 Go", 1), "", "1 redirect"},
		{"request", record("request", "application/http", "GET /"), "", "1 request"},
		{"resource", record("resource", "text/html", page), text, ""},
		{"log", record("resource", "text/plain", "wget"), "wget", ""},
		{"dns", record("response", "text/dns", "x"), "", "1 text/dns"},
		{"conversion", record("conversion", "text/html", page), page, ""},
	} {
		texts, skipped := readPage(t, c.record, records.Options{})
		if c.name == "cut off" {
			if !strings.HasPrefix(texts, text) {
				t.Errorf("%s: %q", c.name, texts)
			}
			continue
		}
		if want := c.text + "|"; (texts != want && c.skipped == "") || skipped != c.skipped {
			t.Errorf("%s: %q, %q, want %q, %q", c.name, texts, skipped, want, c.skipped)
		}
	}
	crawl := record("warcinfo", "application/warc-fields", "x: y") + record("request", "", "GET") + response(html, page) + record("metadata", "", "") + record("request", "", "GET") +
		record("revisit", "application/http", "HTTP/1.1 200 OK\r\n\r\n") + record("resource", "text/plain", "log")
	if texts, skipped := readPage(t, crawl, records.Options{}); texts != text+"|log|" || skipped != "2 request, 1 metadata, 1 revisit, 1 warcinfo" {
		t.Errorf("%q, %q", texts, skipped)
	}
	if texts, skipped := readPage(t, crawl, records.Options{Cut: true}); texts != "log|" || !strings.Contains(skipped, "1 text/html") {
		t.Errorf("%q, %q", texts, skipped)
	}
	if texts, _ := readPage(t, crawl, records.Options{HTML: "raw"}); texts != page+"|log|" {
		t.Errorf("%q", texts)
	}
	bomb := response(html+"Content-Encoding: br", packed(t, "br", strings.Repeat(" ", records.MaxRecord+1)))
	if texts, _ := readPage(t, bomb, records.Options{}); texts != "! "+errTooLarge.Error()+"|" {
		t.Errorf("%.200q", texts)
	}
}

// FuzzWARCBody decodes any block of a response.
func FuzzWARCBody(f *testing.F) {
	for _, block := range []string{
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<p>\r\n1\r\na\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Encoding: gzip, deflate, br, zstd\n\n" + packed(f, "gzip", "a"),
		"HTTP/2 200\r\ncontent-type: text/plain; charset=big5\r\n\r\n\xa4\xa4", "HTTP/", "<html>",
	} {
		f.Add([]byte(block))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		h := &warcHeader{fields: []warcField{{"WARC-Type", "response"}, {"Content-Type", "text/html"}}}
		b := describe(h, block)
		body, _, _ := b.body(block)
		if text, _, _ := b.text(body, records.Options{}); !utf8.ValidString(text) {
			t.Errorf("%q", text)
		}
	})
}
