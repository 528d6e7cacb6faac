package files

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime"
	"net/textproto"
	"regexp"
	"strings"

	"github.com/simdb/simdb/records"
)

// The text of a message is what its author wrote: its plain text parts, each on a line of its own.
// Of alternatives, the plain text is used, otherwise the text of the page. Attachments are left
// out. Damaged parts are decoded as far as possible.

// mostNested is the largest depth of nested parts; deeper ones are left out.
const mostNested = 16

type message struct {
	Header  textproto.MIMEHeader
	Text    string
	Bad     bool           // some bytes are not characters of the charset
	Guessed records.Counts // parts with an unknown charset, by charset
	opt     records.Options
}

// quotedSeparator matches a line of a body that was quoted because it would look like a separator
// (the mboxrd variant).
var quotedSeparator = regexp.MustCompile(`(?m)^>(>*From )`)

// readMessage parses a message, which begins with its header.
func readMessage(raw []byte, opt records.Options) *message {
	m := &message{opt: opt, Guessed: records.Counts{}}
	var body []byte
	m.Header, body = splitMessage(raw)
	body = quotedSeparator.ReplaceAll(bytes.TrimRight(body, "\r\n"), []byte("$1"))
	m.Text = strings.Join(m.part(m.Header, body, 0), "\n")
	return m
}

// fieldName matches the beginning of a header line.
var fieldName = regexp.MustCompile(`^[!-9;-~]+[ \t]*:`)

// maxField is the approximate size in bytes to which a header field is read.
const maxField = 64 << 10

// splitMessage splits a message, or a part of one, into header and body. The header ends with an
// empty line, or before a line that does not belong to a header; separators are skipped.
func splitMessage(raw []byte) (h textproto.MIMEHeader, body []byte) {
	h = textproto.MIMEHeader{}
	for last := ""; len(raw) > 0; {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		name := fieldName.Find(line)
		switch {
		case len(line) == 0:
			return h, rest
		case (line[0] == ' ' || line[0] == '\t') && last != "":
			if all := h[last]; len(all[len(all)-1]) < maxField {
				all[len(all)-1] += " " + string(bytes.TrimSpace(line))
			}
		case name != nil:
			last = textproto.CanonicalMIMEHeaderKey(string(bytes.TrimRight(name, ": \t")))
			h[last] = append(h[last], string(bytes.TrimSpace(line[len(name):])))
		case !bytes.HasPrefix(bytes.TrimPrefix(line, []byte(">")), []byte(separator)):
			return h, raw
		}
		raw = rest
	}
	return h, nil
}

// parameter matches a parameter of a media type that violates the syntax.
var parameter = regexp.MustCompile(`(?i)\b(charset|boundary)\s*=\s*"?([^";\s]+)`)

// mediaType parses a media type, even if it violates the syntax.
func mediaType(s string) (kind string, params map[string]string) {
	kind, params, err := mime.ParseMediaType(s)
	if err != nil {
		kind, _, _ = strings.Cut(strings.ToLower(s), ";")
		kind, params = strings.TrimSpace(kind), map[string]string{}
		for _, p := range parameter.FindAllStringSubmatch(s, -1) {
			params[strings.ToLower(p[1])] = p[2]
		}
	}
	return kind, params
}

// partType is mediaType for a part of a message.
func partType(h textproto.MIMEHeader) (kind string, params map[string]string) {
	kind, params = mediaType(h.Get("Content-Type"))
	if !strings.Contains(kind, "/") {
		kind = "text/plain" // the header is missing or invalid
	}
	return kind, params
}

func (m *message) part(h textproto.MIMEHeader, body []byte, depth int) (texts []string) {
	kind, params := partType(h)
	disposition, _, _ := strings.Cut(h.Get("Content-Disposition"), ";")
	if strings.EqualFold(strings.TrimSpace(disposition), "attachment") || depth > mostNested {
		return nil
	}
	if parts := cutParts(body, params["boundary"]); strings.HasPrefix(kind, "multipart/") {
		if parts == nil {
			return m.part(textproto.MIMEHeader{}, body, depth+1)
		}
		return m.parts(kind == "multipart/alternative", parts, depth+1)
	}
	body = decodeTransfer(body, h.Get("Content-Transfer-Encoding"))
	switch {
	case kind == "message/rfc822":
		h, body := splitMessage(body)
		return m.part(h, body, depth+1)
	case !strings.HasPrefix(kind, "text/"):
		return nil
	}
	text, bad, guessed := "", false, false
	if isPageType(kind) {
		opt := m.opt
		opt.Fields = nil // the parts of a mail are its body
		text, bad, guessed = pageText(body, h.Get("Content-Type"), opt)
	} else {
		text, bad, guessed = records.Decode(body, params["charset"], m.opt.Encoding)
	}
	m.Bad = m.Bad || bad
	if guessed {
		m.Guessed[strings.ToLower(params["charset"])]++
	}
	return []string{text}
}

// cutParts returns the parts of a body, or nil if it has none.
func cutParts(body []byte, boundary string) (parts [][]byte) {
	if boundary == "" {
		return nil
	}
	from := -1 // start of the current part
	for at := 0; at < len(body); {
		end := len(body)
		if n := bytes.IndexByte(body[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		line := string(bytes.TrimRight(body[at:end], " \t\r\n"))
		if mark, ok := strings.CutPrefix(line, "--"+boundary); ok && (mark == "" || mark == "--") {
			if from >= 0 {
				part := bytes.TrimSuffix(body[from:at], []byte("\n"))
				parts = append(parts, bytes.TrimSuffix(part, []byte("\r")))
			}
			if from = end; mark == "--" {
				return parts
			}
		}
		at = end
	}
	if from >= 0 {
		parts = append(parts, body[from:]) // the last part is cut off
	}
	return parts
}

// parts returns the texts of all parts, or of the preferred one if they are alternatives.
func (m *message) parts(alternative bool, parts [][]byte, depth int) (texts []string) {
	var spare []string // of an alternative in another format than plain text
	for _, part := range parts {
		h, body := splitMessage(part)
		one := m.part(h, body, depth)
		kind, _ := partType(h)
		switch {
		case len(one) == 0:
		case alternative && kind != "text/plain" && !strings.HasPrefix(kind, "multipart/"):
			if spare == nil {
				spare = one
			}
		default:
			if texts = append(texts, one...); alternative {
				return texts
			}
		}
	}
	return append(texts, spare...)
}

// quoted matches an encoded byte or a soft line break in quoted-printable.
var quoted = regexp.MustCompile(`=[0-9A-Fa-f]{2}|=[ \t]*(\r?\n|\z)`)

// decodeTransfer decodes a Content-Transfer-Encoding. Damaged data is decoded as far as possible.
func decodeTransfer(body []byte, encoding string) []byte {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "quoted-printable":
		return quoted.ReplaceAllFunc(body, func(code []byte) []byte {
			if b, err := hex.DecodeString(string(code[1:])); err == nil {
				return b
			}
			return nil
		})
	case "base64":
		lines := bytes.Join(bytes.Fields(body), nil)
		body, _ = io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(lines)))
	}
	return body
}

// mailFields are the headers that become fields.
var mailFields = []string{"Message-ID", "Date", "From", "To", "Cc", "Subject", "In-Reply-To", "List-Id"}

// Fields returns the mailFields of a message, except for the one with this name, as a JSON object.
func (m *message) Fields(without string) json.RawMessage {
	words := mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (io.Reader, error) {
		data, err := io.ReadAll(r)
		s, _, _ := records.Decode(data, charset, m.opt.Encoding)
		return strings.NewReader(s), err
	}}
	b := []byte{'{'}
	for _, name := range mailFields {
		value := m.Header.Get(name)
		if value == "" || strings.EqualFold(name, without) {
			continue
		}
		if decoded, err := words.DecodeHeader(value); err == nil {
			value = decoded
		}
		value, _, _ = records.Decode([]byte(value), "", m.opt.Encoding)
		b = appendField(b, name, value)
	}
	return append(b, '}')
}
