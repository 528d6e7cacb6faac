package files

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

func one(kind, uri, text string) string {
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		kind, uri, len(text), text)
}

// readWARC returns the records of a file as "position id=text" or "! issue", and the error that
// ended the reading. copied is a copy of all records.
func readWARC(t *testing.T, content string, opt records.Options) (got, copied string, err error) {
	t.Helper()
	return readCopied(t, "a.wet", content, opt)
}

func TestWARC(t *testing.T) {
	info, a, b := one("warcinfo", "", "software: x"), one("conversion", "https://a/", "text of a\r\n\r\nWARC/1.0"), one("conversion", "https://b/", "")
	plain := strings.Replace(one("resource", "https://c/", "c"), "WARC-Date", "Content-Type: text/plain\r\nWARC-Date", 1)
	textA := "https://a/=text of a\r\n\r\nWARC/1.0"
	for _, c := range []struct {
		content     string
		opt         records.Options
		want, fails string
	}{
		{content: info + a + b, want: "2 " + textA + "|3 https://b/="},
		{content: a + plain + one("resource", "https://d/", "d"), want: "1 " + textA + "|2 https://c/=c"},
		{content: info + a + b, opt: records.Options{After: 2}, want: "3 https://b/="},
		{content: info + a + b, opt: records.Options{After: 3}},
		{content: a, opt: records.Options{IDField: "warc-date"}, want: "1 2026-01-02T03:04:05Z=text of a\r\n\r\nWARC/1.0"},
		{content: a, opt: records.Options{IDField: "X-Id"}, want: `! a.wet:1: no "X-Id"; IDField names another header, and IDFrom: "line" makes ids`},
		{content: a, opt: records.Options{IDField: "X-Id", MakeID: true}, want: "1 a.wet:1=text of a\r\n\r\nWARC/1.0"},
		{content: a + "noise\r\nmore\r\n" + b, want: "1 " + textA + fmt.Sprintf("|! a.wet:2: the record at byte %d is damaged: it does not begin with WARC/|3 https://b/=", len(a))},
		{content: strings.Replace(one("conversion", "https://d/", "text"), "Length: 4", "Length: x", 1) + b,
			want: `! a.wet:1: the record at byte 0 is damaged: its Content-Length is "x"|2 https://b/=`},
		{content: a + "noise", want: "1 " + textA + fmt.Sprintf("|! a.wet:2: the record at byte %d is damaged: it does not begin with WARC/", len(a))},
		{content: (info + a + b)[:len(info+a)-8], fails: fmt.Sprintf("a.wet: could not be read past record 1: the record at byte %d is cut off", len(info))},
		{content: info + a[:20], fails: "could not be read past record 1"},
		{content: info + one("response", "https://x/", "HTTP/1.1 200"), fails: "none of its 2 records is a page or a text: 1 response without a media type, 1 warcinfo"},
	} {
		got, copied, err := readWARC(t, c.content, c.opt)
		if got != c.want && c.fails == "" {
			t.Errorf("%q: %q, want %q", c.content, got, c.want)
		}
		if (c.fails == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%q: %v, want %s", c.content, err, c.fails)
		}
		if c.content == info+a+b && c.opt.After == 0 && copied != a+b {
			t.Errorf("copied %q", copied)
		}
	}
	if _, _, err := readWARC(t, a, records.Options{TextField: "x"}); err == nil {
		t.Error("a field for the text was accepted")
	}
	huge := one("conversion", "https://huge/", strings.Repeat("x", records.MaxRecord+1))
	if got, copied, err := readWARC(t, huge+b, records.Options{}); err != nil || copied != huge+b || got != "! a.wet:1: too large: 67108865 bytes; the limit of a document is 67108864|2 https://b/=" {
		t.Errorf("%.100q, %v", got, err)
	}
}

// Files whose records are separate gzip members are read to the end, and headers become fields.
func TestWARCMembers(t *testing.T) {
	var z bytes.Buffer
	for _, uri := range []string{"https://a/", "https://b/"} {
		w := gzip.NewWriter(&z)
		io.WriteString(w, one("conversion", uri, "text"))
		w.Close()
	}
	src := must.Get(records.New("a.warc.gz", io.NopCloser(&z), -1, records.Options{}))(t)
	n := 0
	for rec, err := range src.Records(context.Background()) {
		if err != nil || string(rec.Doc.Fields) != `{"WARC-Type":"conversion","WARC-Date":"2026-01-02T03:04:05Z"}` {
			t.Fatalf("%s, %v", rec.Doc.Fields, err)
		}
		n++
	}
	if n != 2 {
		t.Error(n)
	}
}

// FuzzWARC reads arbitrary bytes as WARC: nothing panics, positions increase, and a copy yields the
// same records.
func FuzzWARC(f *testing.F) {
	a, b := one("conversion", "https://a/", "text"), one("conversion", "https://b/", "more")
	f.Add(a + b)
	f.Add(one("warcinfo", "", "x") + a + "noise\r\n" + b)
	f.Add(a[:len(a)-9])
	f.Add("WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 0\r\n\r") // the header does not end
	f.Add(strings.ReplaceAll(a+b, "\r", ""))
	f.Add("WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 9999999999\r\n\r\nx")
	f.Fuzz(func(t *testing.T, content string) {
		opt := records.Options{Format: WARC, MakeID: true}
		src, err := records.New("a.wet", io.NopCloser(strings.NewReader(content)), int64(len(content)), opt)
		if err != nil {
			return
		}
		defer src.Close()
		var last records.Position
		var raw []string
		for rec, err := range src.Records(context.Background()) {
			if is, ok := errors.AsType[*records.Issue](err); ok {
				if is.Pos <= last || is.Reason == "" {
					t.Fatalf("issue %v after record %d", is, last)
				}
				last = is.Pos
				continue
			}
			if err != nil {
				break
			}
			if rec.Pos <= last || rec.End != rec.Pos || rec.Doc.ID == "" || !json.Valid(rec.Doc.Fields) {
				t.Fatalf("record %d after %d: %+v", rec.Pos, last, rec.Doc)
			}
			last, raw = rec.Pos, append(raw, string(rec.Raw))
		}
		again, err := records.New("a.wet", io.NopCloser(strings.NewReader(strings.Join(raw, ""))), -1, opt)
		if err != nil {
			if len(raw) > 0 {
				t.Fatal(err)
			}
			return
		}
		defer again.Close()
		for rec, err := range again.Records(context.Background()) {
			if err != nil || len(raw) == 0 || string(rec.Raw) != raw[0] {
				t.Fatalf("%q: the copy reads as %+v, %v", content, rec, err)
			}
			raw = raw[1:]
		}
		if len(raw) > 0 {
			t.Fatalf("%q: %d records of the copy are lost", content, len(raw))
		}
	})
}
