package files

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/records"
)

// A record that is cut has the new length of its block, and digests that were correct are
// recomputed.
func TestCutText(t *testing.T) {
	const (
		text  = "one\ntwo\nthree\n"
		begin = "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: https://a/\r\n"
	)
	for _, c := range []struct{ name, head, want string }{
		{"none", "content-length: 14\r\nX: y\r\n", "content-length: 9\r\nX: y\r\n"},
		{"sha1",
			"WARC-Block-Digest: sha1:TDHFMCMNV4NC77QDUDIQR2UED4PE43DJ\r\nContent-Length: 14\r\nWARC-Payload-Digest: sha1:AAAA\r\n",
			"WARC-Block-Digest: sha1:6VLAXNZ4YAVNKJ5CQLAYLHKP467IQ5HU\r\nContent-Length: 9\r\n"},
		{"md5 in hexadecimal, in a line that goes on",
			"Content-Length: 14\nWARC-Block-Digest:\n md5:DEED54B823522E0525693B090363F9DF\nWARC-Payload-Digest: xyz:1\n",
			"Content-Length: 9\nWARC-Block-Digest: md5:76fa755d3363c2f0a12c10fe6364a3bf\n"},
	} {
		in := begin + c.head + "\r\n" + text + recordEnd
		src := must.Get(records.New("a.wet", io.NopCloser(strings.NewReader(in)), -1, records.Options{}))(t)
		if err := records.CanCut(src); err != nil {
			t.Error(err)
		}
		for rec, err := range src.Records(context.Background()) {
			if err != nil || rec.Doc.Text != text {
				t.Fatalf("%s: %v", c.name, err)
			}
			want := begin + c.want + "\r\none\nthree" + recordEnd
			if got := string(records.CutText(src, rec, []records.Span{{From: 0, To: 4}, {From: 8, To: 13}})); got != want {
				t.Errorf("%s: %q, want %q", c.name, got, want)
			}
		}
		src.Close()
	}
}

// parts is an output that marks the ends of parts.
type parts struct{ strings.Builder }

func (p *parts) EndPart() error {
	p.WriteByte('|')
	return nil
}

// Each record is a separate part of a compressed output.
func TestCopyParts(t *testing.T) {
	var out parts
	c := must.Get(WARC.NewCopier(&out, records.CopyOptions{}))(t)
	for _, raw := range []string{"a", "b"} {
		must.Do(t, c.Copy(nil, []byte(raw)))
	}
	if err := c.Close(); err != nil || out.String() != "a|b|" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
