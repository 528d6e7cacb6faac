// Package display writes values of rows as text, and measures text in columns of a terminal.
package display

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/jsontext"
	"github.com/simdb/simdb/internal/printable"
)

// AppendText appends v in the form of the text formats, before any escaping.
func AppendText(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return b
	case string:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case base.Fingerprint:
		return base.AppendHex(b, v)
	case []base.Fingerprint:
		return base.AppendHexWords(b, v)
	case float64:
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	case time.Time: // in UTC, with as many decimals as it needs; the zero time is empty
		if v.IsZero() {
			return b
		}
		return v.UTC().AppendFormat(b, time.RFC3339Nano)
	case time.Duration:
		return append(b, v.String()...)
	case json.RawMessage:
		return appendCompact(b, v)
	case fmt.Stringer:
		return append(b, v.String()...)
	}
	return fmt.Append(b, v)
}

// AppendJSON appends v as JSON on one line.
func AppendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return appendQuoted(b, v)
	case bool, int, int64, float64:
		return AppendText(b, v)
	case json.RawMessage:
		if len(v) == 0 {
			return append(b, "null"...)
		}
		return appendVisible(b, appendCompact(nil, v))
	case time.Time:
		if v.IsZero() {
			return append(b, "null"...)
		}
	}
	return appendQuoted(b, string(AppendText(nil, v)))
}

// appendCompact appends the JSON text raw on one line, without white space between its tokens. Text
// that is not JSON is appended as a JSON string, so that a line of output is always JSON.
func appendCompact(b []byte, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return b
	}
	buf := bytes.NewBuffer(b)
	if err := json.Compact(buf, raw); err != nil {
		return appendQuoted(b, string(raw))
	}
	return buf.Bytes()
}

// appendVisible appends JSON text and escapes the characters of printable.Control, which only its
// strings can contain. All have four digits; among them are the line ends of JavaScript.
func appendVisible(b, text []byte) []byte {
	if !bytes.ContainsFunc(text, printable.Control) {
		return append(b, text...)
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if printable.Control(r) {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = append(b, text[:n]...)
		}
		text = text[n:]
	}
	return b
}

// appendQuoted appends s as a JSON string. Unlike encoding/json it does not escape <, > and &,
// because the output is not for HTML.
func appendQuoted(b []byte, s string) []byte {
	from := len(b)
	if b = jsontext.AppendString(b, s); !bytes.ContainsFunc(b[from:], printable.Control) {
		return b
	}
	return appendVisible(b[:from], bytes.Clone(b[from:]))
}
