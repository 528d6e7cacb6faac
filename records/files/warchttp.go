package files

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/records"
)

// warcBlock describes the block of a record before it has been read completely.
type warcBlock struct {
	kind        string // the kind of content, if it is not a document; else ""
	contentType string
	head        int      // size of the header of an HTTP response
	encodings   []string // of the HTTP body, the last one applied first
}

// describe describes the block of a record, from the headers of the record and the beginning of the
// block.
func describe(h *warcHeader, begin []byte) (b warcBlock) {
	b.contentType = h.get("Content-Type")
	warcType := strings.ToLower(h.get("WARC-Type"))
	switch warcType {
	case "conversion":
		b.contentType = "text/plain"
		return b
	case "resource", "response":
	default:
		b.kind = cmp.Or(warcType, "record without a type")
		return b
	}
	if bytes.HasPrefix(begin, []byte("HTTP/")) && warcType == "response" {
		status := b.readHead(begin)
		switch {
		case status/100 == 3:
			b.kind = "redirect"
			return b
		case b.contentType == "" && isPage(begin[b.head:]):
			b.contentType = "text/html"
		}
	}
	switch kind, _ := mediaType(b.contentType); {
	case isPageType(b.contentType), kind == "text/plain":
	case kind == "":
		b.kind = warcType + " without a media type"
	default:
		b.kind = kind
	}
	return b
}

// readHead parses the header of an HTTP response, and returns the status.
func (b *warcBlock) readHead(begin []byte) (status int) {
	head, _ := cutHeader(begin)
	b.contentType, b.head = "", len(head)
	first, rest, _ := bytes.Cut(head, []byte("\n"))
	if fields := strings.Fields(string(first)); len(fields) > 1 {
		status, _ = strconv.Atoi(fields[1])
	}
	var chunked []string
	for len(rest) > 0 {
		var lines []byte
		lines, rest = cutField(rest)
		name, value, _ := strings.Cut(string(lines), ":")
		switch value = strings.TrimSpace(value); strings.ToLower(name) {
		case "content-type":
			b.contentType = value
		case "transfer-encoding":
			chunked = append(chunked, strings.Split(strings.ToLower(value), ",")...)
		case "content-encoding":
			b.encodings = append(b.encodings, strings.Split(strings.ToLower(value), ",")...)
		}
	}
	b.encodings = append(b.encodings, chunked...)
	slices.Reverse(b.encodings)
	return status
}

var errTooLarge = errors.New("too large: its body is larger than a document may be")

// body returns the decoded body of an HTTP response, or the block of another record. Damaged data
// is decoded as far as possible; a body that is not encoded, although the header says so, is
// returned as it is. kind is set if the body is not a document.
func (b *warcBlock) body(all []byte) (body []byte, kind string, err error) {
	body = all[b.head:]
	for _, encoding := range b.encodings {
		var r io.Reader
		var err error
		in := bytes.NewReader(body)
		switch encoding = strings.TrimSpace(encoding); encoding {
		case "", "identity", "none":
			continue
		case "chunked":
			body = dechunk(body)
			continue
		case "gzip", "x-gzip":
			r, err = gzip.NewReader(in)
		case "deflate":
			if r, err = zlib.NewReader(in); err != nil {
				in.Reset(body)
				r, err = flate.NewReader(in), nil
			}
		case "br":
			r = brotli.NewReader(in)
		case "zstd":
			var z *zstd.Decoder
			if z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(records.MaxRecord)); err == nil {
				defer z.Close()
				r = z
			}
		default:
			return nil, fmt.Sprintf("body in %.20q", encoding), nil
		}
		if isPage(body) {
			continue
		}
		var decoded []byte
		if err == nil {
			decoded, err = io.ReadAll(io.LimitReader(r, records.MaxRecord+1))
		}
		switch {
		case len(decoded) > records.MaxRecord:
			return nil, "", errTooLarge
		case err == nil || len(decoded) > 0:
			body = decoded
		case len(body) > 0 && bytes.IndexByte(body, 0) >= 0:
			return nil, "damaged body", nil
		}
	}
	if len(body) == 0 && b.head > 0 {
		return nil, "empty body", nil
	}
	return body, "", nil
}

// dechunk decodes the transfer encoding "chunked". It stops at damage; if there is not a single
// chunk, it returns body unchanged.
func dechunk(body []byte) []byte {
	var out []byte
	for rest := body; ; {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		size, _, _ := strings.Cut(string(line[:min(len(line), 64)]), ";")
		n, err := strconv.ParseUint(strings.TrimSpace(size), 16, 63)
		switch {
		case err != nil && out == nil:
			return body
		case err != nil || n == 0:
			return out
		}
		n = min(n, uint64(len(after)))
		out, rest = append(out, after[:n]...), bytes.TrimPrefix(after[n:], []byte("\r"))
		rest = bytes.TrimPrefix(rest, []byte("\n"))
	}
}

func (b *warcBlock) text(body []byte, opt records.Options) (text string, bad, guessed bool) {
	if isPageType(b.contentType) {
		return pageText(body, b.contentType, opt)
	}
	_, params := mediaType(b.contentType)
	text, bad, guessed = records.Decode(body, params["charset"], opt.Encoding)
	return asBody(text, opt.Fields), bad, guessed
}
