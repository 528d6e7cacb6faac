package files

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
)

// WARC is the format of web crawls, and of the WET files of Common Crawl. A record is a header of
// lines, an empty line, a block whose size the header gives, and two empty lines:
//
//	WARC/1.0 CRLF
//	WARC-Type: conversion CRLF
//	WARC-Target-URI: https://example.org/ CRLF
//	Content-Length: 5 CRLF
//	CRLF
//	hello CRLF CRLF
//
// Records of the type conversion are documents, as are those of the types response and resource
// that contain HTML pages or plain text; the body of an HTTP response is decoded (warchttp.go).
// Other records are only counted by kind, but all records count for positions.

// WARC is the name of the format.
const WARC records.Format = "warc"

const (
	warcMagic  = "WARC/"
	maxHeader  = 64 << 10 // bytes of a header; a longer header is damaged
	defaultURI = "WARC-Target-URI"
	recordEnd  = "\r\n\r\n"
)

func init() {
	records.Register(records.Family{
		Formats: []records.Description{{Name: WARC, Label: "WARC", Unit: "record", Endings: []string{".warc", ".wet"}}},
		Detect: func(in *records.Stream, _ records.Options) bool {
			head, _ := in.Head()
			return bytes.HasPrefix(head, []byte(warcMagic+"1.")) || bytes.HasPrefix(head, []byte(warcMagic+"0."))
		},
		Open:      openWARC,
		NewCopier: func(w io.Writer, _ records.CopyOptions) (records.Copier, error) { return warcCopier{w: w}, nil },
	})
}

type warcFile struct {
	container
	offset int64 // position of r in the content
	texts  int64 // number of records that are documents
	lost   bool  // after a damaged record: everything up to the next header belongs to it
}

func openWARC(in *records.Stream, opt records.Options) (records.Source, error) {
	if opt.TextField != "" || opt.FingerprintField != "" || opt.SetField != "" {
		return nil, fmt.Errorf("the text of a WARC record is its block, so %s, %s and %s do not apply",
			option.Name("TextField"), option.Name("SetField"), option.Name("FingerprintField"))
	}
	if err := CheckFields(opt.Fields, opt.HTML); err != nil {
		return nil, err
	}
	return &warcFile{container: newContainer(in, opt, WARC, defaultURI, maxHeader)}, nil
}

// Info describes the file.
func (f *warcFile) Info() records.Info {
	return records.Info{Name: f.in.Name(), Format: WARC, Shape: "WARC"}
}

// Records yields the documents. A damaged record is an Issue that gives its byte offset in the
// content; reading continues with the next line that begins a record.
func (f *warcFile) Records(ctx context.Context) iter.Seq2[*records.Record, error] {
	return f.records(ctx, func() (*records.Record, error) {
		rec, err := f.next()
		if err == io.EOF && f.texts == 0 && f.n > 0 {
			err = fmt.Errorf("none of its %d records is a page or a text: %s", f.n, f.skipped)
			err = &records.ReadError{File: f.in.Name(), Pos: records.NoPosition, Err: err}
		}
		return rec, err
	})
}

type warcHeader struct {
	raw    []byte // including the empty line at the end
	fields []warcField
}

// warcField is a header field.
type warcField struct{ name, value string }

// get returns the value of a field, or "" if there is none. Case does not matter in names.
func (h *warcHeader) get(name string) string {
	for _, f := range h.fields {
		if strings.EqualFold(f.name, name) {
			return f.value
		}
	}
	return ""
}

// next reads a record. It returns io.EOF at the end of the file and errSkip for a record that is
// left out; any other error that is not a *records.Issue ends the reading.
func (f *warcFile) next() (*records.Record, error) {
	h, at, err := f.header()
	if err != nil {
		return nil, err
	}
	size, err := strconv.ParseInt(h.get("Content-Length"), 10, 64)
	if err != nil || size < 0 {
		return nil, f.damage(at, h.raw, fmt.Sprintf("its Content-Length is %q", h.get("Content-Length")))
	}
	begin, _ := f.r.Peek(int(min(size, maxHeader)))
	b := describe(h, begin)
	if f.opt.Cut && b.kind == "" && (b.head > 0 || isPageType(b.contentType)) {
		b.kind, _ = mediaType(b.contentType) // its text is not in the record verbatim
	}
	switch {
	case b.kind != "":
		f.skipped[b.kind]++
		return nil, f.discard(size, errSkip)
	case f.n <= f.opt.After:
		f.texts++
		return nil, f.discard(size, errSkip)
	}
	if size > records.MaxRecord {
		f.texts++
		return nil, f.oversize(h.raw, size)
	}
	raw := append(make([]byte, 0, len(h.raw)+int(size)+len(recordEnd)), h.raw...)
	raw = raw[:len(h.raw)+int(size)]
	n, err := io.ReadFull(f.r, raw[len(h.raw):])
	f.offset += int64(n)
	if err != nil {
		return nil, cutOff(at, err)
	}
	content := raw[len(h.raw):]
	if end, _ := f.r.Peek(len(recordEnd)); string(end) == recordEnd {
		f.r.Discard(len(recordEnd))
		f.offset += int64(len(recordEnd))
	}
	raw = append(raw, recordEnd...)
	return f.document(h, &b, content, raw)
}

// cutOff returns the error for a record at a byte offset that the end of the file truncates.
func cutOff(at int64, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the record at byte %d is cut off", at)
	}
	return err
}

func (f *warcFile) document(h *warcHeader, b *warcBlock, content, raw []byte) (*records.Record, error) {
	doc := engine.Doc{ID: strings.Trim(h.get(f.id), "<>"), Fields: h.others(f.id)}
	body, kind, err := b.body(content)
	if kind != "" {
		f.skipped[kind]++
		return nil, errSkip
	}
	if f.texts++; err != nil {
		return nil, f.issue(raw, err.Error())
	}
	bad := false
	if f.opt.Need != records.NeedID {
		guessed := false
		if doc.Text, bad, guessed = b.text(body, f.opt); guessed {
			_, params := mediaType(b.contentType)
			f.guessed[params["charset"]]++
		}
	}
	return f.record(doc, raw, bad)
}

// others returns the header fields other than the ID and the size, as a JSON object.
func (h *warcHeader) others(id string) json.RawMessage {
	b := []byte{'{'}
	for _, f := range h.fields {
		if strings.EqualFold(f.name, id) || strings.EqualFold(f.name, "Content-Length") {
			continue
		}
		b = appendField(b, f.name, records.ValidText(f.value))
	}
	return append(b, '}')
}

// damage returns the issue of a record that begins at a byte offset and cannot be read.
func (f *warcFile) damage(at int64, raw []byte, reason string) error {
	f.lost = true
	return f.issue(raw, fmt.Sprintf("the record at byte %d is damaged: %s", at, reason))
}

// discard skips a block and returns err.
func (f *warcFile) discard(size int64, err error) error {
	at := f.offset
	n, e := io.CopyN(io.Discard, f.r, size)
	f.offset += n
	if e != nil {
		return cutOff(at, e)
	}
	return err
}

// oversize skips a block that is larger than MaxRecord, and returns its Issue.
func (f *warcFile) oversize(header []byte, size int64) error {
	at, whole := f.offset, records.NewOversize(header)
	defer whole.Close()
	n, err := io.CopyN(whole, f.r, size)
	if f.offset += n; err != nil {
		return cutOff(at, err)
	}
	io.WriteString(whole, recordEnd)
	is := f.issue(header, "")
	whole.Complete(is, size)
	return is
}

// line reads a line, including its end. A line longer than maxHeader is returned in parts.
func (f *warcFile) line() ([]byte, error) {
	line, err := f.r.ReadSlice('\n')
	f.offset += int64(len(line))
	if err == bufio.ErrBufferFull || err == io.EOF && len(line) > 0 {
		err = nil
	}
	return line, err
}

// header reads the header of the next record, and returns its byte offset in the content. Data
// between records is reported as damage; the next call looks for the next header.
func (f *warcFile) header() (h *warcHeader, at int64, err error) {
	var between []byte // data that is not part of a record
	for {
		next, _ := f.r.Peek(len(warcMagic))
		if string(next) == warcMagic || len(next) == 0 && len(between) > 0 && !f.lost {
			break
		}
		before := f.offset
		line, err := f.line()
		if err != nil {
			return nil, 0, err
		}
		if len(between) == 0 {
			at = before
		}
		if len(between) > 0 || len(bytes.TrimSpace(line)) > 0 {
			between = append(between, line[:min(len(line), maxHeader-len(between))]...)
		}
	}
	f.n++
	if len(between) > 0 && !f.lost {
		return nil, 0, f.damage(at, between, "it does not begin with "+warcMagic)
	}
	f.lost = false
	h, at = &warcHeader{}, f.offset
	for {
		line, err := f.line()
		if err == nil && line[len(line)-1] != '\n' && len(line) < maxHeader {
			err = io.EOF
		}
		if err != nil {
			return nil, 0, cutOff(at, err)
		}
		h.raw = append(h.raw, line...)
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			return h, at, nil
		}
		if len(h.raw) > maxHeader {
			return nil, 0, f.damage(at, h.raw[:maxHeader], "its header does not end")
		}
		if name, value, ok := strings.Cut(text, ":"); ok {
			h.fields = append(h.fields, warcField{name, strings.TrimSpace(value)})
		}
	}
}

// warcCopier copies records byte for byte. In a compressed output each record is a separate part (a
// gzip member): other programs expect that, because they find a record by its offset.
type warcCopier struct {
	noFooter
	w io.Writer
}

// Copy writes a record.
func (c warcCopier) Copy(_ records.Source, raw []byte, _ ...any) error {
	if _, err := c.w.Write(raw); err != nil {
		return err
	}
	if w, ok := c.w.(records.PartWriter); ok {
		return w.EndPart()
	}
	return nil
}
