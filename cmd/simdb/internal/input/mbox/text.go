package mbox

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
)

// The text of a message is what its author wrote: its parts of plain text, each on a line of its
// own. Of alternatives it is the plain text, where there is one; otherwise HTML is taken as it is
// written. Attachments are left out.

// mostNested is how deep parts may be nested in others; deeper ones are left out.
const mostNested = 16

// quotedSeparator is a line of a body that would look like a separator if it had not been quoted
// (the variant mboxrd).
var quotedSeparator = regexp.MustCompile(`(?m)^>(>*From )`)

// textOf returns the text of a message, and whether it held invalid UTF-8.
func textOf(m *mail.Message) (text string, bad bool) {
	body, _ := io.ReadAll(m.Body) // from memory
	body = bytes.TrimRight(body, "\r\n")
	t := &texts{}
	t.part(textproto.MIMEHeader(m.Header), quotedSeparator.ReplaceAll(body, []byte("$1")), 0)
	return strings.Join(t.found, "\n"), t.bad
}

// texts collects the texts of parts.
type texts struct {
	found []string
	bad   bool
}

// part adds the texts of a part.
func (t *texts) part(h textproto.MIMEHeader, body []byte, depth int) {
	kind, params, _ := mime.ParseMediaType(h.Get("Content-Type"))
	if !strings.Contains(kind, "/") {
		kind = "text/plain" // there is no such header, or it makes no sense
	}
	if disposition, _, _ := mime.ParseMediaType(h.Get("Content-Disposition")); disposition == "attachment" {
		return
	}
	switch {
	case strings.HasPrefix(kind, "multipart/"):
		if depth < mostNested {
			t.parts(kind == "multipart/alternative", params["boundary"], body, depth+1)
		}
	case strings.HasPrefix(kind, "text/"):
		text, bad := decodeCharset(decodeTransfer(body, h.Get("Content-Transfer-Encoding")), params["charset"])
		t.found, t.bad = append(t.found, text), t.bad || bad
	}
}

// parts adds the texts of the parts of a body, up to the first damaged part.
func (t *texts) parts(alternative bool, boundary string, body []byte, depth int) {
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	var spare *texts // of an alternative that is not plain text
	for {
		p, err := r.NextRawPart()
		if err != nil {
			break
		}
		data, _ := io.ReadAll(p) // what is there of a part that is cut off
		one := &texts{}
		one.part(p.Header, data, depth)
		kind, _, _ := mime.ParseMediaType(p.Header.Get("Content-Type"))
		switch {
		case len(one.found) == 0:
		case alternative && kind != "text/plain" && kind != "" && !strings.HasPrefix(kind, "multipart/"):
			if spare == nil {
				spare = one
			}
		default:
			t.found, t.bad = append(t.found, one.found...), t.bad || one.bad
			if alternative {
				return
			}
		}
	}
	if spare != nil {
		t.found, t.bad = append(t.found, spare.found...), t.bad || spare.bad
	}
}

// decodeTransfer undoes a Content-Transfer-Encoding. What is damaged is decoded as far as possible.
func decodeTransfer(body []byte, encoding string) []byte {
	var r io.Reader
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "quoted-printable":
		r = quotedprintable.NewReader(bytes.NewReader(body))
	case "base64":
		r = base64.NewDecoder(base64.StdEncoding, bytes.NewReader(body))
	default:
		return body
	}
	decoded, _ := io.ReadAll(r)
	return decoded
}

// charmaps are the encodings of text beside UTF-8, by name in lower case.
var charmaps = map[string]*charmap.Charmap{
	"iso-8859-1": charmap.Windows1252, "latin1": charmap.Windows1252, // as browsers have it
	"windows-1252": charmap.Windows1252, "cp1252": charmap.Windows1252,
	"iso-8859-2": charmap.ISO8859_2, "iso-8859-15": charmap.ISO8859_15,
	"windows-1250": charmap.Windows1250, "windows-1251": charmap.Windows1251, "koi8-r": charmap.KOI8R,
}

// decodeCharset returns text in UTF-8. An encoding that is not known is taken for that.
func decodeCharset(text []byte, name string) (s string, bad bool) {
	if table := charmaps[strings.ToLower(name)]; table != nil {
		decoded, err := table.NewDecoder().Bytes(text)
		if err == nil {
			return string(decoded), false
		}
	}
	return input.ValidText(string(text)), !utf8.Valid(text)
}

// kept are the headers that become fields.
var kept = []string{"Message-ID", "Date", "From", "To", "Cc", "Subject", "In-Reply-To", "List-Id"}

// fieldsOf returns headers of a message without that of the ID, as a JSON object.
func fieldsOf(h mail.Header, id string) json.RawMessage {
	words := mime.WordDecoder{CharsetReader: func(charset string, r io.Reader) (io.Reader, error) {
		data, err := io.ReadAll(r)
		s, _ := decodeCharset(data, charset)
		return strings.NewReader(s), err
	}}
	b := []byte{'{'}
	for _, name := range kept {
		value := h.Get(name)
		if value == "" || strings.EqualFold(name, id) {
			continue
		}
		if decoded, err := words.DecodeHeader(value); err == nil {
			value = decoded
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		for i, s := range []string{name, input.ValidText(value)} {
			quoted, _ := json.Marshal(s) // a string can always be encoded
			b = append(append(b, quoted...), ":"[i:]...)
		}
	}
	return append(b, '}')
}
