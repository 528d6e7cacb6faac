// Package warc reads the pages and texts in WARC files, such as crawls and the WET files of Common
// Crawl. It registers the format "warc" with package input.
//
// A record is a header of lines, an empty line, a block of as many bytes as the header says, and
// two empty lines:
//
//	WARC/1.0 CRLF
//	WARC-Type: conversion CRLF
//	WARC-Target-URI: https://example.org/ CRLF
//	Content-Length: 5 CRLF
//	CRLF
//	hello CRLF CRLF
//
// Records of the type conversion, and those of the types response and resource that are HTML pages
// or plain text, are documents; the body of an HTTP response is decoded (http.go). The others are
// counted by kind. All records count for positions.
package warc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/input/pages"
	"github.com/simdb/simdb/engine"
)

// WARC is the name of the format.
const WARC input.Format = "warc"

const (
	magic     = "WARC/"
	maxHeader = 64 << 10 // bytes of a header; a longer one is damage
	defaultID = "WARC-Target-URI"
	recordEnd = "\r\n\r\n"
)

func init() {
	input.Register(input.Family{
		Formats: []input.Description{{Name: WARC, Label: "WARC", Unit: "record", Endings: []string{".warc", ".wet"}}},
		Detect: func(in *input.Stream, _ input.Options) bool {
			head, _ := in.Head()
			return bytes.HasPrefix(head, []byte(magic+"1.")) || bytes.HasPrefix(head, []byte(magic+"0."))
		},
		Open:      open,
		NewCopier: func(w io.Writer, _ input.CopyOptions) (input.Copier, error) { return copier{w}, nil },
	})
}

// file is the Source of a WARC file.
type file struct {
	in  *input.Stream
	opt input.Options
	id  string // name of the header with the ID

	r      *bufio.Reader
	offset int64          // of r in the content
	n      input.Position // records that were begun
	texts  int64          // of them, that are documents
	lost   bool           // after a damaged record: what follows, up to the next header, is part of it

	skipped, guessed input.Counts
}

// open opens a WARC file.
func open(in *input.Stream, opt input.Options) (input.Source, error) {
	if opt.TextField != "" || opt.FingerprintField != "" || opt.Fields != nil {
		return nil, errors.New("the text of a WARC record is its block, so --text-field, --field and --fingerprint-field have no meaning")
	}
	f := &file{
		in: in, opt: opt, id: opt.IDField, r: bufio.NewReaderSize(in.Reader(), maxHeader),
		skipped: input.Counts{}, guessed: input.Counts{},
	}
	if f.id == "" {
		f.id = defaultID
	}
	return f, nil
}

// Info describes the file.
func (f *file) Info() input.Info {
	return input.Info{Name: f.in.Name(), Format: WARC, Shape: "WARC"}
}

// Progress returns how much of the file has been read.
func (f *file) Progress() (done, size int64) { return f.in.Progress() }

// Close closes the file.
func (f *file) Close() error {
	f.in.Release()
	return f.in.Close()
}

// errSkip is the error of next for a record that is no document, or that Options.After leaves out.
var errSkip = errors.New("no document")

// Records yields the documents. A damaged record is an Issue that says at which byte of the content
// it is; reading continues with the next line that begins a record.
func (f *file) Records(ctx context.Context) iter.Seq2[*input.Record, error] {
	return func(yield func(*input.Record, error) bool) {
		defer func() { f.opt.Tally.Note(f.in.Name(), f.skipped, f.guessed) }()
		for {
			if err := context.Cause(ctx); err != nil {
				yield(nil, err)
				return
			}
			rec, err := f.next()
			if err == io.EOF {
				if f.texts == 0 && f.n > 0 {
					err = fmt.Errorf("none of its %d records is a page or a text: %s", f.n, f.skipped)
					yield(nil, &input.ReadError{File: f.in.Name(), Pos: input.NoPosition, Err: err})
				}
				return
			}
			if err == errSkip {
				continue
			}
			if _, ok := errors.AsType[*input.Issue](err); err != nil && !ok {
				yield(nil, &input.ReadError{File: f.in.Name(), Pos: f.n - 1, Unit: "record", Err: err})
				return
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// header is the header of a record.
type header struct {
	raw    []byte // with the empty line that ends it
	fields []field
}

// field is a line of a header.
type field struct{ name, value string }

// get returns the value of a field, "" if there is none. Names are compared in any case.
func (h *header) get(name string) string {
	for _, f := range h.fields {
		if strings.EqualFold(f.name, name) {
			return f.value
		}
	}
	return ""
}

// next reads a record. It returns io.EOF at the end of the file and errSkip for a record that is
// left out; any other error that is no *input.Issue ends the reading.
func (f *file) next() (*input.Record, error) {
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
	if f.opt.Cut && b.kind == "" && (b.head > 0 || pages.IsType(b.contentType)) {
		b.kind, _ = mediaType(b.contentType) // its text is not in the record as it is
	}
	switch {
	case b.kind != "":
		f.skipped[b.kind]++
		return nil, f.discard(size, errSkip)
	case f.n <= f.opt.After:
		f.texts++
		return nil, f.discard(size, errSkip)
	}
	if size > input.MaxRecord {
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
	return f.record(h, &b, content, raw)
}

// cutOff is the error of a record, at a byte offset, of which the file has only the beginning.
func cutOff(at int64, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the record at byte %d is cut off", at)
	}
	return err
}

// record makes a document.
func (f *file) record(h *header, b *block, content, raw []byte) (*input.Record, error) {
	rec := &input.Record{
		Doc:  engine.Doc{ID: strings.Trim(h.get(f.id), "<>"), Fields: h.others(f.id)},
		File: f.in.Name(), Pos: f.n, End: f.n, Raw: raw,
	}
	body, kind, err := b.body(content)
	if kind != "" {
		f.skipped[kind]++
		return nil, errSkip
	}
	if f.texts++; err != nil {
		return nil, input.NewIssue(f, rec, err.Error())
	}
	if f.opt.Need != input.NeedID {
		guessed := false
		if rec.Doc.Text, rec.BadUTF8, guessed = b.text(body, f.opt); guessed {
			_, charset := mediaType(b.contentType)
			f.guessed[charset]++
		}
	}
	switch {
	case rec.Doc.ID == "" && f.opt.MakeID:
		rec.Doc.ID = fmt.Sprintf("%s:%d", rec.File, rec.Pos)
	case rec.Doc.ID == "":
		return nil, input.NewIssue(f, rec, fmt.Sprintf("no %q; --id-field names another header", f.id))
	case len(rec.Doc.ID) > engine.MaxIDBytes:
		return nil, input.NewIssue(f, rec, fmt.Sprintf("the id has %d bytes, at most %d are possible", len(rec.Doc.ID), engine.MaxIDBytes))
	}
	return rec, nil
}

// others returns the fields of the header without the ID and the size, as a JSON object.
func (h *header) others(id string) json.RawMessage {
	b := []byte{'{'}
	for _, f := range h.fields {
		if strings.EqualFold(f.name, id) || strings.EqualFold(f.name, "Content-Length") {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		for i, s := range []string{f.name, f.value} {
			quoted, _ := json.Marshal(input.ValidText(s)) // a string can always be encoded
			b = append(append(b, quoted...), ":"[i:]...)
		}
	}
	return append(b, '}')
}

// issue is what is wrong with the current record.
func (f *file) issue(raw []byte, reason string, size int64) error {
	return &input.Issue{File: f.in.Name(), Pos: f.n, Unit: "record", End: f.n, Reason: reason, Raw: raw, Size: size}
}

// damage is a record that begins at a byte and cannot be read.
func (f *file) damage(at int64, raw []byte, reason string) error {
	f.lost = true
	return f.issue(raw, fmt.Sprintf("the record at byte %d is damaged: %s", at, reason), int64(len(raw)))
}

// discard reads past a block and returns err.
func (f *file) discard(size int64, err error) error {
	at := f.offset
	n, e := io.CopyN(io.Discard, f.r, size)
	f.offset += n
	if e != nil {
		return cutOff(at, e)
	}
	return err
}

// oversize reads past a block that is larger than a document may be.
func (f *file) oversize(header []byte, size int64) error {
	at, whole := f.offset, input.NewOversize(header)
	defer whole.Close()
	n, err := io.CopyN(whole, f.r, size)
	if f.offset += n; err != nil {
		return cutOff(at, err)
	}
	io.WriteString(whole, recordEnd)
	is := &input.Issue{File: f.in.Name(), Pos: f.n, Unit: "record", End: f.n, Raw: header}
	whole.Complete(is, size)
	return is
}

// line reads a line with its end. A line longer than maxHeader comes in parts.
func (f *file) line() ([]byte, error) {
	line, err := f.r.ReadSlice('\n')
	f.offset += int64(len(line))
	if err == bufio.ErrBufferFull || err == io.EOF && len(line) > 0 {
		err = nil
	}
	return line, err
}

// header reads the header of the next record, and returns at which byte of the content it begins.
// What is between records is damage, after which the next header is looked for.
func (f *file) header() (h *header, at int64, err error) {
	var between []byte // what is no record
	for {
		next, _ := f.r.Peek(len(magic))
		if string(next) == magic || len(next) == 0 && len(between) > 0 && !f.lost {
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
		return nil, 0, f.damage(at, between, "it does not begin with "+magic)
	}
	f.lost = false
	h, at = &header{}, f.offset
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
			h.fields = append(h.fields, field{name, strings.TrimSpace(value)})
		}
	}
}

// copier copies records byte for byte. In a compressed output each is a part of its own (a gzip
// member), as other programs expect, which find a record by its offset.
type copier struct{ w io.Writer }

// Copy writes a record.
func (c copier) Copy(_ input.Source, raw []byte, _ ...any) error {
	if _, err := c.w.Write(raw); err != nil {
		return err
	}
	if w, ok := c.w.(input.PartWriter); ok {
		return w.EndPart()
	}
	return nil
}

// Close does nothing: a WARC file has no end.
func (c copier) Close() error { return nil }
