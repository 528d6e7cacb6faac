package files

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/simdb/simdb/records"
)

// CanCut implements records.Cutter.
func (f *warcFile) CanCut() error { return nil }

// CutText implements records.Cutter. It updates Content-Length, and every digest that matches the
// old block. It removes wrong digests and digests of an unknown kind.
func (f *warcFile) CutText(rec *records.Record, keep []records.Span) []byte {
	head, rest := cutHeader(rec.Raw)
	block := bytes.TrimSuffix(rest, []byte(recordEnd))
	text := records.Parts(rec.Doc.Text, keep)
	out := make([]byte, 0, len(rec.Raw)+64)
	for len(head) > 0 {
		var lines []byte
		lines, head = cutField(head)
		name, value, _ := strings.Cut(string(lines), ":")
		switch strings.ToLower(name) {
		case "content-length":
			out = fmt.Appendf(out, "%s: %d%s", name, len(text), lineEnd(lines))
		case "warc-block-digest", "warc-payload-digest":
			if d, ok := digestLike(strings.TrimSpace(value), block, text); ok {
				out = fmt.Appendf(out, "%s: %s%s", name, d, lineEnd(lines))
			}
		default:
			out = append(out, lines...)
		}
	}
	return append(append(out, text...), recordEnd...)
}

// cutHeader splits a record into its header, including the empty line at its end, and the rest.
func cutHeader(raw []byte) (head, rest []byte) {
	for at := 0; at < len(raw); {
		n := bytes.IndexByte(raw[at:], '\n') + 1
		if n == 0 {
			break
		}
		line := raw[at : at+n]
		if at += n; len(bytes.TrimRight(line, "\r\n")) == 0 {
			return raw[:at], raw[at:]
		}
	}
	return raw, nil
}

// cutField splits off the first field of a header, including its continuation lines.
func cutField(head []byte) (lines, rest []byte) {
	n := bytes.IndexByte(head, '\n') + 1
	for n < len(head) && (head[n] == ' ' || head[n] == '\t') {
		n += bytes.IndexByte(head[n:], '\n') + 1
	}
	return head[:n], head[n:]
}

func lineEnd(line []byte) []byte { return line[len(bytes.TrimRight(line, "\r\n")):] }

// digestLike returns the digest of text, of the same kind and in the same encoding as digest, for
// example sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ. It reports false if digest is not the digest of
// block.
func digestLike(digest string, block []byte, text string) (string, bool) {
	kind, sum, _ := strings.Cut(digest, ":")
	for _, encode := range []func([]byte) string{
		base32.StdEncoding.EncodeToString,
		base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString,
		hex.EncodeToString,
	} {
		if old := hashOf(kind, block); old != nil && strings.EqualFold(encode(old), sum) {
			return kind + ":" + encode(hashOf(kind, []byte(text))), true
		}
	}
	return "", false
}

// hashOf returns a digest of data, or nil if the kind is unknown.
func hashOf(kind string, data []byte) []byte {
	switch strings.ToLower(kind) {
	case "md5":
		sum := md5.Sum(data)
		return sum[:]
	case "sha1", "sha-1":
		sum := sha1.Sum(data)
		return sum[:]
	case "sha256", "sha-256":
		sum := sha256.Sum256(data)
		return sum[:]
	}
	return nil
}
